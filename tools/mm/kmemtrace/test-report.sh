#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-report.sh [DIR]: test kmemtrace-report, which is in DIR, with synthetic traces whose
# sums are known. For each test it prints a line "ok", "not ok" or "skip".
#
# test-report.sh --update [DIR] writes a new test-report.golden: look at the difference
# before you keep it.

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lib=$here/../../lib/codetag
update=
if [ "${1:-}" = --update ]; then
	update=y
	shift
fi
bin=$(cd "${1:-$here}" && pwd)
report=$bin/kmemtrace-report
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
order=("64" "64 --big" "32" "32 --big")

# check NAME COMMAND...: run a test and show its output if it fails. Status 77 means that
# another program is missing; the output names it.
check() {
	local name=$1 status=0
	shift
	"$@" >"$tmp/said" 2>&1 || status=$?
	case $status in
	0) echo "ok kmemtrace-report: $name" ;;
	77) echo "skip kmemtrace-report: $name # $(tail -n 1 "$tmp/said")" ;;
	*)
		echo "not ok kmemtrace-report: $name"
		head -n 20 "$tmp/said" | sed 's/^/# /'
		failed=$((failed + 1))
		;;
	esac
}

# trace NAME ARG...: make a new trace, $tmp/NAME
trace() {
	local name=$1
	shift
	rm -rf "${tmp:?}/$name"
	"$here/make-trace.py" "$tmp/$name" "$@"
}

# exits STATUS ARG...: run kmemtrace-report and expect STATUS; its output goes to $tmp/out
# and $tmp/err
exits() {
	local status=$1 got=0
	shift
	timeout 600 "$report" "$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	[ "$got" -eq "$status" ] && return
	echo "exit status $got, not $status: $*"
	cat "$tmp/err"
	return 1
}

says() {
	grep -qF -- "$1" "$tmp/out" "$tmp/err" && return
	echo "not said: $1"
	cat "$tmp/err" "$tmp/out"
	return 1
}

# python CODE: run CODE, which can read JSON files with load()
python() {
	PYTHONPATH="$tmp" python3 -c "
import collections, csv, json, re, sys
def load(name):
    with open('$tmp/' + name) as f:
        return json.load(f)
$1"
}

json() {
	exits 0 --json "$tmp/$1" -f -o "$tmp/$1.json"
}

# --- totals

as_expected() {
	json "$1" && python "
got, want = load('$1.json'), load('$1/expected.json')
for kind in want:
    for key in want[kind]:
        assert got['totals'][kind][key] == want[kind][key], (kind, key, got['totals'][kind])
for key in want['pages']:
    assert got['totals']['all'][key] == sum(want[k][key] for k in want), key
    assert sum(s[key] for s in got['sites']) == got['totals']['all'][key], key
assert got['finding_counts']['double_free'] == {'sure': 0, 'after_losses': 0}
assert not got['losses']['gaps']
for kind in got['finding_counts']:
    assert kind == 'mixed_api' or not got['finding_counts'][kind]['sure'], kind
"
}

# Compare everything except the addresses and the machine.
same_everywhere() {
	local i
	for i in 1 2 3; do
		python "
def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()
                if k not in ('call_site', 'ptr', 'byte_order', 'word_bits')}
    return [plain(v) for v in x] if isinstance(x, list) else x
assert plain(load('${1}0.json')) == plain(load('$1$i.json'))
" || return
	done
}

for scenario in basic workload; do
	for i in "${!order[@]}"; do
		read -r word endian <<<"${order[i]}"
		trace "$scenario$i" --scenario "$scenario" --word "$word" ${endian:+"$endian"}
		check "$scenario: totals of $word bits ${endian#--}" \
			as_expected "$scenario$i"
	done
	check "$scenario: the same from all machines" same_everywhere "$scenario"
done
for features in "" time pid tag time,tag; do
	trace features --scenario workload --features "$features" --cpus 5 --seed 7
	check "totals with features: ${features:-none}" as_expected features
done

sizes_add_up() {
	python "
got = load('workload0.json')
for kind in ('kmalloc', 'cache', 'pages'):
    rows = [r for r in got['sizes'] if r['type'] == kind]
    for key in ('allocs', 'requested', 'allocated', 'fragmentation'):
        assert sum(r[key] for r in rows) == got['totals'][kind][key], (kind, key)
    assert sum(r['live_allocated'] for r in rows) == got['totals'][kind]['live_allocated'], kind
    if kind != 'pages':
        assert sum(r['live'] for r in rows) == got['totals'][kind]['live']
for r in got['sizes']:
    assert r['requested'] == r['allocs'] * r['bytes_req']
"
}
check "sizes add up" sizes_add_up

lifetimes_add_up() {
	python "
for name in ('workload0', 'basic0'):
    for row in load(name + '.json')['sites']:
        l = row['lifetimes']
        assert l['count'] == row['frees']
        if l['count']:
            assert l['min'] <= l['median'] <= l['max']
            assert sum(n for _, n in l['histogram']) == l['count']
got = load('basic0.json')['totals']['kmalloc']['lifetimes']
assert (got['min'], got['max']) == (10, 50), got
"
}
check "lifetimes add up" lifetimes_add_up

timeline_adds_up() {
	local n
	for n in 2 6 64 1000; do
		exits 0 --json --moments "$n" "$tmp/workload0" -f -o "$tmp/t.json" || return
		python "
got = load('t.json')
moments = got['timeline']['moments']
assert $n / 2 <= len(moments) <= $n, len(moments)
assert sum(m['allocs'] for m in moments) == got['records']['allocs']
assert sum(m['frees'] for m in moments) == got['records']['frees']
last = moments[-1]
for kind in ('kmalloc', 'cache', 'pages'):
    assert last[kind] == got['totals'][kind]['live_allocated']
assert max(m['peak'] for m in moments) == got['totals']['all']['peak']
assert last['from'] <= got['clock']['duration'] < last['from'] + got['timeline']['width']
" || return
	done
}
check "the time line adds up, in any number of parts" timeline_adds_up

# --- text

texts() {
	local scenario
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	for scenario in basic errors losses; do
		trace golden --scenario "$scenario"
		echo "=== $scenario"
		"$report" "$tmp/golden" || return
	done
	trace golden --scenario errors --features "" --big --word 32
	echo "=== errors of a 32-bit machine without features, --bytes"
	"$report" --bytes --top 2 "$tmp/golden"
}

golden() {
	texts >"$tmp/golden.txt" && diff -u "$here/test-report.golden" "$tmp/golden.txt"
}

if [ -n "$update" ]; then
	texts >"$here/test-report.golden"
fi
check "text as it was" golden

sorted_by() {
	local key field
	while read -r key field; do
		exits 0 --json --sort "$key" "$tmp/workload0" -f -o "$tmp/s.json" || return
		python "
rows = load('s.json')['sites']
values = [$field for r in rows]
assert values == sorted(values, reverse=True) and len(values) > 100, '$key'
" || return
	done <<'END'
allocated r['allocated']
requested r['requested']
fragmentation r['fragmentation']
live r['live_allocated']
calls r['allocs']
frees r['frees']
lifetime r['lifetimes'].get('median',0)
cross-cpu r['cross_allocs']+r['cross_frees']
END
}
check "sorted by every key" sorted_by

top() {
	exits 0 --json --top 3 "$tmp/workload0" -f -o "$tmp/top.json" || return
	python "
few, all = load('top.json'), load('workload0.json')
assert few['sites'] == all['sites'][:3] and few['sites_left_out'] == len(all['sites']) - 3
" || return
	exits 0 --rows --top 3 "$tmp/workload0" && says "more)"
}
check "the first few" top

groups() {
	local by
	for by in tag size type; do
		exits 0 --json --by "$by" "$tmp/workload0" -f -o "$tmp/by.json" || return
		python "
got = load('by.json')
assert sum(r['allocs'] for r in got['${by}s']) == got['totals']['all']['allocs']
assert sum(r['allocated'] for r in got['${by}s']) == got['totals']['all']['allocated']
" || return
		exits 0 --by "$by" "$tmp/workload0" || return
	done
}
check "rows by tag, size, type" groups

# --- errors

error_counts() {
	trace "$1" --scenario "$1" && json "$1" && python "
got = load('$1.json')
want = $2
for kind, counts in got['finding_counts'].items():
    assert (counts['sure'], counts['after_losses']) == want[kind], (kind, counts)
assert sum(f['count'] for f in got['findings']) == sum(map(sum, want.values()))
"
}
check "errors: each kind found" error_counts errors "{
'short_allocation': (1, 0), 'wrong_api': (3, 0), 'double_free': (2, 0),
'unknown_free': (1, 0), 'still_live': (2, 0), 'mixed_api': (1, 0)}"
check "losses: each kind explained" error_counts losses "{
'short_allocation': (0, 0), 'wrong_api': (0, 1), 'double_free': (0, 2),
'unknown_free': (0, 1), 'still_live': (0, 3), 'mixed_api': (0, 1)}"

losses_told() {
	python "
got = load('losses.json')['losses']
assert got['events'] == 6 and got['bytes'] == 432, got
assert got['told_events'] == 5 and got['told_bytes'] == 360, got
assert got['gaps'] == 2 and got['gaps_of_one'] == 1 and got['missing'] == 6, got
"
}
check "losses are reported" losses_told

begins_told() {
	exits 0 --summary "$tmp/losses" &&
		says 'of them of one number, as when recording begins' || return
	trace whole --scenario losses --header begins=0
	exits 0 --summary "$tmp/whole" &&
		says 'Sequence numbers missing: 6 in 2 gaps; recording went on all the time.' &&
		json whole && python "
assert load('whole.json')['losses']['begins'] == 0
assert 'begins' not in load('losses.json')['losses']
"
}
check "gaps, where it is known how often recording began" begins_told

before_the_trace() {
	python "
got = load('basic0.json')
assert got['totals']['kmalloc']['frees_before_trace'] == 1
assert got['totals']['pages']['frees_before_trace'] == 1
assert got['totals']['kmalloc']['failed'] == 1 and got['records']['null_frees'] == 1
"
}
check "memory from before the trace is no error" before_the_trace

strict() {
	exits 0 "$tmp/errors" && exits 2 --strict "$tmp/errors" &&
		exits 0 --strict "$tmp/losses" && exits 0 --strict "$tmp/basic0"
}
check "--strict" strict

# --- formats, tested with the programs that read them

csv_agrees() {
	exits 0 --csv "$tmp/workload0" -f -o "$tmp/rows.csv" || return
	python "
with open('$tmp/rows.csv', newline='') as f:
    rows = list(csv.DictReader(f, strict=True))
sites = load('workload0.json')['sites']
assert len(rows) == len(sites)
for row, site in zip(rows, sites):
    assert None not in row and None not in row.values()
    for key in ('allocs', 'frees', 'allocated', 'fragmentation', 'live_requested', 'cross_frees'):
        assert int(row[key]) == site[key], key
    assert row['call_site'] == site['call_site'] and row['file'] == (site['file'] or '')
"
}
check "CSV agrees with JSON" csv_agrees

folded_agrees() {
	local weight field
	while IFS=: read -r weight field; do
		exits 0 --folded --weight "$weight" "$tmp/workload0" -f -o "$tmp/folded" || return
		python "
total = 0
for line in open('$tmp/folded'):
    m = re.fullmatch(r'(kmalloc|cache|pages);[^; ]+;[^; ]+ (\d+)\n', line)
    assert m, line
    total += int(m.group(2))
assert total == load('workload0.json')['totals']['all']['$field'], total
" || return
	done <<'END'
live:live_allocated
allocated:allocated
requested:requested
calls:allocs
END
}
check "folded stacks add up" folded_agrees

pprof_agrees() {
	exits 0 --pprof "$tmp/workload0" -f -o "$tmp/profile.gz" || return
	zcat "$tmp/profile.gz" |
		protoc -I "$lib" --decode=codetag.Profile "$lib/profile.proto" \
		>"$tmp/profile.txt" || return
	python "
text = open('$tmp/profile.txt').read()
samples = re.findall(r'^samples \{\n(.*?)^\}', text, re.M | re.S)
values = [[int(v) for v in re.findall(r'^  value: (\d+)', s, re.M)] for s in samples]
got = load('workload0.json')
assert len(values) == len(got['sites'])
want = got['totals']['all']
keys = ('allocs', 'allocated', 'live', 'live_allocated')
assert [sum(v) for v in zip(*values)] == [want[k] for k in keys]
strings = re.findall(r'^string_table: \"(.*)\"', text, re.M)
assert strings[0] == '' and {'first_alloc', 'mm/first.c', 'inuse_space'} <= set(strings)
ids = re.findall(r'^locations \{\n  id: (\d+)', text, re.M)
assert len(set(ids)) == len(samples)
"
}
check "pprof is decoded and agrees" pprof_agrees

pprof_of_go() {
	command -v go >/dev/null || { echo "no go"; return 77; }
	exits 0 --pprof "$tmp/workload0" -f -o "$tmp/profile.gz" || return
	while IFS=: read -r index field unit; do
		# the unit is an argument of its own
		# shellcheck disable=SC2086
		go tool pprof -top -nodecount=0 -nodefraction=0 $unit -sample_index="$index" \
			"$tmp/profile.gz" >"$tmp/top.txt" || return
		python "
top = open('$tmp/top.txt').read()
rows = re.findall(r'^ *(\d+)B? +\S+% +\S+% +\S+ +\S+% +(\S+)$', top, re.M)
want = collections.Counter()
for site in load('workload0.json')['sites']:
    want[site['function'] or site['label']] += site['$field']
assert {name: int(flat) for flat, name in rows} == dict(+want), (rows, want)
assert len(rows) >= 7
" || return
	done <<'END'
alloc_objects:allocs:
alloc_space:allocated:-unit=b
inuse_objects:live:
inuse_space:live_allocated:-unit=b
END
}
check "go tool pprof has the numbers of each function" pprof_of_go

# ctf_of TRACE: babeltrace2 must read as many events as there are records
ctf_of() {
	rm -rf "$tmp/ctf"
	exits 0 --ctf "$tmp/ctf" "$tmp/$1" || return
	if ! babeltrace2 "$tmp/ctf" >"$tmp/ctf.txt" 2>"$tmp/ctf.err"; then
		cat "$tmp/ctf.err"
		return 1
	fi
	python "
got = load('$1.json')['records']
lines = open('$tmp/ctf.txt').read().splitlines()
assert len(lines) == got['allocs'] + got['frees'], len(lines)
assert sum('kmem_alloc:' in line for line in lines) == got['allocs']
numbers = [int(re.search(r'sequence = (\d+)', line).group(1)) for line in lines]
assert numbers == sorted(numbers)
"
}

ctf_names() {
	ctf_of workload2 || return
	grep -q '"mm/first.c:11 first_alloc" : container = 1' "$tmp/ctf.txt" &&
		grep -q 'call_site = ( "alpha_alloc+0x' "$tmp/ctf.txt" &&
		grep -q 'pid = [1-9]' "$tmp/ctf.txt" && [ ! -s "$tmp/ctf.err" ]
}
check "CTF is read by babeltrace2, with names" ctf_names

ctf_losses() {
	ctf_of losses && grep -q 'discarded' "$tmp/ctf.err"
}
check "CTF reports losses" ctf_losses

ctf_without_time() {
	trace notime --features "" && json notime && ctf_of notime
}
check "CTF without time stamps" ctf_without_time

ctf_keeps_files() {
	exits 3 --ctf "$tmp/ctf" "$tmp/basic0" && says "exists"
}
check "CTF overwrites nothing" ctf_keeps_files

# --- vmlinux

# A program instead of a kernel: in the trace its addresses are moved, like those of a kernel.
# The label is one byte before the return address of a call.
make_vmlinux() (
	cat >"$tmp/inlined.h" <<'END'
static inline __attribute__((always_inline)) void allocate(void)
{
	asm volatile("nop\n.globl mark\nmark: nop\nnop");
}
END
	cat >"$tmp/kernel.c" <<'END'
#include "inlined.h"
int where;
void before(void) { where = 1; }
void caller(void)
{
	where = 2;
	allocate();
	where = 3;
}
int main(void) { before(); caller(); return 0; }
END
	cd "$tmp" && "${CC:-gcc}" -g -O1 -no-pie -Wl,--defsym=_stext=before kernel.c -o vmlinux
)

# at_mark TRACE SITE: move this call site to the label
at_mark() {
	local mark stext
	mark=$(nm "$tmp/vmlinux" | sed -n 's/ . mark$//p')
	stext=$(nm "$tmp/vmlinux" | sed -n 's/ . _stext$//p')
	python "
import pathlib, struct
path = pathlib.Path('$tmp/$1')
moved = 0xffffffff81000000 - 0x$stext
site = struct.pack('<Q', (0x$mark + 1 + moved) & (1 << 64) - 1)
for name in ('cpu0.out', 'cpu1.out'):
    data = (path / name).read_bytes()
    (path / name).write_bytes(data.replace(struct.pack('<Q', 0xffffffff81000000 + $2), site))
"
}

file_and_line() {
	make_vmlinux && trace moved --features time && at_mark moved 0x3010 || return
	exits 0 --json --vmlinux "$tmp/vmlinux" "$tmp/moved" -o "$tmp/moved.json" || return
	python "
site = [s for s in load('moved.json')['sites'] if s['allocs'] == 3][0]
assert (site['file'], site['line'], site['function']) == ('kernel.c', 7, 'caller'), site
" || return
	exits 1 --vmlinux "$tmp/moved/header" "$tmp/moved"
}
check "--vmlinux: file and line, past inlined headers, moved" file_and_line

# Allocations at one address with and without a tag, and one that neither a tag nor vmlinux
# names.
order_of_names() {
	make_vmlinux && trace tagged --features time,tag && at_mark tagged 0x1010 || return
	exits 0 --json --vmlinux "$tmp/vmlinux" "$tmp/tagged" -o "$tmp/tagged.json" || return
	python "
names = {(s['function'], s['file'], s['line']) for s in load('tagged.json')['sites']}
for want in (('second_alloc', 'mm/second.c', 22), ('caller', 'kernel.c', 7),
             ('gamma_alloc', None, None)):
    assert want in names, (want, names)
assert not any(f == 'alpha_alloc' for f, _, _ in names), names
"
}
check "the line is that of the tag, then of vmlinux, then none" order_of_names

# --- wrong options

usage_errors() {
	exits 64 a b && exits 64 --sort x "$tmp/basic0" &&
		exits 64 --top -1 "$tmp/basic0" && exits 64 --moments 3 "$tmp/basic0" &&
		exits 64 --no-such "$tmp/basic0" && exits 64 --ctf a -o b "$tmp/basic0" &&
		exits 1 "$tmp/none" && exits 1 "$tmp" &&
		exits 0 --help && says "Exit status" && exits 0 --version
}
check "usage" usage_errors

# Two formats exclude each other, in either order; the same one twice does not.
two_formats() {
	local formats=(--text --json --csv --folded --pprof "--ctf=$tmp/two") first second
	for first in "${formats[@]}"; do
		for second in "${formats[@]}"; do
			[ "$first" != "$second" ] || continue
			exits 64 "$first" "$second" "$tmp/basic0" && says "only one format" &&
				[ ! -s "$tmp/out" ] && [ ! -e "$tmp/two" ] || return
		done
	done
	exits 0 --json --json "$tmp/basic0" && cmp "$tmp/out" "$tmp/basic0.json"
}
check "two formats" two_formats

help_on_full_disk() {
	local option status
	for option in --help --version; do
		status=0
		"$report" "$option" >/dev/full 2>"$tmp/err" || status=$?
		: >"$tmp/out"
		says "kmemtrace-report: cannot write: No space left" || return
		[ "$status" = 3 ] || { echo "$option: exit status $status"; return 1; }
	done
}
check "--help and --version on a full disk" help_on_full_disk

without_a_name() {
	mkdir "$tmp/here" && cp -r "$tmp/basic0" "$tmp/here/kmemtrace-trace" || return
	(cd "$tmp/here" && exits 0 --json) && cmp "$tmp/out" "$tmp/basic0.json" || return
	(cd "$tmp/here/kmemtrace-trace" && exits 0 --json) &&
		cmp "$tmp/out" "$tmp/basic0.json" || return
	# A header in the current directory comes first.
	cp "$tmp"/workload0/* "$tmp/here"
	(cd "$tmp/here" && exits 0 --json) && cmp "$tmp/out" "$tmp/workload0.json" || return
	mkdir "$tmp/empty" && (cd "$tmp/empty" && exits 1) && says "kmemtrace-trace"
}
check "a trace without a name" without_a_name

# --- outputs

# mode_is MODE FILE...
mode_is() {
	local mode=$1 file
	shift
	for file; do
		[ "$(stat -c %a "$file")" = "$mode" ] && continue
		echo "$file: mode $(stat -c %a "$file"), not $mode"
		return 1
	done
}

private_outputs() {
	local format
	for format in text json csv folded pprof; do
		(umask 0 && exits 0 --$format "$tmp/basic0" -o "$tmp/private.$format") &&
			mode_is 600 "$tmp/private.$format" || return
	done
	(umask 0 && exits 0 --ctf "$tmp/private.ctf" "$tmp/basic0") &&
		mode_is 700 "$tmp/private.ctf" && mode_is 600 "$tmp"/private.ctf/*
}
check "outputs are for their owner alone" private_outputs

overwriting() {
	echo old >"$tmp/old" && chmod 644 "$tmp/old" && ln "$tmp/old" "$tmp/twice"
	ln -s old "$tmp/leads"
	exits 3 -o "$tmp/old" "$tmp/basic0" && says "--force overwrites it" &&
		exits 3 -o "$tmp/leads" "$tmp/basic0" || return
	[ "$(cat "$tmp/old")" = old ] || return
	exits 0 -f --json -o "$tmp/old" "$tmp/basic0" && cmp "$tmp/old" "$tmp/basic0.json" &&
		exits 0 --force --json -o "$tmp/leads" "$tmp/basic0" &&
		cmp "$tmp/leads" "$tmp/basic0.json" || return
	[ ! -L "$tmp/leads" ] && [ "$(cat "$tmp/twice")" = old ] &&
		mode_is 600 "$tmp/old" "$tmp/leads"
}
check "-o overwrites with --force alone, and follows no link" overwriting

reads_on() {
	local name
	cp -r "$tmp/basic0" "$tmp/input" && ln "$tmp/input/header" "$tmp/input/again" &&
		ln -s cpu1.out "$tmp/input/link" || return
	for name in header cpu0.out again link; do
		exits 3 -f -o "$tmp/input/$name" "$tmp/input" &&
			says "is an input file" || return
	done
	rm "$tmp/input/again" "$tmp/input/link"
	diff -r "$tmp/basic0" "$tmp/input"
}
check "a report does not overwrite its trace" reads_on

# A directory for CTF that another user can write to is refused.
shared_folders() {
	mkdir -p "$tmp/all" "$tmp/own" && chmod 1777 "$tmp/all" && ln -s own "$tmp/leads.ctf"
	exits 3 --ctf "$tmp/all" "$tmp/basic0" && says "others may write to it" &&
		exits 3 --ctf "$tmp/leads.ctf" "$tmp/basic0" &&
		exits 0 --ctf "$tmp/own" "$tmp/basic0" && [ -z "$(ls "$tmp/all")" ]
}
check "no CTF into a directory of others" shared_folders

full_disk() {
	exits 3 -o /dev/full "$tmp/basic0" && says "--force overwrites it" &&
		exits 3 -f -o /dev/full "$tmp/basic0" && says "cannot write" &&
		exits 3 -f --pprof -o /dev/full "$tmp/basic0" &&
		exits 3 -f --json -o /dev/full "$tmp/basic0" &&
		exits 3 -o "$tmp/no/such" "$tmp/basic0"
}
check "outputs that cannot be written" full_disk

cut_short() {
	local at size
	size=$(stat -c %s "$tmp/basic0/cpu0.out")
	for at in 1 23 24 25 71 100 $((size / 2 + 1)) $((size - 1)); do
		cp -r "$tmp/basic0" "$tmp/cut" && truncate -s "$at" "$tmp/cut/cpu0.out"
		exits 2 "$tmp/cut" && says "cpu0.out:" && says "is damaged" || return
		rm -r "$tmp/cut"
	done
}
check "cut short: reported, with file and offset" cut_short

every_cut() {
	local name
	for name in basic errors losses; do
		"$here/make-trace.py" "$tmp/$name.seed" --packed --few-tags --scenario "$name" ||
			return
	done
	"$bin/cut-report" "$tmp"/*.seed >"$tmp/out" 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	for name in "$tmp"/*.seed; do
		says "$name: $(($(stat -c %s "$name") + 1)) inputs" || return
	done
}
# Only the build with the sanitizers runs this test: they find a read outside of a buffer.
if [ "${bin##*/}" = sanitized ]; then
	check "cut off at every byte" every_cut
else
	echo "skip kmemtrace-report: cut off at every byte # the build with the sanitizers has it"
fi

hostile() {
	trace hostile --scenario hostile && json hostile || return
	ctf_of hostile || return
	exits 0 "$tmp/hostile"
}
check "impossible numbers" hostile

reordered() {
	cp -r "$tmp/basic0" "$tmp/swapped" || return
	python "
path = '$tmp/swapped/cpu0.out'
data = open(path, 'rb').read()
open(path, 'wb').write(data[72:144] + data[:72] + data[144:])
" && exits 2 "$tmp/swapped"
}
check "out of order" reordered

garbage() {
	cp -r "$tmp/basic0" "$tmp/garbage" &&
		head -c 100000 /dev/urandom >"$tmp/garbage/cpu1.out" &&
		exits 2 "$tmp/garbage" && says "cpu1.out"
}
check "a file of noise" garbage

beyond_limits() {
	trace many --scenario many --events 270000 --features "" && json many || return
	python "
got, want = load('many.json'), load('many/expected.json')
assert got['losses']['more_sites'] and got['losses']['more_sizes']
for key, value in want['kmalloc'].items():
    assert got['totals']['kmalloc'][key] == value, key
"
}
check "more call sites and sizes than a report distinguishes" beyond_limits

# peak EVENTS LIVE: print the peak memory of kmemtrace-report for such a trace, in KiB
peak() {
	rm -rf "$tmp/long"
	"$bin/bench-trace" "$tmp/long" "$1" "$2" || return
	ASAN_OPTIONS=quarantine_size_mb=0 \
		/usr/bin/time -f %M -o "$tmp/peak" "$report" "$tmp/long" >/dev/null &&
		cat "$tmp/peak"
}

# Five times as many events need at most a tenth more memory. Ten times as many live objects
# need more than that, which shows that the measurement works.
memory_stays() {
	local few many live
	few=$(peak 400000 20000) && many=$(peak 2000000 20000) &&
		live=$(peak 2000000 200000) || return
	echo "400,000 events: $few KiB; 2,000,000: $many; with 200,000 live: $live"
	[ "$many" -le $((few + few / 10)) ] && [ "$live" -gt $((few + few / 10)) ]
}
check "memory does not grow with the length of a trace" memory_stays

exit $((failed != 0))
