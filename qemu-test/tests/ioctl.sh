# SPDX-License-Identifier: GPL-2.0-only
#
# The binary interface of /proc/allocinfo: the records equal the lines of the text, the
# filters select the records that they describe, and no input is trusted.
# helpers/allocinfo.c has the checks that one program can do; this file compares with the
# text, while modules are loaded and unloaded.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep ctag_names
# timeout: 300

. /qt/lib.sh

AI=/qt/bin/allocinfo
# everything except bytes and calls
NAMES='{ $1 = $2 = ""; print }'

# lines WORDS: number of records
lines()
{
	$AI dump "$@" | wc -l
}

# ok WORDS: runs a command of the helper, with the native and the compat system call
ok()
{
	$AI "$@" || fail "$*"
	$AI --compat "$@" || fail "--compat $*"
}

test_records_are_the_lines()
{
	mod_load
	cmd alloc all 3
	tags | awk "$NAMES" > /tmp/text
	[ "$(wc -l < /tmp/text)" -gt 500 ] || fail "only $(wc -l < /tmp/text) lines"
	for how in next dump "--compat next" "--compat dump"; do
		# shellcheck disable=SC2086
		$AI $how | awk "$NAMES" > /tmp/records
		cmp -s /tmp/text /tmp/records && continue
		diff /tmp/text /tmp/records | head -3 | sed 's/^/# /'
		fail "$how"
	done
	note "$(wc -l < /tmp/text) records"
}

# Equal to the byte on an idle machine.
test_figures_are_those_of_the_text()
{
	mod_lines | grep func:make_ > /tmp/text
	[ "$(awk '$1 > 0' /tmp/text | wc -l)" -gt 20 ] || fail "too few lines to compare"
	$AI dump mod=ctag_test | grep func:make_ > /tmp/records
	cmp /tmp/text /tmp/records || fail "another text"
	$AI --compat dump mod=ctag_test | grep func:make_ > /tmp/records
	cmp /tmp/text /tmp/records || fail "the text for 32 bit differs"
}

test_r25_32_bit_program()
{
	/qt/bin/allocinfo32 > /tmp/raw || fail "exit code $?"
	$AI show < /tmp/raw > /tmp/records || fail "not records"
	tags | awk "$NAMES" > /tmp/text
	awk "$NAMES" /tmp/records | cmp - /tmp/text || fail "not the text"
	mod_lines | grep func:make_ > /tmp/text
	grep -F '[ctag_test]' /tmp/records | grep func:make_ | cmp - /tmp/text ||
		fail "the figures differ"
}

test_positions()
{
	ok positions
}

test_filters()
{
	ok filters
}

test_filter_by_size()
{
	fresh
	cmd alloc kmalloc_1024 10
	cmd alloc alloc_page 1
	eq "from 4096 to 10240" "$(lines mod=ctag_test func=make_kmalloc_1024 min=4096 max=10240)" 1
	eq "at most 10239" "$(lines mod=ctag_test func=make_kmalloc_1024 max=10239)" 0
	eq "at least 10241" "$(lines mod=ctag_test func=make_kmalloc_1024 min=10241)" 0
	eq "exactly" "$($AI dump mod=ctag_test min=10240 max=10240 | awk '{ print $1, $2, $5 }')" \
		"10240 10 func:make_kmalloc_1024"
	eq "a page" "$($AI dump mod=ctag_test min=4096 max=4096 | awk '{ print $5 }')" \
		"func:make_alloc_page"
	eq "least above most" "$(lines min=2 max=1)" 0
	eq "no limit" "$(lines mod=ctag_test min=0 max=0xffffffffffffffff)" "$(mod_lines | wc -l)"
	eq "none" "$(lines mod=ctag_test max=0)" "$(mod_lines | awk '!$1' | wc -l)"
}

test_filter_by_name()
{
	eq "module" "$(lines mod=ctag_test)" "$(mod_lines | wc -l)"
	eq "the kernel's own" "$(lines mod=)" "$(tags | awk '$4 !~ /^\[/' | wc -l)"
	eq "file" "$(lines file=mm/slub.c)" "$(tags | grep -c ' mm/slub\.c:')"
	eq "no such file" "$(lines file=slub.c)" 0
	eq "no such module" "$(lines mod=ctag_tes)" 0
	eq "function" "$(lines func=alloc_slab_page file=mm/slub.c)" \
		"$(tags | grep -c ' mm/slub\.c:[0-9]* func:alloc_slab_page ')"
	where=$(tags | awk '$4 == "func:alloc_slab_page" { print $3; exit }')
	eq "file and line" "$($AI dump "file=${where%:*}" "line=${where#*:}" | awk '{ print $4 }' | uniq)" \
		"func:alloc_slab_page"
	eq "a line beyond 32 bits" "$(lines "line=$((${where#*:} + 4294967296))")" 0
	eq "accurate" "$(lines inaccurate=0)" "$(tags | grep -vc accurate:no)"
	eq "inaccurate" "$(lines inaccurate=1)" "$(tags | grep -c accurate:no)"
}

# The position counts all records, whether they pass the filter or not.
test_position_and_filter()
{
	first=$(tags | awk '/ mm\/slub\.c:/ { print NR - 1; exit }')
	all=$(lines file=mm/slub.c)
	eq "at the first" "$(lines file=mm/slub.c "at=$first")" "$all"
	eq "behind the first" "$(lines file=mm/slub.c "at=$((first + 1))")" "$((all - 1))"
	n=$(tags | wc -l)
	eq "at the last" "$(lines at=$((n - 1)))" 1
	eq "behind the last" "$(lines at="$n")" 0
}

test_names_that_do_not_fit()
{
	insmod /modules/ctag_names.ko || fail "insmod ctag_names"
	$AI dump mod=ctag_names > /tmp/records
	eq "records" "$(wc -l < /tmp/records)" 3
	file=$(tags | awk '$4 == "[ctag_names]" { sub(/:[0-9]+$/, "", $3); print $3; exit }')
	func=$(tags | awk '$3 ~ /:1002$/ && $4 == "[ctag_names]" { sub(/func:/, "", $5); print $5 }')
	[ ${#file} -gt 70 ] || fail "the text cuts $file"
	[ ${#func} -gt 70 ] || fail "the text cuts $func"
	short=$(echo "$file" | tail -c 64)
	awk '{ sub(/:[0-9]+$/, "", $3); print $3 }' /tmp/records | grep -vxF "$short" &&
		fail "not the end of the file name"
	eq "function" "$(awk '$3 ~ /:1002$/ { sub(/func:/, "", $5); print $5 }' /tmp/records)" \
		"$(echo "$func" | tail -c 64)"
	# two names are equal as far as they fit
	eq "by function" "$(lines "func=$func")" 2
	eq "by another" "$(lines "func=${func}_")" 1
	eq "by file" "$(lines "file=$file")" 3
	eq "by file and line" "$(lines "file=$short" line=1002)" 1
	eq "by the beginning" "$(lines "file=$(echo "$file" | head -c 63)")" 0
	rmmod ctag_names
}

test_errors()
{
	ok errors
}

test_read_and_ioctl_in_turn()
{
	ok cursor
}

test_threads_on_one_file()
{
	ok threads
}

test_fuzz()
{
	ok fuzz 20000 1
	ok fuzz 5000 "$(date +%s)"
}

test_ordinary_user()
{
	su nobody -s /bin/sh -c "$AI id" > /tmp/out && fail "user nobody may ask"
	grep -q 'Permission denied' /tmp/out || fail "$(cat /tmp/out)"
}

# changed WHAT: the content id has changed since $id
changed()
{
	now=$($AI id)
	[ "$now" != "$id" ] || fail "$1 does not change the content id"
	id=$now
}

test_content_id()
{
	[ ! -d $CTAG ] || mod_unload
	id=$($AI id)
	eq "nothing happened" "$($AI id)" "$id"
	eq "for 32 bit" "$($AI --compat id)" "$id"
	mod_load
	changed insmod
	cmd alloc all 3
	cat $INFO > /dev/null
	eq "only memory" "$($AI id)" "$id"
	cmd keep alloc_page
	mod_unload
	changed "rmmod with memory left"
	echo 1 > $KEEP/free
	mod_load
	changed "the end of what was left"
	mod_unload
	changed rmmod
	insmod /modules/ctag_test.ko fail=1 2>/dev/null && fail "loaded"
	changed "a load that fails"
}

# The memory at the sites of ctag_test, from the records
held()
{
	$AI dump mod=ctag_test min=1 | awk '/func:make_/ { print $1, $2, $5 }' | sort
}

# Lines of an unloaded module have records as long as they hold memory.
test_what_a_module_leaves_r01()
{
	mod_load
	cmd alloc alloc_page 3
	cmd alloc kmalloc_1024 2
	cmd keep all
	mod_unload
	mod_load
	eq "left" "$(held)" \
		"$(printf '12288 3 func:make_alloc_page\n2048 2 func:make_kmalloc_1024')"
	ok positions
	ok filters
	tags | awk "$NAMES" > /tmp/text
	$AI next | awk "$NAMES" | cmp - /tmp/text || fail "not the text"
	echo 1 > $KEEP/free
	eq "freed" "$(held)" ""
	tags | awk "$NAMES" > /tmp/text
	$AI next | awk "$NAMES" | cmp - /tmp/text || fail "not the text once it is freed"
	ok positions
	mod_unload
	eq "gone" "$(lines mod=ctag_test)" 0
}

come_and_go()
{
	while :; do
		insmod /modules/ctag_test.ko
		echo "alloc all 2" > $CTAG/cmd
		echo "keep alloc_page" > $CTAG/cmd
		rmmod ctag_test
		echo 1 > $KEEP/free
	done
}

# A module is unloaded while a reader is in the middle of its records. The reader then gets each
# record of the next module once. Of the unloaded module, it gets each record that holds memory once.
test_r05_unload_under_a_reader()
{
	mkfifo /tmp/go
	for how in "" --compat; do
		mod_load
		insmod /modules/ctag_names.ko || fail "insmod ctag_names"
		cmd alloc all 5
		cmd keep all
		: > /tmp/part
		$AI $how stand-in ctag_test 20 < /tmp/go > /tmp/part &
		exec 3> /tmp/go
		until_true 30 grep -qF '[ctag_test]' /tmp/part || fail "the reader does not stand"
		rmmod ctag_test || fail rmmod
		exec 3>&-
		wait $! || fail "the reader failed"
		awk "$NAMES" /tmp/part > /tmp/got
		$AI $how next | awk "$NAMES" > /tmp/want
		each_as_often records /tmp/got /tmp/want
		eq "records of the module behind" "$(grep -cF '[ctag_names]' /tmp/got)" 3
		grep -qF '[ctag_test]' /tmp/want || fail "no memory was kept"
		rmmod ctag_names
		echo 1 > $KEEP/free
		eq "gone" "$(lines mod=ctag_test)" 0
	done
	rm /tmp/go
}

# All records of the kernel itself are there once, in their order.
test_r05_while_modules_come_and_go()
{
	own='$4 !~ /^\[ctag_/ { $1 = $2 = ""; print }'
	tags | awk "$own" > /tmp/want
	moved=0
	id=$($AI id)
	come_and_go 2>/dev/null &
	for i in 1 2 3 4 5 6 7 8; do
		[ "$($AI id)" = "$id" ] || moved=$((moved + 1))
		id=$($AI id)
		for how in next "--compat next" "dump mod="; do
			# shellcheck disable=SC2086
			$AI $how | awk "$own" > /tmp/got
			cmp -s /tmp/want /tmp/got && continue
			kill $!
			fail "$how: $(wc -l < /tmp/want) records before, $(wc -l < /tmp/got) now"
		done
		$AI dump mod=ctag_test > /tmp/got || fail "records of the module"
		grep -vF '[ctag_test]' /tmp/got && fail "a record is not of the module"
	done
	# wait until no insmod is running
	kill $!
	wait $! 2>/dev/null
	sleep 1
	rmmod ctag_test 2>/dev/null
	echo 1 > $KEEP/free
	eq "gone" "$(lines mod=ctag_test)" 0
	[ $moved -gt 1 ] || fail "the module was loaded or unloaded in only $moved of 8 rounds"
}

run_tests
