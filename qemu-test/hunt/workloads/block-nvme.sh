# SPDX-License-Identifier: GPL-2.0-only
#
# NVMe target with a loopback controller
#
# programs: huntwork
# modules: nvmet nvme-loop nvme-fabrics

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	attach /tmp/disk /dev/loop0
	mount -t configfs x /sys/kernel/config
	modprobe nvmet && modprobe nvme-loop && cd /sys/kernel/config/nvmet || return
}

work()
{
	F mkdir subsystems/hunt || return
	put 1 subsystems/hunt/attr_allow_any_host || return
	F mkdir subsystems/hunt/namespaces/1 || return
	put /dev/loop0 subsystems/hunt/namespaces/1/device_path || return
	put 1 subsystems/hunt/namespaces/1/enable || return
	F mkdir ports/1 || return
	put loop ports/1/addr_trtype || return
	F ln -s /sys/kernel/config/nvmet/subsystems/hunt ports/1/subsystems/hunt || return
	F mkdir hosts/h || return
	F huntwork ioctl /dev/nvme-fabrics write :transport=loop,nqn=hunt,nr_io_queues=2 || return
	F sh -c 'cat /sys/class/nvme/nvme*/address' || return
	put 1 /sys/class/nvme/nvme0/delete_controller || return
	F rmdir hosts/h || return
	F rm ports/1/subsystems/hunt || return
	F rmdir ports/1 || return
	put 0 subsystems/hunt/namespaces/1/enable || return
	F rmdir subsystems/hunt/namespaces/1 subsystems/hunt
}

clean()
{
	for controller in /sys/class/nvme/nvme*/delete_controller; do
		set_to 1 "$controller"
	done
	rm -f ports/1/subsystems/hunt
	rmdir ports/1 hosts/h
	rmdir subsystems/hunt/namespaces/1
	rmdir subsystems/hunt
	[ ! -e subsystems/hunt ] && [ ! -e ports/1 ] && [ ! -e hosts/h ]
}
