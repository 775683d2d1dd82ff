# SPDX-License-Identifier: GPL-2.0-only
#
# Input devices: uinput with all kinds of events, readers of them
#
# programs: huntwork
# modules: uinput evdev mousedev joydev evbug

. /qt/workloads/lib.sh

work()
{
	F huntwork ioctl /dev/uinput call 0x40045564 1 call 0x40045564 2 call 0x40045564 3 call 0x40045565 30 call 0x40045565 0x110 call 0x40045566 0 call 0x40045567 0 \
		with 0x405c5503 0300.0100.0200.0300.:hunt with 0x401c5504 00000000.00000000.00000000.ff000000 call 0x5501 0 sleep 50 call 0x5502 0 || return
	F huntwork ioctl /dev/uinput call 0x40045564 3 call 0x40045567 0x2f call 0x40045567 0x35 call 0x40045567 0x36 with 0x405c5503 0300.0100.0200.0300.:touch \
		with 0x401c5504 2f00.0000.00000000.00000000.09000000 with 0x401c5504 3500.0000.00000000.00000000.ff000000 with 0x401c5504 3600.0000.00000000.00000000.ff000000 call 0x5501 0 sleep 50
}
