#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Play the kernel's side of alloc_tags.ctx, in a file.

fake-contexts.py FILE LOG [--busy] [--dropped N]

A program appends a command to FILE. After "enable", FILE shows two call stacks ten times a
second: one that grows and one that does not. After "disable" it shows nothing. LOG gets the
commands. --busy: the call site is captured from the start. It ends when its input does.
"""

import argparse
import os
import select
import sys
import time

SITE = "      900KiB      230 net/leak.c:33 module:net func:leak_alloc\n"


def stack(count, name, frames):
    text = f"    count: {count}\n    bytes: {count * 4096}\n"
    text += f"    size: 4096\n    pid: 71\n    tgid: 70\n    comm: {name}\n    ts: 1234\n"
    return text + "    call stack:\n" + "".join(f"         {f}+0x10/0x80\n" for f in frames)


def text_after(ticks, dropped):
    text = SITE + (f"    dropped for memory: {dropped}\n" if dropped else "")
    text += stack(20 + ticks % 3, "quiet", ["leak_alloc", "steady_caller"])
    # a name that contains what looks like a line
    return text + stack(1 + ticks, "x\n    ts: 1", ["leak_alloc", "bad_caller", "[ext4]"])


def put(fd, text):
    """Show the text at once, as far as a reader of a file can see it at once."""
    os.pwrite(fd, text.encode(), 0)
    os.ftruncate(fd, len(text))


def command(fd, shown):
    """Return what a program appended."""
    return os.pread(fd, 4096, shown).decode().strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("log")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--dropped", type=int, default=0)
    args = parser.parse_args()
    fd = os.open(args.file, os.O_RDWR | os.O_CREAT, 0o600)
    ticks, on, text = 0, args.busy, ""
    with open(args.log, "a", encoding="ascii", buffering=1) as log:
        ended = False
        while not ended:    # once more after the end: the last command may be new
            ended = select.select([sys.stdin], [], [], 0)[0]
            said = command(fd, len(text))
            if said:
                log.write(said + "\n")
                on = said.endswith("enable")
            ticks += on
            text = text_after(ticks, args.dropped) if on else ""
            put(fd, text)
            time.sleep(0.1)


if __name__ == "__main__":
    main()
