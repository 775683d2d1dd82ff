# SPDX-License-Identifier: GPL-2.0-only
#
# Mockup GPIO controllers, loaded and unloaded
#
# programs: gpiodetect

. /qt/workloads/lib.sh

work()
{
	F modprobe gpio-mockup gpio_mockup_ranges=-1,8,-1,4 gpio_mockup_named_lines=1 || return
	F gpiodetect || return
	F modprobe -r gpio-mockup
}

clean()
{
	[ ! -e /sys/module/gpio_mockup ] || modprobe -r gpio-mockup
}
