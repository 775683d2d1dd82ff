# SPDX-License-Identifier: GPL-2.0-only
"""The table in the dump of a crashed guest, beside the table that the guest printed before.

The guest ran for a moment in between, so the figures of a few lines may differ, but not the names.
"""

import collections
import csv
import os
import re
import shutil
import subprocess

from boot import guest
import image

HERE = os.path.dirname(os.path.abspath(__file__))
# The least percentage of the lines that hold memory whose figures are the same in both tables
SAME = 85
# The largest part by which the sums of bytes, and of calls, may differ
DRIFT = 0.02


def run(*argv, **more):
    return subprocess.run(argv, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def folder():
    """Where the tools are; building allocinfo also builds allocinfo-dump."""
    return os.path.dirname(guest.tool("allocinfo"))


def allocinfo_dump(*argv):
    return run(os.path.join(folder(), "allocinfo-dump"), *argv)


def allocinfo_report(*argv):
    """Run `allocinfo report --vmcore`, which finds allocinfo-dump in PATH."""
    env = {**os.environ, "PATH": folder() + ":" + os.environ["PATH"]}
    return run(os.path.join(folder(), "allocinfo"), "report", "--format", "csv", *argv, env=env)


def table(text):
    """[(bytes, calls, name)] of a text in the format of /proc/allocinfo."""
    found = [re.fullmatch(r" *(\d+) +(\d+) (.*\S) ?", line) for line in text.splitlines()[2:]]
    return [(int(m[1]), int(m[2]), m[3]) for m in found if m]


def csv_rows(text):
    """{name: (bytes, calls)} of `allocinfo report --format csv`."""
    return {"%s:%s%s func:%s%s" % (row["file"], row["line"], " [%(module)s]" % row if row["module"] else "",
                                   row["function"], "" if row["accurate"] == "yes" else " accurate:no"):
            (int(row["bytes"]), int(row["calls"])) for row in csv.DictReader(text.splitlines())}


def table_rows(rows):
    """The same of a table(): call sites of one name are one row."""
    found = collections.defaultdict(lambda: (0, 0))
    for size, calls, name in rows:
        found[name] = (found[name][0] + size, found[name][1] + calls)
    return dict(found)


def report_differs(report, rows):
    """Why the rows of a report are not those of the table, or ""."""
    if report.returncode:
        return report.stderr.strip() or "exit code %d" % report.returncode
    have, want = csv_rows(report.stdout), table_rows(rows)
    other = [name for name in {**have, **want} if have.get(name) != want.get(name)]
    guest.say("# kdump: note: allocinfo report has %d rows of %d lines" % (len(have), len(rows)))
    return "%d rows differ, %s" % (len(other), other[0]) if other else ""


def unpack(disk):
    where = os.path.join(image.DIR, "crash")
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    guest.quiet_command(["tar", "-C", where, "-xf", disk], image.log("crash"))
    return where


def compare(before, after):
    """Why the two tables do not agree, or "" if they do."""
    if [row[2] for row in before] != [row[2] for row in after]:
        return "%d lines, the guest had %d, or other names" % (len(after), len(before))
    hold = [(a, b) for a, b in zip(before, after) if a[:2] != (0, 0) or b[:2] != (0, 0)]
    same = sum(a == b for a, b in hold)
    guest.say("# kdump: note: %d of %d lines that hold memory have the same figures" % (same, len(hold)))
    if same * 100 < SAME * len(hold):
        return "only %d of %d lines that hold memory have the same figures" % (same, len(hold))
    for column, name in enumerate(("bytes", "calls")):
        was, now = (sum(row[column] for row in rows) for rows in (before, after))
        guest.say("# kdump: note: %d %s before the crash, %d in the dump" % (was, name, now))
        if abs(was - now) > DRIFT * was:
            return "the sum of all %s was %d, and is %d" % (name, was, now)
    return ""


def drgn_differs(dump, package, release):
    """Why drgn cannot read the dump with the debug information of this package, or ""."""
    vmlinux = "usr/lib/debug/lib/modules/%s/vmlinux" % release
    where = dump + ".dbg"
    guest.quiet_command(["dpkg-deb", "-x", package, where], image.log("dbg"))
    said = run("drgn", "-q", "-c", dump, "-s", os.path.join(where, vmlinux), os.path.join(HERE, "crashed.py"))
    shutil.rmtree(where)
    if said.returncode:
        return said.stderr.strip() or "exit code %d" % said.returncode
    found, _, functions = said.stdout.partition("\n")
    if found != release or "sysrq_handle_crash" not in functions.split():
        return "drgn sees %s in %s" % (functions.strip(), found)
    return ""


def cases(disk, packages):
    """The cases that the host adds to those of the guest.  After a failure the dump is kept.

    A kernel that only stands in for ours may have no table.
    """
    where = unpack(disk)
    dump, system_map, printed = (os.path.join(where, name) for name in ("dump", "System.map", "allocinfo"))
    found = list(look(dump, system_map, printed, packages.stand_in))
    if packages.debug:
        why = drgn_differs(dump + ".plain", packages.debug, packages.release)
        found.append(guest.Case("debug_package_names_the_function", "not ok" if why else "ok", why))
    if all(case.state != "not ok" for case in found):
        shutil.rmtree(where)
    return found


def look_at_a_part(flat, system_map):
    """A dump that was cut off, as after a full disk, is refused with a line that says so."""
    part = flat + ".part"
    for name, size in (("header", 100), ("half", os.path.getsize(flat) // 2)):
        shutil.copyfile(flat, part)
        os.truncate(part, size)
        refused = allocinfo_dump("-m", system_map, part)
        good = (refused.returncode == 1 and refused.stderr.count("\n") == 1 and not refused.stdout and
                "ends too early" in refused.stderr)
        yield guest.Case("%s_of_a_flattened_dump_is_refused" % name, "ok" if good else "not ok",
                         "" if good else refused.stderr)


def look(dump, system_map, printed, stand_in):
    """Try allocinfo-dump on the files of the guest; yield the cases."""
    flat, dump = dump, dump + ".plain"
    with open(flat, "rb") as f:
        subprocess.run(["makedumpfile", "-R", dump], stdin=f, check=True, capture_output=True)
    before = table(guest.text_of(printed))
    if not before:
        yield guest.Case("dump_has_the_table", "skip" if stand_in else "not ok",
                         "the guest printed no table of /proc/allocinfo")
        return
    done = allocinfo_dump("-m", system_map, dump)
    why = done.stderr.strip() if done.returncode else compare(before, table(done.stdout))
    yield guest.Case("dump_has_the_table", "not ok" if why else "ok", why)
    flattened = allocinfo_dump("-m", system_map, flat)
    good = flattened.returncode == 0 and flattened.stdout == done.stdout
    yield guest.Case("flattened_dump_has_the_same", "ok" if good else "not ok", "" if good else flattened.stderr)
    yield from look_at_a_part(flat, system_map)
    top = table(allocinfo_dump("-m", system_map, "-n", "5", dump).stdout)
    largest = sorted(table(done.stdout), key=lambda row: -row[0])[:5]
    yield guest.Case("dump_has_its_largest_lines", "ok" if top and top == largest else "not ok")
    why = report_differs(allocinfo_report("--vmcore", flat, "--map", system_map),
                         table(done.stdout))
    yield guest.Case("allocinfo_report_has_the_same_rows", "not ok" if why else "ok", why)
    refused = allocinfo_report("--vmcore", dump, "--map", printed)
    good = refused.returncode == 1 and refused.stderr.count("\n") == 1 and not refused.stdout
    yield guest.Case("allocinfo_report_refuses_a_wrong_map", "ok" if good else "not ok",
                     "" if good else refused.stderr)
    refused = allocinfo_dump("-m", printed, dump)
    good = refused.returncode == 1 and refused.stderr.count("\n") == 1
    yield guest.Case("wrong_map_is_refused", "ok" if good else "not ok", "" if good else refused.stderr)
