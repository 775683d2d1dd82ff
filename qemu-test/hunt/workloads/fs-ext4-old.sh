# SPDX-License-Identifier: GPL-2.0-only
#
# ext4 with blocks of 1 KiB and neither extents nor a journal
#
# programs: huntwork mkfs.ext4

. /qt/workloads/lib.sh

prepare()
{
	on_image 8 ext4 acl mkfs.ext4 -q -F -b 1024 -O ^extent,^has_journal,^64bit,^metadata_csum
}
