# SPDX-License-Identifier: GPL-2.0-only
"""Run kbuild: configuration from fragments, one progress line, a log.

A configuration is the start configuration of the architecture (tinyconfig; User Mode
Linux has only its defconfig) with the fragments of qemu-test/configs/ merged in.
Every symbol must get the value that the fragments request: kconfig silently drops a
symbol whose dependency is missing, and a test on such a kernel would test nothing.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import archive
from .util import BASE, BUILD, LOGS, NEWEST, PEER, TOP, TREE, clean_env, fail, lock, write_if_changed

CONFIGS = TOP / "qemu-test" / "configs"

# our name: (name in the kernel, cross prefix, machine that needs no prefix, start configuration, image)
ARCHES = {
    "x86_64": ("x86_64", "x86_64-linux-gnu-", "x86_64", "tinyconfig", "arch/x86/boot/bzImage"),
    "i386": ("i386", "i686-linux-gnu-", "x86_64", "tinyconfig", "arch/x86/boot/bzImage"),
    "um": ("um", "", "", "defconfig", "linux"),
    "arm64": ("arm64", "aarch64-linux-gnu-", "aarch64", "tinyconfig", "arch/arm64/boot/Image"),
    "s390x": ("s390", "s390x-linux-gnu-", "s390x", "tinyconfig", "arch/s390/boot/bzImage"),
}

FIRST_GUESS = {"um": 1060, "x86_64": 2160, "arm64": 1760}      # steps of a build, before the first has counted them
STEP_RE = re.compile(r"^  ([A-Z][A-Z0-9_]+) (?:\[M\])?\s*(\S+)")
ERROR_RE = re.compile(r"(error:|fatal error|undefined reference|No rule to make|\*\*\*|: not found|Error \d)")
WARNING_RE = re.compile(r":\d+: warning: ")             # the compiler's, not the linker's
SYMBOL_RE = re.compile(r"^(?:(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set)$")


def tool_options(arch):
    """The make variables that select the compiler; the same in every run.

    ccache does not compile assembler code.  In its depend mode, see build_env(), it does not
    see a file that is included by .incbin: if two kernels have the same size when they are
    compressed, bzImage would contain the earlier one.
    """
    karch, prefix, native, _, _ = ARCHES[arch]
    cross = prefix if native and os.uname().machine != native else ""
    cache = "ccache " if shutil.which("ccache") else ""
    cc = os.environ.get("CC") or f"$(if $(filter %.S,$<),,{cache}){cross}gcc"
    options = [f"ARCH={karch}", f"CC={cc}", f"HOSTCC={cache}gcc", "LOCALVERSION="]
    return options + ([f"CROSS_COMPILE={cross}"] if cross else [])


def build_env(tree):
    """The environment of kbuild.

    User, host and time stamp are fixed, so that equal sources build equal kernels.

    ccache runs in its depend mode: it learns the headers from gcc and does not run the
    preprocessor before each compilation.  That saves a third of the time of a small file.
    """
    stamp = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime((tree / "Makefile").stat().st_mtime))
    env = clean_env(KBUILD_BUILD_USER="codetag", KBUILD_BUILD_HOST="build",
                    KBUILD_BUILD_TIMESTAMP=stamp, LC_ALL="C")
    if not env.pop("CC", None):     # a CC of the user may call ccache for assembler code, too
        env["CCACHE_DEPEND"] = "1"
    return env


def fragments(config, seen=()):
    """The fragment files of a configuration, included ones first."""
    path = CONFIGS / f"{config}.config"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.config"))) or "none"
        fail(f"no {path.relative_to(TOP)}; there are: {known}")
    if config in seen:
        fail(f"{path.relative_to(TOP)} includes itself")
    files = []
    for other in re.findall(r"^# include: (.*)$", path.read_text(), re.M):
        for name in other.split():
            files += [f for f in fragments(name.removesuffix(".config"), (*seen, config)) if f not in files]
    return files + [path]


def source_of(config):
    """The tree that a configuration is built from."""
    if config == "base":
        return BASE
    match = re.search(r"^# tree: (base|peer|newest)$", fragments(config)[-1].read_text(), re.M)
    return {"base": BASE, "peer": PEER, "newest": NEWEST}[match[1]] if match else TREE


def start_of(config, out):
    """Debian's configuration of the flavour that `# start: FLAVOUR` names, as a file in out, or None.

    Most of Debian's configuration are modules, which would take most of the time of the build.
    They are left out; a fragment can request one.
    """
    match = re.search(r"^# start: (\S+)$", fragments(config)[-1].read_text(), re.M)
    if not match:
        return None
    text = archive.debian_config(f"config.amd64_none_{match[1]}", "amd64")
    out.mkdir(parents=True, exist_ok=True)
    path = out / "debian.config"
    write_if_changed(path, re.sub(r"^(CONFIG_\w+)=m$", r"# \1 is not set", text, flags=re.M))
    return path


def requested(files):
    """{symbol: value} that the fragments request; the last line for a symbol counts."""
    wanted = {}
    for path in files:
        for line in path.read_text().splitlines():
            match = SYMBOL_RE.match(line.strip())
            if match:
                wanted[match[1] or match[3]] = match[2] if match[1] else "n"
    return wanted


def read_config(path):
    return requested([path])


def gone(files):
    """Symbols that the fragments declare missing in their tree, which is another version."""
    return {symbol for path in files for line in re.findall(r"^# gone: (.*)$", path.read_text(), re.M)
            for symbol in line.split()}


def mismatches(files, config_path):
    """A message for each symbol that does not have its requested value."""
    have, excused = read_config(config_path), gone(files)
    return [f"{symbol} is {have.get(symbol, 'n')}, wanted {value}"
            for symbol, value in sorted(requested(files).items())
            if have.get(symbol, "n") != value and symbol not in excused]


class Progress:
    """A progress line with title, share, time and step; without a terminal, one every 20 s."""

    def __init__(self, title, total):
        self.title, self.total = title, total
        self.count, self.what = 0, ""
        self.start = self.shown = time.monotonic()
        self.tty = sys.stdout.isatty()
        self.every = 0.1 if self.tty else 20

    def step(self, what):
        self.count += 1
        self.what = what
        now = time.monotonic()
        if now - self.shown >= self.every:
            self.shown = now
            self.show()

    def elapsed(self):
        seconds = int(time.monotonic() - self.start)
        return f"{seconds // 60}:{seconds % 60:02}"

    def text(self):
        if not self.total:
            return f"{self.title}: {self.count} steps  {self.elapsed()}  {self.what}"
        part = min(99, 100 * self.count // self.total)
        return f"{self.title}: {part:2}% {self.count}/{max(self.total, self.count)}  {self.elapsed()}  {self.what}"

    def show(self):
        if self.tty:
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write("\r\033[K" + self.text()[:width])
            sys.stdout.flush()
        else:
            print(self.text(), flush=True)

    def note(self, line):
        if self.tty:
            sys.stdout.write("\r\033[K")
        print(line, flush=True)

    def end(self, verdict):
        self.note(f"{self.title}: {verdict}  {self.elapsed()}")
        if not self.tty:
            print(f"# took: {self.title}: {time.monotonic() - self.start:.0f} s", flush=True)


def run_make(title, log, tree, out, options, targets, total=0, **env):
    """Run make in tree with O=out; return its Progress, or fail() with the log and the last errors.

    env adds variables to the environment.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    argv = ["make", "-C", str(tree), f"O={out}", f"-j{os.cpu_count()}", *options, *targets]
    progress = Progress(title, total)
    errors = []
    with open(log, "a", encoding="utf-8") as record:
        record.write("$ " + " ".join(argv) + "\n")
        record.flush()
        with subprocess.Popen(argv, env={**build_env(tree), **env}, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as make:
            for line in make.stdout:
                record.write(line)
                take_line(line.rstrip("\n"), progress, errors)
    if make.returncode:
        progress.note(f"{title}: failed after {progress.elapsed()}")
        fail("\n  ".join([f"{title} failed; the whole log is {log}", *errors[-12:]]))
    return progress


def take_line(line, progress, errors):
    step = STEP_RE.match(line)
    if step:
        progress.step(f"{step[1]} {step[2]}")
    elif ERROR_RE.search(line):
        errors.append(line)
    elif WARNING_RE.search(line):
        progress.note(line)


def config_stamp(files, start, options, tree):
    """A hash of everything that determines the .config, except the Kconfig files."""
    parts = [str(start), *options, str(tree), (tree / "Makefile").read_text(errors="replace")[:200]]
    parts += [f.read_text() for f in ([start] if isinstance(start, Path) else []) + files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def kconfig_newer(tree, out, stamp):
    """Has a Kconfig file changed since the stamp?  auto.conf.cmd lists the files that were read."""
    listing = out / "include" / "config" / "auto.conf.cmd"
    if not listing.exists() or not stamp.exists():
        return True
    when = stamp.stat().st_mtime
    for name in re.findall(r"^\t(\S*Kconfig\S*)", listing.read_text(errors="replace"), re.M):
        path = tree / name
        if not path.exists() or path.stat().st_mtime > when:
            return True
    return False


def seed(tree, out, files):
    """Begin a new O= directory as a copy of that of the configuration which this one includes.

    kbuild recompiles the objects that depend on a symbol that differs, and keeps the others.
    The commands that built objtool contain the name of the directory; every object depends
    on objtool.
    """
    if out.exists() or len(files) < 2:
        return
    start = out.parent / files[-2].stem
    with lock(f"{out.parent.name}-{start.name}", shared=True):
        if (start / "vmlinux").exists() and (start / "source").resolve() == tree.resolve():
            part = out.with_name(f"{out.name}.part")    # a copy that is cut short must not be built on
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(start, part, symlinks=True, ignore=shutil.ignore_patterns(".codetag-config"))
            for command in (part / "tools").rglob(".*.cmd"):
                text = command.read_text()
                command.write_text(text.replace(f"{start}/", f"{out}/"))
            part.rename(out)


def configure(tree, out, arch, files, log, start=None, strict=True, more=()):
    """Make out/.config from the fragments; an equal one keeps its time stamp.

    start is the file of a whole configuration; without it, the architecture has one.
    more: make variables besides those of tool_options().
    strict: kconfig must accept each symbol of the fragments.
    """
    if start is None:
        seed(tree, out, files)
        start = ARCHES[arch][3]
    options = [*tool_options(arch), *more]
    stamp = out / ".codetag-config"
    now = config_stamp(files, start, options, tree)
    if ((out / ".config").exists() and stamp.exists() and stamp.read_text() == now
            and not kconfig_newer(tree, out, stamp)):
        return
    out.mkdir(parents=True, exist_ok=True)
    config, before = out / ".config", out / ".config.before"
    if config.exists():
        config.replace(before)
    stamp.unlink(missing_ok=True)
    generate(tree, out, options, start, files, log)
    bad = mismatches(files, config) if strict else []
    if before.exists() and (bad or before.read_bytes() == config.read_bytes()):
        before.replace(config)
    if bad:
        fail("\n  ".join([f"{out.name}.config for {arch}: kconfig did not accept {len(bad)} of the symbols "
                          f"(is a dependency missing? the log is {log})", *bad]))
    stamp.write_text(now)


def generate(tree, out, options, start, files, log):
    """Make the start configuration, merge the fragments into it, and complete it."""
    title = f"config {out.parent.name}/{out.name}"
    if isinstance(start, Path):
        shutil.copyfile(start, out / ".config")
    else:
        run_make(title, log, tree, out, options, [start])
    merge = [str(tree / "scripts" / "kconfig" / "merge_config.sh"), "-m", "-O", str(out),
             str(out / ".config"), *map(str, files)]
    with open(log, "a", encoding="utf-8") as record:
        done = subprocess.run(merge, cwd=tree, env=build_env(tree), stdout=record,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        fail(f"merge_config.sh failed; the whole log is {log}")
    run_make(title, log, tree, out, options, ["olddefconfig"])


def build(tree, out, arch, title, log, targets=("all",)):
    """Compile.  Keep the number of steps of a whole build, for the next one's progress line."""
    count = LOGS / (log.stem + ".steps")
    whole = not (out / "vmlinux").exists() and "all" in targets
    total = 0
    if whole:
        total = int(count.read_text()) if count.exists() else FIRST_GUESS.get(arch, 1500)
    progress = run_make(title, log, tree, out, tool_options(arch), targets, total)
    if whole:
        count.write_text(str(progress.count))
    progress.end(f"{progress.count} steps" if progress.count else "nothing to do")


def log_file(name):
    """The path of a new log; the previous log becomes NAME.log.old."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    if log.exists():
        log.replace(LOGS / f"{name}.log.old")
    return log


def out_dir(arch, config):
    return BUILD / arch / config
