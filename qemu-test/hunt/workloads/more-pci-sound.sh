# SPDX-License-Identifier: GPL-2.0-only
#
# Sound cards on PCI, bound again. Their drivers are modules of hunt-more.config.
#
# devices: AC97 ES1370 intel-hda
# programs: huntwork
# modules: snd-intel8x0 snd-ens1370 snd-hda-intel

. /qt/workloads/lib.sh

prepare()
{
	sleep 1
	bind_again pci > /tmp/steps
	[ -s /tmp/steps ]
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	bound_again pci
	# disks are looked for in the background
	usleep 100000
}
