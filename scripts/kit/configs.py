# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/build-configs asks of kconfig, and whether kconfig accepted it."""

import random
import re

from . import kbuild
from .util import TOP

# Large parts of the kernel that allocate as all others do: only "allmod" compiles them.
LARGE = """DRM SOUND MEDIA_SUPPORT STAGING INFINIBAND WLAN ETHERNET IIO HWMON USB_SUPPORT
SCSI_LOWLEVEL INPUT I2C SPI RC_CORE FB MTD TARGET_CORE COMEDI GNSS CAN_DEV""".split()

# Options that make a build slow or large, and that do not touch the code of the series.
SLOW = """KASAN KCSAN UBSAN GCOV_KERNEL DEBUG_INFO DEBUG_INFO_DWARF5 DEBUG_INFO_DWARF4
DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT COMPILE_TEST_WARNINGS KCOV FTRACE_MCOUNT_USE_RECORDMCOUNT
GCC_PLUGINS LTO_CLANG_FULL BUILD_BIN2C MODULE_COMPRESS_XZ MODULE_SIG HEADERS_INSTALL
RANDSTRUCT_FULL RANDSTRUCT_PERFORMANCE SECURITY_LOADPIN_VERITY""".split()

# In an allmodconfig of arm64, gcc 12 warns about drivers/crypto/caam/key_gen.c, which is unchanged.
# The warning must not be an error: after an error, make runs neither modpost nor the linker.
MAKE_VARIABLES = ["CFLAGS_key_gen.o=-Wno-error=nonnull"]

ALLOCATORS = {"x86_64": ["SLUB", "SLAB", "SLOB"], "i386": ["SLUB", "SLAB"], "arm64": ["SLUB", "SLAB"]}
OURS = re.findall(r"^(CONFIG_\w+)=y$", (TOP / "scripts" / "debian" / "codetag.config").read_text(), re.M)
# What the options of the series depend on.
NEEDED = ["CONFIG_DEBUG_FS", "CONFIG_KALLSYMS", "CONFIG_NUMA", "CONFIG_KFENCE", "CONFIG_MODULES", "CONFIG_PRINTK"]


def off(symbols):
    return [f"# CONFIG_{symbol} is not set" for symbol in symbols]


class Wanted:
    """A request to kconfig: the lines that it must accept, those that it may drop, and their summary."""

    def __init__(self, must, may, words=""):
        self.must, self.may, self.words = must, may, words

    def lines(self):
        return self.must + self.may


def random_lines(arch, seed):
    """What the random configuration of this seed asks for.

    Whatever the summary names is a line that kconfig must accept.
    """
    dice = random.Random(seed)
    allocator = dice.choice(ALLOCATORS[arch])
    smp = arch == "arm64" or dice.random() < 0.5
    profiling = allocator != "SLOB" and dice.random() < 0.75
    must = ["CONFIG_EXPERT=y", f"CONFIG_{allocator}=y", "CONFIG_WERROR=y"]
    must += ["CONFIG_SMP=y"] if smp else off(["SMP"])
    must += ["CONFIG_64BIT=y"] if arch != "i386" else off(["64BIT"])
    must += ["CONFIG_MEM_ALLOC_PROFILING=y", "CONFIG_PROC_FS=y"] if profiling else off(["MEM_ALLOC_PROFILING"])
    # without what it depends on, kconfig leaves an option out
    wishes = [f"{symbol}=y" for symbol in [*OURS, *NEEDED] if "PROFILING" not in symbol and dice.random() < 0.5]
    words = [allocator, "SMP" if smp else "UP", "profiling" if profiling else "no profiling"]
    return Wanted(must, off(LARGE + SLOW) + wishes, ", ".join(words))


def allmod_lines():
    """The options that allmodconfig must set: all of the series.  It may ignore what is off, if
    another option selects it.

    KUnit is built in, because most suites of the series depend on KUNIT=y.  Debian makes the Android
    binder a module, which modpost refuses: nothing exports put_ipc_ns().
    """
    return Wanted(["CONFIG_WERROR=y", "CONFIG_MODULES=y", "CONFIG_KUNIT=y", "CONFIG_ANDROID_BINDER_IPC=y",
                   *(f"{symbol}=y" for symbol in OURS)],
                  off(SLOW))


# Files behind SLOW call allocators, too: a small configuration has these options, and only
# the targets of the rest are compiled.
REST = """CONNECTOR=y DEBUG_FS=y EXPERT=y GCOV_KERNEL=y HEADERS_INSTALL=y KASAN=y KASAN_KUNIT_TEST=y
KASAN_MODULE_TEST=m KCOV=y KUNIT=y MEM_ALLOC_PROFILING=y MODULES=y NET=y PROC_FS=y SAMPLES=y
SAMPLE_CONNECTOR=m SLUB=y SYSFS=y TEST_UBSAN=m UBSAN=y WERROR=y""".split()
REST_TARGETS = """kernel/gcov/ kernel/kcov.o lib/test_ubsan.o lib/ubsan.o mm/kasan/
samples/connector/cn_test.o""".split()
REST_OF_ARCH = {"x86_64": ["arch/x86/mm/kasan_init_64.o"], "arm64": ["arch/arm64/mm/kasan_init.o"]}


def rest_lines():
    return Wanted([f"CONFIG_{line}" for line in REST], [])


def missing(must, config):
    """The lines that the file of a configuration does not have; "is not set" is a line, too."""
    have = kbuild.read_config(config)
    lost = []
    for line in must:
        wanted = kbuild.SYMBOL_RE.match(line)
        symbol, value = wanted[1] or wanted[3], wanted[2] or "n"
        if have.get(symbol, "n") != value:
            lost.append(f"{symbol}={value}")
    return lost
