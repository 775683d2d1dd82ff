#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of anonymous memory.  Source it after lib.sh.

# moved KIND MIB: helpers/moves.c checks that all memory is accounted correctly
moved()
{
	/qt/bin/moves "$@"
	case $? in
	0) ;;
	3) skip "cannot be tried here" ;;
	*) fail "$*: accounted wrongly" ;;
	esac
}

# moved_by_swap MIB: swaps out to the test's disk and in again
moved_by_swap()
{
	mkswap /dev/vda > /dev/null || fail mkswap
	swapon /dev/vda || fail swapon
	moved swap "$1"
	swapoff /dev/vda || fail swapoff
}
