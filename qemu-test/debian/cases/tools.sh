# SPDX-License-Identifier: GPL-2.0-only
#
# codetag-tools on Debian: the programs answer, a unit records a trace, others serve metrics
# without root's rights and run after a reboot, too, and a removal of the package ends them.
#
# timeout: 900

. /qt/lib.sh

PROM=/var/lib/prometheus/node-exporter/allocinfo.prom

test_1_has_the_package()
{
	on_ours
	needs_profiling
	dpkg -L codetag-tools
	for unit in allocinfod.service allocinfo-export.timer kmemtraced.service; do
		eq "$unit" "$(systemctl is-enabled $unit || :)" disabled
	done
	grub_options sysctl.vm.mem_profiling=1
}

test_2_programs_answer()
{
	on_ours
	needs_profiling
	all_units_well
	allocinfo check
	alloctop -1 -n 5 >/tmp/answer
	while IFS= read -r line; do
		note "$line"
	done </tmp/answer
	# a module of Debian's configuration, with memory
	allocinfo report --format csv --by module | awk -F, 'NR > 1 && $1 != "" && $2 > 0 { n++ }
		END { print n " modules hold memory"; exit n < 10 }'
	allocinfo record -i 1 -n 2 -o /tmp/recording
	allocinfo diff /tmp/recording@0 /tmp/recording@1
}

# The table of the running kernel, by drgn
test_2_running_kernel_is_read_as_a_dump()
{
	apt-get update
	apt-get -y install python3-drgn python3-pyelftools
	allocinfo-dump /proc/kcore > /tmp/dump
	cat $INFO > /tmp/table
	# the lines that hold nothing say nothing
	awk '$1 > 0' /tmp/table > /tmp/after
	awk '$1 > 0' /tmp/dump > /tmp/lines
	eq "lines" "$(wc -l < /tmp/dump)" "$(wc -l < /tmp/table)"
	same=$(grep -Fcxf /tmp/lines /tmp/after)
	all=$(wc -l < /tmp/after)
	[ "$all" -gt 400 ] || fail "only $all lines hold memory"
	note "/proc/kcore: $same of $all lines that hold memory have the figures of $INFO, read just after it"
	[ $((same * 100)) -ge $((all * 85)) ] || fail "only $same of $all lines have the same figures"
}

test_2_units_start()
{
	mkdir -p ${PROM%/*}
	systemctl enable --now allocinfod.service allocinfo-export.timer
	systemctl start allocinfo-export.service
	all_units_well
}

# get PATH: what allocinfod answers at its default address
get()
{
	bash -ec 'exec 3<> /dev/tcp/127.0.0.1/9842
		printf "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" "$1" >&3
		cat <&3' get "$1"
}

serves()
{
	get /metrics > /tmp/metrics
	head -n 1 /tmp/metrics | grep -q " 200 "
	grep -q "^linux_alloc_profiling{state=\"on\"} 1" /tmp/metrics
	grep -c "^linux_alloc_site_bytes{" /tmp/metrics
	get /debug/pprof/heap > /tmp/profile
	head -n 1 /tmp/profile | grep -q " 200 "
	[ "$(wc -c < /tmp/profile)" -gt 10000 ]
}

test_2_serves_metrics_and_profiles()
{
	serves
}

# exposure UNIT: systemd rates its rights from 0 (none) to 10.  Fails above 2.
exposure()
{
	score=$(systemd-analyze security --no-pager "$1" | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
	note "systemd-analyze security $1: $score"
	awk -v s="$score" 'BEGIN { exit !(s > 0 && s <= 2.0) }'
}

test_2_server_has_no_rights()
{
	pid=$(systemctl show -p MainPID --value allocinfod.service)
	grep -E '^(Uid|Cap|NoNewPrivs|Seccomp:)' "/proc/$pid/status"
	[ "$(awk '$1 == "Uid:" { print $3 }' "/proc/$pid/status")" -gt 0 ] || fail "it is root"
	eq CapEff "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$pid/status")" 0000000000000000
	eq CapPrm "$(awk '$1 == "CapPrm:" { print $2 }' "/proc/$pid/status")" 0000000000000000
	eq Seccomp "$(awk '$1 == "Seccomp:" { print $2 }' "/proc/$pid/status")" 2
	exposure allocinfod.service
}

test_2_service_records_a_trace()
{
	service_records_a_trace
	eq "mode of the folder" "$(stat -c %a /var/lib/kmemtrace)" 700
	all_units_well
	exposure kmemtraced.service
}

exports()
{
	grep -q "^linux_alloc_profiling{state=\"on\"} 1" $PROM
	[ "$(grep -c '^linux_alloc' $PROM)" -gt 20 ]
	[ "$(grep -c '^linux_alloc' $PROM)" -le 100 ]
}

test_2_exports_to_a_file()
{
	exports
}

test_3_units_run_after_a_reboot()
{
	on_ours
	needs_profiling
	all_units_well
	eq allocinfod.service "$(systemctl is-active allocinfod.service)" active
	serves
	i=0
	# an older file is from before the reboot
	until [ $PROM -nt /proc/1 ]; do
		i=$((i + 1))
		[ $i -lt 150 ] || fail "the timer wrote no $PROM"
		sleep 1
	done
	exports
}

test_3_removal_ends_them()
{
	dpkg -r codetag-tools
	! pgrep -x allocinfod || fail "allocinfod still runs"
	eq timer "$(systemctl is-active allocinfo-export.timer || :)" inactive
	[ ! -e $PROM ] || fail "$PROM stays, and the node exporter would export old figures"
	all_units_well
}

test_3_console_is_clean()
{
	no_splat
}

run_boots
