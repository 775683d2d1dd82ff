# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# Functions for the test-*.sh of all tools. A tool has a test-lib.sh of its own, which includes
# this file; $here is its directory. The argument of a test is the directory that contains the
# programs, $bin. $tmp is a directory for files, which goes away.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
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
	timeout 900 "$@" >"$tmp/out" 2>&1 || got=$?
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
	timeout 900 "$@" >/dev/full 2>"$tmp/out" || got=$?
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

# wait_until COMMAND...: repeat COMMAND until it succeeds; fail after two minutes
wait_until() {
	local i

	for ((i = 0; i < 2400; i++)); do
		"$@" && return
		sleep 0.05
	done
	fail "waited in vain: $*"
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
