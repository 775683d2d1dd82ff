# SPDX-License-Identifier: GPL-2.0-only
"""Measure nanoseconds in User Mode Linux, with alloc_cost.c built in.

UML's user space does not run on every host, so no program can load a module.
alloc_cost.c is therefore linked into the kernel, runs as its last initcall and halts
it.  The sources do not change: the kernel is built from a copy of the tree, made of
hard links, that has this file and one more line in lib/Makefile.
"""

import re
import subprocess

from . import kbuild
from .util import BUILD, TOP, fail, lock, make_source, write_if_changed

SOURCE = TOP / "qemu-test" / "modules" / "alloc_cost.c"
LINE_RE = re.compile(r"alloc_cost: (\S+) (\d+)")
TIMEOUT = 120


def tree_with_bench(tree):
    """Make build/um-NAME, the tree with alloc_cost.c; return its path."""
    copy = BUILD / f"um-{tree.name}"
    argv = ["rsync", "-a", "--delete", "--exclude=/.git", "--exclude=/lib/Makefile",
            f"--exclude=/lib/{SOURCE.name}", f"--link-dest={tree}", f"{tree}/", f"{copy}/"]
    if subprocess.run(argv, check=False).returncode:
        fail(f"cannot copy {tree} to {copy}")
    write_if_changed(copy / "lib" / "Makefile",
                     (tree / "lib" / "Makefile").read_text() + f"\nobj-y += {SOURCE.stem}.o\n")
    write_if_changed(copy / "lib" / SOURCE.name, SOURCE.read_text())
    return copy


def build(config):
    """Build build/um/CONFIG/linux from the fragments of that name."""
    files, tree, out = kbuild.fragments(config), kbuild.source_of(config), kbuild.out_dir("um", config)
    make_source(tree)
    with lock("source", shared=True), lock(f"um-{tree.name}"), lock(f"um-{config}"):
        copy = tree_with_bench(tree)
        log = kbuild.log_file(f"kernel-um-{config}")
        kbuild.configure(copy, out, "um", files, log)
        kbuild.build(copy, out, "um", f"kernel um/{config}", log, ("linux",))


def run_once(config, append):
    """The console output of one boot.

    UML is several processes.  timeout(1) ends all of them, even if this program is gone.
    """
    argv = ["timeout", "-s", "KILL", str(TIMEOUT), str(kbuild.out_dir("um", config) / "linux"), "mem=512M", "console=tty",
            *append]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode in (-9, 137):
        fail(f"um/{config} did not halt within {TIMEOUT} s")
    return done.stdout


def measure(config, append):
    """case -> nanoseconds, from one boot."""
    if not (kbuild.out_dir("um", config) / "linux").exists():
        fail(f"no build/um/{config}/linux; run without --no-build")
    text = run_once(config, append)
    found = LINE_RE.findall(text)
    if not found:
        fail("\n  ".join([f"um/{config} printed no figures", *text.splitlines()[-12:]]))
    # 7.3 gives up if a packed reference does not fit into the page flags
    if "profiling is disabled!" in text and not any(word.endswith("=never") for word in append):
        fail(f"um/{config} has switched profiling off: {' '.join(append)}")
    return {case: int(took) / 1000 for case, took in found}
