# SPDX-License-Identifier: GPL-2.0-only
#
# ReiserFS
#
# programs: huntwork mkfs.reiserfs
# modules: reiserfs

. /qt/workloads/lib.sh

prepare()
{
	on_image 48 reiserfs acl,user_xattr mkfs.reiserfs -q -f -f --journal-size 513
}
