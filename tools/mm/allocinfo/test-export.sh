#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-export.sh [DIR]: test allocinfo export: the metrics, who has a row, and the file.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/test-lib.sh"
cd "$tmp" || exit
allocinfo=$bin/allocinfo

# export_of DIR: the metrics of a directory like /proc
export_of() {
	"$allocinfo" export --proc "$1"
}

# machine DIR: make a directory like /proc of a machine with profiling on; the call sites
# come from stdin
machine() {
	make_proc "$1"
	mkdir -p "$1/sys/vm"
	echo 1 >"$1/sys/vm/mem_profiling"
	{
		echo 'slabinfo - version: 2.1'
		echo '# name  <active_objs> ...'
		echo 'inode_cache 90 100 600 13 2 : tunables 0 0 0 : slabdata 8 8 0'
	} >"$1/slabinfo"
	cat >"$1/zoneinfo" <<-'END'
		Node 0, zone   Normal
		        present  510000
		        managed  500000
		              count: 7
		              count: 5
	END
}

# functions: print the functions that have rows, sorted
functions() {
	sed -n 's/^linux_alloc_site_bytes{file="[^"].*func="\([^"]*\)".*/\1/p' | sort
}

# names DIR: the files in a directory, also hidden ones, on one line
names() {
	find "$1" -mindepth 1 -printf '%f\n' | sort | xargs
}

# promtool_accepts FILE
promtool_accepts() {
	if ! command -v promtool >/dev/null; then
		skip "promtool, of Debian's package prometheus, is missing"
		return
	fi
	expect "promtool: $1" 0 promtool check metrics <"$1"
	is "what promtool says: $1" "$(cat out)" ''
}

# A table of 3,000 call sites, checked by other code than that of the program.
test_values() {
	python3 - >sites <<-'END'
		import random
		random.seed(20261125)
		print("65536 16 mm/slub.c:2000 func:alloc_slab_page")
		print("40960 10 mm/percpu-vm.c:95 func:pcpu_alloc_pages")
		for i in range(3000):
		    calls = random.choice([0, 0, int(random.paretovariate(.6) * 10) % 10 ** 7])
		    module = f"[mod{i % 11}] " if i % 5 == 0 else ""
		    print(calls * (64 << i % 4), calls, f"dir{i % 7}/file{i % 50}.c:{i} {module}func:fun{i % 1900}")
	END
	machine proc <sites
	expect "a table" 0 "$allocinfo" export --proc proc
	cp out have
	cat >check.py <<-'END'
		import re, sys
		from collections import Counter
		text = open("have").read()
		series = [line for line in text.splitlines() if not line.startswith("#")]
		assert len(series) == len({line.rpartition(" ")[0] for line in series}) == 95, len(series)
		assert "line=" not in text and text.endswith("\n# EOF\n")
		bytes_, calls = Counter(), Counter()
		for line in open("sites"):
		    m = re.match(r"(\d+) (\d+) (\S+):\d+ (?:\[(\w+)\] )?func:(\w+)", line)
		    if m[5] not in ("alloc_slab_page", "pcpu_alloc_pages"):
		        bytes_[m[3], m[5], m[4] or ""] += int(m[1])
		        calls[m[3], m[5], m[4] or ""] += int(m[2])
		def rows(name):
		    return {m[:3]: int(m[3]) for m in re.findall(
		        rf'^{name}{{file="(.*)",func="(.*)",module="(.*)"}} (-?\d+)$', text, re.M)}
		other = ("", "other", "")
		for name, want in ("linux_alloc_site_bytes", bytes_), ("linux_alloc_site_calls", calls):
		    have = rows(name)
		    assert len(have) == 41 and sum(have.values()) == sum(want.values()), name
		    assert all(want[key] == have[key] for key in have if key != other), name
		have = rows("linux_alloc_site_bytes")
		first = sorted(bytes_.values(), reverse=True)[:40]
		assert sorted((v for k, v in have.items() if k != other), reverse=True) == first
		kinds = {kind: int(value) for kind, value in
		         re.findall(r'^linux_alloc_memory_bytes{kind="(\w+)"} (-?\d+)$', text, re.M)}
		assert kinds["total"] == 2000000 * 1024 and kinds["free"] == 1500000 * 1024 + 12 * 4096
		assert kinds["reserved"] == 10000 * 4096
		assert kinds["slab_free"] == 65536 - 90 * 600
		assert sum(have.values()) + kinds["slab_free"] == kinds["sites"]
		assert kinds["total"] == kinds["free"] + kinds["sites"] + kinds["unaccounted"]
		assert "\nlinux_alloc_sites 3002\n" in text
		assert re.search(r"^linux_alloc_read_seconds 0\.\d{6}$", text, re.M)
	END
	expect "the values" 0 python3 check.py
	promtool_accepts have
	rm proc/slabinfo proc/zoneinfo
	expect "without slabinfo" 0 "$allocinfo" export --proc proc
	not_says "without slabinfo" slab_free
	not_says "without zoneinfo" reserved
	rm proc/meminfo
	expect "without meminfo" 2 "$allocinfo" export --proc proc
	says "without meminfo" 'the balance is missing'
	says "without meminfo" 'linux_alloc_sites 3002'
	not_says "without meminfo" kind=
}

# Pages have the size that they have on the machine of the files.
test_large_pages() {
	echo '65536 1 mm/x.c:1 func:x' | machine proc
	expect "4K" 0 "$allocinfo" export --proc proc
	says "4K" "linux_alloc_memory_bytes{kind=\"free\"} $((1500000 * 1024 + 12 * 4096))"
	says "4K" "linux_alloc_memory_bytes{kind=\"reserved\"} $((10000 * 4096))"
	sed -i 's/500000/31250/; s/510000/31875/' proc/zoneinfo
	expect "64K" 0 "$allocinfo" export --proc proc
	says "64K" "linux_alloc_memory_bytes{kind=\"free\"} $((1500000 * 1024 + 12 * 65536))"
	says "64K" "linux_alloc_memory_bytes{kind=\"reserved\"} $((625 * 65536))"
}

# A mapped page of the swap cache is among the anonymous pages, too.
test_swap_cache() {
	echo "$((4000 << 10)) 1 mm/memory.c:1 func:do_anonymous_page" | machine proc
	printf '%-15s %8s kB\n' Cached: 1000 Buffers: 0 AnonPages: 3000 SwapCached: 2000 >>proc/meminfo
	"$bin/alloctop" -1 --json --proc proc >json 2>/dev/null
	expect "user memory: none is missing" 0 python3 - json <<-'END'
		import json, sys
		user = json.load(open(sys.argv[1]))["balance"]["parts"]["user"]
		assert user["kernel"] == user["sites"] == 4000 << 10 and not user["missing"], user
	END
}

# Names that are hard for labels, and functions that share a name.
test_names() {
	machine proc <<-'END'
		64 1 a"b\c.c:1 [x"y] func:f\
		32 1 a.c:1 func:same
		16 1 b.c:1 func:same
		8 1 b.c:1 [mod] func:same
		4 1 a.c:9 func:same
		3 1 net/x.c:9 func:other
		-5000 -2 neg.c:1 func:neg
		-4096 18446744073709551615 mainline.c:1 func:mainline
		0 0 zero.c:1 func:zero
	END
	printf '          7        1 \001\233\377bad\033.c:1 func:\302\205f \n' >>proc/allocinfo
	export_of proc >have
	cp have out
	says "quotes" '{file="a\"b\\c.c",func="f\\",module="x\"y"} 64'
	says "two call sites" '{file="a.c",func="same",module=""} 36'
	says "another file" '{file="b.c",func="same",module=""} 16'
	says "a module" '{file="b.c",func="same",module="mod"} 8'
	says "a negative row" '{file="neg.c",func="neg",module=""} -5000'
	says "a negative row of mainline" '{file="mainline.c",func="mainline",module=""} -4096'
	says "a function called other" '{file="net/x.c",func="other",module=""} 3'
	says "bytes that are not text" '{file="???bad?.c",func="?f",module=""} 7'
	says "the other row" '{file="",func="other",module=""} 0'
	not_says "functions that hold nothing" zero
	is "series that appear twice" "$(grep -v '^#' have | sed 's/ [^ ]*$//' | sort | uniq -d)" ''
	promtool_accepts have
	# the names are found again in a previous file
	mkdir -p again
	expect "the first file" 0 "$allocinfo" export --proc proc -t again
	sed -n '/func=/p' again/allocinfo.prom >before
	expect "the second file" 0 "$allocinfo" export --proc proc -t again
	sed -n '/func=/p' again/allocinfo.prom >after
	same "the names" before after
}

# ranks: a table in which the function of each line of stdin holds less than the one before
ranks() {
	awk '{ print (1000 - NR) * 1000, 1, "dir/f.c:" NR, "func:" $1 }' | machine proc
}

# chosen: the functions that have rows now, on one line
chosen() {
	"$allocinfo" export --proc proc -t rank.prom || fail "export: $?"
	functions <rank.prom | xargs
}

test_sticky() {
	local first i
	rm -f rank.prom
	seq -f 'f%03g' 1 100 | ranks
	first=$(chosen)
	is "the first 40" "$first" "$(seq -f 'f%03g' 1 40 | xargs)"
	# functions around rank 40, and around rank 60, change places
	for i in {1..12}; do
		{ seq -f 'f%03g' 1 31; seq -f 'f%03g' 32 59 | shuf --random-source=<(yes "$i"); seq -f 'f%03g' 60 100; } |
			ranks
		is "shuffled ranks, $i" "$(chosen)" "$first"
	done
	# f090 rises to rank 31, which is not enough, then to 30: the last member makes room
	{ seq -f 'f%03g' 1 30; echo f090; seq -f 'f%03g' 31 89; } | ranks
	is "rank 31" "$(chosen)" "$first"
	{ seq -f 'f%03g' 1 29; echo f090; seq -f 'f%03g' 30 89; } | ranks
	is "rank 30" "$(chosen)" "$(seq -f 'f%03g' 1 39 | xargs) f090"
	# f090 falls to rank 60 and stays; at 61 it leaves, and the first one without a row enters
	{ seq -f 'f%03g' 1 59; echo f090; seq -f 'f%03g' 60 89; } | ranks
	is "rank 60" "$(chosen)" "$(seq -f 'f%03g' 1 39 | xargs) f090"
	{ seq -f 'f%03g' 1 60; echo f090; seq -f 'f%03g' 61 89; } | ranks
	is "rank 61" "$(chosen)" "$first"
	# the row of a function that is gone, as with its module, is free at once
	{ seq -f 'f%03g' 1 9; seq -f 'f%03g' 11 100; } | ranks
	is "a function that is gone" "$(chosen)" "$({ seq -f 'f%03g' 1 9; seq -f 'f%03g' 11 41; } | xargs)"
}

# A table that changes at random: sticky rows change less often than the first 40 do.
test_flapping() {
	cat >flap.py <<-'END'
		import random, re, subprocess, sys
		random.seed(4711)
		size = {f"f{i:03}": 10 ** 6 * 0.93 ** i for i in range(200)}
		before = plain = None
		changes = plain_changes = 0
		for turn in range(80):
		    now = {name: int(value * random.uniform(.8, 1.25)) for name, value in size.items()}
		    with open("proc/allocinfo", "w") as f:
		        f.write("allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n")
		        f.writelines(f"{value} 1 a.c:1 func:{name} \n" for name, value in now.items())
		    subprocess.run([sys.argv[1], "export", "--proc", "proc", "-t", "flap.prom"], check=True)
		    rows = set(re.findall(r'bytes{file="a.c",func="(\w+)"', open("flap.prom").read()))
		    first = set(sorted(now, key=now.get, reverse=True)[:40])
		    assert len(rows) == 40 and set(sorted(now, key=now.get, reverse=True)[:29]) <= rows
		    if before:
		        changes += len(rows - before)
		        plain_changes += len(first - plain)
		    before, plain = rows, first
		print(f"# rows that changed in 80 turns: {changes}; the first 40 changed {plain_changes}")
		assert changes * 20 < plain_changes, (changes, plain_changes)
	END
	machine proc <<<'1 1 a.c:1 func:f'
	expect "random changes" 0 python3 flap.py "$allocinfo"
	cat out
}

# export into the directory or file that follows
file_of=("$allocinfo" export --proc proc --textfile)

test_file() {
	machine proc <<<'64 1 a.c:1 func:f'
	mkdir -p dir
	expect "a directory" 0 "${file_of[@]}" dir
	is "no message" "$(cat out)" ''
	is "files" "$(names dir)" allocinfo.prom
	(umask 077 && "${file_of[@]}" dir)
	is "mode" "$(stat -c %a dir/allocinfo.prom)" 644
	expect "a file" 0 "${file_of[@]}" dir/memory.prom
	if [ -s dir/memory.prom ]; then pass; else fail "no memory.prom"; fi
	expect "no directory" 3 "${file_of[@]}" nowhere
	says "no directory" 'nowhere/allocinfo.prom: No such file'
	expect "a file as directory" 3 "${file_of[@]}" proc/meminfo
	mkdir dir/x.prom
	expect "a directory that ends in .prom" 3 "${file_of[@]}" dir/x.prom
	expect "an empty name" 64 "${file_of[@]}" ''
	full "standard output" "$allocinfo" export --proc proc
	is "files" "$(names dir)" 'allocinfo.prom memory.prom x.prom'
}

# What is not ours is replaced after a message, and the next export has none.
test_previous() {
	machine proc <<<'64 1 a.c:1 func:f'
	rm -rf dir
	mkdir -p dir
	"${file_of[@]}" dir
	cp dir/allocinfo.prom whole
	replaced() {
		expect "$1" 2 "${file_of[@]}" dir
		says "$1" "allocinfo.prom: $2"
		expect "after $1" 0 "${file_of[@]}" dir
		is "mode after $1" "$(stat -c '%F %a' dir/allocinfo.prom)" 'regular file 644'
	}
	head -c -1 whole >dir/allocinfo.prom
	replaced "a file without its end" 'not a whole file'
	: >dir/allocinfo.prom
	replaced "an empty file" 'not a whole file'
	echo 'root:x:0:0' >dir/allocinfo.prom
	replaced "another file" 'not a whole file'
	sed '/a.c/p' whole >dir/allocinfo.prom
	replaced "a row that appears twice" 'not a whole file'
	sed 's/func="f"/func="f\\q"/' whole >dir/allocinfo.prom
	replaced "a bad label" 'not a whole file'
	{ head -c 1048576 /dev/zero | tr '\0' '#'; cat whole; } >dir/allocinfo.prom
	replaced "a large file" 'not a whole file'
	echo secret >secret
	ln -sf ../secret dir/allocinfo.prom
	replaced "a link" 'it is a link'
	is "its target" "$(cat secret)" secret
	rm dir/allocinfo.prom
	mkfifo dir/allocinfo.prom
	expect "a pipe" 3 timeout 10 "$allocinfo" export --proc proc -t dir
	rm dir/allocinfo.prom
	is "files" "$(names dir)" ''
	"$bin/cut-metrics" whole >out 2>&1 || fail "cut-metrics"
	says "an output, cut and damaged" 'cuts, '
}

# A reader that opens the file again and again never sees a part of it.
test_atomic() {
	rm -rf dir
	mkdir -p dir
	seq -f 'f%03g' 1 100 | ranks
	"${file_of[@]}" dir
	cat >reader.py <<-'END'
		import os
		inodes, reads = set(), 0
		while not os.path.exists("finished"):
		    with open("dir/allocinfo.prom") as f:
		        text = f.read()
		        inodes.add(os.fstat(f.fileno()).st_ino)
		    assert text.startswith("# HELP ") and text.endswith("\n# EOF\n") and text.count("\n") > 95, text
		    reads += 1
		assert reads > 50 and len(inodes) > 1, (reads, inodes)
	END
	rm -f finished
	python3 reader.py >reader.log 2>&1 &
	local reader=$! i
	jobs_left+=("$reader")
	for i in {1..300}; do
		"${file_of[@]}" dir || fail "export $i"
	done
	touch finished
	if wait "$reader"; then pass; else fail "the reader: $(cat reader.log)"; fi
	is "files" "$(names dir)" allocinfo.prom
}

test_full_disk() {
	machine proc <<<'64 1 a.c:1 func:f'
	mkdir -p mnt
	if ! mount -t tmpfs -o size=64k none mnt 2>err; then
		skip "a full disk: cannot mount a file system"
		return
	fi
	"${file_of[@]}" mnt
	cp mnt/allocinfo.prom before
	head -c 100000 /dev/zero >mnt/ballast 2>/dev/null
	expect "a full disk" 3 "${file_of[@]}" mnt
	says "a full disk" 'allocinfo.prom: cannot write: No space left'
	same "the file of before" mnt/allocinfo.prom before
	is "files" "$(names mnt)" 'allocinfo.prom ballast'
	rm mnt/ballast
	expect "room again" 0 "${file_of[@]}" mnt
	mount -o remount,ro mnt
	expect "a read-only directory" 3 "${file_of[@]}" mnt
	says "a read-only directory" 'cannot write: Read-only file system'
	umount mnt
}

# only_state STATE: the file says this, and nothing else
only_state() {
	is "$1" "$(grep -v '^#' dir/allocinfo.prom | grep ' 1$')" "linux_alloc_profiling{state=\"$1\"} 1"
	is "series, $1" "$(grep -vc '^#' dir/allocinfo.prom)" 5
	promtool_accepts dir/allocinfo.prom
}

test_states() {
	rm -rf dir proc
	mkdir -p dir
	machine proc <<<'64 1 a.c:1 func:f'
	echo 0 >proc/sys/vm/mem_profiling
	expect "off" 0 "${file_of[@]}" dir
	is "no message" "$(cat out)" ''
	cp dir/allocinfo.prom out
	says "off" 'linux_alloc_profiling{state="off"} 1'
	says "off" 'linux_alloc_profiling{state="on"} 0'
	says "off" 'func="f",module=""} 64'
	expect "off, to standard output" 0 "$allocinfo" export --proc proc
	says "off, to standard output" 'sysctl vm.mem_profiling=1'
	table >proc/allocinfo </dev/null
	expect "never" 1 "${file_of[@]}" dir
	only_state never
	rm proc/allocinfo
	expect "never, of mainline" 1 "${file_of[@]}" dir
	only_state never
	rm -r proc/sys
	expect "absent" 1 "${file_of[@]}" dir
	says "absent" CONFIG_MEM_ALLOC_PROFILING
	only_state absent
	mkdir proc/allocinfo
	expect "a table that cannot be read" 1 "${file_of[@]}" dir
	only_state failed
	rmdir proc/allocinfo
	echo 'what is this' >proc/allocinfo
	expect "no table" 1 "${file_of[@]}" dir
	only_state failed
	# without a table the rows are chosen anew
	machine proc <<<'64 1 a.c:1 func:f'
	expect "on again" 0 "${file_of[@]}" dir
	echo 'damaged' >>proc/allocinfo
	expect "a damaged line" 2 "${file_of[@]}" dir
	says "a damaged line" 'not a line of /proc/allocinfo'
	cp dir/allocinfo.prom out
	says "a damaged line" 'func="f",module=""} 64'
	if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
		skip "no permission: needs root and setpriv"
		return
	fi
	machine proc <<<'64 1 a.c:1 func:f'
	chmod 700 proc/allocinfo
	chmod 755 "$tmp"
	expect "no permission" 1 setpriv --reuid=65534 --clear-groups "$allocinfo" export --proc proc
	says "no permission" 'only root can read'
	says "no permission" 'linux_alloc_profiling{state="failed"} 1'
}

# Lines of mainline 7.3.4, which writes version 2.0 with names as in ours, of 6.12, and a
# column that nobody knows yet.
test_formats() {
	machine proc <<-'END'
		 8507392     2077 mm/slub.c:3339 func:alloc_slab_page
		 1990656      486 mm/shmem.c:1909 func:shmem_alloc_folio
		 1435344     9968 fs/kernfs/dir.c:673 func:__kernfs_new_node
		  163840       10 mm/percpu-vm.c:95 func:pcpu_alloc_pages
		  262144        1 mm/page_ext.c:271 func:alloc_page_ext
		    4096        1 drivers/net/virtio_net.c:771 [virtio_net] func:virtnet_probe accurate:no
	END
	export_of proc >have
	is "rows of 2.0" "$(functions <have | xargs)" \
		'__kernfs_new_node alloc_page_ext shmem_alloc_folio virtnet_probe'
	sed -i '1s/2.0/1.0/; s/ accurate:no/ node0:4096 later/' proc/allocinfo
	expect "1.0" 0 "$allocinfo" export --proc proc
	grep -v read_seconds out >have_old
	grep -v read_seconds have >have_new
	same "1.0" have_old have_new
}

for t in values large_pages swap_cache names sticky flapping file previous atomic full_disk states formats; do
	"test_$t"
done
finish
