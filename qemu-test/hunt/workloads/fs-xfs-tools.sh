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
	F xfs_io -x -c "scrub sb 0" -c "scrub agf 0" -c "scrub agfl 0" -c "scrub agi 0" -c "scrub bnobt 0" \
		-c "scrub cntbt 0" -c "scrub inobt 0" -c "scrub finobt 0" -c "scrub rmapbt 0" -c "scrub refcountbt 0" /mnt || return
	F xfs_io -x -c "scrub inode" -c "scrub bmapbtd" -c "scrub bmapbta" -c "scrub bmapbtc" -c "scrub xattr" \
		-c "scrub symlink" -c "scrub parent" /mnt/a || return
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
