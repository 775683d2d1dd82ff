# SPDX-License-Identifier: GPL-2.0-only
"""One guest, from the initramfs to the verdict.

Shared by the commands of qemu-test (guest, run, selftest, demo, shell, ...).  Nothing
here needs root, and all output goes to build/.

A guest has two serial ports.  The first is the console: all messages of the kernel
go to NAME.console.  The second carries only results, to NAME.ktap, so that a printk
cannot land in the middle of a line of results.

How a guest can end, and the verdict:

  it powers off, last line "# qt: exit 0"	good, if results and console are good
  it panics (panic=-1 resets, -no-reboot exits)	bad: the last line is missing
  it exceeds its time				killed by its process id; bad
  the runner dies				the kernel kills qemu (PDEATHSIG)
"""

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
ARCH = "x86_64"		# see use_arch()
CROSS = {"x86_64": "", "i386": "i686-linux-gnu-", "arm64": "aarch64-linux-gnu-"}
ARM = "arm-linux-gnueabihf-gcc"
QEMU = {"arm64": "qemu-system-aarch64"}
IMAGE = {"arm64": ("arch", "arm64", "boot", "Image")}
# arguments for qemu; a machine without ports of the PC has its second port on PCI
MACHINE = {"arm64": ("-M", "virt")}
PORTS = {"arm64": ("ttyAMA0", "ttyS0")}	# console, results
# the kernel with every feature, unless it is called default
DEFAULT = {"i386": "i386", "arm64": "arm64"}
# qemu's 32-bit "max" is an AMD CPU of family 6: the kernel warns if there are two
CPU = {"i386": "max,family=15"}
# helpers that use 64-bit numbers or registers
NOT_ON = {"i386": ("errcodes", "kmon")}
OUT = os.path.join(ROOT, "build", "qemu")

# The kernel checks at boot that the timer works, and panics if it sees no tick.  On a
# busy host a tick can come too late for this check.  qemu's timer always works, so
# no_timer_check skips it.
APPEND = "oops=panic panic=-1 loglevel=7 no_timer_check"

# Lines that no healthy kernel prints.  A test that provokes one declares it.
SPLAT = re.compile(
    r"BUG:|WARNING:|\bOops\b|KASAN:|KFENCE:|UBSAN:|kmemleak: \d+ new|"
    r"possible recursive locking|possible circular locking|"
    r"inconsistent lock state|possible irq lock inversion|"
    r"INFO: task .* blocked|INFO: .* stall|soft lockup|"
    r"general protection fault|Bad page|Call [Tt]race:|Kernel panic|"
    r"[Uu]nable to handle (kernel|page)|corruption|Failed to set sysctl")

LAST_LINES = 30

# Guest time counts instructions: the same in every run, on any host.
ICOUNT = ("-icount", "shift=0,align=off,sleep=off")


class Failure(Exception):
    """An error outside of the guest; the message describes it."""


def say(text):
    print(text, flush=True)


KERNEL_DIR = None	# take the kernel from here and not from build/


def use_arch(arch):
    """From now on, use kernels, programs and guests of that architecture."""
    global ARCH
    ARCH = arch
    wanted = [CROSS[arch] + "gcc"] if CROSS[arch] else []
    if arch == "arm64":
        wanted.append(ARM)
    for compiler in wanted:
        if not shutil.which(compiler):
            raise Failure("no %s: run `make setup-%s`" % (compiler, arch))


def own(path):
    """The path with the architecture appended, unless it is the native one."""
    return path + "." + ARCH if CROSS[ARCH] else path


def kernel_dir(config):
    return KERNEL_DIR or os.path.join(ROOT, "build", ARCH, config)


def kernel_image(config):
    return os.path.join(kernel_dir(config), *IMAGE.get(ARCH, ("arch", "x86", "boot", "bzImage")))


def need_kernel(config, build):
    """Builds the kernel of a configuration if build is set.  Fails if there is no kernel."""
    if build:
        # an outer make has its own job server, which this make is not part of
        env = {k: v for k, v in os.environ.items()
               if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        if subprocess.call(["make", "--no-print-directory", "-C", ROOT,
                            "kernel", "CONFIG=" + config, "ARCH=" + ARCH],
                           env=env):
            raise Failure("make kernel CONFIG=%s failed" % config)
    if not os.path.exists(kernel_image(config)):
        raise Failure("no kernel: run make kernel CONFIG=%s" % config)


def quiet_command(argv, log):
    """Runs a build step; prints the output only if it fails."""
    with open(log, "w") as out:
        if subprocess.call(argv, stdout=out, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL):
            with open(log) as text:
                sys.stderr.write("".join(text.readlines()[-LAST_LINES:]))
            raise Failure("%s failed, see %s" % (argv[0], log))


# Userland

@contextlib.contextmanager
def claim(name):
    """A lock on the files of a guest of that name.

    Two runs at the same time in one tree take turns, test by test.
    """
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, name + ".lock"), "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def newer(target, *sources):
    if not os.path.exists(target):
        return False
    when = os.stat(target).st_mtime
    return all(os.stat(s).st_mtime <= when for s in sources)


def uapi():
    """Our headers that helpers are compiled with."""
    where = os.path.join(ROOT, "include", "uapi", "linux")
    return [os.path.join(where, n) for n in sorted(os.listdir(where))]


def compile_static(sources, target, headers=()):
    """Compiles a static program, so that the guest needs no library.

    If its source is called *32.c, it is a 32-bit program and is built without the C
    library, because few machines have one for 32 bit.  On x86, gcc -m32 uses the 64-bit
    headers below asm/, which are the same.  gcc for arm64 cannot compile for 32-bit arm: a
    separate compiler does.
    """
    if newer(target, *sources, *headers, *uapi(), __file__):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    compiler = CROSS[ARCH] + "gcc" if CROSS[ARCH] else os.environ.get("CC", "gcc")
    kind = ["-pthread"]
    if sources[0].endswith("32.c"):
        kind = ["-ffreestanding", "-fno-pie", "-fno-stack-protector", "-nostdlib"]
        if ARCH == "arm64":
            compiler = ARM
            kind += ["-marm"]	# r7 holds the number of the system call; Thumb may need it
        else:
            kind += ["-m32", "-idirafter", "/usr/include/%s-linux-gnu" % ARCH]
    quiet_command([compiler, "-std=c11", "-D_FILE_OFFSET_BITS=64", "-O2", "-Wall", "-Wextra",
                   "-Werror", "-static", *kind, "-o", target, *sources], target + ".log")


def programs():
    """init and the helpers, compiled; name -> path."""
    with claim("programs"):
        return build_programs()


def sources_below(folder):
    """The C files and the headers of a folder."""
    paths = [os.path.join(folder, n) for n in sorted(os.listdir(folder))]
    return [p for p in paths if p.endswith(".c")], [p for p in paths if p.endswith(".h")]


def helper_sources():
    """{program: (C files, headers)}: a program for each C file and for each folder."""
    where = os.path.join(HERE, "helpers")
    files, headers = sources_below(where)
    found = {os.path.basename(f)[:-2]: ([f], headers) for f in files}
    for name in sorted(os.listdir(where)):
        folder = os.path.join(where, name)
        if os.path.isdir(folder):
            found[name] = sources_below(folder)
    return found


def build_programs():
    where = own(os.path.join(OUT, "bin"))
    found = {"init": os.path.join(where, "init")}
    compile_static([os.path.join(HERE, "boot", "init.c")], found["init"])
    for name, (files, headers) in helper_sources().items():
        if name not in NOT_ON.get(ARCH, ()):
            found[name] = os.path.join(where, name)
            compile_static(files, found[name], headers)
    return found


# The folder that each of our tools is built from.
TOOLS = {"kmemtraced": "mm/kmemtrace", "kmemtrace_check": "mm/kmemtrace",
         "kmemtrace-report": "mm/kmemtrace",
         "alloctop": "mm/allocinfo", "allocinfo": "mm/allocinfo",
         "allocinfod": "mm/allocinfo",
         "kmonlog": "kmon", "kmonparse": "kmon"}


def tool(name, static=False):
    """Builds one of our tools and returns its path; None for other programs.

    static: alone, so that only its own libraries must be there.
    """
    if name not in TOOLS:
        return None
    folder = TOOLS[name]
    where = own(os.path.join(ROOT, "build", "tools", os.path.basename(folder)))
    if static:
        where += ".static"
    path = os.path.join(where, name)
    argv = ["make", "-C", os.path.join(ROOT, "tools", folder), "O=" + where]
    if static or CROSS[ARCH]:
        argv += ["STATIC=1", path]
    if CROSS[ARCH]:
        argv = ["env", "-u", "CC", "-u", "MAKEFLAGS", *argv, "CROSS_COMPILE=" + CROSS[ARCH]]
    os.makedirs(where, exist_ok=True)
    with claim("tools"):
        quiet_command(argv, where + ".log")
    return path


def printed(*argv):
    """What a command prints.  Its exit code does not count: ldd fails for a static program."""
    return subprocess.run(argv, capture_output=True, text=True).stdout


def libraries(program):
    """The shared libraries of a program and its loader, as files of a guest."""
    if not CROSS[ARCH]:
        return [(lib.lstrip("/"), os.path.realpath(lib))
                for lib in re.findall(r"(/\S+) \(0x", printed("ldd", program))]
    # ldd runs the loader of the program, which is for another architecture
    found, unread = {}, [program]
    while unread:
        said = printed(CROSS[ARCH] + "readelf", "-d", "-l", unread.pop())
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]|interpreter: /lib/(.*)\]", said):
            name = "".join(name)
            if name not in found:
                found[name] = printed(CROSS[ARCH] + "gcc", "-print-file-name=" + name).strip()
                unread.append(found[name])
                if not os.path.exists(found[name]):
                    raise Failure("no %s for %s: run `make setup-%s`" % (name, ARCH, ARCH))
    return [("lib/" + name, os.path.realpath(path)) for name, path in found.items()]


def terminal(name):
    """The description of a terminal, as a file of a guest; nothing if the host has none."""
    for folder in ("etc/terminfo", "lib/terminfo", "usr/share/terminfo"):
        path = os.path.join("/", folder, name[:1], name)
        if name and os.path.isfile(path):
            return [("lib/terminfo/%s/%s" % (name[0], name), path)]
    return []


def headers(tree, where):
    """Installs the headers of a kernel's source for programs, in where/usr/include."""
    os.makedirs(where, exist_ok=True)
    quiet_command(["make", "-s", "-C", tree, "O=" + where, "ARCH=" + ARCH, "headers"],
                  os.path.join(where, "headers.log"))


def selftests(folders):
    """Folders of tools/testing/selftests, built and installed in the usual way, as files
    of a guest below /selftests; kselftest-list.txt names the tests."""
    tree = os.path.join(ROOT, "build", "linux")
    where = os.path.join(OUT, "selftests")
    target = os.path.join(where, "install." + "-".join(folders).replace("/", "_"))
    with claim("selftests"):
        headers(tree, where)
        quiet_command(["make", "-s", "-C", tree + "/tools/testing/selftests", "O=" + where,
                       "TARGETS=" + " ".join(folders), "FORCE_TARGETS=1",
                       "USERCFLAGS=-Werror", "USERLDFLAGS=-static",
                       "KSFT_INSTALL_PATH=" + target, "install"],
                      os.path.join(where, "install.log"))
    return [("selftests/" + os.path.relpath(os.path.join(folder, name), target),
             os.path.join(folder, name))
            for folder, _, names in os.walk(target) for name in names]


def modules(config, only=()):
    """The test modules for one kernel, built; name -> path.

    kbuild writes objects beside the sources, so each kernel gets a copy of the sources:
    the repository stays clean and two kernels do not share objects.  only names the
    modules to build on a kernel that cannot build all of them, such as mainline.
    """
    where = own(os.path.join(OUT, "modules", config))
    os.makedirs(where, exist_ok=True)
    with claim("modules." + config):
        return build_modules(config, where, only)


def build_modules(config, where, only):
    src = os.path.join(HERE, "modules")
    for name in os.listdir(src):
        copy, orig = os.path.join(where, name), os.path.join(src, name)
        if not newer(copy, orig):
            shutil.copyfile(orig, copy)
    argv = ["make", "-C", kernel_dir(config), "M=" + where, "modules"]
    if CROSS[ARCH]:
        argv += ["ARCH=" + ARCH, "CROSS_COMPILE=" + CROSS[ARCH]]
    if shutil.which("ccache"):
        argv.append("CC=ccache %sgcc" % CROSS[ARCH])
    if only:
        argv.append("QT_MODULES=" + " ".join(only))
    quiet_command(argv, os.path.join(where, "build.log"))
    return {n[:-3]: os.path.join(where, n)
            for n in sorted(os.listdir(where)) if n.endswith(".ko")}


class Archive:
    """A cpio archive in the newc format; all files belong to root."""

    def __init__(self):
        self.parts = []
        self.ino = 0
        self.dirs = set()

    def entry(self, name, mode, data=b"", rdev=(0, 0)):
        self.ino += 1
        raw = name.encode() + b"\0"
        head = "070701" + "".join("%08X" % v for v in (
            self.ino, mode, 0, 0, 1, 0, len(data), 0, 0,
            rdev[0], rdev[1], len(raw), 0))
        block = head.encode() + raw
        block += b"\0" * (-len(block) % 4)
        block += data + b"\0" * (-len(data) % 4)
        self.parts.append(block)

    def directory(self, name, mode=0o755):
        if name in self.dirs or not name:
            return
        self.directory(os.path.dirname(name))
        self.dirs.add(name)
        self.entry(name, stat.S_IFDIR | mode)

    def data(self, name, data, mode=0o644):
        self.directory(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def file(self, name, path, mode=0o644):
        with open(path, "rb") as f:
            self.data(name, f.read(), mode)

    def symlink(self, name, target):
        self.directory(os.path.dirname(name))
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def node(self, name, mode, major, minor):
        self.directory(os.path.dirname(name))
        self.entry(name, stat.S_IFCHR | mode, rdev=(major, minor))

    def write(self, path):
        self.entry("TRAILER!!!", 0)
        # not compressed: a guest unpacks it several times as fast
        with open(path + ".tmp", "wb") as f:
            f.write(b"".join(self.parts))
        os.rename(path + ".tmp", path)


def foreign_busybox():
    """Debian's busybox of another architecture, which the host's dpkg does not know.

    apt uses separate package lists here, so those of the host do not change.  The program
    is kept beside the kernel's source.
    """
    where = os.path.join(ROOT, "build", "dl")
    path = os.path.join(where, "busybox-" + ARCH)
    with claim("busybox"):
        if os.path.exists(path):
            return path
        apt = os.path.join(where, "apt-" + ARCH)
        os.makedirs(os.path.join(apt, "lists", "partial"), exist_ok=True)
        native = subprocess.run(["dpkg", "--print-architecture"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        options = ["-q", "-o", "APT::Sandbox::User=root",
                   "-o", "APT::Architectures::=" + native, "-o", "APT::Architectures::=" + ARCH,
                   "-o", "Acquire::Languages=none",
                   "-o", "Dir::State::lists=%s/lists" % apt, "-o", "Dir::Cache=%s/cache" % apt]
        # one of several archives may fail: only the package matters
        subprocess.run(["apt-get", *options, "update"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        quiet_command(["sh", "-ec", 'cd "$0"; rm -f ./*.deb; apt-get "$@"; '
                       "dpkg-deb --fsys-tarfile ./*.deb | tar -xO ./bin/busybox > busybox; "
                       "chmod 755 busybox", apt, *options, "download",
                       "busybox-static:" + ARCH], path + ".log")
        os.rename(os.path.join(apt, "busybox"), path)
        shutil.rmtree(apt)
        return path


def busybox():
    if CROSS[ARCH]:
        return foreign_busybox()
    return host_busybox()


def host_busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            out = subprocess.run(["file", "-L", path], capture_output=True,
                                 text=True).stdout if shutil.which("file") else ""
            if "dynamically linked" in out:
                raise Failure("busybox is dynamic: install busybox-static")
            return path
    raise Failure("no busybox: install busybox-static")


def add_bootconfig(path, text):
    """Appends a boot configuration to an archive, as tools/bootconfig of the kernel does."""
    data = text.encode() + b"\0"
    data += b"\0" * (-(os.stat(path).st_size + len(data)) % 4)
    with open(path, "ab") as f:
        f.write(data + struct.pack("<II", len(data), sum(data)) + b"#BOOTCONFIG\n")


def helper_scripts():
    """{name in the guest: path} of the helpers that are scripts."""
    where = os.path.join(HERE, "helpers")
    return {n[:-3]: os.path.join(where, n) for n in sorted(os.listdir(where)) if n.endswith(".sh")}


def helpers(extra):
    """{name: path} of the helpers that the script of the guest names, itself or by another.

    All helpers, if the guest has no script.  Unpacking is a large part of a short boot.
    """
    found = {**helper_scripts(), **programs()}
    script = dict(extra).get("qt/test.sh")
    if not script:
        return found
    todo, wanted = [script, os.path.join(HERE, "boot", "lib.sh")], {"init"}
    while todo:
        words = set(re.findall(r"\w+", text_of(todo.pop())))
        new = words & set(found) - wanted
        wanted |= new
        todo += [found[n] for n in new if found[n].endswith(".sh")]
    return {n: p for n, p in found.items() if n in wanted}


def initramfs(name, mods, extra=(), bootconfig=""):
    """Writes the archive of one guest and returns its path.

    mods are paths of modules, extra is a list of (name in the guest, path).
    """
    os.makedirs(OUT, exist_ok=True)
    a = Archive()
    for d in ("dev", "proc", "sys", "tmp", "run", "mnt", "root", "modules"):
        a.directory(d)
    a.node("dev/console", 0o600, 5, 1)
    a.node("dev/null", 0o666, 1, 3)
    box = busybox()
    a.file("bin/busybox", box, 0o755)
    # ask the host's busybox: the host may not run a foreign one, which has the same applets
    for applet in subprocess.run([host_busybox(), "--list"], capture_output=True,
                                 text=True, check=True).stdout.split():
        if applet != "busybox":
            a.symlink("bin/" + applet, "busybox")
    a.data("etc/passwd", b"root::0:0:root:/root:/bin/sh\n"
                         b"nobody:x:65534:65534:nobody:/tmp:/bin/sh\n")
    a.data("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    for prog, path in helpers(extra).items():
        a.file("init" if prog == "init" else "qt/bin/" + prog, path, 0o755)
    a.file("qt/lib.sh", os.path.join(HERE, "boot", "lib.sh"))
    a.file("etc/profile", os.path.join(HERE, "boot", "profile"))
    for path in mods:
        a.file("modules/" + os.path.basename(path), path)
    for target, path in extra:
        a.file(target, path, 0o755)
    path = os.path.join(OUT, name + ".initramfs")
    a.write(path)
    if bootconfig:
        add_bootconfig(path, bootconfig)
    return path


def mke2fs():
    """The path of mke2fs, which is not in the PATH of every user."""
    path = shutil.which("mke2fs") or shutil.which("mke2fs", path="/sbin:/usr/sbin")
    if not path:
        raise Failure("no mke2fs: install e2fsprogs")
    return path


def disk(name, size, options=(), damage=""):
    """An empty ext4 of the given size in a sparse file.

    damage is OFFSET=HEX ...: bytes to write after mke2fs.
    """
    path = os.path.join(OUT, name + ".disk")
    if os.path.exists(path):
        os.unlink(path)
    quiet_command([mke2fs(), "-q", "-F", "-t", "ext4", *options, path, size],
                  path + ".log")
    for word in damage.split():
        offset, _, data = word.partition("=")
        with open(path, "r+b") as f:
            f.seek(int(offset, 0))
            f.write(bytes.fromhex(data))
    return path


# The guest

def die_with_parent():
    """In the child: qemu ends with its runner, even if kill -9 ends the runner."""
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)


def qemu_argv(image, initrd, append, memory="512M", cpus=2, drive=None,
              extra=()):
    """The command line, without the serial ports."""
    # One host thread for all CPUs of the guest: with a thread for each CPU, qemu
    # before 8.1 may run a stale int3 while another CPU patches a jump label, which
    # kills the guest.  Guests run in parallel instead, see run -j.  -icount needs TCG.
    accel = "tcg" if "-icount" in extra else os.environ.get("ACCEL", "tcg")
    if accel == "tcg":
        accel = "tcg,thread=single"
    qemu = shutil.which(QEMU.get(ARCH, "qemu-system-" + ARCH))
    if not qemu:
        raise Failure("no %s: run `make setup-%s`" % (QEMU.get(ARCH, "qemu-system-" + ARCH),
                                                      ARCH if CROSS[ARCH] else "demo"))
    argv = [qemu, *MACHINE.get(ARCH, ()), "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-accel", accel,
            "-cpu", "host" if accel.startswith("kvm") else CPU.get(ARCH, "max"),
            "-m", memory, "-smp", str(cpus), "-nic", "none",
            "-kernel", image, "-initrd", initrd, "-append", append]
    if drive:
        argv += ["-drive", "file=%s,if=virtio,format=raw,cache=unsafe" % drive]
    return argv + list(extra)


def text_of(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


class Outcome:
    """How one boot ended, with a copy of its output: the files may be reused."""

    def __init__(self, name):
        self.console_path = os.path.join(OUT, name + ".console")
        self.ktap_path = os.path.join(OUT, name + ".ktap")
        self.console = []	# lines
        self.ktap = ""
        self.seconds = 0.0
        self.ended = ""		# "" if regular, "timeout", "reset", "qemu: ..." or from until()
        self.code = None	# the command's exit code

    def collect(self):
        self.ktap = text_of(self.ktap_path)
        self.console = [l.rstrip() for l in
                        text_of(self.console_path).split("\n")]

    def tail(self):
        lines = [l for l in self.console if l]
        return lines[-LAST_LINES:]


class Follower:
    """Passes the lines of a growing file to a function."""

    def __init__(self, path, to):
        self.file = open(path, errors="replace")
        self.to = to
        self.rest = ""

    def step(self):
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        for line in lines:
            self.to(line.rstrip("\r"))


def watch(proc, deadline, follower, until=None):
    """Waits for the end of the process (""), or returns why it is not waited for any longer.

    until is a function that returns such a reason, or "".
    """
    while True:
        try:
            proc.wait(0.1 if follower or until else
                      max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        if follower:
            follower.step()
        if proc.returncode is not None:
            return ""
        if time.monotonic() >= deadline:
            return "timeout"
        why = until() if until else ""
        if why:
            return why


def console_of():
    """The parameters of the kernel for the ports."""
    console, results = PORTS.get(ARCH, ("ttyS0", ""))
    if not results:
        return "console=ttyS0,115200 earlyprintk=serial,ttyS0,115200 "
    return "console=%s qt.tty=%s " % (console, results)


def serial_ports(console, results):
    """The arguments for qemu.  The ports are connected to console and results, which are
    written as for -serial.

    A machine with one port of its own has the second one on PCI.
    """
    if ARCH not in PORTS:
        return ["-serial", console, "-serial", results]
    return ["-serial", console, "-serial", results, "-device", "pci-serial,chardev=serial1"]


def monitor_ports():
    """A third serial port that is connected to qemu's monitor.

    Through it a test plugs in memory or inflates the balloon of its own guest.  Returns
    the two ends of the connection and the arguments for qemu.
    """
    ends = socket.socketpair()
    port = ["-device", "pci-serial,chardev=port"] if ARCH in PORTS else ["-serial", "chardev:port"]
    return ends, ["-chardev", "socket,id=port,fd=%d" % ends[0].fileno(), *port,
                  "-chardev", "socket,id=mon,fd=%d" % ends[1].fileno(),
                  "-mon", "chardev=mon,mode=readline"]


def boot(name, image, initrd, append="", timeout=60, stream=None,
         monitor=False, until=None, **machine):
    """Boots, waits for the end or the time-out, returns an Outcome.

    stream is a function that gets each line of the results as it comes; until is asked ten
    times a second, and ends the guest by returning a reason; with monitor set, the guest has
    qemu's monitor at its last serial port (see lib.sh).
    """
    out = Outcome(name)
    argv = qemu_argv(image, initrd, console_of() + APPEND + " " + append, **machine)
    argv += serial_ports("file:" + out.console_path, "file:" + out.ktap_path)
    ends, more = monitor_ports() if monitor else ((), [])
    return execute(out, argv + more, timeout, stream, ends, until)


def execute(out, argv, timeout, stream=None, ends=(), until=None):
    """Runs qemu until its end or the time-out, and fills in the Outcome.

    argv connects the serial ports with the files of the Outcome; ends are sockets that qemu
    inherits.  If qemu has already run for this Outcome, its output is appended, and the time-out
    covers all runs together.
    """
    for path in (out.console_path, out.ktap_path):
        with open(path, "a" if out.seconds else "w"):
            pass
    timeout *= float(os.environ.get("TIMEOUT_SCALE", "1"))
    follower = Follower(out.ktap_path, stream) if stream else None
    errors = out.ktap_path.removesuffix(".ktap") + ".qemu"
    start = time.monotonic()
    with open(errors, "w") as err:
        proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=err,
                                stderr=err, preexec_fn=die_with_parent,
                                pass_fds=[e.fileno() for e in ends])
    for end in ends:
        end.close()
    try:
        out.ended = watch(proc, start + timeout - out.seconds, follower, until)
    finally:
        if proc.poll() is None:
            proc.kill()
            proc.wait()
    if not out.ended and proc.returncode:
        out.ended = "qemu: " + (text_of(errors).strip() or
                                "exit code %d" % proc.returncode)
    os.unlink(errors)
    out.seconds += time.monotonic() - start
    out.collect()
    found = re.search(r"^# qt: exit (\d+)\s*$", out.ktap, re.M)
    if found:
        out.code = int(found.group(1))
    elif not out.ended:
        out.ended = "reset"
    return out


# The verdict

class Case:
    def __init__(self, name, state, reason=""):
        self.name, self.state, self.reason = name, state, reason


def read_ktap(text):
    """The cases of a result file, and the planned number of cases or None."""
    plan, cases, notes = None, [], []
    for line in text.splitlines():
        line = line.rstrip()
        m = re.match(r"1\.\.(\d+)$", line)
        if m:
            plan = int(m.group(1))
            continue
        m = re.match(r"(not )?ok (\d+)(?: -)? (\S+)(?: # *(.*))?$", line)
        if m:
            bad, _, name, rest = m.groups()
            rest = rest or ""
            if rest.upper().startswith("SKIP"):
                cases.append(Case(name, "skip", rest[4:].strip()))
            elif bad:
                cases.append(Case(name, "not ok",
                                  rest or "; ".join(notes[-3:])))
            else:
                cases.append(Case(name, "ok"))
            notes = []
        elif line.startswith("# "):
            notes.append(line[2:])
    return cases, plan


# KCSAN finds these in the base: the clock for NMIs, whose readers retry after a write; a flag
# of an idle CPU, which its own interrupt writes; jiffies; marks of a tree that is walked
# without its lock; and a dentry that is freed during a walk, which its sequence number reveals.
RACES_OF_THE_BASE = re.compile(
    r"KCSAN: data-race in (?:ktime_get_mono_fast_ns / timekeeping_update|"
    r"tick_irq_enter / tick_nohz_idle_got_tick|xas_clear_mark / xas_find_marked|"
    r"__mem_cgroup_flush_stats / tick_do_update_jiffies64|__dentry_kill / lookup_fast)$")


def splats(lines, expected):
    """Console lines that fail a test, and expectations that are not met.

    An expectation is a regexp of a line that must come, or ! and a regexp of a line
    that must not come.
    """
    wanted = [re.compile(e) for e in expected if not e.startswith("!")]
    bad = [l for l in lines
           if SPLAT.search(l) and not RACES_OF_THE_BASE.search(l) and
           not any(p.search(l) for p in wanted)]
    unmet = [e for e in expected
             if any(re.search(e.removeprefix("!"), l) for l in lines) ==
             e.startswith("!")]
    return bad, unmet


def judge_death(outcome, expected):
    """The cases of a kernel that must panic: a case for each expectation; no splat before."""
    before = []
    for line in outcome.console:
        if "Kernel panic" in line:
            break
        before.append(line)
    wrong, _ = splats(before, expected)
    _, unmet = splats(outcome.console, expected)
    verdict = [Case("console:" + e.replace(" ", "_"),
                    "not ok" if e in unmet else "ok") for e in expected]
    if outcome.ended != "reset":
        verdict.append(Case("end", "not ok", outcome.ended or "no panic"))
    if wrong:
        verdict.append(Case("console", "not ok", wrong[0]))
    return verdict


def judge(outcome, expected=(), dies=False):
    """All cases of a boot; a failure of the guest itself is a case, too."""
    if dies:
        return judge_death(outcome, expected)
    cases, plan = read_ktap(outcome.ktap)
    verdict = list(cases)

    def bad(name, reason):
        verdict.append(Case(name, "not ok", reason))

    if outcome.ended == "timeout":
        bad("end", "still running after %.0f s" % outcome.seconds)
    elif outcome.ended == "reset":
        bad("end", "the guest reset or died before its last line")
    elif outcome.ended:
        bad("end", outcome.ended)
    elif outcome.code and not any(c.state == "not ok" for c in cases):
        bad("end", "exit code %d" % outcome.code)
    if plan is None:
        bad("plan", "no plan in the results")
    elif len(cases) != plan:
        bad("plan", "%d results of %d planned" % (len(cases), plan))
    elif not plan:
        bad("plan", "a plan of no cases")
    wrong, unmet = splats(outcome.console, expected)
    if wrong:
        bad("console", wrong[0])
    for pattern in unmet:
        bad("console", "the console %s: %s" % (
            "said" if pattern.startswith("!") else "never said", pattern))
    return verdict


def report(name, outcome, expected=(), label="", dies=False, group="qemu"):
    """Prints a line for each case and, after a failure, the end of the console.

    Returns 1 if anything failed.
    """
    verdict = judge(outcome, expected, dies)
    failed = 0
    lines = []
    for c in verdict:
        line = "%s %s: %s: %s" % (c.state, group, label or name, c.name)
        if c.state == "not ok":
            failed = 1
        if c.reason:
            line += " # " + c.reason
        lines.append(line)
    if failed:
        lines.append("# last lines of %s:" %
                     os.path.relpath(outcome.console_path, ROOT))
        lines += ["#   " + l for l in outcome.tail()]
    lines.append("# took: %s: %s: %d s" % (group, label or name, outcome.seconds))
    say("\n".join(lines))
    return failed
