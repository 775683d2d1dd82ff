#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bench-allocinfod.py ALLOCINFOD [--tls] [--rate N] [--seconds N] [--scrapes N] [--sites N] [--memory MIB]

Load allocinfod: 1,000 requests a second for a minute, one of ten on a new connection, beside
1,000 idle connections, 20 slow readers, 20 slow writers, and 20 connections a second that send
junk. Each kind of client has addresses of its own in 127.0.0.0/8, and the limits are those
that the daemon has by default, except for 2,000 connections.

Prints requests and answers of the good clients, what went wrong, how often the daemon read its
files, the time that answers took, and memory and CPU time of the daemon. The kernel counts the
system calls that read files; each reading takes as many as the first one. Then the daemon
gets a scrape each 15 seconds, and nothing else. The table is made up, so the time that the
kernel needs to write it is missing. With --tls, a last client sends half of its first message
and waits.

Exit status: 0, or 1 and a line for each reason: a request without an answer or with an error, more
memory than --memory, more than one reading a second, 0.5 % of a CPU or more for the scrapes, or
another exit status than 0 of the daemon.
"""

import argparse
import asyncio
import os
import random
import re
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

WORKERS = 20
IDLE = 1000
IDLE_ADDRESSES = 20
SLOW = 20
JUNK_RATE = 20
SCRAPE_CPU = 0.5
GOOD = re.compile(rb"HTTP/1\.1 200 OK\r\n.*Content-Length: (\d+)\r\n", re.S)


def request(path):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def make_machine(proc, sites):
    (proc / "sys/vm").mkdir(parents=True)
    (proc / "sys/vm/mem_profiling").write_text("1\n")
    (proc / "meminfo").write_text("MemTotal: 16000000 kB\nMemFree: 4000000 kB\n")
    rng = random.Random(1)
    with open(proc / "allocinfo", "w", encoding="ascii") as out:
        out.write("allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n")
        for i in range(sites):
            calls = int(rng.paretovariate(0.6)) if rng.random() < 0.3 else 0
            module = f"[module{i % 60}] " if i % 3 == 0 else ""
            out.write(f"{min(calls, 10**7) * 96:12} {min(calls, 10**7):8} drivers/dir{i % 97}/file{i % 700}.c:{i} "
                      f"{module}func:function_{rng.getrandbits(32):x} \n")


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", folder / "key", "-out", folder / "cert", "-subj", "/CN=x", "-days", "2"],
                   check=True, stderr=subprocess.DEVNULL)
    (folder / "key").chmod(0o600)


class Daemon:
    def __init__(self, program, folder, tls):
        options = ["--tls-cert", folder / "cert", "--tls-key", folder / "key"] if tls else []
        self.process = subprocess.Popen([program, "--proc", folder / "proc", "--listen", "127.0.0.1:0",
                                         "--connections", "2000", *options],
                                        stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r"listening on .*:(\d+)/", self.process.stderr.readline())[1])
        os.set_blocking(self.process.stderr.fileno(), False)
        self.context = ssl._create_unverified_context() if tls else None

    def cpu(self):
        """Seconds of CPU time."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9

    def calls(self):
        """Number of system calls that read files."""
        return int(re.search(r"syscr: (\d+)", Path(f"/proc/{self.process.pid}/io").read_text())[1])

    def memory(self):
        """The most memory that it had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024

    async def connect(self, address, tls=True):
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0),
                                             ssl=self.context if tls else None)


class Verdict:
    """Counts what must not happen."""

    def __init__(self):
        self.failed = 0

    def check(self, good, what):
        if not good:
            self.failed += 1
            print(f"FAILED: {what}", flush=True)


class Load:
    def __init__(self, daemon, rate, seconds):
        self.daemon = daemon
        self.rate = rate
        self.end = time.monotonic() + seconds
        self.counts = Counter()
        self.times = []

    def going(self):
        return time.monotonic() < self.end

    async def ask(self, reader, writer, path="/metrics"):
        """A request and its answer. Every request counts as sent."""
        begin = time.monotonic()
        self.counts["requests"] += 1
        writer.write(request(path))
        header = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        await asyncio.wait_for(reader.readexactly(int(GOOD.match(header)[1])), 30)
        self.times.append(time.monotonic() - begin)
        self.counts["answers"] += 1

    async def worker(self, number):
        """Sends its part of the requests, one of ten on a new connection."""
        address, streams, sent = f"127.1.0.{number + 1}", None, 0
        begin = time.monotonic() + number / self.rate
        while self.going():
            await asyncio.sleep(max(0, begin + sent * WORKERS / self.rate - time.monotonic()))
            try:
                if sent % 10 == 0:
                    if streams:
                        streams[1].close()
                    streams = await asyncio.wait_for(self.daemon.connect(address), 30)
                sent += 1
                await self.ask(*streams)
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, TypeError) as error:
                self.counts[f"error {type(error).__name__}"] += 1
                streams, sent = None, sent - sent % 10
        if streams:
            streams[1].close()

    async def enemy(self, kind, number, act, tls=True):
        """Connects again whenever the daemon ends the connection."""
        while self.going():
            try:
                reader, writer = await self.daemon.connect(f"127.2.{kind}.{number + 1}", tls)
                try:
                    await act(reader, writer)
                finally:
                    writer.transport.abort()
            except OSError:
                pass
            self.counts[f"ended: {act.__name__.replace('_', ' ')}"] += self.going()
            await asyncio.sleep(0.1)

    async def idle_client(self, reader, writer):
        while self.going() and not reader.at_eof():
            try:
                await asyncio.wait_for(reader.read(1), 5)
            except asyncio.TimeoutError:
                pass

    async def slow_reader(self, reader, writer):
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        writer.write(request("/debug/pprof/heap") * 30)
        writer.transport.pause_reading()
        for _ in range(40):
            if not self.going():
                break
            await asyncio.sleep(1)
        writer.transport.resume_reading()
        await reader.read()

    async def slow_writer(self, reader, writer):
        for byte in request("/metrics").replace(b"x", b"x" * 60):
            if not self.going() or reader.at_eof():
                break
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(1)

    async def junk(self, reader, writer):
        writer.write(random.randbytes(random.randrange(1, 20000)))
        await writer.drain()
        await asyncio.sleep(SLOW / JUNK_RATE)

    async def calls_of_a_reading(self):
        calls = self.daemon.calls()
        streams = await self.daemon.connect("127.0.0.1")
        await Load(self.daemon, 1, 1).ask(*streams)
        streams[1].transport.abort()
        return self.daemon.calls() - calls

    async def run(self, verdict, memory):
        """Checks what came of the load, and that the daemon had at most so many MiB."""
        each = await self.calls_of_a_reading()
        enemies = [self.enemy(i % IDLE_ADDRESSES, i // IDLE_ADDRESSES, self.idle_client, i % 2 == 0)
                   for i in range(IDLE)]
        enemies += [self.enemy(100 + i, kind, act, tls) for i in range(SLOW) for kind, (act, tls) in enumerate(
            ((self.slow_reader, True), (self.slow_writer, True), (self.junk, False)))]
        tasks = [asyncio.ensure_future(enemy) for enemy in enemies]
        await asyncio.sleep(5)
        begin, cpu, calls = time.monotonic(), self.daemon.cpu(), self.daemon.calls()
        await asyncio.gather(*(self.worker(i) for i in range(WORKERS)))
        seconds, readings = time.monotonic() - begin, (self.daemon.calls() - calls) / each
        self.print(seconds, self.daemon.cpu() - cpu, readings)
        self.check(verdict, seconds, readings, memory)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check(self, verdict, seconds, readings, memory):
        errors = [key for key in self.counts if key.startswith("error")]
        verdict.check(self.counts["answers"], "no answer")
        verdict.check(self.counts["requests"] == self.counts["answers"], "requests without an answer")
        verdict.check(not errors, f"good clients had: {', '.join(errors)}")
        verdict.check(readings <= seconds + 2, "more than one reading a second")
        verdict.check(self.daemon.memory() <= memory, f"more than {memory} MiB")

    def print(self, seconds, cpu, readings):
        times = sorted(self.times) or [0]
        print(f"{seconds:.0f} s: {self.counts['requests']} requests, {self.counts['answers']} answers, "
              f"{self.counts['answers'] / seconds:.0f} a second, {readings:.1f} readings of the files")
        print("took ms: " + ", ".join(f"{name} {1000 * times[min(len(times) - 1, int(len(times) * part))]:.1f}"
                                      for name, part in (("median", 0.5), ("99 %", 0.99), ("maximum", 1))))
        print("other: " + (", ".join(f"{key} {nr}" for key, nr in sorted(self.counts.items())
                                     if key not in ("requests", "answers")) or "nothing"))
        print(f"daemon: at most {self.daemon.memory():.1f} MiB, CPU {100 * cpu / seconds:.1f} %", flush=True)


async def scrape(daemon, scrapes, verdict):
    """A scrape each 15 seconds, as Prometheus does it, on one connection."""
    load = Load(daemon, 1, 15 * scrapes)
    streams = await daemon.connect("127.0.0.1")
    begin, cpu = time.monotonic(), daemon.cpu()
    for i in range(scrapes):
        await load.ask(*streams)
        await asyncio.sleep(begin + 15 * (i + 1) - time.monotonic())
    seconds, cpu = time.monotonic() - begin, daemon.cpu() - cpu
    print(f"a scrape each 15 s, {scrapes} of them: CPU {100 * cpu / seconds:.3f} %, "
          f"{1000 * cpu / scrapes:.1f} ms for each", flush=True)
    verdict.check(100 * cpu / seconds < SCRAPE_CPU, f"scrapes need {SCRAPE_CPU} % of a CPU or more")


def half_of_hello(context):
    """Half of the message that begins a handshake of TLS."""
    sent = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = sent.read()
    return hello[:len(hello) // 2]


async def half_handshake(daemon):
    """What a client costs that begins a handshake and does not go on."""
    _, writer = await daemon.connect("127.0.0.1", False)
    writer.write(half_of_hello(daemon.context))
    await asyncio.sleep(1)
    begin, cpu = time.monotonic(), daemon.cpu()
    await asyncio.sleep(10)
    cpu, seconds = daemon.cpu() - cpu, time.monotonic() - begin
    print(f"half of a handshake: CPU {100 * cpu / seconds:.2f} %", flush=True)
    writer.transport.abort()


def run(args, folder, run_one, what, verdict):
    """Starts a daemon, runs the coroutine of run_one(daemon), and ends the daemon."""
    daemon = Daemon(args.program, folder, args.tls)
    asyncio.run(run_one(daemon))
    daemon.process.terminate()
    status = daemon.process.wait(30)
    verdict.check(status == 0, f"exit status {status} of the daemon after the {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--scrapes", type=int, default=8)
    parser.add_argument("--sites", type=int, default=6000)
    parser.add_argument("--memory", type=float, default=64)
    args = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        make_machine(folder / "proc", args.sites)
        make_certificate(folder)
        verdict = Verdict()
        run(args, folder, lambda daemon: Load(daemon, args.rate, args.seconds + 5).run(verdict, args.memory),
            "load", verdict)
        if args.scrapes:
            run(args, folder, lambda daemon: scrape(daemon, args.scrapes, verdict), "scrapes", verdict)
        if args.tls:
            run(args, folder, half_handshake, "half of a handshake", verdict)
    return 1 if verdict.failed else 0


sys.exit(main())
