# SPDX-License-Identifier: GPL-2.0-only
#
# Allocations of helpers are charged to the callers: strings, bitmaps, FIFOs, trees,
# access control lists, the page cache, vmalloc(), and inline functions of headers.  Bytes
# and calls are exact, and nothing is left at the end.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# modules: ctag_cover_util ctag_keep

COVER=ctag_cover_util
. /qt/lib.sh
. /qt/bin/cover

# The live memory in the table is what /proc/allocinfo shows, site by site.
check_util()
{
	check_rows $COVER $DIR/table '
	{
		k = "ctag_cover_util.c:" $2 " func:" $1
		want = $4 * 4096
		for (i = 5; i < NF; i += 2) {
			if (!($(i + 1) in size)) wrong("no cache " $(i + 1))
			want += $i * size[$(i + 1)]
		}
		if (!seen[k])
			wrong("no line for " k)
		else if (bytes[k] != want || calls[k] != $3)
			differs(k, want, $3)
	}
	END { if (n < 30) wrong("a table of " n) }'
}

test_to_the_byte()
{
	cover_fresh
	cover fill
	check_util || fail "filled"
	note "$(wc -l < /tmp/table) helpers"
}

test_r27_no_header_in_the_module()
{
	tags | grep -F '[ctag_cover_util]' | grep '\.h:' | sed 's/^/# /'
	! tags | grep -F '[ctag_cover_util]' | grep -q '\.h:' || fail "a header has a line"
}

test_nothing_left()
{
	cover drop
	check_util || fail "dropped"
	# a counter below zero shows only after an allocation on its line
	cover fill
	check_util || fail "filled again"
	cover drop
	check_util || fail "dropped again"
	left=$(tags | awk '$4 == "[ctag_cover_util]" && /func:(make_|format)/ && ($1 || $2)')
	[ -z "$left" ] || fail "left: $(echo "$left" | head -1)"
	cover_unload
}

run_tests
