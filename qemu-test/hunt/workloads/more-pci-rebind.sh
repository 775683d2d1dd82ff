# SPDX-License-Identifier: GPL-2.0-only
#
# Binds a sound card on PCI again and again. The driver of ES1370 refuses the 33rd bind.
#
# devices: ES1370
# programs: huntwork
# modules: snd-ens1370

. /qt/workloads/lib.sh

walk_bus pci 1
prepare()
{
	sleep 1
	bind_again pci > /tmp/steps
	[ "$(grep -c "/bind " /tmp/steps)" -ge 1 ] || return
	# With these binds, the 33rd comes in the first points of the walk.
	for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		huntwork steps /tmp/steps || return
	done
}
