# SPDX-License-Identifier: GPL-2.0-only
"""What the walks of the hunt have found: build/hunt/NAME.jsonl, an event a line.

  boot		a guest has started
  reached	known, walk: the points of the workload, and those that no walk had visited
  plain		leak: memory that each run leaves, without a fault
  point		key, fired, result, splat, leak, bytes, log, seconds
  broken	key, result: the workload fails from then on; the guest ends
  died		key, how, console: the guest ended or was silent; key is "" before the first point
  failed	why: the workload cannot be walked
  complete	the last point has been walked

A file only grows, so a runner that dies loses nothing.
"""

import json
import re
import threading
import time

from kit import util

POINT = re.compile(r"^point (.+?) fired:(\d+) result:(\S*) splat:(\S*) leak:(\S*) bytes:([+-]\d+)$")
MEMORY = re.compile(r"ENOMEM|[Cc]annot_allocate_memory|[Oo]ut_of_memory|nnot_allocate_memory|memory_exhausted")
COUNTS = ("reached", "done", "fired", "ENOMEM", "succeeded", "other", "unreached",
          "leaks", "splats", "broken", "hung", "dead")
MOST_CONSOLE = 160


def duration(seconds):
    minutes = int(seconds // 60) + 1
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def nth_of(key):
    found = re.search(r" nth:(\d+)$", key)
    return int(found[1]) if found else 1


def is_shared(key):
    """Is the point the same in each workload?  A later evaluation is not, nor a module's own point."""
    return nth_of(key) == 1 and ".ko:0 " not in key


def read_known(path):
    """[(pattern, reason)]: the reason is the comment above the pattern."""
    found, reason = [], []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#"):
            reason.append(line.lstrip("# "))
        elif line.strip():
            found.append((re.compile(line.strip()), " ".join(reason)))
        if not line.startswith("#"):
            reason = []
    return found


PLAIN = "without a fault"    # the key of what needs none


class Finding:
    """kind is leak, splat, hung, broken or dead; what is its substance, the same in each boot."""

    def __init__(self, workload, key, kind, what):
        self.workload, self.key, self.kind, self.what = workload, key, kind, f"{kind}: {what}"

    def line(self):
        return f"{self.workload}: {self.key}: {self.what}"

    def parts(self):
        """What must show again: each line that leaks; that the guest dies, but not how."""
        kind, _, what = self.what.partition(": ")
        if kind == "dead":
            return ["dead"]
        return [f"{kind}: {w}" for w in (what.split(",") if kind == "leak" else [what])]


def substance(splat):
    """A splat without what differs in each boot: addresses, offsets, process ids."""
    text = splat.replace("_", " ") if " " not in splat else splat
    return re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{12,}\b|(?<=PID: )\d+|(?<=CPU: )\d+|(?<=pid )\d+|(?<=/)\d+\b", "N", text)


def plain(text):
    """A text in which a splat looks the same on the console and in the output of the walker."""
    return substance(text.replace("_", " "))


def findings_of(name, e):
    """The findings of an event."""
    if e["event"] == "point":
        if e["splat"] != "no":
            yield Finding(name, e["key"], "splat", substance(e["splat"]))
        if e["leak"] != "no":
            yield Finding(name, e["key"], "leak", re.sub(r"\+\d+/\d+(=-?\d+B)?", "", e["leak"]))
        if e["result"] == "hung":
            yield Finding(name, e["key"], "hung", "the workload")
    elif e["event"] == "plain":
        yield Finding(name, PLAIN, "leak", re.sub(r"\+\d+/\d+(=-?\d+B)?", "", e["leak"]))
    elif e["event"] == "died":
        yield Finding(name, e["key"] or "before the first point", "dead", substance(e["how"]))
    elif e["event"] == "broken":
        yield Finding(name, e["key"], "broken", e["result"])


class Workload:
    """The results of one workload."""

    def __init__(self, name):
        self.name = name
        self.known = self.reached = 0
        self.points, self.extra, self.complete, self.failed = {}, [], False, ""

    def take(self, e):
        kind = e["event"]
        if kind == "reached":
            self.reached = max(self.reached, e["known"])
            # of this boot; those that are done already do not count again
            self.known = len(self.points) + e["walk"]
        elif kind == "point":
            self.points[e["key"]] = e
            self.known = max(self.known, len(self.points))
        elif kind == "plain":
            # each boot finds it again
            self.extra = [x for x in self.extra if x["event"] != "plain"] + [{**e, "key": PLAIN}]
        elif kind in ("broken", "died"):
            self.extra.append(e)
            if e["key"]:
                self.points.setdefault(e["key"], {"event": "ended", "key": e["key"]})
        elif kind == "complete":
            self.complete, self.failed = True, ""
        elif kind == "failed":
            self.failed = e["why"]

    def open_again(self):
        self.complete, self.failed = False, ""

    @property
    def done(self):
        return len(self.points)

    def is_over(self):
        return self.complete or bool(self.failed)

    def findings(self):
        for e in [*self.points.values(), *self.extra]:
            yield from findings_of(self.name, e)

    def counts(self):
        n = dict.fromkeys(COUNTS, 0)
        n["reached"], n["done"] = max(self.reached, self.done), self.done
        for e in self.points.values():
            if e["event"] != "point":
                continue
            n["fired"] += e["fired"] > 0
            n["hung"] += e["result"] == "hung"
            n["leaks"] += e["leak"] != "no"
            n["splats"] += e["splat"] != "no"
            result = e["result"]
            if result in ("succeeded", "unreached"):
                n[result] += 1
            elif result != "hung":
                n["ENOMEM" if MEMORY.search(result) else "other"] += 1
        n["dead"] = sum(e["event"] == "died" for e in self.extra)
        n["broken"] = sum(e["event"] == "broken" for e in self.extra)
        return n

    def state(self):
        return "failed" if self.failed else "complete" if self.complete else "open"

    def line(self):
        n = self.counts()
        what = ", ".join(f"{n[c]} {c}" for c in COUNTS if n[c])
        return f"{'not ok' if self.failed else 'ok'} {self.name}: " + (self.failed or what or "no new points")

    def text_of(self, key):
        """All that is known about a point, for people."""
        e = self.points.get(key, {"event": ""})
        if not e["event"] and all(x["key"] != key for x in self.extra):
            return ""
        lines = []
        if e["event"] == "point":
            lines = [f"{self.name}: {key}", f"  result: {e['result']}", f"  leak: {e['leak']} ({e['bytes']:+d} bytes)",
                     f"  splat: {e['splat']}", *(f"  | {line}" for line in e.get("log", ()))]
        for x in self.extra:
            if x["key"] == key:
                lines.append(f"  {x['event']}: {x.get('how') or x.get('result') or x.get('leak')}")
                lines += [f"  | {line}" for line in x.get("console", ())]
        return "\n".join(lines)


class Store:
    """All workloads.  Without a folder, results are kept in memory only."""

    def __init__(self, folder, known=()):
        self.folder, self.known = folder, known
        self.lock = threading.RLock()
        self.workloads = {}
        if folder:
            self.load_all(folder)

    def load_all(self, folder):
        for path in sorted(folder.glob("*.jsonl")):
            self.load(path)

    def load(self, path):
        w = self.of(path.stem)
        text = path.read_text(errors="replace")
        for line in text.splitlines():
            try:
                e = json.loads(line)
            except ValueError:      # a runner died while it wrote the line
                continue
            w.take(e)
        if text and not text.endswith("\n"):
            with open(path, "a", encoding="utf-8") as f:
                f.write("\n")

    def of(self, name):
        with self.lock:
            return self.workloads.setdefault(name, Workload(name))

    def add(self, name, **e):
        with self.lock:
            self.of(name).take(e)
            if self.folder:
                self.folder.mkdir(parents=True, exist_ok=True)
                with open(self.folder / f"{name}.jsonl", "a", encoding="utf-8") as f:
                    f.write(json.dumps({"time": int(time.time()), **e}) + "\n")

    def left_out(self, name):
        """The labels that a walk of this workload leaves out.

        The first allocation that a module does not make ends the walk of its allocations, so the
        next guest has to find it again.
        """
        with self.lock:
            mine = {k for k, e in self.of(name).points.items()
                    if ".ko:0 " not in k or e.get("result") != "unreached"}
            others = {k for w in self.workloads.values() if w.name != name for k in w.points if is_shared(k)}
            return sorted(mine | others)

    def is_known(self, finding):
        return any(pattern.search(finding.line()) for pattern, _ in self.known)

    def findings(self):
        with self.lock:
            return [f for w in self.workloads.values() for f in w.findings() if not self.is_known(f)]

    @property
    def nr_findings(self):
        return len(self.findings())

    def typical(self):
        """New points of a workload, for an estimate."""
        with self.lock:
            done = [w.done for w in self.workloads.values() if w.complete]
        return sum(done) / len(done) if done else 100

    def find(self, name, part):
        """The only point of that workload whose line has that text."""
        if part == PLAIN:
            return part
        keys = [k for k in self.of(name).points if part in k]
        exact = [k for k in keys if k == part]
        if not keys and re.search(r" index:\d+", part):
            return part     # of a walk whose results are elsewhere
        if len(exact or keys) != 1:
            util.fail(f"{name}: {len(keys)} points match '{part}'" + "".join("\n  " + k for k in keys[:20]))
        return (exact or keys)[0]


class Reader:
    """Turns the lines of a guest into events of a store."""

    def __init__(self, store, note=None):
        self.store, self.note = store, note
        self.name, self.at, self.last, self.last_key, self.pending = "", "", "", "", None
        self.why_over = ""      # the guest is of no more use
        self.spoken = time.monotonic()
        self.since = time.monotonic()

    def flush(self):
        if self.pending:
            e, self.pending = self.pending, None
            self.add(**e)

    def add(self, **e):
        self.store.add(self.name, **e)
        if self.note:
            self.note(self.name, e)

    def line(self, text):
        self.spoken = time.monotonic()
        if self.why_over:
            return
        word, _, rest = text.partition(" ")
        if word == "log" and self.pending:
            self.pending["log"].append(rest)
            return
        self.flush()
        getattr(self, "take_" + word, self.ignore)(rest)

    def ignore(self, rest):
        self.last = rest or self.last

    def take_task(self, name):
        self.name, self.at, self.last, self.last_key = name, "", "", ""
        self.store.add(name, event="boot")

    def take_reached(self, rest):
        known, _, walk = rest.split()
        self.store.add(self.name, event="reached", known=int(known), walk=int(walk))

    def take_plain(self, leak):
        self.add(event="plain", leak=leak)

    def take_at(self, label):
        self.at, self.since = label, time.monotonic()

    def take_point(self, rest):
        m = POINT.match("point " + rest)
        if not m:
            return
        key, fired, result, splat, leak, more = m.groups()
        self.pending = {"event": "point", "key": key, "fired": int(fired), "result": result, "splat": splat,
                        "leak": leak, "bytes": int(more), "log": [],
                        "seconds": round(time.monotonic() - self.since, 1)}
        self.at, self.last_key = "", key

    def take_broken(self, rest):
        key, _, result = rest.rpartition(" ")
        self.add(event="broken", key=key, result=result)
        self.why_over = "broken"

    def take_reboot(self, _):
        self.why_over = "reboot"

    def take_walked(self, _):
        self.store.add(self.name, event="complete")

    def take_ended(self, rest):
        name, _, code = rest.rpartition(" ")
        if not int(code) or self.store.of(name).is_over():
            return
        why = self.last or f"exit code {code}"
        if not self.at:
            self.store.add(name, event="failed", why=why)
            return
        self.add(event="died", key=self.at, how=f"the walker: {why}", console=[])
        self.why_over = "walker"

    def end(self, how, console):
        """The guest has ended; how is "" if it was as it should be."""
        self.flush()
        if not how or not self.name or self.store.of(self.name).is_over():
            return
        # a guest that dies between two points dies of the first of them
        key = self.at or self.last_key
        self.add(event="died", key=key, how=how_died(how, console), console=excerpt(console, key))


def how_died(how, console):
    for line in console:
        if "Kernel panic" in line:
            return re.sub(r"^\[[^]]*\] *", "", line)
    return how


def excerpt(console, label):
    """The console from the last point on, without its middle if it is long."""
    start = 0
    for i, line in enumerate(console):
        if "faultwalk: " in line and (not label or label in line):
            start = i
    lines = [line for line in console[start:] if line]
    if len(lines) > MOST_CONSOLE:
        lines = lines[:MOST_CONSOLE - 40] + ["..."] + lines[-40:]
    return lines


def kinds(workloads):
    """A line about the different places that failed."""
    points, own, copies = set(), set(), set()
    for w in workloads:
        for key, e in w.points.items():
            if e.get("result") == "unreached":
                continue
            if ".ko:0 " not in key:
                points.add(key)
            elif "EFAULT" in e.get("result", ""):
                copies.add(key)
            else:
                own.add(key)
    own -= copies
    lines = {key.split(" ")[0] for key in points}
    return (f"{len(points) + len(own) + len(copies)} different places: {len(points)} fault points at {len(lines)} lines, "
            f"{len(own)} allocations and {len(copies)} copies of init functions")


def report(store, names=()):
    """The table, and below it the findings."""
    chosen = [w for name, w in sorted(store.workloads.items()) if not names or name in names]
    rows = [["workload", "state", *COUNTS]]
    total, keys = dict.fromkeys(COUNTS, 0), set()
    for w in chosen:
        n = w.counts()
        rows.append([w.name, w.state(), *(str(n[c]) for c in COUNTS)])
        keys |= {k for k in w.points}
        for c in COUNTS:
            total[c] += n[c]
    total["reached"] = len(keys)
    rows.append([f"{len(chosen)} workloads", "", *(str(total[c]) for c in COUNTS)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), row[1].ljust(widths[1])] +
                       [c.rjust(x) for c, x in zip(row[2:], widths[2:])]).rstrip() for row in rows]
    found = [f for w in chosen for f in w.findings()]
    new = [f for f in found if not store.is_known(f)]
    lines += ["", kinds(chosen), f"{len(new)} findings, {len(found) - len(new)} known false alarms"]
    lines += [f"  {f.line()}" for f in new]
    lines += ["", *(f"{w.name} failed: {w.failed}" for w in chosen if w.failed)]
    return "\n".join(lines).rstrip()
