#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kmemtrace/: modes, refused values, and a short recording. The recording discards earlier
# records that were not read, so the test is skipped while recording is on.

. ./lib.sh

KT=kmemtrace

needs $KT/enabled CONFIG_KMEMTRACE
[ "$(cat "$(file "$KT/enabled")")" = 0 ] || skip_all "recording is on"
FEATURES=$(tr -d '[]' < "$(file "$KT/features")")
CHOSEN=$(tr ' ' '\n' < "$(file "$KT/features")" | sed -n 's/^\[\(.*\)\]$/\1/p' | tr '\n' ' ')
SUBBUFS=$(cat "$(file "$KT/subbufs")")

# Restore the settings. Writing "subbufs" also drops the records of this test.
restore()
{
	echo 0 > "$(file "$KT/enabled")"
	echo "${CHOSEN:-none}" > "$(file "$KT/features")"
	echo "$SUBBUFS" > "$(file "$KT/subbufs")"
	rm -rf "$WORK"
}
trap restore EXIT

# events: print the number of events recorded on all CPUs
events()
{
	awk '!/^#/ { n += $2 } END { print n + 0 }' "$(file "$KT/stats")"
}

test_modes()
{
	for file in abi_version total_overruns stats tags; do
		mode $KT/$file 400
	done
	for file in enabled features subbufs; do
		mode $KT/$file 600
	done
}

test_forms()
{
	grep -qxE '[0-9]+' "$(file "$KT/abi_version")" || fail abi_version
	grep -qxE '[0-9]+' "$(file "$KT/total_overruns")" || fail total_overruns
	head -1 "$(file "$KT/stats")" | grep -q '^# cpu events bytes lost_events' ||
		fail "heading of stats"
	! grep -v '^#' "$(file "$KT/stats")" | grep -vqxE '([0-9]+ ){6}[0-9]+' || fail stats
	! grep -vqE '^[0-9]+ [^ ]+:[0-9]+( \[[A-Za-z0-9_]+\])? func:[A-Za-z0-9_.]+$' \
		"$(file "$KT/tags")" ||
		fail tags
	eq features "$FEATURES" "time pid tag"
}

test_refuses_what_it_does_not_know()
{
	for value in 3 -1 x ""; do
		refuses $KT/enabled "$value"
	done
	for value in no_such_feature "time no_such_feature" "TIME"; do
		refuses $KT/features "$value"
	done
	for value in 0 -1 x; do
		refuses $KT/subbufs "$value"
	done
	refuses $KT/subbufs 4294967295 "Cannot allocate memory"
}

test_features()
{
	write $KT/features none
	eq none "$(cat "$(file "$KT/features")")" "time pid tag"
	write $KT/features "time pid"
	eq two "$(cat "$(file "$KT/features")")" "[time] [pid] tag"
	write $KT/features time,pid
	eq "with a comma" "$(cat "$(file "$KT/features")")" "[time] [pid] tag"
	write $KT/features none
}

test_changes_nothing_while_recording()
{
	write $KT/subbufs 4
	write $KT/enabled 1
	refuses $KT/features time "busy"
	refuses $KT/subbufs 8 "busy"
	write $KT/enabled 0
	write $KT/subbufs "$SUBBUFS"
}

# The sizes of the records of each CPU must add up, and all ids must be known.
test_records()
{
	write $KT/features none
	write $KT/subbufs 4
	had=$(events)
	write $KT/enabled 1
	: | : | :
	write $KT/enabled 0
	now=$(events)
	[ "$now" -gt "$had" ] || fail "no event"
	found=0
	for cpu in "$DEBUGFS/$KT"/cpu*; do
		# 16-bit words, in any byte order: the first has the two ids, the second the size.
		head -c 1100000 "$cpu" | od -A n -t u2 -v -w8 > "$WORK/words"
		records=$(awk '
		left <= 0 { left = $2
			    if ($1 % 256 > 2 || $1 > 767 || left < 24 || left % 8) exit bad = 1
			    n++ }
		{ left -= 8 }
		END { if (bad || left > 0) exit 1; print n + 0 }' "$WORK/words") ||
			fail "not records: $cpu"
		found=$((found + records))
	done
	[ "$found" -gt 0 ] || fail "no record of $((now - had)) events"
	[ "$found" -le $((now - had)) ] || fail "$found records of $((now - had)) events"
	write $KT/subbufs "$SUBBUFS"
}

run_cases
