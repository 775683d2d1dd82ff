# SPDX-License-Identifier: GPL-2.0-only
"""The kernel packages that the Debian guest installs."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

from boot import guest

sys.path.insert(0, os.path.join(guest.ROOT, "scripts"))
from kit import flavours  # noqa: E402

ARCHES = ("amd64", "all")
FLAVOUR = "cloud-amd64"
# files of the packages that differ in the later build, which we make
CHANGED = ("boot/config-{release}", "usr/src/linux-headers-{release}/.config",
           "lib/systemd/system/allocinfod.service")


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], check=True, capture_output=True,
                          text=True).stdout.strip()


class Packages:
    """The packages of a folder that the guest installs; one of them is the kernel."""

    def __init__(self, folder):
        found = sorted(glob.glob(os.path.join(folder, "*.deb")))
        self.folder = folder
        self.debs = [d for d in found if not flavours.is_extra(os.path.basename(d))
                     and field(d, "Architecture") in ARCHES]
        names = [field(d, "Package") for d in self.debs]
        for name in names:
            if names.count(name) > 1:
                raise guest.Failure("%s has %s twice: remove one of them" % (folder, name))
        images = [n for n in names if n.startswith("linux-image-")]
        if len(images) != 1:
            raise guest.Failure("%s has %d packages linux-image-* for amd64, want one: run make deb "
                                "FLAVOUR=%s" % (folder, len(images), FLAVOUR))
        self.image = images[0]
        self.release = self.image.removeprefix("linux-image-")
        self.headers = "linux-headers-" + self.release
        # the package that DEBUG_INFO=1 makes of the same build, or None
        name = os.path.basename(self.debs[names.index(self.image)]).replace("_", "-dbg_", 1)
        debug = os.path.join(folder, "extra", name)
        self.debug = debug if os.path.exists(debug) else None
        # A kernel of Debian can stand in for ours, to test the cases themselves.
        self.stand_in = self.release.startswith("6.1.0-")
        # DEBUG_INFO=1 also gives the image BTF, which Debian's kernels always have
        self.btf = self.stand_in or self.debug is not None
        self.id = self.hash()

    def passed(self, states):
        """Are the results of all tests good?  Only a stand-in, which has no profiling, may skip tests."""
        return "ok" in states and "not ok" not in states and (self.stand_in or "skip" not in states)

    def versions(self):
        return ["%s %s" % (field(d, "Package"), field(d, "Version")) for d in self.debs]

    def check_later(self, later):
        """Fails unless all our packages have a higher version in the folder of a later build."""
        theirs = {field(d, "Package"): field(d, "Version") for d in later.debs}
        for deb in self.debs:
            name, version = field(deb, "Package"), field(deb, "Version")
            if name not in theirs:
                raise guest.Failure("%s has no %s, and %s has one" % (later.folder, name, self.folder))
            if subprocess.run(["dpkg", "--compare-versions", theirs[name], "gt", version], check=False).returncode:
                raise guest.Failure("%s: %s %s is not higher than %s of %s" % (
                    later.folder, name, theirs[name], version, self.folder))

    def hash(self):
        total = hashlib.sha256()
        for deb in self.debs:
            with open(deb, "rb") as f:
                total.update(hashlib.file_digest(f, "sha256").digest())
        return total.hexdigest()

    def lay(self, folder):
        os.makedirs(folder)
        for deb in self.debs:
            shutil.copy(deb, folder)

    def lay_next(self, folder, later=None):
        """Copy the packages of a later build of the same release.

        Without one, copy our own with a higher version, another configuration and another unit.
        """
        if later:
            later.lay(folder)
            return
        os.makedirs(folder)
        for deb in self.debs:
            if field(deb, "Package") not in (self.image, self.headers, "codetag-tools"):
                continue
            repack(deb, folder, [path.format(release=self.release) for path in CHANGED])


def append(root, path):
    """Appends a line to a file of an unpacked package, if the package has it."""
    if not os.path.exists(os.path.join(root, path)):
        return
    with open(os.path.join(root, path), "r+b") as f:
        text = f.read() + b"# the next build\n"
        f.seek(0)
        f.write(text)
    sums = os.path.join(root, "DEBIAN", "md5sums")
    with open(sums) as f:
        lines = re.sub(r"^[0-9a-f]+(?=  %s$)" % re.escape(path), hashlib.md5(text).hexdigest(), f.read(),
                       flags=re.M)
    with open(sums, "w") as f:
        f.write(lines)


def repack(deb, folder, changed):
    """Writes a copy of a package whose version is the next one; these files differ."""
    work = os.path.join(folder, "work")
    log = os.path.join(folder, os.path.basename(deb) + ".log")
    guest.quiet_command(["dpkg-deb", "-R", deb, work], log)
    control = os.path.join(work, "DEBIAN", "control")
    with open(control) as f:
        text = re.sub(r"^(Version: .*)$", r"\1+next", f.read(), flags=re.M)
    with open(control, "w") as f:
        f.write(text)
    for path in changed:
        append(work, path)
    guest.quiet_command(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", work, folder], log)
    os.unlink(log)
    shutil.rmtree(work)
