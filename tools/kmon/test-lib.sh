# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # set by the other file
#
# Functions for test-*.sh in this directory.

# shellcheck source=tools/lib/codetag/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/codetag/test-lib.sh"
cd "$tmp" || exit 1

# log NAME: make a log from the lines on standard input
log() {
	cat >"$tmp/$1.txt"
	"$here/gen-log.py" --text "$tmp/$1.txt" "$tmp/$1"
}

# parse WHAT STATUS ARG...: run kmonparse; its output goes to $tmp/text
parse() {
	expect "$1" "$2" bash -c '"$@" >text' - "$bin/kmonparse" "${@:3}"
}

# is WHAT: compare the output with standard input
is() {
	cat >"$tmp/wanted"
	if diff "$tmp/wanted" "$tmp/text" >"$tmp/out"; then
		pass
	else
		fail "$1: differs"
	fi
}
