# SPDX-License-Identifier: GPL-2.0-only
#
# Simulated GPIO controllers: banks, lines, hogs; an aggregator of them
#
# programs: gpiodetect gpioinfo
# modules: gpio-sim gpio-aggregator

. /qt/workloads/lib.sh

prepare()
{
	mount -t configfs x /sys/kernel/config
	modprobe gpio-sim && cd /sys/kernel/config/gpio-sim || return
}

work()
{
	F mkdir -p a/b0/line3/hog a/b1 || return
	put 8 a/b0/num_lines || return
	put 4 a/b1/num_lines || return
	put third a/b0/line3/name || return
	put hogger a/b0/line3/hog/name || return
	put output-high a/b0/line3/hog/direction || return
	put 1 a/live || return
	F cat "/sys/bus/platform/devices/$(cat a/dev_name)/uevent" || return
	F gpiodetect || return
	try F gpioinfo gpiochip1
	put 0 a/live || return
	F rmdir a/b0/line3/hog a/b0/line3 a/b0 a/b1 a
}

clean()
{
	set_to 0 a/live
	rmdir a/b0/line3/hog
	rmdir a/b0/line3
	rmdir a/b0
	rmdir a/b1
	rmdir a
	[ ! -e a ]
}
