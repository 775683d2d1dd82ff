# SPDX-License-Identifier: GPL-2.0-only
"""Which files the headers of the series touch, and which of them a build has compiled.

A header belongs to the series if a patch changes it or adds it.  It touches a .c file if
that includes it, directly or through other headers.  The text of the #include lines
decides, in all branches of #if; a name that the usual folders do not have can be any file
with that name.  So the list may have a file too many, and it misses none.

Kbuild writes the files that were read into .<object>.o.cmd beside each object.
"""

import os
import re
import subprocess
from pathlib import Path

from . import kbuild, queue
from .util import clean_env, fail, git

INCLUDE_RE = re.compile(r'^([^:]+):[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)')
READ_RE = re.compile(rb"^  ([^$\s]\S*\.[ch])\b", re.M)
SOURCE_RE = re.compile(rb"^source_\S+ := (\S+\.c)$", re.M)
# Folders that do not belong to one architecture
KERNEL = ["drivers", "fs", "net", "mm", "kernel", "lib", "block", "crypto", "security", "ipc", "sound", "init",
          "virt", "io_uring", "certs", "samples"]
# The folders of an architecture, as its Makefile adds them to the kernel
ARCH = {"x86": ["arch/x86", "arch/x86/lib", "arch/x86/pci", "arch/x86/power", "arch/x86/video"],
        "arm64": ["arch/arm64", "arch/arm64/lib"]}
SCANNED = [*KERNEL, "arch", "include", "usr"]


def headers():
    """The headers that the series changes or adds, as paths in the kernel."""
    changed = git("diff", "--name-only", "base", "--", "*.h").splitlines()
    added = [dest for patch in queue.load() for dest, _ in patch.adds if dest.endswith(".h")]
    return {path for path in [*changed, *added] if not path.startswith("tools/")}


def added_sources():
    return {dest for patch in queue.load() for dest, _ in patch.adds
            if dest.endswith(".c") and dest.split("/")[0] in KERNEL}


def include_lines(tree):
    """{path: [(< or ", name)]} for every .c and .h file of the kernel."""
    there = [name for name in SCANNED if (tree / name).is_dir()]
    done = subprocess.run(["grep", "-RHE", r"^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]", "--include=*.[ch]", *there],
                          cwd=tree, check=False, stdout=subprocess.PIPE)
    found = {}
    for line in done.stdout.decode(errors="replace").splitlines():
        match = INCLUDE_RE.match(line)
        if match:
            found.setdefault(match[1], []).append((match[2], match[3]))
    return found


class Names:
    """Finds the files that the name in an #include line can mean."""

    def __init__(self, paths):
        self.paths, self.public, self.base = set(paths), {}, {}
        for path in paths:
            self.base.setdefault(os.path.basename(path), []).append(path)
            for match in re.finditer(r"(?:^|/)include/(?:uapi/|generated/)?", path):
                self.public.setdefault(path[match.end():], []).append(path)

    def find(self, path, mark, name):
        beside = os.path.normpath(f"{os.path.dirname(path)}/{name}")
        if mark == '"' and beside in self.paths:
            return [beside]
        found = list(self.public.get(name, []))
        if name.startswith("asm/"):
            found += self.public.get(f"asm-generic/{name[4:]}", [])
        return found or [other for other in self.base.get(os.path.basename(name), [])
                         if f"/{other}".endswith("/" + name.replace("../", ""))]


def touched(includes, ours):
    """The .c files that reach a header of ours."""
    names = Names({*includes, *ours})
    users = {}
    for path, lines in includes.items():
        for mark, name in lines:
            for target in names.find(path, mark, name):
                users.setdefault(target, set()).add(path)
    seen, work = set(ours), list(ours)
    while work:
        for user in users.get(work.pop(), ()):
            if user not in seen:
                seen.add(user)
                work.append(user)
    return {path for path in seen if path.endswith(".c")}


def compiled(out, tree, ours):
    """({.c files that were compiled}, number of objects, of those with a header of ours)."""
    root, files, objects, with_ours = f"{tree}/".encode(), set(), 0, 0
    ours = {path.encode() for path in ours}
    for command in out.rglob(".*.o.cmd"):
        if not command.with_name(command.name[1:-4]).exists():
            continue
        text = command.read_bytes()
        source = SOURCE_RE.search(text)
        if not source or not source[1].startswith(root) or b" -D__KERNEL__ " not in text:
            continue                                # generated, or a program of the host
        read = {name[len(root):] for name in [source[1], *READ_RE.findall(text)] if name.startswith(root)}
        files |= {os.path.normpath(name.decode()) for name in read if name.endswith(b".c")}
        objects += 1
        with_ours += not ours.isdisjoint(read)
    return files, objects, with_ours


def would_compile(tree, arch, config):
    """The .c files of KERNEL and ARCH that kbuild compiles with this file of a configuration.

    One job at a time: the lines of two would mix.
    """
    here = Path(__file__).resolve().with_name("objects.mk")
    karch, srcarch = kbuild.ARCHES[arch][0], kbuild.ARCHES[arch][4].split("/")[1]
    found = set()
    for folder in [*KERNEL, *ARCH[srcarch]]:
        if not (tree / folder).is_dir():
            continue
        done = subprocess.run(["make", "-rRs", "-I", tree, "-f", here, f"obj={folder}", "need-builtin=1",
                               f"config={config}", f"srctree={tree}", f"ARCH={karch}", f"SRCARCH={srcarch}", "CC=true", "TMPOUT=.tmp"],
                              cwd=config.parent, env=clean_env(LC_ALL="C"), check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode:
            fail(f"cannot list the objects of {folder}: {done.stderr.decode(errors='replace').strip()[-500:]}")
        found |= {os.path.normpath(name[:-2] + ".c") for name in done.stdout.decode().split() if name.endswith(".o")}
    return {name for name in found if (tree / name).is_file()}


def judge(files, built, must):
    """[(path, reason, good?)] for each file that was not compiled.

    files: those that our headers touch; built: those that were compiled; must: those that the
    base compiles, and our own.
    """
    rows = []
    for path in sorted(files - built):
        if path in must:
            rows.append((path, "NOT COMPILED, although the base compiles it, or the series adds it", False))
        else:
            rows.append((path, "no allmodconfig of x86_64 or arm64 compiles it in the base", True))
    return rows
