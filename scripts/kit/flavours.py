# SPDX-License-Identifier: GPL-2.0-only
"""The flavours of `make deb`: what each is made from, and the folder of its packages.

build/deb/FLAVOUR/ has the packages that a machine installs, of one version and one
architecture: linux-image-, linux-headers- and codetag-tools.  Its folder extra/ has the
others: linux-libc-dev, which would replace Debian's package, debug information, and headers
of another architecture: their programs are for the machine that made them.
"""

import os
import re
import shutil
import time
from pathlib import Path
from typing import NamedTuple, Optional

from . import archive, kbuild
from .util import BUILD, TOP, fail, write_if_changed


class Flavour(NamedTuple):
    arch: str                   # in our words
    debarch: str                # in Debian's
    config: Optional[str]       # Debian's configuration, a file in linux-config-6.1
    steps: int                  # of a first build


FLAVOURS = {
    "cloud-amd64": Flavour("x86_64", "amd64", "config.amd64_none_cloud-amd64", 11300),
    "amd64": Flavour("x86_64", "amd64", "config.amd64_none_amd64", 33000),
    "arm64": Flavour("arm64", "arm64", "config.arm64_none_arm64", 31900),
    "default": Flavour("x86_64", "amd64", None, 1000),
}
# What a machine of an architecture can build; the first flavour is its default, see also default().
BUILDS = {"amd64": ("cloud-amd64", "amd64", "arm64", "default"), "arm64": ("arm64",)}
BOOT = Path("/boot")
FRAGMENTS = TOP / "scripts" / "debian"
EXTRA_RE = re.compile(r"-dbg(sym)?_|^linux-libc-dev_|\.(buildinfo|changes)$")


def default(machine):
    """The flavour of a machine for which none is named.

    Debian's cloud-amd64 has no drivers for USB, nor for most disks of a PC.  If the running
    kernel has drivers for USB, it may need those of a PC.
    """
    flavour = BUILDS[machine][0]
    config = BOOT / f"config-{os.uname().release}"
    if flavour == "cloud-amd64" and config.exists() and "\nCONFIG_USB_SUPPORT=y\n" in config.read_text():
        flavour = "amd64"
    return flavour


def chosen(word):
    """The flavour of that name; without a name, the default of this machine."""
    if word and word not in FLAVOURS:
        fail(f"no FLAVOUR={word}; there are: {', '.join(FLAVOURS)}")
    machine = archive.native()
    if machine not in BUILDS:
        fail(f"packages are built on {' or '.join(BUILDS)}, and this is {machine}")
    if word and word not in BUILDS[machine]:
        fail(f"FLAVOUR={word} is built on {FLAVOURS[word].debarch}, and this is {machine}, "
             f"which builds {', '.join(BUILDS[machine])}")
    return word or default(machine)


def out_dir(flavour):
    """Where kbuild builds it, with debug information or without: a later run continues there."""
    return kbuild.out_dir(FLAVOURS[flavour].arch, f"deb-{flavour}")


def fragments(flavour, debug_info):
    """The files that are merged into the configuration of the flavour."""
    if not FLAVOURS[flavour].config:
        if debug_info:
            fail(f"FLAVOUR={flavour} has no DEBUG_INFO=1")
        return kbuild.fragments("deb-default")
    names = ["codetag", "package"] + (["debug-info"] if debug_info else [])
    return [FRAGMENTS / f"{name}.config" for name in names]


def start(flavour, out):
    """Debian's configuration of the flavour, as a file in out, or None."""
    _, debarch, name, _ = FLAVOURS[flavour]
    if not name:
        return None
    out.mkdir(parents=True, exist_ok=True)
    path = out / "debian.config"
    write_if_changed(path, archive.debian_config(name, debarch))
    return path


def make_variables(flavour):
    """The make variables of a flavour.

    builddeb packs KBUILD_IMAGE, which is compressed by default on arm64, where EFI starts only the plain
    image.  CROSS_COMPILE_COMPAT compiles the vDSO of 32-bit programs.
    """
    if FLAVOURS[flavour].arch != "arm64":
        return []
    return ["KBUILD_IMAGE=arch/arm64/boot/Image", "CROSS_COMPILE_COMPAT=arm-linux-gnueabihf-"]


def suffix(flavour):
    """The last part of the version of its packages."""
    return f"+{flavour.removesuffix('-amd64')}"


def version(flavour, when):
    """Greater than Debian's version of the same source, and rising with time."""
    words = (BUILD / "linux-base.id").read_text().split()
    base = archive.base_version() or f"{words[-2]}-0"
    stamp = time.strftime("%Y%m%d.%H%M", time.gmtime(when))
    return f"{base}+codetag{stamp}{suffix(flavour)}"


def folder(flavour):
    return BUILD / "deb" / flavour


def is_extra(name):
    """Is this file, by its name, one that a machine need not install?"""
    cross = name.startswith("linux-headers-") and not name.endswith(f"_{archive.native()}.deb")
    return cross or bool(EXTRA_RE.search(name))


def publish(flavour, new, pattern):
    """Move these files to the folder of the flavour, in place of all that fit the pattern there.

    Return their new paths.
    """
    extra = folder(flavour) / "extra"
    extra.mkdir(parents=True, exist_ok=True)
    for old in (*folder(flavour).glob(pattern), *extra.glob(pattern)):
        old.unlink()
    return [Path(shutil.move(path, (extra if is_extra(path.name) else extra.parent) / path.name))
            for path in new]


def remove_packages(flavour):
    """Remove what kbuild put beside out_dir(), also what an interrupted build wrote in part."""
    for rest in out_dir(flavour).parent.glob(f"linux-*{suffix(flavour)}_*"):
        rest.unlink()


def collect(flavour, number):
    """Publish the packages of this version, which kbuild put beside out_dir(); return their paths.

    Remove all other packages of the flavour there.
    """
    found = sorted(out_dir(flavour).parent.glob(f"linux-*_{number}_*.deb"))
    if not found:
        fail(f"the build made no package of version {number}")
    paths = publish(flavour, found, "linux-*")
    remove_packages(flavour)
    # what the packages were made of, some gigabytes with debug information
    for rest in out_dir(flavour).glob("debian/linux-*"):
        shutil.rmtree(rest)
    return paths
