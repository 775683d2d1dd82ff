# SPDX-License-Identifier: GPL-2.0-only
"""Answers /metrics for each host of a fleet, on loopback addresses, from recordings.

A host is at a place in its recording, from which it goes on by one snapshot in each scrape
interval.  A host that has been up for long goes forward and back between the end and the
tenth snapshot.  Its scale multiplies all bytes and calls, so that hosts differ.

What happens to the fleet is decided before it starts (Plan), from the seed alone: hosts
reboot, hosts are replaced by others with new addresses, and a part of the fleet gets the
new kernel, one host after the other.
"""

import asyncio
import json
import os
import random
import resource
import socket
import time

from boot import guest

UPDATED = 0.3           # part of the hosts that get the new kernel
UPDATE = (0.15, 0.35)   # when the first and the last of them get it, in parts of the run
REBOOTED = 0.1          # part of the hosts that reboot during a run, with the same kernel
REPLACED = 0.05         # part of the hosts that a host with another address replaces
DOWN = 4                # scrape intervals that a reboot takes
WARM = 10               # snapshots after which a host is no longer young
CONNECTIONS = 4         # that a host keeps open: scrapers that had no answer in time leave theirs


class Host:
    """One address: from when to when it exists, and when it boots which recording."""

    def __init__(self, number, address, rng):
        self.number, self.address = number, address
        self.scale = rng.randint(2, 32) / 4
        self.begin, self.end = 0.0, float("inf")
        self.workload = rng.randrange(2)
        self.boots = []         # (time, recording, place), in order of time

    def boot(self, when, recording, place=0):
        self.boots.append((when, recording, place))

    def now(self, when, interval):
        """(recording, snapshots since boot) at that time, or None while the host is down."""
        if not self.begin <= when < self.end:
            return None
        past = [b for b in self.boots if b[0] <= when]
        if not past:
            return None
        at, recording, place = past[-1]
        if len(self.boots) > len(past) and self.boots[len(past)][0] - when <= DOWN * interval:
            return None         # it shuts down before the next boot
        return recording, place + (when - at) / interval


def address_of(number):
    return f"127.1.{number // 250}.{number % 250 + 1}"


class Plan:
    """All hosts of a run of some seconds."""

    def __init__(self, hosts, seconds, interval, seed=1):
        self.interval, self.seconds = interval, seconds
        rng = random.Random(seed)
        self.hosts = [Host(n, address_of(n), rng) for n in range(hosts)]
        for host in self.hosts:
            host.boot(0.0, f"old-{('files', 'network')[host.workload]}", rng.uniform(0, 200))
        order = rng.sample(self.hosts, hosts)
        self.update(order[:round(hosts * UPDATED)])
        rest = order[round(hosts * UPDATED):]
        rebooted, replaced = round(hosts * REBOOTED), round(hosts * REPLACED)
        for host in rest[:rebooted]:
            host.boot(rng.uniform(0.1, 0.9) * seconds, host.boots[0][1])
        for host in rest[rebooted:rebooted + replaced]:
            self.replace(host, rng)

    def update(self, hosts):
        first, last = (part * self.seconds for part in UPDATE)
        for i, host in enumerate(hosts):
            when = first + (last - first) * i / max(1, len(hosts) - 1)
            host.boot(when, host.boots[0][1].replace("old", "new"))

    def replace(self, host, rng):
        host.end = rng.uniform(0.1, 0.9) * self.seconds
        new = Host(host.number, address_of(len(self.hosts)), rng)
        new.begin = host.end
        new.boot(new.begin, host.boots[0][1])
        self.hosts.append(new)

    def there(self, when):
        """The hosts that exist then, running or not."""
        return [h for h in self.hosts if h.begin <= when < h.end]

    def longest(self):
        """Snapshots that a host with the new kernel can need."""
        return int(self.seconds * (1 - UPDATE[0]) / self.interval) + 1


def index_of(place, snapshots):
    """The snapshot at that place: forward, and then forward and back above WARM."""
    last = snapshots - 1
    if place <= last or last <= WARM:
        return min(int(place), last)
    beyond = int(place - last) % (2 * (last - WARM))
    return last - beyond if beyond <= last - WARM else last - 2 * (last - WARM) + beyond


class Fleet:
    """The hosts that run, and what they answer; times count from the first one."""

    def __init__(self, plan, pages, port, targets):
        self.plan, self.pages, self.port, self.targets = plan, pages, port, targets
        self.start = time.monotonic()
        self.servers = {}       # host -> asyncio's server
        self.open = {}          # host -> its connections, the oldest first
        self.named = None
        self.error = None

    def text(self, host):
        """The page of a host; None while it is down."""
        now = host.now(time.monotonic() - self.start, self.plan.interval)
        if now is None:
            return None
        recording, place = now
        pages = self.pages[recording]
        return pages.text(index_of(place, len(pages)), host)

    async def follow(self):
        """Opens and closes hosts, and keeps the file of targets, until it is cancelled."""
        asyncio.get_running_loop().set_exception_handler(self.take_error)
        while not self.error:
            now = time.monotonic() - self.start
            there = self.plan.there(now)
            for host in self.plan.hosts:
                await self.set_state(host, host.now(now, self.plan.interval) is not None)
            self.name(there)
            await asyncio.sleep(min(1.0, self.plan.interval / 4))
        raise guest.Failure(f"the fleet cannot answer: {self.error}")

    def take_error(self, loop, context):
        self.error = context.get("exception") or context["message"]

    async def set_state(self, host, up):
        if up and host not in self.servers:
            loop = asyncio.get_running_loop()
            self.open[host] = []
            self.servers[host] = await loop.create_server(
                lambda: Connection(self, host), host.address, self.port)
        elif not up and host in self.servers:
            self.servers.pop(host).close()
            for transport in self.open.pop(host):
                transport.abort()

    def name(self, there):
        """Writes the targets as a file for file_sd_configs, if they changed."""
        targets = [f"{host.address}:{self.port}" for host in there]
        if targets != self.named:
            self.named = targets
            with open(self.targets + ".new", "w") as f:
                json.dump([{"targets": targets}], f)
            os.rename(self.targets + ".new", self.targets)


class Connection(asyncio.Protocol):
    """HTTP/1.1 as a scraper uses it: requests without a body, one after the other."""

    def __init__(self, fleet, host):
        self.fleet, self.host = fleet, host
        self.buffer = b""

    def connection_made(self, transport):
        self.transport = transport
        there = self.fleet.open.get(self.host, [])
        there.append(transport)
        if len(there) > CONNECTIONS:
            there.pop(0).abort()

    def connection_lost(self, exc):
        there = self.fleet.open.get(self.host, [])
        if self.transport in there:
            there.remove(self.transport)

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            request, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            self.answer(request.split(b" ", 2)[:2])
        if len(self.buffer) > 16384:
            self.transport.abort()

    def answer(self, request):
        if request != [b"GET", b"/metrics"]:
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        text = self.fleet.text(self.host)
        if text is None:
            self.transport.abort()
            return
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                             b"Content-Length: %d\r\n\r\n" % len(text) + text)


def free_port(address="127.0.0.1"):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


def more_files(needed):
    """Lets the process open that many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise guest.Failure(f"{needed} open files are needed, and the limit is {hard}: fewer --hosts")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


async def serve(plan, pages, targets):
    """Runs the fleet until it is cancelled."""
    more_files(100 + (1 + CONNECTIONS) * len(plan.hosts))
    # no process has the port on any address: another fleet may be there, too
    await Fleet(plan, pages, free_port("0.0.0.0"), targets).follow()
