# SPDX-License-Identifier: GPL-2.0-only
#
# File systems without a device, with options
#
# programs: huntwork
# modules: binfmt_misc

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	mount tmpfs x /mnt size=4m,mpol=prefer:0,huge=within_size
	remount /mnt size=8m,nr_inodes=1000
	files /mnt
	umount /mnt
	mount ramfs x /mnt mode=700
	files /mnt
	umount /mnt
	mount hugetlbfs x /mnt size=4M,min_size=0,mode=700
	umount /mnt
	mount devpts x /mnt newinstance,ptmxmode=666
	open /mnt/ptmx
	umount /mnt
	mount proc x /mnt hidepid=2,subset=pid
	ls /mnt/self
	umount /mnt
	mount bpf x /mnt mode=700
	mkdir /mnt/a
	umount /mnt
	mount binfmt_misc x /mnt
	put /mnt/register :hunt:E::hunt::/bin/busybox:F
	put /mnt/hunt -1
	umount /mnt
	mount mqueue x /mnt
	create /mnt/queue
	rm /mnt/queue
	umount /mnt
	mount pstore x /mnt
	umount /mnt
	mount securityfs x /mnt
	umount /mnt
	mount tracefs x /mnt
	umount /mnt
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	if mounted /mnt && [ -e /mnt/hunt ]; then
		echo -1 > /mnt/hunt
	fi
	[ ! -e /mnt/queue ] || rm -f /mnt/queue
	unmount /mnt
}
