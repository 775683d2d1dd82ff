# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for test-*.sh in this directory: those of kmemtrace, and some for logs.

# shellcheck source=tools/mm/kmemtrace/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../mm/kmemtrace/test-lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${1:-$here}" && pwd)
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
