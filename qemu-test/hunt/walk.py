# SPDX-License-Identifier: GPL-2.0-only
"""Which guest walks what, until all is done or time is over."""

import threading
import time

from boot import guest
from hunt import machine, results
from kit import util

PROGRESS = 20       # seconds between two lines of progress


class Walk:
    """Walks of workloads, several guests at a time, until all are done or time is over."""

    def __init__(self, a, store):
        self.a, self.store = a, store
        self.end = time.monotonic() + a.minutes * 60 if a.minutes else None
        self.stopped = ""
        self.lock = threading.Lock()
        self.jobs, self.active, self.walked = [], {}, []

    def stop(self, why):
        self.stopped = self.stopped or why

    def why_stop(self):
        """For guests: why they shall end, or ""."""
        if self.end and time.monotonic() >= self.end:
            self.stop("time is over")
        return self.stopped

    def note(self, name, e):
        """Count the points, and print what is found, with the memory that leaked."""
        if e["event"] == "point":
            with self.lock:
                self.walked.append(time.monotonic())
        new = [f for f in results.findings_of(name, e) if not self.store.is_known(f)]
        if new:
            guest.say("finding " + "; ".join(f.line() for f in new) +
                      (f" ({e['leak']})" if e.get("leak", "no") != "no" else ""))

    def work(self):
        while not self.why_stop():
            with self.lock:
                if not self.jobs:
                    return
                names = self.jobs.pop(0)
                self.active[names[0]] = names
            try:
                self.walk_job(names)
            except (guest.Failure, util.Failure, OSError) as failure:
                self.give_up(names, str(failure))
            finally:
                with self.lock:
                    del self.active[names[0]]

    def give_up(self, names, why):
        for name in names:
            guest.say(f"not ok {name}: {why}")
            self.store.add(name, event="failed", why=why)

    def walk_job(self, names):
        """Boot until all of them are done.  Two boots without a new point are the end."""
        idle = 0
        todo = list(names)
        while todo and not self.why_stop():
            before = self.progress_of(names)
            out = machine.walk_once(todo, self.store, self.options(), self.a, self.why_stop, self.note)
            if not self.why_stop():
                idle = 0 if self.progress_of(names) > before else idle + 1
            for name in [n for n in todo if self.store.of(n).is_over()]:
                todo.remove(name)
                guest.say(self.store.of(name).line())
            if idle == 2:
                self.give_up(todo, f"two guests without a new point; {out.ended or 'regular'}; see {out.console_path}")
                return
            if out.ended.startswith("qemu"):
                raise guest.Failure(out.ended)

    def progress_of(self, names):
        return sum(self.store.of(n).done + self.store.of(n).is_over() for n in names)

    def options(self):
        return ["-q", "-e", str(self.a.depth)]

    def progress(self):
        with self.lock:
            names = [n for job in self.active.values() for n in job]
            left_jobs = len(self.jobs)
            recent = [t for t in self.walked if t > time.monotonic() - 300]
        doing = [self.store.of(n) for n in names]
        parts = [f"{w.name} {w.done}/{w.known}" for w in doing if w.known and not w.is_over()]
        speed = len(recent) / min(300, max(1, time.monotonic() - self.start))
        text = f"# {len(self.walked)} points; " + ", ".join(parts or ["booting"])
        if speed:
            rest = sum(max(0, w.known - w.done) for w in doing if not w.is_over())
            rest += sum(self.store.typical() for _ in range(left_jobs))
            text += f"; {1 / speed:.1f} s a point, {results.duration(rest / speed)} left"
        guest.say(f"{text}; {left_jobs} waiting; {self.store.nr_findings} findings")

    def run(self, jobs):
        self.jobs, self.start = jobs, time.monotonic()
        threads = [threading.Thread(target=self.work) for _ in range(min(self.a.jobs, len(jobs)))]
        for t in threads:
            t.start()
        said = time.monotonic()
        try:
            while any(t.is_alive() for t in threads):
                time.sleep(0.2)
                if time.monotonic() - said > PROGRESS:
                    said = time.monotonic()
                    self.progress()
        except KeyboardInterrupt:
            self.stop("interrupted")
            for t in threads:
                t.join()
        return self.stopped
