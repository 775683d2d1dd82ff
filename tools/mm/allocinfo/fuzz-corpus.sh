#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fuzz-corpus.sh ALLOCINFO DIR: make seeds for the fuzzers: a small recording, whole and
# with the beginnings of two others appended.

set -eu
allocinfo=$(realpath "$1")
mkdir -p "$2/proc"
cd "$2"

# Three snapshots in three recordings of one file.
rm -f recording
for i in 1 2 3; do
	{
		printf 'allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n'
		printf '%d %d mm/slub.c:17 func:alloc_slab_page \n' $((i * 4096)) "$i"
	} >proc/allocinfo
	printf 'MemTotal: 1000 kB\nMemFree: %d kB\n' $((900 - i)) >proc/meminfo
	"$allocinfo" record --proc proc -n 1 -o recording
done
head -c 300 recording >part
cp proc/allocinfo table
# one recording with a snapshot that refers to the one before
rm -f delta
"$allocinfo" record --proc proc -n 2 -i 1 -o delta
# an output of the export, and a table that it is continued with
{
	"$allocinfo" export --proc proc
	printf '\0allocinfo - version: 2.0\n64 2 a"b.c:1 [x\\y] func:f\n-9 -1 c.c:2 func:other\n'
} >metrics
rm -r proc

# pieces, of which fuzz-snap makes records: a header and a snapshot
{
	printf 'H\x1b\0version 1\nboot_id x\nhost h\n'
	printf 'F\x42\0snapshot 1 2 16 31\nMemTotal: 1 kB\n\n\0allocinfo - version: 2.0\n# h\n\n\0'
} >pieces
# two tables, which fuzz-match compares
printf 'allocinfo - version: 2.0\n1 1 a.c:1 func:f\n2 1 a.c:5 [m] func:f\n' >tables
printf '\0allocinfo - version: 1.0\n3 1 a.c:2 func:f\n4 1 a.c:2 func:f\n' >>tables
# memory by node, for fuzz-nodes
{
	printf 'allocinfo.nodes - version: 1.0\n'
	printf '#     <size>    <node 0>    <node 2>     <unseen> <tag info>\n'
	printf '4096 4096 0 0 mm/slub.c:17 func:alloc_slab_page\n'
	printf '300 100 150 50 a.c:5 [m] func:f\n100 200 0 -100 a.c:5 [m] func:f\n'
} >nodes
# allocation contexts, for fuzz-contexts, and a series that rises, for fuzz-trend
{
	printf '      8KiB        2 mm/slub.c:17 module:slub func:alloc_slab_page\n'
	printf '    dropped for memory: 3\n    count: 2\n    bytes: 8192\n    size: 4096\n'
	printf '    pid: 7\n    tgid: 7\n    comm: bash\n    ts: 1234\n'
	printf '    call stack:\n         alloc_slab_page+0xfe/0x130\n'
} >contexts
for ((i = 0; i < 64; i++)); do
	# shellcheck disable=SC2059 # the bytes are in the format
	printf "\\x09\\x0$((i % 8))\\x$(printf %02x "$i")\\0\\0\\0\\0\\0\\0"
done >series
# a client for fuzz-serve: a choice, a request of two pieces, another one
printf '\0GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic dTpw\r\n\xff\r\n' >client
printf 'HEAD /debug/pprof/heap?seconds=1 HTTP/1.0\r\n\r\n' >>client
printf '\3POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nCookie: a=b\r\n\r\n' >body
printf '3\r\nabc\r\n0\r\n\r\n' >>body
# whole addresses, as for a proxy
printf '\0GET http://x/metrics HTTP/1.1\r\nHost: x\r\n\r\n' >address
printf 'HEAD HTTPS://[::1]:9842?seconds=1 HTTP/1.1\r\nHost: y\r\n\r\n' >>address
