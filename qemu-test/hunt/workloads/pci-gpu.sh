# SPDX-License-Identifier: GPL-2.0-only
#
# Displays on PCI, bound again
#
# devices: virtio-gpu-pci bochs-display cirrus-vga
# programs: huntwork
# modules: virtio-gpu bochs cirrus

. /qt/workloads/lib.sh

walk_bus pci 3
