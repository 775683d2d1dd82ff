# SPDX-License-Identifier: GPL-2.0-only
#
# /proc/allocinfo.nodes: each kind of memory is found on the node that it is on, exactly, and
# the sums are those of /proc/allocinfo.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=1
# append: sysctl.vm.mem_profiling=never
# modules: ctag_nodes
# programs: allocinfo
# memory: 1G
# qemu: -smp 2,sockets=2,cores=1,threads=1
# qemu: -object memory-backend-ram,id=m0,size=512M -numa node,nodeid=0,cpus=0,memdev=m0
# qemu: -object memory-backend-ram,id=m1,size=512M -numa node,nodeid=1,cpus=1,memdev=m1
# timeout: 180

. /qt/lib.sh

NODES=/proc/allocinfo.nodes

needs_profiling()
{
	! grep -q mem_profiling=never /proc/cmdline || skip "profiling is never"
}

# node_row FUNCTION: size, node 0, node 1, unseen
node_row()
{
	awk -v name="func:$1" '$NF == name { print $1, $2, $3, $4 }' $NODES
}

# objects NUMBER CACHE: their bytes; debugging makes objects larger
objects()
{
	awk -v n="$1" -v name="$2" '$1 == name { print n * $4 }' /proc/slabinfo
}

# all_on NODE FUNCTION BYTES: the function holds that much on that node, and nothing elsewhere
all_on()
{
	want="$3 $3 0 0"
	[ "$1" = 0 ] || want="$3 0 $3 0"
	eq "$2 on node $1" "$(node_row "$2")" "$want"
}

# load NODE: the module, which a test that failed may have left
load()
{
	! grep -q "^ctag_nodes " /proc/modules || rmmod ctag_nodes
	insmod /modules/ctag_nodes.ko node="$1"
}

on_one_node()
{
	needs_profiling
	load "$1"
	all_on "$1" nodes_pages 131072
	# KFENCE takes an object from its pool, which is on one node
	small=$(objects 100 kmalloc-512)
	grep -q kfence.sample_interval /proc/cmdline || all_on "$1" nodes_small "$small"
	eq "nodes_small, unseen" "$(node_row nodes_small | cut -d " " -f 1,4)" "$small 0"
	all_on "$1" nodes_large "$(objects 8 kmalloc-8k)"
	all_on "$1" nodes_vmalloc 65536
	eq "one part on each CPU's node" "$(node_row nodes_percpu)" "128 64 64 0"
	want="32768 4096 0 28672"
	[ "$1" = 0 ] || want="32768 0 4096 28672"
	eq "tails are not seen" "$(node_row nodes_tails)" "$want"
	rmmod ctag_nodes
	eq "rows after rmmod" "$(node_row nodes_small)" ""
}

test_node_0_exactly()
{
	on_one_node 0
}

test_node_1_exactly()
{
	on_one_node 1
}

test_heading()
{
	needs_profiling
	eq "first line" "$(head -n 1 $NODES)" "allocinfo.nodes - version: 1.0"
	eq "second line" "$(sed -n 2p $NODES)" \
		"#     <size>    <node 0>    <node 1>     <unseen> <tag info>"
}

# These functions allocate blocks that are not compound, whose tails are not seen.
TAILS="__stack_depot_save|blk_mq_alloc_rqs|allocate_cmdlines_buffer"
# so are stacks that are not in areas of vmalloc()
grep -qE " (alloc_thread_stack_node|dup_task_struct)\+" /proc/vmallocinfo ||
	TAILS="$TAILS|alloc_thread_stack_node"

# Of all memory, almost all is seen.  nodes_open allocates the text of the file after the walk.
test_sums_are_those_of_the_counters()
{
	needs_profiling
	settle
	grep -vE "func:(nodes_open|$TAILS) *$" $NODES | awk 'NR > 2 { size += $1; seen += $2 + $3; off += $4 < 0 ? -$4 : $4 }
		END { print "# size " size " seen " seen " off " off
			exit !(size > 0 && off * 100 < size) }' ||
		{ sort -k4,4nr $NODES | head -n 12 | sed "s/^/# /"; fail "more than 1 % of the memory is on no node"; }
	set -- $(awk 'NR > 2 && $1 > 0 { print $NF }' $NODES | sort -u | wc -l) \
		$(awk 'NR > 2 && $1 > 0 { print $NF }' /proc/allocinfo | sort -u | wc -l)
	[ "$1" -ge $(($2 - 5)) ] && [ "$1" -le $(($2 + 5)) ] || fail "$1 functions, allocinfo has $2"
}

# The rows of allocinfo report, from a copy, are those of the copy, to the byte
test_report_by_node()
{
	needs_profiling
	load 1
	cp $NODES /tmp/copy
	rmmod ctag_nodes
	# call sites that have the same name are one row
	awk 'NR > 2 { at = index($0, $5); key = substr($0, at); sub(/ *$/, "", key)
		b[key] += $1; n0[key] += $2; n1[key] += $3; u[key] += $4 }
		END { for (key in b) printf "%.0f %.0f %.0f %.0f %s\n", b[key], n0[key], n1[key], u[key], key }' \
		/tmp/copy | sort > /tmp/want
	allocinfo report --by node --format csv /tmp/copy > /tmp/csv || fail "exit code $?"
	eq heading "$(head -n 1 /tmp/csv)" "file,line,function,module,bytes,node0,node1,unseen,sites,accurate"
	awk -F, 'NR > 1 { printf "%s %s %s %s %s:%s%s func:%s%s\n", $5, $6, $7, $8, $1, $2,
		$4 == "" ? "" : " [" $4 "]", $3, $10 == "no" ? " accurate:no" : "" }' /tmp/csv |
		sort > /tmp/got
	diff /tmp/want /tmp/got > /tmp/diff || fail "$(head -n 5 /tmp/diff)"
	large=$(objects 8 kmalloc-8k)
	note "$(wc -l < /tmp/got) rows, $(allocinfo report --by node --format csv /tmp/copy func nodes_large)"
	eq filter "$(allocinfo report --by node --format csv /tmp/copy func nodes_large | tail -n +2 | cut -d , -f 5-8)" \
		"$large,0,$large,0"
}

test_report_of_the_running_kernel()
{
	needs_profiling
	load 1
	allocinfo report --by node --bytes --top 0 > /tmp/text || fail "exit code $?"
	rmmod ctag_nodes
	grep -q "^     BYTES     NODE 0     NODE 1     UNSEEN  CALL SITE" /tmp/text || fail "$(head /tmp/text)"
	large=$(objects 8 kmalloc-8k)
	eq nodes_large "$(awk '/func:nodes_large$/ { print $1, $2, $3, $4 }' /tmp/text)" "$large 0 $large 0"
	! /qt/bin/uncapable allocinfo report --by node 2> /tmp/why || fail "root of a container can read it"
	grep -q "only root with CAP_PERFMON" /tmp/why || fail "$(cat /tmp/why)"
}

# The file is read while tasks come and go and modules are loaded.  Afterwards the figures are
# exact again, so no page was lost; the runner looks for splats on the console.
test_walks_under_load()
{
	needs_profiling
	for i in 1 2 3; do
		(while [ ! -e /tmp/stop ]; do
			cat /proc/self/status > /dev/null
			ls -lR /sys/class > /dev/null
		done) &
	done
	n=0
	while [ $n -lt 20 ]; do
		load $((n % 2))
		cat $NODES > /dev/null || fail "walk $n"
		rmmod ctag_nodes
		n=$((n + 1))
	done
	: > /tmp/stop
	wait
	load 1
	all_on 1 nodes_large "$(objects 8 kmalloc-8k)"
	all_on 1 nodes_pages 131072
	rmmod ctag_nodes
}

# The indices of a module may be another module's when the text is read.
test_result_is_void_after_an_unload()
{
	needs_profiling
	load 0
	exec 5< $NODES
	rmmod ctag_nodes
	! cat <&5 > /tmp/out 2> /tmp/why || fail "it can be read"
	exec 5<&-
	grep -qi "stale" /tmp/why || fail "$(cat /tmp/why)"
}

test_needs_a_capability()
{
	needs_profiling
	eq mode "$(stat -c %a $NODES)" 400
	! /qt/bin/uncapable cat $NODES 2> /tmp/why || fail "root of a container can read it"
	grep -qi "not permitted" /tmp/why || fail "$(cat /tmp/why)"
}

test_never_has_nothing_to_show()
{
	grep -q mem_profiling=never /proc/cmdline || skip "profiling is on"
	! cat $NODES 2> /tmp/why || fail "it can be read"
	grep -qi "not supported" /tmp/why || fail "$(cat /tmp/why)"
	! allocinfo report --by node 2> /tmp/why || fail "there is a report"
	eq "what the report says" "$(wc -l < /tmp/why)" 1
	grep -q "was booted with profiling disabled" /tmp/why || fail "$(cat /tmp/why)"
}

run_tests
