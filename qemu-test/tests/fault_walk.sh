# SPDX-License-Identifier: GPL-2.0-only
#
# Each line that allocates memory for a workload fails once: the caller gets an error, or
# succeeds without the memory.  The console stays silent, nothing hangs, no process dies,
# and nothing leaks.  helpers/faultwalk/faultwalk.c defines the workloads and leaks.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# scripts: hunt/serve.sh
# disk: 64M
# timeout: 3600
# expect-console: Call Trace:
# expect-console: WARNING: .* at kernel/jump_label\.c:
# expect-console: list_add corruption \(a test\)

. /qt/lib.sh

FAULTS=/sys/kernel/debug/dynamic_faults
AT_LEAST=300

[ -e $FAULTS ] || SKIP_ALL="no dynamic fault injection"

# Findings in the base kernel: a pattern for grep -E, which matches a line of the report,
# with a comment above it.  A finding that prints to the console also has an
# expect-console at the top of this file.
known()
{
	grep -vE '^(#|$)' <<-'EOF_KNOWN'
	# vmalloc() prints an error and a trace when its own bookkeeping gets no memory
	func:(__get_vm_area_node|alloc_vmap_area) .* splat:faulted:_vmalloc_error
	# Without memory for the keys of a module, the loader removes keys that were never
	# added: jump_label_del_module() warns twice. The module is not loaded, and
	# nothing leaks.
	func:jump_label_add_module .* splat:WARNING:.*_at_kernel/jump_label\.c
	EOF_KNOWN
}

# Cleans up after a walk that ended early.
tidy()
{
	echo disable > $FAULTS
	! grep -q ' /mnt ' /proc/mounts || umount /mnt || umount -l /mnt
	[ ! -d $CTAG ] || mod_unload
}

# Findings that are more than a failed call, known ones included
wrong()
{
	awk '$1 == "broken"
	$1 == "point" && !(/ splat:no / && / leak:no / && !/ result:(signal:|hung)/)' "$1"
}

# The number of each result, and the results other than success and ENOMEM
sum_up()
{
	awk '
	function add(what) { rest = rest (rest == "" ? "" : ", ") what }
	$1 != "point" { next }
	{
		n++
		sub(/.* result:/, "")
		sub(/ .*/, "")
	}
	$0 == "succeeded" { succeeded++; next }
	$0 == "unreached" { unreached++; next }
	/:ENOMEM$/ { enomem++; next }
	{ other++; count[$0]++ }
	END {
		for (r in count) add(count[r] " " r)
		printf "# %d points: %d returned ENOMEM, %d succeeded, %d something else, %d not reached again\n",
			n, enomem, succeeded, other, unreached
		if (other) print "# something else: " rest
	}' "$1"
}

# walk WORK [OPTION...]
walk()
{
	report=/tmp/walk.$1
	tidy
	if ! /qt/bin/faultwalk "$@" > "$report" 2> /tmp/walk.errors; then
		tidy
		sum_up "$report"
		fail "$(tail -n 1 /tmp/walk.errors)"
	fi
	tidy
	sed -n 's/^plain /# without a fault: /p; /^# /p' "$report"
	sum_up "$report"
	known > /tmp/walk.known
	wrong "$report" > /tmp/walk.wrong
	if [ -s /tmp/walk.known ]; then
		grep -Ef /tmp/walk.known /tmp/walk.wrong | sed 's/^/# known: /'
		grep -vEf /tmp/walk.known /tmp/walk.wrong > /tmp/walk.new
	else
		cp /tmp/walk.wrong /tmp/walk.new
	fi
	sed 's/^/# /' /tmp/walk.new
	tail -n 1 "$report" | grep -q '^walked ' || fail "the walk did not end"
	[ ! -s /tmp/walk.new ] || fail "$(wc -l < /tmp/walk.new) points: $(tail -n 1 "$report")"
}

test_ext4()
{
	walk ext4 -d /dev/vda
}

test_sockets()
{
	loopback_up
	walk sockets
}

# ctag_test uses ctag_keep, so loading it also takes a reference.
test_module()
{
	[ -d $KEEP ] || insmod /modules/ctag_keep.ko || fail "insmod ctag_keep"
	walk module -m /modules/ctag_test.ko
}

test_exec()
{
	walk exec
}

# A script: what it prints is shown until a run has succeeded, and the walk ends at a damaged list.
test_script()
{
	cat > /tmp/work.sh <<-'END'
	prepare() { echo "this is prepare"; }
	work()
	{
		F mkdir /tmp/made && echo "this is work" && return
		echo "list_add corruption (a test)" > /dev/kmsg
		return 1
	}
	clean() { [ ! -e /tmp/made ] || rmdir /tmp/made; }
	END
	/qt/bin/faultwalk script -q -s /tmp/work.sh > /tmp/walk.script 2>&1
	code=$?
	tidy
	[ $code = 0 ] || fail "exit code $code: $(tail -n 1 /tmp/walk.script)"
	[ "$(grep -c '^# this is prepare$' /tmp/walk.script)" = 1 ] || fail "the output of prepare() is not shown once"
	[ "$(grep -c '^# this is work$' /tmp/walk.script)" = 1 ] || fail "the output of the first work() alone is not shown"
	note "$(tail -n 1 /tmp/walk.script)"
	[ "$(sed -n 's/^point \(.*\) fired:1 .* splat:list_add_corruption_(a_test) .*/\1/p' /tmp/walk.script)" = \
		"$(sed -n 's/^reboot //p' /tmp/walk.script)" ] || fail "no splat at the point of the reboot"
	[ "$(grep -c '^reboot ' /tmp/walk.script)" = 1 ] || fail "no damaged list"
	[ "$(grep '^at ' /tmp/walk.script | tail -n 1)" = "at $(sed -n 's/^reboot //p' /tmp/walk.script)" ] ||
		fail "it goes on after a damaged list"
}

test_enough_fired()
{
	n=$(cat /tmp/walk.ext4 /tmp/walk.sockets /tmp/walk.module /tmp/walk.exec |
		awk '$1 == "walked" { n += $4 } END { print n + 0 }')
	note "$n points fired"
	[ "$n" -ge $AT_LEAST ] || fail "$n points fired, want $AT_LEAST"
}

run_tests
