# SPDX-License-Identifier: GPL-2.0-only
#
# Two nodes with a CPU each: an allocation that requests memory of the other node is
# reported as one for another CPU, an allocation from its own node is not.  A free on the
# other CPU is reported as such, a free on the allocating CPU is not.
#
# memory: 1G
# append: sysctl.vm.mem_profiling=0
# qemu: -smp 2,sockets=2,cores=1,threads=1
# qemu: -object memory-backend-ram,id=m0,size=512M -numa node,nodeid=0,cpus=0,memdev=m0
# qemu: -object memory-backend-ram,id=m1,size=512M -numa node,nodeid=1,cpus=1,memdev=m1
# programs: kmemtraced kmemtrace_check kmemtrace-report
# disk: 256M

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
PAGES=500

test_two_nodes()
{
	for node in 0 1; do
		eq "CPUs of node $node" "$(cat /sys/devices/system/node/node$node/cpulist)" $node
		mkdir -p /tmp/node$node
		mount -t tmpfs -o mpol=bind:$node none /tmp/node$node || fail "no tmpfs of node $node"
	done
	mount_disk
}

recording()
{
	grep -q 1 $KT/enabled
}

# pages NODE WRITER REMOVER: CPU WRITER writes a file with $PAGES pages of that node, CPU
# REMOVER removes it.  Sets $allocs, $cross_allocs and $cross_frees.
pages()
{
	rm -rf /mnt/t
	# record to a disk, past the page cache: only the file has pages of a tmpfs
	kmemtraced --quiet --output /mnt/t 2> /tmp/said &
	DAEMON=$!
	until_true 20 recording || fail "$(cat /tmp/said)"
	taskset $((1 << $2)) dd if=/dev/zero of=/tmp/node$1/file bs=4k count=$PAGES 2> /dev/null
	taskset $((1 << $3)) rm /tmp/node$1/file
	kill -INT $DAEMON
	wait $DAEMON || fail "kmemtraced: $? $(cat /tmp/said)"
	kmemtrace_check --all /mnt/t > /tmp/check || fail "$(tail -3 /tmp/check)"
	kmemtrace-report --csv --by tag --top 0 /mnt/t > /tmp/csv || fail "report: $?"
	set -- $(awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["function"] == "shmem_alloc_folio" {
		a += $c["allocs"]; x += $c["cross_allocs"]; f += $c["cross_frees"]
	}
	END { print a + 0, x + 0, f + 0 }' /tmp/csv)
	allocs=$1
	cross_allocs=$2
	cross_frees=$3
	note "$allocs allocations, $cross_allocs for another CPU; $cross_frees frees on another"
	[ "$allocs" -ge $PAGES ] && [ "$allocs" -lt $((PAGES + 50)) ] || fail "not those of the file"
}

test_its_own_node()
{
	pages 0 0 0
	eq "for another CPU" "$cross_allocs" 0
	eq "freed on another CPU" "$cross_frees" 0
	pages 1 1 1
	eq "for another CPU" "$cross_allocs" 0
	eq "freed on another CPU" "$cross_frees" 0
}

test_the_other_node()
{
	pages 1 0 0
	eq "for another CPU" "$cross_allocs" $PAGES
	eq "freed on another CPU" "$cross_frees" 0
	pages 0 1 1
	eq "for another CPU" "$cross_allocs" $PAGES
}

# The last few pages may wait on the allocating CPU to be put on a list.
test_freed_on_the_other_cpu()
{
	pages 0 0 1
	eq "for another CPU" "$cross_allocs" 0
	[ "$cross_frees" -gt $((PAGES - 50)) ] || fail "only $cross_frees"
}

run_tests
