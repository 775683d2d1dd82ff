#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test kmonparse: every form of a record, the order of the file and the order of times,
# names, and damaged logs.

# shellcheck source=tools/kmon/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

# --- the text of the announcement, in the order of the log

cat >sample <<'TEXT'
cpu=0,ts=14929534,op=DEQ,pid=25311
cpu=0,ts=14929535,op=SWC,prev=25311,next=0
cpu=0,ts=14953518,op=WAK,from=0,to=8
cpu=0,ts=14953520,op=QUE,pid=8
cpu=0,ts=14953522,op=SWC,prev=0,next=8
cpu=1,ts=14912505,op=WAK,from=9,to=27233
cpu=1,ts=14912507,op=QUE,pid=27233
cpu=1,ts=14912510,op=DEQ,pid=9
cpu=1,ts=14912513,op=SWC,prev=9,next=0
cpu=1,ts=14962510,op=WAK,from=0,to=9
cpu=1,ts=14962512,op=QUE,pid=9
cpu=1,ts=14962514,op=SWC,prev=0,next=9
cpu=0,ts=14953524,op=WAK,from=8,to=27233
cpu=0,ts=14953526,op=QUE,pid=27233
cpu=0,ts=14953528,op=DEQ,pid=8
TEXT
# The log began, 777.000000123 s after boot, with a record that the mail left out.
{
	echo 'cpu=0,ts=777000000123,op=QUE,pid=1'
	while IFS=, read -r cpu ts rest; do
		echo "$cpu,ts=$((777000000123 + ${ts#ts=} * 1000 + 999)),$rest"
	done <sample
} | log announced
parse "announcement" 0 announced
{ echo 'cpu=0,ts=0,op=QUE,pid=1'; cat sample; } | is "announcement"
parse "announcement, by time" 0 --sort announced
{ echo 'cpu=0,ts=0,op=QUE,pid=1'; sort -s -t= -k3,3n sample; } | is "announcement, by time"
sed 's/$/ wide/' announced.txt | log announced_wide
cp text by_time
parse "wide" 0 --sort announced_wide
is "wide" <by_time

# --- every form of a record

log forms <<'TEXT'
cpu=0,ts=5000,op=QUE,pid=65535
cpu=1,ts=5001,op=DEQ,pid=65536
cpu=255,ts=5002,op=SWC,prev=0,next=4294967295
cpu=2,ts=5003,op=WAK,from=0,to=12
cpu=2,ts=5004,op=ALC,site=7,bytes=4096,ptr=0xffff888000001000
cpu=2,ts=5005,op=ALC,site=none,bytes=18446744073709551615,ptr=0x0
cpu=2,ts=5006,op=FRE,ptr=0xffff888000001000
cpu=2,ts=5007,op=USR,type=128,data=00ff10
cpu=2,ts=5008,op=USR,type=255,data=
cpu=2,ts=5009,op=RAW,blob=0c0102
cpu=2,ts=5010,op=RAW,blob=00
cpu=2,ts=5011,op=RAW,blob=
cpu=2,ts=5012,op=RAW,blob=010900aabb
cpu=256,ts=5013,op=SWC,prev=1,next=65536
cpu=65535,ts=5014,op=RAW,blob=
cpu=255,ts=5015,op=RAW,blob=0b00010b0200aa
TEXT
parse "forms" 0 -s 1 forms
is "forms" <<'TEXT'
cpu=0,ts=0,op=QUE,pid=65535
cpu=1,ts=1,op=DEQ,pid=65536
cpu=255,ts=2,op=SWC,prev=0,next=4294967295
cpu=2,ts=3,op=WAK,from=0,to=12
cpu=2,ts=4,op=ALC,site=7,bytes=4096,ptr=0xffff888000001000
cpu=2,ts=5,op=ALC,site=none,bytes=18446744073709551615,ptr=0x0
cpu=2,ts=6,op=FRE,ptr=0xffff888000001000
cpu=2,ts=7,op=USR,type=128,size=4,data=00ff10
cpu=2,ts=8,op=USR,type=255,size=1,data=
cpu=2,ts=9,op=USR,type=12,size=3,data=0102
cpu=2,ts=10,op=USR,type=0,size=1,data=
cpu=2,ts=11,op=USR,type=none,size=0,data=
cpu=2,ts=12,op=QUE,pid=9
cpu=256,ts=13,op=SWC,prev=1,next=65536
cpu=65535,ts=14,op=USR,type=none,size=0,data=
cpu=256,ts=15,op=USR,type=11,size=4,data=0200aa
TEXT
# A wide record as the kernel writes it: gen-log.py and kmonparse could have the same bug.
printf '\xff\x05\0\0\0\0\0\0\0\x06\0\x0b\x2c\x01\x01\x07\0' >wide
parse "a wide record" 0 -s 1 wide
is "a wide record" <<<'cpu=300,ts=0,op=QUE,pid=7'

# --- names

printf '%s\n' '0 [IDLE]' '1 init [2]' '12 rxvt;-sl;1000;' '65535 say;"hi"\,;' \
	'65536 [kworker/0:1]' >pids.dat
printf '7 mm/slub.c:1799 func:alloc_slab_page\n' >sites.dat
parse "names are not asked for" 0 -s 1 forms
if grep -q name text; then fail "names are not asked for"; else pass; fi
parse "names" 0 -s 1 -n forms
sed -i 7,\$d text
is "names" <<'TEXT'
cpu=0,ts=0,op=QUE,pid=65535,name="say;\"hi\"\\,;"
cpu=1,ts=1,op=DEQ,pid=65536,name="[kworker/0:1]"
cpu=255,ts=2,op=SWC,prev=0,next=4294967295,prev_name="[IDLE]"
cpu=2,ts=3,op=WAK,from=0,to=12,to_name="rxvt;-sl;1000;"
cpu=2,ts=4,op=ALC,site=7,bytes=4096,ptr=0xffff888000001000,line="mm/slub.c:1799 func:alloc_slab_page"
cpu=2,ts=5,op=ALC,site=none,bytes=18446744073709551615,ptr=0x0
TEXT
parse "json" 0 -s 1 --json forms
is "json" <<'TEXT'
{"cpu":0,"ts":0,"time":5000,"op":"QUE","pid":65535,"name":"say;\"hi\"\\,;"}
{"cpu":1,"ts":1,"time":5001,"op":"DEQ","pid":65536,"name":"[kworker/0:1]"}
{"cpu":255,"ts":2,"time":5002,"op":"SWC","prev":0,"next":4294967295,"prev_name":"[IDLE]"}
{"cpu":2,"ts":3,"time":5003,"op":"WAK","from":0,"to":12,"to_name":"rxvt;-sl;1000;"}
{"cpu":2,"ts":4,"time":5004,"op":"ALC","site":7,"bytes":4096,"ptr":"0xffff888000001000","line":"mm/slub.c:1799 func:alloc_slab_page"}
{"cpu":2,"ts":5,"time":5005,"op":"ALC","site":null,"bytes":18446744073709551615,"ptr":"0x0"}
{"cpu":2,"ts":6,"time":5006,"op":"FRE","ptr":"0xffff888000001000"}
{"cpu":2,"ts":7,"time":5007,"op":"USR","type":128,"size":4,"data":"00ff10"}
{"cpu":2,"ts":8,"time":5008,"op":"USR","type":255,"size":1,"data":""}
{"cpu":2,"ts":9,"time":5009,"op":"USR","type":12,"size":3,"data":"0102"}
{"cpu":2,"ts":10,"time":5010,"op":"USR","type":0,"size":1,"data":""}
{"cpu":2,"ts":11,"time":5011,"op":"USR","type":null,"size":0,"data":""}
{"cpu":2,"ts":12,"time":5012,"op":"QUE","pid":9}
{"cpu":256,"ts":13,"time":5013,"op":"SWC","prev":1,"next":65536,"prev_name":"init [2]","next_name":"[kworker/0:1]"}
{"cpu":65535,"ts":14,"time":5014,"op":"USR","type":null,"size":0,"data":""}
{"cpu":256,"ts":15,"time":5015,"op":"USR","type":11,"size":4,"data":"0200aa"}
TEXT
expect "json is JSON" 0 python3 -c '
import json, sys
for line in open("text", encoding="utf-8"):
    json.loads(line)'
printf '8 \xc3\xa4\xff\x1b[2J\t\xed\xa0\x80\n12 first\n12 second\nno number\n13\n 14 space\n99999999999 large\n' >odd.dat
parse "odd names" 2 -n -p odd.dat announced
says "odd names" 'kmonparse: odd.dat:4: not a number and a name'
says "odd names" 'odd.dat:5: '
says "odd names" 'odd.dat:6: '
says "odd names" 'odd.dat:7: '
if grep -qF $',to_name="\xc3\xa4??[2J????"' text; then pass; else fail "a name that is no UTF-8"; fi
printf '8 a\xc2\x9b2Jb\xc2\xa0c\n' >c1.dat
for form in '' --json --summary; do
	# shellcheck disable=SC2086 # no word or one
	parse "a control above ASCII: $form" 0 $form -p c1.dat announced
	if grep -q $'a?2Jb\xc2\xa0c' text; then pass; else fail "a control above ASCII: $form"; fi
done
parse "odd names, twice" 2 -n -s 1 -p odd.dat forms
if grep -q 'to_name="second"' text; then pass; else fail "the last name holds"; fi
parse "names that are not there" 1 -n -p none.dat forms
says "names that are not there" 'kmonparse: none.dat: No such file'
parse "names that cannot be read" 1 -p / forms
says "names that cannot be read" 'kmonparse: /: Is a directory'
parse "--pids implies --names" 0 -p pids.dat forms
if grep -q 'to_name="rxvt' text; then pass; else fail "--pids shows names"; fi
parse "--sites implies --names" 0 --sites sites.dat forms
if grep -q 'line="mm/slub.c' text; then pass; else fail "--sites shows names"; fi
rm pids.dat sites.dat
parse "no names, and none asked for" 0 --json forms

# By default, the names come from the directory of the log, not from the current directory.
mkdir beside other
cp forms beside/log
cp forms other/log
echo '12 beside' >beside/pids.dat
echo '7 a.c:1 func:beside' >beside/sites.dat
echo '12 other' >other/pids.dat
echo '12 here' >pids.dat
echo '7 b.c:1 func:here' >sites.dat
# names_of WHAT PID LINE ARG...: kmonparse must show these names, "" for none
names_of() {
	parse "$1" 0 -n "${@:4}"
	if [ "$(grep -o 'to_name=".*"\|line=".*"' text | sort -u | xargs)" = "${3:+line=$3 }${2:+to_name=$2}" ]; then
		pass
	else
		fail "$1: $(grep name text | head -3)"
	fi
}
names_of "beside the log" beside 'a.c:1 func:beside' beside/log
names_of "beside the log, an absolute path" beside 'a.c:1 func:beside' "$tmp/beside/log"
names_of "beside the first log" other '' other/log beside/log
names_of "beside a log that is here" here 'b.c:1 func:here' forms
names_of "of standard input" here 'b.c:1 func:here' - <forms
names_of "as asked for" other 'a.c:1 func:beside' -p other/pids.dat beside/log
parse "names that are read, beside the log" 3 -n -f -o beside/pids.dat beside/log
says "names that are read, beside the log" 'beside/pids.dat: is an input file'
rm pids.dat sites.dat

# --- names that somebody else put beside the log

# distrusts WHAT WHY [COMMAND...]: kmonparse must neither read the names beside the log nor
# wait for them, but it must convert the log
distrusts() {
	expect "$1" 0 timeout 20 "${@:3}" bash -c '"$@" >text' - "$bin/kmonparse" -n distrust/log
	says "$1" "distrust/pids.dat: not read: $2"
	if grep -q op= text; then pass; else fail "$1: the log is not converted"; fi
	if grep -q name text; then fail "$1: names are shown"; else pass; fi
}
mkdir distrust
cp beside/log distrust/log
ln -s "$tmp/beside/pids.dat" distrust/pids.dat
distrusts "names at a link" "is a link"
rm distrust/pids.dat
mkfifo distrust/pids.dat
distrusts "names in a pipe" "is not a regular file, or belongs to another user"
rm distrust/pids.dat
python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('distrust/pids.dat')"
distrusts "names in a socket" 'No such device or address'
rm distrust/pids.dat
mkdir distrust/pids.dat
distrusts "names in a directory" "is not a regular file, or belongs to another user"
rmdir distrust/pids.dat
ln -s loop distrust/loop
expect "names out of reach" 1 "$bin/kmonparse" -n distrust/loop/log
says "names out of reach" 'distrust/loop/log: Too many levels'
rm distrust/loop
cp beside/pids.dat distrust/pids.dat
if [ "$(id -u)" = 0 ]; then
	chown 12345 distrust/pids.dat
	distrusts "names of another user" "is not a regular file, or belongs to another user"
	cp beside/pids.dat distrust/sites.dat
	chmod 600 distrust/pids.dat distrust/sites.dat
	chown 0 distrust/pids.dat
	chmod 711 "$tmp"
	as_other=(setpriv --reuid 65534 --clear-groups)
	: >text
	chmod 666 text
	distrusts "names that only root may read" 'Permission denied' "${as_other[@]}"
	says "lines that only root may read" 'distrust/sites.dat: not read: Permission denied'
	rm distrust/sites.dat
	chmod 644 distrust/pids.dat
	chown 12345 distrust/pids.dat
	chown 12345 distrust/log
	names_of "of the user who has the log" beside '' distrust/log
fi
ln -sf "$tmp/beside/pids.dat" link.dat
names_of "at a link that is asked for" beside '' -p link.dat distrust/log

# --- times

log times <<'TEXT'
cpu=0,ts=1000000,op=QUE,pid=1
cpu=0,ts=1000999,op=QUE,pid=2
cpu=0,ts=1001000,op=QUE,pid=3
cpu=1,ts=999999,op=QUE,pid=4
cpu=1,ts=999000,op=QUE,pid=5
cpu=1,ts=998999,op=QUE,pid=6
cpu=1,ts=0,op=QUE,pid=7
cpu=2,ts=18446744073709551615,op=QUE,pid=8
cpu=0,ts=1000000,op=QUE,pid=9
TEXT
parse "times" 0 --sort times
is "times" <<'TEXT'
cpu=1,ts=-1000,op=QUE,pid=7
cpu=1,ts=-2,op=QUE,pid=6
cpu=1,ts=-1,op=QUE,pid=5
cpu=1,ts=-1,op=QUE,pid=4
cpu=0,ts=0,op=QUE,pid=1
cpu=0,ts=0,op=QUE,pid=9
cpu=0,ts=0,op=QUE,pid=2
cpu=0,ts=1,op=QUE,pid=3
cpu=2,ts=18446744073708551,op=QUE,pid=8
TEXT
parse "no scale" 0 --sort -s 1 times
is "no scale" <<'TEXT'
cpu=1,ts=-1000000,op=QUE,pid=7
cpu=1,ts=-1001,op=QUE,pid=6
cpu=1,ts=-1000,op=QUE,pid=5
cpu=1,ts=-1,op=QUE,pid=4
cpu=0,ts=0,op=QUE,pid=1
cpu=0,ts=0,op=QUE,pid=9
cpu=0,ts=999,op=QUE,pid=2
cpu=0,ts=1000,op=QUE,pid=3
cpu=2,ts=18446744073708551615,op=QUE,pid=8
TEXT
parse "a large scale" 0 -s 18446744073709551615 times
is "a large scale" <<'TEXT'
cpu=0,ts=0,op=QUE,pid=1
cpu=0,ts=0,op=QUE,pid=2
cpu=0,ts=0,op=QUE,pid=3
cpu=1,ts=-1,op=QUE,pid=4
cpu=1,ts=-1,op=QUE,pid=5
cpu=1,ts=-1,op=QUE,pid=6
cpu=1,ts=-1,op=QUE,pid=7
cpu=2,ts=0,op=QUE,pid=8
cpu=0,ts=0,op=QUE,pid=9
TEXT

# --- a long log, which is sorted through a temporary file, from a file, a pipe or in parts

python3 -B - "$here" <<'PY'
import importlib.util, random, sys
spec = importlib.util.spec_from_file_location('gen', sys.argv[1] + '/gen-log.py')
gen = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gen)
r = random.Random(7)
records = [(r.randint(0, 60000), i) for i in range(120000)]
with open('long', 'wb') as out:
    for time, i in records:
        if i % 10000 == 3:
            out.write(gen.record(5, time, bytes([200]) + i.to_bytes(4, 'little') + bytes(65530)))
        else:
            out.write(gen.sched(i % 7, time, gen.QUE, i))
with open('long.txt', 'w') as out:
    for time, i in sorted(records):
        if i % 10000 == 3:
            out.write(f'{time - records[0][0]} 5 USR\n')
        else:
            out.write(f'{time - records[0][0]} {i % 7} QUE {i}\n')
PY
short() {
	sed -E -i 's/cpu=(.*),ts=(.*),op=QUE,pid=/\2 \1 QUE /; s/cpu=(.*),ts=(.*),op=USR.*/\2 \1 USR/' text
}
for memory in 256k 1M 64M; do
	parse "long, $memory" 0 -s 1 --sort --sort-memory "$memory" long
	short
	is "long, $memory" <long.txt
done
expect "standard input" 0 bash -c "cat long | '$bin/kmonparse' -s 1 --sort >text"
short
is "standard input" <long.txt
# three small records and a large one
head -c 65588 long >one
tail -c +65589 long >two
expect "in parts" 0 bash -c "'$bin/kmonparse' -s 1 --sort one - <two >text"
short
is "in parts" <long.txt
expect "no room for the file" 1 env TMPDIR=/nowhere "$bin/kmonparse" --sort --sort-memory 256k -o no long
says "no room for the file" 'temporary file: cannot be made'
expect "no room in the file" 1 prlimit --fsize=200000 bash -c \
	"trap '' XFSZ; '$bin/kmonparse' --sort --sort-memory 256k long >/dev/null"
says "no room in the file" 'temporary file: cannot be written'
for form in --summary '--summary --json'; do
	# shellcheck disable=SC2086 # two options
	expect "no room: $form" 1 prlimit --fsize=200000 bash -c \
		"trap '' XFSZ; '$bin/kmonparse' --sort-memory 256k $form long >text"
	if [ -s text ]; then fail "no room, and there is a $form"; else pass; fi
done

# --- without sorting, each record is printed before the next one arrives

python3 - "$bin/kmonparse" <<'PY' >out 2>&1
import subprocess, sys
raw = open('announced', 'rb').read()
p = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for pid in (1, 25311):
    # Both records have one 16-bit pid.
    p.stdin.write(raw[:14])
    p.stdin.flush()
    raw = raw[14:]
    line = p.stdout.readline()
    if not line.endswith(b'pid=%d\n' % pid):
        print(line)
p.stdin.close()
if p.wait():
    print(p.returncode)
PY
if [ -s out ]; then fail "one by one"; else pass; fi

# --- damaged logs: the complaints with their offsets, and the readable records

log short_blobs <<'TEXT'
cpu=0,ts=1000,op=RAW,blob=0109
cpu=0,ts=2000,op=QUE,pid=1
cpu=0,ts=3000,op=RAW,blob=0309000a
cpu=0,ts=4000,op=RAW,blob=08010000000200
cpu=0,ts=5000,op=RAW,blob=090102030405
cpu=0,ts=6000,op=RAW,blob=0a01020304050607
cpu=0,ts=7000,op=QUE,pid=2
cpu=0,ts=8000,op=RAW,blob=0b01
cpu=300,ts=9000,op=RAW,blob=0109
TEXT
parse "short blobs" 2 short_blobs
is "short blobs" <<'TEXT'
cpu=0,ts=0,op=QUE,pid=1
cpu=0,ts=5,op=QUE,pid=2
TEXT
parse "short blobs, where" 2 short_blobs
says "short blobs" 'kmonparse: short_blobs:0: a blob of 2 bytes is too short for type 1'
says "short blobs" 'short_blobs:27: a blob of 4 bytes is too short for type 3'
says "short blobs" 'short_blobs:42: a blob of 7 bytes is too short for type 8'
says "short blobs" 'short_blobs:60: a blob of 6 bytes is too short for type 9'
says "short blobs" 'short_blobs:77: a blob of 8 bytes is too short for type 10'
says "short blobs" 'short_blobs:110: a blob of 2 bytes is too short for type 11'
says "short blobs" 'short_blobs:123: a blob of 2 bytes is too short for type 1'

# Cut a log off at every byte: the whole records before the cut must be converted.
python3 - "$bin/kmonparse" <<'PY' >out 2>&1
import struct, subprocess, sys
data = open('forms', 'rb').read()
lines = subprocess.run([sys.argv[1], 'forms'], stdout=subprocess.PIPE, check=True).stdout.splitlines(True)
ends, at = [0], 0
while at < len(data):
    at += 11 + struct.unpack_from('<H', data, at + 9)[0]
    ends.append(at)
for size in range(len(data) + 1):
    open('part', 'wb').write(data[:size])
    whole = sum(end <= size for end in ends) - 1
    p = subprocess.run([sys.argv[1], 'part'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    left = size - ends[whole]
    said = f'kmonparse: part:{ends[whole]}: cut short after {left} bytes of a record\n' if left else ''
    if (p.returncode, p.stdout, p.stderr.decode()) != (2 if left else 0, b''.join(lines[:whole]), said):
        sys.exit(f'{size}: {p}')
PY
if [ -s out ]; then fail "cut at every byte"; else pass; fi
for form in --json --summary '--summary --json' '--ctf ctf_cut' --sort; do
	head -c 100 forms >part
	rm -rf ctf_cut
	# shellcheck disable=SC2086 # two options
	parse "cut: $form" 2 $form part
done
"$here/gen-log.py" --corpus corpus
expect "hostile" 0 "$bin/cut-log" corpus/kind* corpus/alloc corpus/cut corpus/empty corpus/user corpus/wide

python3 -c 'print(bytes(range(256)).hex() * 40, end="")' | xxd -r -p >noise
parse "noise" 2 noise
head -c 60000 /dev/zero >zeroes
parse "zeroes" 2 zeroes
for i in {1..30}; do echo "cpu=0,ts=$i,op=RAW,blob=01"; done | log many
parse "much damage" 2 many
says "much damage" 'kmonparse: 10 more messages about damage'
parse "a directory" 1 / forms
says "a directory" 'kmonparse: /: Is a directory'
if [ "$(wc -l <text)" -eq 16 ]; then pass; else fail "a log after a directory is not converted"; fi
parse "no log" 1 none forms
says "no log" 'kmonparse: none: No such file'
if [ "$(wc -l <text)" -eq 16 ]; then pass; else fail "the other log is not converted"; fi
: >nothing
parse "an empty log" 0 nothing
is "an empty log" </dev/null
parse "an empty log" 0 --summary nothing

# --- CTF, as babeltrace2 reads it

printf '65535 a "name"\\;\n12 rxvt;\n' >pids.dat
printf '7 mm/slub.c:1799 func:alloc_slab_page\n' >sites.dat
for what in forms announced corpus_sim; do
	[ $what = corpus_sim ] && "$here/gen-log.py" --sim 3 corpus_sim truth
	parse "ctf of $what" 0 --ctf "ctf_$what" "$what"
	expect "babeltrace2 of $what" 0 "$here/gen-log.py" --ctf "$what" "ctf_$what"
done
expect "labels" 0 babeltrace2 ctf_forms
says "labels" '"a \?name\?\?;" : container = 65535'
says "labels" '"mm/slub.c:1799 func:alloc_slab_page" : container = 7'
says "labels" '"none" : container = 65535'
parse "ctf where there is one" 3 --ctf ctf_forms forms
says "ctf where there is one" 'kmonparse: ctf_forms: File exists'
if [ "$(stat -c %a ctf_forms ctf_forms/* | sort -u | xargs)" = '600 700' ]; then pass; else fail "others may read a trace"; fi
# The directory must belong to the user, no other user may have write access, and links
# are not followed.
mkdir ctf_shared ctf_own
chmod 770 ctf_shared
chmod 755 ctf_own
ln -s ctf_own ctf_link
for dir in ctf_shared ctf_link ctf_link/; do
	parse "ctf in $dir" 3 --ctf $dir forms
done
says "ctf in a link" 'kmonparse: ctf_link/: Not a directory'
if compgen -G 'ctf_[os]*/cpu*' >/dev/null; then fail "ctf in another directory"; else pass; fi
parse "ctf in a directory of one's own" 0 --ctf ctf_own forms
if [ "$(id -u)" = 0 ]; then
	mkdir ctf_other
	chown 65534 ctf_other
	parse "ctf in another user's" 3 --ctf ctf_other forms
	says "ctf in another user's" 'kmonparse: ctf_other: belongs to another user, or others may write to it'
fi
parse "ctf nowhere" 3 --ctf none/none forms
python3 -c '
import struct, sys
for i in range(5):
    sys.stdout.buffer.write(struct.pack("<BQH", 0, i, 65535) + bytes([200]) + bytes(65534))' >large
parse "large blobs" 0 --ctf ctf_large large
expect "large blobs" 0 "$here/gen-log.py" --ctf large ctf_large

# --- the command line

parse "help" 0 --help
if grep -q '^Usage: kmonparse' text; then pass; else fail "help"; fi
parse "version" 0 -V
for bad in '--none' '-s 0' '-s -1' '-s 1x' '-s' '-t x' '--sort-memory 1k' '--sort-memory 4G' \
	'--ctf a --json' '--ctf a -o b' '--unsorted' '-u' \
	'--ctf a --text' '--text --json' '--top 3' '--json --top 3'; do
	# shellcheck disable=SC2086 # several words
	parse "usage: $bad" 64 $bad forms
done
parse "an output" 0 -o new forms
if [ "$(stat -c %a new)" = 600 ]; then pass; else fail "others may read an output"; fi
parse "an output that is there" 3 -o new forms
says "an output that is there" '--force overwrites it'
parse "an output by force" 0 --force -o new announced
parse "another one by force" 0 --force -o new nothing
if [ -s new ]; then fail "an output is cut off"; else pass; fi
parse "a device by force" 0 --force -o /dev/null forms
# A link is not followed, with and without force.
echo private >victim
ln -s victim leads
ln victim twice
parse "an output that is a link" 3 -o leads forms
for name in leads twice; do
	parse "an output that is a link, by force" 0 -f -o $name forms
	if [ "$(stat -c %F,%a $name)" = 'regular file,600' ]; then pass; else fail "$name is followed"; fi
done
if [ "$(cat victim)" = private ]; then pass; else fail "an output goes through a link"; fi
# An input file is not overwritten under any of its names.
cp forms same
ln -s same symlink
ln same hardlink
for name in same symlink hardlink; do
	parse "$name is the log" 3 -f -o "$name" announced same
	says "$name is the log" "kmonparse: $name: is an input file"
done
expect "standard input is the log" 3 bash -c "'$bin/kmonparse' -f -o same <same"
expect "- is the log" 3 bash -c "'$bin/kmonparse' -f -o same - <same"
expect "nothing is lost" 0 cmp forms same
cp pids.dat same
parse "the names are read" 3 -f -o same -p same forms
expect "no name is lost" 0 cmp pids.dat same
parse "a start that fails" 1 -o fails none
parse "a start that fails" 1 -o fails /
parse "a start that fails" 1 -o fails -p none forms
if [ -e fails ]; then fail "a start that fails leaves an output"; else pass; fi
parse "a start that fails, by force" 1 -f -o same none
expect "and keeps what is there" 0 cmp pids.dat same
expect "full disk" 3 bash -c "'$bin/kmonparse' long >/dev/full"
says "full disk" 'kmonparse: standard output: No space left on device'
for option in --help --version; do
	expect "$option on a full disk" 3 bash -c '"$@" >/dev/full' - "$bin/kmonparse" $option
	says "$option on a full disk" 'kmonparse: cannot write: No space left'
done

finish
