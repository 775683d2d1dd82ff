# SPDX-License-Identifier: GPL-2.0-only
#
# `make demo` runs this in the guest.  Lines that begin with "== " are headings.

. /qt/lib.sh

say()
{
	echo "   $*"
}

start()
{
	rm -f /tmp/.ready
	/qt/bin/load "$1" "$2" /tmp/.ready &
	LOAD=$!
	until [ -e /tmp/.ready ]; do usleep 20000; done
}

echo "== $(uname -sr), $(nproc) CPUs, $(awk '/MemTotal/ { printf "%d", $2 / 1024 }' /proc/meminfo) MiB, vm.mem_profiling=$(cat $MP)"
echo
echo "== A workload"
say "ext4 on a virtio disk: 60 MiB in 240 files"
mount_disk
i=0
while [ $i -lt 240 ]; do
	mkdir -p /mnt/$((i % 12))
	dd if=/dev/zero of=/mnt/$((i % 12))/$i bs=256k count=1 2>/dev/null
	i=$((i + 1))
done
sync
say "TCP over loopback: 400 connections, unread data in each"
loopback_up
start sockets 400
say "200 processes, 100 threads, 32 MiB of anonymous memory"
start forks 200
start threads 100
start anon 32

echo
echo "== The 15 lines of the kernel that hold most memory: alloctop -1"
echo
alloctop -1 -n 15 || fail "alloctop: exit code $?"

# row TEXT WANT: the line must hold that many bytes, or with "more" more than in the last row.
# This function must not create a pipe, because pipes are counted.
row()
{
	last=$bytes
	awk '$3 ~ /^fs\/pipe\.c/ && /alloc_pipe_info/ { b += $1 }
	     END { printf "%d\n", b }' $INFO > /tmp/bytes
	read -r bytes < /tmp/bytes
	read -r value < $MP
	printf '   %16s   %-46s %8d bytes\n' "$value" "$1" "$bytes"
	case $2 in
	more) [ "$bytes" -gt "$last" ] ;;
	*) [ "$bytes" = "$2" ] ;;
	esac || fail "$1: $bytes bytes, want $2"
}

echo
echo "== Switched off and on at run time: the memory of alloc_pipe_info() in fs/pipe.c"
echo
echo "   vm.mem_profiling"
bytes=0
row "before" 0
start pipes 500
first=$LOAD
row "500 pipes opened" more
opened=$bytes
echo 0 > $MP
start pipes 500
second=$LOAD
row "500 more: not counted" "$opened"
kill -9 $first
wait $first 2>/dev/null
row "the first 500 closed: still released" 0
echo 1 > $MP
start pipes 500
row "500 more: counted again" "$opened"
kill -9 $second $LOAD
wait $second $LOAD 2>/dev/null
row "all closed" 0
