# SPDX-License-Identifier: GPL-2.0-only
#
# More than 2 GiB of high memory on one line, on a machine of 32 bit: to the byte in
# the text, in the records and in the report on a lack of memory. And the parts of two
# CPUs, one of which allocates what the other frees, pass 4 GiB.
#
# append: sysctl.vm.mem_profiling=1
# disk: 32M
# memory: 4G
# timeout: 300

. /qt/lib.sh

BIG=/tmp/big
DISK=/mnt		# what the test writes itself would be on the line of tmpfs
FILES='1 2 3 4'
EACH=$((650 << 20))
ALL=$((4 * EACH))
LINE_OF='mm/shmem.c:[0-9]+ func:shmem_alloc_folio'

# held BYTES: what the line of tmpfs has is that much more than in the beginning
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
	# all but the blank at its end
	eq "first row" "$(head -n 1 $DISK/report)" "$(sed 's/ $//' $DISK/row)"
}

test_freed_on_the_other_cpu()
{
	empty
	held "nothing" 0
	# what CPU 0 has added, and CPU 1 taken off, is more than 4 GiB each
	fill
	held "again" "$ALL"
	empty
	held "nothing again" 0
	umount $BIG
	umount $DISK
}

run_tests
