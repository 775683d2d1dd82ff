# SPDX-License-Identifier: GPL-2.0-only
"""Prometheus and VictoriaMetrics, as Debian has them: started, asked, ended.

Each scrapes the targets of a file.  Both speak Prometheus' HTTP interface.
"""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from boot import guest
from fleet import replay

CONFIG = """\
global:
  scrape_interval: {interval}s
  scrape_timeout: {timeout}s
scrape_configs:
  - job_name: fleet
    file_sd_configs:
      - files: ['{targets}']
"""
RULES = """\
groups:
  - name: fleet
    interval: {interval}s
    rules:
      - record: fleet:linux_alloc_site_bytes:sum
        expr: sum by (file, func, module) (linux_alloc_site_bytes)
"""
TIMEOUT = 600           # seconds that a query may take, as other programs may have the CPUs
TICKS = os.sysconf("SC_CLK_TCK")


class Engine:
    """One of them in a folder of its own."""

    name, program, package = "", "", ""

    def __init__(self, folder, targets, interval, rules=None):
        self.rules = rules      # a file, in place of RULES
        self.folder = os.path.join(folder, self.name)
        self.port = replay.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        os.makedirs(self.folder)
        self.process = None
        self.config = self.write("config.yml", CONFIG.format(
            interval=interval, timeout=min(10, interval), targets=targets) + self.more_config(interval))

    def more_config(self, interval):
        return ""

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def start(self):
        path = shutil.which(self.program)
        if not path:
            raise guest.Failure(f"no {self.program}: run scripts/setup fleet")
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([path, *self.arguments()], cwd=self.folder, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL,
                                            preexec_fn=guest.die_with_parent)
        until = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise guest.Failure(f"{self.program} does not start: {guest.text_of(self.log)[-500:]}")
            time.sleep(0.2)

    def stop(self):
        if self.process:
            end(self.process)

    def answers(self):
        try:
            self.get("/metrics")
        except guest.Failure:
            return False
        return True

    def get(self, path, post=False, **parameters):
        query = urllib.parse.urlencode(parameters)
        data = query.encode() if post else None
        url = self.url + path + ("" if post or not query else "?" + query)
        try:
            with urllib.request.urlopen(url, data, timeout=TIMEOUT + 10) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise guest.Failure(f"{self.name}: {url}: {error.read().decode()[:300]}") from error
        except OSError as error:
            raise guest.Failure(f"{self.name} does not answer: {error}; its log: "
                                f"{guest.text_of(self.log)[-300:]}") from error

    def query(self, expression, **parameters):
        """The result of a query; with start, end and step a range query."""
        kind = "query_range" if "step" in parameters else "query"
        answer = self.get("/api/v1/" + kind, query=expression, **parameters)
        return json.loads(answer)["data"]["result"]

    def number(self, expression, **parameters):
        """The value of a query whose result is one number; 0 if there is none."""
        result = self.query(expression, **parameters)
        return float(result[0]["value"][1]) if result else 0.0

    def own(self, name):
        """The sum of a metric of the engine itself; name is the start of its lines."""
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.get("/metrics").splitlines()
                   if line.startswith(name))

    def cpu(self):
        return cpu_of(self.process.pid)

    def memory(self, field="VmRSS"):
        """Resident memory, or with VmHWM the most it ever was, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith(field + ":"))


class Prometheus(Engine):
    name, program = "prometheus", "prometheus"

    def more_config(self, interval):
        rules = self.rules or self.write("rules.yml", RULES.format(interval=interval))
        return f"rule_files: ['{rules}']\n"

    def arguments(self):
        return [f"--config.file={self.config}", f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-admin-api",
                f"--query.timeout={TIMEOUT}s", "--log.level=warn"]

    def samples(self):
        return self.own("prometheus_tsdb_head_samples_appended_total")

    def series_ever(self):
        return self.own("prometheus_tsdb_head_series ")

    def disk(self):
        """{figure: bytes}, and the number of samples in the block that a snapshot makes."""
        answer = json.loads(self.get("/api/v1/admin/tsdb/snapshot", post=True))
        folder = os.path.join(self.folder, "data", "snapshots", answer["data"]["name"])
        samples = 0
        for block in os.listdir(folder):
            with open(os.path.join(folder, block, "meta.json")) as f:
                samples += json.load(f)["stats"]["numSamples"]
        log = size_of(os.path.join(self.folder, "data", "wal"))
        return {"log": log, "data": size_of(folder)}, samples

    def rule_seconds(self):
        """Time of the last evaluation of each group of rules, in all."""
        return self.own("prometheus_rule_group_last_duration_seconds")


class Victoria(Engine):
    name, program = "victoria-metrics", "victoria-metrics"

    def arguments(self):
        return [f"-promscrape.config={self.config}", f"-storageDataPath={self.folder}/data",
                f"-httpListenAddr=127.0.0.1:{self.port}", "-promscrape.fileSDCheckInterval=1s",
                "-search.latencyOffset=0s", f"-search.maxQueryDuration={TIMEOUT}s",
                "-loggerLevel=ERROR"]

    def query(self, expression, **parameters):
        return super().query(expression, nocache="1", **parameters)

    def samples(self):
        return self.own('vm_rows_inserted_total{type="promscrape"}')

    def series_ever(self):
        return self.own("vm_new_timeseries_created_total")

    def disk(self):
        """{figure: bytes}, and the number of samples in all parts, once they are merged."""
        self.get("/internal/force_flush")
        self.get("/internal/force_merge")
        while self.own("vm_active_force_merges"):
            time.sleep(0.2)
        samples = self.own('vm_rows{type="storage/')
        return {"data": size_of(os.path.join(self.folder, "data"))}, samples


ENGINES = {e.name: e for e in (Prometheus, Victoria)}


def end(process):
    """Ends a process; if it does not end by itself, kills it."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def size_of(folder):
    return sum(os.lstat(os.path.join(where, name)).st_size
               for where, _, names in os.walk(folder) for name in names)


def cpu_of(pid):
    """Seconds of CPU that a process has used."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def busy():
    """Seconds in which the CPUs of the machine were not idle."""
    with open("/proc/stat") as f:
        times = [int(t) for t in f.readline().split()[1:9]]
    return (sum(times) - times[3] - times[4]) / TICKS
