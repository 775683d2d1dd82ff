# SPDX-License-Identifier: GPL-2.0-only
#
# Other devices on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: i6300esb sdhci-pci mptsas1068 tpci200
# programs: huntwork
# modules: i6300esb sdhci-pci mptsas tpci200 ipoctal

. /qt/workloads/lib.sh

walk_bus pci 4
