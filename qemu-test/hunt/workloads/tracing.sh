# SPDX-License-Identifier: GPL-2.0-only
#
# Tracing: probes, synthetic events, histograms, triggers, instances, filters, tracers
#
# programs: huntwork

. /qt/workloads/lib.sh

prepare()
{
	cd /sys/kernel/debug/tracing || return
	cat > /tmp/steps <<-'END'
	append kprobe_events p:hunt/open do_sys_openat2 name=+0(%si):string flags=%dx
	append kprobe_events r:hunt/opened do_sys_openat2 ret=$retval
	append uprobe_events p:hunt/user /bin/busybox:0x1000
	append dynamic_events e:hunt/eprobe sched.sched_switch prev=$prev_pid:u32
	append synthetic_events wake u64 lat; pid_t pid; char comm[16]
	put events/sched/sched_switch/trigger hist:keys=next_pid:vals=hitcount,prev_prio:sort=hitcount.descending:size=256
	put events/sched/sched_waking/trigger hist:keys=pid:ts0=common_timestamp.usecs
	put events/sched/sched_switch/trigger hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wake($lat,next_pid,next_comm)
	cat events/sched/sched_switch/hist
	put events/sched/sched_switch/trigger stacktrace:5 if prev_prio > 100
	put events/sched/sched_switch/filter prev_pid > 5 && (next_comm ~ "a*" || prev_prio == 3)
	put events/hunt/enable 1
	put events/hunt/enable 0
	put events/sched/sched_switch/filter 0
	put events/sched/sched_switch/trigger !stacktrace
	put events/sched/sched_switch/trigger !hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wake($lat,next_pid,next_comm)
	put events/sched/sched_waking/trigger !hist:keys=pid:ts0=common_timestamp.usecs
	put events/sched/sched_switch/trigger !hist:keys=next_pid:vals=hitcount,prev_prio:sort=hitcount.descending:size=256
	append synthetic_events !wake u64 lat; pid_t pid; char comm[16]
	append dynamic_events -:hunt/eprobe
	append uprobe_events -:hunt/user
	append kprobe_events -:hunt/open
	append kprobe_events -:hunt/opened
	mkdir instances/a
	put instances/a/set_ftrace_filter vfs_read vfs_write
	put instances/a/current_tracer function
	put instances/a/current_tracer nop
	put instances/a/snapshot 1
	put instances/a/buffer_size_kb 128
	put instances/a/set_event_pid 1
	rmdir instances/a
	put set_ftrace_filter vfs_open:traceoff:5
	put set_ftrace_filter !vfs_open:traceoff:0
	put set_graph_function vfs_*
	put current_tracer function_graph
	put current_tracer nop
	END
}

work()
{
	F huntwork steps /tmp/steps || return
	F sh -c ': > set_graph_function'
}

clean()
{
	echo nop > current_tracer
	echo > set_graph_function
	echo '!vfs_open:traceoff:0' > set_ftrace_filter
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
