# SPDX-License-Identifier: GPL-2.0-only
#
# The sequencer: clients, ports, queues, and its OSS interface
#
# programs: huntwork
# modules: snd-seq snd-seq-dummy snd-seq-oss snd-timer snd-hrtimer

. /qt/workloads/lib.sh

prepare()
{
	modprobe snd-seq-dummy
	modprobe snd-seq-oss
	return 0
}

work()
{
	F huntwork ioctl /dev/snd/seq with 0x80045300 00 -with 0xc08c5332 00 -with 0xc0a85320 00 || return
	F huntwork open /dev/snd/seq /dev/snd/timer
}
