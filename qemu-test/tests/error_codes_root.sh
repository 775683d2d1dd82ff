# SPDX-License-Identifier: GPL-2.0-only
#
# A root that no file system accepts: the kernel names the line of ext4 that refused it,
# and panics as before.  It mounts the disk because the program of rdinit= does not exist.
#
# append: root=/dev/vda rootfstype=ext4 rw rdinit=/none
# append: root=/dev/vda rw rdinit=/none
# disk: 16M
# mke2fs: -b 1024 -O none,has_journal,ext_attr,filetype,extent,flex_bg,sparse_super,large_file
# damage: 0x420=00000100
# dies: yes
# expect-console: EXT4-fs \(vda\): #blocks per group too big: 65536$
# expect-console: EXT4-fs \(vda\): mount failed: -EINVAL at fs/ext4/super\.c:\d+$
# expect-console: VFS: Cannot open root device "vda" or unknown-block\(25\d,0\): error -EINVAL at fs/ext4/super\.c:\d+$
# expect-console: Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block\(25\d,0\)$
