# SPDX-License-Identifier: GPL-2.0-only
"""The table of measured figures, and what they say about fleets that were not measured.

Two fleets of different size give each cost as a fixed part and a part for each series or
each sample.  Everything outside of the two sizes is extrapolation.
"""

import csv
import math
import os

from boot import guest

HEAD = "# SPDX-License-Identifier: GPL-2.0-only\n"
FIELDS = ["engine", "hosts", "figure", "value"]
INTERVAL = 60           # seconds, of the fleet in the model
SIZES = (1000, 10000, 100000)
SHARD = 10000           # hosts of an engine, if there are several


def read(path):
    """{(engine, hosts): {figure: value}} in the order of the file."""
    runs = {}
    if os.path.exists(path):
        with open(path, newline="") as f:
            for row in csv.DictReader(line for line in f if not line.startswith("#")):
                runs.setdefault((row["engine"], int(row["hosts"])), {})[row["figure"]] = float(row["value"])
    return runs


def add(path, engine, hosts, found):
    """Stores the figures of a run in place of the earlier one of this size."""
    runs = read(path)
    runs[engine, hosts] = found
    with open(path + ".new", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        f.write(HEAD)
        out.writerow(FIELDS)
        for key in sorted(runs):
            out.writerows([*key, figure, f"{value:.6g}"] for figure, value in runs[key].items())
    os.rename(path + ".new", path)


def short(value):
    if value is None:
        return "-"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def columns(cells):
    """Lines with aligned columns; the first is text."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
            for row in cells]


def table(runs):
    """The lines of the measured figures: runs as they are by default, then the others."""
    if not runs:
        raise guest.Failure("no figures: run qemu-test/fleet/hosts run")
    usual = {key: found for key, found in runs.items() if " " not in key[0]}
    others = {key: found for key, found in runs.items() if " " in key[0]}
    return [line for part in (usual, others) if part for line in ("", *block(part))][1:]


def block(runs):
    """Aligned lines with a column for each run."""
    figures = list(dict.fromkeys(f for found in runs.values() for f in found))
    cells = [["engine", *(engine for engine, _ in runs)], ["hosts", *(f"{n:,}" for _, n in runs)]]
    return columns(cells + [[f, *(short(found.get(f)) for found in runs.values())] for f in figures])


class Line:
    """A cost as a line through two runs: fixed part and part for each unit."""

    def __init__(self, small, large, cost, unit):
        self.each = (cost(large) - cost(small)) / (unit(large) - unit(small))
        self.fixed = cost(large) - self.each * unit(large)

    def at(self, units):
        return max(0.0, self.fixed) + self.each * units


class Model:
    """What one engine needs for any number of hosts."""

    def __init__(self, small, large, hosts):
        def series(run):
            return run["series"]

        def samples(run):
            return run["samples/s"]

        self.series_each = large["series"] / hosts
        self.functions = large["functions"]
        self.byte = large["disk, bytes a sample"]
        self.memory = Line(small, large, lambda r: r["resident MiB"], series)
        self.cpu = Line(small, large, lambda r: r["CPU, % of a core"] / 100, samples)
        self.times = {f: Line(small, large, lambda r, f=f: r[f], series) for f in large
                      if f.endswith("CPU ms") and not f.startswith("stored")}
        # a stored sum is read for each function, whatever the number of hosts; its CPU time is
        # below the resolution
        self.stored = {f: large[f] for f in large if f.startswith("stored") and "CPU" not in f}

    def rows(self, hosts):
        """{row: value} of an engine that scrapes that many hosts."""
        series = hosts * self.series_each
        rate = series / INTERVAL
        return {"series": series, "samples/s": rate, "memory GiB": self.memory.at(series) / 1024,
                "CPUs for ingest": self.cpu.at(rate), "disk GB a day": self.byte * rate * 86400 / 1e9,
                **{name.replace("ms", "s"): line.at(series) / 1000 for name, line in self.times.items()}}

    @staticmethod
    def measured(run):
        """The same rows of a run that the model does not know."""
        times = {f: run[f] for f in run if f.endswith("CPU ms") and "over time" not in f}
        return {"series": run["series"], "samples/s": run["samples/s"],
                "memory GiB": run["resident MiB"] / 1024, "CPUs for ingest": run["CPU, % of a core"] / 100,
                "disk GB a day": run["disk, bytes a sample"] * run["samples/s"] * 86400 / 1e9,
                **{name.replace("ms", "s"): value / 1000 for name, value in times.items()}}

    def shards(self, hosts):
        """{row: value} of engines with SHARD hosts each, and of one that reads their sums."""
        number = math.ceil(hosts / SHARD)
        found = {f"engines of {SHARD:,} hosts": number,
                 "memory GiB of each": self.memory.at(SHARD * self.series_each) / 1024}
        if self.stored:
            sums = number * self.functions
            found["sum, CPU s on each"] = self.times["sum, CPU ms"].at(SHARD * self.series_each) / 1000
            found["series of sums"] = sums
            found.update({f"{name.replace('ms', 's')} from sums": value * number / 1000
                          for name, value in self.stored.items()})
        return found


def model(runs):
    """The lines of the model for each engine that ran with two sizes."""
    lines = []
    for engine in dict.fromkeys(engine for engine, _ in runs):
        sizes = sorted(n for name, n in runs if name == engine)
        if len(sizes) < 2:
            continue
        made = Model(runs[engine, sizes[0]], runs[engine, sizes[-1]], sizes[-1])
        others = [n for name, n in runs if name == f"{engine} at {INTERVAL} s"]
        heads = [f"{n:,}" for n in (*SIZES, *others)] + [f"{n:,} measured" for n in others]
        rows = [made.rows(n) for n in (*SIZES, *others)]
        rows += [made.measured(runs[f"{engine} at {INTERVAL} s", n]) for n in others]
        lines += ["", *columns([[f"{engine}, {INTERVAL} s", *heads]] +
                               [[name, *(short(row.get(name)) for row in rows)] for name in rows[0]])]
        lines += [f"  {name}: {short(value)}" for name, value in made.shards(SIZES[-1]).items()]
    if not lines:
        raise guest.Failure("the model needs runs of two sizes: hosts run --hosts 250, too")
    return lines[1:]
