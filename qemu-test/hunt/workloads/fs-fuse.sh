# SPDX-License-Identifier: GPL-2.0-only
#
# FUSE: ext4 by fuse2fs, which can be hit by faults, too
#
# programs: huntwork fuse2fs mkfs.ext4
# modules: fuse

. /qt/workloads/lib.sh

prepare()
{
	zeros "$IMAGE" 8
	mkfs.ext4 -q -F "$IMAGE"
}

work()
{
	: > /tmp/.used
	F fuse2fs -o rw,fakeroot "$IMAGE" /mnt || return
	F huntwork names /mnt 20 || return
	F huntwork read /mnt || return
	F umount /mnt || return
	rm -f /tmp/.used
}

clean()
{
	unmount /mnt || return
	[ -e /tmp/.used ] || return 0
	mkfs.ext4 -q -F "$IMAGE" && rm -f /tmp/.used
}
