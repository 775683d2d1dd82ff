# SPDX-License-Identifier: GPL-2.0-only
#
# Loading a module and its dependencies, with parameters, notes and sections

. /qt/workloads/lib.sh

work()
{
	F modprobe lapb || return
	F modprobe -r lapb || return
	F modprobe kobject-example || return
	put /sys/kernel/kobject_example/foo 5 || return
	F modprobe -r kobject-example || return
	F modprobe kprobe_example symbol=vfs_open || return
	F modprobe -r kprobe_example || return
	F modprobe trace-events-sample || return
	F modprobe -r trace-events-sample || return
	F modprobe configfs_sample || return
	F modprobe -r configfs_sample
}

clean()
{
	for module in lapb kobject-example kprobe_example trace-events-sample configfs_sample; do
		[ ! -e "/sys/module/$(echo $module | tr - _)" ] || modprobe -r $module || return
	done
}
