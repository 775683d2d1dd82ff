#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a recording of `allocinfo record` from text, with any times and boots.

make-recording.py FILE: standard input has a line "# time SECONDS" before each snapshot, which
is /proc/meminfo and /proc/allocinfo, as `allocinfo leak` reads it. A line "# boot ID" begins
another boot. A line "# clock SECONDS" sets the clock: from there on, the time of day is that many
seconds ahead of the times in the text. Snapshots are full ones; zstd permits blocks that are not compressed, so no
library is needed. snap.h describes the format.
"""

import re
import struct
import sys
import zlib

BLOCK = 1 << 17


def record(kind, contents, text_size):
    head = struct.pack("<8sB3xII", b"allocsnp", ord(kind), len(contents), text_size)
    return head + struct.pack("<I", zlib.crc32(contents, zlib.crc32(head))) + contents


def frame(text):
    """A frame of zstd: magic, a single segment with its size in 4 bytes, raw blocks."""
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(text))
    for at in range(0, len(text), BLOCK):
        block = text[at:at + BLOCK]
        last = at + BLOCK >= len(text)
        out += struct.pack("<I", last | len(block) << 3)[:3] + block
    return out


def header(boot):
    text = f"version 1\nboot_id {boot}\nrelease 6.1\nmachine x\nhost h\ncmdline\n".encode()
    return record("H", text, len(text))


def snapshot(day, seconds, meminfo, allocinfo):
    text = f"snapshot {day * 10**9} {seconds * 10**9} {len(meminfo)} {len(allocinfo)}\n"
    text = text.encode() + meminfo.encode() + b"\0" + allocinfo.encode() + b"\0"
    return record("F", frame(text), len(text))


def main():
    words = re.split(r"^# (time|boot|clock) (\S+)\n", sys.stdin.read(), flags=re.M)[1:]
    out, clock = [] if words[0] == "boot" else [header("one")], 0
    for word, value, text in zip(words[::3], words[1::3], words[2::3], strict=True):
        if word == "boot":
            out.append(header(value))
        if word == "clock":
            clock = int(value)
        if word != "time":
            continue
        at = text.index("allocinfo - version")
        out.append(snapshot(int(value) + clock, int(value), text[:at], text[at:]))
    with open(sys.argv[1], "wb") as f:
        f.write(b"".join(out))


if __name__ == "__main__":
    main()
