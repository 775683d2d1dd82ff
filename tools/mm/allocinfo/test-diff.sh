#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-diff.sh [DIR]: test allocinfo diff.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/test-lib.sh"
cd "$tmp" || exit
allocinfo=$bin/allocinfo

# rows ARG...: the rows of a comparison as CSV, without the heading
rows() {
	"$allocinfo" diff --format csv "$@" | tail -n +2
}

# Growth comes first, then what shrank; what is the same is left out.
test_growth() {
	table >before <<-'END'
		4096 1 mm/slub.c:10 func:alloc_slab_page
		100 10 fs/inode.c:20 func:alloc_inode
		500 5 kernel/fork.c:30 func:dup_mm
		64 1 net/core/skbuff.c:40 [wlan] func:build
	END
	table >after <<-'END'
		8192 2 mm/slub.c:10 func:alloc_slab_page
		50 5 fs/inode.c:20 func:alloc_inode
		500 5 kernel/fork.c:30 func:dup_mm
		9064 11 net/core/skbuff.c:40 [wlan] func:build
	END
	cat >want <<-'END'
		net/core/skbuff.c,40,build,wlan,9000,10,64,1,9064,11,40,
		mm/slub.c,10,alloc_slab_page,,4096,1,4096,1,8192,2,10,
		fs/inode.c,20,alloc_inode,,-50,-5,100,10,50,5,20,
	END
	rows before after >have
	same "what grew" have want
	is "with --all" "$(rows --all before after | wc -l)" 4
	is "with --top" "$(rows --top 1 before after)" "$(head -n 1 want)"
	is "with a filter" "$(rows before after file 'mm/*')" "$(sed -n 2p want)"
	is "by module" "$(rows --by module before after | head -n 1)" 'wlan,9000,10,64,1,9064,11,,'
	is "by directory" "$(rows --by dir before after | head -n 1)" 'net/core,9000,10,64,1,9064,11,,'
	is "sorted by calls" "$(rows --sort calls before after | head -n 1)" "$(head -n 1 want)"
	is "the same table" "$(rows before before)" ''
	expect "text" 0 "$allocinfo" diff before after
	says "text" '+8.8K'
	says "text" 'net/core/skbuff.c:40 [wlan] func:build'
	not_says "text" 'dup_mm'
	expect "from standard input" 0 "$allocinfo" diff - after <before
	says "from standard input" '+8.8K'
}

# Lines move from build to build: sites are matched by function, in the order of lines.
test_moved() {
	table >before <<-'END'
		100 1 a.c:10 func:one
		200 2 a.c:12 func:one
		300 3 a.c:99 func:other
		700 7 a.c:50 func:gone
		10 1 b.c:5 func:twice
		20 2 b.c:5 func:twice
	END
	table >after <<-'END'
		101 1 a.c:12 func:one
		202 2 a.c:14 func:one
		303 3 a.c:90 func:other
		808 8 a.c:60 func:new
		11 1 b.c:5 func:twice
		22 2 b.c:5 func:twice
	END
	cat >want <<-'END'
		a.c,12,one,,1,0,100,1,101,1,10,moved
		a.c,14,one,,2,0,200,2,202,2,12,moved
		a.c,50,gone,,-700,-7,700,7,0,0,50,gone
		a.c,60,new,,808,8,0,0,808,8,,new
		a.c,90,other,,3,0,300,3,303,3,99,moved
		b.c,5,twice,,3,0,30,3,33,3,,
	END
	rows before after | sort >have
	same "moved lines" have want
	expect "text" 0 "$allocinfo" diff before after
	says "text" '1 call sites only in A, with 700 in 7 allocations'
	says "text" '1 call sites only in B, with 808 in 8 allocations'
	says "text" '3 call sites moved to another line'
	says "text" 'a.c:90 func:other (was line 99)'
	says "text" 'func:new (new)'
	expect "json" 0 "$allocinfo" diff --format json before after
	cp out have.json
	expect "json" 0 python3 - <<-'END'
		import json
		d = json.load(open("have.json"))
		assert d["bytes"] == 101 + 202 + 303 + 808 + 33 - 100 - 200 - 300 - 700 - 30, d["bytes"]
		assert d["only_before"] == {"sites": 1, "bytes": 700, "calls": 7}
		assert d["only_after"]["bytes"] == 808 and d["moved"]["sites"] == 3
		assert sum(r["bytes"] for r in d["rows"]) == d["bytes"]
	END
	# a site less: those in the same line are the same, whatever their order
	table >before <<<'5 1 a.c:10 func:f
7 1 a.c:20 func:f
9 1 a.c:30 func:f'
	table >after <<<'6 1 a.c:10 func:f
12 1 a.c:30 func:f'
	rows before after | sort >have
	printf '%s\n' 'a.c,10,f,,1,0,5,1,6,1,10,' 'a.c,20,f,,-7,-1,7,1,0,0,20,gone' \
		'a.c,30,f,,3,0,9,1,12,1,30,' >want
	same "a site less" have want
	# the same function in a module is another
	table >before <<<'5 1 a.c:10 [m] func:f'
	table >after <<<'6 1 a.c:10 func:f'
	is "another module" "$(rows before after | cut -d, -f12 | xargs)" 'new gone'
}

# Snapshots of one file, and times.
test_snapshots() {
	echo '100 1 a.c:1 func:f' | make_proc proc
	"$allocinfo" record --proc proc -n 1 -o log
	echo '300 3 a.c:1 func:f' | make_proc proc
	"$allocinfo" record --proc proc -n 1 -o log
	is "the first and the last" "$(rows log@0 log)" 'a.c,1,f,,200,2,100,1,300,3,1,'
	is "backwards" "$(rows log@-1 log@-2)" 'a.c,1,f,,-200,-2,300,3,100,1,1,'
	is "a snapshot and a copy" "$(rows log@0 proc/allocinfo)" 'a.c,1,f,,200,2,100,1,300,3,1,'
	expect "text" 0 "$allocinfo" diff log@0 log
	says "text" "$(uname -n)"
	says "text" "A: log@0, $(date +%Y)-"
}

# Two boots of a recording: what each of them holds is compared, and the text says so.
test_boots() {
	{
		printf '# boot first\n# time 1000\nMemTotal: 5 kB\n'
		table <<<'5000 50 a.c:1 func:f'
		printf '# time 1060\nMemTotal: 5 kB\n'
		table <<<'9000 90 a.c:1 func:f'
		printf '# boot second\n# time 2000\nMemTotal: 5 kB\n'
		table <<<'300 3 a.c:1 func:f'
	} | "$here/make-recording.py" boots
	is "across boots" "$(rows boots@0 boots)" 'a.c,1,f,,-4700,-47,5000,50,300,3,1,'
	expect "across boots" 0 "$allocinfo" diff boots@0 boots
	says "across boots" 'A and B are of different boots'
	expect "within a boot" 0 "$allocinfo" diff boots@0 boots@1
	not_says "within a boot" 'different boots'
	expect "a boot and a copy" 0 "$allocinfo" diff boots before
	not_says "a boot and a copy" 'different boots'
	expect "across boots, json" 0 "$allocinfo" diff --format json boots@1 boots@2
	says "across boots, json" '"boot_id":"first"'
	says "across boots, json" '"boot_id":"second"'
	says "across boots, json" '"bytes": -8700'
}

# Damage, hostile names, and numbers at their limits.
test_damage() {
	table >before <<<'5 1 a.c:10 func:f'
	{ cat before; echo 'no line'; } >damaged
	expect "a damaged line" 2 "$allocinfo" diff damaged before
	says "a damaged line" 'damaged:4: not a line'
	expect "no table" 1 "$allocinfo" diff before /dev/null
	expect "no file" 1 "$allocinfo" diff before none
	printf 'allocinfo - version: 1.0\n#\n 9 1 \033[31mx,"y.c:1 func:\233g \n' >names
	expect "names" 0 "$allocinfo" diff before names
	if LC_ALL=C grep -qaP '[\x80-\xff\x1b]' out; then fail "control characters are printed"; else pass; fi
	expect "names as json" 0 "$allocinfo" diff --format json before names
	cp out names.json
	expect "names as json" 0 python3 -m json.tool names.json
	is "names as csv" "$(rows before names | head -n 1)" '"?[31mx,""y.c",1,?g,,9,1,0,0,9,1,,new'
	table >least <<<'-9223372036854775807 -9223372036854775807 a.c:1 func:f'
	table >most <<<'9223372036854775807 9223372036854775807 a.c:1 func:f'
	expect "limits" 0 "$allocinfo" diff least most
	expect "limits" 0 "$allocinfo" diff most least
}

# A table is compared with each beginning of itself.
test_cuts() {
	table >cuts <<-'END'
		5 1 a.c:10 func:f
		5 1 a.c:10 func:f
		6 1 a.c:12 func:f
		7 1 a.c:12 [m] func:f
		8 1 b.c:12 func:f accurate:no
	END
	expect "cuts" 0 "$bin/cut-match" cuts
	says "cuts" "$(stat -c %s cuts) cuts"
}

test_options() {
	table >before <<<'5 1 a.c:10 func:f'
	expect "one table" 64 "$allocinfo" diff before
	expect "an unknown word" 64 "$allocinfo" diff --by line before before
	expect "an unknown filter" 64 "$allocinfo" diff before before foo bar
	expect "an output" 0 "$allocinfo" diff -o out1 before before
	is "its mode" "$(stat -c %a out1)" 600
	expect "an existing output" 3 "$allocinfo" diff -o out1 before before
	expect "an existing output, forced" 0 "$allocinfo" diff -f -o out1 before before
	cp before input
	expect "an input as output" 3 "$allocinfo" diff -f -o input before input
	same "the input" input before
	full "a full disk" "$allocinfo" diff --all before before
}

for t in growth moved snapshots boots damage cuts options; do
	"test_$t"
done
finish
