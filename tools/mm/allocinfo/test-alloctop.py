#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-alloctop.py [--update] DIR: press every key of DIR/alloctop in a terminal.

The program reads a folder of files in place of /proc. The files change only between two
keys, and the program reads them only when a key asks for it, so each screen is known.
test-alloctop-WIDTHxHEIGHT.golden has the expected screens by name. Each of them is compared
twice, with the screen of pyte and with that of tmux. --update writes these files.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte

HERE = Path(__file__).resolve().parent
PATIENCE = 30       # seconds that a screen may take to appear
SETTLE = 0.4        # seconds after which a screen does not change any more, for --update
TICK = 0.02

# What a terminal of the type "linux" sends.
KEYS = {"Enter": "\r", "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D",
        "Home": "\x1b[1~", "End": "\x1b[4~", "PPage": "\x1b[5~", "NPage": "\x1b[6~",
        "Escape": "\x1b", "Space": " ", "BSpace": "\x7f", "C-u": "\x15"}

FIRST = """\
62914560 15360 mm/filemap.c:1995 func:__filemap_get_folio
25165824 3840 mm/slub.c:1799 func:alloc_slab_page
5783552 353 kernel/fork.c:367 func:alloc_thread_stack_node
2097152 512 mm/percpu-vm.c:95 func:pcpu_alloc_pages
2617344 639 arch/x86/mm/pgtable.c:33 func:pte_alloc_one
8388608 2048 mm/memory.c:4190 func:do_anonymous_page
106496 26 mm/memory.c:5464 func:__pud_alloc
6396312 61576 fs/buffer.c:2905 func:alloc_buffer_head
2400000 4254 fs/inode.c:263 func:alloc_inode
970752 237 drivers/net/ethernet/intel/e1000/e1000_main.c:1423 [e1000] func:e1000_setup_all_tx_resources
40960 10 drivers/net/ethernet/intel/e1000/e1000_main.c:1620 [e1000] func:e1000_setup_all_rx_resources
65536 16 fs/ext4/super.c:4458 [ext4] func:ext4_alloc_sbi
3145728 3072 fs/ext4/super.c:1312 [ext4] func:ext4_alloc_inode
12288 96 fs/ext4/mballoc.c:3512 [ext4] func:ext4_mb_init numa:1 future:yes
8192 2 lib/odd\x1b[31mname\x07.c:7 func:odd\x9bfunc
0 0 fs/pipe.c:806 func:alloc_pipe_info
12582912 3072 drivers/gpu/drm/ttm/ttm_pool.c:100 func:ttm_pool_alloc_page
4096 4 kernel/module/main.c:9 func:lines_without_index accurate:no
"""

MEMINFO = """\
MemTotal:         512000 kB
MemFree:          380000 kB
Buffers:            1000 kB
Cached:            60000 kB
SwapCached:            0 kB
AnonPages:         12000 kB
KernelStack:        5648 kB
PageTables:         2700 kB
Percpu:             2560 kB
Hugetlb:               0 kB
"""
SLABINFO = """\
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>
buffer_head        61576  61620    104   39    1 : tunables    0    0    0 : slabdata   1580   1580      0
inode_cache         4254   4500    600   13    2 : tunables    0    0    0 : slabdata    346    346      0
ext4_inode_cache    3072   3200   1024   16    4 : tunables    0    0    0 : slabdata    200    200      0
kmalloc-4k          2000   2048   4096    8    8 : tunables    0    0    0 : slabdata    384    384      0
"""
ZONEINFO = """\
Node 0, zone    DMA32
  pages free     95000
        present  131072
        managed  128000
    cpu: 0
              count: 120
              high:  378
    cpu: 1
              count: 80
              high:  378
"""
STACKS = """\
      920KiB      230 fs/inode.c:263 module:inode func:alloc_inode
    count: 228
    bytes: 933888
    size: 4096
    pid: 1474
    tgid: 1474
    comm: ba\x1b[7msh
    ts: 175332940994
    call stack:
         alloc_inode+0xfe/0x130
         new_inode+0x22/0xb0
         ext4_create+0x10/0x20
    count: 400
    bytes: 8192
    call stack:
         alloc_inode+0xfe/0x130
         sock_alloc+0x11/0x40
    dropped for memory: 3
"""
# groups that are hard to tell from each other by a filter
GROUPS = """\
4096 1 fs/b.c:1 func:b_alloc
2048 2 fs/b.c:2 [one] func:b_alloc
1024 3 fs/ext4/a.c:3 func:a_alloc
512 4 fs/ext4/a.c:4 [one] func:b_free
256 5 b.c:5 func:b_alloc
128 6 drivers/b.c:6 [two] func:b_alloc
64 7 lib/x[1-3].c:7 func:x?
32 8 lib/x1.c:8 func:xy
16 9 lib/a:b.c:9 func:colon
8 10 lib/plain.c:10
"""
# more call stacks than any terminal here shows
MANY_STACKS = STACKS.split("    count:", maxsplit=1)[0] + "".join(
    f"    count: {40 - i}\n    bytes: {4096 * (40 - i)}\n    call stack:\n"
    f"         alloc_inode+0xfe/0x130\n         caller_{i}+0x10/0x20\n" for i in range(40))


def crowd(number):
    """More call sites, so that they do not fit on the screen."""
    return "".join(f"{64 * (number + 8 - i)} {number + 8 - i} net/core/sock{i}.c:{100 + i} func:sock_alloc_{i}\n"
                   for i in range(number))


class Proc:
    """A folder in place of /proc. Its files are changed in place: the program has one open."""

    def __init__(self, path, height=24):
        self.path = path
        path.mkdir()
        self.rows = FIRST + crowd(height)
        self.uptime = 93784.25
        self.put("meminfo", MEMINFO)
        self.put("slabinfo", SLABINFO)
        self.put("zoneinfo", ZONEINFO)
        self.put("alloc_tags.ctx", "")
        self.write()

    def put(self, name, text):
        with open(self.path / name, "wb") as f:
            f.write(text.encode("latin-1"))

    def write(self):
        self.put("allocinfo", "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n" + self.rows)
        self.put("uptime", f"{self.uptime} 1.00\n")

    def pass_time(self, seconds, *changes):
        """Let time pass; each change is (function, new bytes, new calls)."""
        self.uptime += seconds
        for func, size, calls in changes:
            self.rows = re.sub(rf"^\d+ \d+ (\S+.* func:{func})$", rf"{size} {calls} \1", self.rows, flags=re.M)
        self.write()


def be_shell(argv, env, said):
    """Run a program as a job of a shell: only a job can be stopped. Exit as a shell does."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        os.write(said, str(os.getpid()).encode())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvpe(argv[0], argv, env)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os._exit(128 - code if code < 0 else code)


class Pyte:
    """The program on a terminal of its own, as pyte shows it."""

    def __init__(self, argv, width, height, cwd, **env):
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        got, said = os.pipe()
        self.shell, self.fd = pty.fork()
        if not self.shell:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            os.chdir(cwd)
            be_shell(argv, {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8", **env}, said)
        os.close(said)
        self.pid = int(os.read(got, 16))
        os.close(got)

    def pump(self, seconds):
        """Show what the program writes in this time; False if the terminal is closed."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        self.pump(TICK)
        return [line.rstrip() for line in self.screen.display]

    def press(self, key):
        os.write(self.fd, KEYS.get(key, key).encode())

    def resize(self, width, height):
        self.screen.resize(height, width)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def modes(self):
        """True if the terminal is as a shell wants it."""
        flags = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ICANON and flags & termios.ECHO)

    def wait(self):
        """The status of the program, which ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.pump(TICK)
            pid, status = os.waitpid(self.shell, os.WNOHANG)
            if pid:
                self.shell = 0
                code = os.waitstatus_to_exitcode(status)
                return 128 - code if code > 128 else code
        return "it did not end"

    def cpu(self):
        """Nanoseconds of CPU time, from the clock of the process; see clock_getcpuclockid(3)."""
        return time.clock_gettime_ns((~self.pid << 3) | 2)

    def asleep(self):
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"

    def close(self):
        if self.shell:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.shell, 0)
        os.close(self.fd)


class Tmux:
    """The program in tmux, as tmux shows it."""

    def __init__(self, argv, width, height, cwd, **env):
        self.socket = str(Path(cwd) / "tmux")
        words = " ".join(f"{name}={value}" for name, value in {"LC_ALL": "C.UTF-8", **env}.items())
        command = "exec env " + words + " " + " ".join(f"'{word}'" for word in argv)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "-c", str(cwd), command)

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=check, text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    def text(self):
        time.sleep(TICK)
        return [line.rstrip() for line in self.tmux("capture-pane", "-p").splitlines()]

    def press(self, key):
        self.tmux("send-keys", *([] if key in KEYS else ["-l"]), key)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def close(self):
        self.tmux("kill-server", check=False)


class Test:
    """Run of the keys in one terminal."""

    def __init__(self, terminal, program, size, scratch, update):
        self.kind = terminal
        self.program = str(program)
        self.size = size
        self.folder = Path(scratch)
        self.update = update
        self.file = HERE / f"test-alloctop-{size[0]}x{size[1]}.golden"
        self.golden = {} if update else read_golden(self.file)
        self.got = {}
        self.bad = []
        self.files = 0
        self.proc = None
        self.term = None

    def start(self, *words, **env):
        self.term = self.kind([self.program, "--proc", self.proc.path.name, "-d", "1000", *words], *self.size,
                              self.folder, **env)

    def see(self, name):
        """The screen is the one of that name, soon."""
        if self.update:
            time.sleep(SETTLE)
            self.term.text()
            for _ in range(5):
                self.got[name] = self.term.text()
            return
        want, end = self.golden.get(name), time.monotonic() + PATIENCE
        while (have := self.term.text()) != want and time.monotonic() < end:
            pass
        if have != want:
            self.fail(f"{name}: the screen differs", have, want or [])

    def fail(self, what, have=(), want=()):
        lines = [f"  {mark} {text}" for number in range(max(len(have), len(want)))
                 for mark, text in (("+", have[number] if number < len(have) else ""),
                                    ("-", want[number] if number < len(want) else ""))
                 if have[number:number + 1] != want[number:number + 1]]
        self.bad.append("\n".join([f"{self.kind.__name__} {self.size[0]}x{self.size[1]}: {what}", *lines[:16]]))

    def keys(self, *names):
        for name in names:
            self.term.press(name)

    def step(self, name, *keys):
        self.keys(*keys)
        self.see(name)


def fit(screen, height):
    return (screen + [""] * height)[:height]


def read_golden(path):
    """{name: lines of the screen}, from what write_golden() wrote."""
    screens, screen, base = {}, [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            height, name = line[3:].split(" ", 1)
            base = fit(screen, int(height))
            screens[name] = screen = list(base)
        elif line.startswith("=like "):
            base = fit(screens[line[6:]], len(screen))
            screen[:] = base
        elif match := re.match(r"(\d+)-(\d+)<(\d+)$", line):
            first, last, source = (int(number) for number in match.groups())
            screen[first:last + 1] = base[source:source + last - first + 1]
        elif not line.startswith("#"):
            number, text = line.split("|", 1)
            screen[int(number)] = text
    return screens


def changes(base, screen):
    """The lines of a screen that differ from another one; those that moved there are ranges."""
    lines, base, number = [], fit(base, len(screen)), 0
    while number < len(screen):
        text = screen[number]
        if text == base[number]:
            number += 1
            continue
        source = base.index(text) if text in base else -1
        count = 1
        while source >= 0 and screen[number + count:number + count + 1] == base[source + count:source + count + 1] != []:
            count += 1
        lines.append(f"{number}|{text}" if source < 0 else f"{number}-{number + count - 1}<{source}")
        number += count
    return lines


def write_golden(path, screens):
    lines = ["# SPDX-License-Identifier: GPL-2.0-only", "#",
             "# Screens of alloctop, written by test-alloctop.py --update: the number of lines and the",
             "# name of a screen, and the lines in which it differs from the screen before it, or from",
             "# the one that it is like. 4-9<5: the lines 4 to 9 are the lines from 5 on of that screen."]
    done = {}
    for name, screen in screens.items():
        lines.append(f"== {len(screen)} {name}")
        best = changes(list(done.values())[-1] if done else [], screen)
        for other, base in done.items():
            new = [f"=like {other}", *changes(base, screen)]
            if len("".join(new)) < len("".join(best)):
                best = new
        lines += best
        done[name] = screen
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sort_keys(test):
    test.see("start")
    for key in "cansmg":
        test.step(f"sort {key}", key)
    test.proc.pass_time(30, ("alloc_inode", 4800000, 8508), ("alloc_buffer_head", 6000000, 57762),
                        ("alloc_pipe_info", 300, 3), ("ext4_alloc_sbi", 0, 0))
    test.step("read after 30 s", "Space")
    test.proc.pass_time(60, ("alloc_inode", 9600000, 17016))
    test.step("rate after 90 s", "Space", "m")
    test.step("growth counts from now on", "z")
    test.step("read without growth", "s", "Space")


def group_keys(test):
    for key, name in zip("2345", ("function", "file", "directory", "module")):
        test.step(f"by {name}", key)
    test.step("tree", "t")
    test.step("tree: one directory", "Right")
    test.step("tree: one file", "Down", "+")
    test.step("tree: folded by Left", "Left")
    test.step("tree: up and folded", "Left", "-")
    test.step("tree: unfolded", "]")
    test.step("tree: folded", "[")
    test.step("tree: Enter unfolds", "Enter")
    test.step("tree: Enter folds", "Enter")
    test.step("no tree", "t", "1")
    test.step("no tree to unfold", "]")
    test.step("no tree to fold", "Left")


def move_keys(test):
    for name, keys in (("down", ["Down", "j"]), ("up", ["Up"]), ("up again", ["k"]), ("next page", ["NPage"]),
                       ("last row", ["End"]), ("page before", ["PPage"]), ("first row", ["Home"])):
        test.step("move: " + name, *keys)
    test.keys("Down", "Down")
    test.proc.pass_time(3, ("alloc_thread_stack_node", 30000000, 2000))
    test.step("the cursor stays on its row", "Space")
    test.keys("Home")


def other_keys(test):
    test.step("filter: asked", "f")
    test.step("filter: typed", *"file fs/x", "BSpace", "*")
    test.step("filter: used", "Enter")
    test.step("filter: wrong", "/", "C-u", *"file a b", "Enter")
    test.step("filter: Escape", "f", "x", "Escape")
    test.step("filter: nothing passes", "f", "C-u", *"func nobody", "Enter")
    test.step("filter: none", "f", "C-u", "Enter")
    test.step("paused", "p")
    test.step("not paused", "p")
    test.step("delay: wrong", "d", *"0", "Enter")
    test.step("delay: ten minutes", "d", *"10m", "Enter")
    test.step("plain numbers", "b")
    test.step("human numbers", "b")
    test.step("written", "w")
    test.step("written again", "w")
    test.step("no such key", "X")
    test.step("help", "?")
    test.step("help: rest", "Space")
    test.step("help: left", "Escape")
    test.step("help again", "h")
    test.step("help again: left", "q")


def check_stacks(test):
    file = max(test.folder.glob("alloctop-*.json"))
    data = json.loads(file.read_text(encoding="utf-8"))
    if [(s["bytes"], s["calls"], len(s["frames"]), [t["comm"] for t in s["tasks"]]) for s in data["stacks"]] != \
            [(933888, 228, 3, ["ba?[7msh"]), (8192, 400, 2, [])] or data["line"] != 263 or data["lost"] != 3:
        test.fail(f"the JSON of the callers: {data}")


def move_callers(test):
    """Each key that moves the window, from where it must change the screen."""
    test.proc.put("alloc_tags.ctx", MANY_STACKS)
    test.step("many callers", "Space")
    for name, key in (("down", "Down"), ("down by j", "j"), ("up", "Up"), ("up by k", "k"), ("next page", "NPage"),
                      ("the end", "End"), ("page before", "PPage"), ("the beginning", "Home")):
        test.step("many callers: " + name, key)


def callers(test):
    test.step("callers of a function", "2", "Down", "Enter")
    test.step("callers of built-in code", "f", "C-u", "Enter", "5", "Enter")
    test.step("callers of a module", "f", "Enter", "5", "Down", "Enter")
    test.step("no callers yet", "f", "C-u", *"func alloc_inode", "Enter", "1", "Enter")
    path = test.proc.path / "alloc_tags.ctx"
    command = 'file "fs/inode.c" line 263 func "alloc_inode" '
    if path.read_text() != command + "enable\n":
        test.fail("the window did not enable its call site alone: " + path.read_text())
    test.proc.put("alloc_tags.ctx", STACKS)
    test.proc.pass_time(5)
    test.step("callers", "Space")
    test.step("callers by calls", "c")
    test.step("callers by size", "s")
    test.step("callers: paused", "p")
    test.step("callers by growth", "p", "g")
    test.step("callers: written", "w")
    check_stacks(test)
    move_callers(test)
    for name, key in (("left by Backspace", "BSpace"), ("left", "q")):
        test.proc.put("alloc_tags.ctx", "")
        test.step("callers " + name, key)
        if path.read_text() != command + "disable\n":
            test.fail(f"{key}: the window did not give back its call site: " + path.read_text())
        if key == "BSpace":
            test.proc.put("alloc_tags.ctx", "")
            test.step("callers: opened again", "Enter")
    test.proc.put("alloc_tags.ctx", STACKS)
    test.step("captured by somebody else", "Enter")
    test.keys("Escape")
    test.step("captured by somebody else: left")
    if path.read_text(encoding="latin-1") != STACKS:
        test.fail("the window took back what somebody else enabled")
    path.unlink()
    test.step("no contexts in this kernel", "Enter")
    test.step("no contexts: left", "Space")
    test.proc.put("alloc_tags.ctx", "")


def sizes(test):
    test.term.resize(60, 20)
    test.see("60x20")
    test.term.resize(40, 7)
    test.see("40x7")
    test.term.resize(10, 2)
    time.sleep(SETTLE)
    test.term.resize(*test.size)
    test.see("as before")


def problems(test):
    (test.proc.path / "meminfo").rename(test.folder / "meminfo")
    test.step("no meminfo", "f", "C-u", "Enter", "Space")
    (test.folder / "meminfo").rename(test.proc.path / "meminfo")
    test.proc.put("allocinfo", "something else\n")
    test.step("not a table", "Space")
    rows = test.proc.rows
    test.proc.rows += "this is no line\n"
    test.proc.write()
    test.step("a damaged line", "Space")
    test.proc.rows = rows
    test.proc.write()
    (test.proc.path / "sys/vm").mkdir(parents=True)
    test.proc.put("sys/vm/mem_profiling", "0\n")
    test.step("profiling is off", "Space")


def check_json(test):
    files = sorted(test.folder.glob("alloctop-*.json"))
    if [f.name for f in files] != ["alloctop-1.json", "alloctop-2.json"]:
        test.fail(f"the key w wrote {files}")
        return
    data = json.loads(files[0].read_text(encoding="utf-8"))
    balance = data["balance"]
    if balance["total"] != sum(balance[name] for name in ("free", "cpu_lists", "sites", "on_no_line")):
        test.fail(f"the sums of the JSON do not add up: {balance}")
    if len(data["rows"]) != 17 + test.size[1] or data["rows"][0]["func"] != "__filemap_get_folio":
        test.fail(f"the JSON has {len(data['rows'])} rows")
    if files[0].stat().st_mode & 0o777 != 0o600:
        test.fail("others can read the JSON")


def all_keys(test):
    """Every key, in one run of the program; on a large terminal nothing is cut."""
    test.start()
    sort_keys(test)
    group_keys(test)
    move_keys(test)
    other_keys(test)
    check_json(test)
    callers(test)
    sizes(test)
    problems(test)
    test.keys("q")


def is_red(test):
    """Growth is red, and the row of the cursor is not."""
    return any(cell.fg == "red" for cell in test.term.screen.buffer[8].values())


def colours(test):
    for env, want in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
        test.proc.rows = FIRST + crowd(24)
        test.proc.write()
        test.start(**env)
        test.see("start")
        test.proc.pass_time(0, ("alloc_slab_page", 27000000, 4000))
        test.step("growth", "Space")
        if is_red(test) != want:
            test.fail(f"red for growth with {env}: {not want}")
        test.keys("q")
        if (status := test.term.wait()) != 0:
            test.fail(f"q: exit status {status}")
        test.term.close()


def signals(test):
    """A signal ends the program, restores the terminal, and gives back the capture."""
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        test.proc.put("alloc_tags.ctx", "")
        test.start()
        test.see("start")
        if test.term.modes():
            test.fail("the program did not take over the terminal")
        test.keys("Enter")
        test.see("a window with callers")
        os.kill(test.term.pid, sig)
        status = test.term.wait()
        if status != -sig:
            test.fail(f"{sig.name}: exit status {status}")
        if not test.term.modes():
            test.fail(f"{sig.name}: the terminal is not as it was")
        words = (test.proc.path / "alloc_tags.ctx").read_text().split()
        if words.count("enable") != 1 or words.count("disable") != 1:
            test.fail(f"{sig.name}: the capture was not given back: {words}")
        test.term.close()


def stopped(test):
    """True when the program has stopped."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        test.term.pump(TICK)
        if Path(f"/proc/{test.term.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T":
            return True
    return False


def stops(test):
    """After CTRL+Z the terminal is as it was; after fg, and after SIGSTOP, the screen is."""
    test.start()
    test.see("start")
    for sig in (signal.SIGTSTP, signal.SIGSTOP):
        os.kill(test.term.pid, sig)
        if not stopped(test):
            test.fail(f"{sig.name}: it did not stop")
        if sig == signal.SIGTSTP and not test.term.modes():
            test.fail("SIGTSTP: the terminal is not as it was")
        flags = termios.tcgetattr(test.term.fd)
        flags[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(test.term.fd, termios.TCSANOW, flags)
        test.term.stream.feed(b"\x1b[H\x1b[2Jsomething that the shell printed")
        os.kill(test.term.pid, signal.SIGCONT)
        test.see("start")
        if test.term.modes():
            test.fail(f"{sig.name}: the terminal is not that of the program after SIGCONT")
    test.term.close()


def hang_up(test):
    """A terminal that is gone ends the program, also if SIGHUP is ignored."""
    for ignored in (False, True):
        if ignored:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        test.start()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        test.see("start")
        os.close(test.term.fd)
        end = time.monotonic() + PATIENCE
        while not os.waitpid(test.term.shell, os.WNOHANG)[0]:
            if time.monotonic() > end:
                test.fail(f"the terminal is gone, the program is not (SIGHUP ignored: {ignored})")
                os.kill(test.term.pid, signal.SIGKILL)
                os.waitpid(test.term.shell, 0)
                break
            time.sleep(TICK)


def unknown_terminal(test):
    test.start(TERM="no-such-terminal")
    status = test.term.wait()
    if status != 1 or b"set TERM, or use -1" not in test.term.raw:
        test.fail(f"an unknown terminal: exit status {status}")
    test.term.close()


def refreshes(test):
    """Without a key, the program reads the machine by itself, but not if it is paused."""
    test.start("-d", "1")
    test.see("every second")
    test.keys("p")
    test.see("every second: paused")
    test.proc.pass_time(7)
    time.sleep(1.5)
    test.see("every second: paused")
    test.keys("p")
    test.see("seven seconds later")
    test.term.close()


def start_with(test, rows, *words):
    """Start the program with these rows, and wait for them: it must have the terminal before the first key."""
    test.proc.rows = rows
    test.proc.write()
    test.start(*words)
    end = time.monotonic() + 2 * PATIENCE
    while not any(f"{len(rows.splitlines())} call sites" in line for line in test.term.text()) and time.monotonic() < end:
        pass


def view(test):
    """What the window shows: the JSON that w writes."""
    test.files += 1
    path, end = test.folder / f"alloctop-{test.files}.json", time.monotonic() + PATIENCE
    test.keys("w")
    while time.monotonic() < end:
        test.term.pump(TICK)
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            pass
    test.fail(f"w did not write {path.name}")
    return {"by": "", "filter": "", "rows": []}


def enter_rows(test):
    """Enter on a row shows the call sites that the row sums, also if some are left out before."""
    start_with(test, GROUPS, "--min", "0")
    every = ["f", "C-u", "Enter"]
    for what, before in (("all rows", every), ("func b_*", ["f", "C-u", *"func b_*", "Enter"]),
                         ("module one", [*every, "5", "Down", "Enter"])):
        for kind in "2345":
            test.keys(*before, kind)
            for number, row in enumerate(view(test)["rows"]):
                test.keys(*before, kind, *["Down"] * number, "Enter")
                have = view(test)
                sums = [sum(site[name] for site in have["rows"]) for name in ("bytes", "calls", "sites")]
                if have["by"] != "call site" or sums != [row["bytes"], row["calls"], row["sites"]]:
                    test.fail(f"{what}: Enter on {row} shows {have['rows']}")
    test.keys("f", "Enter")
    if len(have := view(test)["rows"]) != len(GROUPS.splitlines()):
        test.fail(f"an empty filter leaves out rows: {have}")
    test.term.close()


def given_filter(test):
    """The key f offers the whole filter of the command line."""
    start_with(test, GROUPS, "file", "fs/*", "func", "b_*")
    test.keys("f", "Enter")
    if (have := view(test))["filter"] != "file fs/* func b_*" or len(have["rows"]) != 3:
        test.fail(f"f and Enter: {have}")
    test.term.close()


def spent_on(test, key):
    """CPU time for a key, in milliseconds, up to the moment when the program waits again."""
    before, end = test.term.cpu(), time.monotonic() + PATIENCE
    test.keys(key)
    quiet = 0
    while quiet < 3 and time.monotonic() < end:
        test.term.pump(TICK / 4)
        quiet = quiet + 1 if test.term.cpu() > before and test.term.asleep() else 0
    return (test.term.cpu() - before) / 1e6


def many_rows(test, limit):
    """60,000 rows: CPU time for each key that moves, sorts or reads; the largest one counts."""
    rows = "".join(
        f"{i * 7919 % 60013 * 64} {i * 7919 % 60013} drivers/net/vendor{i // 3000}/chip{i // 100}/main{i // 20}.c:"
        f"{i % 20 * 10 + 7} {'[mod%d] ' % (i // 1000) if i % 2 else ''}func:vendor_function_{i // 4}\n"
        for i in range(60000))
    start_with(test, rows)
    said = []
    for name, keys in (("move", "jk"), ("sort", "cs"), ("read", " "), ("unfold the tree", "t"), ("read the tree", " ")):
        spent = max(spent_on(test, keys[i % len(keys)]) for i in range(20))
        said.append(f"{name} {spent:.1f} ms")
        if limit and spent > limit:
            test.fail(f"60000 rows: a key to {name} takes {spent:.1f} ms of CPU time")
        if name == "unfold the tree":
            test.keys("]")
    print("# 60000 rows, the most CPU time for one of 20 keys: " + ", ".join(said))
    test.term.close()


def run(kind, program, size, update, *parts):
    with tempfile.TemporaryDirectory() as scratch:
        test = Test(kind, program, size, scratch, update)
        for number, part in enumerate(parts):
            test.proc = Proc(test.folder / f"proc{number}", size[1])
            part(test)
        if test.term and kind is Tmux:
            test.term.close()
    return test


def main():
    words = sys.argv[1:]
    update = words[:1] == ["--update"]
    program = Path(words[-1]).resolve() / "alloctop"
    sanitized = b"__asan_init" in program.read_bytes()
    bad = []

    for size in ((80, 24), (200, 60)):
        small = size == (80, 24)
        test = run(Pyte, program, size, update, all_keys,
                   *((colours, signals, stops, hang_up, unknown_terminal, refreshes) if small else ()))
        bad += test.bad
        if update:
            write_golden(test.file, test.got)
        else:
            bad += run(Tmux, program, size, False, all_keys).bad
    if not update:
        bad += run(Pyte, program, (200, 60), False, enter_rows, given_filter).bad
        bad += run(Pyte, program, (200, 60), False, lambda test: many_rows(test, 0 if sanitized else 100)).bad
    print("\n".join(bad) or "all screens are as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
