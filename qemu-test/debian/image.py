# SPDX-License-Identifier: GPL-2.0-only
"""The disk of the Debian guest: built once, then never written to.

build/debian-guest/base.img is the disk.  base.id has the hash of all that it was made
from; another hash makes a new disk.  Guests write to overlays (qcow2), so a guest cannot
change the disk of another.
"""

import hashlib
import os
import shutil
import subprocess
import time

from boot import guest

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.path.join(guest.ROOT, "build", "debian-guest")
BASE = os.path.join(DIR, "base.img")
SUITE = "bookworm"
# the guest's own archive
REPO = "/srv/repo"
# the root of the container
SMALL = "/srv/small.tar"


def package_lists():
    """{list: [package]} of the file packages."""
    lists = {}
    with open(os.path.join(HERE, "packages")) as f:
        for line in f:
            name, colon, rest = line.partition(":")
            if colon and not line.startswith("#"):
                lists.setdefault(name, []).extend(rest.split())
    return lists


def recipe():
    """A hash of everything here that the disk is made from."""
    paths = [os.path.join(HERE, name) for name in ("image.py", "mkdisk", "packages")]
    for folder, _, names in sorted(os.walk(os.path.join(HERE, "root"))):
        paths += [os.path.join(folder, name) for name in sorted(names)]
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            total.update(os.path.relpath(path, HERE).encode() + b"\0" + f.read())
    return total.hexdigest()


def as_root(argv):
    """The command as root, or as somebody whom programs take for root."""
    return argv if os.geteuid() == 0 else ["fakeroot", *argv]


def log(name):
    return os.path.join(DIR, name + ".log")


def debootstrap(name, variant, packages, hooks=()):
    """Makes DIR/NAME.tar, the root of a Debian with these packages; returns its path."""
    tar = os.path.join(DIR, name + ".tar")
    guest.quiet_command(["mmdebstrap", "--variant=" + variant, "--include=" + ",".join(packages),
                         "--aptopt=APT::Install-Recommends \"false\"",
                         *["--customize-hook=" + hook for hook in hooks], SUITE, tar], log(name))
    return tar


def repo_hooks(packages):
    """Commands for mmdebstrap that fill the guest's archive."""
    apt = ("apt-get -y --no-install-recommends --download-only "
           "-o Dir::Cache::archives=%s -o APT::Keep-Downloaded-Packages=true install %s" %
           (REPO, " ".join(packages)))
    return ['mkdir -p "$1%s/partial"' % REPO, 'chroot "$1" ' + apt,
            'rm -rf "$1%s/partial" "$1%s/lock"' % (REPO, REPO),
            'chroot "$1" sh -c "cd %s && dpkg-scanpackages -m . >Packages"' % REPO]


def build():
    lists = package_lists()
    small = debootstrap("small", "essential", lists["small"])
    root = debootstrap("root", "important", lists["image"],
                       [*repo_hooks(lists["repo"]), 'upload "%s" %s' % (small, SMALL)])
    work = os.path.join(DIR, "work")
    shutil.rmtree(work, ignore_errors=True)
    guest.quiet_command(as_root([os.path.join(HERE, "mkdisk"), root, work, BASE]), log("mkdisk"))
    os.unlink(small)
    os.unlink(root)


def need():
    """Builds the disk unless there is one of the same recipe; returns its id."""
    wanted = recipe()
    id_file = os.path.join(DIR, "base.id")
    with guest.claim("debian-image"):
        if guest.text_of(id_file) != wanted or not os.path.exists(BASE):
            start = time.monotonic()
            os.makedirs(DIR, exist_ok=True)
            guest.say("# image: mmdebstrap %s, two to ten minutes" % SUITE)
            build()
            with open(id_file, "w") as f:
                f.write(wanted)
            guest.say("# took: debian: image: %d s" % (time.monotonic() - start))
    return wanted


def overlay(path, backing):
    """A new disk that starts as a copy of another one and keeps its own changes."""
    kind = "raw" if backing == BASE else "qcow2"
    guest.quiet_command(["qemu-img", "create", "-q", "-f", "qcow2", "-b", backing, "-F", kind, path],
                        log("overlay"))


def transport(path, folder):
    """A disk with the files of a folder, which the guest mounts read-only at /qt."""
    used = int(subprocess.run(["du", "-sk", folder], check=True, capture_output=True,
                              text=True).stdout.split()[0])
    if os.path.exists(path):
        os.unlink(path)
    guest.quiet_command([guest.mke2fs(), "-q", "-F", "-t", "ext4", "-L", "qt", "-O", "^has_journal",
                         "-d", folder, path, "%dk" % (used * 5 // 4 + 8192)], log("transport"))
