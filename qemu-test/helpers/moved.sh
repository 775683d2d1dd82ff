#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of what happens to anonymous memory; to be sourced after lib.sh.

# moved KIND MIB: helpers/moves.c says whether all was accounted as it must be
moved()
{
	/qt/bin/moves "$@"
	case $? in
	0) ;;
	3) skip "cannot be tried here" ;;
	*) fail "$*: not as it must be" ;;
	esac
}

# moved_by_swap MIB: out to the test's disk and in again
moved_by_swap()
{
	mkswap /dev/vda > /dev/null || fail mkswap
	swapon /dev/vda || fail swapon
	moved swap "$1"
	swapoff /dev/vda || fail swapoff
}
