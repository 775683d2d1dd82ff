# SPDX-License-Identifier: GPL-2.0-only
#
# USB controllers on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: qemu-xhci usb-ehci pci-ohci piix3-usb-uhci
# programs: huntwork
# modules: xhci-pci ehci-pci ohci-pci uhci-hcd

. /qt/workloads/lib.sh

walk_bus pci 4
