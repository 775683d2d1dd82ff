# SPDX-License-Identifier: GPL-2.0-only
#
# The text of /proc/allocinfo: the form of every line, and the permission to read it.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep

. /qt/lib.sh

test_header()
{
	eq "first line" "$(sed -n 1p $INFO)" "allocinfo - version: 2.0"
	eq "second line" "$(sed -n 2p $INFO)" "#     <size>  <calls> <tag info>"
}

test_every_line()
{
	mod_load
	cmd alloc all 3
	tags > /tmp/all
	n=$(wc -l < /tmp/all)
	[ "$n" -gt 500 ] || fail "only $n lines"
	grep -q 'ctag_test' /tmp/all || fail "no line of the module"
	grep -vE "$LINE" /tmp/all | head -3 | sed 's/^/# /'
	grep -qvE "$LINE" /tmp/all && fail "lines have another form"
	note "$n lines"
}

test_columns()
{
	# sizes end in column 12, calls in column 21, unless they need more room
	awk 'NF { w = sprintf("%12s %8s ", $1, $2)
		  if (substr($0, 1, length(w)) != w) { print "# " $0; bad = 1 } }
	     END { exit bad }' /tmp/all || fail "not %12d %8d"
}

test_paths()
{
	awk '$3 ~ /^(\.|\/)/ || $3 ~ /\/\.\.?\//' /tmp/all | head -3 |
		sed 's/^/# /' | grep . && fail "paths not relative to the tree"
	:
}

# charged_to REGEXP: fails if a line whose file matches holds memory
charged_to()
{
	tags | awk -v f="$1" '$1 > 0 && $3 ~ f { print "# " $0; bad++ }
			      END { exit bad > 0 }'
}

test_r27_no_line_of_the_allocators_headers()
{
	loopback_up
	load sockets 20
	load files 20
	charged_to '^(include/linux/(gfp|slab|mm)\.h|mm/slab_common\.c):' ||
		fail "charged to an allocator's header"
}

test_r27_no_line_of_a_wrapper_in_mm()
{
	charged_to '^mm/util\.c:' || fail "charged to a wrapper"
}

test_bytes_without_calls()
{
	awk '($1 > 0) != ($2 > 0) { print "# " $0; bad = 1 }
	     END { exit bad }' /tmp/all || fail "bytes without calls, or calls without bytes"
}

test_mode()
{
	eq mode "$(stat -c '%a %u %g' $INFO)" "400 0 0"
}

test_ordinary_user()
{
	su nobody -s /bin/sh -c "cat $INFO" > /tmp/out 2>/tmp/err &&
		fail "user nobody may read it"
	[ -s /tmp/out ] && fail "user nobody got output"
	grep -q 'Permission denied' /tmp/err || fail "$(cat /tmp/err)"
}

test_not_writable()
{
	echo 1 2>/dev/null > $INFO && fail "it accepts writes"
	:
}

# A read of any size never cuts a record.
test_short_reads()
{
	strip='{ $1 = $2 = ""; print }'
	tags | awk "$strip" > /tmp/whole
	for size in 1 7 100 4096 65536; do
		[ $size -gt 1 ] || continue
		dd if=$INFO bs=$size 2>/dev/null | sed 1,2d | awk "$strip" > /tmp/cut
		cmp -s /tmp/whole /tmp/cut || fail "differs when read by $size"
	done
}

test_sums_plausible()
{
	# All memory comes from the page allocator or from slabs, and the pages of
	# slabs are counted, too: so the sum of all lines is at most the memory in
	# use plus slabs.
	total=$(tags | awk '{ b += $1 } END { printf "%d", b / 1024 }')
	used=$(($(kilobytes MemTotal) - $(kilobytes MemFree)))
	slab=$(kilobytes Slab)
	slabs=$(tags | awk '$3 ~ /^mm\/sl[au]b\.c/ { b += $1 } END { printf "%d", b / 1024 }')
	note "lines $total kB, in use $used kB, slabs $slab kB, slab pages $slabs kB"
	[ "$total" -lt $((used + slab + 8192)) ] || fail "the lines hold more than there is"
	[ "$total" -gt $((used / 2)) ] || fail "the lines hold less than half of the memory in use"
	[ "$slabs" -gt $((slab * 8 / 10)) ] || fail "slab pages missing"
	[ "$slabs" -lt $((slab * 12 / 10 + 1024)) ] || fail "slab pages too many"
}

run_tests
