# SPDX-License-Identifier: GPL-2.0-only
#
# An NVMe controller without a namespace, bound again
#
# devices: nvme,serial=hunt
# programs: huntwork
# modules: nvme

. /qt/workloads/lib.sh

walk_bus pci 1
