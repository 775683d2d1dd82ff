#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test kmonparse --summary: small logs whose sums were computed by hand, and simulated
# machines that schedule at random and count what their tasks did.

# shellcheck source=tools/kmon/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

# summary WHAT LOG: make a summary and print it in short lines.
# For each CPU: cpu busy idle unknown switches. For each task: pid run wait switches preempted
# wakeups migrations, then count, sum and max of its latencies.
summary() {
	parse "$1" 0 --summary --json "$2"
	python3 - >short <<'PY'
import json
s = json.load(open('text'))
for c in s['cpus']:
    print('cpu', c['cpu'], c['busy'], c['idle'], c['unknown'], c['switches'])
for t in s['tasks']:
    print(t['pid'], *(t[k] for k in ('run', 'wait', 'switches', 'preempted', 'wakeups', 'migrations')),
          *(t['latency'][k] for k in ('count', 'sum', 'max')))
if s['contradictions']:
    print('contradictions', s['contradictions'])
PY
	mv text whole
	mv short text
}

# Task 5 runs from the start of the log (1000) until 1300, is woken at 1500, and runs from
# 1600 to the end (2000). Task 6 waits from the start until 1300, is preempted at 1600, and
# waits until the end.
log one_cpu <<'TEXT'
cpu=0,ts=1000,op=FRE,ptr=0x1
cpu=0,ts=1290,op=DEQ,pid=5
cpu=0,ts=1300,op=SWC,prev=5,next=6
cpu=0,ts=1500,op=WAK,from=0,to=5
cpu=0,ts=1510,op=QUE,pid=5
cpu=0,ts=1600,op=SWC,prev=6,next=5
cpu=0,ts=2000,op=FRE,ptr=0x1
TEXT
summary "one CPU" one_cpu
is "one CPU" <<'TEXT'
cpu 0 1000 0 0 2
5 700 90 1 0 1 0 1 100 100
6 300 700 1 1 0 0 0 0 0
TEXT

# Task 7 sleeps and is queued without a record of its wakeup. Then its priority changes
# while it runs, and it moves while it waits: neither counts as sleep. The idle task of a
# CPU does not count as a task.
log changes <<'TEXT'
cpu=0,ts=0,op=SWC,prev=3,next=0
cpu=1,ts=0,op=SWC,prev=4,next=0
cpu=0,ts=100,op=QUE,pid=7
cpu=0,ts=150,op=SWC,prev=0,next=7
cpu=1,ts=200,op=DEQ,pid=7
cpu=1,ts=210,op=QUE,pid=7
cpu=0,ts=300,op=SWC,prev=7,next=0
cpu=0,ts=400,op=DEQ,pid=7
cpu=1,ts=450,op=QUE,pid=7
cpu=1,ts=500,op=SWC,prev=0,next=7
cpu=1,ts=600,op=DEQ,pid=7
cpu=1,ts=605,op=WAK,from=0,to=7
cpu=1,ts=610,op=SWC,prev=7,next=0
cpu=1,ts=620,op=QUE,pid=7
cpu=1,ts=700,op=SWC,prev=0,next=7
cpu=0,ts=1000,op=FRE,ptr=0x1
TEXT
summary "changes" changes
# Task 7 runs 150-300, 500-610, 700-1000 and waits 100-150, 300-400, 450-500, 620-700. From
# wakeup to running: 100-150, 605-700. Tasks 3 and 4 wait from 0 to the end, because no
# record dequeues them.
is "changes" <<'TEXT'
cpu 0 150 850 0 3
cpu 1 410 590 0 4
7 560 280 3 1 1 1 2 145 95
3 0 1000 0 1 0 0 0 0 0
4 0 1000 0 1 0 0 0 0 0
TEXT
expect "histogram" 0 python3 -c '
import json
s = json.load(open("whole"))
assert s["latency"]["histogram"] == [[32, 1], [64, 1]], s["latency"]
assert (s["latency"]["count"], s["latency"]["sum"], s["latency"]["max"]) == (2, 145, 95)'

# CPUs that never switch tasks. If a task on such a CPU wakes another task, the record shows
# that the waking task runs there; if there is no such record, the running task is unknown.
# A wakeup of a task that runs or waits already does not change its times.
log quiet <<'TEXT'
cpu=3,ts=10,op=WAK,from=40,to=41
cpu=3,ts=15,op=QUE,pid=41
cpu=4,ts=20,op=WAK,from=0,to=40
cpu=4,ts=30,op=WAK,from=0,to=41
cpu=5,ts=110,op=FRE,ptr=0x1
TEXT
summary "quiet CPUs" quiet
is "quiet CPUs" <<'TEXT'
cpu 3 100 0 0 0
cpu 4 0 0 100 0
cpu 5 0 0 100 0
40 100 0 0 0 1 0 0 0 0
41 0 95 0 0 2 0 0 0 0
TEXT

# Task 9 ran when the log began, and was woken before it slept: only the later wakeup, when
# it is queued, counts.
log needless <<'TEXT'
cpu=0,ts=0,op=FRE,ptr=0x1
cpu=1,ts=10,op=WAK,from=0,to=9
cpu=0,ts=20,op=DEQ,pid=9
cpu=0,ts=30,op=SWC,prev=9,next=0
cpu=1,ts=50,op=QUE,pid=9
cpu=0,ts=90,op=SWC,prev=0,next=9
cpu=0,ts=100,op=FRE,ptr=0x1
TEXT
summary "woken without need" needless
is "woken without need" <<'TEXT'
cpu 0 40 60 0 2
cpu 1 0 0 100 0
9 40 40 1 0 1 0 1 40 40
TEXT

# Records are missing: no record shows the switch from 5, nor the switch to 6. Time for
# which the running task is unknown is not counted for any task.
log missing <<'TEXT'
cpu=0,ts=0,op=SWC,prev=0,next=5
cpu=0,ts=100,op=SWC,prev=6,next=7
cpu=0,ts=150,op=SWC,prev=7,next=5
cpu=0,ts=200,op=FRE,ptr=0x1
TEXT
summary "missing records" missing
is "missing records" <<'TEXT'
cpu 0 100 0 100 3
7 50 150 1 1 0 0 0 0 0
5 50 0 2 0 0 0 0 0 0
6 0 0 0 0 0 0 0 0 0
contradictions 2
TEXT

# The switches from 5 and 6, and the record that 6 was queued, are lost. The first record of
# both tasks dequeues them, and a wakeup follows: they have not waited since the log began.
# Task 8 was moved without a wakeup, so it has waited since then.
log lost_switch <<'TEXT'
cpu=0,ts=0,op=FRE,ptr=0x1
cpu=0,ts=100,op=DEQ,pid=5
cpu=2,ts=100,op=DEQ,pid=6
cpu=0,ts=200,op=DEQ,pid=8
cpu=1,ts=210,op=QUE,pid=8
cpu=1,ts=800,op=WAK,from=0,to=5
cpu=1,ts=810,op=QUE,pid=5
cpu=2,ts=820,op=WAK,from=0,to=6
cpu=1,ts=900,op=SWC,prev=0,next=5
cpu=2,ts=950,op=SWC,prev=0,next=6
cpu=3,ts=960,op=SWC,prev=0,next=8
cpu=0,ts=1000,op=FRE,ptr=0x1
TEXT
summary "a lost switch" lost_switch
is "a lost switch" <<'TEXT'
cpu 0 0 0 1000 0
cpu 1 100 900 0 1
cpu 2 50 950 0 1
cpu 3 40 960 0 1
5 100 90 1 0 1 0 1 100 100
6 50 0 1 0 1 0 0 0 0
8 40 960 1 0 0 0 0 0 0
contradictions 1
TEXT

# --- allocations at one address: live, live bytes, frees missing, freed from before

allocations() {
	parse "$1" 0 --summary --json -
	expect "$1" 0 python3 -c '
import json, sys
a = json.load(open("text"))["allocations"]
print(*(a[k] for k in ("live", "live_bytes", "frees_missing", "freed_from_before")))
'
	says "$1" "$2"
}
# A page and the object at its start, which is freed and allocated again.
log pages <<'TEXT'
cpu=0,ts=0,op=ALC,site=1,bytes=4096,ptr=0x1000
cpu=0,ts=1,op=ALC,site=2,bytes=64,ptr=0x1000
cpu=0,ts=2,op=FRE,ptr=0x1000
cpu=0,ts=3,op=ALC,site=2,bytes=32,ptr=0x1000
cpu=0,ts=4,op=FRE,ptr=0x1000
cpu=0,ts=5,op=FRE,ptr=0x1000
cpu=0,ts=6,op=FRE,ptr=0x1000
TEXT
nr=0
for wanted in '0 0 0 0' '1 4096 0 0' '2 4160 0 0' '1 4096 0 0' '2 4128 0 0' '1 4096 0 0' \
	'0 0 0 0' '0 0 0 1'; do
	head -n $nr pages.txt | "$here/gen-log.py" --text /dev/stdin part
	allocations "pages, $nr" "$wanted" <part
	nr=$((nr + 1))
done
# The third allocation at an address replaces the first one.
log thrice <<'TEXT'
cpu=0,ts=0,op=ALC,site=1,bytes=1,ptr=0x1000
cpu=0,ts=1,op=ALC,site=2,bytes=10,ptr=0x1000
cpu=0,ts=2,op=ALC,site=3,bytes=100,ptr=0x1000
TEXT
allocations "thrice" '2 110 1 0' <thrice
echo 'cpu=0,ts=3,op=FRE,ptr=0x1000' | cat thrice.txt - | log thrice_freed
allocations "thrice, and freed" '1 10 1 0' <thrice_freed

# --- the whole text of one summary

printf '0 [IDLE]\n5 rxvt;-sl;1000;\n6 [events/0]\n' >pids.dat
printf '3 mm/slub.c:1799 func:alloc_slab_page\n' >sites.dat
{
	cat one_cpu.txt
	cat <<'TEXT'
cpu=0,ts=2000,op=ALC,site=3,bytes=100,ptr=0x10
cpu=0,ts=2000,op=ALC,site=3,bytes=1,ptr=0x10
cpu=0,ts=2000,op=ALC,site=9,bytes=300,ptr=0x20
cpu=0,ts=2000,op=ALC,site=3,bytes=50,ptr=0x10
cpu=0,ts=2000,op=ALC,site=none,bytes=7,ptr=0x30
cpu=0,ts=2000,op=FRE,ptr=0x30
TEXT
} | log all
parse "text" 0 --summary all
tr -s ' ' <text | sed 's/ $//' >short
mv short text
is "text" <<'TEXT'
Log: 1.000 us, from 1.000 to 2.000
Records: 13, QUE 1, DEQ 1, SWC 2, WAK 1, ALC 5, FRE 3

CPUs (times in us)
 cpu busy % idle % unknown switches records
 0 1.000 100.0 0.000 0.0 0.000 2 13

Tasks by run time (times in us)
 pid run % wait switches preempted wakeups moves latency longest name
 5 0.700 70.0 0.090 1 0 1 0 0.100 0.100 rxvt;-sl;1000;
 6 0.300 30.0 0.700 1 1 0 0 0.000 0.000 [events/0]

From waking to running: 1 times, mean 0.100 us, median below 0.128 us, longest 0.100 us
 from us times %
 0.064 1 100.0 ########################################

Allocations by bytes
 allocs bytes frees live live bytes line of code
 1 300 0 1 300 line 9
 3 151 1 2 51 mm/slub.c:1799 func:alloc_slab_page
 1 7 1 0 0 (no line is known)
 5 458 2 3 351 all
Freed, but not allocated in the log: 2
Allocated again, but not freed in the log: 1
TEXT
parse "top" 0 --summary --top 1 all
expect "top" 0 cat text
says "top" '(1 more)'
says "top" '(2 more)'
rm pids.dat sites.dat

# --- simulated machines

for seed in {1..25}; do
	"$here/gen-log.py" --sim "$seed" sim truth
	parse "machine $seed" 0 --summary --json sim
	expect "machine $seed" 0 "$here/gen-log.py" --check truth text
done
parse "machine, through a file" 0 --summary --json --sort-memory 256k sim
expect "machine, through a file" 0 "$here/gen-log.py" --check truth text

finish
