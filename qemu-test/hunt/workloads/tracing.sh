# SPDX-License-Identifier: GPL-2.0-only
#
# Tracing: probes, synthetic events, histograms, triggers, instances, filters, tracers

. /qt/workloads/lib.sh

prepare()
{
	cd /sys/kernel/debug/tracing || return
}

# The $ are for the kernel.
# shellcheck disable=SC2016
work()
{
	F sh -c 'echo "p:hunt/open do_sys_openat2 name=+0(%si):string flags=%dx" >> kprobe_events' || return
	F sh -c 'echo "r:hunt/opened do_sys_openat2 ret=\$retval" >> kprobe_events' || return
	F sh -c 'echo "p:hunt/user /bin/busybox:0x1000" >> uprobe_events' || return
	F sh -c 'echo "e:hunt/eprobe sched.sched_switch prev=\$prev_pid:u32" >> dynamic_events' || return
	F sh -c 'echo "wake u64 lat; pid_t pid; char comm[16]" >> synthetic_events' || return
	put 'hist:keys=next_pid:vals=hitcount,prev_prio:sort=hitcount.descending:size=256' events/sched/sched_switch/trigger || return
	put 'hist:keys=pid:ts0=common_timestamp.usecs' events/sched/sched_waking/trigger || return
	put 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wake($lat,next_pid,next_comm)' events/sched/sched_switch/trigger || return
	F cat events/sched/sched_switch/hist || return
	put 'stacktrace:5 if prev_prio > 100' events/sched/sched_switch/trigger || return
	put 'prev_pid > 5 && (next_comm ~ "a*" || prev_prio == 3)' events/sched/sched_switch/filter || return
	put 1 events/hunt/enable || return
	put 0 events/hunt/enable || return
	put 0 events/sched/sched_switch/filter || return
	put '!stacktrace' events/sched/sched_switch/trigger || return
	put '!hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wake($lat,next_pid,next_comm)' events/sched/sched_switch/trigger || return
	put '!hist:keys=pid:ts0=common_timestamp.usecs' events/sched/sched_waking/trigger || return
	put '!hist:keys=next_pid:vals=hitcount,prev_prio:sort=hitcount.descending:size=256' events/sched/sched_switch/trigger || return
	F sh -c 'echo "!wake u64 lat; pid_t pid; char comm[16]" >> synthetic_events' || return
	F sh -c 'echo "-:hunt/eprobe" >> dynamic_events' || return
	F sh -c 'echo "-:hunt/user" >> uprobe_events' || return
	F sh -c 'echo "-:hunt/open" >> kprobe_events' || return
	F sh -c 'echo "-:hunt/opened" >> kprobe_events' || return
	F mkdir instances/a || return
	put 'vfs_read vfs_write' instances/a/set_ftrace_filter || return
	put function instances/a/current_tracer || return
	put nop instances/a/current_tracer || return
	put 1 instances/a/snapshot || return
	put 128 instances/a/buffer_size_kb || return
	put $$ instances/a/set_event_pid || return
	F rmdir instances/a || return
	put 'vfs_open:traceoff:5' set_ftrace_filter || return
	put '!vfs_open:traceoff' set_ftrace_filter || return
	put 'vfs_*' set_graph_function || return
	put function_graph current_tracer || return
	put nop current_tracer || return
	F sh -c ': > set_graph_function'
}

clean()
{
	echo nop > current_tracer
	echo > set_graph_function
	echo '!vfs_open:traceoff' > set_ftrace_filter
	echo > set_ftrace_filter
	echo 0 > events/enable
	echo 0 > events/sched/sched_switch/filter
	for event in events/sched/sched_switch events/sched/sched_waking; do
		sed -n 's/ \[.*//; /^[^#]/s/^/!/p' $event/trigger | while read -r trigger; do
			echo "$trigger" > $event/trigger
		done
	done
	# again: some refer to others
	for event in events/sched/sched_switch events/sched/sched_waking; do
		sed -n 's/ \[.*//; /^[^#]/s/^/!/p' $event/trigger | while read -r trigger; do
			echo "$trigger" > $event/trigger
		done
	done
	echo > synthetic_events
	echo > dynamic_events
	echo > uprobe_events
	echo > kprobe_events
	rmdir instances/a
	echo 1 > tracing_on
	[ ! -e instances/a ]
}
