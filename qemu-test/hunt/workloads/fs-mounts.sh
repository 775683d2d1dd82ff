# SPDX-License-Identifier: GPL-2.0-only
#
# The new system calls of mount, mount namespaces, moved and bound mounts
#
# programs: unshare mount umount

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /tmp/a /tmp/b /tmp/c
}

work()
{
	F unshare -m sh -c 'mount -t tmpfs x /tmp/a && mkdir /tmp/a/d && mount --bind /tmp/a /tmp/b &&
		mount --make-rshared /tmp/a && mount --rbind /tmp/a /tmp/c && mount --make-rslave /tmp/c &&
		mount -o remount,bind,ro /tmp/c && umount /tmp/c && umount /tmp/b && umount /tmp/a' || return
	F unshare -m -u -i -n -p -f --mount-proc true || return
	F unshare -U -r -m true || return
	F unshare -C -T true
}
