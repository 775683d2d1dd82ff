#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test kmemtrace_check: it finds no error in a valid trace, and it finds each error at its
# offset.

# shellcheck source=test-lib.sh
. "$(dirname "$0")/test-lib.sh"

check() {
	expect "$1" "$2" "$bin/kmemtrace_check" "${@:3}"
}

for machine in "" "--big" "--word 32" "--big --word 32"; do
	for kind in "" "--lost" "--first 0xfffffe00" "--features time" "--features ,"; do
		# shellcheck disable=SC2086 # several options
		gen good $machine $kind --header span=whole
		check "good $machine $kind" 0 "$tmp/good/cpu0.out" "$tmp/good/cpu1.out"
		says "good $machine $kind" 'clean'
		check "all of good $machine $kind" 0 --all "$tmp/good"
	done
done
: >"$tmp/good/cpu0.out"
check "empty" 0 "$tmp/good/cpu0.out"
says "empty" 'empty; clean'

# fault NAME MESSAGE [OFFSET]: expect this error, in both byte orders
fault() {
	local order
	for order in '' --big; do
		gen bad ${order:+"$order"} --word 32 --fault "$1"
		check "$1 $order" 2 "$tmp/bad/cpu0.out"
		says "$1 $order" "cpu0.out: offset ${3:-31416}: $2"
		check "$1 $order: other file" 0 "$tmp/bad/cpu1.out"
		check "$1 $order: all" 2 --all "$tmp/bad"
	done
}

fault size-0 'a record of 0 bytes; the rest is not checked'
fault size-small 'a record of 16 bytes'
fault size-odd 'a record of 50 bytes'
fault size-core '24 bytes are too few for event 0'
fault size-huge 'a record of 8192 bytes'
fault id 'unknown event 9'
fault type 'unknown type 7'
fault req-0 '0 bytes requested'
fault alloc-less '100 bytes requested, only 96 allocated'
fault cpu 'target CPU -2'
fault cpu-far 'target CPU 99999'
fault free-nothing 'a free of 0'
fault free-zero 'a free of 0x10'
fault ptr-32 'address 0x10000000000 does not fit in 32 bits'
fault ptr-page 'pages at 0xc8000064, no multiple of 4096'
fault size-page '100 bytes are no pages of 4096'
fault size-over '2147483648 bytes at 0xc8000000 exceed the address space'
fault bytes-page '77 bytes are no pages of 4096'
fault site-0 'call site 0'
fault filling 'padding that is not zero'
fault filling-late 'padding that is not zero'
fault feature-over 'feature 2 of 99 bytes runs over the end'
fault feature-small 'feature 2 has a size of 2'
fault feature-short 'feature time has 2 bytes, not 8'
fault feature-long 'feature pid has 6 bytes, not 4'
fault feature-twice 'feature pid a second time'
fault feature-id 'unknown feature 77'
fault tag-on-free 'a tag in a record that is not an allocation'
fault bytes-missing 'a free of pages without the number of bytes'
fault bytes-on-alloc 'feature bytes in a record that is not a free of pages'
fault bytes-0 'a free of 0 bytes'
fault lost-ptr 'a record of losses with an address'
fault lost-site 'a record of losses with an address'
fault lost-type 'a record of losses of type 1'
fault lost-0 'a loss of no events'
fault lost-bytes '10 lost events of 48 bytes in all'
fault site-32 'call site 0x10000000000 does not fit in 32 bits'
fault seq-back 'sequence number 4294967183 after 886'
fault seq-same 'sequence number 886 after 886'
fault time-back 'time goes back by 1088495 ns'
fault nul 'a record of 0 bytes'
fault truncated 'cut short after 39 bytes of a record of 48' 62864
fault truncated-head 'cut short after 5 bytes of a record' 62864
gen bad --fault junk
check "junk" 2 "$tmp/bad/cpu0.out"

# --- a header with a missing tag, and other files in the directory

gen odd --header span=whole
sed -i '/^2 mm/d' "$tmp/odd/header"
cp /proc/cpuinfo "$tmp/odd/cpuinfo"
touch "$tmp/odd/cpu0.out.old"
check "a tag without a name" 0 "$tmp/odd/cpu0.out"
says "a tag without a name" ' tags that the table does not name; clean'
check "files beside it" 0 --all "$tmp/odd"
gen odd --header page_size=65536
check "larger pages" 2 "$tmp/odd/cpu0.out"
says "larger pages" '4096 bytes are no pages of 65536'

# A read error must not count as the end of a file.
gen unread
ln -sf /proc/self/mem "$tmp/unread/cpu0.out"
check "cannot be read" 1 "$tmp/unread/cpu0.out"
says "cannot be read" 'cpu0.out: empty; not read to its end'
check "cannot be read, all" 1 --all "$tmp/unread"
says "cannot be read, all" 'nothing follows from the numbers'

# --- a trace of a newer ABI may contain more

for name in id type feature-id feature-long; do
	gen newer --fault "$name" --header abi_version=3
	check "newer: $name" 0 "$tmp/newer/cpu0.out"
done
gen newer --fault id --header abi_version=3
check "newer" 0 "$tmp/newer/cpu0.out"
says "newer" 'unknown: 1 events'

# --- without a header

gen bare --big --no-header
check "no header" 0 "$tmp/bare/cpu0.out"
says "no header" 'byte order guessed: big'

# --- the number of messages

gen bad --fault seq-back --events 4000
python3 - "$tmp/bad/cpu0.out" <<'PY'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = 0
while at < len(data):
    data[at + 1] = 9
    at += data[at + 2] | data[at + 3] << 8
open(sys.argv[1], 'wb').write(data)
PY
check "many errors" 2 "$tmp/bad/cpu0.out"
says "many errors" 'more errors'
if [ "$(grep -c offset "$tmp/out")" -eq 20 ]; then pass; else fail "not 20 errors are shown"; fi
check "three errors" 2 -m 3 -q "$tmp/bad/cpu0.out"
if [ "$(wc -l <"$tmp/out")" -eq 4 ]; then pass; else fail "not 3 errors are shown"; fi

# header_errors WHAT SHOWN MORE: that many lines of the output must be about the header
header_errors() {
	is "$1: errors shown" "$(grep -c '/header: line ' "$tmp/out")" "$2"
	is "$1: more errors" "$(sed -n 's|.*/header: and \(.*\) more errors$|\1|p' "$tmp/out")" "$3"
}

gen bad --header span=whole
sed -i "s/^section tags\$/&$(printf '\\nno tag%.0s' {1..1000})/" "$tmp/bad/header"
check "many errors in a header" 2 -a "$tmp/bad"
header_errors "many errors in a header" 20 980
for max in 0 3 999; do
	check "$max errors in a header" 2 -m $max -a "$tmp/bad"
	header_errors "$max errors in a header" $max $((1000 - max))
	check "$max errors in a header, by file" 2 -m $max "$tmp"/bad/cpu*.out
	header_errors "$max errors in a header, by file" $max $((1000 - max))
done
check "all errors in a header" 2 -m 1000 -a "$tmp/bad"
header_errors "all errors in a header" 1000 ""
# The limit is one of each file.
gen other --header span=whole
sed -i "s/^section tags\$/&$(printf '\\nno tag%.0s' {1..5})/" "$tmp/other/header"
check "errors in two headers" 2 -m 3 "$tmp/bad/cpu0.out" "$tmp/other/cpu0.out"
header_errors "errors in two headers" 6 $'997\n2'

# --- all files together

# edit FILE PYTHON: change a file with Python code, which finds the records in the list r
edit() {
	python3 - "$1" "$2" <<'PY'
import struct, sys
data = open(sys.argv[1], 'rb').read()
r, at = [], 0
while at < len(data):
    size = struct.unpack_from('<H', data, at + 2)[0]
    r.append(bytearray(data[at:at + size]))
    at += size
exec(sys.argv[2])
open(sys.argv[1], 'wb').write(b''.join(r))
PY
}

gen all --lost --header span=whole
check "all" 0 --all "$tmp/all"
says "all" '177 numbers missing'
not_says "all" 'note'
check "as many begins" 0 --begins 0 --all "$tmp/all"
check "fewer begins" 2 --begins 1 --all "$tmp/all"
edit "$tmp/all/cpu0.out" 'del r[100]'
check "one record gone" 0 --all "$tmp/all"
says "one record gone" 'did recording begin anew'
check "one begin" 0 --begins 1 --all "$tmp/all"
check "no begin" 2 --begins 0 --all "$tmp/all"
says "no begin" '178 numbers are missing; 177 events were lost'
sed -i 's/^span /begins 0\n&/' "$tmp/all/header"
check "no begin, by the header" 2 --all "$tmp/all"
says "no begin, by the header" '178 numbers are missing; 177 events were lost'
check "the option comes first" 0 --begins 1 --all "$tmp/all"
sed -i 's/^begins 0/begins 1/' "$tmp/all/header"
check "one begin, by the header" 0 --all "$tmp/all"
not_says "one begin, by the header" 'note'
sed -i 's/^begins 1/begins many/' "$tmp/all/header"
check "begins that are no number" 2 --all "$tmp/all"
says "begins that are no number" 'invalid value of "begins"'
sed -i '/^begins /d' "$tmp/all/header"
edit "$tmp/all/cpu0.out" 'del r[100:150]'
check "fifty records gone" 2 --all "$tmp/all"
says "fifty records gone" 'numbers are missing, but only 177 events were lost'

gen all --lost --header span=whole
sed -i 's/^lost 0 100 /lost 0 90 /' "$tmp/all/header"
check "more told than lost" 2 --all "$tmp/all"
says "more told than lost" 'records report 177 lost events; the kernel counted 167'
gen all --lost --header span=whole
edit "$tmp/all/cpu0.out" 'l = [x for x in r if x[0] == 2][0]
l[24:40] = struct.pack("<QQ", *(a + b for a, b in zip(struct.unpack("<QQ", l[24:40]), (10, 480))))'
check "told of what was not lost" 2 --all "$tmp/all"
sed -i 's/^lost 0 /earlier 0 10 480\nuntold 0 0 0\nlost 0 /' "$tmp/all/header"
check "told of an earlier loss" 0 --all "$tmp/all"
gen all --lost --header span=whole
sed -i 's/^lost 0 100 /untold 0 10 480\nlost 0 110 /' "$tmp/all/header"
check "untold at the end" 0 --all "$tmp/all"
sed -i 's/^untold 0 10 /untold 0 9 /' "$tmp/all/header"
check "neither told nor untold" 2 --all "$tmp/all"

gen all --header span=whole
edit "$tmp/all/cpu0.out" 'r[5][4:8] = struct.pack("<I", 4)'
check "a number twice" 2 --all "$tmp/all"
says "a number twice" 'is in cpu'
gen all --header span=part
edit "$tmp/all/cpu0.out" 'del r[100:150]'
check "a part" 4 --all "$tmp/all"
says "a part" 'a part of a recording: the existing records are sound, but it is unknown'
check "the files of a part" 0 "$tmp/all/cpu0.out" "$tmp/all/cpu1.out"
sed -i '/^span /d' "$tmp/all/header"
check "nothing said of a span" 4 --all "$tmp/all"
says "nothing said of a span" 'a part of a recording'
gen all --header span=whole --header complete=no
edit "$tmp/all/cpu0.out" 'del r[100:150]'
check "not complete" 4 --all "$tmp/all"
says "not complete" 'not complete, kmemtraced did not finish it: the existing records are sound'
check "not complete, quiet" 4 --quiet --all "$tmp/all"
says "not complete, quiet" 'not complete'
sed -i 's/^span whole/span part/' "$tmp/all/header"
check "neither complete nor whole" 4 --all "$tmp/all"
gen all --header span=whole --header complete=no --fault req-0
check "not complete, with an error" 2 --all "$tmp/all"
says "not complete, with an error" 'nothing follows from the numbers'
sed -i '/^end$/d' "$tmp/all/header"
check "header cut short" 2 --all "$tmp/all"
says "header cut short" 'cut short'

# --- hostile files

# seed NAME ARG...: make a small trace in the format of the fuzzers
seed() {
	"$here/make-trace.py" "$tmp/$1.seed" --packed "${@:2}"
}

# Only the build with the sanitizers runs this test: they find a read outside of a buffer.
if [ "${bin##*/}" != sanitized ]; then
	skip "cut off at every byte: the build with the sanitizers has it"
else
	seed whole --few-tags --scenario losses --header span=whole --header begins=0
	seed other --few-tags --scenario basic --big --word 32
	expect "cut off at every byte" 0 "$bin/cut-check" "$tmp"/*.seed
	for name in "$tmp"/*.seed; do
		says "cut off at every byte" "$name: $(($(stat -c %s "$name") + 1)) inputs"
	done
fi

expect "findings that go nowhere" 3 bash -c '"$@" >/dev/full' - \
	"$bin/kmemtrace_check" "$tmp/odd/cpu1.out"
says "findings that go nowhere" 'standard output: No space left'

# --- no directory given

cd "$tmp" || exit
check "no trace here" 1 --all
says "no trace here" 'kmemtrace-trace: '
gen kmemtrace-trace --header span=whole
check "the trace here" 0 --all
says "the trace here" 'kmemtrace-trace: 0 numbers missing'
gen kmemtrace-trace/in --header span=whole
cd kmemtrace-trace/in || exit
check "the header here comes first" 0 --all
says "the header here comes first" '.: 0 numbers missing'
check "files by name" 0 cpu*.out
says "files by name" 'cpu1.out: '
cd "$tmp" || exit
rm -r kmemtrace-trace/in
check "by name" 0 "--all=$tmp/kmemtrace-trace"
check "two directories" 64 --all kmemtrace-trace kmemtrace-trace
check "two directories, one with =" 64 --all=kmemtrace-trace kmemtrace-trace

# --- files that cannot be read, and wrong options

check "no such file" 1 "$tmp/nothing"
check "a directory" 1 "$tmp"
check "no trace" 1 --all "$tmp"
check "nothing" 64
check "unknown option" 64 --what
check "no number" 64 -m x "$tmp/all/cpu0.out"
check "help" 0 --help
says "help" 'Exit status'
check "version" 0 --version
for option in --help --version; do
	full "$option on a full disk" "$bin/kmemtrace_check" $option
	says "$option on a full disk" 'kmemtrace_check: cannot write: No space left'
done
mkfifo "$tmp/fifo"
check "a pipe" 1 "$tmp/fifo"
rm "$tmp"/all/cpu*
check "no files" 2 --all "$tmp/all"

finish
