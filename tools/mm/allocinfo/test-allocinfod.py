#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-allocinfod.py PROGRAM DIR [TEST]: connect to allocinfod as friends and enemies do.

DIR has the keys that test-allocinfod.sh makes. TEST is the beginning of the names of the tests
to run. The daemon reads a folder of files in place of /proc; it holds them open, so they are
rewritten in place.
"""

import base64
import gzip
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from random import Random

PROGRAM, DIR = sys.argv[1:3]
PATIENCE = 60       # seconds that an answer may take on a busy machine
SAFE = 5            # READ_TIME: seconds for which a client that reads its answer keeps its place
LOG_BURST = 20      # messages in a minute
SANITIZED = b"__asan_init" in Path(PROGRAM).read_bytes()
LIB = Path(__file__).resolve().parents[2] / "lib/codetag"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

checks = {True: 0, False: 0}


def check(what, good, detail=""):
    checks[bool(good)] += 1
    if not good:
        print(f"FAILED: {what!r}: {detail!r}"[:600], flush=True)


def same(what, have, want):
    check(what, have == want, f"{have!r}, not {want!r}")


def soon(what, test):
    """Wait until test() is true."""
    end = time.monotonic() + PATIENCE
    while not (good := test()) and time.monotonic() < end:
        time.sleep(0.02)
    check(what, good)


class Machine:
    """A folder like /proc. Its files keep their inodes."""

    def __init__(self, name, sites=50):
        self.path = Path(DIR, name)
        (self.path / "sys/vm").mkdir(parents=True)
        self.put("sys/vm/mem_profiling", "1\n")
        self.put("meminfo", "MemTotal: 2000000 kB\nMemFree: 1500000 kB\n")
        self.sites(sites)

    def put(self, name, text):
        file = self.path / name
        with open(file, "r+" if file.exists() else "w", encoding="ascii") as out:
            out.write(text)
            out.truncate()

    def sites(self, nr, size=4096):
        random = Random(size)       # names that gzip cannot shorten much
        lines = [f"{size + i} 1 fs/{random.getrandbits(40):x}.c:{i + 1} func:f{i}_{random.getrandbits(40):x}"
                 for i in range(nr)]
        self.put("allocinfo", "\n".join(["allocinfo - version: 2.0", "#", *lines, ""]))


class Daemon:
    def __init__(self, machine, *options, env=None, pass_fds=()):
        self.log_path = Path(DIR, f"log-{machine.path.name}")
        self.log_file = open(self.log_path, "w+", encoding="utf-8")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [PROGRAM, "--proc", machine.path, "--listen", "127.0.0.1:0", *options],
            stderr=self.log_file, cwd=DIR, env={**os.environ, **(env or {})}, pass_fds=pass_fds)
        end = time.monotonic() + PATIENCE
        while not (match := re.search(r"listening on https?://(.*):(\d+)/", self.log())):
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"FAILED: it does not start: {self.log()}")
            time.sleep(0.01)
        self.host, self.port = match[1].strip("[]"), int(match[2])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            same("exit status at the end of a test", self.end(), 0)
        check("no report of a sanitizer", not re.search("Sanitizer|runtime error", self.log()), self.log())
        self.log_file.close()

    def cpu(self):
        """Seconds of CPU time."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def minutes(self):
        """Minutes since the start, the present one included: each begins a new limit of messages."""
        return int((time.monotonic() - self.begin) / 60) + 1

    def status(self, key):
        return re.search(rf"^{key}:[ \t]*(.*?) *$", Path(f"/proc/{self.process.pid}/status").read_text(), re.M)[1]

    def sockets(self):
        """Number of open sockets."""
        return sum("/socket:" in os.path.realpath(name)
                   for name in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def connect(self, receive=None):
        client = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(PATIENCE)
        client.connect((self.host, self.port))
        return client

    def get(self, path="/metrics", method="GET", user=None, tls=None, body=None):
        """Status, headers and body of a response."""
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.connect()
        if tls:
            connection.sock = tls.wrap_socket(connection.sock)
        headers = {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()} if user else {}
        try:
            connection.request(method, path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            if not body:
                raise
            # the answer may come, and the connection end, before the whole body is sent
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), text

    def metrics(self):
        return self.get()[2].decode()

    def serves(self, what):
        same(f"it serves {what}", self.get()[0], 200)


def receive_all(client):
    text = b""
    try:
        while part := client.recv(65536):
            text += part
    except ConnectionError:
        pass
    return text


def is_closed(client):
    """Has the other side closed the connection?"""
    client.settimeout(0.01)
    try:
        return not client.recv(1 << 20)
    except TimeoutError:
        return False
    except ConnectionError:
        return True


# Pages

def test_pages():
    with Daemon(Machine("pages")) as daemon:
        status, headers, text = daemon.get("/")
        check("/", status == 200 and b"/metrics" in text and b"/debug/pprof/heap" in text, text)
        same("type of /", headers["Content-Type"], "text/plain; charset=utf-8")
        status, headers, text = daemon.get("/metrics")
        check("/metrics", status == 200 and b'linux_alloc_profiling{state="on"} 1' in text, text)
        same("type of /metrics", headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        head = daemon.get("/metrics", "HEAD")
        same("HEAD", (head[0], head[1]["Content-Length"], head[2]), (200, str(len(text)), b""))
        for path in ("/x", "/metrics/", "//metrics", "/debug/pprof/", "/debug/pprof/profile"):
            same(path, daemon.get(path)[0], 404)
        for path in ("http://host/metrics", "http://127.0.0.1:1/metrics", "HTTPS://[::1]:9842/metrics",
                     "http://a/metrics?x=http://b/"):
            same(path, daemon.get(path)[2][:30], text[:30])
        for path in ("http://host", "http://host/", "https://host?x=1"):
            check(path, b"/debug/pprof/heap" in daemon.get(path)[2])
        for path in ("http:///metrics", "http://", "https:///", "ftp://host/metrics", "http:/metrics",
                     "http://:9842/metrics", "http://@/metrics", "http://#/metrics",
                     "http:host/metrics", "host/metrics", "http://host//metrics", "http://host/x",
                     "http://http://host/metrics"):
            same(path, daemon.get(path)[0], 404)
        status, _, answer = daemon.get("http://host/debug/pprof/heap?seconds=5")
        check("seconds= of an address", status == 400 and b"-diff_base" in answer, answer)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "XYZZY"):
            status, headers, _ = daemon.get("/metrics", method)
            same(method, (status, headers.get("Allow")), (405, "GET, HEAD"))
        same("a body", daemon.get("/metrics", "POST", body=b"x" * 500000)[0], 405)
        status, _, text = daemon.get("/debug/pprof/heap?seconds=5")
        check("seconds=", status == 400 and text.count(b"\n") == 1 and b"-diff_base" in text, text)
        same("another parameter", daemon.get("/debug/pprof/heap?gc=1")[0], 200)
        check_promtool(daemon)


def check_promtool(daemon):
    if not shutil.which("promtool"):
        print("skipped: promtool is missing")
        return
    done = subprocess.run(["promtool", "check", "metrics"], input=daemon.metrics(), text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    same("promtool check metrics", (done.returncode, done.stdout), (0, ""))


def test_keep_alive():
    with Daemon(Machine("alive")) as daemon:
        connection = HTTPConnection(daemon.host, daemon.port, timeout=PATIENCE)
        for _ in range(3):
            connection.request("GET", "/metrics")
            same("a request of a connection", connection.getresponse().read()[:6], b"# HELP")
        connection.close()
        with daemon.connect() as client:
            client.sendall(GET.replace(b"x\r\n", b"x\r\nContent-Length: 0\r\n", 1) * 2)
            client.shutdown(socket.SHUT_WR)
            same("two requests without a body", receive_all(client).count(b"HTTP/1.1 200"), 2)
        # what follows a body is no request
        with daemon.connect() as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(GET) + GET)
            same("a request in a body", receive_all(client).count(b"HTTP/1.1 200"), 1)


def test_profile():
    machine = Machine("profile", 7)
    machine.put("alloc_tags.ctx", "".join(f"{line}\n" for line in (
        "      4KiB        1 fs/x.c:1 module:x func:f", "    count: 1", "    bytes: 4096",
        "    call stack:", "         f+0x1/0x2", "         caller_of_f+0x1/0x2")))
    text = (machine.path / "allocinfo").read_text()
    machine.put("allocinfo", text + "8192 2 fs/x.c:1 func:f\n")
    with Daemon(machine) as daemon:
        status, headers, packed = daemon.get("/debug/pprof/heap")
        same("a profile", (status, headers["Content-Type"]), (200, "application/octet-stream"))
        same("the other name", gzip.decompress(daemon.get("/debug/pprof/allocs")[2]), gzip.decompress(packed))
        check("it has names", b"caller_of_f" in gzip.decompress(packed))
        contexts = [name.name for name in Path(f"/proc/{daemon.process.pid}/fd").iterdir()
                    if os.readlink(name).endswith("alloc_tags.ctx")]
        same("number of descriptors of contexts", len(contexts), 1)
        for name in contexts:
            flags = re.search(r"flags:\s*(\d+)", Path(f"/proc/{daemon.process.pid}/fdinfo/{name}").read_text())[1]
            same("contexts are only read", int(flags, 8) & os.O_ACCMODE, os.O_RDONLY)
        want = sum(4096 + i for i in range(7)) + 8192
        if shutil.which("go"):
            raw = go_pprof(["-raw"], daemon)
            same("go tool pprof -raw", sum(int(n) for n in re.findall(r"^\s+\d+\s+(\d+):", raw, re.M)), want)
            check("types of samples", "inuse_objects/count inuse_space/bytes[dflt]" in raw, raw)
            check("the period", "PeriodType: space bytes\nPeriod: 1\n" in raw, raw)
            check("a stack", "caller_of_f" in go_pprof(["-traces"], daemon))
        else:
            text = protoc(packed)
            values = re.findall(r"^  value: (\d+)\n  value: (\d+)", text, re.M)
            same("protoc", sum(int(size) for _, size in values), want)


def test_profiles_of_two_hosts():
    """go tool pprof shows the tables of two hosts, and what the second has more than the first."""
    if not shutil.which("go"):
        print("skipped: go is missing")
        return
    tables = [{"both": (8192, 2), "same": (640, 10), "grows": (1000, 1), "ext4_shrinks": (500000, 50),
               "only_one": (77, 7)},
              {"both": (4096, 1), "same": (640, 10), "grows": (1234567890, 3000), "ext4_shrinks": (300, 3),
               "only_two": (99, 9)}]
    machines = [Machine("one"), Machine("two")]
    for machine, table in zip(machines, tables):
        machine.put("allocinfo", "allocinfo - version: 2.0\n#\n" + "".join(
            f"{size} {calls} fs/x.c:{line}{' [ext4]' * ('ext4' in name)} func:{name}\n"
            for line, (name, (size, calls)) in enumerate(table.items(), 1)))
    names = tables[0].keys() | tables[1].keys()
    with Daemon(machines[0]) as one, Daemon(machines[1]) as two:
        for column, (index, unit) in enumerate((("inuse_space", "B"), ("inuse_objects", "count"))):
            values = [{name: table.get(name, (0, 0))[column] for name in names} for table in tables]
            how = ["-top", f"-sample_index={index}", f"-unit={unit}", "-nodefraction=0"]
            for daemon, value in zip((one, two), values):
                same(f"{index} of a host", flat(go_pprof(how, daemon)), {n: v for n, v in value.items() if v})
            growth = {name: values[1][name] - values[0][name] for name in names}
            same(f"{index} of two hosts", flat(go_pprof([*how, "-diff_base", heap_of(one)], two)),
                 {n: v for n, v in growth.items() if v})
        # inuse_space is what it shows without an option
        check("the largest", re.search(r"^ +1\.15GB .* grows$", go_pprof(["-top"], two), re.M))


def flat(top):
    """{function: value} of the output of -top, without zeros."""
    rows = re.findall(r"^ *(-?\d+)B? +\S+% +\S+% +-?\d+B? +\S+% +(\S+)$", top, re.M)
    return {name: int(value) for value, name in rows if int(value)}


def heap_of(daemon):
    return f"http://127.0.0.1:{daemon.port}/debug/pprof/heap"


def go_pprof(how, daemon):
    return subprocess.run(["go", "tool", "pprof", *how, heap_of(daemon)], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PPROF_TMPDIR": DIR, "HOME": DIR}).stdout


def protoc(packed):
    return subprocess.run(["protoc", "-I", LIB, "--decode=codetag.Profile", LIB / "profile.proto"],
                          input=gzip.decompress(packed), check=True, stdout=subprocess.PIPE).stdout.decode()


# The machine

def test_cache():
    machine = Machine("cache")
    with Daemon(machine, "--cache", "3600", "--per-address", "0") as daemon:
        pages = {path: daemon.get(path)[2] for path in ("/metrics", "/debug/pprof/heap")}
        for i in range(50):
            machine.sites(50, 4096 * (i + 2))
            for path, page in pages.items():
                check("a file is not read again", daemon.get(path)[2] == page)
    with Daemon(machine, "--cache", "1") as daemon:
        before = daemon.metrics()
        machine.sites(60, 100)
        soon("after the cache the file is read", lambda: "linux_alloc_sites 60" in daemon.metrics())
        check("not before", "linux_alloc_sites 50" in before)


def test_state():
    machine = Machine("state")

    def shows(state):
        return lambda: f'profiling{{state="{state}"}} 1' in daemon.metrics()

    with Daemon(machine) as daemon:
        soon("on", shows("on"))
        machine.put("sys/vm/mem_profiling", "0\n")
        soon("off", shows("off"))
        machine.put("sys/vm/mem_profiling", "1\n")
        soon("on again", shows("on"))
        machine.put("allocinfo", "rubbish\n")
        soon("failed", shows("failed"))
        same("a profile of rubbish", daemon.get("/debug/pprof/heap")[0], 503)
        machine.sites(3)
        soon("good again", shows("on"))
    (machine.path / "allocinfo").unlink()
    machine.put("sys/vm/mem_profiling", "0\n")
    with Daemon(machine) as daemon:
        soon("never", shows("never"))
        status, _, text = daemon.get("/debug/pprof/heap")
        check("a profile of nothing", status == 503 and b"sysctl.vm.mem_profiling=1" in text, text)
    (machine.path / "sys/vm/mem_profiling").unlink()
    with Daemon(machine) as daemon:
        soon("absent", shows("absent"))


def test_privileges():
    machine = Machine("privileges")
    if os.geteuid():
        print("skipped: it needs root")
        return
    for name in ("allocinfo", "meminfo", "sys/vm/mem_profiling"):
        (machine.path / name).chmod(0o400)
    with Daemon(machine) as daemon:
        daemon.serves("without privileges")
        same("Uid", set(daemon.status("Uid").split()), {"65534"})
        same("Gid", set(daemon.status("Gid").split()), {"65534"})
        same("Groups", daemon.status("Groups"), "")
        for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            same(key, int(daemon.status(key), 16), 0)
        same("NoNewPrivs, Seccomp, Threads", [daemon.status(k) for k in ("NoNewPrivs", "Seccomp", "Threads")],
             ["1", "2", "1"])
        limits = Path(f"/proc/{daemon.process.pid}/limits").read_text()
        for name, value in (("core file size", 0), ("processes", 0), ("open files", 532)):
            check(name, re.search(rf"^Max {name}\s+{value}\s+{value}\s", limits, re.M), limits)
        machine.sites(5)
        soon("a second read", lambda: "linux_alloc_sites 5\n" in daemon.metrics())


def test_inherited():
    with open(Path(DIR, "secret"), "w+", encoding="ascii") as secret:
        with Daemon(Machine("inherited"), pass_fds=(secret.fileno(),)) as daemon:
            links = {int(name.name): os.readlink(name) for name in Path(f"/proc/{daemon.process.pid}/fd").iterdir()}
            check("a file of the caller is closed", not any("secret" in link for link in links.values()), links)
            same("standard input and output", [links[0], links[1]], ["/dev/null"] * 2)


# Addresses and systemd

def test_addresses():
    machine = Machine("addresses")
    with Daemon(machine, "--listen", "[::1]:0") as daemon:
        daemon.serves("IPv6")
        check("loopback is no reason to warn", "warning" not in daemon.log(), daemon.log())
    with Daemon(machine, "--listen", "0.0.0.0:0") as daemon:
        same("warnings", daemon.log().count("warning: other machines can connect"), 1)
    with Daemon(machine, "--listen", "[::]:0", "--auth-file", "users") as daemon:
        check("no TLS", "warning: other machines can connect, and passwords are not enc" in daemon.log(), daemon.log())
    with Daemon(machine, "--listen", "[::]:0", "--auth-file", "users", "--tls-cert", "server.pem",
                "--tls-key", "server.key") as daemon:
        check("with TLS and a password it does not warn", "warning" not in daemon.log(), daemon.log())


def test_notify():
    machine = Machine("notify")
    for path in (f"{DIR}/socket", f"\0{DIR}/socket"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(PATIENCE)
            with Daemon(machine, env={"NOTIFY_SOCKET": path.replace("\0", "@")}) as daemon:
                same("the first message", manager.recv(100), b"READY=1")
                daemon.serves("after the message")
                soon("only the socket of clients is open", lambda: daemon.sockets() == 1)


# TLS and passwords

def context(cert=None, authority="server.pem"):
    tls = ssl.create_default_context(cafile=Path(DIR, authority))
    tls.check_hostname = False
    if cert:
        tls.load_cert_chain(Path(DIR, f"{cert}.pem"), Path(DIR, f"{cert}.key"))
    return tls


def test_password():
    with Daemon(Machine("password"), "--auth-file", "users") as daemon:
        for user in ("prom:secret word", "other:a:b"):
            same(user, daemon.get(user=user)[0], 200)
        for user in (None, "prom:secret", "prom:secret words", "prom:", ":", "root:secret word", "prom",
                     "other:a", "# who may look:"):
            for path in ("/metrics", "/", "/nothing") * 2:      # 48 messages: two minutes admit 40
                status, headers, text = daemon.get(path, user=user)
                check(f"{user} at {path}", status == 401 and b"HELP" not in text, (status, text))
                same("it asks", headers["WWW-Authenticate"], 'Basic realm="allocinfod"')
        wrong = re.findall(r"127\.0\.0\.1:\d+: wrong user or password", daemon.log())
        check("messages of wrong passwords", 10 < len(wrong) <= LOG_BURST * daemon.minutes(), daemon.log())
        check("they have no secret", "secret" not in daemon.log(), daemon.log())
        for value in (b"Basic", b"Basic !!!", b"Basic " + b"A" * 4000, b"Bearer x", b"Digest username=a"):
            with daemon.connect() as client:
                client.sendall(b"GET / HTTP/1.0\r\nAuthorization: " + value + b"\r\n\r\n")
                check(value, receive_all(client).startswith(b"HTTP/1.1 401"))


def test_tls():
    with Daemon(Machine("tls"), "--tls-cert", "server.pem", "--tls-key", "server.key") as daemon:
        check("it says https", "listening on https://" in daemon.log())
        same("by TLS", daemon.get(tls=context())[0], 200)
        with daemon.connect() as client:
            client.sendall(GET)
            check("not without TLS", not receive_all(client).startswith(b"HTTP"))
        old = context()
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        for what, tls in (("another certificate", context(authority="foreign.pem")), ("an old version", old)):
            try:
                daemon.get(tls=tls)
                check(what, False, "it was accepted")
            except ssl.SSLError:
                check(what, True)
        for junk in (b"\x16\x03\x01\xff\xff" + os.urandom(500), b"\x16\x03\x01\0\x05\x01\0\0\x01\0",
                     os.urandom(2000)):
            with daemon.connect() as client:
                client.sendall(junk)
        same("after junk", daemon.get(tls=context())[0], 200)
        with daemon.connect() as client:
            client.sendall(b"\x16\x03\x01\x05\0half of a handshake")
            time.sleep(0.5)
            begin = daemon.cpu()
            time.sleep(1)
            check("half of a handshake costs little", daemon.cpu() - begin < 0.3, daemon.cpu() - begin)


def test_client_certificates():
    with Daemon(Machine("client"), "--tls-cert", "server.pem", "--tls-key", "server.key",
                "--tls-client-ca", "ca.pem", "--auth-file", "users") as daemon:
        user = "prom:secret word"
        same("certificate and password", daemon.get(tls=context("client"), user=user)[0], 200)
        same("no password", daemon.get(tls=context("client"))[0], 401)
        same("no certificate", daemon.get(tls=context(), user=user)[0], 403)
        for cert in ("foreign", "server2"):
            try:
                same(f"certificate of {cert}", daemon.get(tls=context(cert), user=user)[0], 403)
            except (ssl.SSLError, ConnectionError):
                check("refused in the handshake", True)


# Enemies

JUNK = [b"\0\xff" * 500 + b"\r\n\r\n", b"\r\n" * 1000, b"GET", b"GET /", b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b" / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"GET /%00%ff%zz?%=&&=a&seconds HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\x1b[2J\x9b2J HTTP/1.1\r\nHost: \x07\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: a=b; c\r\nCookie: =\r\nAuthorization: Basic\r\n\r\n",
        b"A" * 100000, GET * 300, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"]


def test_junk():
    with Daemon(Machine("junk")) as daemon:
        for junk in JUNK:
            for half in (False, True):
                with daemon.connect() as client:
                    try:
                        client.sendall(junk)
                        if half:
                            client.shutdown(socket.SHUT_WR)
                    except ConnectionError:
                        pass
                    if half:
                        receive_all(client)
            daemon.serves(f"after {junk[:20]}")
        for nr, text in ((431, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 20000 + b"\r\n\r\n"),
                         (431, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 5000 + b"\r\n"),
                         (414, b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")):
            with daemon.connect() as client:
                try:
                    client.sendall(text)
                except ConnectionError:
                    pass
                same("oversized", receive_all(client)[:12], b"HTTP/1.1 %d" % nr)
        lines = daemon.log().splitlines()
        # The limit leaves out a line in each minute. In the first one, it is the address of the
        # daemon. In each later one, it is the number of messages that were dropped.
        check("few messages", 5 < len(lines) <= (LOG_BURST + 1) * daemon.minutes(), len(lines))
        check("the log is safe", not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", daemon.log()), daemon.log())


def idle(daemon, nr):
    """Open many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < nr + 100:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, nr + 100), hard))
    return [daemon.connect() for _ in range(nr)]


def test_idle():
    with Daemon(Machine("idle"), "--per-address", "0", "--timeout", "3", "--connections", "1100") as daemon:
        clients = idle(daemon, 1000)
        for _ in range(20):
            daemon.serves("beside 1,000 idle connections")
        size = int(daemon.status("VmRSS").split()[0])
        check("memory", SANITIZED or size < 65536, f"{size} KiB")
        soon("idle connections are closed", lambda: is_closed(clients[0]) and is_closed(clients[-1]))
        for client in clients:
            client.close()
        daemon.serves("afterwards")


def test_slow():
    machine = Machine("slow", 20000)
    with Daemon(machine, "--timeout", "2") as daemon:
        reader = daemon.connect(receive=4096)
        reader.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n" * 40)
        writer = daemon.connect()
        closed = False
        for byte in b"GET / HTTP/1.1\r\nHost: " + b"x" * 60:
            closed = is_closed(writer)
            if closed:
                break
            try:
                writer.sendall(bytes([byte]))
            except ConnectionError:
                pass
            daemon.serves("beside slow clients")
            time.sleep(0.1)
        check("a slow writer is cut off", closed)
        got = receive_all(reader)
        check("a slow reader is cut off", b"HTTP/1.1 200" in got and got.count(b"HTTP/1.1 200 OK") < 40, len(got))


def test_limits():
    for options in (["--per-address", "3"], ["--connections", "3"]):
        with Daemon(Machine(f"limits{options[0]}"), *options) as daemon:
            clients = [daemon.connect() for _ in range(3)]
            clients[1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            for _ in range(3):
                with daemon.connect() as client:
                    client.sendall(GET)
                    check(f"{options}: served although it is full", client.recv(100).startswith(b"HTTP/1.1 200"))
            soon("the oldest connection is closed", lambda: is_closed(clients[0]))
            for client in clients:
                client.close()
            soon("another one after an end", lambda: serves_quietly(daemon))


def test_limits_of_answers():
    with Daemon(Machine("answers", 20000), "--per-address", "3", "--timeout", "15", "--cache", "3600") as daemon:
        daemon.get("/debug/pprof/heap")     # the daemon keeps the page, so the next answers begin at once
        readers = [daemon.connect(receive=4096) for _ in range(3)]
        begin = time.monotonic()
        for reader in readers:
            reader.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n")
            reader.recv(1)
        with daemon.connect() as client:
            try:
                client.sendall(GET)
                got = client.recv(100)
            except ConnectionError:
                got = b""
        if time.monotonic() - begin < SAFE:
            same("those that are answered stay", got, b"")
        else:
            print("skipped: this machine took too long for the limit of answers")
        soon("not forever", lambda: serves_quietly(daemon))
        for reader in readers:
            reader.close()


def serves_quietly(daemon):
    try:
        return daemon.get()[0] == 200
    except (ConnectionError, OSError):
        return False


def test_buffers():
    """The kernel keeps little of what a client sends that does not read its answers."""
    with Daemon(Machine("buffers", 20000)) as daemon, daemon.connect(receive=4096) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n")
        client.recv(1)
        client.settimeout(1)
        sent = 0
        try:
            while sent < 1 << 20:
                sent += client.send(GET * 100)
        except TimeoutError:
            pass
        check("bytes that wait", sent < 100000, sent)


# The end

def test_hangup():
    with Daemon(Machine("hangup")) as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        check("SIGHUP does not end it", daemon.process.poll() is None)


def test_end():
    machine = Machine("end", 20000)
    with Daemon(machine, "--per-address", "0") as daemon:
        reader = daemon.connect(receive=4096)
        reader.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n")
        reader.recv(100)
        quiet = [daemon.connect() for _ in range(20)]
        clients = [daemon.connect() for _ in range(100)]
        for client in clients:
            client.sendall(GET)
        daemon.process.send_signal(signal.SIGTERM)
        for client in clients:
            check("a request before the end", receive_all(client).startswith(b"HTTP/1.1 200"))
        soon("idle connections end", lambda: all(is_closed(client) for client in quiet))
        check("it waits for a reader", daemon.process.poll() is None)
        rest = receive_all(reader)
        check("the reader gets all", len(rest) > 400000, len(rest))
        same("exit status", daemon.process.wait(PATIENCE), 0)
    with Daemon(machine) as daemon:
        reader = daemon.connect(receive=4096)
        reader.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n")
        reader.recv(100)
        same("a reader that never reads", daemon.end(), 2)
        check("it says so", "requests of 1 slow clients were cut off" in daemon.log(), daemon.log())
        reader.close()


def main():
    wanted = (sys.argv[3:] or ["test_"])[0]
    for test in [value for name, value in sorted(globals().items()) if name.startswith(wanted)]:
        try:
            test()
        except Exception as error:      # the other tests still run
            check(test.__name__, False, f"{type(error).__name__}: {error}")
    print(f"{checks[True]} checks passed, {checks[False]} failed")
    return 1 if checks[False] else 0


sys.exit(main())
