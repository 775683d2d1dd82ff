# SPDX-License-Identifier: GPL-2.0-only
#
# USB controllers on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: qemu-xhci usb-ehci pci-ohci piix3-usb-uhci
# programs: huntwork
# modules: xhci-pci ehci-pci ohci-pci uhci-hcd

. /qt/workloads/lib.sh

prepare()
{
	sleep 1
	bind_again pci > /tmp/steps
	[ -s /tmp/steps ]
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	bound_again pci
	# disks are looked for in the background
	usleep 100000
}
