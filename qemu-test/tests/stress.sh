# SPDX-License-Identifier: GPL-2.0-only
#
# Ten minutes of stress-ng on two CPUs under KASAN, lockdep and kmemleak, with a check that
# each allocation is accounted.  Afterwards every line is as before, no reference is lost,
# and neither kmemleak nor the console has a complaint.
#
# Five groups of stressors run for two minutes each, all of a group at once, while a reader
# reads the whole table.  Before that all of them run for a few seconds, so that the kernel
# has allocated the memory that it keeps.
#
# append: sysctl.vm.mem_profiling=1 kmemleak=on rcupdate.rcu_cpu_stall_timeout=150 watchdog_thresh=60
# programs: stress-ng
# memory: 2G
# disk: 1G
# timeout: 900
#
# shellcheck disable=SC2086 # lists of options

. /qt/lib.sh

LEAKS=/sys/kernel/debug/kmemleak
SECONDS_EACH=${SECONDS_EACH:-120}

# Memory limit of a program in KiB, so that the OOM killer does not run.
LIMIT=400000

# Left out are stressors that take all memory (oom-pipe, resources), that do not use the
# kernel's memory (the sorts, str, matrix ...), that need options which this kernel does not
# have (swap, userfaultfd, numa, physpage, verity, binderfs, dccp, sctp, tun, vm-rw), that
# root must not run (exec), that read all of /proc, and io-uring, which takes the result of
# another of its requests for a failure.
VM="--brk 1 --bigheap 1 --bigheap-growth 64k --mmap 1 --mmap-bytes 16m
	--mmapfork 1 --mremap 1 --mremap-bytes 8m --mprotect 1 --madvise 1
	--malloc 1 --malloc-bytes 16m --malloc-max 1000 --stack 1 --stackmmap 1
	--vm 1 --vm-bytes 32m --mlock 1 --msync 1 --msync-bytes 8m --munmap 1
	--pageswap 1 --pagemove 1 --pagemove-bytes 8m --shm 1 --shm-bytes 8m
	--shm-sysv 1 --shm-sysv-bytes 4m --vm-splice 1 --vm-addr 1 --env 1 --mmapmany 1 --mmapaddr 1
	--mmapfixed 1 --mmaphuge 1 --dev-shm 1 --bad-altstack 1"
MEMORY="--memfd 1 --memfd-bytes 16m --membarrier 1 --rmap 1 --tlb-shootdown 1
	--remap 1 --pipe 1 --pipeherd 1 --null 1 --zero 1 --memthrash 1
	--mincore 1 --tmpfs 1 --malloc 1 --malloc-bytes 16m --malloc-max 1000
	--mcontend 1 --splice 1 --tee 1 --sendfile 1 --stack 1"
FILES="--access 1 --chattr 1 --chdir 1 --chmod 1 --chown 1 --dentry 1
	--dentries 500 --dir 1 --dirdeep 1 --dirdeep-inodes 500 --dirmany 1
	--dup 1 --eventfd 1 --fallocate 1 --fallocate-bytes 16m --fcntl 1
	--fiemap 1 --fiemap-bytes 16m --filename 1 --flock 1 --fpunch 1
	--fsize 1 --fstat 1 --getdent 1 --handle 1 --hdd 1 --hdd-bytes 16m
	--inotify 1 --io 1 --iomix 1 --iomix-bytes 16m --lease 1 --link 1
	--locka 1 --lockf 1 --lockofd 1 --mknod 1 --open 1 --rename 1
	--symlink 1 --sync-file 1 --sync-file-bytes 8m --touch 1 --utime 1
	--xattr 1"
NETWORK="--epoll 1 --icmp-flood 1 --netdev 1 --ping-sock 1 --rawpkt 1
	--rawsock 1 --rawudp 1 --sock 1 --sockabuse 1 --sockdiag 1 --sockfd 1
	--sockmany 1 --sockpair 1 --udp 1 --udp-flood 1"
FORK="--fork 2 --vfork 1 --clone 1 --clone-max 50 --daemon 1 --zombie 1
	--zombie-max 100 --pthread 1 --pthread-max 50 --wait 1 --session 1
	--forkheavy 1 --forkheavy-procs 50 --unshare 1 --fifo 1 --mq 1 --msg 1
	--sem 1 --sem-sysv 1 --pidfd 1 --aio 1 --timerfd 1
	--signal 1"

# The number of stressors in a group that may skip themselves: none does on this kernel.
MAY_SKIP=3

# stress SECONDS STRESSOR...: exit codes 3 and 4 mean that a stressor has skipped itself,
# which it also prints; that is no failure
stress()
{
	seconds=$1
	shift
	mkdir -p /mnt/stress
	( while :; do
		cat $INFO > /dev/null
		sleep 1
	done ) &
	reader=$!
	( ulimit -v $LIMIT
	  exec stress-ng --timeout "$seconds" --temp-path /mnt/stress "$@" ) \
		> /tmp/stress 2>&1
	code=$?
	kill $reader
	wait $reader 2>/dev/null
	grep -E 'skip|not implemented|fail|error|killed' /tmp/stress |
		grep -v 'open with O_DIRECT' | head -20 | cut -c 1-150 | sed 's/^/# /'
	tail -n 1 /tmp/stress | sed 's/^/# /'
	rm -rf /mnt/stress
	case $code in
	0 | 3 | 4) ;;
	*) fail "stress-ng ended with $code" ;;
	esac
	ran=$(sed -n 's/.*dispatching hogs: //p' /tmp/stress | tr ',' '\n' | wc -l)
	idle=$(grep -cE 'skipping (the )?stress|will be skipped|aborted early' /tmp/stress)
	note "$ran kinds of stressors, $idle of them skipped"
	[ "$ran" -ge 10 ] || fail "only $ran kinds of stressors"
	[ "$idle" -le $MAY_SKIP ] || fail "$idle stressors did not run"
	grep -q 'successful run completed' /tmp/stress || fail "not completed"
}

disk_up()
{
	grep -q " /mnt " /proc/mounts || mount_disk
}

scan()
{
	echo scan > $LEAKS || fail "kmemleak gave up"
}

test_what_is_there_before()
{
	loopback_up
	echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range
	echo 300 > /proc/sys/kernel/hung_task_timeout_secs
	disk_up
	for group in "$VM" "$MEMORY" "$FILES" "$NETWORK" "$FORK"; do
		stress 5 $group
	done
	umount /mnt || fail umount
	settle 5
	scan
	echo clear > $LEAKS
	settle 5
	for f in after before; do
		snapshot /tmp/$f
	done
}

test_vm()
{
	disk_up
	stress "$SECONDS_EACH" $VM
}

test_memory()
{
	disk_up
	stress "$SECONDS_EACH" $MEMORY
}

test_filesystem()
{
	disk_up
	stress "$SECONDS_EACH" $FILES
}

test_network()
{
	disk_up
	stress "$SECONDS_EACH" $NETWORK
}

test_fork()
{
	disk_up
	stress "$SECONDS_EACH" $FORK
}

# Every line is as before, except
#  - SLACK calls: a callback, a timer, a kworker in flight, the files in /sys of a
#    cache made for the first time (29). A leak in each round of a stressor would be
#    thousands;
#  - slab pages, because chance decides how many slabs hold a few objects.  They must
#    not exceed the slabs according to the caches;
#  - the pool of debugobjects, which must not exceed the number that debugobjects shows;
#  - lines in KEPT, caches that only memory pressure empties, within KEPT_BYTES: page
#    tables of the kernel's addresses, KASAN's shadow of vmalloc memory (a page of it is
#    freed only when all memory that it covers is free), KASAN's stack depot, which never
#    shrinks, cached thread stacks, kmemleak's objects (one for each allocation), and the
#    shell and awk that compare;
#  - lines that hold less than before: a cache need not hold as much now.
SLACK=64
KEPT='^(kernel/fork\\.c:[0-9]+ func:(alloc_thread_stack_node|vm_area)|[^ ]+ func:__p(te|md|ud)_alloc_one|mm/kmemleak\\.c|mm/kasan/shadow\\.c|lib/stackdepot\\.c|mm/memory\\.c|mm/mmap\\.c|mm/rmap\\.c)'
KEPT_BYTES=8388608

slab_bytes_in_caches()
{
	awk 'NR > 2 { n += $6 * $15 } END { printf "%d\n", 4096 * n }' /proc/slabinfo
}

# The number of objects of debugobjects, in use or not
debug_objects()
{
	awk -F: '/objs_allocated/ { n += $2 } /objs_freed/ { n -= $2 } END { print n }' \
		/sys/kernel/debug/debug_objects/stats
}

test_nothing_drifted()
{
	if grep -q " /mnt " /proc/mounts; then
		umount /mnt || fail umount
	fi
	settle 10
	settle 5
	slab_bytes_in_caches > /tmp/in_caches
	snapshot /tmp/after
	slab_bytes_in_caches >> /tmp/in_caches
	in_caches=$(sort -n /tmp/in_caches | tail -n 1)
	awk -F'\t' -v slack=$SLACK -v kept="$KEPT" -v room=$KEPT_BYTES \
		-v objects="$(debug_objects)" -v slabs='func:alloc_slab_page$' -v in_caches="$in_caches" '
	FILENAME == "/tmp/before" { b[$1] = $2; c[$1] = $3; next }
	$1 ~ slabs { slab_bytes += $2; next }
	$1 ~ kept {
		if ($2 - b[$1] > room) { print "# kept too much: " $0; bad++ }
		next
	}
	$1 ~ /func:fill_pool$/ {
		if ($3 > objects + slack) { print "# the pool has " objects ": " $0; bad++ }
		next
	}
	$3 - c[$1] > slack {
		print "# " $1 ": " b[$1] + 0 "/" c[$1] + 0 " before, " $2 "/" $3 " after"
		bad++
	}
	END {
		print "# " NR " lines, " slab_bytes " bytes of slabs, the caches say " in_caches
		if (!slab_bytes || slab_bytes > in_caches) {
			print "# more slabs than the caches have"
			bad++
		}
		exit bad > 0
	}
	' /tmp/before /tmp/after || fail "not as before"
}

test_conservation()
{
	conserved "in the end"
}

# Objects without a pointer to them in two scans, five seconds apart.
test_no_leak()
{
	[ -w $LEAKS ] || fail "no kmemleak"
	scan
	sleep 6
	scan
	sleep 6
	scan
	cat $LEAKS > /tmp/leaks
	found=$(grep -c '^unreferenced object' /tmp/leaks)
	head -n 40 /tmp/leaks | sed 's/^/# /'
	[ "$found" = 0 ] || fail "$found leaks"
}

test_nothing_was_left_unaccounted()
{
	dmesg | grep -E 'alloc_tag|WARNING|kmemleak: .*(disabl|Cannot)' |
		head -5 | sed 's/^/# /'
	dmesg | grep -qE 'alloc_tag|WARNING|kmemleak: .*(disabl|Cannot)' &&
		fail "a warning"
	:
}

run_tests
