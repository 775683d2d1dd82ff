#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-record.sh [DIR]: test allocinfo record and what reads its files, with a directory in
# place of /proc.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/test-lib.sh"
cd "$tmp" || exit
allocinfo=$bin/allocinfo

# sites N FACTOR: a table of N call sites, for make_proc()
sites() {
	awk -v n="$1" -v f="$2" 'BEGIN {
		for (i = 1; i <= n; i++)
			print i * 64 * f, i * f, "mm/file" i % 7 ".c:" i " func:alloc_" i
	}'
}

# snapshots FILE: number of snapshots that can be read
snapshots() {
	local n=0
	while "$allocinfo" report "$1@$n" >/dev/null 2>&1 && [ "$n" -lt 100 ]; do
		n=$((n + 1))
	done
	echo "$n"
}

has_snapshots() {
	[ "$(snapshots "$1")" -ge "$2" ]
}

record=("$allocinfo" record --proc proc)

# Each snapshot has the text that was read, and the file is private.
test_contents() {
	local i
	for i in 1 2 3; do
		sites 50 "$i" | make_proc proc
		cp proc/allocinfo "copy$i"
		expect "record $i" 0 "${record[@]}" -n 1 -o log
	done
	is "mode of the file" "$(stat -c %a log)" 600
	is "snapshots" "$(snapshots log)" 3
	for i in 1 2 3; do
		"$allocinfo" report "log@$((i - 1))" --format csv >have
		"$allocinfo" report "copy$i" --format csv >want
		same "snapshot $i" have want
	done
	"$allocinfo" report log@-1 --format csv >have
	same "the last snapshot" have want
	expect "a number that is too large" 1 "$allocinfo" report log@3
	says "a number that is too large" 'no such snapshot'
	expect "not a time" 1 "$allocinfo" report log@noon
	expect "a date" 0 "$allocinfo" report "log@$(date +%F)"
	expect "a time before the first" 1 "$allocinfo" report log@2001-01-01
	expect "before the last" 1 "$allocinfo" report log@-7d
	expect "the header" 0 "$allocinfo" report log --format json
	says "the header" "\"boot_id\":\"$(cat /proc/sys/kernel/random/boot_id)\""
	says "the header" "\"release\":\"$(uname -r)\""
	cp out have.json
	expect "the machine" 0 python3 - <<-'END'
		import json, os
		d = json.load(open("have.json"))["source"]
		assert d["host"] == os.uname().nodename, d
		# what cannot be shown is a question mark
		cmdline = open("/proc/cmdline", errors="replace").read().split("\n")[0][:4095]
		assert cmdline.isprintable() and d["cmdline"] == cmdline, d
		assert d["meminfo"] == {"MemTotal": 2000000 << 10, "MemFree": 1500000 << 10, "Slab": 20000 << 10}, d
	END
	printf 'MemTotal: 1 kB\nHugePages_Total:       3\nodd: x\nno colon\nMemFree: 99999999999999999999 kB\n\033Big: 18446744073709551615 kB\n' \
		>proc/meminfo
	expect "odd lines" 0 "${record[@]}" -n 1 -o odd
	expect "odd lines" 0 "$allocinfo" report odd --format json
	says "odd lines" '"meminfo":{"MemTotal":1024,"HugePages_Total":3,"?Big":18446744073709550592}'
	echo 'quiet  root=/dev/sda1' >proc/cmdline
	printf 'MemTotal: 7 kB\n' >proc/meminfo
	expect "live" 0 "$allocinfo" report --proc proc --format json
	says "live" '"cmdline":"quiet  root=/dev/sda1","meminfo":{"MemTotal":7168}'
	rm proc/cmdline
	expect "a copy" 0 "$allocinfo" report proc/allocinfo --format json
	says "a copy" '"cmdline":null,"meminfo":null'
}

# A snapshot in the same recording refers to the one before, and is small.
test_delta() {
	local first
	sites 3000 1 | make_proc proc
	expect "one" 0 "${record[@]}" -n 1 -o one
	first=$(stat -c %s one)
	"${record[@]}" -n 3 -i 2 -o three &
	# the table changes after the first snapshot, four seconds before the last one
	wait_until has_snapshots three 1
	sites 3000 1 | awk 'NR % 20 == 0 { $1 += 4096; $2 += 1 } { print }' | make_proc proc
	wait $!
	is "exit status" $? 0
	is "snapshots" "$(snapshots three)" 3
	"$allocinfo" report three --format csv >have
	"$allocinfo" report proc/allocinfo --format csv >want
	same "the last snapshot" have want
	if [ "$(($(stat -c %s three) - first))" -lt 6000 ]; then
		pass
	else
		fail "two more snapshots take $(($(stat -c %s three) - first)) bytes"
	fi
}

# After a crash the unfinished snapshot is cut off; without one, nothing is.
test_continue() {
	sites 20 1 | make_proc proc
	"${record[@]}" -n 1 -o torn
	cp torn whole
	head -c 100 whole >>torn
	expect "read it" 2 "$allocinfo" report torn
	says "read it" 'no whole snapshot'
	expect "continue it" 0 "${record[@]}" -n 1 -o torn
	says "continue it" 'cut off 100 bytes'
	expect "read it again" 0 "$allocinfo" report torn
	is "snapshots" "$(snapshots torn)" 2
	expect "continue it" 0 "${record[@]}" -n 1 -o torn
	not_says "continue it" 'cut off'
	head -c 5 whole >begun
	chmod 600 begun
	expect "the beginning of a header" 0 "${record[@]}" -n 1 -o begun
	: >empty
	expect "an empty file" 0 "${record[@]}" -n 1 -o empty
	is "snapshots of it" "$(snapshots empty)" 1
}

grown() {
	[ "$(stat -c %s "$1")" -gt "$2" ]
}

# The next snapshot may be half written while the recorder runs: that is no damage, but after
# the death of the recorder it is. Other bytes are damage at any time.
test_being_written() {
	local size cut
	sites 20 1 | make_proc proc
	"${record[@]}" -n 1 -o whole1
	"${record[@]}" -i 600 -o busy 2>err &
	jobs_left+=($!)
	wait_until has_snapshots busy 1
	size=$(stat -c %s busy)
	for cut in 1 8 23 24 100 $(($(stat -c %s whole1) / 2)); do
		head -c "$cut" whole1 >>busy
		expect "$cut bytes of the next snapshot" 0 "$allocinfo" report busy
		is "$cut bytes of the next snapshot" "$(grep -c snapshot out)" 0
		is "snapshots before them" "$(snapshots busy)" 1
		truncate -s "$size" busy
	done
	cp busy copy
	head -c 100 whole1 >>copy
	expect "of a copy" 2 "$allocinfo" report copy
	echo 'these are no bytes of a snapshot' >>busy
	expect "other bytes" 2 "$allocinfo" report busy
	says "other bytes" '33 bytes at the end are no whole snapshot'
	truncate -s "$size" busy
	# a whole record whose last byte is wrong
	{ head -c -1 whole1; tail -c 1 whole1 | tr '\000-\377' '\001-\377\000'; } >>busy
	expect "a damaged snapshot" 2 "$allocinfo" report busy
	truncate -s "$size" busy
	head -c 100 whole1 >>busy
	expect "while it is recorded" 0 "$allocinfo" report busy
	kill -KILL $!
	wait $! 2>/dev/null
	expect "after the recorder died" 2 "$allocinfo" report busy
	says "after the recorder died" '100 bytes at the end are no whole snapshot'
	{ head -c 30 whole1; printf x; tail -c +32 whole1; } >damaged
	cat damaged whole1 >busy
	size=$(stat -c %s busy)
	"${record[@]}" -i 600 -o busy 2>err &
	jobs_left+=($!)
	wait_until grown busy "$size"
	expect "damage in the middle" 2 "$allocinfo" report busy
	says "damage in the middle" 'are damaged'
	kill -TERM $!
	wait $!
}

# A recorder must not write to what is not its own file.
test_refuse() {
	sites 20 1 | make_proc proc
	echo text >text
	expect "a text" 3 "${record[@]}" -n 1 -o text
	says "a text" '--force replaces it'
	is "the text" "$(cat text)" text
	expect "a text with --force" 0 "${record[@]}" -n 1 -f -o text
	is "snapshots" "$(snapshots text)" 1
	ln -s text link
	expect "a link" 3 "${record[@]}" -n 1 -o link
	ln text second
	expect "a second name" 3 "${record[@]}" -n 1 -o second
	rm second
	chmod 666 text
	expect "others may write" 3 "${record[@]}" -n 1 -o text
	chmod 600 text
	mkfifo pipe
	expect "a pipe" 3 "${record[@]}" -n 1 -o pipe
	expect "no directory" 3 "${record[@]}" -n 1 -o none/file
	expect "no table" 1 "$allocinfo" record --proc none -n 1 -o new
	if [ -e new ]; then fail "without a table there is a file"; else pass; fi
	"${record[@]}" -i 600 -o text 2>err &
	jobs_left+=($!)
	wait_until has_snapshots text 2
	expect "two recorders" 3 "${record[@]}" -n 1 -o text
	says "two recorders" 'another program records to it'
	expect "two recorders with --force" 3 "${record[@]}" -n 1 -f -o text
	says "two recorders with --force" 'another program records to it'
	kill -TERM $!
	wait $!
	is "SIGTERM" $? 0
	is "snapshots" "$(snapshots text)" 2
}

# logrotate uses the same names: its files stay as they are. The recording does not begin, or does
# not begin a new part.
test_foreign_parts() {
	sites 10 1 | make_proc proc
	echo "rotated by somebody" >rotated.1
	expect "a foreign part" 3 "${record[@]}" -n 1 --max-size 1M -o rotated
	says "a foreign part" 'rotated.1 is no part of a recording'
	is "the foreign part" "$(cat rotated.1)" "rotated by somebody"
	if [ -e rotated ]; then fail "there is a recording"; else pass; fi
	expect "without limits" 0 "${record[@]}" -n 1 -o rotated
	timeout 60 "${record[@]}" -n 5 -i 1 --max-age 8 -o late 2>err &
	wait_until has_snapshots late 1
	echo "rotated by somebody" >late.1
	wait $!
	is "exit status" $? 0
	is "messages" "$(grep -c 'late.1 is no part of a recording; the newest part grows' err)" 1
	is "number of messages" "$(wc -l <err)" 1
	is "the foreign part" "$(cat late.1)" "rotated by somebody"
	rm late.1
	is "snapshots" "$(snapshots late)" 5
}

# Somebody renames or removes the file while it is recorded: a new one begins.
test_moved() {
	local limits
	sites 10 1 | make_proc proc
	for limits in '--max-age 100' ''; do
		# shellcheck disable=SC2086
		timeout 60 "${record[@]}" -n 4 -i 1 $limits -o moved 2>err &
		wait_until has_snapshots moved 1
		mv moved moved.1
		wait $!
		is "exit status $limits" $? 0
		is "messages $limits" "$(cat err)" ""
		expect "what was moved $limits" 0 "$allocinfo" report moved.1@0
		is "all snapshots $limits" "$(snapshots moved)" 4
		rm moved moved.1
	done
	timeout 60 "${record[@]}" -n 3 -i 1 -o moved 2>err &
	wait_until has_snapshots moved 1
	rm moved
	wait $!
	is "exit status, removed" $? 0
	if [ "$(snapshots moved)" -ge 1 ]; then pass; else fail "no new file"; fi
	# another file with this name is not touched; when it is gone, a new one begins
	rm moved
	"${record[@]}" -i 1 -o moved 2>err &
	jobs_left+=($!)
	wait_until has_snapshots moved 1
	echo other >other
	mv other moved
	wait_until grep -q 'cannot write, trying again: File exists' err
	is "the other file" "$(cat moved)" other
	rm moved
	wait_until has_snapshots moved 1
	kill -TERM $!
	wait $!
	is "exit status, another file" $? 2
}

# logrotate renames the file and creates an empty one, or copies the file and truncates it.
test_rotated() {
	local how have
	sites 10 1 | make_proc proc
	for how in 'create 0644' copytruncate; do
		timeout 60 "${record[@]}" -n 5 -i 1 -o turned 2>err &
		wait_until has_snapshots turned 2
		cat >rotate.conf <<-END
			$PWD/turned {
				rotate 4
				$how
			}
		END
		chmod 600 rotate.conf
		expect "logrotate, $how" 0 /usr/sbin/logrotate --force --state state rotate.conf
		wait $!
		is "exit status, $how" $? 0
		if [ "$how" != copytruncate ]; then is "messages, $how" "$(cat err)" ""; fi
		is "mode, $how" "$(stat -c %a turned)" 600
		expect "the old file, $how" 0 "$allocinfo" report turned.1@0
		# one snapshot may come between the copy and the truncation
		have=$(snapshots turned)
		if [ "$how" = copytruncate ] && [ "$have" = 4 ]; then have=5; fi
		is "all snapshots, $how" "$have" 5
		rm turned turned.1
	done
}

# Between the creation of a file and its lock, another recorder can take it.
test_lock_taken() {
	sites 10 1 | make_proc proc
	cat >late.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include <unistd.h>
		static int locked(int (*real)(int, int, ...), int fd, int cmd, void *arg)
		{
			if (cmd == F_OFD_SETLK) {
				close(open("waiting", O_CREAT | O_WRONLY, 0600));
				while (access("go", F_OK))
					usleep(10000);
			}
			return real(fd, cmd, arg);
		}
		#define WRAP(name) \
		int name(int fd, int cmd, ...) \
		{ \
			va_list args; \
			void *arg; \
			va_start(args, cmd); \
			arg = va_arg(args, void *); \
			va_end(args); \
			return locked((int (*)(int, int, ...))dlsym(RTLD_NEXT, #name), fd, cmd, arg); \
		}
		WRAP(fcntl)
		WRAP(fcntl64)
	END
	expect "a library that waits" 0 "${CC:-cc}" -shared -fPIC -o late.so late.c -ldl || return
	env LD_PRELOAD="$PWD/late.so" ASAN_OPTIONS=verify_asan_link_order=0 "${record[@]}" -n 1 -o taken 2>err &
	local first=$!
	wait_until test -e waiting
	"${record[@]}" -i 600 -o taken 2>err2 &
	jobs_left+=($!)
	wait_until has_snapshots taken 1
	touch go
	wait "$first"
	is "exit status" $? 3
	cp err out
	says "the first one" 'another program records to it'
	kill -TERM $!
	wait $!
	is "exit status of the second one" $? 0
	expect "no damage" 0 "$allocinfo" report taken
	is "snapshots" "$(snapshots taken)" 1
}

# Parts: the oldest go, what is left can be read, and it is the newest.
test_limits() {
	local i size
	for i in $(seq 1 14); do
		sites 9000 "$i" | shuf --random-source=<(yes "$i") | make_proc proc
		"${record[@]}" -n 1 --max-size 1M -o parts
	done
	size=$(cat parts parts.* | wc -c)
	if [ "$size" -le 1048576 ] && [ "$size" -gt 500000 ]; then pass; else fail "it has $size bytes"; fi
	if [ -e parts.2 ]; then pass; else fail "there is no second part"; fi
	"$allocinfo" report parts --format csv >have
	"$allocinfo" report proc/allocinfo --format csv >want
	same "the last snapshot" have want
	expect "all parts" 0 "$allocinfo" report parts@0
	size=$(snapshots parts)
	if [ "$size" -gt 2 ] && [ "$size" -lt 14 ]; then pass; else fail "it has $size snapshots"; fi
	# a recorder that died while it renamed parts
	mv parts.1 parts.0
	is "snapshots, one part is missing" "$(snapshots parts)" $((size - 1))
	mv parts.0 parts.1
	mv parts parts.new
	is "snapshots, the newest part is missing" "$(snapshots parts)" $((size - 1))
	mv parts.new parts
	# age: parts that were written too long ago go
	touch -d '2 days ago' parts.[1-9]*
	expect "age" 0 "${record[@]}" -n 1 --max-age 1d -o parts
	is "parts" "$(echo parts*)" parts
}

# A full disk: what was written stays, and the recorder goes on when there is room.
test_full() {
	local pid before
	mkdir -p mnt
	if ! mount -t tmpfs -o size=256k none mnt 2>err; then
		skip "a full disk: cannot mount a file system"
		return
	fi
	sites 2000 1 | shuf | make_proc proc
	head -c 170000 /dev/zero >mnt/ballast
	"${record[@]}" -i 1 -o mnt/file 2>err &
	pid=$!
	jobs_left+=("$pid")
	wait_until has_snapshots mnt/file 1
	head -c 200000 /dev/zero >mnt/more 2>/dev/null
	# Change the table. A snapshot without changes is small: it fits into the rest of the last page
	# of the file, although the disk is full.
	sites 2000 7 | shuf | make_proc proc
	wait_until grep -q 'cannot write' err
	before=$(snapshots mnt/file)
	sleep 2.2
	is "snapshots of the full disk" "$(snapshots mnt/file)" "$before"
	expect "it can be read" 0 "$allocinfo" report mnt/file
	rm mnt/ballast mnt/more
	wait_until grep -q 'recording again' err
	kill -INT "$pid"
	wait "$pid"
	is "exit status" $? 2
	if [ "$(snapshots mnt/file)" -gt "$before" ]; then pass; else fail "no snapshot after the full disk"; fi
	"$allocinfo" report mnt/file --format csv >have
	"$allocinfo" report proc/allocinfo --format csv >want
	same "the last snapshot" have want
	cp err out
	says "messages" 'cannot write, trying again: No space left on device'
	says "messages" 'recording again; '
	is "number of messages" "$(wc -l <err)" 2
	umount mnt
}

# After a reboot a new header follows, and each snapshot has the header of its boot.
test_boots() {
	sites 20 1 | make_proc proc
	"${record[@]}" -n 1 -o boots
	python3 - boots <<-'END'
		import struct, sys, zlib
		with open(sys.argv[1], "rb") as f:
		    data = f.read()
		size = struct.unpack_from("<I", data, 12)[0]
		text = data[24:24 + size].replace(b"boot_id ", b"boot_id other-", 1)[:size]
		head = data[:20]
		with open(sys.argv[1], "wb") as f:
		    f.write(head + struct.pack("<I", zlib.crc32(text, zlib.crc32(head))) + text + data[24 + size:])
	END
	"${record[@]}" -n 1 -o boots
	is "snapshots" "$(snapshots boots)" 2
	expect "the first boot" 0 "$allocinfo" report boots@0 --format json
	says "the first boot" '"boot_id":"other-'
	expect "the second boot" 0 "$allocinfo" report boots --format json
	says "the second boot" "\"boot_id\":\"$(cat /proc/sys/kernel/random/boot_id)\""
}

# A file that is cut at each byte, and with each byte damaged.
test_cuts() {
	sites 12 1 | make_proc proc
	"${record[@]}" -n 2 -i 1 -o cuts
	sites 12 3 | make_proc proc
	"${record[@]}" -n 1 -o cuts
	expect "cuts" 0 "$bin/cut-snap" cuts
	says "cuts" "$(stat -c %s cuts) cuts, 3 snapshots"
}

# A table that disappears for a while: what is missing does not count.
test_unreadable() {
	sites 20 1 | make_proc proc
	"${record[@]}" -n 6 -i 1 -o gap 2>err &
	wait_until has_snapshots gap 1
	mv proc/allocinfo proc/away
	wait_until grep -q 'No such file' err
	mv proc/away proc/allocinfo
	wait $!
	is "exit status" $? 2
	cp err out
	says "messages" 'No such file'
	says "messages" 'can be read again'
	is "snapshots" "$(snapshots gap)" 6
}

# A new part begins, and its first snapshot cannot be packed, for lack of memory for example:
# the snapshot is missing, and the next one is the first of the part.
test_no_memory() {
	sites 9000 1 | shuf --random-source=<(yes 1) | make_proc proc
	cat >failing.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stddef.h>
		#include <stdlib.h>
		size_t ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t size)
		{
			size_t (*real)(void *, void *, size_t, const void *, size_t) = dlsym(RTLD_NEXT, "ZSTD_compress2");
			static int calls;

			return ++calls == atoi(getenv("FAIL_AT")) ? (size_t)-64 : real(context, to, room, from, size);
		}
	END
	expect "a library that fails" 0 "${CC:-cc}" -shared -fPIC -o failing.so failing.c -ldl || return
	"${record[@]}" -n 1 --max-size 1M -o packed
	is "parts" "$(echo packed*)" packed
	# the second call is that for the new part
	expect "it goes on" 2 env FAIL_AT=2 LD_PRELOAD="$PWD/failing.so" \
		ASAN_OPTIONS=verify_asan_link_order=0 "${record[@]}" -n 1 -i 1 --max-size 1M -o packed
	says "it goes on" 'cannot write, trying again: Cannot allocate memory'
	says "it goes on" 'recording again; 1 snapshots are missing'
	is "parts" "$(echo packed*)" "packed packed.1"
	is "snapshots" "$(snapshots packed)" 2
	expect "no damage" 0 "$allocinfo" report packed
}

# The text of a table is kept, whatever it says, also columns that are not known yet.
test_text() {
	mkdir -p proc
	printf 'allocinfo - version: 1.0\n# heading\n 64 1 a.c:1 [m] func:f new:column tail \n' >proc/allocinfo
	printf 'MemTotal: 5 kB\n' >proc/meminfo
	expect "record" 0 "${record[@]}" -n 1 -o text1
	expect "report" 0 "$allocinfo" report text1 --format json
	says "report" '"format":"1.0"'
	says "report" '"module":"m"'
}

# A recorder that takes a snapshot a minute uses less than 0.1 % of a CPU. Of 6,000 call sites,
# 500 change between two snapshots.
test_costs() {
	local limit=60
	mkdir -p busy_proc
	printf '%-15s %8s kB\n' MemTotal: 2000000 MemFree: 1500000 >busy_proc/meminfo
	grep -q __asan_init "$allocinfo" && limit=1000
	expect "costs" 0 python3 - "$allocinfo" $limit <<-'END'
		import os, random, subprocess, sys, time
		program, limit = sys.argv[1], float(sys.argv[2])
		random.seed(1)
		calls = [int(2 ** random.uniform(0, 16)) for _ in range(6000)]
		each = [random.randrange(8, 4096, 8) for _ in calls]

		def write():
		    rows = "".join(f"{n * size:12} {n:8} drivers/net/vendor{i // 300}/main{i // 20}.c:{i % 20 * 37 + 7} "
		                   f"func:vendor_alloc_{i // 3} \n" for i, (n, size) in enumerate(zip(calls, each)))
		    with open("busy_proc/new", "w") as f:
		        f.write("allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n" + rows)
		    os.rename("busy_proc/new", "busy_proc/allocinfo")

		write()
		snapshots = 12
		child = subprocess.Popen([program, "record", "--proc", "busy_proc", "-o", "busy_log", "-i", "1",
		                          "-n", str(snapshots)])
		for _ in range(100):
		    time.sleep(0.1)
		    first = os.path.getsize("busy_log") if os.path.exists("busy_log") else 0
		    if first > 50000:
		        break
		time.sleep(0.3)
		for _ in range(snapshots - 1):
		    for i in random.sample(range(6000), 500):
		        calls[i] += random.randrange(1, 20)
		    write()
		    time.sleep(1)
		_, status, used = os.wait4(child.pid, 0)
		assert not status, status
		spent = (used.ru_utime + used.ru_stime) / snapshots * 1000
		size = (os.path.getsize("busy_log") - first) / (snapshots - 1)
		print(f"# 6000 call sites: a snapshot takes {spent:.1f} ms of CPU time and {size / 1000:.1f} kB, "
		      f"a full one {first / 1000:.0f} kB")
		assert spent < limit, f"more than {limit} ms"
		assert 1000 < size < first / 4, size
	END
	grep '^#' "$tmp/out"
}

for t in contents delta continue being_written refuse foreign_parts moved rotated lock_taken limits full boots cuts unreadable no_memory text costs; do
	"test_$t"
done
finish
