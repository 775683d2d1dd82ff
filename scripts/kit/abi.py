# SPDX-License-Identifier: GPL-2.0-only
"""Report interfaces that Documentation/ABI does not describe, and malformed entries.

An interface is a file that the overlay creates in /proc or debugfs, a device, or a
module parameter.  Each entry must pass scripts/get_abi.pl and have the fields that
Documentation/ABI/README requires.

Report also interfaces that are missing in the table of what lockdown permits, or in the
guest test of that table.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from kit import queue, util   # noqa: E402

FIELDS = ("Date", "KernelVersion", "Contact", "Description")
# Names are compared with the last part of What:, since calls give the folder as a variable.
MADE = (re.compile(r'\b(?:debugfs_create_(?!dir)\w+|proc_create\w*)\(\s*"([^"]+)"'),
        re.compile(r"\bmodule_param\w*\((\w+),"),
        re.compile(r'struct miscdevice \w+ = \{[^}]*\.name\s*= "([^"]+)"'))

LOCKDOWN = ("Documentation/admin-guide/codetag-lockdown.rst", "qemu-test/tests/lockdown.sh")


def interfaces(text):
    """The names of the interfaces that a source file creates."""
    return {name for pattern in MADE for name in pattern.findall(text)}


def validated():
    """The complaints of get_abi.pl, which reads all of Documentation/ABI at once."""
    done = subprocess.run(["perl", "scripts/get_abi.pl", "--dir", "Documentation/ABI", "validate"],
                          cwd=util.TREE, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout.splitlines()


def form(name, complaints):
    """Errors in the form of a file's entries."""
    text = (util.TOP / name).read_text()
    blocks = re.split(r"\n\n(?=What:)", text)
    for block in blocks:
        for field in FIELDS:
            if not re.search(rf"^{field}:", block, re.M):
                yield f"{name}: {block.splitlines()[0]}: no {field}:"
    yield from (line for line in complaints if name in line)


def missing(names, text):
    """The names that do not occur in a text as a name of their own."""
    return sorted(name for name in names
                  if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\.?\w)", text))


def main():
    files, _ = queue.overlay_files()
    abi = [f for f in files if f.startswith("Documentation/ABI/")]
    complaints = validated()
    bad = [complaint for name in abi for complaint in form(name, complaints)]
    described = set()
    for name in abi:
        text = (util.TOP / name).read_text()
        described |= {what.rsplit("/", 1)[-1] for what in re.findall(r"^What:\s*(\S+?)/?$", text, re.M)}
        # the description of a folder lists its files
        described |= set(re.findall(r"^\t\t([\w.]+)\t+\(", text, re.M))
    tables = {name: (util.TOP / name).read_text() for name in LOCKDOWN}
    for name in files:
        if name.endswith(".c") and not name.startswith("tools/"):
            made = interfaces((util.TOP / name).read_text())
            bad += [f"{name}: Documentation/ABI does not describe {what}"
                    for what in sorted(made - described)]
            bad += [f"{name}: {what} is missing in {table}"
                    for table, text in tables.items() for what in missing(made, text)]
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


util.run_main("abi", main)
