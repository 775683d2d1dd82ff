# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for test-*.sh in this directory.

# shellcheck source=tools/lib/codetag/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/codetag/test-lib.sh"

# table [VERSION]: print /proc/allocinfo from lines "BYTES CALLS PLACE..." on stdin
table() {
	printf 'allocinfo - version: %s\n#     <size>  <calls> <tag info>\n' "${1:-2.0}"
	while read -r bytes calls place; do
		printf '%12s %8s %s \n' "$bytes" "$calls" "$place"
	done
}

# make_proc DIR: make a directory like /proc, whose allocinfo comes from stdin
make_proc() {
	mkdir -p "$1"
	table >"$1/.new"
	mv "$1/.new" "$1/allocinfo"
	printf '%-15s %8s kB\n' MemTotal: 2000000 MemFree: 1500000 Slab: 20000 >"$1/meminfo"
}
