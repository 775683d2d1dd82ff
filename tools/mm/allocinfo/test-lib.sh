# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# Functions for test-*.sh in this directory. The argument of a test is the directory that
# contains the programs.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${1:-$here}" && pwd)
tmp=$(mktemp -d)
passed=0
failed=0
jobs_left=()

cleanup() {
	local pid
	for pid in "${jobs_left[@]}"; do
		kill -KILL "$pid" 2>/dev/null
	done
	[ ! -d "$tmp/mnt" ] || umount -l "$tmp/mnt" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT

pass() {
	passed=$((passed + 1))
}

# fail WHAT: report a failure and show the output of the program
fail() {
	echo "FAILED: $1"
	[ -s "$tmp/out" ] && head -n 20 "$tmp/out" | sed 's/^/    /'
	failed=$((failed + 1))
}

skip() {
	echo "skipped: $1"
}

# expect WHAT STATUS COMMAND...: run COMMAND and expect STATUS; its output goes to $tmp/out
expect() {
	local what=$1 status=$2 got=0
	shift 2
	timeout 300 "$@" >"$tmp/out" 2>&1 || got=$?
	if [ "$got" -ne "$status" ]; then
		fail "$what: exit status $got, not $status"
		return 1
	fi
	pass
}

# full WHAT COMMAND...: run COMMAND with a full disk as its standard output, and expect
# status 3; its messages go to $tmp/out
full() {
	local what=$1 got=0
	shift
	timeout 300 "$@" >/dev/full 2>"$tmp/out" || got=$?
	is "$what" "$got" 3
}

# says WHAT TEXT: the output of the last command must contain TEXT
says() {
	if grep -qF -- "$2" "$tmp/out"; then
		pass
	else
		fail "$1: not said: $2"
	fi
}

not_says() {
	if grep -qF -- "$2" "$tmp/out"; then
		fail "$1: said: $2"
	else
		pass
	fi
}

# is WHAT HAVE WANT: two texts must be the same
is() {
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1: $2, not $3"
	fi
}

# same WHAT FILE FILE: the two files must have the same contents
same() {
	if diff "$2" "$3" >"$tmp/out" 2>&1; then
		pass
	else
		fail "$1: not the same"
	fi
}

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

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
