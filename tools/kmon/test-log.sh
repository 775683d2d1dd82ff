#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmonlog, as far as it goes without a device: the command line, what is no device,
# the output with its limits and failures, the names of tasks. The rest is tried in a
# guest, with the real one.

# shellcheck source=tools/kmon/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

# --- the command line

expect "help" 0 "$bin/kmonlog" -h
says "help" '[-m BMAX]'
expect "version" 0 "$bin/kmonlog" --version

# refused OPTION MESSAGE
refused() {
	# shellcheck disable=SC2086 # an option and its word
	expect "usage: $1" 2 "$bin/kmonlog" $1
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
refused '-m 0' '-m 0: not a size'
refused '-m 1.5k' '-m 1.5k: not a size'
refused '-t 0' '-t 0: not a number of milliseconds'
refused '-t 5s' '-t 5s: not a number of milliseconds'
refused '--time=99999999999999' '-t 99999999999999: not'
refused '--sources=' '--sources : not a list of sched,alloc'
refused '--sources=sched,net' '--sources sched,net: not a list of sched,alloc'
refused '-s sched,' '--sources sched,: not'
refused 'word' 'what is this: word'
refused '--none' 'see --help'
refused '-d' 'see --help'
expect "an empty size" 2 "$bin/kmonlog" -b ''
expect "a size with a space" 2 "$bin/kmonlog" -b ' 4k'

# --- what is no device; and nothing is left of it

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

# --- the output: whole records, whatever pieces they come in

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
says "the output is there" 'kmonlog: new.log: File exists; --force overwrites it'
if [ "$(stat -c %a new.log)" = 600 ]; then pass; else fail "others may read a log"; fi

# whole NAME MAX: it is the longest part of sim of whole records that is not over MAX
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

# a limit on the size of files is a stand-in for a full disk; messages are no file
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
if command -v script >/dev/null; then
	expect "a terminal" 1 script -qec "$bin/try-output - 0 1000" /dev/null
	says "a terminal" 'a log is not for a terminal, use -o'
fi

# --- the names of tasks

# a copy that is named, with arguments that are no use in a line; it turns into another
cp "$(command -v sleep)" one
cp "$(command -v bash)" two
(exec -a 'first' ./two -c 'read -r; exec -a second ./one 1000' $'a\nb' $'c\033;d' '' <fifo) &
changing=$!
(exec -a 'ends' ./one 1000) &
ending=$!
./two -c 'exec -a kept ./one 0.7 & echo $! >zombie; exec ./one 1000' &
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
sleep 0.6
if grep -q '^State:.Z' "/proc/$(cat zombie)/status"; then pass; else fail "no zombie"; fi
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
		echo "$(cat zombie) kept;0.7;"
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
if [ "$(stat -c %a odd.dat)" = "$(printf %o $((0666 & ~$(umask))))" ]; then pass; else fail "mode"; fi
echo old >odd.dat
limited "no room for names" 1 2 "$bin/try-pids" odd.dat $$
says "no room for names" 'odd.dat: File too large'
if [ "$(cat odd.dat)" = old ]; then pass; else fail "the old names are gone"; fi
if compgen -G 'odd.dat.*' >/dev/null; then fail "a temporary file is left"; else pass; fi
expect "nowhere to put names" 1 bash -c "'$bin/try-pids' none/pids.dat $$ </dev/null"
says "nowhere to put names" 'none/pids.dat: No such file'

finish
