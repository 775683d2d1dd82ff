#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make synthetic traces, valid and invalid ones.

A scenario is a function that makes events happen on a simulated machine. The trace
contains these events as kmemtraced would record them, in any byte order and word size
and with any features. The machine also counts the events in a simple way and writes the
sums to DIR/expected.json: kmemtrace-report must find the same sums.

Addresses are offsets from the memory and the text of a kernel with that word size, so
that a scenario is the same for all word sizes. A "raw" event is not counted.
"""
import argparse
import collections
import json
import os
import random
import struct
import sys

ALLOC, FREE, LOST = 0, 1, 2
KMALLOC, CACHE, PAGES = 0, 1, 2
TYPES = ("kmalloc", "cache", "pages")
TIME, PID, TAG, BYTES = 1, 2, 3, 4
PAGE = 4096

LAST_TAG = 65535
TAGS = {
    1: "mm/first.c:11 func:first_alloc",
    2: "mm/second.c:22 func:second_alloc",
    3: "drivers/net/third.c:33 [third] func:third_alloc",
    7: "fs/seventh.c:77 func:seventh_alloc",
    LAST_TAG: "fs/last.c:1 func:last",
}
SYMBOLS = (
    (0x0, "T _text"), (0x0, "T _stext"),
    (0x1000, "T alpha_alloc"), (0x2000, "T beta_alloc"),
    (0x3000, "T gamma_alloc"), (0x4000, "T delta_free"),
    (0x5000, "t slab_pages"), (0x6000, "W weak_one"),
    (0x800000, "D some_data"), (0x900000, "t modular_alloc\t[third]"),
)


class Machine:
    """The traced machine: its clock, CPUs and sequence numbers, and the sums."""

    def __init__(self, args):
        self.args = args
        self.order = ">" if args.big else "<"
        self.memory = 0xc8000000 if args.word == 32 else 0xffff888000000000
        self.text = 0xc1000000 if args.word == 32 else 0xffffffff81000000
        self.features = [f for f in args.features.split(",") if f]
        self.cpu = 0
        self.pid = 1
        self.time = 1000000
        self.sequence = args.first
        self.files = [[] for _ in range(args.cpus)]
        self.objects = {}
        self.blocks = []
        self.sum = {t: collections.Counter() for t in TYPES}
        self.lost = [0] * args.cpus

    # records

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def feature(self, ident, form, value):
        data = self.pack(form, value)
        return self.pack("HB", len(data) + 3, ident) + data

    def build(self, event, kind, seq, site, ptr, rest=b""):
        length = (24 + len(rest) + 7) & ~7
        return self.pack("BBHIQQ", event, kind, length, seq & 0xffffffff, site,
                         ptr) + rest + bytes(length - 24 - len(rest))

    def record(self, event, kind, site, ptr, body=b"", tag=0, size=None):
        if "time" in self.features:
            body += self.feature(TIME, "Q", self.time)
        if "pid" in self.features:
            body += self.feature(PID, "i", self.pid)
        if event == ALLOC and "tag" in self.features:
            body += self.feature(TAG, "H", tag)
        if size is not None:
            body += self.feature(BYTES, "Q", size)
        self.files[self.cpu].append(self.build(event, kind, self.sequence, site,
                                               ptr, body))
        self.sequence += 1
        self.time += 10

    def address(self, offset):
        return self.memory + offset if offset else 0

    def raw_alloc(self, kind, site, offset, req, size, tag=0, target=-1):
        body = self.pack("QQIi", req, size, 0xcc0, target)
        self.record(ALLOC, kind, self.text + site, self.address(offset), body,
                    tag)

    def raw_free(self, kind, site, offset, size=None):
        if kind == PAGES and size is None:
            size = PAGE
        self.record(FREE, kind, self.text + site, self.address(offset),
                    size=size)

    def lose(self, events, tell=True):
        self.sequence += events
        self.lost[self.cpu] += events
        if tell:
            self.record(LOST, 0, 0, 0, self.pack("QQ", events, events * 72))

    # events that are counted

    def count_alloc(self, kind, req, size, target):
        s = self.sum[TYPES[kind]]
        s["allocs"] += 1
        s["requested"] += req
        s["allocated"] += size
        s["cross_allocs"] += target not in (-1, self.cpu)
        s["live"] += 1
        s["live_requested"] += req
        s["live_allocated"] += size

    def count_free(self, kind, req, size, cpu):
        s = self.sum[TYPES[kind]]
        s["frees"] += 1
        s["cross_frees"] += cpu != self.cpu
        s["live"] -= 1
        s["live_requested"] -= req
        s["live_allocated"] -= size

    def alloc(self, kind, site, offset, req, size, tag=0, target=-1):
        self.raw_alloc(kind, site, offset, req, size, tag, target)
        self.count_alloc(kind, req, size, target)
        if kind == PAGES:
            self.blocks.append([offset, size, self.cpu])
        else:
            self.objects[offset] = (kind, req, size, self.cpu)

    def free(self, kind, site, offset):
        self.raw_free(kind, site, offset)
        was, req, size, cpu = self.objects.pop(offset)
        self.count_free(was, req, size, cpu)

    def free_pages(self, site, offset, size):
        """Free pages of blocks that were requested in full, so that parts are simple."""
        self.raw_free(PAGES, site, offset, size)
        end = offset + size
        for block in list(self.blocks):
            start, length, cpu = block
            low, high = max(start, offset), min(start + length, end)
            if low >= high:
                continue
            self.blocks.remove(block)
            for a, b in ((start, low), (high, start + length)):
                if a < b:
                    self.blocks.append([a, b - a, cpu])
                    self.sum["pages"]["live"] += 1
            self.count_free(PAGES, high - low, high - low, cpu)

    # files

    def header(self):
        a = self.args
        keys = {
            "kmemtrace": 1, "abi_version": 2,
            "byte_order": "big" if a.big else "little", "word_bits": a.word,
            "page_size": PAGE, "clock": "monotonic", "machine": "test",
            "release": "6.1.0-test", "features": " ".join(self.features),
            "started": "2020-01-01T00:00:00Z", "complete": "yes",
            "cpus": " ".join(str(cpu) for cpu in range(a.cpus)),
        }
        keys.update(pair.split("=", 1) for pair in a.header)
        lines = [f"{key} {value}" for key, value in keys.items()]
        lines += [f"lost {cpu} {events} {72 * events}"
                  for cpu, events in enumerate(self.lost)]
        lines += ["section tags"]
        lines += [f"{index} {text}" for index, text in TAGS.items()
                  if index != LAST_TAG or not a.few_tags]
        lines += ["section modules", "third 16384 0 - Live 0x0",
                  "section kallsyms", f"{0:0{a.word // 4}x} T hidden"]
        lines += [f"{self.text + offset:0{a.word // 4}x} {name}"
                  for offset, name in SYMBOLS]
        return "" if a.no_header else "\n".join(lines + ["end", ""])

    def write_packed(self, path):
        """Write the whole trace as one file, in the format of fuzz.h."""
        head, first, second = (self.header().encode(),
                               *map(b"".join, self.files))
        with open(path, "wb") as out:
            for part in (head, first):
                out.write(struct.pack("<I", len(part)) + part)
            out.write(second)

    def write(self, path):
        os.makedirs(path, exist_ok=True)
        for cpu, records in enumerate(self.files):
            with open(f"{path}/cpu{cpu}.out", "wb") as out:
                out.write(b"".join(records))
        if not self.args.no_header:
            with open(f"{path}/header", "w", encoding="ascii") as out:
                out.write(self.header())
        keys = ("allocs", "frees", "requested", "allocated", "live",
                "live_requested", "live_allocated", "cross_allocs",
                "cross_frees")
        sums = {t: {key: self.sum[t][key] for key in keys} for t in TYPES}
        with open(f"{path}/expected.json", "w", encoding="ascii") as out:
            json.dump(sums, out, indent=1)


def basic(m):
    """Some valid events of every kind."""
    m.alloc(PAGES, 0x5010, 0x10000, PAGE, PAGE, 1)
    m.alloc(KMALLOC, 0x1010, 0x10000, 100, 128, 2)
    m.alloc(KMALLOC, 0x1010, 0x10080, 120, 128, 2)
    m.alloc(CACHE, 0x2020, 0x10100, 200, 208, 7)
    m.cpu = 1
    m.alloc(CACHE, 0x900010, 0x10200, 64, 64, 3, target=0)
    m.alloc(KMALLOC, 0x1010, 0x10300, 8, 8, 2, target=1)
    m.free(KMALLOC, 0x4010, 0x10000)
    m.raw_free(KMALLOC, 0x4010, 0x900000)
    m.cpu = 0
    m.free(CACHE, 0x4020, 0x10100)
    m.free(KMALLOC, 0x4010, 0x10200)
    m.raw_free(KMALLOC, 0x4010, 0)
    m.raw_alloc(KMALLOC, 0x1010, 0, 4096, 0, 2)
    # eight pages at once, freed one by one except for two in the middle
    m.alloc(PAGES, 0x3010, 0x20000, 8 * PAGE, 8 * PAGE)
    for page in (7, 0, 2, 5, 1, 6):
        m.time += 1000
        m.cpu = page % 2
        m.free_pages(0x4030, 0x20000 + page * PAGE, PAGE)
    # two adjacent blocks, freed by one event
    m.alloc(PAGES, 0x3010, 0x30000, PAGE, PAGE)
    m.alloc(PAGES, 0x3010, 0x31000, PAGE, PAGE)
    m.free_pages(0x4030, 0x30000, 2 * PAGE)
    # a large kmalloc() is an object and a block at the same address
    m.alloc(PAGES, 0x5010, 0x40000, 4 * PAGE, 4 * PAGE)
    m.alloc(KMALLOC, 0x1010, 0x40000, 3 * PAGE + 1, 4 * PAGE)
    m.free(KMALLOC, 0x4010, 0x40000)
    m.free_pages(0x5020, 0x40000, 4 * PAGE)
    m.raw_free(PAGES, 0x5020, 0x800000, PAGE)


def errors(m):
    """One error of each kind, and no others."""
    m.raw_alloc(PAGES, 0x5010, 0x10000, PAGE, PAGE)
    m.raw_alloc(KMALLOC, 0x1010, 0x10000, 100, 64)      # short
    m.raw_free(CACHE, 0x4010, 0x10000)                  # wrong API
    m.raw_alloc(KMALLOC, 0x1010, 0x10100, 64, 64)
    m.raw_free(KMALLOC, 0x4010, 0x10100)
    m.raw_free(KMALLOC, 0x4020, 0x10100)                # double free
    m.raw_free(KMALLOC, 0x4010, 0x10800)                # unknown
    m.raw_alloc(KMALLOC, 0x1010, 0x10200, 64, 64)
    m.raw_alloc(CACHE, 0x2010, 0x10200, 64, 64)         # still live
    m.raw_free(KMALLOC, 0x4010, 0x10200)                # mixed
    m.raw_alloc(PAGES, 0x3010, 0x20000, 2 * PAGE, 2 * PAGE)
    m.raw_alloc(PAGES, 0x3020, 0x21000, PAGE, PAGE)     # still live
    m.raw_free(PAGES, 0x4030, 0x20000, PAGE)
    m.raw_free(PAGES, 0x4030, 0x20000, PAGE)            # double free
    m.raw_alloc(KMALLOC, 0x1010, 0x30000, 64, 64)
    m.raw_free(PAGES, 0x4030, 0x30000, PAGE)            # wrong API
    m.raw_alloc(PAGES, 0x5010, 0x40000, 4 * PAGE, 4 * PAGE)
    m.raw_alloc(KMALLOC, 0x1010, 0x40000, 4 * PAGE, 4 * PAGE)
    m.raw_free(PAGES, 0x4030, 0x40000, 4 * PAGE)        # wrong API


def losses(m):
    """The same errors, but records were lost before each of them."""
    m.raw_alloc(PAGES, 0x5010, 0x10000, PAGE, PAGE)
    m.raw_alloc(KMALLOC, 0x1010, 0x10000, 64, 64)
    m.raw_alloc(KMALLOC, 0x1010, 0x10100, 64, 64)
    m.raw_free(KMALLOC, 0x4010, 0x10100)
    m.raw_alloc(KMALLOC, 0x1010, 0x10200, 64, 64)
    m.raw_alloc(CACHE, 0x1010, 0x10300, 64, 64)
    m.raw_alloc(PAGES, 0x3010, 0x20000, 2 * PAGE, 2 * PAGE)
    m.raw_free(PAGES, 0x3010, 0x20000, PAGE)
    m.lose(5)
    m.raw_free(CACHE, 0x4010, 0x10000)
    m.raw_free(KMALLOC, 0x4020, 0x10100)
    m.raw_free(KMALLOC, 0x4010, 0x10800)
    m.raw_alloc(CACHE, 0x2010, 0x10200, 64, 64)
    m.raw_free(KMALLOC, 0x4010, 0x10300)
    m.raw_free(PAGES, 0x4030, 0x20000, PAGE)
    m.raw_alloc(PAGES, 0x3020, 0x21000, PAGE, PAGE)
    m.lose(1, tell=False)
    m.raw_alloc(KMALLOC, 0x1010, 0x10200, 64, 64)


def hostile(m):
    """Impossible numbers."""
    top = (1 << 64) - 1
    m.raw_alloc(PAGES, 0x3010, 0x1000, top, top)
    m.raw_free(PAGES, 0x3010, 0x5000, 1 << 63)
    m.raw_alloc(PAGES, 0x3010, 0x5000, 3, 1 << 63)
    m.raw_free(PAGES, 0x3010, 0x6001, 7)
    m.raw_alloc(PAGES, 0x3020, 0x7000, 0, 0)
    m.raw_free(PAGES, 0x3020, 0x7000, 0)
    for i in range(1, 200):
        m.raw_alloc(KMALLOC, 0x1010, 16 * i, top, top - i)
        m.raw_alloc(PAGES, 0x3010, 0x2000 * i, i, top >> (i % 64))
    for i in range(1, 200, 3):
        m.raw_free(KMALLOC, 0x1010, 16 * i)
        m.raw_free(PAGES, 0x3010, 0x1800 * i, top)
    m.time = top
    m.raw_free(KMALLOC, 0x1010, 16)
    m.time = 5
    m.raw_free(KMALLOC, 0x1010, 32)
    m.lose(1 << 20)
    m.raw_free(3, 0, 0x77)
    m.record(9, 0, 0, 0, bytes(8))


def workload(m):
    """Random valid events: allocations and frees of objects and pages on all CPUs."""
    a = m.args
    rng = random.Random(a.seed)
    slots = [n * 256 for n in range(1, 4096)]
    rng.shuffle(slots)
    free_chunks = [0x10000000 + n * 16 * PAGE for n in range(256)]
    chunks = {}
    live = []
    for _ in range(a.events):
        m.cpu = rng.randrange(a.cpus)
        m.pid = rng.randrange(1, 100)
        m.time += rng.randrange(1000)
        what = rng.random()
        if what < 0.4 and slots:
            kind, req = rng.choice((KMALLOC, CACHE)), rng.randrange(1, 257)
            offset = slots.pop()
            m.alloc(kind, 0x1000 + 16 * rng.randrange(1, 600), offset, req,
                    (req + 31) & ~31, rng.choice((0, 1, 2, 3, 7)),
                    rng.choice((-1, -1, 0, 1)))
            live.append(offset)
        elif what < 0.8 and live:
            i = rng.randrange(len(live))
            live[i], live[-1] = live[-1], live[i]
            offset = live.pop()
            m.free(m.objects[offset][0], 0x4010, offset)
            slots.append(offset)
        elif what < 0.9 and free_chunks:
            base, pages = free_chunks.pop(), 1 << rng.randrange(5)
            m.alloc(PAGES, 0x3000 + 16 * rng.randrange(1, 20), base,
                    pages * PAGE, pages * PAGE)
            chunks[base] = (base, pages)
        elif chunks:
            key = rng.choice(sorted(chunks))
            base, pages = chunks.pop(key)
            part = rng.randrange(1, pages + 1)
            m.free_pages(0x4030, base, part * PAGE)
            if part < pages:
                chunks[key] = (base + part * PAGE, pages - part)
            else:
                free_chunks.append(key)


def many(m):
    """A new call site and size in each event, more than a report distinguishes."""
    for i in range(1, m.args.events + 1):
        m.alloc(KMALLOC, 0x1000000 + i, 16 * (i % 64 + 2), i, i + 1)
        m.free(KMALLOC, 0x4010, 16 * (i % 64 + 2))


def stream(m):
    """Events to test single files and the order of all records: addresses rise."""
    a = m.args
    rng = random.Random(a.seed)
    live = []
    for n in range(a.events):
        # several events in a row on one CPU, as on a real machine
        if rng.random() < 0.2:
            m.cpu = rng.randrange(a.cpus)
        m.time = 1000000 + 100 * n
        m.pid = 1 + m.time % 7
        if a.lost and n % 50 == 49:
            m.lose(rng.randrange(1, 9))
        elif live and rng.random() < 0.45:
            offset, kind, size = live.pop(rng.randrange(len(live)))
            m.raw_free(kind, 0x1010 + n % 64, offset,
                       size if kind == PAGES else None)
        else:
            kind = rng.choice((KMALLOC, CACHE, PAGES))
            req = rng.randrange(1, 200) if kind != PAGES else PAGE
            size = (req + 63) & ~63
            offset = (n + 1) * (PAGE if kind == PAGES else 64)
            m.raw_alloc(kind, 0x1000 + n % 4096, offset, req, size, 1 + n % 2)
            live.append((offset, kind, size))


SCENARIOS = {f.__name__: f for f in (basic, errors, losses, hostile, workload,
                                     many, stream)}


def spoil(m, name):
    """Put one error into the middle of the first file, or at its end."""
    records = m.files[0]
    at = len(records) // 2

    def number(record):
        return struct.unpack(m.order + "I", record[4:8])[0]

    def record(event, rest=b"", kind=KMALLOC, seq=number(records[at]),
               site=m.text + 0x1000, ptr=m.memory):
        return m.build(event, kind, seq, site, ptr, rest)

    def alloc(features=b"", req=8, size=8, cpu=-1, **more):
        return record(ALLOC, m.pack("QQIi", req, size, 0, cpu) + features, **more)

    def lost(events, size, **more):
        return record(LOST, m.pack("QQ", events, size), **{"site": 0, "ptr": 0,
                                                           **more})

    def sized(old, size):
        return old[:2] + m.pack("H", size) + old[4:]

    pid = m.feature(PID, "i", 5)
    bad = {
        "size-0": lambda: sized(records[at], 0),
        "size-small": lambda: sized(records[at], 16),
        "size-odd": lambda: sized(records[at], 50),
        "size-core": lambda: record(ALLOC),
        "size-huge": lambda: sized(alloc(), 8192) + bytes(8192 - 48),
        "id": lambda: record(9),
        "type": lambda: alloc(kind=7),
        "req-0": lambda: alloc(req=0),
        "alloc-less": lambda: alloc(req=100, size=96),
        "cpu": lambda: alloc(cpu=-2),
        "cpu-far": lambda: alloc(cpu=99999),
        "free-nothing": lambda: record(FREE, ptr=0),
        "free-zero": lambda: record(FREE, ptr=16),
        "ptr-32": lambda: alloc(ptr=1 << 40),
        "ptr-page": lambda: alloc(kind=PAGES, ptr=m.memory + 100, req=PAGE, size=PAGE),
        "size-page": lambda: alloc(kind=PAGES, req=100, size=100),
        "size-over": lambda: alloc(size=1 << (m.args.word - 1)),
        "bytes-page": lambda: record(FREE, m.feature(BYTES, "Q", 77), kind=PAGES),
        "site-0": lambda: alloc(site=0),
        "filling": lambda: alloc(pid + b"\1"),
        "filling-late": lambda: alloc(bytes(7) + b"\1"),
        "feature-over": lambda: alloc(m.pack("HB", 99, PID) + bytes(5)),
        "feature-small": lambda: alloc(m.pack("HB", 2, PID) + bytes(5)),
        "feature-short": lambda: alloc(m.feature(TIME, "2s", bytes(2))),
        "feature-long": lambda: alloc(m.feature(PID, "6s", bytes(6))),
        "feature-twice": lambda: alloc(2 * pid),
        "feature-id": lambda: alloc(m.feature(77, "5s", bytes(5))),
        "tag-on-free": lambda: record(FREE, m.feature(TAG, "H", 0)),
        "bytes-missing": lambda: record(FREE, kind=PAGES),
        "bytes-on-alloc": lambda: alloc(m.feature(BYTES, "Q", 0)),
        "bytes-0": lambda: record(FREE, m.feature(BYTES, "Q", 0), kind=PAGES),
        "lost-ptr": lambda: lost(1, 48, ptr=m.memory),
        "lost-site": lambda: lost(1, 48, site=m.text),
        "lost-type": lambda: lost(1, 48, kind=1),
        "lost-0": lambda: lost(0, 0),
        "lost-bytes": lambda: lost(10, 48),
        "site-32": lambda: alloc(site=1 << 40),
        "seq-back": lambda: alloc(seq=number(records[at]) - 1000),
        "seq-same": lambda: alloc(seq=number(records[at - 1])),
        "time-back": lambda: alloc(m.feature(TIME, "Q", 5)),
        "junk": lambda: random.Random(m.args.seed).randbytes(4096),
        "nul": lambda: bytes(4096),
    }
    if name == "truncated":
        records[-1] = records[-1][:-9]
    elif name == "truncated-head":
        records[-1] = records[-1][:5]
    else:
        records[at] = bad[name]()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dir")
    parser.add_argument("--scenario", choices=SCENARIOS, default="basic",
                        help="; ".join(f"{n}: {f.__doc__}"
                                       for n, f in SCENARIOS.items()))
    parser.add_argument("--big", action="store_true", help="big-endian")
    parser.add_argument("--word", type=int, choices=(32, 64), default=64)
    parser.add_argument("--features", default="time,pid,tag",
                        help="of time, pid, tag; may be empty")
    parser.add_argument("--first", type=lambda s: int(s, 0),
                        default=(1 << 32) - 8,
                        help="sequence number; the default soon wraps around")
    parser.add_argument("--header", action="append", default=[],
                        metavar="KEY=VALUE")
    parser.add_argument("--no-header", action="store_true")
    parser.add_argument("--few-tags", action="store_true",
                        help="no tag 65535: it makes the table so large that cut-report takes minutes")
    parser.add_argument("--lost", action="store_true",
                        help="of stream: a loss every 50 events")
    parser.add_argument("--fault", help="what is wrong, see spoil()")
    parser.add_argument("--packed", action="store_true",
                        help="write one file, a seed for the fuzzers, instead of DIR")
    parser.add_argument("--events", type=int, default=20000)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    machine = Machine(args)
    SCENARIOS[args.scenario](machine)
    if args.fault:
        spoil(machine, args.fault)
    if args.packed:
        machine.write_packed(args.dir)
    else:
        machine.write(args.dir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
