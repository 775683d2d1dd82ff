# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Prometheus with our rules and console pages, and pictures of its pages."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from boot import guest

OURS = os.path.join(guest.ROOT, "tools", "mm", "allocinfo", "prometheus")
LIBRARIES = "/usr/share/doc/prometheus/examples/console_libraries"
PAGES = ("alloc-fleet.html", "alloc-host.html")

# The rules take a minute for an hour, and all times of the server become as short.
CONFIG = """\
global:
  evaluation_interval: 2s
rule_files: [rules.yml]
scrape_configs:
"""
JOB = """\
- job_name: {job}
  scrape_interval: {interval}s
  scrape_timeout: {interval}s
  static_configs:
"""
TARGET = """\
  - targets: ['127.0.0.1:{port}']
    labels: {{instance: {instance}}}
"""
OPTIONS = ("--query.lookback-delta=5s", "--rules.alert.for-outage-tolerance=1m",
           "--rules.alert.for-grace-period=10s", "--rules.alert.resend-delay=1s", "--log.level=warn")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def faster(text):
    """Durations in hours become minutes, and those in minutes seconds.

    The same as the sed command at the top of allocinfo.rules.yml.
    """
    text = re.sub(r"([0-9])m\b", r"\1s", text)
    return re.sub(r"([0-9])h\b", r"\1m", text)


class Server:
    """A Prometheus that scrapes {(job, interval): {instance: port}}; ends with the block."""

    def __init__(self, folder, jobs):
        self.folder = folder
        self.url = "http://127.0.0.1:%d" % free_port()
        self.log = os.path.join(folder, "log")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "consoles"))
        self.write("prometheus.yml", CONFIG + "".join(
            JOB.format(job=job, interval=interval) +
            "".join(TARGET.format(port=port, instance=instance) for instance, port in targets.items())
            for (job, interval), targets in jobs.items()))
        self.write("rules.yml", faster(self.ours("allocinfo.rules.yml")))
        for page in PAGES:
            self.write("consoles/" + page, faster(self.ours(page)))

    @staticmethod
    def ours(name):
        with open(os.path.join(OURS, name)) as f:
            return f.read()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def __enter__(self):
        program = shutil.which("prometheus")
        if not program:
            raise guest.Failure("no prometheus: run scripts/setup fleet")
        argv = [program, "--config.file=prometheus.yml", "--storage.tsdb.path=data", *OPTIONS,
                "--web.listen-address=" + self.url.removeprefix("http://"),
                "--web.console.templates=consoles", "--web.console.libraries=" + LIBRARIES]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, preexec_fn=guest.die_with_parent)
        until = time.monotonic() + 60
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise guest.Failure("prometheus does not start: " + guest.text_of(self.log)[-300:])
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def is_ready(self):
        try:
            return bool(self.get("/-/ready"))
        except OSError:
            return False

    def get(self, path, **parameters):
        """The text of a page."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        with urllib.request.urlopen(self.url + path + query, timeout=30) as answer:
            return answer.read().decode()

    def result(self, expr):
        """The series of an expression."""
        try:
            answer = json.loads(self.get("/api/v1/query", query=expr))
        except urllib.error.HTTPError as error:
            raise guest.Failure("%s: %s" % (expr, error.read().decode()[:300])) from error
        return answer["data"]["result"]

    def query(self, expr):
        """[(labels, value)] of an expression."""
        return [(r["metric"], float(r["value"][1])) for r in self.result(expr)]

    def samples(self, selector, seconds):
        """[[(time, value)]]: the samples of each series in the last seconds."""
        return [[(time, float(value)) for time, value in r["values"]]
                for r in self.result("%s[%ds]" % (selector, seconds))]

    def browse(self, page, seconds, *options, output=None):
        """Shows a console page, whose graphs have the last seconds, in Chromium without a screen."""
        program = shutil.which("chromium")
        if not program:
            raise guest.Failure("no chromium: run scripts/setup fleet")
        position = "#pctc" + urllib.parse.quote(json.dumps({"duration": seconds, "endTime": 0}))
        # it waits so long for the answers to its queries
        argv = ["nice", "timeout", "180", program, "--headless", "--no-sandbox", "--disable-gpu",
                "--no-first-run", "--hide-scrollbars", "--virtual-time-budget=20000",
                "--user-data-dir=" + os.path.join(self.folder, "chromium"), *options,
                self.url + "/consoles/" + page + position]
        log = os.path.join(self.folder, "chromium.log")
        with open(log, "w") as errors:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                  text=True, check=False, preexec_fn=guest.die_with_parent)
        if done.returncode:
            raise guest.Failure("chromium fails, see " + log)
        return done.stdout

    def picture(self, page, path, seconds, width=1100, height=500):
        """Writes a picture of a page; returns the document with the graphs."""
        self.browse(page, seconds, "--window-size=%d,%d" % (width, height), "--screenshot=" + path)
        return self.browse(page, seconds, "--window-size=%d,%d" % (width, height), "--dump-dom")
