#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of one module that has the files of ctag_cmd.h.  Source it after lib.sh; COVER
# is the name of the module.

DIR=/sys/kernel/debug/$COVER
# shellcheck disable=SC2034 # the tests use it
FAULTS=/sys/kernel/debug/dynamic_faults

# cover_fresh: loads the module anew, with nothing allocated
cover_fresh()
{
	[ ! -d "$DIR" ] || rmmod "$COVER" || fail "rmmod $COVER"
	insmod "/modules/$COVER.ko" || fail "insmod $COVER"
}

# cover COMMAND: gives the module a command
cover()
{
	echo "$1" > "$DIR/cmd" || fail "$COVER refused: $1"
}

# cover_unload: unloads the module, whose lines must hold nothing
cover_unload()
{
	rmmod "$COVER" || fail "rmmod $COVER"
	left=$(tags | grep -F "[$COVER]")
	[ -z "$left" ] || fail "left of $COVER: $(echo "$left" | head -1)"
}

# on_cpu N: moves this shell to CPU N
on_cpu()
{
	read -r self _ < /proc/self/stat
	taskset -p $((1 << $1)) "$self" > /dev/null || fail "taskset"
}

# For ctag_cover_slab:

# as_table WHEN: the module's live objects are what its lines show
as_table()
{
	# shellcheck disable=SC2016 # awk code
	check_rows "$COVER" "$DIR/table" '
	{
		k = "ctag_cover_slab.c:" $3 " func:" $4
		live += $5
		if (bytes[k] + 0 != $6 || calls[k] + 0 != $5)
			differs(k, $6, $5)
	}
	END { print "# " n / 2 " caches, " live " objects" }' || fail "$1"
}

# For modules that use ctag_cover.h:

# cover_want N: makes every site hold N objects; each line must hold exactly these
cover_want()
{
	cover "$1"
	# shellcheck disable=SC2016 # awk code
	check_rows "$COVER" "$DIR/table" '
	{
		k = module ".c:" $2 " func:" $3
		want = 0
		for (i = 6; i < NF; i += 2)
			want += $i * ($(i + 1) == "bytes" ? 1 : size[$(i + 1)])
		if ($5 == "atleast" ? bytes[k] < want || calls[k] < $4 || (!want && bytes[k]) :
				      bytes[k] != want || calls[k] != $4)
			differs(k, want, $4)
	}' || fail "$1 of each"
}

# Several numbers, up and down, so that each way of freeing runs at least twice.
cover_all()
{
	cover_fresh
	for n in 1 20 5 64 0 40 0; do
		cover_want $n
	done
	cover_unload
}
