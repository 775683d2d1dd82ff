# SPDX-License-Identifier: GPL-2.0-only
#
# XFS: growing, online scrub, reflinks, quotas, labels, maps
#
# programs: mkfs.xfs xfs_io xfs_growfs xfs_quota
# modules: xfs
# disk: 340M

. /qt/workloads/lib.sh

prepare()
{
	on_disk xfs uquota,gquota,pquota mkfs.xfs -q -f -d size=310m
}

work()
{
	: > /tmp/.used
	F mount -t xfs -o uquota,gquota,pquota "$DEVICE" /mnt || return
	F xfs_io -f -c "pwrite -q 0 200k" -c "reflink /mnt/a 0 200k 4k" -c "fsync" -c "bmap -v" /mnt/a || return
	F xfs_io -x -c "fsmap" -c "label hunt" -c "statfs" /mnt || return
	for part in sb agf agfl agi bnobt cntbt inobt finobt rmapbt refcountbt; do
		F xfs_io -x -c "scrub $part 0" /mnt || return
	done
	for part in inode bmapbtd bmapbta bmapbtc directory xattr symlink parent; do
		F xfs_io -x -c "scrub $part" /mnt/a || return
	done
	F xfs_quota -x -c "limit bsoft=1m bhard=2m 1000" -c "report" /mnt || return
	F xfs_growfs -D 81920 /mnt || return
	F umount /mnt || return
	make_fs || return
	rm -f /tmp/.used
}

clean()
{
	unmount /mnt || return
	[ -e /tmp/.used ] || return 0
	make_fs && rm -f /tmp/.used
}
