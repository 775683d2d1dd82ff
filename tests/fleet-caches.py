#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check which memory the rules for growth leave out: tests/fleet-caches.py [RULES]

The kernel can shrink inodes, and user memory and page tables are not leaks of the kernel. RULES
must leave out each caller of alloc_inode_sb() in build/linux, and the call sites that balance.c
counts as user memory, page tables and huge pages. Stacks and slabs must stay.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LINUX = TOP / "build/linux"
BALANCE = (TOP / "tools/mm/allocinfo/balance.c").read_text()
# the rest of the tree has no file system, and takes long to read
FOLDERS = ("block/*.c", "drivers/dax/*.c", "fs/*.c", "ipc/*.c", "mm/*.c", "net/socket.c", "net/sunrpc/*.c")
LEFT_OUT = {"USER", "TABLES", "HUGE"}
OTHERS = [("fs/dcache.c", "__d_alloc"), ("fs/buffer.c", "alloc_buffer_head"),
          ("fs/xfs/xfs_buf.c", "_xfs_buf_alloc"), ("fs/xfs/xfs_buf.c", "xfs_buf_alloc_pages"),
          ("fs/btrfs/extent_io.c", "__alloc_extent_buffer"),
          ("fs/btrfs/extent_map.c", "alloc_extent_map"),
          ("mm/zsmalloc.c", "alloc_zspage"), ("mm/zswap.c", "zswap_entry_cache_alloc"),
          ("mm/zbud.c", "zbud_alloc"), ("mm/z3fold.c", "z3fold_alloc")]


def callers():
    """(file, function) of each caller of alloc_inode_sb()."""
    found = subprocess.run(["git", "grep", "-l", "alloc_inode_sb(", "--", *FOLDERS], cwd=LINUX,
                           check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    for name in found:
        function = None
        for line in (LINUX / name).read_text().splitlines():
            match = re.match(r"(?:[a-z][\w *]*[ *])?(\w+)\(", line)
            if match:
                function = match[1]
            if re.search(r"\balloc_inode_sb\(", line):
                yield name, function


def parts():
    """(part, file, function) of the rules of balance.c; the names are examples of its patterns."""
    for part, name, function in re.findall(r'\{ PART_(\w+),\s*"([^"]+)",\s*(NULL|"[^"]+") \}', BALANCE):
        yield part, name.replace("*", "x86/mm/pgtable.c"), function.strip('"').replace("*", "x")


def patterns(rules):
    """The regular expressions of the floor: what it leaves out."""
    selector = re.search(r"min_over_time\(linux_alloc_site_bytes\{(.*?)\}", rules, re.S)[1]
    return [re.compile(re.search(what + '!~"([^"]+)"', selector)[1].replace("\\\\", "\\"))
            for what in ("file", "func")]


def problems(rules):
    files, functions = patterns(rules)

    def left_out(name, function):
        return files.fullmatch(name) or functions.fullmatch(function)

    inodes = list(callers())
    if len(inodes) < 50:
        yield f"alloc_inode_sb() has only {len(inodes)} callers"
    for name, function in inodes + OTHERS:
        if not left_out(name, function):
            yield f"the rules do not leave out {function}() in {name}"
    for part, name, function in parts():
        if bool(left_out(name, function)) != (part in LEFT_OUT):
            yield f"the rules differ from PART_{part} of balance.c: {function}() in {name}"


def main():
    rules = Path(sys.argv[1]) if len(sys.argv) > 1 else \
        TOP / "tools/mm/allocinfo/prometheus/allocinfo.rules.yml"
    found = list(problems(rules.read_text()))
    print("\n".join(found) or "the rules leave out what the kernel can take back")
    return 1 if found else 0


sys.exit(main())
