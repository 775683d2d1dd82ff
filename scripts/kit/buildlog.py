# SPDX-License-Identifier: GPL-2.0-only
"""What the log of a build says: errors and warnings, in a form that two trees can share.

read() returns a dictionary.  A key is a line without what differs between two trees: line
numbers, addresses, names of folders, and the suffix _noprof.  The value is the object whose
compilation says it, DTBS if it is about a device tree, VMLINUX if it needs all objects that are
built in, LINK if it needs the modules, too, or CONFIG if kconfig says it.

Every line with "warning:" counts, whoever prints it: compiler, assembler, linker, objtool,
modpost, dtc.  Make must print the lines of a target together, after the line of its step
(--output-sync=target); otherwise a line is assigned to another object.
"""

import re

from .kbuild import STEP_RE

LINK, VMLINUX, DTBS, CONFIG = "", "vmlinux", "dtbs", "config"

FAILED_RE = re.compile(r"^make(?:\[\d+\])?: \*\*\* \[(?:[^\]]*: )?([^\]\s]+)\] (?:Error (\d+)|\w+)")
SAYS_RE = re.compile(r"\b(?:error|warning) ?[:(]|undefined reference to|multiple definition of|No rule to make target",
                     re.I)
ERROR_RE = re.compile(r"\berror ?[:(]|undefined reference to|multiple definition of|No rule to make target| failed$", re.I)
UNMET_RE = re.compile(r"^WARNING: unmet direct dependencies detected for (\w+)")
SELECTS_RE = re.compile(r"^  - (\w+) ")
OBJECT_RE = re.compile(r"^(\S+\.o): warning: objtool: ")
# Not about the sources: our command, source lines that gcc quotes, make about the clock, and
# kconfig about the values that we asked for, which configs.missing() checks.
IGNORED_RE = re.compile(r"^\$ |^ *\d* \| |^make(?:\[\d+\])?: [Ww]arning: |^\S*\.config:\d+:warning: ")

DIFFERS = [(re.compile(regex), text) for regex, text in (
    (r"(?<![\w.])(?:\.\./)+", ""),
    (r":\d+(?::\d+)?(?=[:,])", ""),                     # file:line:column:
    (r":\d+\.\d+(?:-\d+(?:\.\d+)?)?(?=:)", ""),         # dtc: file:line.column-column:
    (r"\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?", ""),
    (r"\b0x[0-9a-f]+", "0x"),
    (r"(__compiletime_assert_|__UNIQUE_ID_\w*?)\d+", r"\1"),
    (r"\.(?:isra|constprop|part|cold)(?:\.\d+)*\b", ""),
    (r"_noprof\b", ""),
    (r"(frame size of )\d+", r"\1N"))]


def key(line, roots=()):
    """The line without what differs between two trees; roots are their folders."""
    for root in roots:
        line = line.replace(f"{root}/", "")
    reference = re.search(r"undefined reference to \S+", line)
    line = reference[0] if reference else line.strip()
    for regex, text in DIFFERS:
        line = regex.sub(text, line)
    return line


def object_of(step, what):
    """The object that kbuild can compile alone, if the line of a step names one, or DTBS."""
    if step == "DTC" and what.startswith("arch/"):
        return DTBS
    alone = step in ("CC", "AS", "LD") and what.endswith(".o") and not what.endswith((".mod.o", ".lto.o"))
    return what if alone and "/" in what else LINK


def read(text, roots=()):
    """{line: the object, DTBS, VMLINUX, LINK or CONFIG}; see above."""
    said, where, unmet = {}, LINK, ""
    for line in text.splitlines():
        selects = SELECTS_RE.match(line)
        if unmet and selects:
            said[f"unmet dependency of {unmet}, which {selects[1]} selects"] = CONFIG
            continue
        unmet = unmet if line.startswith("  ") else ""
        step, failed = STEP_RE.match(line), FAILED_RE.match(line)
        if step:
            where = object_of(step[1], step[2])
        elif UNMET_RE.match(line):
            unmet = UNMET_RE.match(line)[1]
        elif failed:
            take_failed(said, failed[1], failed[2])
        elif line.startswith("$ "):
            where = LINK
        elif SAYS_RE.search(line) and not IGNORED_RE.match(line):
            named = OBJECT_RE.match(line)
            said[key(line, roots)] = said_by_objtool(named[1]) if named else where
    return said


def said_by_objtool(name):
    return VMLINUX if name == "vmlinux.o" else object_of("LD", name)


def take_failed(said, target, status):
    """Make's own line.  Status 2 is another make's, which has printed the line of its target."""
    if target.endswith(".o"):
        said[f"{target} failed"] = object_of("CC", target)
    elif status != "2":
        said[f"{target} failed"] = LINK


def steps(text):
    return sum(1 for line in text.splitlines() if STEP_RE.match(line))


def errors(said):
    return {line: where for line, where in said.items() if ERROR_RE.search(line)}


def warnings(said):
    return {line: where for line, where in said.items() if not ERROR_RE.search(line)}


def new(ours, base):
    """What ours says and base does not."""
    return {line: where for line, where in ours.items() if line not in base}


def targets(said, only_ours):
    """What the base has to compile for a comparison; only_ours(object): the base does not have it."""
    objects = set(said.values()) - {CONFIG}
    return ["all"] if LINK in objects else sorted(name for name in objects if not only_ours(name))
