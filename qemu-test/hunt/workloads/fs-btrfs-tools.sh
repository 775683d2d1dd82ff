# SPDX-License-Identifier: GPL-2.0-only
#
# btrfs: subvolumes, snapshots, quotas, a second device, balance, scrub, send and receive
#
# programs: mkfs.btrfs btrfs
# files: /lib/x86_64-linux-gnu/libgcc_s.so.1
# modules: btrfs
# disk: 128M
# memory: 1G

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/second 128
	attach /tmp/second /dev/loop1 || return
	on_disk btrfs "" mkfs.btrfs -q -f
}

work()
{
	: > /tmp/.used
	F mount -t btrfs -o space_cache=v2 "$DEVICE" /mnt || return
	F btrfs quota enable /mnt || return
	F btrfs subvolume create /mnt/s || return
	F dd if=/bin/busybox of=/mnt/s/file bs=64k count=8 || return
	F btrfs qgroup create 1/0 /mnt || return
	F btrfs qgroup limit 50M /mnt/s || return
	F btrfs subvolume snapshot -r /mnt/s /mnt/t || return
	F btrfs filesystem defragment -r -czstd /mnt/s || return
	F btrfs property set /mnt/s/file compression lzo || return
	F btrfs send -q -f /tmp/stream /mnt/t || return
	F btrfs subvolume delete /mnt/t || return
	F btrfs receive -q -f /tmp/stream /mnt || return
	F btrfs device add -f /dev/loop1 /mnt || return
	F btrfs balance start -dconvert=raid1 -mconvert=raid1 -f /mnt || return
	F btrfs scrub start -B /mnt || return
	F btrfs balance start -dconvert=single -mconvert=single -f /mnt || return
	F btrfs device remove /dev/loop1 /mnt || return
	F btrfs replace start -f -B 1 /dev/loop1 /mnt || return
	F btrfs filesystem usage /mnt || return
	F umount /mnt || return
	make_fs || return
	rm -f /tmp/.used
}

clean()
{
	# of scrub, a file a file system
	rm -f /tmp/stream /var/lib/btrfs/*
	unmount /mnt || return
	[ -e /tmp/.used ] || return 0
	make_fs && rm -f /tmp/.used
}
