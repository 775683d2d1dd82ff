#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""allocinfo-dump: flattened dumps, whole, cut off and damaged; and pointers with a tag of KASAN.

test-dump.py PROGRAM [SEED]
"""

import importlib.machinery
import importlib.util
import io
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
ROUNDS = 2000


def load(path):
    loader = importlib.machinery.SourceFileLoader("allocinfo_dump", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("allocinfo_dump", loader))
    loader.exec_module(module)
    return module


def flatten(dump, rng, plain):
    """Records of random sizes in a random order; some bytes are written twice."""
    cuts = sorted({0, len(plain), *(rng.randrange(len(plain)) for _ in range(rng.randrange(8)))})
    parts = list(zip(cuts, cuts[1:]))
    rng.shuffle(parts)
    text = dump.FLAT_MAGIC.ljust(dump.FLAT_FIRST, b"\0")
    for start, end in parts + parts[:1]:
        text += dump.FLAT_RECORD.pack(start, end - start) + plain[start:end]
    return text + dump.FLAT_RECORD.pack(*dump.FLAT_END)


def restored(dump, text):
    """The plain dump, or None if it was refused."""
    flat = io.BytesIO(text)
    flat.seek(len(dump.FLAT_MAGIC))
    with tempfile.TemporaryFile() as plain:
        try:
            dump.unflatten(flat, "dump", plain.fileno())
        except dump.Failure:
            return None
        if os.fstat(plain.fileno()).st_size > 1 << 20:
            return b"a damaged offset"
        return plain.read()


class Echo:
    """A memory that has its address at each place."""
    errors = ()

    @staticmethod
    def read(address, _):
        return address


def check_tags(dump):
    """Kernel pointers lose their tag.  An address of x86-64 that looks similar stays."""
    reader = dump.Dump.__new__(dump.Dump)
    reader.memory = Echo
    for pointer, address in ((0xf4ff000012345678, 0xffff000012345678), (0xfeffffc008000000, 0xffffffc008000000),
                             (0xffff888012345678, 0xffff888012345678), (0xff11000012345678, 0xff11000012345678)):
        assert reader.read(pointer, 8) == address, f"{pointer:#x} was read at {reader.read(pointer, 8):#x}"


def main():
    dump = load(sys.argv[1])
    check_tags(dump)
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        plain = rng.randbytes(rng.randrange(1, 5000))
        text = flatten(dump, rng, plain)
        assert restored(dump, text) == plain, "the plain dump differs"
        assert restored(dump, text[:rng.randrange(len(text))]) is None, "took a dump that was cut off"
        end = len(text) - dump.FLAT_RECORD.size
        for numbers in ((-1, 0), (-1, 1), (-2, -1), (0, 0), (0, -1), (0, dump.FLAT_MOST + 1)):
            assert restored(dump, text[:end] + dump.FLAT_RECORD.pack(*numbers)) is None, f"took {numbers}"
        damaged = bytearray(text)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(len(text))] = rng.randrange(256)
        # any result, but no other exception
        restored(dump, bytes(damaged))


main()
