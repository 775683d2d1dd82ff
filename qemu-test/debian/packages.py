# SPDX-License-Identifier: GPL-2.0-only
"""The kernel packages that the Debian guest installs."""

import glob
import hashlib
import os
import re
import shutil
import subprocess

from boot import guest

# Packages of --debs that the guest does not install: debug information, which is large, and
# the headers for libc, which would replace those of Debian
LEFT_OUT = re.compile(r"-dbg(sym)?_|^linux-libc-dev_")


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], check=True, capture_output=True,
                          text=True).stdout.strip()


class Packages:
    """The packages of a folder; one of them is the kernel."""

    def __init__(self, folder):
        found = sorted(glob.glob(os.path.join(folder, "*.deb")))
        self.debs = [d for d in found if not LEFT_OUT.search(os.path.basename(d))]
        images = [d for d in self.debs if os.path.basename(d).startswith("linux-image-")]
        if len(images) != 1:
            raise guest.Failure("%s has %d packages linux-image-*.deb, want one: run make deb "
                                "FLAVOUR=cloud-amd64" % (folder, len(images)))
        self.image = field(images[0], "Package")
        self.release = self.image.removeprefix("linux-image-")
        self.headers = "linux-headers-" + self.release
        self.id = self.hash()

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

    def lay_next(self, folder):
        """The image and the headers as a later build of the same release: a higher version."""
        os.makedirs(folder)
        for deb in self.debs:
            if field(deb, "Package") in (self.image, self.headers):
                repack(deb, folder)


def repack(deb, folder):
    """Writes a copy of a package whose version is the next one."""
    work = os.path.join(folder, "work")
    log = os.path.join(folder, os.path.basename(deb) + ".log")
    guest.quiet_command(["dpkg-deb", "-R", deb, work], log)
    control = os.path.join(work, "DEBIAN", "control")
    with open(control) as f:
        text = re.sub(r"^(Version: .*)$", r"\1+next", f.read(), flags=re.M)
    with open(control, "w") as f:
        f.write(text)
    guest.quiet_command(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", work, folder], log)
    os.unlink(log)
    shutil.rmtree(work)
