#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test trace.c: traces of other machines, the order of the records, and damaged traces.

# shellcheck source=test-lib.sh
. "$(dirname "$0")/test-lib.sh"

dump() {
	expect "$1" "${3:-0}" "$bin/trace-dump" --dump "$tmp/$2"
}

records() {
	grep -c '^[0-9]' "$tmp/out"
}

# The clock of the generator only goes forward, so the times that are read must do so, too.
in_order() {
	if sed -n 's/.* time \([0-9]*\).*/\1/p' "$tmp/out" | sort -nc 2>/dev/null; then
		pass
	else
		fail "$1: not in the order of time"
	fi
}

# has WHAT N: test that the last dump printed N records; WHAT names the test if it fails
has() {
	if [ "$(records)" -eq "$2" ]; then
		pass
	else
		fail "$1: $(records) records, not $2"
	fi
}

# --- one order from many files

gen little --cpus 7 --lost
dump "seven CPUs" little
has "seven CPUs" 2000
in_order "seven CPUs"
says "losses" " lost 186 13392"
grep -v '^abi' "$tmp/out" >"$tmp/little.txt"

gen big --cpus 7 --lost --big
dump "big-endian" big
says "big-endian" "big-endian"
grep -v '^abi' "$tmp/out" >"$tmp/big.txt"
same "big-endian" "$tmp/little.txt" "$tmp/big.txt"

gen word --cpus 3 --big --word 32
dump "32 bits" word
says "32 bits" "32 bits"
says "32 bits" "alpha_alloc+"
has "32 bits" 2000
in_order "32 bits"

for first in 0x7ffffff0 0xfffffff0 0xfffffc00; do
	gen wrap --cpus 4 --first "$first"
	dump "wrap at $first" wrap
	has "wrap at $first" 2000
	in_order "wrap at $first"
	not_says "wrap at $first" '! '
done

gen plain --features ''
dump "no features" plain
has "no features" 2000
not_says "no features" 'pid'

gen many --cpus 300 --events 5000
dump "300 CPUs" many
has "300 CPUs" 5000
in_order "300 CPUs"

# --- one file by itself

gen one --big --cpus 1
"$bin/trace-dump" --dump "$tmp/one" | grep '^[0-9]' >"$tmp/dir.txt"
"$bin/trace-dump" --dump "$tmp/one/cpu0.out" | grep '^[0-9]' >"$tmp/file.txt"
same "one file" "$tmp/dir.txt" "$tmp/file.txt"
for order in '' --big; do
	gen bare --cpus 1 --no-header ${order:+"$order"}
	dump "guess the byte order" bare/cpu0.out
	has "guess the byte order" 2000
done
dump "a directory without header" bare 1
says "a directory without header" '! header 0: No such file'
dump "no such file" nothing/cpu0.out 1

# --- faulty records: the rest of the trace is still read

# fault NAME RECORDS COMPLAINT
fault() {
	gen bad --fault "$1"
	dump "fault $1" bad
	has "fault $1" "$2"
	says "fault $1" "$3"
}

fault size-0 1497 '! cpu0.out 31416: a record of 0 bytes'
fault size-small 1497 '! cpu0.out 31416: a record of 16 bytes'
fault size-odd 1497 '! cpu0.out 31416: a record of 50 bytes'
fault size-core 1999 '! cpu0.out 31416: 24 bytes are too few for event 0'
fault truncated 1999 '! cpu0.out 62864: the file ends within a record, after 39 bytes'
fault truncated-head 1999 '! cpu0.out 62864: the file ends within a record, after 5 bytes'
fault feature-over 2000 '! cpu0.out 31416: a feature runs over the end'
fault feature-small 2000 '! cpu0.out 31416: a feature of less than 3 bytes'
fault feature-short 2000 '! cpu0.out 31416: the time is too short'
fault seq-back 2000 '! cpu0.out 31416: sequence number'
fault nul 1497 '! cpu0.out 31416: a record of 0 bytes'
for name in id type feature-id feature-long; do
	gen bad --fault "$name"
	dump "later ABI: $name" bad
	has "later ABI: $name" 2000
	not_says "later ABI: $name" '! '
done

# --- files

gen files --cpus 3
: >"$tmp/files/cpu1.out"
dump "an empty file" files
not_says "an empty file" '! '
rm "$tmp/files/cpu1.out"
dump "a missing file" files
says "a missing file" 'has a cpu1.out, which is not here'
mkfifo "$tmp/files/cpu1.out"
dump "a pipe" files
says "a pipe" '! cpu1.out 0: not a regular file'
rm "$tmp/files/cpu1.out"
mkdir "$tmp/files/cpu1.out"
dump "a directory" files
says "a directory" '! cpu1.out 0: not a regular file'
: >"$tmp/files/cpu01.out"
: >"$tmp/files/cpu99999999999.out"
dump "odd names" files
not_says "odd names" 'cpu01.out'

# --- the header

# header SED COMPLAINT
header() {
	gen head --events 10
	sed -i "$1" "$tmp/head/header"
	dump "header: $1" head
	has "header: $1" 10
	says "header: $1" "$2"
}

gen head --events 10
dump "header" head
not_says "header" '! '
says "header" 'abi 2 little-endian 64 bits page 4096 machine test'
says "header" 'release 6.1.0-test complete lost 0 0'
says "header" 'tag 3 drivers/net/third.c:33 [third]|third_alloc'
says "header" 'tag 65535 fs/last.c:1|last'
says "header" 'symbol ffffffff81900000 modular_alloc [third]'
says "header" 'symbol ffffffff81006000 weak_one'
not_says "header" 'some_data'
not_says "header" 'hidden'
header '/^end$/d' '! header 35: cut short: no "end"'
header 's/^page_size .*/page_size 4095/' '! header 5: invalid value of "page_size"'
header 's/^word_bits .*/word_bits 16/' 'invalid value of "word_bits"'
header 's/^byte_order .*/byte_order middle/' 'no byte order; it is guessed'
header '/^byte_order /d' 'no byte order; it is guessed'
header 's/^abi_version .*/abi_version 99999999999999999999999/' \
	'invalid value of "abi_version"'
header 's/^machine /machine x\nmachine /' '! header 8: "machine" a second time'
header 's/^lost 0 .*/lost 0 1 2\nlost 0 1 2/' 'invalid value of "lost"'
header 's/^lost 0 .*/lost 0 -1 2/' 'invalid value of "lost"'
header 's/^lost 0 .*/span half\n&/' 'invalid value of "span"'
header 's/^lost 0 .*/written 0\n&/' 'invalid value of "written"'
header 's/^lost 0 .*/earlier 0 -1 2\n&/' 'invalid value of "earlier"'
header 's/^lost 0 .*/untold x 1 2\n&/' 'invalid value of "untold"'
header 's/^kmemtrace 1/kmemtrace 7/' 'format 7 is newer'
header 's/^65535 /65536 /' 'not a tag'
header 's/^65535 /2 /' 'tag 2 a second time'
header 's/^ffffffff81001000 T/fffffffffffff81001000 T/' 'not a symbol'
header 's/^ffffffff81001000 T alpha_alloc/ffffffff81001000 T/' 'not a symbol'
header 's/^section modules/section tags\nsection modules/' 'section tags a second time'
header 's/^release /rel\x00ease /' 'NUL byte in the line'
header "s/^release .*/release $(head -c 70000 /dev/zero | tr '\0' x)/" '! header 8: line too long'
header 's/^section modules/unknown 1 2 3\nsection unheard-of\nwhat ever/' 'tag 2'
gen head --events 10
head -c 300 "$tmp/head/header" >"$tmp/cut" && cp "$tmp/cut" "$tmp/head/header"
dump "half a header" head
has "half a header" 10
says "half a header" 'cut short'
head -c 3000 /dev/urandom >"$tmp/head/header"
dump "a header of junk" head 1
says "a header of junk" '! header 1: not the header of a trace'
: >"$tmp/head/header"
dump "an empty header" head 1
dump "an empty header is not needed" head/cpu0.out
rm "$tmp/head/header"
mkfifo "$tmp/head/header"
dump "a pipe as header" head 1

finish
