#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Logs of kmon for the tests of its tools.

gen-log.py --text TEXT LOG        make records of lines in the format of kmonparse, with
                                  times in nanoseconds; ` wide` after a line makes its
                                  pids 32 bits wide; op=RAW,blob=HEX gives the blob
gen-log.py --sim SEED LOG TRUTH   simulate a machine that schedules at random, and write
                                  what its tasks did to TRUTH, as JSON
gen-log.py --check TRUTH SUMMARY  compare TRUTH with the output of
                                  `kmonparse --summary --json`
gen-log.py --ctf LOG DIR          compare LOG with what babeltrace2 reads from DIR
gen-log.py --corpus DIR           write seeds for fuzz-kmonparse
"""

import json
import os
import random
import re
import struct
import subprocess
import sys

QUE, DEQ, SWC, WAK, ALC, FRE, USR = range(1, 8)
NAMES = {'QUE': 1, 'DEQ': 2, 'SWC': 3, 'WAK': 4}


def record(cpu, time, blob):
    if cpu > 255:
        cpu, blob = 255, struct.pack('<BH', 11, cpu) + blob
    return struct.pack('<BQH', cpu, time, len(blob)) + blob


def sched(cpu, time, kind, *pids, wide=False):
    wide = wide or max(pids) > 0xffff
    form = ('<B%dI' if wide else '<B%dH') % len(pids)
    return record(cpu, time, struct.pack(form, kind + 4 * wide, *pids))


def alloc(cpu, time, site, size, ptr):
    return record(cpu, time, struct.pack('<BHQQ', 9, site, size, ptr))


def free(cpu, time, ptr):
    return record(cpu, time, struct.pack('<BQ', 10, ptr))


def line_record(line):
    wide = line.endswith(' wide')
    f = dict(part.split('=') for part in line.split()[0].split(','))
    cpu, time, kind = int(f['cpu']), int(f['ts']), f['op']
    if kind == 'RAW':
        return record(cpu, time, bytes.fromhex(f['blob']))
    if kind == 'ALC':
        site = 0xffff if f['site'] == 'none' else int(f['site'])
        return alloc(cpu, time, site, int(f['bytes']), int(f['ptr'], 16))
    if kind == 'FRE':
        return free(cpu, time, int(f['ptr'], 16))
    if kind == 'USR':
        return record(cpu, time, bytes([int(f['type'])]) + bytes.fromhex(f['data']))
    keys = {'SWC': ('prev', 'next'), 'WAK': ('from', 'to')}.get(kind, ('pid',))
    return sched(cpu, time, NAMES[kind], *(int(f[k]) for k in keys), wide=wide)


def from_text(text, log):
    with open(text, encoding='ascii') as lines, open(log, 'wb') as out:
        for line in lines:
            if line.strip() and not line.startswith('#'):
                out.write(line_record(line.strip()))


class Task:
    """A task: its state, the time when the state began, and sums since the first record."""

    def __init__(self, pid):
        self.pid, self.state, self.since, self.cpu, self.ran = pid, 'sleep', 0, 0, None
        self.run = self.wait = self.switches = self.preempted = 0
        self.wakeups = self.migrations = 0
        self.woken, self.latencies, self.told = None, [], False

    def become(self, state, now):
        if self.state == 'run':
            self.run += now - self.since
        elif self.state == 'wait':
            self.wait += now - self.since
        self.state, self.since = state, now


class Machine:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.cpus = self.r.randint(1, 5)
        # Some machines have CPUs with high numbers, around the limits of 8 and 16 bits.
        self.lowest = (0, 254, 65531, 0)[seed % 4]
        self.tasks = [Task(pid) for pid in self.r.sample(range(1, 200), self.r.randint(2, 30))]
        self.tasks += [Task(70000 + i) for i in range(self.r.randint(0, 3))]
        self.now = self.r.randint(0, 1 << 50)
        self.current = [None] * self.cpus
        self.told = [False] * self.cpus
        self.busy, self.idle = [0] * self.cpus, [0] * self.cpus
        self.switches, self.since = [0] * self.cpus, [0] * self.cpus
        self.records = [[] for _ in range(self.cpus)]
        self.first, self.all = None, 0
        for task in self.tasks:
            task.cpu = self.r.randrange(self.cpus)
            task.state = self.r.choice(['sleep', 'wait', 'run'])
            if task.state == 'run' and self.current[task.cpu]:
                task.state = 'wait'
            if task.state == 'run':
                self.current[task.cpu], task.ran = task, task.cpu

    def tick(self, most):
        self.now += self.r.randint(1, most)

    def put(self, cpu, kind, *pids):
        if self.first is None:
            self.first = self.now
            self.since = [self.now] * self.cpus
            for task in self.tasks:
                task.since = self.now
        self.records[cpu].append(sched(self.lowest + cpu, self.now, kind, *pids, wide=self.r.random() < .2))
        self.last = self.now
        self.all += 1

    def queue(self, cpu):
        return [t for t in self.tasks if t.state == 'wait' and t.cpu == cpu]

    def account(self, cpu):
        passed, self.since[cpu] = self.last - self.since[cpu], self.last
        if self.current[cpu]:
            self.busy[cpu] += passed
        else:
            self.idle[cpu] += passed

    def switch(self, cpu, sleeps):
        prev = self.current[cpu]
        others = self.queue(cpu)
        task = self.r.choice(others) if others else None
        if not task and not (prev and sleeps):
            return
        if prev and sleeps:
            self.put(cpu, DEQ, prev.pid)
            self.tick(50)
        self.put(cpu, SWC, prev.pid if prev else 0, task.pid if task else 0)
        self.account(cpu)
        self.told[cpu] = True
        self.switches[cpu] += 1
        if prev:
            prev.told = True
            prev.preempted += not sleeps
            prev.become('sleep' if sleeps else 'wait', self.now)
        self.current[cpu] = task
        if task:
            self.begin(cpu, task)

    def begin(self, cpu, task):
        task.told = True
        task.become('run', self.now)
        task.switches += 1
        task.migrations += task.ran is not None and task.ran != cpu
        task.ran = cpu
        if task.woken is not None:
            task.latencies.append(self.now - task.woken)
        task.woken = None

    def wake(self, cpu):
        task = self.r.choice(self.tasks)
        waker = self.current[cpu] if self.r.random() < .5 else None
        if waker is task:
            return
        if self.r.random() < .9:
            self.put(cpu, WAK, waker.pid if waker else 0, task.pid)
            task.wakeups += 1
            if waker:
                waker.told = self.told[cpu] = True
        elif task.state != 'sleep':
            return
        if task.state != 'sleep':
            return
        woken = self.now if self.records[cpu] and self.last == self.now else None
        self.tick(50)
        task.cpu = self.r.randrange(self.cpus)
        self.put(self.r.choice([cpu, task.cpu]), QUE, task.pid)
        task.told = True
        task.woken = self.now if woken is None else woken
        task.become('wait', self.now)

    def move(self, cpu):
        others = self.queue(cpu)
        if not others:
            return
        task = self.r.choice(others)
        known = task.told
        self.put(cpu, DEQ, task.pid)
        # A task that is only known from its moves counts as waiting all the time.
        if known:
            task.become('moves', self.now)
        self.tick(50)
        task.cpu = self.r.randrange(self.cpus)
        self.put(task.cpu, QUE, task.pid)
        if known:
            task.become('wait', self.now)

    def renice(self, cpu):
        if self.current[cpu]:
            self.put(cpu, DEQ, self.current[cpu].pid)
            self.tick(50)
            self.put(cpu, QUE, self.current[cpu].pid)

    def step(self):
        cpu = self.r.randrange(self.cpus)
        self.tick(self.r.choice([100, 10000, 1000000]))
        act = self.r.choices([lambda: self.switch(cpu, True), lambda: self.switch(cpu, False),
                              lambda: self.wake(cpu), lambda: self.move(cpu),
                              lambda: self.renice(cpu)], [4, 3, 6, 1, 1])[0]
        act()

    def write(self, path):
        """Write the log in the order of the device: a piece of one CPU, a piece of another."""
        at = [0] * self.cpus
        with open(path, 'wb') as out:
            while any(at[c] < len(self.records[c]) for c in range(self.cpus)):
                cpu = self.r.randrange(self.cpus)
                end = at[cpu] + self.r.randint(1, 40)
                out.write(b''.join(self.records[cpu][at[cpu]:end]))
                at[cpu] = end

    def truth(self):
        for cpu in range(self.cpus):
            self.account(cpu)
        for task in self.tasks:
            task.become('end', self.last)
        return {
            'first': self.first, 'last': self.last, 'all': self.all,
            'cpus': {self.lowest + c: [self.busy[c], self.idle[c], self.switches[c]]
                     for c in range(self.cpus) if self.told[c]},
            'tasks': {t.pid: [t.run, t.wait, t.switches, t.preempted, t.wakeups, t.migrations,
                              len(t.latencies), sum(t.latencies), max(t.latencies, default=0)]
                      for t in self.tasks if t.told},
        }


def simulate(seed, log, truth):
    machine = Machine(seed)
    most = machine.r.choice([5, 50, 3000])
    while machine.all < most:
        machine.step()
    machine.write(log)
    with open(truth, 'w', encoding='ascii') as out:
        json.dump(machine.truth(), out)


def wrong(what, wanted, got):
    if wanted != got:
        sys.exit(f'{what}: wanted {wanted}, got {got}')


def check(truth, summary):
    with open(truth, encoding='ascii') as t, open(summary, encoding='utf-8') as s:
        truth, summary = json.load(t), json.load(s)
    for key in ('first', 'last'):
        wrong(key, truth[key], summary[key])
    wrong('records', truth['all'], summary['records']['all'])
    wrong('contradictions', 0, summary['contradictions'])
    cpus = {str(c['cpu']): c for c in summary['cpus']}
    tasks = {str(t['pid']): t for t in summary['tasks']}
    for cpu, wanted in truth['cpus'].items():
        wrong(f'cpu {cpu}', wanted, [cpus[cpu][k] for k in ('busy', 'idle', 'switches')])
        wrong(f'cpu {cpu} unknown', 0, cpus[cpu]['unknown'])
    for pid, wanted in truth['tasks'].items():
        task = tasks[pid]
        wrong(f'task {pid}', wanted,
              [task[k] for k in ('run', 'wait', 'switches', 'preempted', 'wakeups', 'migrations')] +
              [task['latency'][k] for k in ('count', 'sum', 'max')])
    runs = [t['run'] for t in summary['tasks']]
    wrong('order', sorted(runs, reverse=True), runs)


def records_of(log):
    with open(log, 'rb') as f:
        data = f.read()
    at = 0
    while at < len(data):
        cpu, time, size = struct.unpack_from('<BQH', data, at)
        blob = data[at + 11:at + 11 + size]
        if cpu == 255 and size >= 3 and blob[0] == 11:
            cpu, blob = struct.unpack_from('<H', blob, 1)[0], blob[3:]
        yield cpu, time, blob
        at += 11 + size


def numbers(blob):
    kind = blob[0] if blob else 0
    if 1 <= kind <= 8:
        which = (kind - 1) % 4
        form = f'<{1 + which // 2}' + ('H' if kind < 5 else 'I')
        return (('queue', 'dequeue', 'switch', 'wakeup')[which],
                *struct.unpack_from(form, blob, 1))
    if kind == 9:
        return ('alloc', *struct.unpack('<HQQ', blob[1:]))
    if kind == 10:
        return ('free', *struct.unpack('<Q', blob[1:]))
    return ('user', len(blob), len(blob), *blob)


def number_values(text):
    """Return the numbers after the = signs, also those in enumerations and arrays."""
    text = re.sub(r'\[\d+\] = ', '', text)
    text = re.sub(r'"(\\.|[^"])*"', '', text)
    return tuple(int(n, 0) for n in re.findall(r'(?<![\w.])(0x[0-9A-Fa-f]+|\d+)(?![\w.])', text))


def ctf(log, path):
    wanted = sorted((time, cpu, *numbers(blob)) for cpu, time, blob in records_of(log))
    out = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', path], check=True,
                         stdout=subprocess.PIPE, encoding='utf-8', errors='replace').stdout
    got = []
    for line in out.splitlines():
        m = re.match(r'\[(\d+)\.(\d+)\] kmon_(\w+): \{ cpu_id = (\d+) \}, (.*)', line)
        if not m:
            sys.exit(f'not understood: {line}')
        time = int(m[1]) * 10**9 + int(m[2])
        values = number_values(m[5])
        if m[3] == 'user':
            values = (values[0], len(values) - 1, *values[1:])
        got.append((time, int(m[4]), m[3], *values))
    wrong('events', len(wanted), len(got))
    for w, g in zip(wanted, sorted(got)):
        wrong('event', w, g)
    print(f'{len(got)} events')


def seed_of(pids, sites, log):
    return b''.join(struct.pack('<I', len(p)) + p for p in (pids, sites)) + log


def corpus(path):
    os.makedirs(path, exist_ok=True)
    pids = b'0 [IDLE]\n1 init [2]\n8 [events/0]\n9 rxvt;-sl;\xc3\xa4\xff;\n'
    sites = b'3 mm/slub.c:1799 func:alloc_slab_page\n7 a.c:1 [mod] func:f\n'
    logs = {'empty': b'', 'cut': sched(0, 1, QUE, 8)[:9]}
    for kind in (QUE, DEQ, SWC, WAK):
        args = (8, 9)[:1 + (kind > DEQ)]
        logs[f'kind{kind}'] = sched(0, 5, kind, *args) + sched(1, 4, kind, *args, wide=True)
    logs['alloc'] = (alloc(0, 10, 3, 64, 0x1000) + alloc(0, 11, 0xffff, 1, 0x2000) +
                     free(1, 12, 0x1000) + free(1, 13, 0x3000) + alloc(1, 14, 7, 8, 0x2000))
    logs['wide'] = sched(300, 3, SWC, 8, 9) + record(255, 2, b'\x0b\x01') + \
        record(255, 2, b'\x0b\xff\xff\x0b\x00') + record(9, 2, b'\x0b\xff\xff\x0b\x00') + \
        sched(65535, 1, QUE, 9, wide=True)
    logs['user'] = record(0, 9, bytes([200, 1, 2])) + record(255, 2**64 - 1, b'') + \
        record(0, 0, b'\x01') + record(3, 1, b'\x00' * 300)
    for seed in range(3):
        machine = Machine(seed)
        while machine.all < 60:
            machine.step()
        machine.write(f'{path}/sim')
        with open(f'{path}/sim', 'rb') as f:
            logs[f'sim{seed}'] = f.read()
    os.unlink(f'{path}/sim')
    for name, log in logs.items():
        with open(f'{path}/{name}', 'wb') as f:
            f.write(seed_of(pids, sites, log))


def main():
    commands = {'--text': from_text, '--check': check, '--ctf': ctf, '--corpus': corpus,
                '--sim': lambda seed, *files: simulate(int(seed), *files)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == '__main__':
    main()
