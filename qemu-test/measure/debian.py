# SPDX-License-Identifier: GPL-2.0-only
"""Kernels in Debian's configuration: Debian's own, and that of `make deb`.

Used by qemu-test/compare/debian, qemu-test/cost and scripts/bench.
"""

import os
import shutil
import sys

from boot import guest

sys.path.insert(0, os.path.join(guest.ROOT, "scripts"))
from kit import archive, util  # noqa: E402

FLAVOUR = "cloud-amd64"
OURS, THEIRS = "deb-" + FLAVOUR, "debian-" + FLAVOUR
ROOT = os.path.join(guest.ROOT, "build", guest.ARCH, "packages-" + FLAVOUR)


def of_base():
    """(package, its ABI name) of Debian's kernel that has the source of our base."""
    version = archive.base_version()
    if not version:
        raise guest.Failure("the base is not a package of Debian")
    abi = archive.kernel_abi(FLAVOUR, version)
    if not abi:
        raise guest.Failure("the archive has no linux-image-*-%s-unsigned of version %s" % (FLAVOUR, version))
    return version, abi


def make_theirs():
    """Makes a directory that the guest tests use like the O= directory of Debian's kernel."""
    version, abi = of_base()
    stamp, headers = os.path.join(ROOT, "version"), os.path.join(ROOT, "usr", "src", "linux-headers-" + abi)
    if guest.text_of(stamp).strip() != version:
        shutil.rmtree(ROOT, ignore_errors=True)
        for name in ("linux-image-%s-unsigned" % abi, *archive.header_packages(FLAVOUR, abi)):
            archive.unpack(archive.fetch(name, version), ROOT)
        for name in ("Makefile", ".kernelvariables"):   # they name files of the installed packages
            path = os.path.join(headers, name)
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                f.write(text.replace("/usr/src/", ROOT + "/usr/src/"))
        boot = os.path.join(headers, "arch", "x86", "boot")
        os.makedirs(boot, exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, "boot", "vmlinuz-" + abi), os.path.join(boot, "bzImage"))
        link = guest.kernel_dir(THEIRS)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(headers, link)
        with open(stamp, "w") as f:
            f.write(version + "\n")


def make_ours(build):
    if build:
        util.call(os.path.join(guest.ROOT, "scripts", "setup"), "deb")
        util.call(os.path.join(guest.ROOT, "scripts", "deb"), FLAVOUR)
    if not os.path.exists(guest.kernel_image(OURS)):
        raise guest.Failure("no kernel: run make deb FLAVOUR=%s" % FLAVOUR)


def module_of(config, name):
    """The path of a module of the kernel itself."""
    if config == THEIRS:
        return os.path.join(ROOT, "lib", "modules", of_base()[1], "kernel", name)
    return os.path.join(guest.kernel_dir(config), name)
