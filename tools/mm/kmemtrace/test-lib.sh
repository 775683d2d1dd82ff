# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # set by the other file
#
# Functions for test-*.sh in this directory.

# shellcheck source=tools/lib/codetag/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/codetag/test-lib.sh"

# gen NAME ARG...: make a new trace, $tmp/NAME
gen() {
	local name=$1
	shift
	rm -rf "${tmp:?}/$name"
	"$here/make-trace.py" "$tmp/$name" --scenario stream --first 1 --events 2000 "$@"
}
