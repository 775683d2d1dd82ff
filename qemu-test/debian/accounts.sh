# SPDX-License-Identifier: GPL-2.0-only
#
# Does /proc/allocinfo add up against /proc/meminfo?  It needs a kernel that was booted with
# sysctl.vm.mem_profiling=1.
#
# MemTotal is the memory that the page allocator manages.  A page is either free (MemFree),
# or on a list of a CPU (/proc/zoneinfo), or allocated.  The table counts each allocated page
# once.  It also counts the objects inside of slabs and of per-CPU chunks, so their memory is
# in the table twice:
#
#   unaccounted = MemTotal - MemFree - lists - (table - slab objects - per-CPU objects)
#
# /proc/slabinfo has the slab objects.  It counts all objects of a CPU's current slab as used,
# so shrink_slabs() gives these slabs back first.  No file has the per-CPU objects.  They are
# at most all per-CPU memory (Percpu), so the result is a range as wide as Percpu.
#
# The limit must be larger than Percpu, and than what other programs allocate and free while
# the four files are read.

shrink_slabs()
{
	for shrink in /sys/kernel/slab/*/shrink; do
		[ -L "${shrink%/shrink}" ] || echo 1 > "$shrink"
	done
}

# The files, read as quickly as possible after each other
read_accounts()
{
	shrink_slabs
	cat $INFO > /tmp/allocinfo
	cat /proc/slabinfo > /tmp/slabinfo
	cat /proc/zoneinfo > /tmp/zoneinfo
	cat /proc/meminfo > /tmp/meminfo
}

# Prints each term of the equation as "NAME KIB".  The result is from unaccounted_min to
# unaccounted_max.
accounts()
{
	awk '
	FILENAME == "/tmp/allocinfo" && FNR > 2 { table += $1 / 1024 }
	FILENAME == "/tmp/slabinfo" && FNR > 2 { objects += $2 * $4 / 1024 }
	FILENAME == "/tmp/zoneinfo" && $1 == "count:" { lists += $2 * 4 }
	FILENAME == "/tmp/meminfo" { sub(":", "", $1); kib[$1] = $2 }
	END {
		pages = table - objects
		rest = kib["MemTotal"] - kib["MemFree"] - lists - pages
		print "total", kib["MemTotal"]
		print "free", kib["MemFree"] + lists
		print "table", int(table)
		print "slab_objects", int(objects)
		print "percpu", kib["Percpu"]
		print "unaccounted_min", int(rest - kib["Percpu"])
		print "unaccounted_max", int(rest)
	}' /tmp/allocinfo /tmp/slabinfo /tmp/zoneinfo /tmp/meminfo
}

account()
{
	awk -v name="$1" '$1 == name { print $2 }' /tmp/accounts
}

# adds_up PART: fails unless the whole range is within 1/PART of MemTotal.
adds_up()
{
	read_accounts
	accounts > /tmp/accounts
	limit=$(($(account total) / $1))
	note "$(tr '\n' ' ' < /tmp/accounts | sed 's/ $/ (KiB)/')"
	[ "$(account unaccounted_min)" -ge -$limit ] && [ "$(account unaccounted_max)" -le $limit ] ||
		fail "unaccounted: $(account unaccounted_min) to $(account unaccounted_max) KiB, limit $limit"
}

# kib_of FUNCTION: what the lines of a function hold.
kib_of()
{
	awk -v want="func:$1" '{ for (i = 4; i <= NF; i++) if ($i == want) sum += $1 } END { print int(sum / 1024) }' \
		/tmp/allocinfo
}

meminfo()
{
	awk -v name="$1:" '$1 == name { print $2 }' /tmp/meminfo
}

# between WHAT LOW VALUE HIGH
between()
{
	note "$1: $3, expected $2 to $4 (KiB)"
	[ "$2" -le "$3" ] && [ "$3" -le "$4" ] || fail "$1: $3 KiB, expected $2 to $4"
}

# /proc/meminfo also counts the stacks of tasks and the pages of slabs.  Its figures and the
# table may differ.  Each CPU keeps up to two stacks of 16 KiB that no task uses, and up to
# 20 tasks may start or end between the two reads.  Slab in /proc/meminfo includes the pages
# that kmalloc() takes from the page allocator; the table has these on other lines.
table_bounds()
{
	read_accounts
	stacks=$(meminfo KernelStack)
	cached=$(($(nproc) * 2 * 16))
	between "stacks of tasks" $((stacks - 320)) "$(kib_of alloc_thread_stack_node)" $((stacks + cached + 320))
	slab=$(meminfo Slab)
	between "pages of slabs" $((slab * 3 / 4)) "$(kib_of alloc_slab_page)" $((slab * 101 / 100))
}

# Each line of the table has the documented form, and bytes if and only if it has calls.
well_formed()
{
	[ "$(wc -l < $INFO)" -gt 1000 ] || fail "$INFO has $(wc -l < $INFO) lines"
	! sed 1,2d $INFO | grep -Ev \
		'^ *[0-9]+ +[0-9]+ [^ :]+:[0-9]+( \[[A-Za-z0-9_]+\])? func:[A-Za-z0-9_.]+( accurate:no)? $' ||
		fail "a line of another form"
	sed 1,2d $INFO | awk '($1 > 0) != ($2 > 0) { print; bad = 1 } END { exit bad }' ||
		fail "bytes without calls, or calls without bytes"
}

# No counter is below zero.  The table shows such a counter as 0, so allocinfo-dump reads the memory
# of the kernel.  A counter that changes during the read can appear to be below zero.  So the test
# reads three times, and fails if a line is below zero each time.
nothing_is_negative()
{
	well_formed
	apt-get update
	apt-get -y install python3-drgn python3-pyelftools
	for try in 1 2 3; do
		allocinfo-dump --raw /proc/kcore > /tmp/raw
		[ "$(wc -l < /tmp/raw)" -gt 1000 ] || fail "allocinfo-dump printed $(wc -l < /tmp/raw) lines"
		awk 'NR > 2 && ($1 < 0 || $2 < 0) { $1 = $2 = ""; print }' /tmp/raw | sort > /tmp/below.$try
		note "below zero, try $try: $(wc -l < /tmp/below.$try) of $(wc -l < /tmp/raw) lines"
		[ -s /tmp/below.$try ] || return 0
	done
	comm -12 /tmp/below.1 /tmp/below.2 | comm -12 - /tmp/below.3 > /tmp/below
	[ ! -s /tmp/below ] || fail "below zero: $(head -n 3 /tmp/below)"
}
