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
	cat > /tmp/steps1 <<-'END'
	mkdir devices/dummy/d
	mkdir triggers/hrtimer/t
	put /sys/bus/iio/devices/iio_sysfs_trigger/add_trigger 5
	put /sys/bus/iio/devices/iio:device0/trigger/current_trigger t
	put /sys/bus/iio/devices/iio:device0/scan_elements/in_voltage0_en 1
	put /sys/bus/iio/devices/iio:device0/buffer/enable 1
	END
	cat > /tmp/steps2 <<-'END'
	put /sys/bus/iio/devices/iio:device0/buffer/enable 0
	put /sys/bus/iio/devices/iio:device0/trigger/current_trigger
	put /sys/bus/iio/devices/iio_sysfs_trigger/remove_trigger 5
	rmdir triggers/hrtimer/t
	rmdir devices/dummy/d
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F huntwork open /dev/iio:device0 || return
	F huntwork steps /tmp/steps2
}

clean()
{
	set_to /sys/bus/iio/devices/iio:device0/buffer/enable 0
	set_to /sys/bus/iio/devices/iio:device0/trigger/current_trigger ""
	echo 5 > /sys/bus/iio/devices/iio_sysfs_trigger/remove_trigger
	rmdir triggers/hrtimer/t
	rmdir devices/dummy/d
	[ ! -e devices/dummy/d ] && [ ! -e triggers/hrtimer/t ]
}
