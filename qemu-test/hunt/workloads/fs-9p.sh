# SPDX-License-Identifier: GPL-2.0-only
#
# 9P over TCP, against diod
#
# programs: huntwork mount umount diod
# modules: 9p 9pnet 9pnet_fd

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /srv
	mount -t tmpfs server /srv || return
	echo "127.0.0.1 localhost" > /etc/hosts
	diod -f -n -e /srv -l 127.0.0.1:5640 -L stderr > /tmp/server 2>&1 &
	sleep 1
}

work()
{
	F mount -i -t 9p -o trans=tcp,port=5640,version=9p2000.L,aname=/srv,access=any,uname=root 127.0.0.1 /mnt || return
	F huntwork names /mnt 10 || return
	F huntwork files /mnt || return
	F umount -i /mnt
}

clean()
{
	unmount /mnt || return
	rm -rf /srv/*
}
