# SPDX-License-Identifier: GPL-2.0-only
#
# Sound cards on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: AC97 ES1370 intel-hda hda-duplex
# programs: huntwork
# modules: snd-intel8x0 snd-ens1370 snd-hda-intel

. /qt/workloads/lib.sh

walk_bus pci 3
