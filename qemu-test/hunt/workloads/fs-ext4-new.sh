# SPDX-License-Identifier: GPL-2.0-only
#
# ext4 with quotas, checksums, data in inodes and clusters
#
# programs: huntwork mkfs.ext4

. /qt/workloads/lib.sh

prepare()
{
	on_image 32 ext4 usrquota,grpquota,prjquota,journal_checksum mkfs.ext4 -q -F -b 4096 -I 256 \
		-O quota,project,metadata_csum,inline_data,bigalloc,encrypt,verity,ea_inode,orphan_file
}
