# SPDX-License-Identifier: GPL-2.0-only
#
# The same for a root whose first group descriptor names a bitmap outside of its group:
# after this error the kernel tries no other file system.
#
# append: root=/dev/vda rw rdinit=/none
# disk: 16M
# mke2fs: -b 1024 -O none,has_journal,ext_attr,filetype,extent,flex_bg,sparse_super,large_file
# damage: 0x800=ffffff7f
# dies: yes
# expect-console: EXT4-fs \(vda\): group descriptors corrupted!$
# expect-console: VFS: Cannot open root device "vda" or unknown-block\(25\d,0\): error -EFSCORRUPTED at fs/ext4/super\.c:\d+$
# expect-console: Please append a correct "root=" boot option
# expect-console: Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block\(25\d,0\)$
