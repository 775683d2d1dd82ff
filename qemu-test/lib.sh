# SPDX-License-Identifier: GPL-2.0-only
#
# What every guest test sources: results in KTAP, and the few things most of
# them do.  A case is a function named test_*; run_tests finds them in the
# script by name, runs each in a subshell, in order, and so knows the plan
# before the first runs.  State that one case leaves to the next goes through
# files in /tmp.
#
# In a case: `fail WHY` and `skip WHY` end it, `note WHAT` explains.  Reaching
# its end is success, whatever the last command returned.

MP=/proc/sys/vm/mem_profiling
INFO=/proc/allocinfo

note()
{
	echo "# $*"
}

fail()
{
	echo "# $*"
	exit 1
}

skip()
{
	echo "$*" > /tmp/.skip
	exit 4
}

run_tests()
{
	script=$0
	cases=$(sed -n 's/^\(test_[A-Za-z0-9_]*\)()$/\1/p' "$script")
	echo "KTAP version 1"
	echo "1..$(echo "$cases" | wc -w)"
	number=0
	failed=0
	for case in $cases; do
		number=$((number + 1))
		rm -f /tmp/.skip
		echo "qt: $case" > /dev/kmsg
		( $case; exit 0 )
		case $? in
		0) echo "ok $number ${case#test_}" ;;
		4) echo "ok $number ${case#test_} # SKIP $(cat /tmp/.skip)" ;;
		*) echo "not ok $number ${case#test_}"; failed=1 ;;
		esac
	done
	exit $failed
}

# eq WHAT GOT WANT
eq()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# The tag lines of /proc/allocinfo without the two header lines.
tags()
{
	sed 1,2d $INFO
}

# "bytes calls" of the lines that match an awk pattern, summed.
sum_tags()
{
	tags | awk -v p="$1" '$0 ~ p { b += $1; c += $2 } END { print b + 0, c + 0 }'
}

profiling()
{
	echo "$1" > $MP || fail "cannot write $1 to $MP"
}

# The disk the test declared, mounted on /mnt.
mount_disk()
{
	mount -t ext4 "${1:-/dev/vda}" "${2:-/mnt}" || fail "cannot mount ${1:-/dev/vda}"
}

loopback_up()
{
	ip link set lo up
}

# Gives back what the kernel keeps only because nobody asked for it.
settle()
{
	sync
	echo 3 > /proc/sys/vm/drop_caches
	echo 1 > /proc/sys/vm/compact_memory 2>/dev/null
	for f in /sys/kernel/slab/*/shrink; do
		[ -L "${f%/shrink}" ] || echo 1 > "$f"
	done 2>/dev/null
	sleep "${1:-1}"
	echo 3 > /proc/sys/vm/drop_caches
}

# settled copy of all tags, "where bytes calls", one line a tag, sorted
snapshot()
{
	tags | awk '{ b = $1; c = $2; $1 = $2 = ""; sub(/^ */, ""); sub(/ *$/, "");
		      B[$0] += b; C[$0] += c }
		    END { for (t in B) print t "\t" B[t] "\t" C[t] }' | sort
}
