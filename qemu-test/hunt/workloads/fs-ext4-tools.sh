# SPDX-License-Identifier: GPL-2.0-only
#
# ext4: growing, quotas, defragmenting, encryption and verity
#
# programs: huntwork mkfs.ext4 resize2fs e4defrag setquota
# modules: cts xts essiv sha256_generic
# disk: 32M

. /qt/workloads/lib.sh

prepare()
{
	on_disk ext4 "" mkfs.ext4 -q -F -O quota,encrypt,verity 16M
}

make_fs()
{
	mkfs.ext4 -q -F -b 4096 -O quota,encrypt,verity "$DEVICE" 16M
}

work()
{
	: > /tmp/.used
	F mount -t ext4 -o usrquota,inlinecrypt "$DEVICE" /mnt || return
	F setquota -u 1000 100 200 10 20 /mnt || return
	F huntwork encrypt /mnt || return
	F dd if=/bin/busybox of=/mnt/file bs=64k count=8 || return
	F e4defrag /mnt/file || return
	F resize2fs "$DEVICE" || return
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
