# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of real hosts: guests that run a workload under `allocinfo record`.

A fleet that is updated has two kernels, and each of them runs two workloads.  The new
kernel has a module that leaks at one call site.
"""

import concurrent.futures
import os
import shutil

from boot import guest
from measure import icount

FOLDER = os.path.join(guest.ROOT, "build", "fleet")
INTERVAL = 15           # seconds between two snapshots
LEAK = 32768            # bytes a second
LEAKS = "leaky_request"     # the function of ctag_leak that leaks
WORKLOADS = ("files", "network")
KERNELS = {"old": "default", "new": "newest"}


def names():
    return [f"{age}-{load}" for age in KERNELS for load in WORKLOADS]


def path_of(name, folder=FOLDER):
    return os.path.join(folder, name + ".snaps")


class Length:
    """How long to record, and how much the new kernel leaks meanwhile."""

    def __init__(self, minutes, interval=INTERVAL, leak=LEAK):
        self.snaps, self.interval, self.leak = int(minutes * 60 / interval), interval, leak


def record(name, length, folder):
    """Boots the guest of a recording and fetches the snapshots from its disk."""
    age, load = name.split("-")
    config, leak = KERNELS[age], length.leak if age == "new" else 0
    run = "fleet-" + name
    script = os.path.join(guest.HERE, "fleet", "host.sh")
    modules = [leaking_module(config)] if leak else []
    with guest.claim(run):
        initrd = guest.initramfs(run, modules, [("qt/test.sh", script), *icount.program("allocinfo")])
        drive = guest.disk(run, "192M")
        out = guest.boot(run, guest.kernel_image(config), initrd,
                         "qt.run=/qt/test.sh sysctl.vm.mem_profiling=1 "
                         f"fleet.load={load} fleet.snaps={length.snaps} "
                         f"fleet.interval={length.interval} fleet.leak={leak}",
                         timeout=length.snaps * length.interval + 300, drive=drive)
        # mainline may warn on its console: that is no matter of a recording
        if out.ended or out.code:
            raise guest.Failure(f"no recording {name}: {out.ended or 'allocinfo failed'}; "
                                f"see {out.console_path}")
        guest.say(f"# took: fleet: {run}: {out.seconds:.0f} s")
        fetch(drive, path_of(name, folder))
        os.unlink(initrd)
        os.unlink(drive)


def leaking_module(config):
    return guest.modules(config, ["ctag_leak"])["ctag_leak"]


def fetch(drive, path):
    """Copies the file snaps from the ext4 of a guest, without mounting it."""
    tool = shutil.which("debugfs") or shutil.which("debugfs", path="/sbin:/usr/sbin")
    if not tool:
        raise guest.Failure("no debugfs: install e2fsprogs")
    if os.path.exists(path):
        os.unlink(path)
    guest.quiet_command([tool, "-R", f"dump /snaps {path}", drive], path + ".log")
    if not os.path.exists(path) or not os.path.getsize(path):
        raise guest.Failure(f"{drive} has no snapshots: see {path}.log")


def record_all(wanted, length, jobs, folder=FOLDER):
    os.makedirs(folder, exist_ok=True)
    for name in wanted:
        guest.need_kernel(KERNELS[name.split("-")[0]], False)
    guest.programs()
    leaking_module(KERNELS["new"])      # now, because it can fail
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda name: record(name, length, folder), wanted))
