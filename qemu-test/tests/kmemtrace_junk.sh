# SPDX-License-Identifier: GPL-2.0-only
#
# Wrong boot parameters of kmemtrace: the kernel boots, reports the mistake, and either uses
# the default or records nothing.
#
# append: kmemtrace.subbufs=0
# append: kmemtrace.subbufs=-3
# append: kmemtrace.subbufs=many
# append: kmemtrace.subbufs=
# append: kmemtrace.subbufs=4000000000
# append: kmemtrace.subbufs=1000
# append: kmemtrace.enable=maybe
# append: kmemtrace.enable=1 kmemtrace.features=time,colour
# append: kmemtrace.enable=0 kmemtrace.subbufs=32
# append: kmemtrace.enable=0 kmemtrace.subbufs=4000000000
# append: kmemtrace.enable=1 kmemtrace.features=none
# append: kmemtrace.subbufs=1 sysctl.vm.mem_profiling=never
# append: kmemtrace.enable=1 sysctl.vm.mem_profiling=0
# append: quiet
# memory: 256M

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace

# expect ENABLED SUBBUFS FEATURES: checks these settings
expect()
{
	eq enabled "$(cat $KT/enabled)" "$1"
	eq subbufs "$(cat $KT/subbufs)" "$2"
	eq features "$(cat $KT/features)" "$3"
}

says()
{
	dmesg | grep -q "kmemtrace: $1" || fail "dmesg does not say: $1"
}

works()
{
	echo 1 > $KT/enabled || fail "it cannot be switched on"
	was=$(awk '!/^#/ { n += $2 + $4 } END { print n }' $KT/stats)
	ls /proc > /dev/null
	now=$(awk '!/^#/ { n += $2 + $4 } END { print n }' $KT/stats)
	[ "$now" -gt "$was" ] || fail "nothing is recorded"
	echo 0 > $KT/enabled || fail "it cannot be switched off"
}

ALL="[time] [pid] [tag]"

test_as_asked()
{
	line=$(cat /proc/cmdline)
	case "$line " in
	*"subbufs=0 "* | *"subbufs=-3 "* | *"subbufs=many "* | *"subbufs= "*)
		says 'kmemtrace.subbufs=[^ ]* is not a number'
		expect 1 16 "$(cat $KT/features)"
		;;
	*"enable=0 kmemtrace.subbufs=4000000000"*)
		says 'no memory for 4000000000 sub-buffers'
		expect 0 16 "$ALL"
		! echo 3000000000 > $KT/subbufs 2> /tmp/said || fail "there is memory for that"
		grep -q 'Cannot allocate memory' /tmp/said || fail "$(cat /tmp/said)"
		;;
	*subbufs=4000000000* | *subbufs=1000*)
		says 'no memory for [0-9]* sub-buffers'
		expect 1 16 "$(cat $KT/features)"
		;;
	*enable=maybe*)
		says 'kmemtrace.enable=maybe is not 0 or 1'
		expect 0 16 "$ALL"
		;;
	*features=time,colour*)
		says 'kmemtrace.features=time,colour is not a list'
		expect 1 16 "$(cat $KT/features)"
		;;
	*"enable=0 kmemtrace.subbufs=32"*)
		expect 0 32 "$ALL"
		;;
	*features=none*)
		expect 1 16 "time pid tag"
		;;
	*never*)
		says 'recording without tags'
		expect 1 1 "[time] [pid] tag"
		echo 0 > $KT/enabled
		! echo tag > $KT/features 2> /tmp/said || fail "there are tags"
		eq tags "$(wc -l < $KT/tags)" 0
		;;
	*mem_profiling=0*)
		expect 1 16 "$ALL"
		eq "bytes while profiling is off" "$(sum_tags . | cut -d' ' -f1)" 0
		;;
	*quiet*)
		expect 0 16 "$ALL"
		[ ! -e $KT/cpu0 ] || fail "there are buffers"
		;;
	esac
	works
}

run_tests
