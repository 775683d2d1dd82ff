# SPDX-License-Identifier: GPL-2.0-only
#
# All memory in use is charged to a line, or the report gives the reason: after boot and
# after a mixed load.  And no line is in a header (r27).
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slab_nomerge kfence.sample_interval=10
# memory: 768M
# disk: 256M
# modules: ctag_test ctag_life ctag_keep
# timeout: 300

. /qt/lib.sh

DIR=/sys/kernel/debug/alloc_tag

# Pages that may have no line, and how many: memory that the boot took before there was
# an allocator, and pages that compaction is about to use, a batch on each CPU.  Neither
# kind counts as "untagged"; there may be no untagged page.
EARLY_MOST=$(($(kilobytes MemTotal) / 4 / 10))
EXEMPT_MOST=$((32 * $(nproc)))

pages_covered()
{
	cat $DIR/pages > /tmp/pages || fail "$1: no report"
	sed 's/^/# /' /tmp/pages
	awk -v early=$EARLY_MOST -v exempt=$EXEMPT_MOST '
	BEGIN {
		most["free"] = most["reserved"] = most["tagged"] = 1e12
		most["early"] = early
		most["exempt"] = exempt
	}
	/^untagged:/ { next }
	$2 > most[$1] { print "# " $1 ": " $2 " pages, " most[$1] + 0 " permitted"; bad++ }
	$1 == "tagged" { tagged = $2 }
	END { exit bad || tagged < 1000 }
	' /tmp/pages || fail "$1: pages on no line"
}

flush_caches()
{
	for f in /sys/kernel/slab/*/shrink; do
		[ -L "${f%/shrink}" ] || echo 1 > "$f"
	done 2>/dev/null
}

# The numbers of the report belong to one moment.  In it every object has a reference,
# except the first of kmem_cache_node, which is older than its line.  /proc/slabinfo is
# read later, and counts the free objects in slabs of a CPU as active: a cache that the
# reader uses may show more objects by a slab and a few partial slabs for each CPU, other
# caches show no more.  At most FEW objects of a cache are freed in between.
FEW=16

objects_covered()
{
	rm -f /tmp/least
	for try in 1 2 3 4 5; do
		flush_caches
		# closed files are freed after a grace period
		usleep 300000
		cat $DIR/slabs > /tmp/slabs || fail "$1: no report"
		cat /proc/slabinfo > /tmp/slabinfo
		touch /tmp/least
		awk '
		FILENAME == "/tmp/least" { least[$1] = $2; next }
		FILENAME == "/tmp/slabinfo" { active[$1] = $2; room[$1] = $5 * 12; next }
		NF == 3 {
			d = ($1 in active) ? active[$1] - $3 : 0
			if ($3 != $2 - ($1 == "kmem_cache_node")) d = 1000000
			if (!($1 in least) || d * d < least[$1] * least[$1]) least[$1] = d
		}
		END { for (c in least) print c, least[c], room[c] + 0 }
		' /tmp/least /tmp/slabinfo /tmp/slabs > /tmp/least.new
		mv /tmp/least.new /tmp/least
	done
	awk -v few=$FEW '$1 == "kmem_cache_node" { $3 += 1 }
	$2 { some++ }
	$2 > $3 { print "# " $1 ": " $2 " objects on no line"; bad++ }
	$2 < -few { print "# " $1 ": " -$2 " references too many"; bad++ }
	END {
		print "# " NR " caches, " some + 0 " of them in use while read"
		exit bad || NR < 20 || some * 2 > NR
	}' /tmp/least || fail "$1: objects on no line"
}

test_after_boot()
{
	settle
	pages_covered "after boot"
}

test_objects_after_boot()
{
	[ -d /sys/kernel/slab ] || fail "not SLUB"
	objects_covered "after boot"
}

test_after_a_mixed_load()
{
	loopback_up
	mount_disk
	fresh
	life_load
	cmd alloc all 100
	life inflate 32
	life caches 300
	cp -r /bin /qt /mnt 2>/dev/null
	cp -r /mnt/qt /tmp/copy
	load sockets 100
	one=$LOAD
	load anon 100
	two=$LOAD
	load forks 50
	pages_covered "under load"
	kill -9 $one $two
	unload
	life deflate
	cmd free all 100
	settle
	pages_covered "after it"
}

test_objects_after_it()
{
	[ -d /sys/kernel/slab ] || fail "not SLUB"
	life uncache
	umount /mnt
	settle
	objects_covered "after the load"
}

# except headers that are code of one file each, see cover_headers.sh
test_r27_no_line_of_a_header()
{
	tags | awk '$1 && $3 ~ /\.h:/ && $3 !~ /^kernel\/rcu\//' > /tmp/headers
	head -8 /tmp/headers | sed 's/^/# /'
	[ ! -s /tmp/headers ] || fail "$(wc -l < /tmp/headers) lines of headers hold memory"
}

# r12, r14: memory that the boot frees has no line, and the kernel knows that.
test_r12_r14_no_warnings()
{
	dmesg | grep -q 'Freeing initrd memory' || fail "the boot freed no initrd"
	dmesg | grep -E 'alloc_tag:|WARNING' && fail "a warning"
	:
}

run_tests
