# SPDX-License-Identifier: GPL-2.0-only
#
# ext2, which is nothing but a driver of its own on the format of ext4 without a journal
#
# programs: huntwork mkfs.ext2
# modules: ext2

. /qt/workloads/lib.sh

prepare()
{
	on_image 8 ext2 user_xattr,acl mkfs.ext2 -q -F
}
