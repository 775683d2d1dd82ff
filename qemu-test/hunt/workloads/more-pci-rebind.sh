# SPDX-License-Identifier: GPL-2.0-only
#
# A sound card on PCI that has been bound many times before. The driver refuses the 33rd time.
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
	# the walk binds it 14 times before the first point
	for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		huntwork steps /tmp/steps || return
	done
}
