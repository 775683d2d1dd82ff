# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What t-kmemtrace and t-kmemtrace-report share. They are two files so that they run at the
# same time.

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

src=$top/tools/mm/kmemtrace
out=$top/build/tools/kmemtrace

# Build the tools.  t-kmemtrace and t-kmemtrace-report call this function, and can run at the same time.
# The lock makes one of them wait until the other has built everything.
build() {
	mkdir -p "$out"
	exec 8>"$out/.lock"
	flock 8
	build_tools
	exec 8>&-
}
