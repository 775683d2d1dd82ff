# SPDX-License-Identifier: GPL-2.0-only
#
# gdb helper commands and functions for Linux kernel debugging
#
#  memory allocation profiling: /proc/allocinfo of a stopped kernel
#
# The command reads arrays in one piece, since each read may cross a serial line.

import gdb

from linux import cpus, lists, utils

SHARED = 1              # ALLOC_TAG_SHARED
CHUNK_SHIFT = 8         # ALLOC_TAG_CHUNK_SHIFT
STEP_SHIFT = 28         # LAZY_PERCPU_STEP_SHIFT


def array_at(pointer, nr):
    """The nr elements at a pointer, fetched at once."""
    array = pointer.cast(pointer.type.target().array(nr - 1).pointer()).dereference()
    array.fetch_lazy()
    return array


def part_sum(part):
    """A CPU's part of a sum: the number nearest to @steps whose low bits are @sum."""
    if part.type.sizeof == 2 * part["sum"].type.sizeof:
        return int(part["sum"])
    near = int(part["steps"]) << STEP_SHIFT
    return near + (int(part["sum"]) - near + (1 << 31)) % (1 << 32) - (1 << 31)


class Counters:
    """Sums of counters, by index."""

    def __init__(self):
        self.pointers = gdb.parse_and_eval("alloc_tag_chunks")
        self.chunks = {}
        self.cpus = list(cpus.each_possible_cpu())

    def chunk(self, nr):
        if nr not in self.chunks:
            self.chunks[nr] = array_at(self.pointers[nr], 1 << CHUNK_SHIFT)
        return self.chunks[nr]

    def read(self, index):
        """(bytes, calls) of a counter, its CPUs' parts included."""
        counter = self.chunk(index >> CHUNK_SHIFT)[index & ((1 << CHUNK_SHIFT) - 1)]
        held = int(counter["sum"]["counter"])
        calls = int(counter["count"]["counter"])
        if counter["parts"]:
            for cpu in self.cpus:
                part = cpus.per_cpu(counter["parts"], cpu)
                held += part_sum(part)
                calls += int(part["count"])
        return max(held, 0), max(calls, 0)


class Names:
    """Strings of the target, each read once: many tags share a string."""

    def __init__(self):
        self.known = {}

    def get(self, pointer):
        address = int(pointer)
        if address not in self.known:
            self.known[address] = pointer.string()
        return self.known[address]


def tags():
    """All tags, each with its range."""
    tag = gdb.lookup_type("struct alloc_tag").pointer()
    ranges = gdb.parse_and_eval("alloc_tag_type.ranges")
    ranges_of = gdb.lookup_type("struct codetag_range").pointer()
    for r in lists.list_for_each_entry(ranges, ranges_of, "node"):
        nr = int(r["nr"])
        if nr:
            array = array_at(r["tags"].cast(tag), nr)
            for i in range(nr):
                yield r, array[i]["ct"]


def rows():
    """(bytes, calls, text) as /proc/allocinfo has them, in its order."""
    counters, names = Counters(), Names()

    def text(ct, module):
        return "{}:{}{} func:{}{}".format(
            names.get(ct["filename"]), int(ct["lineno"]),
            " [{}]".format(names.get(module)) if module else "",
            names.get(ct["function"]),
            " accurate:no" if int(ct["flags"]) & SHARED else "")

    for r, ct in tags():
        shared = int(ct["flags"]) & SHARED or not int(ct["index"])
        held, calls = (0, 0) if shared else counters.read(int(ct["index"]))
        gone = r["modname"] and not r["mod"]
        if held or not gone:
            yield held, calls, text(ct, r["modname"])
    catch_all = gdb.parse_and_eval("alloc_tag_catch_all.ct")
    held, calls = counters.read(int(catch_all["index"]))
    if held:
        yield held, calls, text(catch_all, None)


class LxAllocinfo(gdb.Command):
    """Print the memory that each line of kernel code holds.

lx-allocinfo [N]: all lines, as /proc/allocinfo shows them; with N, the N that
hold the most memory, the largest first."""

    def __init__(self):
        super(LxAllocinfo, self).__init__("lx-allocinfo", gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        if arg and not (arg.isdigit() and int(arg)):
            raise gdb.GdbError("lx-allocinfo [N]: N is the number of lines to print")
        if utils.gdb_eval_or_none("alloc_tag_available") is None:
            raise gdb.GdbError("this kernel has no memory allocation profiling")
        if not gdb.parse_and_eval("alloc_tag_available"):
            raise gdb.GdbError("memory allocation profiling is unavailable (sysctl.vm.mem_profiling=never?)")
        found = rows()
        if arg:
            found = sorted(found, key=lambda row: -row[0])[:int(arg)]
        gdb.write("allocinfo - version: 2.0\n")
        gdb.write("#     <size>  <calls> <tag info>\n")
        for held, calls, text in found:
            gdb.write("{:12} {:8} {} \n".format(held, calls, text))


LxAllocinfo()
