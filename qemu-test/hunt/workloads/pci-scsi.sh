# SPDX-License-Identifier: GPL-2.0-only
#
# SCSI controllers on PCI, bound again
#
# devices: am53c974 lsi53c895a megasas pvscsi
# programs: huntwork
# modules: am53c974 sym53c8xx megaraid_sas vmw_pvscsi sd_mod

. /qt/workloads/lib.sh

walk_bus pci 4
