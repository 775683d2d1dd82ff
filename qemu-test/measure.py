# SPDX-License-Identifier: GPL-2.0-only
"""Guests whose clock counts instructions.

Under -icount with shift=0 a cycle of the guest is an instruction of it, and
nothing of the host gets in: no clock, no random numbers, one CPU.  The same
kernel gives the same figures in every run.  Shared by qemu-test/cost, the quick
table, and scripts/bench, the whole comparison.
"""

import os
import re

import bench

ICOUNT = ("-icount", "shift=0,align=off,sleep=off",
          "-rtc", "base=2024-01-01,clock=vm", "-seed", "1")
APPEND = "qt.run=/qt/test.sh nokaslr norandmaps "

PROFILING = "sysctl.vm.mem_profiling="

MICRO = "insmod /modules/alloc_cost.ko 2> /dev/null; true\n"
MICRO_LINE = re.compile(r"alloc_cost: (\S+) (\d+)")


def run(name, config, script, mode=None, mods=(), timeout=120, extra=()):
    """One boot of a kernel that is built; its Outcome.

    mode is what vm.mem_profiling is at boot, None for a kernel without.
    """
    append = APPEND + (PROFILING + mode if mode else "")
    with bench.claim(name):
        path = os.path.join(bench.OUT, name + ".sh")
        with open(path, "w") as f:
            f.write(script)
        initrd = bench.initramfs(name, mods,
                                 [("qt/test.sh", path), *extra])
        out = bench.boot(name, bench.kernel_image(config), initrd, append,
                         timeout=timeout, cpus=1, extra=ICOUNT)
    if out.ended:
        raise bench.Failure("%s: %s; see %s" %
                            (name, out.ended, out.console_path))
    return out


def micro(label, config, mode):
    """What alloc_cost finds in one kernel; case -> instructions."""
    mods = bench.modules(config, ["alloc_cost"])
    out = run("cost." + label, config, MICRO, mode, [mods["alloc_cost"]])
    found = dict(MICRO_LINE.findall("\n".join(out.console)))
    if not found:
        raise bench.Failure("%s: no figures; see %s" % (label, out.console_path))
    return {case: int(n) for case, n in found.items()}
