# SPDX-License-Identifier: GPL-2.0-only
#
# The search for a leak, as somebody who knows only how to make memory go away would do it.
# /qt/trigger.sh has that: prepare() once, and once() again and again.  qt.search= names the
# tool: `ours`, or `kmemleak`.  The output is for qemu-test/leaks/run.

. /qt/lib.sh

DEBUG=/sys/kernel/debug
FAULTS=$DEBUG/dynamic_faults
PAUSE=200000
# seconds that `allocinfo leak` watches; the next one if it has found nothing
WATCH="30 60 120"

prepare()
{
	:
}

trigger()
{
	/qt/bin/trigger "$@"
}

. /qt/trigger.sh

# The shell prefers its own `ip` and the like to the programs that the trigger asks for.
for program in $(sed -n 's/^# programs: *//p' /qt/trigger.sh); do
	case $program in
	*.*) ;;
	*) eval "$program() { /bin/$program \"\$@\"; }" ;;
	esac
done

pause=$(sed -n 's/^# pause: *//p' /qt/trigger.sh)
search=$(sed 's/.*qt\.search=\([a-z]*\).*/\1/' /proc/cmdline)

now()
{
	cut -d' ' -f1 /proc/uptime
}

churn()
{
	while [ ! -e /tmp/stop ]; do
		once > /dev/null 2>&1
		usleep "${pause:-$PAUSE}"
	done
}

# The first call sites that `allocinfo leak` names, FILE:LINE.
named()
{
	awk -F'"' '/"file":/ { file = $4 } /"line":/ { split($3, n, /[^0-9]+/); print file ":" n[2] }' /tmp/leak.json |
		head -n 3
}

# What a kernel without any of this shows: the caches of slabs, and the memory that is left.
caches()
{
	echo "@caches"
	sed 1,2d /proc/slabinfo | awk '{ print $1, $2, $4 }'
}

search_ours()
{
	caches
	begin=$(now)
	for seconds in $WATCH; do
		allocinfo leak --live "$seconds" -i 1 --drop-caches --format json > /tmp/leak.json
		code=$?
		[ $code != 1 ] || break
	done
	end=$(now)
	caches
	echo "@leak $begin $end"
	cat /tmp/leak.json
	[ "$code" = 1 ] || return
	for site in $(named); do
		echo "@why $site"
		allocinfo why --for 25 --format json "$site"
		echo
	done
}

# kmemleak needs two scans: an object counts if it did not change in between.
search_kmemleak()
{
	echo scan > $DEBUG/kmemleak
	echo clear > $DEBUG/kmemleak
	begin=$(now)
	found=
	for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sleep 5
		echo scan > $DEBUG/kmemleak
		cat $DEBUG/kmemleak > /tmp/objects
		[ -n "$found" ] || ! grep -q unreferenced /tmp/objects || found=$(now)
	done
	echo "@kmemleak $begin ${found:-never}"
	grep -c unreferenced /tmp/objects
	head -n 4000 /tmp/objects
}

prepare > /tmp/said 2>&1
sed "s/^/# /" /tmp/said
for warm in 1 2 3 4 5; do
	once > /tmp/said 2>&1
	sed "s/^/# /" /tmp/said
done
settle
rm -f /tmp/stop
churn &
churner=$!
search_$search
: > /tmp/stop
wait $churner
echo "@end"
grep 'evaluated:[1-9]' $FAULTS | sed 's/^/# /'
