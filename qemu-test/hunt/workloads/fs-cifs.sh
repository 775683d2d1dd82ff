# SPDX-License-Identifier: GPL-2.0-only
#
# SMB 3.1.1 against ksmbd of the same kernel
#
# programs: huntwork mount umount ksmbd.adduser ksmbd.mountd
# modules: ksmbd cifs cmac ccm gcm md4 hmac sha512_generic aes_generic nls_utf8 des_generic
# memory: 1G

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /srv /etc/ksmbd /run
	mount -t tmpfs server /srv || return
	printf '[global]\n\tnetbios name = hunt\n[share]\n\tpath = /srv\n\tread only = no\n' > /etc/ksmbd/ksmbd.conf
	cp /etc/ksmbd/ksmbd.conf /etc/ksmbd/smb.conf
	ksmbd.adduser -a root -p secret -i /etc/ksmbd/ksmbdpwd.db || ksmbd.adduser -a root -p secret || return
	ksmbd.mountd || return
	sleep 2
}

work()
{
	F mount -i -t cifs -o ip=127.0.0.1,unc=//127.0.0.1/share,username=root,password=secret,vers=3.1.1,actimeo=0,echo_interval=600 \
		//127.0.0.1/share /mnt || return
	F huntwork names /mnt 10 || return
	F huntwork files /mnt || return
	F umount -i /mnt
}

clean()
{
	unmount /mnt || return
	rm -rf /srv/*
}
