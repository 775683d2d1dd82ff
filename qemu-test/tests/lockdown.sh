# SPDX-License-Identifier: GPL-2.0-only
#
# The table of Documentation/admin-guide/codetag-lockdown.rst: what each interface permits
# without lockdown, under lockdown=integrity, and under lockdown=confidentiality.  Each boot
# tests a column, and the table says what to expect.  A file in a folder of ours that has no row
# is a failure.  `make lint` fails if the name of another file of ours is not in that document.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 lockdown=integrity
# append: sysctl.vm.mem_profiling=1 lockdown=confidentiality
# programs: kmemtraced kmemtrace_check kmonlog kmonparse
# memory: 1G
# disk: 256M
# source: Documentation/admin-guide/codetag-lockdown.rst

. /qt/lib.sh

DEBUG=/sys/kernel/debug
NODES=/proc/allocinfo.nodes
KT=$DEBUG/kmemtrace
PKT=/proc/kmemtrace
PARAMETERS=/sys/module/kmon/parameters

mount -t securityfs none /sys/kernel/security 2>/dev/null
# none [integrity] confidentiality
COLUMN=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/security/lockdown 2>/dev/null)

TABLE=/src/Documentation/admin-guide/codetag-lockdown.rst

# name FILE: prints the first column of its row
name()
{
	case $1 in
	"$KT"/cpu0) echo "\`\`kmemtrace/cpu<n>\`\` in debugfs" ;;
	"$DEBUG"/*) echo "\`\`${1#"$DEBUG"/}\`\` in debugfs" ;;
	*) echo "\`\`$1\`\`" ;;
	esac
}

# cell FILE COLUMN: prints how the file can be opened there, by the table
cell()
{
	awk -v row="$(name "$1")" -v column="$2" '
		/^interface +none +integrity +confidentiality$/ {
			for (i = 1; i <= NF; i++)
				if ($i == column)
					back = NF - i
		}
		index($0, row "  ") == 1 {
			how = $(NF - back)
			print how == "``-``" ? "-" : how
			found = 1
		}
		END { exit !found }' $TABLE || fail "the table has no row of $1 or no column $2"
}

# opens FILE: opens the file as root, for reading, and also for writing if its mode has a write bit.
# Prints what succeeded: "rw", "r", or "-" for nothing.  Fails if an error is not EPERM, or if the
# file has a mode that no file of ours has.
opens()
{
	got=
	if (: < "$1") 2> /tmp/err; then
		got=r
	else
		grep -q "Operation not permitted" /tmp/err || fail "$1: $(cat /tmp/err)"
	fi
	case $(stat -c %a "$1") in
	600|644)
		if (: >> "$1") 2> /tmp/err; then
			got=${got}w
		else
			grep -q "Operation not permitted" /tmp/err || fail "$1: $(cat /tmp/err)"
		fi ;;
	400|444) ;;
	*) fail "$1: mode $(stat -c %a "$1")" ;;
	esac
	echo "${got:--}"
}

# row FILE: it opens as the table says
row()
{
	[ -e "$1" ] || fail "no $1"
	want=$(cell "$1" "$COLUMN") || fail "$want"
	dmesg -c > /dev/null
	got=$(opens "$1") || fail "$got"
	eq "$1 under $COLUMN" "$got" "$want"
	[ "$got" != - ] || reason "$1" "$(cell "$1" integrity)"
	name "$1" >> /tmp/rows
}

# reason FILE INTEGRITY: the kernel log has the documented reason for the refusal: the file is
# in debugfs, or only confidentiality refuses it.
reason()
{
	why="use of tracefs"
	[ "$2" != - ] || why="debugfs access"
	until_true 15 is_logged "$1" "$why" ||
		fail "$1: the log does not say \"$why is restricted\": $(dmesg | tail -1)"
}

# is_logged FILE REASON: is that the reason in the log?  If not, opens FILE again: the log gets
# at most ten of these messages in five seconds.
is_logged()
{
	dmesg | grep -q "Lockdown: .*: $2 is restricted" && return
	(: < "$1") 2> /dev/null
	return 1
}

test_lockdown_is_as_requested()
{
	want=$(sed -n 's/.*lockdown=\([a-z]*\).*/\1/p' /proc/cmdline)
	eq lockdown "$COLUMN" "${want:-none}"
}

test_allocinfo()
{
	row $INFO
	[ "$(tags | wc -l)" -gt 500 ] || fail "few lines"
	/qt/bin/allocinfo positions > /tmp/positions || fail "ioctl: $(cat /tmp/positions)"
}

test_allocinfo_nodes()
{
	zcat /proc/config.gz | grep -qx CONFIG_ALLOC_TAG_NODES=y || skip "no $NODES"
	eq mode "$(stat -c '%a %u' $NODES)" "400 0"
	row $NODES
	[ "$(wc -l < $NODES)" -gt 500 ] || fail "few lines"
}

test_sysctl()
{
	if debug_kernel; then
		eq "$MP, which is read-only with this option" "$(opens $MP)" r
		return
	fi
	row $MP
	profiling 0
	profiling 1
}

# Page frame numbers and flags, but no address of the kernel
test_reports_of_the_debug_option()
{
	debug_kernel || skip "needs CONFIG_MEM_ALLOC_PROFILING_DEBUG"
	for f in pages slabs conservation; do
		eq "mode of $f" "$(stat -c '%a %u' $DEBUG/alloc_tag/$f)" "400 0"
		row $DEBUG/alloc_tag/$f
		cat $DEBUG/alloc_tag/$f > /tmp/report || fail "cannot read $f"
		[ -s /tmp/report ] || fail "$f is empty"
		! grep -E 'ffff[0-9a-f]{12}' /tmp/report || fail "$f shows addresses"
	done
}

# contexts FILE: enables a call site, reads a stack and disables the site
contexts()
{
	echo "func __alloc_file enable" > "$1" || fail "cannot enable"
	grep -q "call stack:" "$1" || fail "no stack in $1"
	echo "func __alloc_file disable" > "$1" || fail "cannot disable"
	! grep -q "call stack:" "$1" || fail "stacks are left"
}

test_contexts_in_debugfs()
{
	row $DEBUG/alloc_tags.ctx
	row $DEBUG/alloc_tags.ctx_mem
	[ $COLUMN != none ] || contexts $DEBUG/alloc_tags.ctx
}

test_contexts_in_proc()
{
	eq mode "$(stat -c '%a %u' /proc/alloc_tags.ctx)" "600 0"
	row /proc/alloc_tags.ctx
	[ $COLUMN = confidentiality ] || contexts /proc/alloc_tags.ctx
}

# latency FILE: times a sleep, and resets
latency()
{
	echo enable > "$1" || fail "cannot enable"
	sleep 1 &
	wait $!
	echo disable > "$1" || fail "cannot disable"
	grep -q "^  count: " "$1" || fail "no event in $1: $(head -3 "$1")"
	echo reset > "$1" || fail "cannot reset"
}

test_time_stats_in_debugfs()
{
	row $DEBUG/time_stats
	[ $COLUMN != none ] || latency $DEBUG/time_stats
}

test_time_stats_in_proc()
{
	eq mode "$(stat -c '%a %u' /proc/time_stats)" "600 0"
	row /proc/time_stats
	latency /proc/time_stats
}

test_faults()
{
	row $DEBUG/dynamic_faults
	row /proc/self/fail-nth
	row /proc/self/make-it-fail
}

test_kmemtrace_records()
{
	# the file appears with the first recording
	echo 1 > $PKT/enabled || fail "cannot start"
	echo 0 > $PKT/enabled || fail "cannot stop"
	row $KT/cpu0
}

test_kmemtrace_counts()
{
	for f in abi_version total_overruns stats tags; do
		row $KT/$f
		[ -n "$(cat $KT/$f)" ] || fail "$f is empty"
	done
}

test_kmemtrace_control_in_debugfs()
{
	for f in enabled features subbufs; do
		row $KT/$f
	done
}

test_kmemtrace_control_in_proc()
{
	for f in enabled features subbufs; do
		eq "mode of $f" "$(stat -c '%a %u' $PKT/$f)" "600 0"
		row $PKT/$f
	done
	eq enabled "$(cat $PKT/enabled)" 0
	eq features "$(cat $PKT/features)" "[time] [pid] [tag]"
	echo pid > $PKT/features || fail "cannot choose features"
	eq features "$(cat $PKT/features)" "time [pid] tag"
	echo all > $PKT/features || fail "cannot choose all features"
	was=$(cat $PKT/subbufs)
	echo 7 > $PKT/subbufs || fail "cannot set subbufs"
	eq subbufs "$(cat $PKT/subbufs)" 7
	echo "$was" > $PKT/subbufs
	! echo 0 > $PKT/subbufs 2>/dev/null || fail "took no sub-buffers"
	! echo 3 > $PKT/enabled 2>/dev/null || fail "took 3"
	echo 1 > $PKT/enabled || fail "cannot start"
	eq enabled "$(cat $PKT/enabled)" 1
	echo 0 > $PKT/enabled || fail "cannot stop"
	# until the file is closed
	exec 4> $PKT/enabled
	echo 2 >&4 || fail "cannot hold"
	eq held "$(cat $PKT/enabled)" 1
	exec 4>&-
	eq closed "$(cat $PKT/enabled)" 0
}

# As in a container, where root has no CAP_PERFMON: the files in /proc refuse, and debugfs,
# which a container does not have, does not care.
test_root_of_a_container()
{
	for f in /proc/alloc_tags.ctx /proc/time_stats $PKT/enabled $PKT/features $PKT/subbufs; do
		for how in "<" ">>"; do
			! /qt/bin/uncapable sh -c ": $how $f" 2> /tmp/err || fail "$how $f"
			grep -q "Operation not permitted" /tmp/err || fail "$f: $(cat /tmp/err)"
		done
	done
	for f in /proc/alloc_tags.ctx /proc/time_stats $PKT/enabled $PKT/features $PKT/subbufs; do
		! su nobody -s /bin/sh -c ": < $f" 2> /tmp/err || fail "user nobody may open $f"
		grep -q "Permission denied" /tmp/err || fail "$f: $(cat /tmp/err)"
	done
	if [ -e $NODES ]; then
		! /qt/bin/uncapable cat $NODES > /dev/null 2> /tmp/err || fail $NODES
		grep -q "Operation not permitted" /tmp/err || fail "$NODES: $(cat /tmp/err)"
	fi
	[ $COLUMN != none ] || /qt/bin/uncapable cat $DEBUG/time_stats > /dev/null || fail debugfs
	/qt/bin/uncapable cat $INFO > /dev/null || fail "$INFO"
}

test_kmemtraced()
{
	mount_disk
	kmemtraced --quiet --output /mnt/trace --seconds 1 2> /tmp/said
	code=$?
	if [ $COLUMN = confidentiality ]; then
		eq "exit code" $code 1
		grep -q "lockdown=confidentiality forbids tracing" /tmp/said || fail "$(cat /tmp/said)"
		eq "recording after it failed" "$(cat $PKT/enabled)" 0
		return
	fi
	eq "exit code, $(cat /tmp/said)" $code 0
	kmemtrace_check --all /mnt/trace > /tmp/check || fail "kmemtrace_check: $(tail -3 /tmp/check)"
}

test_kmon()
{
	row $DEBUG/kmon/tags
	row /dev/kmon
	kmonlog -o /tmp/log -t 1 2> /tmp/said
	code=$?
	if [ $COLUMN = confidentiality ]; then
		eq "exit code" $code 1
		grep -q lockdown /tmp/said || fail "$(cat /tmp/said)"
		return
	fi
	eq "exit code, $(cat /tmp/said)" $code 0
	kmonparse /tmp/log > /tmp/parsed || fail "kmonparse: $?"
	[ -s /tmp/parsed ] || fail "empty log"
}

test_kmon_parameters()
{
	for f in ring_size flush_hz; do
		row $PARAMETERS/$f
		was=$(cat $PARAMETERS/$f)
		echo $((was / 2)) > $PARAMETERS/$f || fail "cannot set $f"
		eq "$f" "$(cat $PARAMETERS/$f)" $((was / 2))
		echo "$was" > $PARAMETERS/$f || fail "cannot restore $f"
	done
}

# files: prints the files in folders of ours, and other files with a name of ours.
files()
{
	for f in /proc/alloc* /proc/kmemtrace/* /proc/time_stats* /proc/sys/vm/*mem_profiling* $DEBUG/alloc_tag* \
		 $DEBUG/alloc_tag/* $DEBUG/dynamic_faults* $DEBUG/time_stats* $KT/* $DEBUG/kmon* \
		 $DEBUG/kmon/* /dev/kmon* $PARAMETERS/* /proc/self/fail-nth /proc/self/make-it-fail; do
		case $f in
		$KT/cpu[1-9]) continue ;;
		esac
		[ -f "$f" ] || [ -c "$f" ] || continue
		echo "$f"
	done
}

# Under confidentiality, no file that root can read shows an address of the kernel.
test_confidentiality_shows_no_address()
{
	[ $COLUMN = confidentiality ] || skip "the mode is $COLUMN"
	case $(uname -m) in
	i?86) addresses='\b(0x)?[c-f][0-9a-f]{7}\b' ;;
	*) addresses='ffff[0-9a-f]{12}' ;;
	esac
	grep -q -E "$addresses" /proc/kallsyms || fail "no address in /proc/kallsyms matches $addresses"
	echo enable > /proc/time_stats
	echo 1 > $PKT/enabled
	sleep 1 &
	wait $!
	echo 0 > $PKT/enabled
	echo disable > /proc/time_stats
	read_files=0
	for f in $(files); do
		got=$(opens "$f") || fail "$got"
		case $got in
		*r*) ;;
		*) continue ;;
		esac
		cat "$f" > /tmp/text || fail "cannot read $f"
		! grep -E "$addresses" /tmp/text || fail "$f shows addresses"
		read_files=$((read_files + 1))
	done
	[ $read_files -gt 10 ] || fail "only $read_files files"
}

test_every_file_has_a_row()
{
	for f in $(files); do
		got=$(cell "$f" none) || fail "$got"
	done
}

test_every_row_was_tested()
{
	! debug_kernel || name $MP >> /tmp/rows	# see test_sysctl
	[ -e $NODES ] || name $NODES >> /tmp/rows
	[ -e $DEBUG/alloc_tag/pages ] ||
		for f in pages slabs conservation; do name $DEBUG/alloc_tag/$f; done >> /tmp/rows
	sed -n 's|^\(``[^`]*``\( in debugfs\)*\)  .*|\1|p' $TABLE > /tmp/table
	[ "$(wc -l < /tmp/table)" -gt 20 ] || fail "few rows: $(cat /tmp/table)"
	rest=$(grep -vxFf /tmp/rows /tmp/table)
	eq "rows that no case tested" "$rest" ""
}

run_tests
