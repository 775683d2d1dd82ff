# SPDX-License-Identifier: GPL-2.0-only
#
# NTFS
#
# ntfs3 of 6.1 cannot make its table of files longer: nothing sets zone_max. So the table gets
# room by files that other tools make, and that are removed again.
#
# programs: huntwork mkfs.ntfs ntfscp
# modules: ntfs3 nls_utf8

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/image 16
	mkfs.ntfs -q -F -f /tmp/image || return
	for number in $(seq 60); do
		ntfscp -q /tmp/image /etc/passwd "file$number" || return
	done
	mount -t ntfs3 -o loop /tmp/image /mnt || return
	rm /mnt/file*
	umount /mnt || return
	on_copy /tmp/image ntfs3 acl,prealloc
}
