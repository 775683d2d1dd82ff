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
	cat > /tmp/steps1 <<-'END'
	mkdir subsystems/hunt
	put subsystems/hunt/attr_allow_any_host 1
	mkdir subsystems/hunt/namespaces/1
	put subsystems/hunt/namespaces/1/device_path /dev/loop0
	put subsystems/hunt/namespaces/1/enable 1
	mkdir ports/1
	put ports/1/addr_trtype loop
	link ports/1/subsystems/hunt /sys/kernel/config/nvmet/subsystems/hunt
	mkdir hosts/h
	END
	cat > /tmp/steps2 <<-'END'
	put /sys/class/nvme/nvme0/delete_controller 1
	rmdir hosts/h
	rm ports/1/subsystems/hunt
	rmdir ports/1
	put subsystems/hunt/namespaces/1/enable 0
	rmdir subsystems/hunt/namespaces/1
	rmdir subsystems/hunt
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F huntwork ioctl /dev/nvme-fabrics write :transport=loop,nqn=hunt,nr_io_queues=2 || return
	F sh -c 'cat /sys/class/nvme/nvme*/address' || return
	F huntwork steps /tmp/steps2
}

clean()
{
	for controller in /sys/class/nvme/nvme*/delete_controller; do
		set_to "$controller" 1
	done
	rm -f ports/1/subsystems/hunt
	rmdir ports/1 hosts/h
	rmdir subsystems/hunt/namespaces/1
	rmdir subsystems/hunt
	[ ! -e subsystems/hunt ] && [ ! -e ports/1 ] && [ ! -e hosts/h ]
}
