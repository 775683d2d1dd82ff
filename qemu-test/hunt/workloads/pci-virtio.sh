# SPDX-License-Identifier: GPL-2.0-only
#
# Virtio devices on PCI, bound again with the drivers on top of them
#
# devices: virtio-net-pci virtio-scsi-pci virtio-serial-pci virtio-keyboard-pci virtio-tablet-pci
# programs: huntwork
# modules: virtio_net virtio_scsi virtio_console virtio_input

. /qt/workloads/lib.sh

walk_bus pci 5
