# SPDX-License-Identifier: GPL-2.0-only
#
# overlayfs on top of files that it copies up
#
# programs: huntwork
# modules: overlay

. /qt/workloads/lib.sh

prepare()
{
	modprobe overlay
	tree /tmp/lower
	mkdir -p /tmp/o
}

work()
{
	mkdir -p /tmp/o/upper /tmp/o/work
	F mount -t overlay -o lowerdir=/tmp/lower,upperdir=/tmp/o/upper,workdir=/tmp/o/work,index=on,metacopy=on,redirect_dir=on \
		overlay /mnt || return
	F huntwork read /mnt || return
	F chmod 600 /mnt/one/program || return
	F sh -c 'cd /mnt && echo more >> short && mv one/two one/three && ln hard hard2 && rm -r several && mkdir several' || return
	F huntwork files /mnt || return
	F umount /mnt
}

clean()
{
	unmount /mnt || return
	rm -rf /tmp/o/upper /tmp/o/work
}
