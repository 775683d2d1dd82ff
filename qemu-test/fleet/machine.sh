# SPDX-License-Identifier: GPL-2.0-only
#
# A host that Prometheus scrapes. It ends when somebody connects to its port 9. The kernel
# command line has the parameters:
#
#	fleet.leak=BYTES	a second, which the module ctag_leak leaks; 0 for none
#	fleet.after=SECONDS	the leak begins so long after the boot

. /qt/lib.sh

of_cmdline()
{
	sed -n "s/.*fleet\.$1=\([0-9]*\).*/\1/p" /proc/cmdline
}

test_serves()
{
	allocinfod --listen 0.0.0.0:9842 2> /tmp/allocinfod.log &
	daemon=$!
	prometheus-node-exporter --web.listen-address=:9100 > /tmp/exporter.log 2>&1 &
	exporter=$!
	leak=$(of_cmdline leak)
	if [ "$leak" != 0 ]; then
		sleep "$(of_cmdline after)"
		insmod /modules/ctag_leak.ko rate="$leak" size=512 || fail "insmod ctag_leak"
	fi
	nc -l -p 9 < /dev/null > /dev/null
	# utime and stime, of 1/100 s
	note "allocinfod: $(awk '{ print $14 + $15 }' /proc/$daemon/stat) ticks"
	kill $daemon $exporter
	wait $daemon
	eq "exit code of allocinfod" $? 0
	note "allocinfod: $(tail -n 1 /tmp/allocinfod.log)"
}

run_tests
