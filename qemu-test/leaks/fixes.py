# SPDX-License-Identifier: GPL-2.0-only
"""The fixes, taken from a later release.

A line `block: FILE REGEX` or `block: FILE:FIRST-LAST REGEX` of the file `fix` means: of what
the two releases differ in that file (in these lines of the earlier one), the fix is each block
of lines that matches.  So the repository has no copy of it.
"""

import difflib
import re
import subprocess

from kit import util


def lines_of(path):
    return path.read_text(errors="surrogateescape").splitlines(keepends=True)


def blocks(old, new):
    """(first, last, first, last) of the lines in which two files differ, counted from 0."""
    done = subprocess.run(["diff", str(old), str(new)], check=False, stdout=subprocess.PIPE)
    for a, b, kind, c, d in re.findall(rb"^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$", done.stdout, re.M):
        yield (int(a) - (kind != b"a"), int(b or a), int(c) - (kind != b"d"), int(d or c))


def with_blocks(old, new, pattern, first, last):
    """The lines of old with those blocks of new that match, or whose old lines match."""
    was, now = lines_of(old), lines_of(new)
    lines, done = [], 0
    for a, b, c, d in blocks(old, new):
        if first <= a + 1 <= last and any(re.search(pattern, line) for line in was[a:b] + now[c:d]):
            lines += was[done:a] + now[c:d]
            done = b
    return lines + was[done:]


def read(fix):
    """[(file, regular expression, first line, last line)] of the file `fix`."""
    return [(name, pattern, int(first or 0), int(last or 10 ** 9)) for name, first, last, pattern in
            re.findall(r"^block: (\S+?)(?::(\d+)-(\d+))? (.*)$", fix.read_text(), re.M)]


def patch_of(old, new, name, pattern, first, last):
    """A block as a patch with context; old and new are folders."""
    fixed = with_blocks(old / name, new / name, pattern, first, last)
    text = "".join(difflib.unified_diff(lines_of(old / name), fixed, f"a/{name}", f"b/{name}"))
    return text or util.fail(f"{name}: nothing that differs matches {pattern}")


def apply(tree, patch):
    """Apply the patch to a tree that has the queue."""
    done = subprocess.run(["patch", "-p1", "-F0", "-f", "-r", "-", "--no-backup-if-mismatch", "-d", str(tree)],
                          input=patch.encode(errors="surrogateescape"), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        util.fail(f"a fix does not fit: {done.stdout.decode(errors='replace').strip()}")
