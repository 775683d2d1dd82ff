#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-report.sh [DIR]: test allocinfo report and check, and that the documents agree with
# the options of each command.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/test-lib.sh"
cd "$tmp" || exit
allocinfo=$bin/allocinfo
lib=$here/../../lib/codetag

table >table <<'END'
8192 2 mm/slub.c:10 func:alloc_slab_page
300 30 fs/ext4/inode.c:20 func:ext4_alloc_inode
500 5 fs/ext4/super.c:30 [ext4] func:ext4_fill_super
64 1 net/core/skbuff.c:40 [wlan] func:build accurate:no
0 0 init/main.c:50 func:start_kernel
100 4 fs/ext4/inode.c:20 func:ext4_alloc_inode
END

# report ARG...: a report about the table
report() {
	"$allocinfo" report "$@" table
}

test_rows() {
	cat >want <<-'END'
		file,line,function,module,bytes,calls,sites,accurate
		mm/slub.c,10,alloc_slab_page,,8192,2,1,yes
		fs/ext4/super.c,30,ext4_fill_super,ext4,500,5,1,yes
		fs/ext4/inode.c,20,ext4_alloc_inode,,400,34,2,yes
		net/core/skbuff.c,40,build,wlan,64,1,1,no
		init/main.c,50,start_kernel,,0,0,1,yes
	END
	report --format csv >have
	same "csv" have want
	is "by file" "$(report --format csv --by file | sed -n 2p)" 'mm/slub.c,8192,2,1,yes'
	is "by directory" "$(report --format csv --by dir | sed -n 3p)" 'fs/ext4,900,39,3,yes'
	is "by function" "$(report --format csv --by func | sed -n 3p)" \
		'ext4_fill_super,fs/ext4/super.c,ext4,500,5,1,yes'
	is "by module" "$(report --format csv --by module | sed -n 3p)" 'ext4,500,5,1,yes'
	is "by calls" "$(report --format csv --sort calls | sed -n 2p)" "$(sed -n 4p want)"
	is "by average" "$(report --format csv --sort average | sed -n 3p)" "$(sed -n 3p want)"
	is "a filter" "$("$allocinfo" report --format csv table module ext4 | tail -n +2)" "$(sed -n 3p want)"
	expect "text" 0 "$allocinfo" report table -n 2
	says "text" '8.9K in 42 allocations'
	says "text" '8.0K          2       4.0K  mm/slub.c:10 func:alloc_slab_page'
	says "text" '464         35             3 more rows'
	expect "plain numbers" 0 "$allocinfo" report --bytes table
	says "plain numbers" '8192          2       4096  mm'
	expect "standard input" 0 "$allocinfo" report - <table
	says "standard input" '8.9K in 42 allocations'
}

# Readers skip words that they do not know, wherever these are; see procfs-allocinfo.
test_unknown_words() {
	table >unknown <<-'END'
		16384 4 fs/a.c:5 node:0 func:foo hits:3
		8192 2 fs/a.c:6 k:1 [mod] func:bar hits:333333
		4096 1 fs/a.c:7 k:1 [mod] node:0 func:baz hits:3 accurate:no x y:2
	END
	cat >want <<-'END'
		file,line,function,module,bytes,calls,sites,accurate
		fs/a.c,5,foo,,16384,4,1,yes
		fs/a.c,6,bar,mod,8192,2,1,yes
		fs/a.c,7,baz,mod,4096,1,1,no
	END
	"$allocinfo" report --format csv unknown >have
	same "unknown words" have want
}

test_json() {
	report --format json >have.json
	expect "json" 0 python3 - <<-'END'
		import json
		d = json.load(open("have.json"))
		assert d["allocinfo_report"] == 1 and d["rows_left_out"] == 0
		assert d["bytes"] == 9156 == sum(r["bytes"] for r in d["rows"])
		assert d["calls"] == 42 == sum(r["calls"] for r in d["rows"])
		assert [r["file"] for r in d["rows"] if not r.get("accurate", True)] == ["net/core/skbuff.c"]
	END
}

test_folded() {
	cat >want <<-'END'
		(built-in);mm;mm/slub.c;alloc_slab_page@10 8192
		ext4;fs/ext4;fs/ext4/super.c;ext4_fill_super@30 500
		(built-in);fs/ext4;fs/ext4/inode.c;ext4_alloc_inode@20 400
		wlan;net/core;net/core/skbuff.c;build@40 64
	END
	report --format folded >have
	same "folded stacks" have want
	is "folded calls" "$(report --format folded --weight calls | awk '{ n += $NF } END { print n }')" 42
}

# A table of this machine, or of --proc, that is cut or damaged
test_live_damage() {
	echo '100 1 a.c:1 func:f' | make_proc live
	printf '        2000        2 b.c:' >>live/allocinfo
	expect "a cut line" 2 "$allocinfo" report --proc live --format json
	says "a cut line" '"damage":1'
	says "a cut line" 'not a line of /proc/allocinfo'
}

# A line of code with two calls of an allocator has two entries among the contexts. The report
# adds them up.
test_contexts_of_one_line() {
	cat >twice <<-'END'
		        0B        0 net/twice.c:7 module:twice func:twice

		      400KiB      100 net/twice.c:7 module:twice func:twice
		    count: 100
		    bytes: 409600
		    call stack:
		         twice+0x10/0x20 [twice]
		         caller+0x1/0x2
	END
	echo '409600 100 net/twice.c:7 [twice] func:twice' | table >twice.table
	expect "one line" 0 "$allocinfo" report --format folded --contexts twice twice.table
	says "one line" 'caller;twice'
	says "one line" ' 409600'
}

# Stacks that were captured take the place of file, directory and module.
test_contexts() {
	cat >ctx <<-'END'
	      4KiB        1 mm/slub.c:10 module:slub func:alloc_slab_page
	    count: 1
	    bytes: 4096
	    call stack:
	         alloc_slab_page+0xfe/0x130
	         new_slab+0x22/0xb0
	         do_open+0x1/0x2 [ext4]
	       600       60 fs/ext4/inode.c:20 module:inode func:ext4_alloc_inode
	    count: 60
	    bytes: 600
	    call stack:
	         context_count+0x1/0x2
	         kmem_cache_alloc_noprof+0x1/0x2
	         ext4_create.isra.0+0x1/0x2
	END
	cat >want <<-'END'
		do_open;new_slab;alloc_slab_page@10 4096
		(built-in);mm;mm/slub.c;alloc_slab_page@10 4096
		ext4;fs/ext4;fs/ext4/super.c;ext4_fill_super@30 500
		ext4_create;ext4_alloc_inode@20 600
		wlan;net/core;net/core/skbuff.c;build@40 64
	END
	report --format folded --contexts ctx >have
	same "folded stacks" have want
	report --format pprof --contexts ctx -o stacks.gz
	expect "no contexts" 1 "$allocinfo" report --format folded --contexts none table
	expect "contexts in text" 64 "$allocinfo" report --contexts ctx table
	echo 'no context' >bad
	expect "damaged contexts" 2 "$allocinfo" report --format folded --contexts bad table
	command -v go >/dev/null || return
	expect "go tool pprof -peek" 0 go tool pprof -peek '^new_slab$' -unit=b stacks.gz
	says "go tool pprof -peek" '4096B'
	says "go tool pprof -peek" 'do_open'
}

test_openmetrics() {
	report --format openmetrics >have
	expect "metrics" 0 cat have
	says "metrics" 'linux_alloc_site_bytes{file="mm/slub.c",line="10",func="alloc_slab_page",module=""} 8192'
	says "metrics" 'linux_alloc_site_calls{file="fs/ext4/inode.c",line="20",func="ext4_alloc_inode",module=""} 34'
	not_says "metrics" 'start_kernel'
	is "the last line" "$(tail -n 1 have)" '# EOF'
	is "series that appear twice" "$(grep -v '^#' have | sed 's/ [^ ]*$//' | sort | uniq -d)" ''
	table >odd <<<'64 1 a"b\c.c:1 [x"y] func:f'
	"$allocinfo" report --format openmetrics odd >have_odd
	expect "quotes" 0 cat have_odd
	says "quotes" '{file="a\"b\\c.c",line="1",func="f",module="x\"y"} 64'
	if ! command -v promtool >/dev/null; then
		skip "promtool, of Debian's package prometheus, is missing"
		return
	fi
	for file in have have_odd; do
		expect "promtool" 0 promtool check metrics <"$file"
		is "what promtool says" "$(cat out)" ''
	done
}

test_pprof() {
	report --format pprof -o profile.gz
	if command -v protoc >/dev/null; then
		zcat profile.gz | protoc -I "$lib" --decode=codetag.Profile "$lib/profile.proto" >out
		says "pprof" 'string_table: "inuse_space"'
		is "samples" "$(grep -c '^samples' out)" 4
		is "bytes" "$(grep -A6 '^samples' out | awk '/value:/ && n++ % 2 { s += $2 } END { print s }')" 9156
	else
		skip "protoc is missing"
	fi
	if ! command -v go >/dev/null; then
		skip "go, of Debian's package golang-go, is missing"
		return
	fi
	pprof_of_go
	expect "go tool pprof, one function" 0 go tool pprof -top -unit=b profile.gz
	says "go tool pprof, one function" '8192B 89.47% 89.47%      8192B 89.47%  alloc_slab_page'
}

# flat INDEX ARG...: lines "FUNCTION VALUE", as go tool pprof has them
flat() {
	go tool pprof -top -nodecount=0 -nodefraction=0 -sample_index="$1" "${@:2}" 2>err |
		sed -nE 's/^ *(-?[0-9]+)B? +\S+% +\S+% +\S+ +\S+% +(\S+)$/\2 \1/p' |
		awk '$2 != 0' | sort
}

# many SEED: a table of 700 call sites of 350 functions, whose numbers depend on SEED
many() {
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		for (i = 0; i < 700; i++) {
			calls = int(rand() * 1000) * (i % 5 != seed)
			print calls * (1 + int(rand() * 2 ^ 20)), calls,
				"mm/file" i % 9 ".c:" i " func:f" i % 350
		}
	}' | table
}

# Each function has the bytes and calls that our own report and comparison have.
pprof_of_go() {
	local index column unit
	many 1 >many1
	many 2 >many2
	report_many() { "$allocinfo" report --format "$2" -f -o "$3" "$1"; }
	report_many many1 pprof many1.gz
	report_many many2 pprof many2.gz
	for index in inuse_space:2 inuse_objects:3; do
		column=${index#*:} index=${index%:*}
		unit=()
		[ "$index" = inuse_objects ] || unit=(-unit=b)
		# the same function in another file is the same name for pprof
		"$allocinfo" report --format csv --by site many1 |
			awk -F, -v c=$((column + 3)) 'NR > 1 { n[$3] += $c }
				END { for (f in n) if (n[f]) printf "%s %.0f\n", f, n[f] }' | sort >want
		flat "$index" "${unit[@]}" many1.gz >have
		same "go tool pprof -top, $index" have want
		"$allocinfo" diff --format csv many1 many2 |
			awk -F, -v c=$((column + 3)) 'NR > 1 { n[$3] += $c }
				END { for (f in n) if (n[f]) printf "%s %.0f\n", f, n[f] }' | sort >want
		flat "$index" "${unit[@]}" -diff_base many1.gz many2.gz >have
		same "go tool pprof -diff_base, $index" have want
		is "functions that shrank, $index" "$([ "$(grep -c ' -' have)" -gt 50 ] && echo many)" many
	done
}

# nodes_table: print a table in the format of /proc/allocinfo.nodes
nodes_table() {
	cat <<-'END'
		allocinfo.nodes - version: 1.0
		#     <size>    <node 0>    <node 2>     <unseen> <tag info>
		    33685504     16842752     16842752            0 mm/memory.c:4190 func:do_anonymous_page
		        1000          300          500          200 fs/ext4/super.c:30 [ext4] func:ext4_fill_super
		         100            0          200         -100 fs/ext4/super.c:30 [ext4] func:ext4_fill_super
		           0            0         4096        -4096 mm/slub.c:10 func:alloc_slab_page
	END
}

test_nodes() {
	nodes_table >nodes
	cat >want <<-'END'
		file,line,function,module,bytes,node0,node2,unseen,sites,accurate
		mm/memory.c,4190,do_anonymous_page,,33685504,16842752,16842752,0,1,yes
		fs/ext4/super.c,30,ext4_fill_super,ext4,1100,300,700,100,2,yes
		mm/slub.c,10,alloc_slab_page,,0,0,4096,-4096,1,yes
	END
	"$allocinfo" report --by node --format csv nodes >have
	same "by node, csv" have want
	"$allocinfo" report --by node --format csv - --sort name <nodes | cut -d, -f1 | tr '\n' ' ' >have
	is "by node, sorted by name" "$(cat have)" 'file fs/ext4/super.c mm/memory.c mm/slub.c '
	is "by node, a filter" "$("$allocinfo" report --by node --format csv nodes module ext4 | sed 1d)" \
		"$(sed -n 3p want)"
	expect "by node, text" 0 "$allocinfo" report --by node --bytes -n 1 nodes
	says "by node, text" '     BYTES     NODE 0     NODE 2     UNSEEN  CALL SITE'
	says "by node, text" '  33686604   16843052   16847548      -3996  all rows'
	says "by node, text" '  33685504   16842752   16842752          0  mm/memory.c:4190 func:do_anonymous_page'
	says "by node, text" '      1100        300       4796      -3996  2 more rows'
	"$allocinfo" report --by node --format json -n 2 nodes >have.json
	expect "by node, json" 0 python3 - <<-'END'
		import json
		d = json.load(open("have.json"))
		assert (d["bytes"], d["nodes"], d["unseen"]) == (33686604, {"0": 16843052, "2": 16847548}, -3996), d
		assert d["rows"][1]["nodes"] == {"0": 300, "2": 700} and d["rows"][1]["unseen"] == 100
		assert "calls" not in d["rows"][1] and d["rows_left_out"] == 1
	END
	expect "cut at every byte, and every byte changed" 0 "$bin/cut-nodes" nodes
	says "cut at every byte, and every byte changed" '4 call sites, 2 nodes'
	for format in text json csv; do
		expect "by node, $format, a full disk" 3 "$allocinfo" report --by node --format $format -f -o /dev/full nodes
	done
}

test_nodes_damaged() {
	sed '3s/ 0 mm/ 1 mm/' nodes >bad
	expect "numbers that do not add up" 2 "$allocinfo" report --by node bad
	says "numbers that do not add up" 'bad:3: not a line of /proc/allocinfo.nodes'
	says "numbers that do not add up" 'ext4_fill_super'
	for edit in 2d '2s/<node 0>/<node x>/' '2s/<node 2>/<node 0>/' '2s/<unseen>//' '1s/nodes/modes/'; do
		sed "$edit" nodes >bad
		expect "heading, $edit" 1 "$allocinfo" report --by node bad
		says "heading, $edit" 'not a copy of /proc/allocinfo.nodes'
	done
	sed '1s/1.0/2.0/' nodes >bad
	expect "a newer version" 2 "$allocinfo" report --by node bad
	says "a newer version" 'newer than this program'
	expect "a table without nodes" 1 "$allocinfo" report --by node table
	expect "nodes as a table" 1 "$allocinfo" report nodes
	for word in calls average; do
		expect "sorted by $word" 64 "$allocinfo" report --by node --sort $word nodes
	done
	for format in folded pprof openmetrics; do
		expect "as $format" 64 "$allocinfo" report --by node --format $format -o p nodes
	done
	expect "a dump" 64 "$allocinfo" report --by node --vmcore dump
	expect "by node, no such file" 1 "$allocinfo" report --by node none
	says "by node, no such file" 'none: No such file'
}

test_nodes_live() {
	mkdir -p numa/sys/vm
	cp table numa/allocinfo
	echo 1 >numa/sys/vm/mem_profiling
	"$allocinfo" record --proc numa -n 1 -o recording
	expect "a recording" 1 "$allocinfo" report --by node recording
	says "a recording" 'snapshots have no memory by node'
	expect "a kernel without the file" 1 "$allocinfo" report --by node --proc numa
	is "a kernel without the file" "$(cat out)" "allocinfo report: this kernel does not show memory by node; it needs CONFIG_NUMA, and mainline has no /proc/allocinfo.nodes"
	cp nodes numa/allocinfo.nodes
	expect "live, by node" 0 "$allocinfo" report --by node --proc numa --bytes
	says "live, by node" '/proc/allocinfo.nodes, '
	says "live, by node" '1100        300        700        100  fs/ext4/super.c:30 [ext4] func:ext4_fill_super'
	rm numa/allocinfo.nodes
	mkdir numa/allocinfo.nodes
	expect "a file that cannot be read" 1 "$allocinfo" report --by node --proc numa
	says "a file that cannot be read" 'cannot read numa/allocinfo.nodes: Is a directory'
	rm numa/allocinfo
	expect "by node, no table" 1 "$allocinfo" report --by node --proc numa
	says "by node, no table" 'this kernel was booted with profiling disabled'
}

# A crash dump is read by allocinfo-dump, whose messages and exit code count.
test_vmcore() {
	mkdir -p path
	cat >path/allocinfo-dump <<-'END'
		#!/bin/sh
		echo "$*" >args
		[ "$2" = bad ] && { echo "allocinfo-dump: bad dump" >&2; exit 1; }
		cat table
	END
	chmod +x path/allocinfo-dump
	PATH=$PWD/path:$PATH
	expect "a dump" 0 "$allocinfo" report --vmcore dump --format csv
	says "a dump" 'mm/slub.c,10,alloc_slab_page,,8192,2,1,yes'
	is "its arguments" "$(cat args)" '-- dump'
	expect "a dump with a map" 0 "$allocinfo" report --vmcore dump --map map
	is "its arguments" "$(cat args)" '-m map -- dump'
	expect "a bad dump" 1 "$allocinfo" report --vmcore bad
	says "a bad dump" 'allocinfo-dump: bad dump'
	expect "no allocinfo-dump" 1 env PATH=/nowhere "$allocinfo" report --vmcore dump
	says "no allocinfo-dump" 'allocinfo-dump: No such file'
}

# terminal COMMAND...: what the command writes to a terminal as its standard error
terminal() {
	python3 -c '
import os, pty, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=slave)
os.close(slave)
while True:
    try:
        os.write(1, os.read(master, 4096))
    except OSError:
        break
child.wait()' "$@"
}

# The script that is installed, with a module in place of drgn: the memory of a kernel with two
# CPUs and a module, at an address that differs from that in System.map.
test_dump() {
	mkdir fake
	cat >fake/drgn.py <<-'END'
		import os, struct, time
		MOVED, memory = 0x10000, bytearray(0x4000)
		class FaultError(Exception): pass
		def put(at, form, *values): struct.pack_into("<" + form, memory, at, *values)
		def text(at, value): memory[at:at + len(value) + 1] = value + b"\0"
		here = lambda at: at + MOVED
		put(0x000, "?", 1)                                                    # alloc_tag_available
		put(0x010, "QIII4xQQI4xQQQ", here(0x200), 2, 0, 0, 0, 0, 0, 0, here(0x138), here(0x180))
		put(0x100, "QIII4xQQI4xQQQ", here(0x240), 1, 0, 0, here(0x330), 1, 0, 0, here(0x180), here(0x048))
		put(0x200, "QQIHH", here(0x300), here(0x310), 10, 1, 0)
		put(0x218, "QQIHH", here(0x300), here(0x320), 20, 0, 1)                # not its own counter
		put(0x240, "QQIHH", here(0x300), here(0x310), 30, 2, 0)
		put(0x260, "QQIHH", here(0x300), here(0x320), 40, 3, 0)                # alloc_tag_catch_all
		for at, value in (0x300, b"a.c"), (0x310, b"one"), (0x320, b"two"), (0x330, b"mod"): text(at, value)
		put(0x400, "I", 3)                                                    # nr_cpu_ids
		put(0x410, "Q", 5)                                                    # CPU 1 is not possible
		put(0x420, "QQQ", here(0x600), 0, here(0x700))                        # __per_cpu_offset
		put(0x800, "Q", here(0x1000))                                         # alloc_tag_chunks
		put(0x1020, "QqqiI", 0x10, 100, 1, 0, 0)
		put(0x1040, "QqqiI", 0, 4096, 2, 0, 0)
		put(0x1060, "QqqiI", 0, 7, 1, 0, 0)
		put(0x610, "qq", -3000 if "BELOW" in os.environ else 1000, 0 if "BELOW" in os.environ else 10)
		put(0x710, "qq", -50, -5)
		class Program:
		    def set_core_dump(self, path): pass
		    def read(self, address, size):
		        if not 0 <= address - MOVED <= len(memory) - size: raise FaultError
		        time.sleep(float(os.environ.get("SLOW", "0")))
		        return bytes(memory[address - MOVED:address - MOVED + size])
	END
	# a dump that has only what the kernel says about itself: an ELF header, a program header, a note
	python3 - >core <<-'END'
		import struct, sys
		def dump(kind, name, about):
		    name += b"\0" * (12 - len(name))
		    about += b"\0" * (-len(about) % 4)
		    note = struct.pack("<III", 11, len(about), 0) + name + about
		    return (b"\x7fELF\x02\x01\x01" + bytes(9) +
		            struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0) +
		            struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(note), len(note), 4) + note)
		about = b"OSRELEASE=6.1\nKERNELOFFSET=10000\n"
		sys.stdout.buffer.write(dump(4, b"VMCOREINFO", about))
		open("program", "wb").write(dump(2, b"VMCOREINFO", about))
		open("process", "wb").write(dump(4, b"CORE", about))
	END
	printf '%016x D %s\n' 0x000 alloc_tag_available 0x010 alloc_tag_kernel 0x260 alloc_tag_catch_all \
		0x800 alloc_tag_chunks 0x420 __per_cpu_offset 0x410 __cpu_possible_mask 0x400 nr_cpu_ids >map
	cat >want <<-'END'
		file,line,function,module,bytes,calls,sites,accurate
		a.c,30,one,mod,4096,2,1,yes
		a.c,10,one,,1050,6,1,yes
		a.c,40,two,,7,1,1,yes
		a.c,20,two,,0,0,1,no
	END
	PATH=$bin:$PATH PYTHONPATH=$PWD/fake "$allocinfo" report --vmcore core --map map --format csv >have
	same "a dump" have want
	expect "the largest" 0 env PYTHONPATH="$PWD/fake" "$bin/allocinfo-dump" -m map -n 1 core
	is "the largest" "$(tail -n +3 out)" '        4096        2 a.c:30 [mod] func:one '
	for raw in "" --raw; do
		expect "below zero" 0 env BELOW=1 PYTHONPATH="$PWD/fake" "$bin/allocinfo-dump" -m map $raw core
		tail -n +3 out | head -n 1 >line$raw
	done
	is "below zero" "$(cat line)" '           0        0 a.c:10 func:one '
	is "below zero with --raw" "$(cat line--raw)" '       -2950       -4 a.c:10 func:one '
	SLOW=0.3 PYTHONPATH="$PWD/fake" terminal "$bin/allocinfo-dump" -m map core >said
	grep -q $'\r\033\\[K[0-9]* % read\r\r\033\\[K$' said || fail "progress: $(cat -v said)"
	expect "no dump" 1 env PATH="$bin:$PATH" PYTHONPATH="$PWD/fake" "$allocinfo" report --vmcore map
	is "no dump" "$(cat out)" 'allocinfo-dump: map is no dump: Magic number does not match'
	expect "a program" 1 env PYTHONPATH="$PWD/fake" "$bin/allocinfo-dump" -m map program
	says "a program" 'program is no dump of a little-endian machine of 64 bits'
	expect "the core of a process" 1 env PYTHONPATH="$PWD/fake" "$bin/allocinfo-dump" -m map process
	says "the core of a process" 'process has no VMCOREINFO: no dump of a kernel'
	sed -i 's/^0*260/0000000000100260/' map
	expect "a wrong map" 1 env PYTHONPATH="$PWD/fake" "$bin/allocinfo-dump" -m map core
	says "a wrong map" 'System.map is of another kernel'
	full "a full disk" "$bin/allocinfo-dump" --help
}

# day FILE@DAY: the time of the last snapshot up to the end of the day
day() {
	TZ=CET-1CEST,M3.5.0,M10.5.0/3 "$allocinfo" report "$1" | sed -n '1s|^[^,]*, \(.*\), h, .*|\1|p'
}

# A local day has 23, 24 or 25 hours. Snapshots are half an hour before and after each midnight.
test_days() {
	local at
	for at in '2026-03-28 22:30' '2026-03-28 23:30' '2026-03-29 21:30' '2026-03-29 22:30' \
		'2026-10-24 21:30' '2026-10-24 22:30' '2026-10-25 22:30' '2026-10-25 23:30' '2026-10-26 22:30'; do
		echo "# time $(date -u -d "$at" +%s)"
		table <<<'4096 1 mm/a.c:1 func:a'
	done | "$here/make-recording.py" days
	is "the day before a short one" "$(day days@2026-03-28)" '2026-03-28 23:30:00'
	is "a day of 23 hours" "$(day days@2026-03-29)" '2026-03-29 23:30:00'
	is "the day before a long one" "$(day days@2026-10-24)" '2026-10-24 23:30:00'
	is "a day of 25 hours" "$(day days@2026-10-25)" '2026-10-25 23:30:00'
	is "the last day of a month" "$(day days@2026-10-31)" '2026-10-26 23:30:00'
	is "a minute" "$(day days@2026-10-25T23:30)" '2026-10-25 23:30:00'
	is "the minute before" "$(day days@2026-10-25T23:29)" '2026-10-25 00:30:00'
	is "a second" "$(day 'days@2026-10-25 23:30:00')" '2026-10-25 23:30:00'
	expect "before 1970" 1 env TZ=UTC0 "$allocinfo" report days@1969-12-31
	says "before 1970" 'not a number or a time'
}

# An output must not replace a part of a recording that is read, but another file may be replaced.
test_parts() {
	local part
	mkdir parts
	cp table parts/allocinfo
	for part in r r.1 r.3; do
		"$allocinfo" record --proc parts -n 1 -o "$part"
		cp "$part" "$part.copy"
	done
	mkdir link
	ln r.1 link/hard
	for part in r r.1 r.3 ./r.1 link/hard; do
		expect "the part $part as output" 3 "$allocinfo" report -f -o "$part" r
		says "the part $part as output" "$part: is an input file"
		expect "the part $part of a snapshot as output" 3 "$allocinfo" report -f -o "$part" r@0
		expect "the part $part as output of diff" 3 "$allocinfo" diff -f -o "$part" table r
		expect "the part $part as output of leak" 3 "$allocinfo" leak -f -o "$part" r
		says "the part $part as output of leak" "$part: is an input file"
	done
	for part in r r.1 r.3; do
		same "the part $part" "$part" "$part.copy"
	done
	rm r
	expect "old parts alone" 3 "$allocinfo" report -f -o r.1 r
	expect "old parts alone, leak" 3 "$allocinfo" leak -f -o r.1 r
	same "old parts alone" r.1 r.1.copy
	expect "the old parts of another recording" 0 "$allocinfo" report -f -o r.1.copy r
	cp table copy.1
	expect "a copy has no parts" 0 "$allocinfo" report -f -o copy.1 table
	cp table copy
	expect "a copy has no parts" 0 "$allocinfo" report -f -o copy.1 copy
}

# A named pipe is opened once: if it is closed in between, its writer dies, and the next open waits.
test_pipe() {
	local i text
	text=$(cat table)
	mkfifo fifo
	for i in $(seq 20); do
		(printf '%s\n' "$text" >fifo) &
		jobs_left=($!)
		sleep 0.05
		expect "a named pipe" 0 timeout 60 "$allocinfo" report fifo || break
		wait $!
		is "its writer" $? 0
	done
}

test_outputs() {
	full "a full disk" "$allocinfo" report --format json table
	says "a full disk" 'standard output: cannot write: No space left'
	for format in text json csv folded pprof openmetrics; do
		expect "$format, a full disk" 3 "$allocinfo" report --format "$format" -f -o /dev/full table
	done
	expect "an output" 0 "$allocinfo" report -o out1 table
	is "its mode" "$(stat -c %a out1)" 600
	expect "an existing output" 3 "$allocinfo" report -o out1 table
	cp table input
	expect "the input as output" 3 "$allocinfo" report -f -o input input
	says "the input as output" 'is an input file'
	same "the input" input table
	expect "wrong words" 64 "$allocinfo" report --format xml table
	expect "two inputs" 64 "$allocinfo" report --vmcore a b
	expect "stacks of files" 64 "$allocinfo" report --format pprof --by file -o p table
	if [ -e p ]; then fail "after wrong options there is a file"; else pass; fi
}

test_check() {
	mkdir -p proc/sys/vm
	cp table proc/allocinfo
	echo 1 >proc/sys/vm/mem_profiling
	expect "on" 0 "$allocinfo" check --proc proc
	says "on" 'version 2.0, 6 call sites, 5 of them hold memory'
	says "on" 'ms of CPU time, the median of 9 reads'
	says "no meminfo" 'memory             unknown, /proc/meminfo cannot be read'
	says "no ioctls" 'text and records   this kernel has no records'
	expect "live" 0 "$allocinfo" report --proc proc --format csv
	says "live" 'mm/slub.c,10,alloc_slab_page,,8192,2,1,yes'
	# of 9,156 bytes, 8,192 are pages of slabs, whose objects are in the table, too
	printf 'MemTotal: 100 kB\nMemFree: 60 kB\n' >proc/meminfo
	expect "meminfo" 0 "$allocinfo" check --proc proc
	for line in 'memory             100.0K' 'free               60.0K' 'at call sites      964' \
		'unaccounted        39.1K, may be wrong by 8.0K'; do
		says "meminfo" "$line"
	done
	# two pages are on the list of a CPU, and 4,096 bytes of the slabs are objects
	printf '    cpu: 0\n              count: 2\n' >proc/zoneinfo
	printf 'slabinfo - version: 2.1\n# name\nkmalloc-64 64 128 64 64 1 : tunables 0 0 0 : slabdata 2 2 0\n' >proc/slabinfo
	if [ "$(getconf PAGESIZE)" = 4096 ]; then
		expect "slabinfo" 0 "$allocinfo" check --proc proc
		for line in 'free               68.0K' 'at call sites      4.9K' 'unaccounted        27.1K,'; do
			says "slabinfo" "$line"
		done
	fi
	cat >failing.c <<-'END'
		#include <errno.h>
		int ioctl(int fd, unsigned long request, ...)
		{
			errno = EIO;
			return -1;
		}
	END
	expect "ioctls that fail" 0 "${CC:-cc}" -shared -fPIC -o failing.so failing.c &&
		expect "ioctls that fail" 0 env LD_PRELOAD="$PWD/failing.so" \
			ASAN_OPTIONS=verify_asan_link_order=0 "$allocinfo" check --proc proc
	says "ioctls that fail" 'text and records   the records cannot be read: Input/output error'
	echo 0 >proc/sys/vm/mem_profiling
	expect "off" 2 "$allocinfo" check --proc proc
	says "off" 'sysctl vm.mem_profiling=1'
	full "a full disk" "$allocinfo" check --proc proc
	says "a full disk" 'allocinfo check: standard output: cannot write: No space left'
	rm proc/allocinfo
	expect "never" 1 "$allocinfo" check --proc proc
	says "never" 'profiling          not available'
	rm proc/sys/vm/mem_profiling
	expect "absent" 1 "$allocinfo" check --proc proc
	says "absent" 'CONFIG_MEM_ALLOC_PROFILING'
}

# Parsing 60,000 call sites takes 5 ms. The limit allows for slow machines; a test in a guest
# compares the time with that of the kernel, which prints the text.
test_check_costs() {
	local limit=30 spent
	mkdir -p big/sys/vm
	echo 1 >big/sys/vm/mem_profiling
	awk 'BEGIN {
		for (i = 0; i < 60000; i++)
			printf "%d %d drivers/net/vendor%d/chip%d/main%d.c:%d %sfunc:vendor_function_%d\n",
				i * 64, i, i / 3000, i / 100, i / 20, i % 20 * 10 + 7,
				i % 2 ? "[mod" int(i / 1000) "] " : "", i / 4
	}' | table >big/allocinfo
	grep -q __asan_init "$allocinfo" && limit=1000
	expect "60,000 call sites" 0 "$allocinfo" check --proc big
	says "60,000 call sites" '60000 call sites'
	spent=$(sed -n 's/^parsing text  *\([0-9.]*\) ms of CPU time, the median of 9 reads$/\1/p' "$tmp/out")
	echo "# 60000 call sites: parsing the text takes ${spent:-?} ms of CPU time"
	is "parsing takes at most $limit ms" \
		"$(awk -v t="$spent" -v limit=$limit 'BEGIN { print (t > 0 && t <= limit) }')" 1
}

# A terminal sees how much of a long recording was read; a file sees nothing of it.
test_progress() {
	mkdir -p long
	awk 'BEGIN { for (i = 0; i < 20000; i++) print 4096, 1, "mm/file.c:" i " func:f" i % 10 }' | table >long/allocinfo
	"$allocinfo" record --proc long -n 1 -o one
	for _ in {1..2500}; do cat one; done >recording
	head -c $((400 * $(stat -c %s one))) recording >shorter
	terminal "$allocinfo" report recording@-2 >said.report
	terminal "$allocinfo" leak shorter >said.leak
	expect "progress" 0 python3 - <<-'END'
		import re
		for what in ("report", "leak"):
		    said = open("said." + what, "rb").read()
		    numbers = [int(n) for n in re.findall(rb"\r\x1b\[K(\d+) % read\r", said)]
		    assert len(set(numbers)) >= 2 and 40 < max(numbers) <= 100, said
		    assert what == "report" or numbers == sorted(numbers), numbers
		    assert said.rpartition(b"% read\r")[2].startswith(b"\r\x1b[K"), said
	END
	"$allocinfo" report recording >/dev/null 2>err
	is "progress in a file" "$(cat err)" ''
	rm recording shorter
}

test_full_disk() {
	expect "--version" 3 bash -c '"$1" --version >/dev/full' - "$allocinfo"
	expect "report --help" 3 bash -c '"$1" report --help >/dev/full' - "$allocinfo"
}

# --help, the manual page and the completion of each command have the same options.
test_documents() {
	expect "documents" 0 python3 - "$allocinfo" "$here" <<-'END'
		import re, subprocess, sys
		program, here = sys.argv[1:]
		page = open(f"{here}/allocinfo.1").read().replace("\\-", "-")
		page = re.sub(r"\\f[A-Z]", "", page)
		commands = re.findall(r"^  (\w+)  ", subprocess.run([program, "--help"], check=True, text=True,
		                      stdout=subprocess.PIPE).stdout.partition("\nOptions")[0], re.M)
		assert len(commands) >= 4, commands
		for command in commands:
		    text = subprocess.run([program, command, "--help"], check=True, text=True,
		                          stdout=subprocess.PIPE).stdout
		    lines = re.findall(r"^ +(?:(-\w), )?(--[\w-]+)(?: ([A-Z]+))?(?:  |$)", text, re.M)
		    want = {long: (short, argument) for short, long, argument in lines}
		    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) <= set(want) | {"--help"}, command
		    part = re.search(rf"^\.SS allocinfo {command}\n(.*?)(?=^\.S[SH] )", page, re.M | re.S)
		    assert part, f"the page has no section about {command}"
		    have = {long: (short, argument) for short, long, argument in
		            re.findall(r"^(?:(-\w), )?(--[\w-]+)(?: ([A-Z]+))?$", part[1], re.M)}
		    have.update({"--help": ("-h", ""), "--version": ("-V", "")})
		    assert have == want, (command, set(have.items()) ^ set(want.items()))
		    codes = re.findall(r"^  (\d+) ", re.split("Exit status[^:]*:", text)[1], re.M)
		    assert codes[0] == "0" and codes[-1] == "64", (command, codes)
		    script = (". /usr/share/bash-completion/bash_completion; . %s/allocinfo.bash; "
		              "COMP_WORDS=(allocinfo %s --); COMP_CWORD=2; COMP_LINE=\"${COMP_WORDS[*]}\"; "
		              "COMP_POINT=${#COMP_LINE}; _allocinfo; echo \"${COMPREPLY[*]}\"" % (here, command))
		    offered = subprocess.run(["bash", "-c", script], check=True, text=True,
		                             stdout=subprocess.PIPE).stdout.split()
		    assert set(offered) == set(want), (command, set(offered) ^ set(want))
	END
}

for t in rows unknown_words json folded contexts contexts_of_one_line live_damage openmetrics pprof nodes nodes_damaged nodes_live vmcore dump pipe days parts outputs full_disk check check_costs progress documents; do
	"test_$t"
done
finish
