# SPDX-License-Identifier: GPL-2.0-only
#
# After the end of a workload every line that it touched is as before.
#
# Each workload runs twice.  The first run makes the kernel allocate memory that it keeps.  The
# test reads /proc/allocinfo before, during and after the second run.  After the run these
# differences are allowed:
#
# - SLACK calls on each line, because an RCU callback, a timer or a kworker may still hold memory;
# - NODES_SLACK calls on the lines of NODES;
# - KEPT_BYTES on the lines of KEPT, which allocate caches that only memory pressure empties;
# - on the line that allocates the per-CPU parts of counters, one part for each counter that
#   became hot.
#
# append: sysctl.vm.mem_profiling=1
# disk: 256M
# modules: ctag_test ctag_keep
# timeout: 480
# timeout@alloc-debug: 600

. /qt/lib.sh

SLACK=4
# partial slabs stay; two thread stacks are cached for each CPU; page tables of the
# kernel's addresses are never freed; the rest is the memory of this shell and of the awk
# that compares
KEPT='^(mm/sl[au]b\\.c|kernel/fork\\.c:[0-9]+ func:alloc_thread_stack_node|[^ ]+ func:__p(te|md|ud)_alloc_one|mm/memory\\.c|mm/mmap\\.c|mm/rmap\\.c|kernel/fork\\.c:[0-9]+ func:vm_area)'
KEPT_BYTES=1048576
# freed late: memory that settle() could not free before may be freed after
LATE='func:(__d_alloc|alloc_inode_sb|alloc_inode|alloc_vmap_area|preload_this_cpu_lock|.*_alloc_inode)$'
# alloc_pid() allocates a struct pid for each process, and a node of the tree of process numbers
# for each 64 numbers.  A kworker that starts during the fork storm stays, and so does the node
# with its number.  A line of alloc_pid() allocates nodes if its objects have more than NODE_MIN
# bytes.
NODES='func:alloc_pid$'
NODES_SLACK=16
NODE_MIN=256

# compare MINIMUM: at least that many lines were touched, and all are as before
compare()
{
	awk -F'\t' -v few=$SLACK -v kept="$KEPT" -v late="$LATE" \
		-v nodes="$NODES" -v more=$NODES_SLACK -v node=$NODE_MIN -v room=$KEPT_BYTES -v min="$1" '
	FILENAME == "/tmp/before" { lines++; b[$1] = $2; c[$1] = $3; next }
	FILENAME == "/tmp/during" { if ($3 != c[$1]) { touched[$1] = $3 - c[$1]; n++ } next }
	!($1 in touched) { next }
	$1 ~ /func:give_parts$/ {
		if ($3 < c[$1] || $3 > lines) { print "# parts of counters: " $0; bad++ }
		next
	}
	$1 ~ kept { if ($2 - b[$1] > room) { print "# kept too much: " $0; bad++ } next }
	$1 ~ late && $3 < c[$1] { next }
	{ slack = $1 ~ nodes && $2 > node * $3 ? more : few }
	$3 - c[$1] > slack || c[$1] - $3 > slack || ($3 == c[$1] && $2 != b[$1]) {
		print "# " $1 ": " b[$1] "/" c[$1] " before, +" touched[$1] " during, " $2 "/" $3 " after"
		bad++
	}
	END { print "# " n + 0 " lines touched"; exit bad || n < min }
	' /tmp/before /tmp/during /tmp/after || fail "not as before"
}

# around MINIMUM: starts the workload, takes a snapshot, ends it; twice
around()
{
	up
	down
	settle
	# create all files in advance, so that their memory is in each snapshot
	for f in before during after before; do
		snapshot /tmp/$f
	done
	up
	snapshot /tmp/during
	down
	settle 2
	snapshot /tmp/after
	compare "$1"
}

test_sockets()
{
	settle
	loopback_up
	up() { load sockets 1000; }
	down() { unload; }
	around 15
}

test_unix_sockets()
{
	up() { load unix 500; }
	down() { unload; }
	around 5
}

test_processes()
{
	up() { load forks 300; }
	down() { unload; sleep 1; }
	around 15
}

# Processes start and end, so many that their caches are replaced.
test_fork_storm()
{
	up() { load storm 2000; }
	down() { unload; sleep 1; }
	around 10
}

test_threads()
{
	up() { load threads 200; }
	down() { unload; sleep 1; }
	around 5
}

test_pipes()
{
	up() { load pipes 500; }
	down() { unload; }
	around 4
}

test_anonymous_memory()
{
	up() { load anon 64; }
	down() { unload; }
	around 2
}

test_tmpfs()
{
	up()
	{
		mount -t tmpfs none /mnt || fail mount
		for i in 1 2 3 4 5 6 7 8 9 10; do
			mkdir /mnt/$i
			dd if=/dev/zero of=/mnt/$i/data bs=64k count=16 2>/dev/null
		done
	}
	down() { umount /mnt || fail umount; }
	around 3
}

test_ext4()
{
	up()
	{
		mount_disk
		cd /mnt || fail cd
		load files 300
		cd / || fail cd
		for i in 1 2 3 4 5 6 7 8; do
			mkdir -p /mnt/d$i
			dd if=/dev/zero of=/mnt/d$i/data bs=64k count=32 2>/dev/null
			cp /mnt/d$i/data /mnt/d$i/copy
		done
		sync
	}
	down()
	{
		unload
		rm -rf /mnt/d* /mnt/load.*
		umount /mnt || fail umount
	}
	around 20
}

# Pages go out because of memory pressure, and come in when the swap device is removed.
# Then they are on another line than before, and some of them belong to tmpfs and the
# shell, not to the workload.  moves.sh checks this to the byte.
test_swap()
{
	KEPT="$KEPT|^mm/(swap_state|shmem)\\\\.c:"
	mkswap /dev/vda > /dev/null || fail mkswap
	mount_cgroup
	up()
	{
		swapon /dev/vda || fail swapon
		load anon 48
		out=$(vmstat pswpout)
		echo 1 > /proc/$LOAD/clear_refs
		echo 64M > /tmp/cg/memory.reclaim 2>/dev/null
		out=$(($(vmstat pswpout) - out))
		[ "$out" -gt 1000 ] || fail "only $out pages went out"
	}
	down()
	{
		swapoff /dev/vda || fail swapoff
		unload
	}
	around 5
	umount /tmp/cg
}

# The last case, because it leaves caches and sysfs directories in other slabs.
test_modules()
{
	up()
	{
		for i in 1 2 3 4 5 6 7 8 9 10; do
			mod_load
			cmd alloc all 5
			[ "$i" = 10 ] || mod_unload
		done
	}
	down() { mod_unload; }
	around 10
}

test_namespaces()
{
	# settle() loads it to purge vmap areas, unless it is loaded already
	[ ! -d $KEEP ] || rmmod ctag_keep || fail "rmmod ctag_keep"
	up()
	{
		rm -f /tmp/.ready
		unshare -n -m -i -u sh -c 'ip link set lo up; touch /tmp/.ready
			while :; do sleep 1; done' &
		LOAD=$!
		until [ -e /tmp/.ready ]; do usleep 10000; done
	}
	# a network namespace is freed some time later
	down() { unload; sleep 3; }
	around 15
}

run_tests
