# SPDX-License-Identifier: GPL-2.0-only
"""What a fleet costs the engines that scrape it, and how long their answers take.

While the fleet runs, a sample of each engine is taken now and then; the rates are those of
the second half of the run, when the update is over.  The queries come at the end, while the
engines go on to scrape.
"""

import os
import statistics
import time

from boot import guest
from fleet import engines, recordings, replay

SITES = "sum by (file, func, module) (linux_alloc_site_bytes{at})"
# what the rule of engines.py stores
STORED = "fleet:linux_alloc_site_bytes:sum{at}"
GREW = "topk(10, {now} - ({before} or 0 * {now}))"
RATE = "topk(10, sum by (file, func, module) (deriv(linux_alloc_site_bytes[{window}s])))"
ON = ("sum by (file, func, module) (linux_alloc_site_bytes * on (instance) group_left ()"
      " node_uname_info{{release='{release}'}}) / scalar(count(node_uname_info{{release='{release}'}}))")
REPEAT = 5


def queries(plan, releases):
    """{name: expression}; releases are those of the old and of the new kernel."""
    since = round(plan.seconds * (1 - replay.UPDATE[1]) * 0.8)
    old, new = (ON.format(release=release) for release in releases)

    def grew(what):
        return GREW.format(now=what.format(at=""), before=what.format(at=f" offset {since}s"))

    return {"sum": SITES.format(at=""), "growth": grew(SITES), "stored": grew(STORED),
            "rate": RATE.format(window=max(4 * plan.interval, round(since * 0.8))),
            "kernels": f"topk(10, {new} - ({old} or 0 * ({new})))"}


class Watch:
    """Samples of the engines, of the generator and of the machine during a run."""

    def __init__(self, running, generator):
        self.running, self.generator = running, generator
        self.samples = []

    def take(self):
        def of(engine):
            return {"samples": engine.samples(), "cpu": engine.cpu(), "memory": engine.memory()}

        self.samples.append({"when": time.monotonic(), "busy": engines.busy(),
                             "load": os.getloadavg()[0],
                             "generator": engines.cpu_of(self.generator.pid),
                             **{e.name: of(e) for e in self.running}})

    def until(self, end):
        pause = min(10.0, (end - time.monotonic()) / 10)
        while time.monotonic() < end:
            if self.generator.poll() is not None:
                raise guest.Failure("the fleet ended: see its message above")
            time.sleep(max(0.0, min(pause, end - time.monotonic())))
            self.take()

    def second_half(self):
        """The first and the last sample of it, and all of them."""
        half = self.samples[len(self.samples) // 2:]
        return half[0], half[-1], half

    def of_engine(self, engine):
        first, last, half = self.second_half()
        seconds = last["when"] - first["when"]
        rate = (last[engine.name]["samples"] - first[engine.name]["samples"]) / seconds
        cpu = (last[engine.name]["cpu"] - first[engine.name]["cpu"]) / seconds
        if not rate:
            raise guest.Failure(f"{engine.name} has no new samples: {guest.text_of(engine.log)[-500:]}")
        return {"samples/s": rate, "CPU, % of a core": 100 * cpu, "CPU, us a sample": 1e6 * cpu / rate,
                "resident MiB": statistics.mean(s[engine.name]["memory"] for s in half) / 2**20}

    def of_machine(self):
        first, last, half = self.second_half()
        seconds = last["when"] - first["when"]
        ours = sum(last[e.name]["cpu"] - first[e.name]["cpu"] for e in self.running)
        replayed = last["generator"] - first["generator"]
        return {"generator, % of a core": 100 * replayed / seconds,
                "other programs, % of a core":
                    100 * (last["busy"] - first["busy"] - ours - replayed) / seconds,
                "load": statistics.mean(s["load"] for s in half)}


def counts(engine, plan):
    """How much the engine holds, and whether it scraped all that it should."""
    window = max(4 * plan.interval, min(300, round(plan.seconds / 2)))
    return {"hosts up": engine.number("sum(up)"),
            "series": engine.number('count({job="fleet"})'),
            "series a host": engine.number(
                'max(count by (instance) ({job="fleet", __name__=~"linux_alloc_.*"}))'),
            "series ever": engine.series_ever(),
            "series of rules": engine.number('count({__name__=~".+:.+"})'),
            "functions": engine.number(f"count({SITES.format(at='')})"),
            "scrapes, % of those due": 100 * engine.number(f"sum(count_over_time(up[{window}s]))")
                / (engine.number("count(up)") * window / plan.interval),
            "slow scrape, ms": 1000 * engine.number("quantile(0.99, scrape_duration_seconds)")}


class Clock:
    """Times queries of an engine that goes on to scrape, which takes that share of a CPU.

    If other programs use the CPUs, too, the time by the clock depends on them, and the CPU
    time hardly does.  If the engine uses several CPUs, the CPU time is the larger one.
    """

    def __init__(self, engine, share):
        self.engine, self.share = engine, share
        self.times = {}

    def take(self, name, expression, **parameters):
        """Adds milliseconds, median by the clock and mean of the CPU; returns the last result."""
        taken, cpu = [], self.engine.cpu()
        for _ in range(REPEAT):
            start = time.monotonic()
            result = self.engine.query(expression, **parameters)
            taken.append(time.monotonic() - start)
        cpu = (self.engine.cpu() - cpu - self.share * sum(taken)) / REPEAT
        self.times[f"{name}, ms"] = 1000 * statistics.median(taken)
        self.times[f"{name}, CPU ms"] = 1000 * max(0.0, cpu)
        return result


def rank_of(result):
    """The place of the leak in a result, from 1; 0 if it is not in it."""
    rows = sorted(result, key=lambda r: -float(r["value"][1]))
    return next((i for i, r in enumerate(rows, 1)
                 if r["metric"].get("func") == recordings.LEAKS), 0)


def ask(engine, plan, releases, share):
    """The times of all queries, and {query: place of the leak}."""
    clock, ranks = Clock(engine, share), {}
    for name, expression in queries(plan, releases).items():
        if name == "stored" and not hasattr(engine, "rule_seconds"):
            continue
        result = clock.take(name, expression)
        if expression.startswith("topk"):
            ranks[name] = rank_of(result)
        if engine.rules:
            continue            # they do not change what has been measured without them
        now = time.time()
        clock.take(name + " over time", expression, start=now - plan.seconds, end=now,
                   step=plan.interval)
    return clock.times, ranks


def all_of(engine, watch, plan, releases):
    """All figures of an engine, and {query: place of the leak}."""
    found = {**counts(engine, plan), **watch.of_engine(engine)}
    times, ranks = ask(engine, plan, releases, found["CPU, % of a core"] / 100)
    found.update(times)
    found["peak MiB"] = engine.memory("VmHWM") / 2**20
    if hasattr(engine, "rule_seconds"):
        found["rule, ms"] = 1000 * engine.rule_seconds()
    sizes, samples = engine.disk()
    found["disk, bytes a sample"] = sizes["data"] / samples
    if "log" in sizes:
        found["log MiB"] = sizes["log"] / 2**20
    return {**found, **watch.of_machine()}, ranks
