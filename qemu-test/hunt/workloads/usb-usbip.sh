# SPDX-License-Identifier: GPL-2.0-only
#
# USB over IP: the virtual host controller
#
# modules: vhci-hcd

. /qt/workloads/lib.sh

prepare()
{
	modprobe vhci-hcd
}

work()
{
	F sh -c 'cat /sys/devices/platform/vhci_hcd.0/status' || return
	put vhci_hcd.0 /sys/bus/platform/drivers/vhci_hcd/unbind || return
	put vhci_hcd.0 /sys/bus/platform/drivers/vhci_hcd/bind
}

clean()
{
	[ -e /sys/bus/platform/drivers/vhci_hcd/vhci_hcd.0 ] || echo vhci_hcd.0 > /sys/bus/platform/drivers/vhci_hcd/bind
}
