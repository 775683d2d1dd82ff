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
	put /sys/bus/platform/drivers/vhci_hcd/unbind vhci_hcd.0 || return
	put /sys/bus/platform/drivers/vhci_hcd/bind vhci_hcd.0
}

clean()
{
	[ -e /sys/bus/platform/drivers/vhci_hcd/vhci_hcd.0 ] || echo vhci_hcd.0 > /sys/bus/platform/drivers/vhci_hcd/bind
}
