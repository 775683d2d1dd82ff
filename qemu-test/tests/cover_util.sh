# SPDX-License-Identifier: GPL-2.0-only
#
# Helpers that allocate for their callers are charged to those: strings, bitmaps,
# FIFOs, trees, access control lists, the page cache, vmalloc(), and inline
# functions of headers. To the byte and the call, and nothing left in the end.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# modules: ctag_cover_util ctag_keep

. /qt/lib.sh

UTIL=/sys/kernel/debug/ctag_cover_util

util()
{
	echo "$1" > $UTIL/cmd || fail "ctag_cover_util refused: $1"
}

# What the table says is live is what /proc/allocinfo says, site by site.
check_util()
{
	[ -s /tmp/slab_sizes ] || for f in /sys/kernel/slab/*; do
		echo "${f##*/} $(cat "$f/slab_size")"
	done > /tmp/slab_sizes
	cat $UTIL/table > /tmp/table
	tags > /tmp/info
	awk -v page=4096 '
	FILENAME == "/tmp/slab_sizes" { size[$1] = $2; next }
	FILENAME == "/tmp/info" {
		if ($4 == "[ctag_cover_util]") {
			k = $3 " " $5
			bytes[k] += $1; calls[k] += $2; seen[k] = 1
		}
		next
	}
	{
		k = "ctag_cover_util.c:" $2 " func:" $1
		want = $4 * page
		for (i = 5; i < NF; i += 2) {
			if (!($(i + 1) in size)) { print "# no cache " $(i + 1); bad++ }
			want += $i * size[$(i + 1)]
		}
		n++
		if (!seen[k]) {
			print "# no line for " k; bad++
		} else if (bytes[k] != want || calls[k] != $3) {
			print "# " k ": " bytes[k] " bytes " calls[k] " calls, want " want " and " $3
			bad++
		}
	}
	END { if (n < 30) print "# a table of " n; exit bad || n < 30 }
	' /tmp/slab_sizes /tmp/info /tmp/table
}

test_to_the_byte()
{
	insmod /modules/ctag_cover_util.ko || fail insmod
	util fill
	check_util || fail "filled"
	note "$(wc -l < /tmp/table) helpers"
}

test_r27_no_header_in_the_module()
{
	tags | grep -F '[ctag_cover_util]' | grep '\.h:' | sed 's/^/# /'
	! tags | grep -F '[ctag_cover_util]' | grep -q '\.h:' || fail "a header"
}

test_nothing_left()
{
	util drop
	check_util || fail "dropped"
	# a line that owes something shows it only when there is something on it
	util fill
	check_util || fail "filled again"
	util drop
	check_util || fail "dropped again"
	left=$(tags | awk '$4 == "[ctag_cover_util]" && /func:(make_|format)/ && ($1 || $2)')
	[ -z "$left" ] || fail "left: $(echo "$left" | head -1)"
	rmmod ctag_cover_util || fail rmmod
	left=$(tags | grep -F '[ctag_cover_util]')
	[ -z "$left" ] || fail "lines left: $(echo "$left" | head -1)"
}

run_tests
