# SPDX-License-Identifier: GPL-2.0-only
"""Guests whose clock counts instructions.

Under -icount with shift=0 a cycle of the guest is one of its instructions, and the
host has no influence: no clock, no random numbers, one CPU.  The same kernel gives
the same figures in every run.  Used by qemu-test/cost, the quick table, and
scripts/bench, the whole comparison.
"""

import gzip
import os
import re
import shutil
import statistics
import subprocess

from boot import guest

SAME_EACH_TIME = ("-rtc", "base=2024-01-01,clock=vm", "-seed", "1")
APPEND = "qt.run=/qt/test.sh nokaslr norandmaps "

PROFILING = "sysctl.vm.mem_profiling="

MICRO = """\
cat > /tmp/setup <<'END'
%s
END
insmod /modules/alloc_cost.ko setup=/tmp/setup 2> /dev/null; true
"""
# the CPU of the other guests, "max", has LSE
CPU_WITHOUT_LSE = ("-cpu", "cortex-a57")
LSE_LINE = "detected: LSE atomic instructions"
MICRO_LINE = re.compile(r"alloc_cost: (\S+) (\d+)")

WAITS = """\
%s
insmod /modules/wait_cost.ko 2> /dev/null; true
"""
WAITS_LINE = re.compile(r"wait_cost: (\S+) (\d+)")


def run(name, config, script, mode=None, mods=(), timeout=600, extra=(), append="", qemu=()):
    """Boots a kernel that is built already; returns its Outcome.

    mode is the value of vm.mem_profiling at boot, None for a kernel without profiling.
    append are more boot parameters, qemu more arguments of the emulator.
    """
    append = APPEND + (PROFILING + mode + " " if mode else "") + append
    with guest.claim(name):
        path = os.path.join(guest.OUT, name + ".sh")
        with open(path, "w") as f:
            f.write(script)
        initrd = guest.initramfs(name, mods,
                                 [("qt/test.sh", path), *extra])
        out = guest.boot(name, guest.kernel_image(config), initrd, append,
                         timeout=timeout, cpus=1,
                         extra=(*guest.ICOUNT, *SAME_EACH_TIME, *qemu))
    if out.ended:
        raise guest.Failure("%s: %s; see %s" %
                            (name, out.ended, out.console_path))
    # 7.3 gives up if a packed reference does not fit into the page flags
    if mode != "never" and any("profiling is disabled!" in line for line in out.console):
        raise guest.Failure("%s: the kernel has switched profiling off" % name)
    return out


def micro(label, config, mode, setup="", append="", lse=None):
    """The figures of alloc_cost in one kernel; case -> instructions.

    setup is a shell command for the guest, which runs once the module's tags exist.  On arm64,
    lse chooses a CPU with (True) or without (False) the atomic instructions of LSE; it is a
    failure if the kernel says otherwise.  None, for x86_64: no choice and no check.
    """
    mods = guest.modules(config, ["alloc_cost"])
    qemu = ()
    if lse is False:
        label, qemu = label + ", no LSE", CPU_WITHOUT_LSE
    out = run("cost." + label, config, MICRO % setup, mode, [mods["alloc_cost"]], append=append, qemu=qemu)
    if lse is not None and lse != any(LSE_LINE in line for line in out.console):
        raise guest.Failure("%s: the kernel %s; see %s" % (
            label, "does not use LSE" if lse else "uses LSE, which the CPU should not have", out.console_path))
    found = dict(MICRO_LINE.findall("\n".join(out.console)))
    if not found:
        raise guest.Failure("%s: no figures; see %s" % (label, out.console_path))
    return {case: int(n) for case, n in found.items()}


def waits(label, config, mode, setup="", append=""):
    """The figures of wait_cost in one kernel; case -> instructions.

    setup is a shell command for the guest, which runs before the measurement.
    """
    mods = guest.modules(config, ["wait_cost"])
    out = run("waits." + label, config, WAITS % setup, mode, [mods["wait_cost"]], append=append)
    found = dict(WAITS_LINE.findall("\n".join(out.console)))
    if not found:
        raise guest.Failure("%s: no figures; see %s" % (label, out.console_path))
    return {case: int(n) for case, n in found.items()}


# Workloads and reads: programs in the guest that print lines

# hackbench runs under SCHED_FIFO: the number of switches of fair scheduling depends on
# its clock, and changes the figure by a third.
MACRO = [
    # name, whether it runs on the ext4, arguments of helpers/macro.c
    ("fork+exec", False, "forks 200"),
    ("ext4 create+unlink", True, "files 2000"),
    ("stat+open", False, "paths 3000"),
    ("tcp ping-pong", False, "tcp 3000"),
    ("hackbench", False, "fifo hackbench -g 2 -l 30"),
    ("find, cold", True, "cold busybox find tree -type f -size +9"),
]
ROUNDS = 9
MACRO_LINE = re.compile(r"^macro: (.*) (\d+)$", re.M)

UUID = "c0de7a60-0000-4000-8000-000000000001"

# The file system is on a loop device on tmpfs: another thread of the host serves a virtio
# disk, at unpredictable times.
MACRO_SCRIPT = """\
set -e
exec 2>&1
ip link set lo up
echo -1 > /proc/sys/kernel/sched_rt_runtime_us
mkdir -p /mnt/x
gunzip -c /qt/disk.gz > /tmp/disk
mount -o loop,noatime,commit=1000 /tmp/disk /mnt/x
cd /mnt/x
for d in $(seq 100); do
	mkdir -p tree/$d/sub
	for f in $(seq 15); do : > tree/$d/$f; : > tree/$d/sub/$f; done
done
"""

# The same number of objects in every kernel, most of them slab objects.
READ_SCRIPT = """\
slab()
{
	awk -v when="$1" '/^nr_slab_/ { n += $2 }
		END { print "slab: " when " " n }' /proc/vmstat
}
slab boot
mkdir /tmp/many
cd /tmp/many
seq 20000 | xargs -n 500 touch
slab files
[ ! -e /proc/allocinfo ] || /qt/bin/allocinfo_cost
"""

MEMORY_SCRIPT = """\
awk '{ print "memory: " $1 " " $2 }' /proc/meminfo
"""
MEMORY_LINE = re.compile(r"^memory: (\w+): (\d+)$", re.M)
SLAB_LINE = re.compile(r"^slab: (\S+) (\d+)$", re.M)
READ_LINE = re.compile(r"^read: (\S+) (\d+)(?: (\d+))?$", re.M)


def program(name):
    """A program, ours or the host's, and its libraries, as files of a guest."""
    path = guest.tool(name)
    if not path and guest.CROSS[guest.ARCH]:
        raise guest.Failure("no %s for %s" % (name, guest.ARCH))
    path = path or shutil.which(name) or shutil.which(name, path="/sbin:/usr/sbin")
    if not path:
        raise guest.Failure("no %s: run `make setup`" % name)
    return [("bin/" + name, path), *guest.libraries(path)]


def prepare(todo):
    """Builds the files that all guests use, before they run in parallel."""
    guest.programs()
    for config in {config for _, config, _ in todo}:
        guest.modules(config, ["alloc_cost"])


def ext4():
    """An empty file system without background work, compressed.

    Its directories hash in the same way in every run.
    """
    with guest.claim("macro"):
        path = guest.disk("macro", "48M", [
            "-J", "size=8", "-N", "8192", "-U", UUID,
            "-E", "lazy_itable_init=0,lazy_journal_init=0,hash_seed=" + UUID])
        packed = path + ".gz"
        with open(path, "rb") as f, gzip.GzipFile(packed + ".tmp", "wb", 1) as z:
            shutil.copyfileobj(f, z)
        os.rename(packed + ".tmp", packed)
    return packed


def macro_guest(name, config, mode, rounds, mods=(), **how):
    """Runs the workloads in one kernel; returns its Outcome.

    mods are the modules that the kernel needs for a loop device, how more arguments of run().
    """
    script = "".join("insmod /modules/%s\n" % os.path.basename(m) for m in mods)
    script += MACRO_SCRIPT + "".join(
        "cd %s; /qt/bin/macro '%s' %d %s\n" %
        ("/mnt/x" if disk else "/tmp", workload, rounds, args)
        for workload, disk, args in MACRO)
    return run(name, config, script, mode, mods,
               extra=[("qt/disk.gz", ext4()), *program("hackbench")], **how)


def macro(label, config, mode, rounds=ROUNDS, mods=()):
    """The workloads in one kernel; name -> instructions, the median round."""
    out = macro_guest("macro." + label, config, mode, rounds, mods)
    found = {name: [] for name, _, _ in MACRO}
    for name, n in MACRO_LINE.findall(out.ktap):
        found[name].append(int(n))
    short = [name for name in found if len(found[name]) != rounds]
    if short or out.code:
        raise guest.Failure("%s: no figures for %s; see %s" % (
            label, ", ".join(short), out.ktap_path))
    return {name: statistics.median_low(n) for name, n in found.items()}


def read(label, config, mode):
    """Slab pages and the cost of /proc/allocinfo; name -> number."""
    out = run("read." + label, config, READ_SCRIPT, mode)
    slab = {when: int(n) for when, n in SLAB_LINE.findall(out.ktap)}
    if out.code or "files" not in slab:
        raise guest.Failure("%s: no figures; see %s" % (label, out.ktap_path))
    found = {"slab pages, boot": slab["boot"],
             "slab pages, 20000 files": slab["files"] - slab["boot"]}
    for way, cost, records in READ_LINE.findall(out.ktap):
        found["read " + way] = int(cost)
        if way != "text-4k":
            found["records " + way] = int(records)
    return found


def memory(label, config, mode):
    """Kilobytes of the guest's memory that are not free; name -> number."""
    out = run("memory." + label, config, MEMORY_SCRIPT, mode)
    found = {name: int(n) for name, n in MEMORY_LINE.findall(out.ktap)}
    if out.code or "MemFree" not in found:
        raise guest.Failure("%s: no figures; see %s" % (label, out.ktap_path))
    return {"kernel and its tables": 512 * 1024 - found["MemTotal"],
            "used after boot": 512 * 1024 - found["MemFree"]}
