# SPDX-License-Identifier: GPL-2.0-only
"""The guests of the hunt: what they get, and what their output becomes."""

import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from boot import guest
from hunt import results
from kit import util
from measure import icount

HERE = Path(__file__).resolve().parent
WORKLOADS = HERE / "workloads"
SWEEP = "module-"
BATCH = 20          # modules of one guest
KEYS = ("programs", "files", "modules", "disk", "memory", "append", "devices")
CONFIG = "hunt"
# fail-nth of the sweep decides about the points of a module, which exist while it is loaded
NTH = 'dynamic_faults="class memory probability 0 task faulted"'
# the modules of all configurations are in the archive, and unpacked in memory; KASAN takes an eighth
MEMORY = "2G"
APPEND = "qt.run=/qt/test.sh sysctl.vm.mem_profiling=1 kasan_multi_shot panic_on_warn=0 "


def use(config):
    global CONFIG
    CONFIG = config


def out_dir():
    return Path(guest.kernel_dir(CONFIG))


# Modules of the kernel

def kernel_modules():
    """{name as in /proc/modules: path of the .ko below the build directory}"""
    order = out_dir() / "modules.order"
    if not order.exists():
        return {}
    paths = [re.sub(r"\.o$", ".ko", line.strip()) for line in order.read_text().splitlines() if line.strip()]
    return {Path(p).stem.replace("-", "_"): p for p in paths}


def module_tree():
    """The modules as they are installed, without debug information; returns that folder."""
    release = (out_dir() / "include" / "config" / "kernel.release").read_text().strip()
    where = util.BUILD / "hunt.modules" / out_dir().name
    tree = where / "lib" / "modules" / release
    with guest.claim("hunt.modules"):
        order = out_dir() / "modules.order"
        if (tree / "modules.dep").exists() and \
                (tree / "modules.dep").stat().st_mtime > max(order.stat().st_mtime, newest_module()):
            return where
        shutil.rmtree(where, ignore_errors=True)
        for path in kernel_modules().values():
            target = tree / "kernel" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["strip", "--strip-debug", "-o", str(target), str(out_dir() / path)], check=True)
        for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
            if (out_dir() / name).exists():
                shutil.copy2(out_dir() / name, tree)
        depmod = shutil.which("depmod", path="/sbin:/usr/sbin:" + os.environ.get("PATH", ""))
        if not depmod:
            raise guest.Failure("no depmod: install kmod")
        subprocess.run([depmod, "-b", str(where), release], check=True)
    return where


def newest_module():
    return max((os.stat(out_dir() / p).st_mtime for p in kernel_modules().values()), default=0)


def module_files():
    """The modules as files of a guest."""
    if not kernel_modules():
        return []
    where = module_tree()
    return [(str(p.relative_to(where)), str(p)) for p in sorted(where.rglob("*")) if p.is_file()]


# Workloads

def missing_modules(name):
    """The modules that a script asks for and that this kernel lacks."""
    names = out_dir() / "modules.builtin"
    if not names.exists():
        return []
    builtin = {Path(line.strip()).stem.replace("-", "_") for line in names.read_text().splitlines()}
    wanted = keys_of(name).get("modules", "").replace("-", "_").split()
    return [m for m in wanted if m not in kernel_modules() and m not in builtin]


def expand(names):
    """The workloads that these names stand for; without a name, all modules, and all scripts
    whose modules this kernel has."""
    scripts = sorted(p.stem for p in WORKLOADS.glob("*.sh"))
    sweeps = [SWEEP + m for m in sorted(kernel_modules())]
    found = []
    for name in names or ["scripts", "modules"]:
        new = {"modules": sweeps, "scripts": [s for s in scripts if not missing_modules(s)]}.get(name) \
            if name in ("modules", "scripts") else [name]
        for n in new:
            if n not in scripts and n not in sweeps:
                util.fail(f"no workload {n}; `run list` prints them")
        found += [n for n in new if n not in found]
    return found


def jobs_of(names):
    """What each guest walks: one script, or several modules."""
    sweeps = [n for n in names if n.startswith(SWEEP)]
    return [[n] for n in names if not n.startswith(SWEEP)] + \
        [sweeps[i:i + BATCH] for i in range(0, len(sweeps), BATCH)]


def keys_of(name):
    if name.startswith(SWEEP):
        return {}
    found = dict(re.findall(r"^# ([a-z]+): *(.*?) *$", (WORKLOADS / f"{name}.sh").read_text(), re.M))
    return {k: v for k, v in found.items() if k in KEYS}


def prepare():
    """What all guests need, before they start at the same time."""
    guest.programs()
    module_files()


def task_of(name, options):
    """A line for the shell of the guest; labels have spaces."""
    words = ["script", name]
    if name.startswith(SWEEP):
        words = ["sweep", name, "kernel/" + kernel_modules()[name.removeprefix(SWEEP)]]
    return shlex.join([*words, *options])


class Files:
    """The files of a guest; those that are made here are removed with it."""

    def __init__(self, label):
        self.label, self.made, self.files = label, [], {}

    def text(self, target, text):
        path = Path(guest.OUT, f"{self.label}.{len(self.made)}")
        path.write_text(text)
        self.made.append(path)
        self.files[target] = str(path)

    def program(self, name):
        helper = guest.programs().get(name)
        self.files.update({"bin/" + name: helper} if helper else icount.program(name))

    def remove(self):
        for path in self.made:
            path.unlink(missing_ok=True)


def files_of(label, names, store, options):
    f = Files(label)
    f.files.update({"qt/test.sh": str(HERE / "guest.sh"), "qt/serve.sh": str(HERE / "serve.sh")})
    f.text("sbin/modprobe", "#!/bin/busybox sh\nexec /bin/busybox modprobe \"$@\"\n")
    f.files.update(module_files())
    f.text("qt/tasks", "".join(task_of(n, options) + "\n" for n in names))
    for name in names:
        f.text(f"qt/done/{name}", "".join(k + "\n" for k in store.left_out(name)))
        if not name.startswith(SWEEP):
            f.files[f"qt/workloads/{name}.sh"] = str(WORKLOADS / f"{name}.sh")
            f.files["qt/workloads/lib.sh"] = str(HERE / "lib.sh")
        keys = keys_of(name)
        for program in keys.get("programs", "").split():
            f.program(program)
        for path in keys.get("files", "").split():
            f.files[path.lstrip("/")] = path
    return f


def walk_once(names, store, options, a, why_stop, note=None):
    """Boot one guest and take its results; returns the Outcome."""
    label = "hunt." + names[0]
    keys = {}
    for name in names:
        keys.update(keys_of(name))
    image = guest.kernel_image(CONFIG)
    if not os.path.exists(image):
        raise guest.Failure(f"no kernel: run make kernel CONFIG={CONFIG}")
    reader = results.Reader(store, note)

    def until():
        if reader.why_over:
            return reader.why_over
        if time.monotonic() - reader.spoken > a.silence:
            return f"silent for {a.silence:.0f} s"
        return why_stop()

    with guest.claim(label):
        f = files_of(label, names, store, options)
        initrd = guest.initramfs(label, [], list(f.files.items()))
        drive = guest.disk(label, keys["disk"]) if "disk" in keys else None
        append = APPEND + keys.get("append", "")
        if any(n.startswith(SWEEP) for n in names):
            append += NTH
        try:
            out = guest.boot(label, image, initrd, append, timeout=24 * 3600, stream=reader.line, until=until,
                             memory=keys.get("memory") or MEMORY, drive=drive,
                             extra=[w for d in keys.get("devices", "").split() for w in ("-device", d)])
        finally:
            reader.flush()
            f.remove()
            os.unlink(initrd)
            if drive:
                os.unlink(drive)
        regular = not out.ended or out.ended in (reader.why_over, why_stop())
        reader.end("" if regular else out.ended, out.console)
    return out
