# SPDX-License-Identifier: GPL-2.0-only
#
# AFS without a server: its dynamic root
#
# programs: mount umount
# modules: pcbc fcrypt rxrpc kafs

. /qt/workloads/lib.sh

work()
{
	F mount -i -t afs -o dyn none /mnt || return
	F ls /mnt || return
	F umount -i /mnt
}

clean()
{
	unmount /mnt
}
