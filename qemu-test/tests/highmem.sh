# SPDX-License-Identifier: GPL-2.0-only
#
# More than 2 GiB of high memory on one line, on 32 bit: exact to the byte in the text, in
# the records and in the report of show_mem().  And the per-CPU parts pass 4 GiB when one
# CPU frees what the other allocates.
#
# append: sysctl.vm.mem_profiling=1
# disk: 32M
# memory: 4G
# timeout: 300

. /qt/lib.sh

BIG=/tmp/big
DISK=/mnt		# files of the test in /tmp would change the line of tmpfs
FILES='1 2 3 4'
EACH=$((650 << 20))
ALL=$((4 * EACH))
LINE_OF='mm/shmem.c:[0-9]+ func:shmem_alloc_folio'

# held WHEN BYTES: the line of tmpfs holds that much more than at the beginning
held()
{
	read -r bytes calls < $DISK/before
	eq "$1 in the text" "$(sum_tags "$LINE_OF")" "$((bytes + $2)) $((calls + $2 / 4096))"
}

fill()
{
	for f in $FILES; do
		taskset 1 fallocate -l "$EACH" "$BIG/$f" || fail "fallocate"
	done
}

empty()
{
	for f in $FILES; do
		taskset 2 rm "$BIG/$f"
	done
}

test_machine()
{
	eq "machine" "$(uname -m)" i686
	high=$(kilobytes HighTotal)
	[ "${high:-0}" -gt 2600000 ] || fail "high memory: $high kB"
	mount_disk
	mkdir $BIG
	mount -t tmpfs -o size=3g none $BIG || fail "mount"
	fill
	empty
	sum_tags "$LINE_OF" > $DISK/before
	note "without the files: $(cat $DISK/before)"
}

test_file()
{
	fill
	held "2,600 MiB" "$ALL"
	tags | grep -E "$LINE_OF" | sed 's/^/# /'
}

test_records()
{
	/qt/bin/allocinfo32 > $DISK/raw || fail "exit code $?"
	/qt/bin/allocinfo show < $DISK/raw | grep -E "$LINE_OF" > $DISK/records
	tags | grep -E "$LINE_OF" | cmp - $DISK/records || fail "$(cat $DISK/records)"
}

test_show_mem()
{
	dmesg -c > /dev/null
	echo m > /proc/sysrq-trigger
	dmesg -c | sed -n 's/^\[[^]]*\] alloc_tag: \( *[0-9]* *[0-9]* mm\)/\1/p' > $DISK/report
	tags | grep -E "$LINE_OF" > $DISK/row
	# the line without the blank at its end
	eq "first row" "$(head -n 1 $DISK/report)" "$(sed 's/ $//' $DISK/row)"
}

test_freed_on_the_other_cpu()
{
	empty
	held "nothing" 0
	# CPU 0 has added, and CPU 1 has subtracted, more than 4 GiB each
	fill
	held "again" "$ALL"
	empty
	held "nothing again" 0
	umount $BIG
	umount $DISK
}

run_tests
