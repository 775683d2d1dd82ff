# SPDX-License-Identifier: GPL-2.0-only
#
# File systems without a device, with options
#
# programs: huntwork
# modules: binfmt_misc

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps1 <<-'END'
	mount tmpfs x /mnt size=4m,mpol=prefer:0,huge=within_size
	END
	cat > /tmp/steps2 <<-'END'
	umount /mnt
	mount ramfs x /mnt mode=700
	END
	cat > /tmp/steps3 <<-'END'
	umount /mnt
	mount hugetlbfs x /mnt size=4M,min_size=0,mode=700
	umount /mnt
	mount devpts x /mnt newinstance,ptmxmode=666
	END
	cat > /tmp/steps4 <<-'END'
	umount /mnt
	mount proc x /mnt hidepid=2,subset=pid
	ls /mnt/self
	umount /mnt
	mount bpf x /mnt mode=700
	mkdir /mnt/a
	umount /mnt
	mount binfmt_misc x /mnt
	put /mnt/register ':hunt:E::hunt::/bin/busybox:F'
	put /mnt/hunt -1
	umount /mnt
	mount mqueue x /mnt
	END
	cat > /tmp/steps5 <<-'END'
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
	F huntwork steps /tmp/steps1 || return
	F huntwork files /mnt || return
	F mount -o remount,size=8m,nr_inodes=1000 /mnt || return
	F huntwork steps /tmp/steps2 || return
	F huntwork files /mnt || return
	F huntwork steps /tmp/steps3 || return
	F huntwork open /mnt/ptmx || return
	F huntwork steps /tmp/steps4 || return
	F touch /mnt/queue || return
	F huntwork steps /tmp/steps5
}

clean()
{
	if mounted /mnt && [ -e /mnt/hunt ]; then
		echo -1 > /mnt/hunt
	fi
	[ ! -e /mnt/queue ] || rm -f /mnt/queue
	unmount /mnt
}
