# SPDX-License-Identifier: GPL-2.0-only
#
# scsi_debug hosts that come and go, disks and their files, the generic and the tape driver
#
# programs: huntwork
# modules: sd_mod sg st ses

. /qt/workloads/lib.sh

prepare()
{
	modprobe scsi_debug add_host=0 dev_size_mb=8 num_tgts=1 max_luns=2 ptype=0 dif=1 dix=1 sector_size=512 lbpu=1
}

# The kernel looks for disks in the background. $disk is the first one.
wait_for_disk()
{
	tries=0
	while :; do
		for disk in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:0/block/*; do
			[ ! -e "/dev/${disk##*/}" ] || return 0
		done
		usleep 20000
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return
	done
}

work()
{
	put /sys/bus/pseudo/drivers/scsi_debug/add_host 1 || return
	wait_for_disk || return
	F dd if="/dev/${disk##*/}" of=/dev/null bs=64k count=4 iflag=direct || return
	F dd if=/dev/zero of="/dev/${disk##*/}" bs=64k count=4 oflag=direct || return
	F blkdiscard "/dev/${disk##*/}" || return
	F huntwork ioctl "/dev/${disk##*/}" -with 0x5382 00 || return
	put /sys/bus/pseudo/drivers/scsi_debug/add_host -1
}

clean()
{
	while ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*; do
		echo -1 > /sys/bus/pseudo/drivers/scsi_debug/add_host || return
	done
	return 0
}
