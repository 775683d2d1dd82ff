# SPDX-License-Identifier: GPL-2.0-only
"""The snapshots in a file of `allocinfo record`; tools/mm/allocinfo/snap.h has the format.

Debian's Python has no module for zstd, so this calls the library.
"""

import ctypes
import struct

from boot import guest

MAGIC = b"allocsnp"
HEAD = struct.Struct("<8sB3xIII")


class Zstd:
    """Unpacks frames, each with the text before it as a prefix."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libzstd.so.1")
        except OSError as error:
            raise guest.Failure("no libzstd.so.1: install libzstd1") from error
        for name in ("ZSTD_createDCtx", "ZSTD_decompressDCtx", "ZSTD_DCtx_refPrefix"):
            getattr(self.lib, name).restype = ctypes.c_size_t
        self.context = ctypes.c_void_p(self.lib.ZSTD_createDCtx())

    def unpack(self, data, size, prefix):
        text = ctypes.create_string_buffer(size)
        self.lib.ZSTD_DCtx_refPrefix(self.context, prefix, ctypes.c_size_t(len(prefix)))
        got = self.lib.ZSTD_decompressDCtx(self.context, text, ctypes.c_size_t(size),
                                           data, ctypes.c_size_t(len(data)))
        return text.raw if got == size else None


class Snapshot:
    """Nanoseconds since boot, and the texts of two files of /proc."""

    def __init__(self, text):
        head, rest = text.split(b"\n", 1)
        _, _, boottime, meminfo, allocinfo = head.split()
        self.boottime = int(boottime)
        self.meminfo = rest[:int(meminfo)]
        self.allocinfo = rest[int(meminfo) + 1:int(meminfo) + 1 + int(allocinfo)]


def read(path):
    """The header {name: value} of a recording, and its snapshots."""
    with open(path, "rb") as f:
        data = f.read()
    zstd, header, found, text, at = Zstd(), {}, [], b"", 0
    while at < len(data):
        magic, kind, size, text_size, _ = HEAD.unpack_from(data, at)
        contents = data[at + HEAD.size:at + HEAD.size + size]
        at += HEAD.size + size
        if magic != MAGIC or len(contents) != size:
            raise guest.Failure(f"{path} is damaged: run qemu-test/fleet/hosts record again")
        if kind == ord("H"):
            header = dict(line.split(" ", 1) for line in contents.decode().splitlines() if " " in line)
            continue
        text = zstd.unpack(contents, text_size, text if kind == ord("D") else b"")
        if text is None:
            raise guest.Failure(f"{path}: cannot unpack a snapshot")
        found.append(Snapshot(text))
    return header, found
