# SPDX-License-Identifier: GPL-2.0-only
"""qemu-test/matrix: which guest test runs on which kernel, and when.

qemu-test/run takes its sets from here, scripts/check calls problems().
"""

import re

from .util import TOP, fail

QEMU_TEST = TOP / "qemu-test"
MATRIX = QEMU_TEST / "matrix"
TESTS = QEMU_TEST / "tests"
CONFIGS = QEMU_TEST / "configs"

# kernels of an architecture other than x86_64
ARCH_OF = {"i386": "i386", "arm64": "arm64", "arm64-16k": "arm64", "arm64-64k": "arm64",
           "arm64-alloc-debug": "arm64", "arm64-debug": "arm64"}


def arch_of(kernel):
    return ARCH_OF.get(kernel, "x86_64")


class Row:
    """A test, the kernels for every change, and those that only the long set adds."""

    def __init__(self, number, test, change, long):
        self.number, self.test = number, test
        self.change, self.long = change, long
        self.kernels = change + long


def kernel_list(word):
    return [] if word == "-" else word.split(",")


def read():
    """The rows, in their order."""
    rows = []
    for number, line in enumerate(MATRIX.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 3:
            fail(f"{MATRIX.relative_to(TOP)}:{number}: not three columns: {line}")
        rows.append(Row(number, words[0], kernel_list(words[1]), kernel_list(words[2])))
    return rows


def own_kernel(rows, test):
    """The kernel of `qemu-test/run TEST`: the first one of the row, or default."""
    for row in rows:
        if row.test == test and row.kernels:
            return row.kernels[0]
    return "default"


def is_name(name, folder, suffix):
    return bool(re.fullmatch(r"[\w-]+", name)) and (folder / (name + suffix)).is_file()


def row_problems(row, seen):
    if not is_name(row.test, TESTS, ".sh"):
        yield f"no test {row.test}"
    if row.test in seen:
        yield f"{row.test} has a row already"
    if not row.kernels:
        yield f"{row.test} is in no set"
    for kernel in sorted(set(row.kernels)):
        if not is_name(kernel, CONFIGS, ".config"):
            yield f"no configuration {kernel}"
        if row.kernels.count(kernel) > 1:
            yield f"{row.test} has {kernel} twice"


def kernels_named_in(path):
    """The kernels for which a test has needs of its own, `# KEY@KERNEL: VALUE`."""
    head = re.match(r"(?:#.*\n)*", path.read_text())[0]
    return set(re.findall(r"^# [a-z0-9-]+@([\w-]+):", head, re.M))


def problems():
    """A message for each error in the matrix, and for each test that does not fit it."""
    if not TESTS.is_dir():
        return
    rows, seen = read(), {}
    for row in rows:
        for what in row_problems(row, seen):
            yield f"{MATRIX.relative_to(TOP)}:{row.number}: {what}"
        seen[row.test] = row
    for path in sorted(TESTS.glob("*.sh")):
        name = path.relative_to(TOP)
        if path.stem not in seen:
            yield f"{name}: in no set of {MATRIX.relative_to(TOP)}"
            continue
        for kernel in sorted(kernels_named_in(path) - set(seen[path.stem].kernels)):
            yield f"{name}: has needs on {kernel}, where {MATRIX.relative_to(TOP)} does not run it"
