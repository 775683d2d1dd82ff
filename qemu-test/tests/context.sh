# SPDX-License-Identifier: GPL-2.0-only
#
# The contexts of allocations at chosen lines: all are captured with the right stacks and
# numbers, use no more memory than they may, and go when the memory is freed.
#
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=4M
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=4M slub_debug=FZPU slab_nomerge
# append@debug: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=4M
# append@arm64-debug: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=4M
# modules: ctag_uses ctag_test ctag_life ctag_keep
# timeout: 300
# timeout@debug: 400
# timeout@arm64-debug: 400

. /qt/lib.sh

CTX=/sys/kernel/debug/alloc_tags.ctx
USES=/sys/kernel/debug/ctag_uses
LINE='module ctag_uses func make_object'

# ctx COMMAND
ctx()
{
	echo "$1" > $CTX || fail "refused: $1"
}

refused()
{
	refused_by $CTX "$@"
}

uses()
{
	[ -d $USES ] || insmod /modules/ctag_uses.ko || fail insmod
	echo "$1" > $USES/cmd || fail "ctag_uses refused: $1"
}

# context_rows FILE: "FILE:LINE FUNCTION bytes count stacks details frames-all-right"
# for each line in a copy of $CTX; frames are right if they start in the function
context_rows()
{
	awk '
	function out()
	{
		if (where != "") print where, bytes + 0, count + 0, stacks + 0, details + 0, wrong + 0
		bytes = count = stacks = details = wrong = 0
	}
	/^ *[0-9.]+[KMG]?i?B +[0-9]+ / {
		out(); told = $2; where = $3 " " $5; func_name = substr($5, 6); next
	}
	/^    count: /	{ count += $2; stacks++; next }
	/^    bytes: /	{ bytes += $2; next }
	/^    size: /	{ details++; next }
	/^    call stack:/ { first = 1; next }
	first { first = 0; if (index($1, func_name "+") != 1) wrong++ }
	END { out() }' "$1"
}

# watch MODULE: chooses its lines; their earlier allocations have no context
watch()
{
	ctx "module $1 enable"
	/qt/bin/readall $INFO /tmp/info0 || fail readall
}

# agrees MODULE: for each of its lines, the contexts are what /proc/allocinfo shows,
# minus what it showed at first
agrees()
{
	/qt/bin/readall $INFO /tmp/info $CTX /tmp/ctx || fail readall
	context_rows /tmp/ctx > /tmp/rows
	awk -v mod="[$1]" '
	FILENAME == "/tmp/info0" { if ($4 == mod) { b[$3 " " $5] -= $1; c[$3 " " $5] -= $2 }; next }
	FILENAME == "/tmp/info" { if ($4 == mod) { b[$3 " " $5] += $1; c[$3 " " $5] += $2 }; next }
	{ k = $1 " " $2; if (k in b) { sb[k] += $3; sc[k] += $4 } }
	END {
		for (k in b) {
			if (c[k]) n++
			if (b[k] == sb[k] && c[k] == sc[k]) continue
			print "# " k ": " b[k] "/" c[k] ", contexts " sb[k] + 0 "/" sc[k] + 0
			bad++
		}
		print "# " n + 0 " lines with something"
		exit bad || !n
	}' /tmp/info0 /tmp/info /tmp/rows
}

# one_row [FILE]: bytes, count, stacks, details, wrong frames of the only line
one_row()
{
	cat "${1:-$CTX}" > /tmp/ctx
	context_rows /tmp/ctx > /tmp/rows
	eq "lines" "$(wc -l < /tmp/rows)" 1
	read -r _ _ bytes count stacks details wrong < /tmp/rows
}

# dropped_for REASON: the number of dropped contexts in the copy of the file
dropped_for()
{
	awk -v r="$1:" '$1 == "dropped" && $3 == r { n += $NF } END { print n + 0 }' /tmp/ctx
}

# agrees_on_nothing MODULE: none of its lines has a context
agrees_on_nothing()
{
	context_rows $CTX > /tmp/rows
	awk '$4 { print "# " $0; bad++ } END { exit bad }' /tmp/rows || fail "$1: left"
}

# Disables all lines that the last case has left enabled
clean()
{
	echo disable > $CTX
}

test_modes()
{
	eq "$CTX" "$(stat -c '%a %u' $CTX)" "600 0"
	eq "ctx_mem" "$(stat -c '%a %u' ${CTX}_mem)" "400 0"
	[ -z "$(cat $CTX)" ] || fail "something before any command"
	eq "the cap" "$(awk '{ print $3 }' ${CTX}_mem)" $((4 << 20))
}

test_form()
{
	clean
	uses "hold 1"
	ctx "$LINE enable"
	[ "$(wc -l < $CTX)" = 1 ] || fail "an allocation from before the command is shown"
	uses "hold 20"
	cat $CTX > /tmp/ctx
	head -1 /tmp/ctx | grep -qE '^ +[0-9.]+KiB +20 ctag_uses\.c:[0-9]+ module:ctag_uses func:make_object$' ||
		fail "$(head -1 /tmp/ctx)"
	for key in count bytes size pid tgid ts; do
		grep -qE "^    $key: [0-9]+$" /tmp/ctx || fail "no $key"
	done
	read -r self _ < /proc/self/stat
	grep -q "^    pid: $self$" /tmp/ctx || fail "not my pid, $self"
	grep -q '^    comm: sh$' /tmp/ctx || fail "not my name"
	eq "stacks" "$(grep -c '^    call stack:$' /tmp/ctx)" 2
	grep -A2 '^    call stack:$' /tmp/ctx | grep -qE '^         way_a\+0x[0-9a-f]+/0x[0-9a-f]+ \[ctag_uses\]$' ||
		fail "way_a is not on the stack"
	ctx "$LINE disable"
	[ -z "$(cat $CTX)" ] || fail "something after disable"
	uses drop
}

# now WORD: the time in milliseconds.  It comes from the kernel log, which has the same clock as ts.
# /proc/uptime has another, which can be seconds late: it loses time early in the boot.
now()
{
	echo "$1" > /dev/kmsg
	dmesg | sed -n "s/^\[ *\([0-9]*\)[.]\(...\).*\] $1\$/\1\2/p"
}

# ts is between the times before and after the allocation; sizes are those of the objects.
test_details()
{
	clean
	ctx "$LINE enable"
	before=$(now before)
	uses "hold 10"
	after=$(now after)
	awk -v a="$before" -v b="$after" '
	/^    ts: / { n++; t = $2 / 1e6; if (t < a - 100 || t > b + 100 || t < last) bad++ }
	END { if (n != 10 || bad) print "# " n " times, " bad + 0 " wrong"; exit n != 10 || bad }' $CTX ||
		fail "ts is outside of the time of the allocation"
	uses "hold 3000"
	one_row
	eq "count, stacks, details" "$count $stacks $details" "3010 2 1024"
	uses drop
	one_row
	eq "left" "$bytes $count $stacks $details" "0 0 0 0"
	ctx "$LINE disable"
}

# Every allocator, in every context, and memory that is split, moved, or freed late
test_all_allocators()
{
	clean
	fresh
	watch ctag_test
	cmd alloc all 20
	agrees ctag_test || fail "after 20 allocations of each kind"
	awk '$7 { print "# " $0; bad++ } END { exit bad }' /tmp/rows || fail "stacks are wrong"
	cmd alloc all 12 softirq 1
	cmd alloc all 12 hardirq 0
	agrees ctag_test || fail "after allocations in interrupts"
	cmd free all 12 hardirq 1
	agrees ctag_test || fail "after some were freed"
	cmd free all 32
	ctx "module ctag_test disable"
	mod_unload
}

# Per-CPU areas, and pages that are allocated in bulk.  The stack is captured after the
# allocator has released its lock, which lockdep checks on the debug kernel, and still
# is the stack of the line.
test_areas_and_pages_in_bulk()
{
	clean
	uses "hold 0"
	watch ctag_uses
	uses "areas 100"
	uses "bulk 500"
	agrees ctag_uses || fail "held"
	for func in make_area make_pages; do
		awk -v f="func:$func" '$2 == f && $4 { n++; bad += $7 } END { exit n != 1 || bad }' \
			/tmp/rows || fail "$func: $(grep "$func" /tmp/rows)"
	done
	uses drop
	agrees_on_nothing ctag_uses
	ctx "disable"
}

# More allocations with interrupts off than the reserve has pages for: the rest is
# counted as dropped.  Then so many allocations that the reserve must be refilled again
# and again.  After that it has room for another burst.
test_reserve()
{
	clean
	uses "hold 0"
	ctx "module ctag_uses func make_atomic enable"
	uses "burst 10000"
	one_row
	kept=$count
	lost=$(dropped_for reserve)
	note "$kept kept, $lost dropped; $(cat ${CTX}_mem)"
	[ "$lost" -gt 0 ] || fail "nothing was dropped for the reserve"
	[ "$kept" -gt 1000 ] || fail "only $kept were kept"
	eq "kept and dropped" $((kept + lost)) 10000
	uses drop
	one_row
	eq "left" "$bytes $count" "0 0"
	ctx "$LINE enable"
	uses "hold $((kept + 10000))"
	uses "burst 1500"
	cat $CTX > /tmp/ctx
	note "$(cat ${CTX}_mem)"
	eq "dropped later" "$(awk '/^    dropped for / { n += $NF } END { print n + 0 }' /tmp/ctx)" "$lost"
	context_rows /tmp/ctx > /tmp/rows
	eq "held" "$(awk '$2 == "func:make_object" { print $4 }' /tmp/rows)" $((kept + 10000))
	eq "of the burst" "$(awk '$2 == "func:make_atomic" { print $4 }' /tmp/rows)" 1500
	uses drop
	agrees_on_nothing ctag_uses
	ctx "disable"
	eq "bytes taken" "$(awk '{ print $1 }' ${CTX}_mem)" 0
}

# All pages of a block except the first are freed while somebody holds a reference to the
# block.  The context stays, with the bytes of the first page.
test_block_freed_in_parts()
{
	clean
	fresh
	watch ctag_test
	cmd alloc extra_ref 20
	agrees ctag_test || fail "one page of each left"
	eq "contexts" "$(awk '$2 == "func:make_extra_ref" { print $4, $7 }' /tmp/rows)" "20 0"
	cmd free extra_ref 10
	agrees ctag_test || fail "half of them freed"
	eq "contexts" "$(awk '$2 == "func:make_extra_ref" { print $4 }' /tmp/rows)" 10
	cmd free extra_ref 10
	agrees_on_nothing ctag_test
	ctx "module ctag_test disable"
	mod_unload
}

test_memory_that_changes_its_shape()
{
	clean
	life_load
	watch ctag_life
	life inflate 16
	agrees ctag_life || fail "inflated"
	life deflate
	life caches 100
	agrees ctag_life || fail "caches"
	life uncache
	life exact 200
	life twins 50
	agrees ctag_life || fail "twins"
	life untwin
	life uncache
	ctx "module ctag_life disable"
	life_unload
}

# Built-in code has the name that dynamic debug uses
test_module_of_the_kernel()
{
	clean
	refuses $CTX "module vmlinux enable" "no such call site"
	ctx "module slub func alloc_slab_page enable"
	load storm 20
	unload
	grep -qE '^ .* mm/slub\.c:[0-9]+ module:slub func:alloc_slab_page$' $CTX ||
		fail "$(head -1 $CTX)"
	ctx "disable"
}

# On some architectures each caller has a line of its own for page tables.
has_page_tables()
{
	grep -q "func:pte_alloc_one " $INFO || skip "no pte_alloc_one()"
}

# A known number of processes adds the same number of page tables to both files.
test_page_tables()
{
	clean
	has_page_tables
	ctx "func pte_alloc_one enable"
	for step in 1 2; do
		/qt/bin/readall $INFO /tmp/info$step $CTX /tmp/ctx$step || fail readall
		[ $step = 2 ] || load forks 60
	done
	set -- $(for f in /tmp/info1 /tmp/info2; do
			awk '/ func:pte_alloc_one( |$)/ { b += $1; c += $2 } END { print b, c }' $f
		done)
	more_bytes=$(($3 - $1))
	more=$(($4 - $2))
	one_row /tmp/ctx1
	was_bytes=$bytes
	was=$count
	one_row /tmp/ctx2
	note "$more more page tables, $more_bytes bytes; $bytes and $count in all, $stacks stacks"
	eq "count" $((count - was)) $more
	eq "bytes" $((bytes - was_bytes)) $more_bytes
	[ $more -ge 120 ] || fail "60 processes added only $more page tables"
	eq "stacks that do not start in pte_alloc_one" "$wrong" 0
	unload
	ctx "disable"
}

# More contexts than there is room for: every context that is not kept is counted.
test_more_than_fit()
{
	clean
	many=300000
	! slow_kernel || many=150000
	set -- $(sum_tags 'lib/alloc_tag_ctx\.c')
	had=$1
	ctx "$LINE enable"
	uses "hold $many"
	one_row
	dropped=$(awk '/^    dropped for / { n += $NF } END { print n + 0 }' /tmp/ctx)
	note "$count kept, $dropped dropped; $(cat ${CTX}_mem)"
	eq "kept and dropped" $((count + dropped)) $many
	[ "$count" -gt 50000 ] || fail "only $count were kept"
	awk '{ exit $1 > $3 }' ${CTX}_mem || fail "more than the cap"
	# beyond the cap: a record for the line, and unused room in the pages of tables
	set -- $(sum_tags 'lib/alloc_tag_ctx\.c')
	[ $(($1 - had)) -le $(((4 << 20) + 8192)) ] || fail "its lines hold $(($1 - had)) bytes"
	uses drop
	one_row
	eq "left" "$bytes $count" "0 0"
	ctx "disable"
}

test_given_back()
{
	clean
	ctx "$LINE enable"
	uses "hold 100"
	ctx "disable"
	uses drop
	was=$(awk '{ print $1 }' ${CTX}_mem)
	for i in 1 2 3; do
		ctx "$LINE enable"
		uses "hold 5000"
		ctx "disable"
		uses drop
	done
	eq "bytes taken" "$(awk '{ print $1 }' ${CTX}_mem)" "$was"
	eq "bytes taken while nothing is chosen" "$was" 0
}

test_module_goes()
{
	clean
	ctx "$LINE enable"
	uses "hold 100"
	rmmod ctag_uses
	grep -qE ' 0 ctag_uses\.c' $CTX || fail "the line is no longer shown"
	ctx "$LINE disable"
	[ -z "$(cat $CTX)" ] || fail "something after disable"
	for i in 1 2 3 4 5; do
		uses "hold 10"
		ctx "$LINE enable"
		uses "hold 10"
		# the last row: the row of the unloaded line may come before it
		context_rows $CTX | tail -1 > /tmp/rows
		set -- $(cat /tmp/rows)
		eq "count" "$4" 10
		[ $((i % 2)) = 0 ] || ctx "$LINE disable"
		rmmod ctag_uses
	done
	ctx "disable"
}

test_switched_off_meanwhile()
{
	clean
	[ -w $MP ] || skip "profiling cannot be switched"
	uses "hold 0"
	ctx "$LINE enable"
	uses "hold 10"
	profiling 0
	uses "hold 10"
	profiling 1
	uses "hold 10"
	one_row
	eq "count" "$count" 20
	profiling 0
	uses drop
	profiling 1
	one_row
	eq "left" "$bytes $count" "0 0"
	ctx "disable"
}

test_bad_commands()
{
	clean
	uses "hold 0"
	ctx "$LINE enable"
	refused " " "a command is missing" "column 2,"
	refused "file x" "a command is missing" "column 7,"
	refused "file x enabel" "no such command" 'column 8, "enabel"'
	refused "file x enable now" "a word too many" 'column 15, "now"'
	refused "file x class memory enable" "no class"
	refused "line x enable" "not a number" 'column 6, "x"'
	refused "file x file y enable" "given twice" 'column 8, "file"'
	refused "file nosuchfile.c enable" "no such call site"
	refused "module nothing disable" "no such call site"
	refused 'func "x enable' "no end" "column 6,"
	if head -c 5000 /dev/zero | tr '\0' x > $CTX 2>/dev/null; then
		fail "5000 bytes"
	fi
	if printf 'enable\0' > $CTX 2>/dev/null; then
		fail "a zero byte"
	fi
	ctx "disable"
}

# Lines are chosen and dropped while both CPUs allocate and free there.  At the end they
# are chosen, and all contexts are gone when everything is freed.
test_on_and_off_under_load()
{
	clean
	uses "hammer 10"
	rounds=30000
	! slow_kernel || rounds=1500
	for i in 1 2 3; do
		echo "hammer $((4 * rounds))" > $USES/cmd &
		hammer=$!
		toggles=0
		while kill -0 $hammer 2>/dev/null && [ $toggles -lt 4 ]; do
			ctx "module ctag_uses enable"
			cat $CTX > /dev/null
			ctx "module ctag_uses disable"
			toggles=$((toggles + 1))
		done
		ctx "module ctag_uses enable"
		wait $hammer || fail hammer
		note "switched off $toggles times"
		uses "hammer 1000"
		cat $CTX > /tmp/ctx
		context_rows /tmp/ctx > /tmp/rows
		awk '$4 { print "# " $0; bad++ } END { exit bad || !NR }' /tmp/rows || fail "left"
		for func in make_object make_area make_pages; do
			grep -q " func:$func\$" /tmp/ctx || fail "no $func"
		done
		for reason in nested memory stack nmi; do
			eq "dropped for $reason" "$(dropped_for $reason)" 0
		done
		note "$(dropped_for reserve) dropped for the reserve"
	done
	eq "failed" "$(awk '$1 == "failed" { print $2 }' $USES/table)" 0
	ctx "disable"
	rmmod ctag_uses
	[ -z "$(tags | grep -F '[ctag_uses]')" ] || fail "left of ctag_uses"
}

# Pages that compaction moves keep their contexts, even while lines are chosen and dropped.
test_migration()
{
	clean
	has_page_tables
	ctx "func do_anonymous_page enable"
	/qt/bin/readall $INFO /tmp/info1 $CTX /tmp/ctx1 || fail readall
	load holes 48
	moved=$(vmstat pgmigrate_success)
	for i in 1 2 3; do
		echo 1 > /proc/sys/vm/compact_memory
		ctx "func pte_alloc_one enable"
		ctx "func pte_alloc_one disable"
	done
	moved=$(($(vmstat pgmigrate_success) - moved))
	note "$moved pages moved"
	[ $moved -gt 100 ] || fail "only $moved pages were moved"
	/qt/bin/readall $INFO /tmp/info2 $CTX /tmp/ctx2 || fail readall
	set -- $(for f in /tmp/info1 /tmp/info2; do
			awk '/ func:do_anonymous_page( |$)/ { b += $1; c += $2 } END { print b, c }' $f
		done)
	one_row /tmp/ctx1
	was_bytes=$bytes
	was=$count
	one_row /tmp/ctx2
	# the shell may free older pages, which only one of the two shows
	freed=$((count - was - ($4 - $2)))
	[ $freed -ge 0 ] && [ $freed -le 16 ] || fail "$((count - was)) contexts, $(($4 - $2)) pages"
	eq "bytes" $((bytes - was_bytes)) $(($3 - $1 + 4096 * freed))
	unload
	one_row
	[ "$count" -lt 2000 ] || fail "$count left"
	ctx "disable"
}

# All lines at once, including those of the capture itself.
test_every_line()
{
	clean
	ctx "enable"
	load storm 100
	uses "hold 100"
	grep -c '^ .* module:' $CTX > /tmp/n
	note "$(cat /tmp/n) lines"
	[ "$(cat /tmp/n)" -gt 1000 ] || fail "too few lines have contexts"
	unload
	uses drop
	ctx "disable"
	[ -z "$(cat $CTX)" ] || fail "something after disable"
}

# Far more ways than there is room for: the cap also limits stacks.
test_many_ways()
{
	clean
	uses "hold 0"
	set -- $(sum_tags 'lib/alloc_tag_ctx\.c')
	had=$1
	ctx "$LINE enable"
	set -- $(sum_tags 'lib/alloc_tag_ctx\.c')
	note "to begin with, $(($1 - had)) bytes"
	had=$1
	many=40000
	! slow_kernel || many=15000
	uses "deep $many"
	one_row
	dropped=$(awk '/^    dropped for / { n += $NF } END { print n + 0 }' /tmp/ctx)
	note "$count kept from $stacks ways, $dropped dropped; $(cat ${CTX}_mem)"
	eq "kept and dropped" $((count + dropped)) $many
	[ "$stacks" -gt 3000 ] || fail "only $stacks ways"
	set -- $(sum_tags 'lib/alloc_tag_ctx\.c')
	[ $(($1 - had)) -le $((4 << 20)) ] || fail "its lines hold $(($1 - had)) bytes more"
	uses drop
	ctx "disable"
	eq "bytes taken" "$(awk '{ print $1 }' ${CTX}_mem)" 0
}

run_tests
