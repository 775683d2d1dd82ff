#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-alloctop.sh [DIR]: test alloctop, which is in DIR: one table, the balance, options,
# and what is wrong with a machine. test-alloctop.py presses the keys in a terminal.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "$0")/test-lib.sh"
cd "$tmp" || exit
top=$bin/alloctop
page=$(getconf PAGESIZE)

machine() {
	make_proc "$1" <<-'END'
		62914560 15360 mm/filemap.c:1995 func:__filemap_get_folio
		24117248 3625 mm/slub.c:1799 func:alloc_slab_page
		6396312 61576 fs/buffer.c:2905 func:alloc_buffer_head
		5783552 353 kernel/fork.c:367 func:alloc_thread_stack_node
		1048576 256 mm/percpu-vm.c:95 func:pcpu_alloc_pages
		970752 237 drivers/net/ethernet/intel/e1000/e1000_main.c:1423 [e1000] func:e1000_setup_all_tx_resources
		4096 1 fs/ext4/super.c:10 [ext4] func:ext4_a new:1
		2048 1 fs/ext4/super.c:20 [ext4] func:ext4_b accurate:no
		0 0 fs/ext4/super.c:30 [ext4] func:ext4_c
	END
	echo "100.50 200.00" >"$1/uptime"
}

# json EXPRESSION: evaluate it for the JSON d of the last run
json() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); b = d["balance"]; r = d["rows"]
print(eval(sys.argv[2]))' "$tmp/out" "$1"
}

# rows ARG...: the names of the rows, the part before the first blank or colon
rows() {
	expect "rows $*" 0 "$top" -1 --proc m "$@"
	sed '1,/^$/d' "$tmp/out" | sed 1d | awk '{ sub(/:.*/, "", $4); sub(/.*\//, "", $4); printf "%s ", $4 }'
}

machine m

# One table: the widths, the order, the sums

expect "a table" 0 "$top" --proc m
is "no line is longer than 80 columns" "$(awk 'length > 80' "$tmp/out")" ""
says "a table" "   60M    15360   4.0K mm/filemap.c:1995 __filemap_get_folio"
says "the end of a long name" "  948K      237   4.0K ../e1000_main.c:1423 e1000_setup_all_tx_resources [e1000]"
says "a shared counter" "fs/ext4/super.c:20 ext4_b [ext4] (shared)"
not_says "an empty row" ext4_c
expect "a wide table" 0 "$top" --proc m -w 0
says "a wide table" "drivers/net/ethernet/intel/e1000/e1000_main.c:1423 e1000_setup_all_tx_resources [e1000]"
expect "a narrow table" 0 "$top" --proc m --width 40
is "no line is longer than 40 columns" "$(awk 'length > 40' "$tmp/out")" ""
says "a narrow table" "   60M "
is "by size" "$(rows)" "filemap.c slub.c buffer.c fork.c percpu-vm.c e1000_main.c super.c super.c "
for key in bytes s; do
	is "sort $key" "$(rows -s $key)" "$(rows)"
done
for key in calls c; do
	is "sort $key" "$(rows -s $key)" "buffer.c filemap.c slub.c fork.c percpu-vm.c e1000_main.c super.c super.c "
done
for key in average a; do
	is "sort $key" "$(rows -s $key -n 3)" "fork.c slub.c filemap.c "
done
for key in name t; do
	is "sort $key" "$(rows -s $key -n 3 -w 0)" "e1000_main.c buffer.c super.c "
done
is "three rows" "$(rows --lines 3)" "filemap.c slub.c buffer.c "
is "all rows" "$(rows -n 0 -m 0 | wc -w)" 9
is "a minimum" "$(rows --min 5m)" "filemap.c slub.c buffer.c fork.c "
is "a minimum in bytes" "$(rows -m 5783553)" "filemap.c slub.c buffer.c "
is "a filter" "$(rows file 'fs/*' module ext4)" "super.c super.c "
is "a filter by line" "$(rows file super.c:20)" "super.c "
expect "all words of a filter" 0 "$top" -1 --proc m -w 0 file 'fs/*' func 'ext4_?'
says "all words of a filter" "[file fs/* func ext4_?]"
expect "all words of a filter" 0 "$top" --proc m --json file 'fs/*' func 'ext4_?'
is "all words of a filter in JSON" "$(json 'd["filter"]')" "file fs/* func ext4_?"
expect "by module" 0 "$top" --proc m -b module
says "by module" "(built-in)"
says "a sum" "  6.0K        2   3.0K ext4 (shared)"
expect "by directory" 0 "$top" --proc m --by dir
says "by directory" "   84M    19241   4.5K mm"
expect "a tree" 0 "$top" --proc m --tree
says "a tree" "        super.c:10"
expect "bytes" 0 "$top" --proc m --bytes
says "bytes" "      62914560      15360       4096 mm/filemap.c:1995 __filemap_get_folio"
for once in -1 -o --once; do
	expect "$once" 0 "$top" $once --proc m -n 1
	says "$once" "mm/filemap.c:1995"
done
# a command line of Android's alloctop
for key in s c t; do
	expect "Android's options, $key" 0 "$top" -o -n 2 -m 5m -s $key --tree --proc m
	expect "Android's long options, $key" 0 "$top" --once --lines 2 --min 5242880 --sort $key -t --proc m
done

# The balance, in bytes: each of its sums, from files that say what it must be

kib() {
	printf '%s: %s kB\n' "$@" >m/meminfo
}
kib MemTotal 500000 MemFree 300000 Cached 70000 AnonPages 1000 KernelStack 5648 PageTables 100 Percpu 2048
cat >m/zoneinfo <<'END'
Node 0, zone    DMA32
  pages free     70000
        present  131072
        managed  125000
    cpu: 0
              count: 120
    cpu: 1
              count: 80
END
cat >m/slabinfo <<'END'
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables ...
buffer_head  61576 61620 104 39 1 : tunables 0 0 0 : slabdata 1580 1580 0
kmalloc-1k    4000  4096 1024 16 4 : tunables 0 0 0 : slabdata 1000 1000 0
END
table=$((62914560 + 24117248 + 6396312 + 5783552 + 1048576 + 970752 + 4096 + 2048))
objects=$((61576 * 104 + 4000 * 1024))
slabs=$(((1580 + 4000) * page))
# the table has a part of the slabs only if they are smaller than those of slabinfo
[ $slabs -le 24117248 ] || objects=$(python3 -c "print(int(float($objects) * 24117248 / $slabs))")
expect "JSON" 0 "$top" --proc m --json
is "the table" "$(json 'b["table"]')" $table
is "the table is the sum of the rows" "$(json 'sum(row["bytes"] for row in r)')" $table
is "objects in slabs" "$(json 'b["slab_objects"]')" $objects
is "pages on lines" "$(json 'b["sites"]')" $((table - objects - 1048576))
is "free on lists of CPUs" "$(json 'b["cpu_lists"]')" $((200 * page))
is "on no line" "$(json 'b["on_no_line"]')" $((200000 * 1024 - 200 * page - table + objects + 1048576))
is "the sums add up" "$(json 'b["total"] - b["free"] - b["cpu_lists"] - b["sites"] - b["on_no_line"]')" 0
is "total" "$(json 'b["total"]')" 512000000
is "margin" "$(json 'b["margin"]')" $((2048 * 1024))
is "what boot kept" "$(json 'b["reserved"]')" $((6072 * page))
is "user memory on no line" "$(json 'b["parts"]["user"]["missing"]')" $((71000 * 1024 - 62914560))
is "stacks: all on a line" "$(json 'b["parts"]["stacks"]["missing"]')" 0
is "page tables on no line" "$(json 'b["parts"]["tables"]["missing"]')" 102400
is "slabs of the kernel" "$(json 'b["parts"]["slabs"]["kernel"]')" $slabs

expect "the header" 0 "$top" --proc m -w 0 -B
says "the header" "MemTotal 512000000 = free 307200000 + CPU lists $((200 * page)) + call sites $((table - objects - 1048576)) + on no line"

rm m/slabinfo m/zoneinfo
expect "no slabinfo" 0 "$top" --proc m --json
is "slabs count as full" "$(json 'b["slab_objects"], b["slabinfo"]')" "(24117248, False)"
is "the margin is as large as that" "$(json 'b["margin"]')" $((24117248 + 2048 * 1024))
is "lists are unknown" "$(json 'b["cpu_lists"], b["reserved"]')" "(None, None)"
is "the sums add up" "$(json 'b["total"] - b["free"] - b["sites"] - b["on_no_line"]')" 0
expect "the header" 0 "$top" --proc m
says "unknown lists" "CPU lists ?"

# Figures that contradict each other are shown, not hidden.
kib MemTotal 100000 MemFree 90000
expect "more on lines than there is" 0 "$top" --proc m --json
is "on no line" "$(json 'b["on_no_line"]')" $((10000 * 1024 - table + 24117248 + 1048576))
expect "more on lines than there is" 0 "$top" --proc m
says "more on lines than there is" "on no line -"
rm m/meminfo
expect "no meminfo" 0 "$top" --proc m
says "no meminfo" "MemTotal is unknown"
expect "no meminfo" 0 "$top" --proc m --json
is "no balance" "$(json 'b')" None
for bad in '' 'MemTotal' 'MemTotal:' 'MemTotal: x kB' $'MemTotal: 99999999999999999999999 kB\nMemFree: 1 kB'; do
	printf '%s' "$bad" >m/meminfo
	printf '%s' "$bad" >m/slabinfo
	printf '  count: %s\n  present 99999999999999999999' "$bad" >m/zoneinfo
	expect "odd files: $bad" 0 "$top" --proc m
done
rm m/slabinfo m/zoneinfo

# Names of call sites of other kernels, and of kernels that were built elsewhere
make_proc other <<'END'
4096 1 ../mm/slub.c:3345 func:alloc_slab_page
8192 1 ./mm/slab.c:1371 func:kmem_getpages
16384 1 kernel/fork.c:418 func:alloc_thread_stack_node
32768 1 mm/memory.c:443 func:__pte_alloc
65536 1 mm/memory.c:1234 func:folio_prealloc
131072 1 mm/hugetlb.c:5 func:alloc_buddy
262144 1 mm/slub.c:9 [fake] func:alloc_slab_page
END
expect "names of other kernels" 0 "$top" --proc other --json
is "names of other kernels" "$(json '[b["parts"][p]["sites"] for p in ("slabs", "stacks", "tables", "user", "huge")]')" \
	"[12288, 16384, 32768, 65536, 131072]"

# JSON of hostile names is JSON
printf 'allocinfo - version: 2.0\n#\n 5 1 a"\\\x01\xff/b.c:1 [m\x1b] func:f\xc3\xa9\n' >other/allocinfo
expect "hostile names" 0 "$top" --proc other --json
is "hostile names" "$(json 'ascii((r[0]["file"], r[0]["module"], r[0]["func"]))')" \
	"('a\"\\\\??/b.c', 'm?', 'f\\xe9')"
expect "hostile names" 0 "$top" --proc other
is "no control characters" "$(tr -d '[:print:]\n' <"$tmp/out" | tr -d '\303\251' | wc -c)" 0

# Version 1.0, and a newer one

machine m
sed -i '1s/2.0/1.0/' m/allocinfo
expect "version 1.0" 0 "$top" --proc m
sed -i '1s/1.0/9.0/' m/allocinfo
expect "version 9.0" 0 "$top" --proc m
says "version 9.0" "newer than this program"

# What is wrong with a machine

expect "no such folder" 1 "$top" --proc none
says "no such folder" CONFIG_MEM_ALLOC_PROFILING
mkdir -p never/sys/vm
echo 0 >never/sys/vm/mem_profiling
expect "never, as in mainline" 1 "$top" --proc never
says "never" "sysctl.vm.mem_profiling=1"
table </dev/null >never/allocinfo
expect "never, as here" 1 "$top" --proc never --json
says "never" "sysctl.vm.mem_profiling=1"
machine off
mkdir -p off/sys/vm
echo 0 >off/sys/vm/mem_profiling
expect "profiling is off" 2 "$top" --proc off
says "profiling is off" "profiling OFF"
says "profiling is off" "sysctl vm.mem_profiling=1"
says "the table, all the same" "mm/filemap.c:1995"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	machine denied
	chmod 0400 denied/allocinfo
	chmod 0755 "$tmp" denied
	expect "no permission" 1 setpriv --reuid 65534 --clear-groups env ASAN_OPTIONS=detect_leaks=0 "$top" --proc "$tmp/denied"
	says "no permission" "run this program with sudo"
fi
mkdir -p folder/allocinfo
expect "not a file" 1 "$top" --proc folder
says "not a file" "cannot read folder/allocinfo"
mkdir -p text
echo "not a table" >text/allocinfo
expect "not a table" 1 "$top" --proc text
echo "5 x nonsense" >>m/allocinfo
sed -i '1s/9.0/2.0/' m/allocinfo
expect "a damaged line" 2 "$top" --proc m
says "a damaged line" "1 damaged lines"
expect "a damaged line" 2 "$top" --proc m --json
expect "a full disk" 3 sh -c '"$1" --proc off >/dev/full' - "$top"
says "a full disk" "No space left"
expect "a full disk" 3 sh -c '"$1" --proc off --json >/dev/full' - "$top"
expect "--help on a full disk" 3 sh -c '"$1" --help >/dev/full' - "$top"

# Wrong options

wrong() {
	expect "wrong options: $*" 64 "$top" --proc off "$@"
	says "wrong options: $*" "see --help"
}
wrong --no-such
wrong -Z
wrong -n x
wrong -n -1
wrong -n 99999999999
wrong -n
wrong -m 1x
wrong -m ''
wrong --min 99999999999999999999
wrong -s nonsense
wrong -s growth
wrong -1 -s m
wrong --json --sort rate
wrong -b line
wrong -d 0
wrong -d 2d
wrong -d 1x
wrong --delay ''
wrong -w 39
wrong -w 4001
wrong -w x
wrong file
wrong color blue
wrong file a file b
wrong line 5-3
wrong --proc

# The keys, in terminals

python=
for candidate in python3 /usr/bin/python3; do
	"$candidate" -c 'import pyte' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ] || ! command -v tmux >/dev/null; then
	skip "the keys: needs tmux and python3-pyte"
else
	got=0
	timeout 900 "$python" "$here/test-alloctop.py" "$bin" >"$tmp/out" 2>&1 || got=$?
	grep '^#' "$tmp/out"
	if [ "$got" -eq 0 ]; then pass; else fail "the keys"; grep -E '^(Pyte|Tmux) ' "$tmp/out"; fi
fi

finish
