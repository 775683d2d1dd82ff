#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of the modules that are made with ctag_cover.h; to be sourced after
# lib.sh.

# cover_load MODULE: $COVER is its name from now on
cover_load()
{
	COVER=$1
	insmod "/modules/$COVER.ko" || fail "insmod $COVER"
}

# cover_unload: nothing may be left on its lines
cover_unload()
{
	rmmod "$COVER" || fail "rmmod $COVER"
	left=$(tags | grep -F "[$COVER]")
	[ -z "$left" ] || fail "left of $COVER: $(echo "$left" | head -1)"
}

# cover_want N: objects at every site, and each site's line holds exactly those
cover_want()
{
	echo "$1" > "/sys/kernel/debug/$COVER/cmd" || fail "$COVER refused: $1"
	for f in /sys/kernel/slab/*; do
		echo "${f##*/} $(cat "$f/slab_size")"
	done > /tmp/slab_sizes
	cat "/sys/kernel/debug/$COVER/table" > /tmp/table
	tags > /tmp/info
	awk '
	FILENAME == "/tmp/slab_sizes" { size[$1] = $2; next }
	FILENAME == "/tmp/info" {
		if ($4 == "[" module "]") {
			k = $3 " " $5
			bytes[k] += $1; calls[k] += $2
		}
		next
	}
	{
		k = module ".c:" $2 " func:" $3
		want = 0
		for (i = 6; i < NF; i += 2)
			want += $i * ($(i + 1) == "bytes" ? 1 : size[$(i + 1)])
		n++
		if ($5 == "atleast" ? bytes[k] < want || calls[k] < $4 || (!want && bytes[k]) :
				      bytes[k] != want || calls[k] != $4) {
			print "# " $1 ": " bytes[k] + 0 " bytes " calls[k] + 0 " calls, want " want " and " $4
			bad++
		}
	}
	END { if (!n) print "# no table"; exit bad || !n }
	' module="$COVER" /tmp/slab_sizes /tmp/info /tmp/table || fail "$1 of each"
}

# The same, up and down; each way of freeing comes at least twice.
cover_all()
{
	cover_load "$1"
	for n in 1 20 5 64 0 40 0; do
		cover_want $n
	done
	cover_unload
}
