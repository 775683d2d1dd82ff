# SPDX-License-Identifier: GPL-2.0-only
#
# RAM disks, and partitions of many kinds on one
#
# programs: sfdisk
# modules: brd

prepare()
{
	modprobe brd rd_nr=1 rd_size=16384
	mkdir -p /tmp/tables
	printf 'label: gpt\n,2M\n,2M\n,\n' | sfdisk -q /dev/ram0 && dd if=/dev/ram0 of=/tmp/tables/gpt bs=1M count=16
	printf 'label: dos\n,2M\n,,E\n,2M\n' | sfdisk -q /dev/ram0 && dd if=/dev/ram0 of=/tmp/tables/dos bs=1M count=16
	printf 'label: sun\n,2M\n' | sfdisk -q /dev/ram0 && dd if=/dev/ram0 of=/tmp/tables/sun bs=1M count=16
	printf 'label: sgi\n,2M\n' | sfdisk -q /dev/ram0 && dd if=/dev/ram0 of=/tmp/tables/sgi bs=1M count=16
	return 0
}

work()
{
	for table in /tmp/tables/*; do
		dd if="$table" of=/dev/ram0 bs=1M count=16 || return
		F blockdev --rereadpt /dev/ram0 || return
	done
	F blockdev --flushbufs /dev/ram0
}

clean()
{
	dd if=/dev/zero of=/dev/ram0 bs=64k count=1 && blockdev --rereadpt /dev/ram0
}
