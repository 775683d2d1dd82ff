# SPDX-License-Identifier: GPL-2.0-only
"""Read the code tags of a 64-bit image: a linked kernel, a module or an object."""

import struct

from .util import fail

SHF_ALLOC, SHT_SYMTAB, SHT_RELA, SHT_NOBITS, ET_REL = 2, 2, 4, 8, 1
# struct codetag: filename, function, lineno, index, flags
TAG = "QQIHH"


class Image:
    """The sections of an ELF file, and its strings by address or relocation."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as handle:
            self.data = handle.read()
        if self.data[:5] != b"\x7fELF\x02" or len(self.data) < 64:
            fail(f"{path}: not a 64-bit ELF file")
        self.order = "<" if self.data[5] == 1 else ">"
        try:
            self.read_sections()
        except (struct.error, IndexError, ValueError):
            fail(f"{path}: an ELF file that is cut short or damaged")

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def read_sections(self):
        self.type = self.unpack("H", 16)[0]
        table = self.unpack("Q", 40)[0]
        size, number, names = self.unpack("HHH", 58)
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        rows = [self.unpack("IIQQQQIIQQ", table + i * size) for i in range(number)]
        self.sections = rows
        base = rows[names][4]
        self.names = [self.cstring(base + row[0]) for row in rows]

    def cstring(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode(errors="replace")

    def offset(self, address):
        """The offset in the file of the byte that is loaded at @address."""
        for row in self.sections:
            if row[2] & SHF_ALLOC and row[1] != SHT_NOBITS and row[3] <= address < row[3] + row[5]:
                return row[4] + address - row[3]
        fail(f"{self.path}: no section holds address {address:#x}; is the image linked?")
        return None

    def symbols(self, names):
        """name -> value, for those @names that the symbol table has."""
        out = {}
        for row in self.sections:
            if row[1] == SHT_SYMTAB:
                strings = self.sections[row[6]][4]
                for at in range(row[4], row[4] + row[5], 24):
                    name = self.cstring(strings + self.unpack("I", at)[0])
                    if name in names:
                        out[name] = self.unpack("Q", at + 8)[0]
        return out

    def relocated(self, index):
        """offset -> string, for the pointers in section @index of an object."""
        out = {}
        for row in self.sections:
            if row[1] != SHT_RELA or row[7] != index:
                continue
            symbols = self.sections[row[6]][4]
            for at in range(row[4], row[4] + row[5], 24):
                offset, info, addend = self.unpack("QQq", at)
                section, value = self.unpack("HQ", symbols + (info >> 32) * 24 + 6)
                out[offset] = self.cstring(self.sections[section][4] + value + addend)
        return out

    def tags(self, section="alloc_tags"):
        """(file, function, line) of every tag.

        The tags are in a section of that name, or between the two symbols that the
        kernel's linker script defines.
        """
        out = []
        for index, row in enumerate(self.sections):
            if self.names[index] == section:
                strings = self.relocated(index) if self.type == ET_REL else None
                out += self.row(row[4], row[5], strings)
        bounds = self.symbols({f"__start_{section}", f"__stop_{section}"})
        if not out and len(bounds) == 2:
            start, stop = sorted(bounds.values())
            out = self.row(self.offset(start), stop - start, None) if stop > start else []
        return out

    def row(self, start, length, strings):
        """The tags in @length bytes of the file."""
        size, out = struct.calcsize("<" + TAG), []
        if length % size:
            fail(f"{self.path}: the size of the tags is no multiple of struct codetag")
        for at in range(0, length, size):
            name, function, line, _, _ = self.unpack(TAG, start + at)
            if strings is None:
                out.append((self.cstring(self.offset(name)), self.cstring(self.offset(function)), line))
            else:
                out.append((strings[at], strings[at + 8], line))
        return out
