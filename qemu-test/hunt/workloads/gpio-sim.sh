# SPDX-License-Identifier: GPL-2.0-only
#
# Simulated GPIO controllers: banks, lines, hogs; an aggregator of them
#
# programs: huntwork gpiodetect gpioinfo
# modules: gpio-sim gpio-aggregator

. /qt/workloads/lib.sh

prepare()
{
	mount -t configfs x /sys/kernel/config
	modprobe gpio-sim && cd /sys/kernel/config/gpio-sim || return
	cat > /tmp/steps1 <<-'END'
	mkdir a
	mkdir a/b0
	mkdir a/b0/line3
	mkdir a/b0/line3/hog
	mkdir a/b1
	put a/b0/num_lines 8
	put a/b1/num_lines 4
	put a/b0/line3/name third
	put a/b0/line3/hog/name hogger
	put a/b0/line3/hog/direction output-high
	put a/live 1
	cat /sys/bus/platform/devices/gpio-sim.0/uevent
	END
	cat > /tmp/steps2 <<-'END'
	put a/live 0
	rmdir a/b0/line3/hog
	rmdir a/b0/line3
	rmdir a/b0
	rmdir a/b1
	rmdir a
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F gpiodetect || return
	try F gpioinfo gpiochip1
	F huntwork steps /tmp/steps2
}

clean()
{
	set_to a/live 0
	rmdir a/b0/line3/hog
	rmdir a/b0/line3
	rmdir a/b0
	rmdir a/b1
	rmdir a
	[ ! -e a ]
}
