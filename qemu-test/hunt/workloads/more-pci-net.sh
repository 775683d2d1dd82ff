# SPDX-License-Identifier: GPL-2.0-only
#
# Network controllers on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: e1000 e1000e rtl8139 pcnet ne2k_pci i82551 tulip
# programs: huntwork
# modules: e1000 e1000e 8139cp pcnet32 ne2k-pci e100 tulip

. /qt/workloads/lib.sh

walk_bus pci 7
