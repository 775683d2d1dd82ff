# SPDX-License-Identifier: GPL-2.0-only
#
# Memory that is freed in another way than by the call that matches its allocation, and
# objects of every kind of cache: exact to the byte.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# append: sysctl.vm.mem_profiling=1 cgroup.memory=nokmem slab_nomerge
# append@alloc-debug: sysctl.vm.mem_profiling=1
# append@slab: sysctl.vm.mem_profiling=1 slab_nomerge
# modules: ctag_life ctag_keep
# timeout: 240

. /qt/lib.sh

nothing_left()
{
	check_life > /tmp/differences
}

# kfree_rcu() holds a few objects back for up to five seconds
test_kfree_rcu()
{
	life_load
	settle
	# a few objects wait for a timer, and can be counted
	for try in 1 2 3 4 5; do
		began=$(date +%s)
		life rcu 10
		set -- $(sum_tags '[[]ctag_life[]] func:rcu_round')
		took=$(($(date +%s) - began))
		[ "$2" -lt 30 ] || break
		until_true 30 nothing_left
	done
	note "$2 calls for 10 of each, try $try"
	# 10 objects, 10 without an rcu_head, 10 areas of two pages; a guest that needs
	# more than five seconds finds none of them
	if [ "$2" = 0 ] && [ $took -ge 4 ]; then
		note "they were freed before they were counted, which took $took s"
	elif [ "$2" -lt 40 ] || [ "$2" -gt 60 ]; then
		fail "$2 calls, want 40 to 60"
	fi
	until_true 30 nothing_left || fail "$(cat /tmp/differences)"
	for n in 1000 5000; do
		life rcu $n
		life barrier
		until_true 30 nothing_left || fail "$n: $(cat /tmp/differences)"
	done
}

test_balloon()
{
	settle
	mem=$(kilobytes MemFree)
	life inflate 64
	check_life || fail "inflated"
	set -- $(sum_tags '[[]ctag_life[]] func:balloon_')
	eq "bytes" "$1" $((64 << 20))
	# KASAN frees objects from its quarantine while the check runs
	taken=$((mem - $(kilobytes MemFree)))
	[ $taken -gt 32768 ] || fail "of 64 MiB, $taken KiB were taken"
	life deflate
	check_life || fail "deflated"
	# the memory can be allocated again, and no counter is below zero
	for i in 1 2 3; do
		life inflate $((i * 20))
		check_life || fail "inflated again"
		life deflate
		check_life || fail "deflated again"
	done
}

test_r16_every_kind_of_cache()
{
	for n in 1 100 900; do
		life caches $n
		check_life || fail "$n more of each"
	done
	life uncache
	check_life || fail "freed"
	life caches 7
	check_life || fail "a counter is below zero"
	life uncache
}

# Two users of one cache: each is charged for its own objects.
test_merged_caches()
{
	life twins 500
	check_life || fail "500 of each"
	# only SLUB shows whether caches are merged
	if [ -d /sys/kernel/slab ]; then
		a=$(readlink -f /sys/kernel/slab/ctag_life_twin_a)
		b=$(readlink -f /sys/kernel/slab/ctag_life_twin_b)
		if zcat /proc/config.gz | grep -q CONFIG_KASAN=y ||
		   grep -qE 'slab_nomerge|slub_debug' /proc/cmdline; then
			[ "$a" != "$b" ] || fail "they are one cache"
		else
			eq "the caches" "$a" "$b"
		fi
	fi
	life untwin
	check_life || fail "those of the first freed"
	life uncache
	check_life || fail "all freed"
}

# A module can also charge objects to another line.
test_retagged_object()
{
	life caches 20
	life retag 8
	check_life || fail "8 of 20 handed on"
	life unretag
	check_life || fail "those freed"
	life uncache
	check_life || fail "all freed"
}

test_r07_parts_of_blocks()
{
	life exact 500
	check_life || fail "500 rounds"
	eq "calls left" "$(sum_tags '[[]ctag_life[]] func:exact_round')" "0 0"
	life exact 1
	check_life || fail "one more"
}

test_r21_charged_memory_after_switching_off()
{
	[ -w $MP ] || skip "profiling cannot be switched"
	enter_cgroup
	life caches 300
	profiling 0
	life uncache 2>/dev/null
	life caches 300
	profiling 1
	life uncache
	check_life || fail "freed"
	echo "$self" > /tmp/cg/cgroup.procs
	rmdir /tmp/cg/a
	umount /tmp/cg
	settle
	dmesg | grep -E 'Bad page|still charged' && fail "charged memory was freed"
	:
}

test_unload()
{
	life caches 10
	life inflate 4
	life rcu 20
	life_unload
	until_true 30 gone || fail "left: $(tags | grep -F '[ctag_life]' | head -2)"
}

gone()
{
	! tags | grep -qF '[ctag_life]'
}

run_tests
