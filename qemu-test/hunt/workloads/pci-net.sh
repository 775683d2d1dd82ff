# SPDX-License-Identifier: GPL-2.0-only
#
# Network controllers on PCI, bound again
#
# devices: vmxnet3
# programs: huntwork
# modules: vmxnet3

. /qt/workloads/lib.sh

walk_bus pci 1
