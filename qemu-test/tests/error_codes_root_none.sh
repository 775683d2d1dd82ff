# SPDX-License-Identifier: GPL-2.0-only
#
# A disk without a file system.  The kernel tries each file system silently, so it must not
# name a line of any of them.
#
# append: root=/dev/vda rw rdinit=/none
# disk: 16M
# damage: 0x438=0000
# dies: yes
# expect-console: List of all partitions:$
# expect-console: No filesystem could mount root, tried:
# expect-console: Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block\(25\d,0\)$
# expect-console: !Cannot open root device
# expect-console: !EXT4-fs
