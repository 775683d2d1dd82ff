# SPDX-License-Identifier: GPL-2.0-only
"""What `allocinfo export` writes on a recorded host, one page a snapshot.

The exporter runs once for each snapshot, in order, with a folder that has the files of /proc,
and with its output of the snapshot before it, as on the host itself.
"""

import os
import re
import subprocess
import tempfile

from boot import guest
from fleet import recordings, snapshots

# A host has more or less than the recorded one: these values are multiplied by its scale.
SCALED = ("linux_alloc_site_bytes", "linux_alloc_site_calls", "linux_alloc_memory_bytes")
SAMPLE = re.compile(r"(\w+)(\{.*\})? (-?[0-9.e+-]+)$")
# the exporter of the node says which kernel runs
NODE = ("# HELP node_uname_info Labeled system information as provided by the uname system call.\n"
        "# TYPE node_uname_info gauge\n"
        'node_uname_info{nodename="host-%05d",release="%s",sysname="Linux"} 1\n')


class Pages:
    """The pages of a recording."""

    def __init__(self, texts, release):
        self.release = release
        self.pages = [parts_of(text) for text in texts]

    def __len__(self):
        return len(self.pages)

    def text(self, index, host):
        lines = [name + (value if scaled is None else str(round(scaled * host.scale)))
                 for name, value, scaled in self.pages[index]]
        return ("\n".join(lines) + "\n" + NODE % (host.number, self.release)).encode()


def parts_of(text):
    """A list of (line up to its value, value as text, value to multiply or None)."""
    parts = []
    for line in text.splitlines():
        match = SAMPLE.match(line)
        if line == "# EOF":     # more lines follow
            continue
        if line.startswith("#"):
            parts.append((line, "", None))
        elif not match:
            raise guest.Failure(f"allocinfo export wrote a line that is no sample: {line}")
        else:
            scaled = float(match[3]) if match[1] in SCALED else None
            parts.append((line[:match.start(3)], match[3], scaled))
    return parts


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)


def export(tool, folder, snapshot):
    """Runs the exporter on a snapshot; its file in that folder is the one of before."""
    proc = os.path.join(folder, "proc")
    os.makedirs(os.path.join(proc, "sys", "vm"), exist_ok=True)
    put(os.path.join(proc, "allocinfo"), snapshot.allocinfo)
    put(os.path.join(proc, "meminfo"), snapshot.meminfo)
    put(os.path.join(proc, "sys", "vm", "mem_profiling"), b"1\n")
    done = subprocess.run([tool, "export", "--textfile", folder, "--proc", proc], check=False,
                          capture_output=True, text=True)
    if done.returncode:
        raise guest.Failure(f"allocinfo export: exit code {done.returncode}: {done.stderr.strip()}")
    with open(os.path.join(folder, "allocinfo.prom")) as f:
        return f.read()


def make(names, folder):
    """{recording: Pages} of the recordings in a folder."""
    tool = guest.tool("allocinfo")
    made = {}
    for name in names:
        path = recordings.path_of(name, folder)
        if not os.path.exists(path):
            raise guest.Failure(f"no {path}: run qemu-test/fleet/hosts record")
        header, found = snapshots.read(path)
        with tempfile.TemporaryDirectory() as where:
            made[name] = Pages([export(tool, where, s) for s in found], header["release"])
    return made
