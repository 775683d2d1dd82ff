#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of memory that moves.  Source it after lib.sh.

BLOCKS=/sys/devices/system/memory

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

# Takes a block offline whose pages can all be moved; prints its name.
# shellcheck disable=SC2012
take_one()
{
	for block in $(ls -d $BLOCKS/memory[0-9]* | sort -t y -k 3 -n -r); do
		[ "$(cat "$block/state")" = online ] || continue
		if echo offline > "$block/state" 2>/dev/null; then
			echo "$block"
			return
		fi
	done
}
