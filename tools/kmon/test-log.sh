#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the parts of kmonlog that need no device: the command line, paths that are not a
# device, the output with its limits and failures, and the names of tasks. The rest is
# tested in a guest, with the real device.

# shellcheck source=tools/kmon/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

# --- the command line

expect "help" 0 "$bin/kmonlog" -h
says "help" '[-m BMAX]'
says "help" 'do not print that recording started, and print no counts'
expect "version" 0 "$bin/kmonlog" --version
for option in --help --version; do
	expect "$option on a full disk" 3 bash -c '"$@" >/dev/full' - "$bin/kmonlog" $option
	says "$option on a full disk" 'kmonlog: cannot write: No space left'
done

# refused OPTION MESSAGE
refused() {
	# shellcheck disable=SC2086 # an option and its word
	expect "usage: $1" 64 "$bin/kmonlog" $1
	says "usage: $1" "kmonlog: $2"
}

refused '-b x' '-b x: not a size'
refused '-b 0' '-b 0: not a size'
refused '-b -4096' '-b -4096: not a size'
refused '-b 1T' '-b 1T: not a size'
refused '-b 1kk' '-b 1kk: not a size'
refused '-b 0x1000' '-b 0x1000: not a size'
refused '-b 8589934592G' '-b 8589934592G: not a size'
refused '-b 99999999999999999999' '-b 99999999999999999999: not a size'
refused '-b 4095' '-b 4095: not a size from 4k to 1G'
refused '-b 3k' '-b 3k: not a size'
refused '-b 1073741825' '-b 1073741825: not a size'
refused '-m 0' '-m 0: not a size'
refused '-m 1.5k' '-m 1.5k: not a size'
refused '-t 0' '-t 0: not a number of milliseconds'
refused '-t 5s' '-t 5s: not a number of milliseconds'
refused '--time=99999999999999' '-t 99999999999999: not'
refused '--sources=' '--sources : not a list of sched,alloc'
refused '--sources=sched,net' '--sources sched,net: not a list of sched,alloc'
refused '-s sched,' '--sources sched,: not'
refused 'word' 'unexpected argument: word'
refused '--none' 'see --help'
refused '-d' 'see --help'
expect "an empty size" 64 "$bin/kmonlog" -b ''
expect "a size with a space" 64 "$bin/kmonlog" -b ' 4k'

# Sizes in the range are accepted. The error is that the device is missing.
for size in 4096 4097 5000 100k 3M 1G; do
	expect "-b $size" 1 "$bin/kmonlog" -b $size -d none
	says "-b $size" 'none: No such file'
done

# --- outputs that must not be the same file: the names would replace the log

refused '-o same -p same' 'same: is also a file for names'
refused '-o same -p ./same' 'same: is also a file for names'
refused '-o pids.dat' 'pids.dat: is also a file for names'
refused '-f -o sites.dat' 'sites.dat: is also a file for names'
refused '-p same --sites same' 'same: is also a file for names'
echo old >old
ln -s old link
ln old other
refused '-f -o other -p old' 'other: is also'
refused '-f -o link -p ./link' 'link: is also'
expect "a link is a file of its own" 1 "$bin/kmonlog" -d none -f -o old -p link
expect "usage: standard output" 64 bash -c "'$bin/kmonlog' -p old >>old"
if grep -q '^old$' old; then pass; else fail "standard output is gone"; fi
expect "all to /dev/null" 1 "$bin/kmonlog" -d none -f -o /dev/null -p /dev/null --sites /dev/null
says "all to /dev/null" 'none: No such file'
rm -f old link other

# --- paths that are not a device; kmonlog must not leave any file

: >file
mkfifo fifo
mkdir directory
for what in file fifo directory /dev/null; do
	expect "device: $what" 1 "$bin/kmonlog" -d "$what" -o log -p new.dat -b 64k -t 5 -m 4M
	says "device: $what" "kmonlog: $what is not a kmon device"
done
expect "device: none" 1 "$bin/kmonlog" -d none -o log
says "device: none" 'kmonlog: none: No such file or directory; is this a kernel with CONFIG_KMON?'
chmod 0 file
chmod 755 "$tmp"
if [ "$(id -u)" != 0 ]; then
	expect "device: not for me" 1 "$bin/kmonlog" -d file -o log
	says "device: not for me" 'kmonlog: file: Permission denied; this takes root'
elif setpriv --reuid=65534 --clear-groups "$bin/kmonlog" -h >/dev/null 2>&1; then
	expect "device: not for me" 1 setpriv --reuid=65534 --clear-groups "$bin/kmonlog" -d file
	says "device: not for me" 'kmonlog: file: Permission denied; this takes root'
fi
for name in log new.dat pids.dat; do
	if [ -e "$name" ]; then fail "$name is left"; else pass; fi
done

# --- the place of the names: beside a file, but not beside a device or a pipe

refused '-f -o /dev/null -p sites.dat' 'sites.dat: is also a file for names'
refused '-f -o /dev/null -p ./sites.dat' './sites.dat: is also a file for names'
mkfifo directory/fifo
refused '-f -o directory/fifo -p sites.dat' 'sites.dat: is also a file for names'
expect "names beside a pipe" 1 "$bin/kmonlog" -d none -f -o directory/fifo -p directory/sites.dat
says "names beside a pipe" 'none: No such file'
rm directory/fifo

# --- an empty file instead of the device, with a library in which every ioctl() succeeds

cat >device.c <<'END'
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) != 0xbc)
		return syscall(SYS_ioctl, fd, request, arg);
	if (_IOC_DIR(request) & _IOC_READ)
		memset(arg, 0, _IOC_SIZE(request));
	return 0;
}
END
"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o device.so device.c || fail "device.so"
: >empty
kmonlog=(env "LD_PRELOAD=$tmp/device.so" ASAN_OPTIONS=verify_asan_link_order=0 "$bin/kmonlog"
	-d "$tmp/empty" --tags "$tmp/tags" -s 'sched,alloc')
echo '7 mm/foo.c:3 func:foo' >tags

mkdir beside
expect "names beside a log" 0 "${kmonlog[@]}" -t 100 -o beside/log
says "names beside a log" 'kmonlog: started'
says "names beside a log" '0 records lost'
if [ "$(cd beside && echo *)" = 'log pids.dat sites.dat' ]; then pass; else fail "beside: $(ls beside)"; fi
same "names of lines" tags beside/sites.dat
expect "quiet" 0 "${kmonlog[@]}" -q -t 100 -f -o beside/log
if [ -s out ]; then fail "quiet"; else pass; fi
mkdir here
expect "names of what goes to a device" 0 env -C here "${kmonlog[@]}" -t 100 -f -o /dev/null
if [ "$(cd here && echo *)" = 'pids.dat sites.dat' ]; then pass; else fail "here: $(ls here)"; fi

# The directory is replaced while kmonlog runs: the names must still go beside the log.
mkdir swapped target
echo old | tee target/pids.dat target/sites.dat >target/log
"${kmonlog[@]}" -o swapped/log 2>said &
logging=$!
jobs_left=("$logging")
for ((tries = 0; tries < 100; tries++)); do
	grep -q started said && break
	sleep 0.1
done
mv swapped moved
ln -s target swapped
kill -INT "$logging"
if wait "$logging"; then pass; else fail "a directory is swapped: $(cat said)"; fi
jobs_left=()
if [ "$(cd target && echo * && cat ./*)" = "$(printf 'log pids.dat sites.dat\nold\nold\nold')" ]; then
	pass
else
	fail "a directory is swapped: the names are in another one: $(ls -A target)"
fi
same "a directory is swapped" tags moved/sites.dat
if [ "$(cd moved && shopt -s dotglob && echo *)" = 'log pids.dat sites.dat' ]; then pass; else fail "moved: $(ls -A moved)"; fi

# --- the output: whole records, for input in pieces of any size

"$here/gen-log.py" --sim 3 sim truth
try() {
	expect "$1" 0 bash -c 'exec "$@" <sim' - "${@:2}"
}
size=$(stat -c %s sim)
for piece in 1 7 1000 60000; do
	rm -f out.log
	try "pieces of $piece" "$bin/try-output" out.log 0 "$piece"
	says "pieces of $piece" " records, $size bytes"
	same "pieces of $piece" sim out.log
done
try "the output is there" "$bin/try-output" new.log 0 1000
expect "the output is there" 1 "$bin/try-output" new.log 0 1000
says "the output is there" 'try-output: new.log: File exists; --force overwrites it'
if [ "$(stat -c %a new.log)" = 600 ]; then pass; else fail "others may read a log"; fi

# With force, the output is a new file that only its owner can read: the old file may have
# other names, be a link, or belong to another user.
echo private >victim
ln victim hard.log
ln -s victim soft.log
ln -s nowhere dangling.log
touch wide.log
chmod 666 wide.log
exec 9<wide.log
for what in hard soft dangling wide; do
	expect "-f where there is a $what one" 0 bash -c "'$bin/try-output' $what.log 0 3000 force <sim"
	same "-f where there is a $what one" sim $what.log
	if [ "$(stat -c %F,%a $what.log)" = 'regular file,600' ]; then pass; else fail "$what: $(stat -c %F,%a $what.log)"; fi
done
if [ "$(cat victim)" = private ] && [ ! -e nowhere ]; then pass; else fail "-f writes through a link"; fi
if [ -z "$(cat <&9)" ]; then pass; else fail "a descriptor of the old file reads the new one"; fi
exec 9<&-
ln -s victim soft2.log
expect "a link without -f" 1 "$bin/try-output" soft2.log 0 1000
says "a link without -f" 'soft2.log: File exists'
# /dev/stdout is such a link, and it must stay.
ln -s /proc/self/fd/1 proc.log
expect "a link to /proc" 1 "$bin/try-output" proc.log 0 1000 force
says "a link to /proc" 'proc.log: Too many levels of symbolic links; it is a link, which is not followed'
expect "names at a link to /proc" 1 bash -c "'$bin/try-pids' proc.log 0 </dev/null"
if [ -L proc.log ]; then pass; else fail "a link to /proc is gone"; fi
expect "a directory by force" 1 "$bin/try-output" directory 0 1000 force
says "a directory by force" 'directory: Is a directory'

# whole NAME MAX: NAME must contain as many whole records of sim as fit into MAX bytes
whole() {
	expect "$1: whole records" 0 python3 - "$1" "$2" <<'PY'
import struct, sys
data, got, limit = open('sim', 'rb').read(), open(sys.argv[1], 'rb').read(), int(sys.argv[2])
at = 0
while at < len(data):
    end = at + 11 + struct.unpack_from('<H', data, at + 9)[0]
    if end > limit:
        break
    at = end
assert got == data[:at], (len(got), at)
PY
}

for max in 1 10 13 14 15 16 29 30 31 1000 5000 20000 $((size - 1)) "$size" $((size + 1)); do
	rm -f max.log
	try "at most $max" "$bin/try-output" max.log "$max" 3000
	if [ "$max" -lt "$size" ]; then says "at most $max" ', full'; else not_says "at most $max" 'failed'; fi
	whole max.log "$max"
done

# A limit on the size of files stands for a full disk. Messages go to a pipe, because a
# pipe has no limit.
limited() {
	# shellcheck disable=SC2016 # for the other shell
	expect "$1" "$2" bash -c \
		'set -o pipefail; limit=$1; shift; prlimit --fsize="$limit" "$@" 2>&1 <sim | cat' - "${@:3}"
}
for max in 1 20 1000 20001 20002 20003 20004 20005; do
	rm -f full.log
	limited "a disk of $max" 0 $max "$bin/try-output" full.log 0 3000
	says "a disk of $max" 'kmonlog: full.log: File too large'
	says "a disk of $max" ', failed'
	whole full.log $max
done
echo before >append
expect "appended, on a full disk" 0 bash -c \
	"prlimit --fsize=1000 '$bin/try-output' - 0 3000 <sim >>append"
tail -c +8 append >after
whole after 993
if [ "$(head -c 7 append)" = before ]; then pass; else fail "what was there before"; fi
expect "no disk at all" 0 bash -c "'$bin/try-output' - 0 3000 <sim >/dev/full"
says "no disk at all" 'kmonlog: standard output: No space left on device'
expect "a pipe" 0 bash -c "'$bin/try-output' - 0 3000 <sim | cat >pipe.log"
same "a pipe" sim pipe.log
cat sim sim sim sim sim sim >long
expect "a pipe that nobody reads" 0 bash -c "'$bin/try-output' - 0 3000 <long | head -c 1 >/dev/null"
says "a pipe that nobody reads" 'kmonlog: standard output: Broken pipe'
says "a pipe that nobody reads" ', failed'
# kmonlog writes to an existing pipe, does not replace it, and does not wait for a reader.
mkfifo out.fifo
expect "a fifo is there" 1 bash -c "'$bin/try-output' out.fifo 0 3000 <sim"
expect "a fifo that nobody reads" 1 timeout 20 bash -c "'$bin/try-output' out.fifo 0 3000 force <sim"
says "a fifo that nobody reads" 'out.fifo: No such device or address; does nobody read it?'
cat out.fifo >fifo.log &
reader=$!
jobs_left=("$reader")
exec 6>out.fifo
expect "a fifo, undone" 0 "$bin/try-output" out.fifo 0 3000 undo
expect "a fifo" 0 bash -c "'$bin/try-output' out.fifo 0 3000 force <sim"
exec 6>&-
wait "$reader"
jobs_left=()
same "a fifo" sim fifo.log
if [ -p out.fifo ]; then pass; else fail "a fifo is gone"; fi
expect "a new file, undone" 0 "$bin/try-output" undo.log 0 3000 undo
if [ -e undo.log ]; then fail "a new file is left"; else pass; fi
if command -v script >/dev/null; then
	expect "a terminal" 1 script -qec "$bin/try-output - 0 1000" /dev/null
	says "a terminal" 'a log cannot be printed on a terminal; use -o'
fi

# --- the names of tasks

# A program under another name, with control characters in its arguments. Later it runs
# another program.
cp "$(command -v sleep)" one
cp "$(command -v bash)" two
(exec -a 'first' ./two -c 'read -r; exec -a second ./one 1000' $'a\nb' $'c\033;d' '' <fifo) &
changing=$!
(exec -a 'ends' ./one 1000) &
ending=$!
./two -c 'exec -a kept ./one 5 & echo $! >zombie; exec ./one 1000' &
parent=$!
jobs_left=("$changing" "$ending" "$parent")
exec 7<>fifo
sleep 0.4
gone=$(bash -c 'echo $$')
mkfifo look
: >seen
"$bin/try-pids" new.dat 2 0 "$ending" "$gone" "$changing" "$changing" "$(cat zombie)" 4000000000 \
	<look >seen &
looking=$!
jobs_left+=("$looking")
exec 8>look
while ! grep -q seen seen; do sleep 0.05; done
tr '\0' ';' <"/proc/$changing/cmdline" | tr '\n\033' '??' >before
echo >&7
{ kill "$ending" && wait "$ending"; } 2>/dev/null
wait_until grep -q '^State:.Z' "/proc/$(cat zombie)/status"
exec 8>&-
if wait "$looking"; then pass; else fail "names"; fi
cat new.dat >out
if grep -qF 'first;-c;read -r; exec -a second ./one 1000;a?b;c?;d;;' before; then pass; else fail "before"; fi
{
	echo '0 [IDLE]'
	if [ -z "$(tr -d '\0' <"/proc/2/cmdline")" ]; then echo "2 [$(cat /proc/2/comm)]"; else grep '^2 ' new.dat; fi
	{
		echo "$changing second;1000;"
		echo "$ending ends;1000;"
		echo "$(cat zombie) kept;5;"
		echo "$gone [?]"
		echo '4000000000 [?]'
	} | sort -n
} >wanted
if cmp -s wanted new.dat; then pass; else fail "names"; fi
says "safe" 'second'
kill "$changing" "$parent" 2>/dev/null
wait "$changing" "$parent" 2>/dev/null
jobs_left=()

"$bin/try-pids" odd.dat "$$" </dev/null >/dev/null
if [ "$(stat -c %a odd.dat)" = 600 ]; then pass; else fail "others may read names"; fi
echo old >odd.dat
limited "no room for names" 1 2 "$bin/try-pids" odd.dat $$
says "no room for names" 'odd.dat: File too large'
if [ "$(cat odd.dat)" = old ]; then pass; else fail "the old names are gone"; fi
if compgen -G '.codetag-*' >/dev/null; then fail "a temporary file is left"; else pass; fi
mkdir swapped2 target2
echo old >target2/pids.dat
mkfifo hold
"$bin/try-pids" swapped2/pids.dat 0 <hold >seen &
looking=$!
jobs_left=("$looking")
exec 8>hold
while ! grep -q seen seen; do sleep 0.05; done
mv swapped2 moved2
ln -s target2 swapped2
exec 8>&-
if wait "$looking"; then pass; else fail "names, a directory is swapped"; fi
jobs_left=()
if [ "$(cat target2/pids.dat)" = old ] && [ "$(cat moved2/pids.dat)" = '0 [IDLE]' ]; then
	pass
else
	fail "names, a directory is swapped: they are in another one"
fi
for name in moved2/ moved2/. /; do
	expect "no name for names: $name" 1 bash -c "'$bin/try-pids' $name 0 </dev/null"
	says "no name for names: $name" 'Is a directory'
done
expect "nowhere to put names" 1 bash -c "'$bin/try-pids' none/pids.dat $$ </dev/null"
says "nowhere to put names" 'none/pids.dat: No such file'

# The file replaces a link and never changes its target. A pipe or a device is not replaced.
mkdir -p elsewhere
echo old >elsewhere/names
chmod 600 elsewhere/names
ln -s elsewhere/names link.dat
ln -s nowhere/names astray.dat
ln -s /dev/null null.dat
ln elsewhere/names hard.dat
for name in link astray null hard; do
	expect "names at a link: $name" 0 bash -c "'$bin/try-pids' $name.dat 0 </dev/null"
	if [ ! -L $name.dat ] && [ "$(cat $name.dat)" = '0 [IDLE]' ]; then pass; else fail "$name is followed"; fi
done
if [ "$(cat elsewhere/names)" = old ] && [ ! -e nowhere ]; then pass; else fail "the target is replaced"; fi
mkfifo names.fifo
expect "names for nobody" 1 timeout 20 bash -c "'$bin/try-pids' names.fifo 0 </dev/null"
says "names for nobody" 'names.fifo: No such device or address'
cat names.fifo >names.read &
reader=$!
jobs_left=("$reader")
exec 6>names.fifo
expect "names into a fifo" 0 bash -c "'$bin/try-pids' names.fifo 0 </dev/null 6>&-"
exec 6>&-
wait "$reader"
jobs_left=()
if [ -p names.fifo ] && [ "$(cat names.read)" = '0 [IDLE]' ]; then pass; else fail "names into a fifo"; fi
if mknod null c 1 3 2>/dev/null && echo 2>/dev/null >null; then
	expect "names into a device" 0 bash -c "'$bin/try-pids' null 0 </dev/null"
	if [ -c null ]; then pass; else fail "a device is replaced"; fi
fi

# cleaned WHAT NAME WANTED
cleaned() {
	expect "$1" 0 "$bin/try-clean" "$2"
	if [ "$(cat out)" = "$3" ]; then pass; else fail "$1"; fi
}
cleaned "plain" 'a b;c [d]' 'a b;c [d]'
cleaned "controls" $'a\nb\033[2J\177' 'a?b?[2J?'
cleaned "controls behind ASCII" $'a\xc2\x80b\xc2\x9b2J\xc2\x9f' 'a?b?2J?'
cleaned "characters" $'\xc2\xa0\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80' \
	$'\xc2\xa0\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80'
cleaned "stray bytes" $'\x9b2J\xff\x80' '?2J??'
cleaned "cut short" $'a\xe2\x82' 'a??'
cleaned "cut short by another" $'\xf0\x9f\xc3\xa9' $'??\xc3\xa9'
cleaned "more than one way" $'\xc0\x80\xe0\x80\x80\xf0\x80\x80\x80' '?????????'
cleaned "no characters" $'\xed\xa0\x80\xf4\x90\x80\x80\xf5' '????????'

finish
