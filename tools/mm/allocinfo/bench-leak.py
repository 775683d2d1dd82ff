#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure `allocinfo leak` on labelled data from make-series.py.

bench-leak.py [--program PATH] [--runs N] [--seed N] [--hours H] [--interval S] [--sites N]
              [--repeat R] [--quiet-runs N] [--at M,M...] [--drop] [--expect] [-v]

It makes N series with leaks, and N without (--quiet-runs), and asks `allocinfo leak` after
each of --at minutes. With --drop, caches are dropped before the last snapshot. It prints precision and recall at these times, the time at which half
of the leaks of each rate and shape are found, how often the interval of the rate holds the
true one, and the false alarms by kind. The seed differs from run to run; it is printed, and
--seed repeats a run. With --expect, it fails if the figures at the last time are much worse
than usual, or if there is any false alarm without leaks, for a test.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
RATE_HELD = 0.85    # of the leaks, for --expect; the intervals are those of 95 %


def read_labels(path):
    """Return {place: (kind, shape, rate, begin)}."""
    labels = {}
    for line in path.read_text().splitlines():
        place, kind, shape, rate, begin = line.split("\t")
        labels[place] = kind, shape, int(rate), int(begin)
    return labels


def make_series(args, path, seed, repeat):
    subprocess.run([here / "make-series.py", path, "--seed", str(seed), "--hours",
                    str(args.hours), "--interval", str(args.interval), "--sites",
                    str(args.sites), "--repeat", str(repeat)] + ["--drop"] * args.drop,
                   check=True, stderr=subprocess.DEVNULL)
    return read_labels(pathlib.Path(f"{path}.labels"))


def ask(args, path, minutes):
    """Return the leaks that `allocinfo leak` finds by then, by place."""
    done = subprocess.run([args.program, "leak", "--format", "json", "-n", "0", "--until",
                           f"{minutes}m", path], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 4):
        sys.exit(f"bench-leak.py: {args.program}: exit code {done.returncode}")
    found = json.loads(done.stdout)["leaks"]
    return {f"{leak['file']}:{leak['line']}": leak for leak in found}


class Score:
    """Counts over all runs."""

    def __init__(self, minutes):
        self.minutes = minutes
        self.leaks = collections.Counter()      # (shape, rate): number
        self.found = collections.defaultdict(list)  # (shape, rate): minute of each
        self.right = collections.Counter()      # minutes: leaks reported
        self.wrong = collections.Counter()      # minutes: others reported
        self.kinds = {m: collections.Counter() for m in minutes}
        self.rates = []                         # (in the interval, error)

    def add(self, labels, answers):
        first = {}
        for minute in self.minutes:
            for place in answers[minute]:
                if labels[place][0] == "leak":
                    self.right[minute] += 1
                    first.setdefault(place, minute)
                else:
                    self.wrong[minute] += 1
                    self.kinds[minute][labels[place][0]] += 1
        for place, (kind, shape, rate, _) in labels.items():
            if kind == "leak":
                self.leaks[shape, rate] += 1
                if place in first:
                    self.found[shape, rate].append(first[place])
        for place, leak in answers[self.minutes[-1]].items():
            self.add_rate(labels[place], leak["bytes"])

    def add_rate(self, label, trend):
        kind, shape, rate, _ = label
        if kind == "leak" and shape != "daily":
            low, high = trend["an_hour_low"] / 3600, trend["an_hour_high"] / 3600
            self.rates.append((low <= rate <= high, trend["an_hour"] / 3600 / rate - 1))


def print_precision(score):
    total = sum(score.leaks.values())
    print(f"\n{'minutes':>8} {'found':>6} {'of':>6} {'recall':>7} {'false':>6} {'precision':>9}")
    for m in score.minutes:
        right, wrong = score.right[m], score.wrong[m]
        precision = f"{right / (right + wrong):9.3f}" if right + wrong else f"{'-':>9}"
        print(f"{m:8} {right:6} {total:6} {right / total:7.3f} {wrong:6} {precision}  "
              + ", ".join(f"{k} {n}" for k, n in score.kinds[m].most_common()))


def print_times(score):
    print("\nfound at last, and minutes until half of the leaks are found")
    rates = sorted({rate for _, rate in score.leaks})
    print(f"{'bytes/s':>8}" + "".join(f"{r:>16}" for r in rates))
    for shape in sorted({shape for shape, _ in score.leaks}):
        row = f"{shape:>8}"
        for rate in rates:
            total, found = score.leaks[shape, rate], sorted(score.found[shape, rate])
            half = found[(total - 1) // 2] if len(found) > (total - 1) // 2 else "-"
            row += f"{f'{len(found)}/{total}':>10}{half:>6}"
        print(row)


def rate_held(score):
    """The part of the leaks whose interval has the true rate."""
    return statistics.mean(ok for ok, _ in score.rates) if score.rates else 0


def print_rates(score):
    if score.rates:
        error = statistics.median(abs(e) for _, e in score.rates)
        print(f"\nThe interval has the true rate in {rate_held(score):.1%} of {len(score.rates)} leaks; "
              f"the median error of the rate is {error:.1%}.")


def measure(args, seed, repeat, folder):
    path = os.path.join(folder, "series")
    labels = make_series(args, path, seed, repeat)
    answers = {m: ask(args, path, m) for m in args.at}
    if args.verbose:
        for place, leak in answers[args.at[-1]].items():
            if labels[place][0] != "leak":
                print(f"false: seed {seed} {place} {labels[place][0]} {leak['bytes']}")
    return labels, answers


def print_quiet(args, seed, folder):
    """Runs without any leak."""
    alarms, sites = collections.Counter(), 0
    for run in range(args.quiet_runs):
        labels, answers = measure(args, seed + run, 0, folder)
        sites += len(labels)
        alarms.update({m: len(answers[m]) for m in args.at})
    print(f"\nWithout leaks, {args.quiet_runs} runs of {args.hours} hours, {sites} call sites "
          "in all: false alarms after")
    print("  " + ", ".join(f"{m} minutes: {alarms[m]}" for m in args.at))
    return alarms[args.at[-1]]


def check(args, score, alarms):
    last = args.at[-1]
    right, wrong, total = score.right[last], score.wrong[last], sum(score.leaks.values())
    bad = [text for is_bad, text in (
        (right < total / 2, f"only {right} of {total} leaks found"),
        (wrong > right / 10, f"{wrong} false alarms beside {right} leaks"),
        (args.runs and rate_held(score) < RATE_HELD,
         f"the interval has the true rate in {rate_held(score):.1%} of the leaks only"),
        (alarms, f"{alarms} false alarms without leaks")) if is_bad]
    if bad:
        sys.exit("bench-leak.py: " + "; ".join(bad))


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(here / "allocinfo"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quiet-runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--interval", type=float, default=60)
    parser.add_argument("--sites", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--at", default="30,45,60,90,120,150,180",
                        type=lambda text: [int(m) for m in text.split(",")])
    parser.add_argument("--expect", action="store_true", help="fail if the figures are bad")
    parser.add_argument("--drop", action="store_true", help="drop caches at the end")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each false alarm")
    return parser.parse_args()


def main():
    args = options()
    print(f"bench-leak.py: seed {args.seed}, a snapshot every {args.interval:.0f} s")
    score, alarms = Score(args.at), 0
    with tempfile.TemporaryDirectory() as folder:
        for run in range(args.runs):
            score.add(*measure(args, args.seed + run, args.repeat, folder))
        if args.runs:
            print_precision(score)
            print_times(score)
            print_rates(score)
        if args.quiet_runs:
            alarms = print_quiet(args, args.seed + 1000, folder)
    if args.expect:
        check(args, score, alarms)


if __name__ == "__main__":
    main()
