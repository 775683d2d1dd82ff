# SPDX-License-Identifier: GPL-2.0-only
#
# Loop devices: created, configured, grown, with partitions and direct I/O
#
# programs: huntwork losetup partx

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	printf 'o\nn\np\n1\n\n+2M\nn\np\n2\n\n\nw\n' | fdisk /tmp/disk
	return 0
}

work()
{
	F losetup -o 512 --sizelimit 4194304 -r /dev/loop3 /tmp/disk || return
	F losetup -d /dev/loop3 || return
	F losetup -P /dev/loop4 /tmp/disk || return
	try F partx -a /dev/loop4
	F losetup -c /dev/loop4 || return
	F losetup -b 1024 /dev/loop5 /tmp/disk || return
	F losetup -d /dev/loop5 || return
	F huntwork ioctl /dev/loop-control call 0x4c80 77 || return
	F huntwork ioctl /dev/loop-control call 0x4c81 77 || return
	F losetup -d /dev/loop4
}

clean()
{
	for disk in 3 4 5; do
		detach /dev/loop$disk
	done
	[ ! -e /dev/loop77 ] || huntwork ioctl /dev/loop-control call 0x4c81 77
}
