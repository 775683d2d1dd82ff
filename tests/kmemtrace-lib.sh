# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What t-kmemtrace and t-kmemtrace-report share. They are two files so that they run at the
# same time.

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

src=$top/tools/mm/kmemtrace
out=$top/build/tools/kmemtrace

# Build the tools without and with the sanitizers; the first of the two files does the work.
build() {
	mkdir -p "$out"
	exec 8>"$out/.lock"
	flock 8
	make -C "$src" O="$out" tests
	make -C "$src" O="$out/sanitized" SANITIZE=1 tests
	exec 8>&-
}

# both TEST: run a test of the tools on both builds at once; the output of the build that
# fails comes last, since run_tests prints the last line
both() {
	local status=0

	"$src/$1" "$out" >plain.log 2>&1 &
	plain=$!
	trap 'kill "$plain"' EXIT
	"$src/$1" "$out/sanitized" >sanitized.log 2>&1 || status=$?
	if wait "$plain"; then
		cat plain.log sanitized.log
	else
		status=1
		cat sanitized.log plain.log
	fi
	trap - EXIT
	return "$status"
}
