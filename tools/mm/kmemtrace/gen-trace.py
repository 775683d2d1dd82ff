#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Traces for the tests: what a kernel of any byte order would have written, and
# the same with one thing wrong.
#
#	DIR [--big] [--word 32] [--cpus N] [--events N] [--first N]
#		[--lost] [--fault NAME] [--no-header] [--features time,pid,tag]
#
# The events of all CPUs have one order, which is that of the addresses, so that
# a reader can tell whether it has found it.

import argparse
import os
import random
import struct

ALLOC, FREE, LOST = 0, 1, 2
KMALLOC, CACHE, PAGES = 0, 1, 2
TIME, PID, TAG, BYTES = 1, 2, 3, 4

TAGS = """1 mm/foo.c:123 func:foo
2 drivers/x.c:5 [x] func:bar
65535 fs/last.c:1 func:last
"""
KALLSYMS = """0000000000001000 T early
{base:016x} T _text
{base:016x} T _stext
{base:016x} t first
{foo:016x} T foo
{data:016x} D some_data
{bar:016x} t bar\t[x]
{weak:016x} W weak_one
0000000000000000 T hidden
"""


class Machine:
    def __init__(self, big, word):
        self.order = '>' if big else '<'
        self.big = big
        self.word = word
        self.base = 0xffffffff81000000 if word == 64 else 0xc1000000
        self.heap = 0xffff888000000000 if word == 64 else 0xd0000000

    def pack(self, fmt, *args):
        return struct.pack(self.order + fmt, *args)

    def feature(self, ident, data):
        return self.pack('HB', 3 + len(data), ident) + data

    def record(self, event, kind, seq, site, ptr, core=b'', features=b'', size=None):
        body = core + features
        length = 24 + len(body)
        filled = (length + 7) // 8 * 8
        return self.pack('BBHIQQ', event, kind, filled if size is None else size,
                         seq & 0xffffffff, site, ptr) + body + bytes(filled - length)

    def alloc(self, seq, kind, site, ptr, req, alloc, features=b'', cpu=-1, gfp=0xcc0):
        return self.record(ALLOC, kind, seq, site, ptr,
                           self.pack('QQIi', req, alloc, gfp, cpu), features)

    def free(self, seq, kind, site, ptr, features=b''):
        return self.record(FREE, kind, seq, site, ptr, b'', features)

    def lost(self, seq, events, size):
        return self.record(LOST, 0, seq, 0, 0, self.pack('QQ', events, size))


def header(m, cpus, features, lost, **more):
    keys = {'abi_version': 2, 'byte_order': 'big' if m.big else 'little',
            'word_bits': m.word, 'page_size': 4096, 'clock': 'monotonic',
            'machine': 's390x' if m.big else 'x86_64', 'release': '6.1.0-test',
            'features': ' '.join(features), 'started': '2026-11-22T03:30:00Z',
            'complete': 'yes', 'cpus': ' '.join(str(c) for c in cpus)}
    keys.update(more)
    text = 'kmemtrace 1\n' + ''.join(f'{k} {v}\n' for k, v in keys.items())
    for cpu in cpus:
        text += 'lost %d %d %d\n' % (cpu, *lost.get(cpu, (0, 0)))
    text += 'section tags\n' + TAGS
    text += 'section modules\nx 16384 0 - Live 0x0000000000000000\n'
    text += 'section kallsyms\n' + KALLSYMS.format(
        base=m.base, foo=m.base + 0x1000, data=m.base + 0x800000, bar=m.base + 0x900000,
        weak=m.base + 0x2000)
    return text + 'end\n'


def features_of(m, names, now, event, kind, size):
    out = b''
    if 'time' in names:
        out += m.feature(TIME, m.pack('Q', now))
    if 'pid' in names:
        out += m.feature(PID, m.pack('i', 1 + now % 7))
    if 'tag' in names and event == ALLOC:
        out += m.feature(TAG, m.pack('H', 1 + now % 2))
    if event == FREE and kind == PAGES:
        out += m.feature(BYTES, m.pack('Q', size))
    return out


def events(m, rng, args, features):
    """One list of records a CPU, in the order of all."""
    files = [[] for _ in range(args.cpus)]
    live = []
    lost = {}
    seq = args.first
    cpu = 0
    for n in range(args.events):
        # runs on one CPU, as in life
        if rng.random() < 0.2:
            cpu = rng.randrange(args.cpus)
        now = 1000000 + 100 * n
        ptr = m.heap + 64 * n
        if args.lost and n % 50 == 49:
            gone = rng.randrange(1, 9)
            seq += gone
            files[cpu].append(m.lost(seq, gone, 48 * gone))
            had = lost.get(cpu, (0, 0))
            lost[cpu] = (had[0] + gone, had[1] + 48 * gone)
        elif live and rng.random() < 0.45:
            ptr, kind, size = live.pop(rng.randrange(len(live)))
            files[cpu].append(m.free(seq, kind, m.base + 0x1010 + n % 64, ptr,
                                     features_of(m, features, now, FREE, kind, size)))
        else:
            kind = rng.choice((KMALLOC, CACHE, PAGES))
            req = rng.randrange(1, 200) if kind != PAGES else 4096
            size = (req + 63) // 64 * 64
            files[cpu].append(m.alloc(seq, kind, m.base + 0x1000 + n % 4096, ptr, req, size,
                                      features_of(m, features, now, ALLOC, kind, size)))
            live.append((ptr, kind, size))
        seq += 1
    return files, lost


def faulty(m, name, records, rng):
    """The records of one file, with the fault in the middle."""
    at = len(records) // 2
    good = records[at]
    seq = struct.unpack(m.order + 'I', good[4:8])[0]
    site, ptr = m.base + 0x1000, m.heap
    ok = dict(kind=KMALLOC, site=site, ptr=ptr, req=8, alloc=8)

    def alloc(**change):
        return m.alloc(seq, **{**ok, **change})

    bad = {
        'size-0': lambda: good[:2] + bytes(2) + good[4:],
        'size-small': lambda: good[:2] + m.pack('H', 16) + good[4:],
        'size-odd': lambda: good[:2] + m.pack('H', 50) + good[4:],
        'size-core': lambda: m.record(ALLOC, 0, seq, site, ptr),
        'size-huge': lambda: m.alloc(seq, **ok) [:2] + m.pack('H', 8192) +
                     m.alloc(seq, **ok)[4:] + bytes(8192 - 48),
        'id': lambda: m.record(9, 0, seq, site, ptr),
        'type': lambda: alloc(kind=7),
        'req-0': lambda: alloc(req=0),
        'alloc-less': lambda: alloc(req=100, alloc=96),
        'cpu': lambda: alloc(cpu=-2),
        'filling': lambda: m.record(ALLOC, 0, seq, site, ptr,
                                    m.pack('QQIi', 8, 8, 0, -1),
                                    m.feature(PID, m.pack('i', 5)) + b'\1'),
        'filling-late': lambda: m.record(ALLOC, 0, seq, site, ptr,
                                         m.pack('QQIi', 8, 8, 0, -1), bytes(7) + b'\1'),
        'feature-over': lambda: alloc(features=m.pack('HB', 99, PID) + bytes(5)),
        'feature-small': lambda: alloc(features=m.pack('HB', 2, PID) + bytes(5)),
        'feature-short': lambda: alloc(features=m.feature(TIME, bytes(2))),
        'feature-long': lambda: alloc(features=m.feature(PID, m.pack('i', 5) + bytes(2))),
        'feature-twice': lambda: alloc(features=2 * m.feature(PID, m.pack('i', 5))),
        'feature-id': lambda: alloc(features=m.feature(77, bytes(5))),
        'tag-on-free': lambda: m.free(seq, KMALLOC, site, ptr, m.feature(TAG, bytes(2))),
        'bytes-missing': lambda: m.free(seq, PAGES, site, ptr),
        'bytes-on-alloc': lambda: alloc(features=m.feature(BYTES, bytes(8))),
        'bytes-0': lambda: m.free(seq, PAGES, site, ptr, m.feature(BYTES, bytes(8))),
        'lost-ptr': lambda: m.record(LOST, 0, seq, 0, ptr, m.pack('QQ', 1, 48)),
        'lost-site': lambda: m.record(LOST, 0, seq, site, 0, m.pack('QQ', 1, 48)),
        'lost-type': lambda: m.record(LOST, 1, seq, 0, 0, m.pack('QQ', 1, 48)),
        'lost-0': lambda: m.lost(seq, 0, 0),
        'lost-bytes': lambda: m.lost(seq, 10, 48),
        'site-32': lambda: alloc(site=1 << 40),
        'seq-back': lambda: m.alloc(seq - 1000, **ok),
        'seq-same': lambda: m.alloc(struct.unpack(m.order + 'I', records[at - 1][4:8])[0], **ok),
        'time-back': lambda: alloc(features=m.feature(TIME, m.pack('Q', 5))),
        'junk': lambda: bytes(rng.randrange(256) for _ in range(4096)),
        'nul': lambda: bytes(4096),
    }
    if name == 'truncated':
        return records[:-1] + [records[-1][:-9]]
    if name == 'truncated-head':
        return records[:-1] + [records[-1][:5]]
    return records[:at] + [bad[name]()] + records[at + 1:]


def main():
    p = argparse.ArgumentParser()
    p.add_argument('dir')
    p.add_argument('--big', action='store_true')
    p.add_argument('--word', type=int, default=64)
    p.add_argument('--cpus', type=int, default=2)
    p.add_argument('--events', type=int, default=2000)
    p.add_argument('--first', type=lambda s: int(s, 0), default=1)
    p.add_argument('--lost', action='store_true')
    p.add_argument('--fault')
    p.add_argument('--no-header', action='store_true')
    p.add_argument('--features', default='time,pid,tag')
    p.add_argument('--header', action='append', default=[], metavar='KEY=VALUE')
    p.add_argument('--seed', type=int, default=1)
    args = p.parse_args()

    rng = random.Random(args.seed)
    m = Machine(args.big, args.word)
    names = [f for f in args.features.split(',') if f]
    files, lost = events(m, rng, args, names)
    if args.fault:
        files[0] = faulty(m, args.fault, files[0], rng)
    os.makedirs(args.dir, exist_ok=True)
    for cpu, records in enumerate(files):
        with open(f'{args.dir}/cpu{cpu}.out', 'wb') as f:
            f.write(b''.join(records))
    if not args.no_header:
        more = dict(h.split('=', 1) for h in args.header)
        with open(f'{args.dir}/header', 'w') as f:
            f.write(header(m, range(args.cpus), names, lost, **more))


if __name__ == '__main__':
    main()
