# SPDX-License-Identifier: GPL-2.0-only
"""The machine of the Debian guest: UEFI, disks, and a person at the console."""

import os
import re
import shutil
import threading
import time

from boot import guest
import image

OVMF = "/usr/share/OVMF"
# code and variables; "secure" has the keys of Microsoft enrolled, and its code is in system
# management mode, where the kernel cannot change them
FIRMWARE = {"plain": ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"),
            "secure": ("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd")}
KEYS = {"enter": "\r", "down": "\033[B", "up": "\033[A", "space": " "}


def firmware(kind, variables):
    """Arguments for qemu; the variables of this guest are in a file of its own."""
    code, empty = (os.path.join(OVMF, name) for name in FIRMWARE[kind])
    if not os.path.exists(code):
        raise guest.Failure("no %s: install ovmf" % code)
    shutil.copyfile(empty, variables)
    argv = ["-drive", "if=pflash,unit=0,format=raw,readonly=on,file=" + code,
            "-drive", "if=pflash,unit=1,format=raw,file=" + variables]
    if kind == "secure":
        argv += ["-global", "driver=cfi.pflash01,property=secure,value=on"]
    return argv


def block(path, kind, name, *options):
    """A virtio disk, which the guest finds at /dev/disk/by-id/virtio-NAME."""
    return ["-drive", ",".join(["if=none", "id=" + name, "format=" + kind, "cache=unsafe",
                                "file=" + path, *options]),
            "-device", "virtio-blk-pci,drive=%s,serial=%s" % (name, name)]


def qemu_argv(case):
    """The command line without firmware, disks and serial ports.

    One host thread for all CPUs of the guest: see guest.qemu_argv().  Without la57, the
    kernel uses page tables of four levels, as on most machines.
    """
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise guest.Failure("no qemu-system-x86_64: install qemu-system-x86")
    return [qemu, "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot",
            "-machine", "q35,smm=" + ("on" if case.firmware == "secure" else "off"),
            "-accel", "tcg,thread=single", "-cpu", "max,la57=off", "-m", case.memory, "-smp", "2",
            "-device", "virtio-rng-pci"]


class Typist(threading.Thread):
    """Waits for lines in the log of the console, and types keys after each.

    keyboard is the file descriptor that takes the keys.
    """

    def __init__(self, steps, path, keyboard):
        super().__init__(daemon=True)
        self.steps = [step.partition(" => ")[::2] for step in steps]
        self.path = path
        self.keyboard = keyboard
        self.done = False

    def run(self):
        seen = 0
        for pattern, keys in self.steps:
            found = None
            while not found:
                time.sleep(0.5)
                if self.done:
                    return
                text = guest.text_of(self.path)
                found = re.compile(pattern).search(text, seen)
            seen = found.end()
            time.sleep(2)	# the program prints before it reads
            for key in keys.split():
                os.write(self.keyboard, KEYS.get(key, key).encode())
                time.sleep(1)


class Console:
    """A first serial port whose output goes to a file and whose input is a pipe.

    qemu logs only what the output of the character device accepts.  If nobody reads a socket, it
    accepts 279 single bytes, and qemu drops the rest.  Once, the question of MokManager was lost this
    way.  So the output is /dev/null, which accepts everything.
    """

    def __init__(self, path, pipe):
        self.pipe = pipe
        self.remove()
        open(path, "w").close()	# the typist must not find the lines of an older run
        os.mkfifo(pipe + ".in")
        os.symlink(os.devnull, pipe + ".out")
        # With O_WRONLY, open() would wait until qemu opens the FIFO.
        self.keyboard = os.open(pipe + ".in", os.O_RDWR)
        self.argv = ["-chardev", "pipe,id=console,path=%s,logappend=on,logfile=%s" % (pipe, path),
                     "-serial", "chardev:console"]

    def remove(self):
        """Removes the pipe of this run, or of one that was killed."""
        for end in (".in", ".out"):
            if os.path.lexists(self.pipe + end):
                os.unlink(self.pipe + end)


def powered_off(out):
    """Did the kernel power off?  Without its last result, this looks like a reset."""
    return any("reboot: Power down" in line for line in out.tail()[-3:])


def announced(out, case):
    """The number of resets that the guest has announced, or that the case knows."""
    return int(case.resets) + len(re.findall("^# qt: reset", out.ktap, re.M))


def boot(name, disk, transport, case):
    """Runs the guest until it powers off or exceeds its time; returns an Outcome.

    qemu exits when the guest resets, and this function starts it again.  When qemu 7.2 went on
    after a reset, the guest hung twice.  A debugger showed the second CPU halted, and the first
    CPU in the firmware, which waits for all CPUs.  After the debugger had stopped and resumed
    all CPUs, the guest continued.

    The guest writes a line to its results before each reset.  A reset without that line is a failure.  The
    key "resets" of a case allows some: MokManager resets the machine before a kernel runs.
    """
    out = guest.Outcome(name)
    variables = os.path.join(image.DIR, name + ".vars")
    argv = qemu_argv(case) + firmware(case.firmware, variables)
    argv += block(disk, "qcow2", "root", "discard=unmap")
    argv += block(transport, "raw", "qt", "readonly=on")
    if case.out:
        make_out(case)
        argv += block(out_path(case), "raw", "out")
    results = ["-chardev", "file,id=results,append=on,path=" + out.ktap_path, "-serial", "chardev:results"]
    console = Console(out.console_path, os.path.join(image.DIR, name + ".console"))
    typist = Typist(case.several["type"], out.console_path, console.keyboard)
    resets = 0
    typist.start()
    try:
        while not out.seconds or out.ended == "reset" and not powered_off(out) and resets <= announced(out, case):
            guest.execute(out, argv + console.argv + results, float(case.timeout))
            resets += 1
    finally:
        typist.done = True
        typist.join()
        os.close(console.keyboard)
        console.remove()
        os.unlink(variables)
    return out


def out_path(case):
    """The disk that a guest writes its output to."""
    return os.path.join(image.DIR, case.name + ".out")


def make_out(case):
    with open(out_path(case), "wb") as f:
        f.truncate(int(case.out[:-1]) << {"M": 20, "G": 30}[case.out[-1]])
