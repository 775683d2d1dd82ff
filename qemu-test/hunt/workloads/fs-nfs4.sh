# SPDX-License-Identifier: GPL-2.0-only
#
# NFS 4.2 against the server of the same kernel. There is no mountd: prepare() answers its questions
# in advance.
#
# programs: huntwork mount umount
# modules: nfsd nfs nfsv4 rpcsec_gss_krb5 auth_rpcgss

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /srv /var/lib/nfs/v4recovery
	mount -t tmpfs server /srv || return
	mount -t nfsd nfsd /proc/fs/nfsd || return
	# without the old versions it needs no rpcbind
	echo "-2 -3 +4 +4.1 +4.2" > /proc/fs/nfsd/versions
	echo 10 > /proc/fs/nfsd/nfsv4leasetime
	echo 10 > /proc/fs/nfsd/nfsv4gracetime
	echo 2 > /proc/fs/nfsd/threads || return
	answer
}

# The domain of the client, the export of that domain, and the export of the root of NFS 4
answer()
{
	echo "nfsd 127.0.0.1 2147483647 all" > /proc/net/rpc/auth.unix.ip/channel || return
	echo "all /srv 2147483647 9218 65534 65534 0" > /proc/net/rpc/nfsd.export/channel || return
	printf 'all 1 \\x00000000 2147483647 /srv\n' > /proc/net/rpc/nfsd.fh/channel
}

work()
{
	F mount -i -t nfs4 -o addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.2,sec=sys,soft,timeo=20,retrans=1 127.0.0.1:/ /mnt || return
	F huntwork names /mnt 10 || return
	F huntwork files /mnt || return
	F umount -i /mnt
}

clean()
{
	unmount /mnt || return
	rm -rf /srv/*
}
