# SPDX-License-Identifier: GPL-2.0-only
#
# Industrial I/O: a dummy device, triggers in software
#
# programs: huntwork
# modules: iio_dummy iio-trig-hrtimer iio-trig-sysfs kfifo_buf industrialio-sw-device industrialio-sw-trigger iio_dummy_evgen

. /qt/workloads/lib.sh

prepare()
{
	mount -t configfs x /sys/kernel/config
	modprobe iio_dummy
	modprobe iio-trig-hrtimer
	modprobe iio-trig-sysfs
	cd /sys/kernel/config/iio || return
}

work()
{
	F mkdir devices/dummy/d || return
	F mkdir triggers/hrtimer/t || return
	put 5 /sys/bus/iio/devices/iio_sysfs_trigger/add_trigger || return
	put t /sys/bus/iio/devices/iio:device0/trigger/current_trigger || return
	put 1 /sys/bus/iio/devices/iio:device0/scan_elements/in_voltage0_en || return
	put 1 /sys/bus/iio/devices/iio:device0/buffer/enable || return
	F huntwork open /dev/iio:device0 || return
	put 0 /sys/bus/iio/devices/iio:device0/buffer/enable || return
	put "" /sys/bus/iio/devices/iio:device0/trigger/current_trigger || return
	put 5 /sys/bus/iio/devices/iio_sysfs_trigger/remove_trigger || return
	F rmdir triggers/hrtimer/t || return
	F rmdir devices/dummy/d
}

clean()
{
	set_to 0 /sys/bus/iio/devices/iio:device0/buffer/enable
	set_to "" /sys/bus/iio/devices/iio:device0/trigger/current_trigger
	echo 5 > /sys/bus/iio/devices/iio_sysfs_trigger/remove_trigger
	rmdir triggers/hrtimer/t
	rmdir devices/dummy/d
	[ ! -e devices/dummy/d ] && [ ! -e triggers/hrtimer/t ]
}
