#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write snapshots of /proc/allocinfo of a machine that does not exist, some of them of leaks.

make-series.py FILE [--hours H] [--interval S] [--sites N] [--repeat R] [--seed N] [--drop]

FILE gets what this loop would write on a real machine, and `allocinfo leak` reads it:

    while sleep 60; do
        echo "# time $(date +%s)"; cat /proc/meminfo /proc/allocinfo
    done

FILE.labels gets a line for each call site: file:line, kind, shape, and for a leak its bytes a
second and the second in which it begins, separated by tabs. For each shape and each rate
there are R leaks. With --drop, caches are dropped before the last snapshot. The seed differs from run to run; it is printed, and --seed repeats a run.
"""

import argparse
import bisect
import math
import os
import random
import sys

DAY = 86400
RATES = 10, 100, 1000, 10000, 100000
SHAPES = "steady", "steps", "bursts", "daily"
SIZES = 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096


class Machine:
    """What all call sites of a machine have in common, at each snapshot."""

    def __init__(self, rand, times, interval, drop):
        self.rand = rand
        self.times = times
        self.interval = interval
        self.phase = rand.uniform(0, 2 * math.pi)
        self.daily = [math.sin(2 * math.pi * t / DAY + self.phase) for t in times]
        noise = ornstein(rand, times, 0.15, 300)
        self.load = [max(0.1, 1 + 0.4 * d + n) for d, n in zip(self.daily, noise)]
        self.build = self.spells(1200, 2400)
        self.modules = [self.spells(3600, 5400) for _ in range(12)]
        self.reclaim = self.pressure()
        if drop:
            self.reclaim[-1] = 0.95

    def spells(self, mean_on, mean_off):
        """0 or 1 at each snapshot: a compilation runs, or a module is loaded."""
        on = self.rand.random() < mean_on / (mean_on + mean_off)
        until, result = self.rand.expovariate(1 / (mean_on if on else mean_off)), []
        for t in self.times:
            while t >= until:
                on = not on
                until += self.rand.expovariate(1 / (mean_on if on else mean_off))
            result.append(1 if on else 0)
        return result

    def pressure(self):
        """The part of each cache that is reclaimed at each snapshot."""
        result = []
        for build in self.build:
            hit = self.rand.random() < self.interval / (1500 if build else 5000)
            result.append(self.rand.uniform(0.1, 0.7) if hit else 0)
        return result


def ornstein(rand, times, sigma, relax):
    """A random walk that returns to 0 within about `relax` seconds."""
    x, last, result = rand.gauss(0, sigma), times[0], []
    for t in times:
        keep = math.exp((last - t) / relax)
        x = x * keep + rand.gauss(0, sigma * math.sqrt(1 - keep * keep))
        last = t
        result.append(x)
    return result


def log_uniform(rand, low, high):
    return math.exp(rand.uniform(math.log(low), math.log(high)))


# --- what is no leak: numbers of objects at each snapshot

def constant(m):
    return [log_uniform(m.rand, 1, 20000)] * len(m.times)


def cache(m):
    """Grows with use up to a limit; reclaim empties a part."""
    limit, fill = log_uniform(m.rand, 100, 100000), log_uniform(m.rand, 300, 6000)
    x, result, linear = limit * m.rand.random(), [], m.rand.random() < 0.5
    for load, part in zip(m.load, m.reclaim):
        room = limit if linear else limit - x
        x += load * room * m.interval / fill * m.rand.uniform(0.5, 1.5)
        x = min(x, limit) * (1 - part * m.rand.uniform(0.7, 1))
        result.append(x)
    return result


def page_cache(m):
    """Fills the memory, faster while a compilation runs, and is reclaimed."""
    limit = log_uniform(m.rand, 10000, 1000000)
    x, result = limit * m.rand.random(), []
    for build, part in zip(m.build, m.reclaim):
        x += limit * m.interval * (0.0004 + 0.001 * build) * m.rand.expovariate(1)
        x -= x * 0.00005 * m.interval
        if x > limit:
            x = limit * m.rand.uniform(0.85, 1)
        x *= 1 - part
        result.append(x)
    return result


def walk(m):
    mean = log_uniform(m.rand, 20, 20000)
    relax = log_uniform(m.rand, 30, 5400)
    noise = ornstein(m.rand, m.times, mean * m.rand.uniform(0.05, 0.4), relax)
    return [mean + n for n in noise]


def load(m):
    """Follows the load, which has a daily rhythm."""
    mean = log_uniform(m.rand, 5, 20000)
    return [m.rand.gauss(mean * x, math.sqrt(mean * x)) for x in m.load]


def compile_load(m):
    mean = log_uniform(m.rand, 5, 20000)
    return [mean * (0.1 + build * m.rand.uniform(0.5, 1.5)) for build in m.build]


def rhythm(m):
    """A daily rhythm with a phase of its own."""
    mean, part = log_uniform(m.rand, 50, 20000), m.rand.uniform(0.2, 0.8)
    phase = m.rand.gauss(0, 0.8)
    noise = ornstein(m.rand, m.times, mean * 0.1, log_uniform(m.rand, 30, 600))
    return [mean * (1 + part * math.sin(2 * math.pi * t / DAY + m.phase + phase)) + n
            for t, n in zip(m.times, noise)]


def module(m):
    held = log_uniform(m.rand, 1, 5000)
    return [held * on for on in m.rand.choice(m.modules)]


def once(m):
    """Grows once, as when a file system is mounted or a table is resized."""
    before, more = log_uniform(m.rand, 1, 2000), log_uniform(m.rand, 1, 20000)
    steps = [m.rand.uniform(0, m.times[-1]) for _ in range(m.rand.randint(1, 3))]
    return [before + more * sum(t >= s for s in steps) for t in m.times]


def stops(m):
    """Grows for two minutes to an hour and stops, at any time."""
    length = log_uniform(m.rand, 120, 3600)
    begin = m.rand.uniform(min(-length, m.times[-1] - 6 * 3600), m.times[-1])
    before, more = log_uniform(m.rand, 1, 2000), log_uniform(m.rand, 100, 20000)
    return [before + more * min(1, max(0, (t - begin) / length)) for t in m.times]


ORDINARY = ((constant, 60), (cache, 7), (page_cache, 1), (walk, 10), (load, 6),
            (compile_load, 4), (rhythm, 3), (module, 4), (once, 3), (stops, 2))


# --- leaks: bytes lost at each snapshot

def arrivals(m, begin, gap):
    """Times of a Poisson process."""
    t = begin + m.rand.expovariate(1 / gap)
    while t <= m.times[-1]:
        yield t
        t += m.rand.expovariate(1 / gap)


def lost_at(m, events):
    """Sum up the bytes of events (time, bytes) at each snapshot."""
    events = sorted(events)
    when, total, sums = [t for t, _ in events], 0, [0]
    for _, lost in events:
        total += lost
        sums.append(total)
    return [sums[bisect.bisect_right(when, t)] for t in m.times]


def steady(m, rate, begin):
    lost = [max(0, t - begin) * rate for t in m.times]
    return [max(0, m.rand.gauss(x, math.sqrt(x))) if x else 0 for x in lost]


def steps(m, rate, begin):
    period = log_uniform(m.rand, 60, 1200)
    first = begin + m.rand.uniform(0, period)
    return [max(0, math.floor((t - first) / period) + 1) * period * rate for t in m.times]


def bursts(m, rate, begin):
    gap = log_uniform(m.rand, 120, 900)
    return lost_at(m, ((t, m.rand.expovariate(1 / (rate * gap)))
                       for t in arrivals(m, begin, gap)))


def daily(m, rate, begin):
    """Loses twice the rate at the peak of the load, and nothing in its trough."""
    lost, result = 0, []
    for t, sine in zip(m.times, m.daily):
        if t >= begin:
            lost += rate * (1 + sine) * m.interval
        result.append(lost)
    return result


LEAKS = {"steady": steady, "steps": steps, "bursts": bursts, "daily": daily}


def leak(m, shape, rate, begin, size):
    """Numbers of objects of a call site that leaks, besides what it holds anyway."""
    lost = LEAKS[shape](m, rate, begin)
    usual = m.rand.choice((constant, constant, load, walk))(m)
    scale = log_uniform(m.rand, 1, 1000) / max(1, usual[0])
    return [u * scale + x // size for u, x in zip(usual, lost)]


def make_sites(m, args):
    """Return [label, place, size of an object, numbers of objects] for each call site."""
    sites = []
    kinds, weights = zip(*ORDINARY)
    for kind in m.rand.choices(kinds, weights, k=args.sites):
        size = 4096 if kind is page_cache else m.rand.choice(SIZES)
        sites.append([f"{kind.__name__}\t-\t0\t0", size, kind(m)])
    for shape in SHAPES:
        for rate in RATES:
            for _ in range(args.repeat):
                size = m.rand.choice(SIZES)
                begin = m.rand.choice((0, 0, m.rand.uniform(0, m.times[-1] / 3)))
                sites.append([f"leak\t{shape}\t{rate}\t{begin:.0f}", size,
                              leak(m, shape, rate, begin, size)])
    m.rand.shuffle(sites)
    return [(label, f"net/dir{i % 40}/file{i // 10}.c:{10 + i % 10 * 7}",
             f"func:work_{i}", size, counts)
            for i, (label, size, counts) in enumerate(sites)]


def meminfo(m, sites, i):
    total = 64 << 20
    held = sum(size * max(0, int(counts[i])) for _, _, _, size, counts in sites) >> 10
    return (f"MemTotal: {total} kB\nMemFree: {max(0, total - held)} kB\n"
            f"MemAvailable: {max(0, total - held)} kB\n")


def write_series(out, m, sites, start):
    for i, t in enumerate(m.times):
        out.write(f"# time {start + t:.0f}\n{meminfo(m, sites, i)}"
                  "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n")
        for _, place, func, size, counts in sites:
            count = max(0, int(counts[i]))
            out.write(f"{count * size:12} {count:8} {place} {func} \n")


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--interval", type=float, default=60, help="seconds")
    parser.add_argument("--sites", type=int, default=4000, help="call sites that do not leak")
    parser.add_argument("--repeat", type=int, default=3, help="leaks of each shape and rate")
    parser.add_argument("--drop", action="store_true", help="drop caches at the end")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    return parser.parse_args()


def main():
    args = options()
    print(f"make-series.py: seed {args.seed}", file=sys.stderr)
    times = [i * args.interval for i in range(int(args.hours * 3600 / args.interval) + 1)]
    m = Machine(random.Random(args.seed), times, args.interval, args.drop)
    sites = make_sites(m, args)
    with open(args.file, "w", encoding="ascii") as out:
        write_series(out, m, sites, 1760000000)
    with open(args.file + ".labels", "w", encoding="ascii") as out:
        for label, place, *_ in sites:
            out.write(f"{place}\t{label}\n")


if __name__ == "__main__":
    main()
