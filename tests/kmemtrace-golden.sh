#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare the reports of recorded traces with the totals that the recording machine
# computed. The machines differ in byte order and word size. `qemu-test/compare/foreign --golden`
# writes the traces to qemu-test/compare/traces/kmemtrace-*.tar.gz. A line of the file "totals" is a
# place in the output of kmemtrace-report --json and the expected value.

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/lib/codetag/test-lib.sh
. "$top/tools/lib/codetag/test-lib.sh"

# compare TRACE: compare its report, in $tmp/out, with its totals
compare() {
	python3 - "$1/totals" "$tmp/out" >"$tmp/wrong" <<'PY'
import json, sys
report = json.load(open(sys.argv[2]))
compared = 0
for line in open(sys.argv[1]):
    place, want = line.split()
    got = report
    for key in place.split('.'):
        got = got.get(key) if isinstance(got, dict) else None
    compared += 1
    if str(got) != want:
        print(f'{place} is {got}, the guest has {want}')
rows = report['tags']
if not any(r['file'] for r in rows):
    print('no row has a source line')
if not any(r['label'] and r['allocs'] for r in rows):
    print('no row has a name')
if compared < 20:
    print(f'totals has only {compared} places')
PY
}

for archive in "$top"/qemu-test/compare/traces/kmemtrace-*.tar.gz; do
	name=$(basename "$archive" .tar.gz)
	name=${name#kmemtrace-}
	tar -C "$tmp" -xzf "$archive" || fail "$name: cannot unpack it"
	expect "$name" 0 "$bin/kmemtrace_check" --all "$tmp/$name"
	expect "$name" 0 "$bin/kmemtrace-report" --json --by tag --top 0 "$tmp/$name"
	if compare "$tmp/$name" && [ ! -s "$tmp/wrong" ]; then
		pass
	else
		cp "$tmp/wrong" "$tmp/out"
		fail "$name: the report differs from what the guest computed"
	fi
	expect "$name: lines" 0 "$bin/kmemtrace-report" --by site --top 0 "$tmp/$name"
	says "$name: lines" 'kernel/fork.c:'
	# without source lines in the header, the report uses symbols
	sed -i '/^[0-9]* [^ ]*:[0-9]* /d' "$tmp/$name/header"
	expect "$name: symbols" 0 "$bin/kmemtrace-report" --by site --top 0 "$tmp/$name"
	says "$name: symbols" ' vm_area_dup+0x'
done

# Without these traces the loop tested nothing.
for name in s390x i386 x86_64; do
	if [ -d "$tmp/$name" ]; then pass; else fail "no trace of $name"; fi
done

finish
