# SPDX-License-Identifier: GPL-2.0-only
#
# Twenty call sites leak for two hours, 10 to 100,000 bytes a second, steadily, in steps, in
# bursts and with a daily rhythm, while files and modules come and go and a compiler runs: which
# does `allocinfo leak` find after what time?  Every call site that it reports must leak.
#
# append: sysctl.vm.mem_profiling=1
# programs: allocinfo tcc
# modules: ctag_keep ctag_test ctag_shapes
# memory: 5G
# disk: 256M
# icount: yes
# cpus: 1
# timeout: 3600

. /qt/lib.sh

SHAPES="steady steps bursts daily"
RATES="10 100 1000 10000 100000"

test_shapes_are_recorded()
{
	mount_disk
	insmod /modules/ctag_keep.ko
	start_work
	insmod /modules/ctag_shapes.ko
	note "$(dmesg | sed -n 's/.*ctag_shapes: //p' | tail -n 1)"
	allocinfo record -i 60 -n 121 -o /mnt/recording
	code=$?
	stop_work 300
	rmmod ctag_shapes
	eq "exit code of record" $code 0
}

# found MINUTES: functions that are reported as leaks after that time, in /tmp/found
found()
{
	allocinfo leak --until "$1m" -n 0 --format json /mnt/recording > /tmp/leak.json
	code=$?
	[ $code = 1 ] || [ $code = 0 ] || fail "$1 minutes: exit code $code"
	sed -n 's/.*"func": *"\([^"]*\)".*/\1/p' /tmp/leak.json > /tmp/found
	right=$(grep -c '^leak_' /tmp/found)
	grep -v '^leak_' /tmp/found > /tmp/false
	note "$1 minutes: $right of 20 leaks, $(wc -l < /tmp/false) false" "$(tr '\n' ' ' < /tmp/false)"
	# loading modules splits the large pages of the direct map, which nobody joins again
	! grep -vx split_large_page /tmp/false || fail "$1 minutes: reported without a leak"
}

test_leaks_are_found()
{
	for minutes in 30 45 60 90 120; do
		found $minutes
		for name in $(grep '^leak_' /tmp/found); do
			[ -e "/tmp/first.$name" ] || echo $minutes > "/tmp/first.$name"
		done
	done
	note "minutes until a leak is reported, by bytes a second: $RATES"
	for shape in $SHAPES; do
		row=
		for rate in $RATES; do
			row="$row $(cat "/tmp/first.leak_${shape}_$rate" 2>/dev/null || echo -)"
		done
		note "$shape:$row"
	done
	# a kilobyte a second, steadily, is found for sure
	for rate in 1000 10000 100000; do
		grep -q "^leak_steady_$rate\$" /tmp/found || fail "leak_steady_$rate was not found"
	done
	[ "$right" -ge 10 ] || fail "only $right leaks were found"
}

run_tests
