# SPDX-License-Identifier: GPL-2.0-only
#
# A module leaks 20,000 bytes a second while files and processes come and go: `allocinfo leak`
# names its call site, the rate and the callers.  The same call site that frees is no leak.
# On mainline, too, but there nobody captures callers.
#
# In a minute, caches of the kernel that fill cannot be told from leaks: the filter leaves them
# out, and among all call sites the leak must be the first one.
#
# append: sysctl.vm.mem_profiling=1
# programs: allocinfo
# modules: ctag_leak
# memory: 768M
# icount: yes
# cpus: 1
# timeout: 300

. /qt/lib.sh

CTX=/sys/kernel/debug/alloc_tags.ctx

# files and processes come and go until /tmp/stop exists
churn()
{
	while [ ! -e /tmp/stop ]; do
		mkdir -p /tmp/churn
		seq 200 | while read -r i; do echo "$i" > "/tmp/churn/$i"; done
		ls -lR /sys/class > /dev/null
		rm -r /tmp/churn
		sleep 1
	done
}

# watch [FILTER...]: run allocinfo leak while there is churn; sets $code, output in /tmp/leak.json
watch()
{
	rm -f /tmp/stop
	churn &
	churner=$!
	allocinfo leak --live 50 -i 1 --drop-caches --format json "$@" > /tmp/leak.json 2> /tmp/err
	code=$?
	: > /tmp/stop
	wait $churner
	sed 's/^/# /' /tmp/leak.json /tmp/err
}

# The first value of a name in /tmp/leak.json
first()
{
	sed -n "s/.*\"$1\": *\"*\([^\",]*\).*/\1/p" /tmp/leak.json | head -n 1
}

# capture enable|disable: the contexts of the leak, on a kernel that has them
capture()
{
	[ ! -e $CTX ] || echo "func leaky_request $1" > $CTX
}

test_leak_is_named()
{
	insmod /modules/ctag_leak.ko rate=20000 size=256
	capture enable
	watch
	eq "exit code" $code 1
	eq "the first" "$(first func)" leaky_request
	# 20,000 bytes a second are 72,000,000 an hour
	rate=$(first an_hour)
	[ "${rate%.*}" -gt 64800000 ] && [ "${rate%.*}" -lt 79200000 ] || fail "$rate bytes an hour"
	[ -e $CTX ] || return 0
	grep -q process_one_work /tmp/leak.json || fail "no stack"
	grep -q '"comm": *"kworker' /tmp/leak.json || fail "no task"
}

test_noise_is_not()
{
	watch module ctag_leak
	eq "exit code" $code 1
	eq "call sites that leak" "$(grep -c '"func":' /tmp/leak.json)" 1
	eq "the first" "$(first func)" leaky_request
	capture disable
	rmmod ctag_leak
}

test_cache_is_no_leak()
{
	insmod /modules/ctag_leak.ko rate=20000 size=256 leak=0
	watch module ctag_leak
	eq "exit code" $code 0
	rmmod ctag_leak
}

run_tests
