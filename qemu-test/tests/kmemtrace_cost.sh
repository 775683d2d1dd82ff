# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of an event: kmemtrace off, on, and on with each feature, compared with
# the same events recorded by ftrace, and by perf if it starts.  The notes have a table.  It
# fails if "off" costs anything, "on" more than a fifth of ftrace, or all features more than
# three tenths.  The figures are the same in every run.
#
# append: sysctl.vm.mem_profiling=0
# icount: yes
# cpus: 1
# modules: alloc_cost
# memory: 1G

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
FT=/sys/kernel/tracing
CASES="kmalloc-64 kmem_cache-192 order-0"
EVENTS="kmalloc kfree kmem_cache_alloc kmem_cache_free mm_page_alloc mm_page_free"

# measure NAME [COMMAND]: measures a pair of allocation and free into /tmp/cost.NAME;
# COMMAND runs the measurement
measure()
{
	dmesg -c > /dev/null
	${2:+"$2"} insmod /modules/alloc_cost.ko few=1 2> /dev/null
	dmesg | sed -n 's/.*alloc_cost: //p' > "/tmp/cost.$1"
	[ -s "/tmp/cost.$1" ] || fail "$1: no figures"
}

cost()
{
	awk -v c="$2" '$1 == c { print $2; exit }' "/tmp/cost.$1"
}

# event NAME CASE: the cost of one of the two events of a pair
event()
{
	more=$(cost "$1" "$2")
	less=$(cost before "$2")
	awk -v m="$more" -v l="$less" 'BEGIN { print int((m - l) / 2) }'
}

with_features()
{
	echo "$1" > $KT/features || fail "features $1"
	echo 300 > $KT/subbufs || fail subbufs
	was=$(cat $KT/total_overruns)
	echo 1 > $KT/enabled || fail enabled
	measure "$2"
	echo 0 > $KT/enabled
	eq "overruns with $1" "$(cat $KT/total_overruns)" "$was"
	echo 1 > $KT/subbufs
}

perf_record()
{
	/qt/bin/kmemtrace_perf "$@" > /tmp/perf
	perf=$?
}

# If perf starts, the table has another column.
with_perf()
{
	perf_record true
	if [ $perf = 4 ]; then
		note "perf does not start: $(cat /tmp/perf)"
		return
	fi
	measure perf perf_record
	[ $perf = 0 ] || fail "$(cat /tmp/perf)"
	COLUMNS="$COLUMNS perf"
}

COLUMNS="off on time pid tag all ftrace"

test_table()
{
	[ -d $FT/events ] || mount -t tracefs none $FT || fail tracefs
	measure before
	with_features none on
	with_features time time
	with_features pid pid
	with_features tag tag
	with_features all all
	measure off
	# the cost shall not include overwriting
	echo 100000 > $FT/buffer_size_kb
	for e in $EVENTS; do
		echo 1 > $FT/events/kmem/$e/enable || fail "ftrace: $e"
	done
	measure ftrace
	for e in $EVENTS; do
		echo 0 > $FT/events/kmem/$e/enable
	done
	with_perf
	note "instructions an event: half of what they add to a pair"
	note "$(printf '%-16s' case)$(printf ' %8s' $COLUMNS)"
	for c in $CASES; do
		row=$(printf '%-16s' "$c")
		for what in $COLUMNS; do
			row="$row $(printf '%8s' "$(event "$what" "$c")")"
		done
		note "$row"
	done
	for c in $CASES; do
		ftrace=$(event ftrace "$c")
		[ "$ftrace" -gt 200 ] || fail "$c: ftrace records nothing"
		case "$COLUMNS" in
		*perf) [ "$(event perf "$c")" -gt 200 ] || fail "$c: perf records nothing" ;;
		esac
		for what in "on 200" "all 300"; do
			set -- $what
			mine=$(event "$1" "$c")
			[ "$mine" -gt 20 ] || fail "$c, $1: nothing is recorded"
			note "$c, $1: $((mine * 1000 / ftrace)) thousandths of ftrace"
			[ $((mine * 1000 / ftrace)) -le "$2" ] || fail "more than $2"
		done
		eq "$c, off again" "$(cost off "$c")" "$(cost before "$c")"
	done
}

run_tests
