# SPDX-License-Identifier: GPL-2.0-only
#
# File systems without a device, with options
#
# programs: huntwork
# modules: binfmt_misc

. /qt/workloads/lib.sh

work()
{
	F mount -t tmpfs -o size=4m,mpol=prefer:0,huge=within_size x /mnt || return
	F huntwork files /mnt || return
	F mount -o remount,size=8m,nr_inodes=1000 /mnt || return
	F umount /mnt || return
	F mount -t ramfs -o mode=700 x /mnt || return
	F huntwork files /mnt || return
	F umount /mnt || return
	F mount -t hugetlbfs -o size=4M,min_size=0,mode=700 x /mnt || return
	F umount /mnt || return
	F mount -t devpts -o newinstance,ptmxmode=666 x /mnt || return
	F huntwork open /mnt/ptmx || return
	F umount /mnt || return
	F mount -t proc -o hidepid=2,subset=pid x /mnt || return
	F ls /mnt/self || return
	F umount /mnt || return
	F mount -t bpf -o mode=700 x /mnt || return
	F mkdir /mnt/a || return
	F umount /mnt || return
	F mount -t binfmt_misc x /mnt || return
	F sh -c "echo ':hunt:E::hunt::/bin/busybox:F' > /mnt/register" || return
	F sh -c 'echo -1 > /mnt/hunt' || return
	F umount /mnt || return
	F mount -t mqueue x /mnt || return
	F touch /mnt/queue || return
	F rm /mnt/queue || return
	F umount /mnt || return
	F mount -t pstore x /mnt || return
	F umount /mnt || return
	F mount -t securityfs x /mnt || return
	F umount /mnt || return
	F mount -t tracefs x /mnt || return
	F umount /mnt
}

clean()
{
	if mounted /mnt && [ -e /mnt/hunt ]; then
		echo -1 > /mnt/hunt
	fi
	[ ! -e /mnt/queue ] || rm -f /mnt/queue
	unmount /mnt
}
