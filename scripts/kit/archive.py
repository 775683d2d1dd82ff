# SPDX-License-Identifier: GPL-2.0-only
"""Packages of Debian's archive, downloaded once into build/dl."""

import lzma
import re
import shutil
import subprocess

from .util import BUILD, Failure, fail, lock

DL = BUILD / "dl"


def base_version():
    """The version of the package linux-source-6.1 that build/linux-base is from, or None."""
    words = (BUILD / "linux-base.id").read_text().split()
    return words[1] if words[0] == "linux-source-6.1" else None


def native():
    """Debian's name of this machine's architecture."""
    if not shutil.which("dpkg"):
        fail("there is no dpkg here: packages are made on Debian")
    return subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


def empty_part():
    """Make build/dl/part, without what an interrupted run left there."""
    shutil.rmtree(DL / "part", ignore_errors=True)
    (DL / "part").mkdir(parents=True)


def apt(options, *args):
    """Run apt-get in build/dl/part."""
    argv = ["apt-get", "-q", "-oAPT::Sandbox::User=root", *[f"-o{option}" for option in options], *args]
    done = subprocess.run(argv, cwd=DL / "part", check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        fail(f"apt-get {args[0]} failed: {last}")


def fetch(name, version, arch=""):
    """The path of a package in exactly this version.

    arch may be one that dpkg does not know here; apt then has lists and caches of its own.
    """
    with lock("dl"):
        found = sorted(DL.glob(f"{name}_{version}_{arch or '*'}.deb"))
        return found[0] if found else download(name, version, arch)


def download(name, version, arch):
    print(f"downloading {name} {version}", flush=True)
    empty_part()
    options = []
    if arch and arch != native():
        state = DL / f"apt-{arch}"
        (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        options = [f"Dir::State={state}", f"Dir::Cache={state}/cache", "Dir::State::status=/dev/null",
                   f"APT::Architecture={arch}", f"APT::Architectures={arch}"]
        apt(options, "update")
    try:
        apt(options, "download", f"{name}={version}")
    except Failure as failure:
        fail(f"{failure}\n  The base is of version {base_version()}. If the archive has a newer one, `make rebase` moves "
             "the base to it.")
    package = next((DL / "part").glob(f"{name}_*.deb"))
    return package.rename(DL / package.name)


def unpack(package, where):
    subprocess.run(["dpkg-deb", "-x", package, where], check=True)
    return where


def debian_config(name, arch):
    """The text of Debian's configuration NAME for the kernel of the base's version."""
    version = base_version()
    if not version:
        fail("the base is not a package of Debian, so it has no configuration of Debian; "
             "without KERNEL_SRC, or with FLAVOUR=default, this works")
    package = fetch("linux-config-6.1", version, arch)
    with lock("dl"):    # the builds of two flavours unpack the same files
        packed = unpack(package, package.with_suffix("")) / "usr" / "src" / "linux-config-6.1" / f"{name}.xz"
        if not packed.exists():
            fail(f"{package} has no {packed.name}")
        return lzma.decompress(packed.read_bytes()).decode()


def shown(package, version, arch=""):
    """{field: value} of a package in this version, as apt's lists have it, or {}.

    arch: of another architecture, unless the package is for all.
    """
    other = arch and arch != native()
    for name in ([f"{package}:{arch}"] if other else []) + [package]:
        text = subprocess.run(["apt-cache", "show", f"{name}={version}"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        fields = dict(re.findall(r"^([\w-]+): (.*)$", text.partition("\n\n")[0], re.M))
        if fields and (not other or fields.get("Architecture") in (arch, "all")):
            return fields
    return {}


def kernel_abi(flavour, version, arch=""):
    """The ABI name of Debian's kernel of this version, like 6.1.0-49-cloud-amd64, or None.

    The name comes from the unsigned package, because Debian can publish the signed one days later.
    """
    names = subprocess.run(["apt-cache", "pkgnames", "linux-image-"], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return next((abi for abi in re.findall(rf"^linux-image-([\d.]+-\d+-{flavour})-unsigned$", names, re.M)
                 if shown(f"linux-image-{abi}-unsigned", version, arch)), None)


def header_packages(flavour, abi):
    """What Debian installs to build modules for that kernel."""
    return (f"linux-headers-{abi}", f"linux-headers-{abi.removesuffix(f'-{flavour}')}-common", "linux-kbuild-6.1")


def kernel_sizes(flavour, version, arch):
    """{group: sizes of its packages} of Debian's kernel.

    A group is left out if apt does not know all of its packages.
    """
    abi = kernel_abi(flavour, version, arch)
    names = {"image": [f"linux-image-{abi}-unsigned"], "headers": header_packages(flavour, abi),
             "debug symbols": [f"linux-image-{abi}-dbg"], "linux-libc-dev": ["linux-libc-dev"]} if abi else {}
    sizes = {what: [int(shown(name, version, arch).get("Size", 0)) for name in packages]
             for what, packages in names.items()}
    return {what: found for what, found in sizes.items() if all(found)}


SUITES = ("sid", "trixie-backports")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def other_lists(name, kind, suites, components="main"):
    """Options with which apt knows these suites, in lists and caches of its own.

    kind is deb or deb-src.
    """
    state = DL / f"apt-{name}"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if not sites:
        fail("apt has no archive; run `apt-get update`")
    listing = state / "sources.list"
    listing.write_text("".join(f"{kind} [signed-by={KEYRING}] {sites[0]} {suite} {components}\n" for suite in suites))
    return [f"Dir::State={state}", f"Dir::Cache={state}/cache", "Dir::State::status=/dev/null",
            f"Dir::Etc::SourceList={listing}", "Dir::Etc::SourceParts=/dev/null"]


def source_of(name):
    """The tar archive with the upstream source of a package of Debian 12."""
    with lock("dl"):
        return download_source(name)


def download_source(name):
    found = sorted(DL.glob(f"{name}_*.orig.tar.xz"))
    if found:
        return found[-1]
    print(f"downloading the source of {name}", flush=True)
    options = other_lists("source", "deb-src", ["bookworm"])
    empty_part()
    apt(options, "update")
    apt(options, "source", "--download-only", "--tar-only", name)
    archive = next((DL / "part").glob(f"{name}_*.orig.tar.xz"), None)
    if not archive:
        fail(f"the source of {name} has no {name}_*.orig.tar.xz")
    return archive.rename(DL / archive.name)


def dkms_packages(wanted):
    """{name: path} of packages that have modules for DKMS; all of Debian 12 if none is named."""
    with lock("dl"):
        options = other_lists("dkms", "deb", ["bookworm"], "main contrib non-free")
        empty_part()
        apt(options, "update")
        found = subprocess.run(["apt-cache", *[f"-o{option}" for option in options], "pkgnames"],
                               check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        known = sorted(name for name in found if name.endswith("-dkms") and name != "dh-dkms")
        unknown = sorted(set(wanted) - set(known))
        if unknown:
            fail(f"Debian 12 has no {unknown[0]}; it has {' '.join(known)}")
        folder = DL / "dkms"
        folder.mkdir(exist_ok=True)
        there = {}
        for name in wanted or known:
            uris = subprocess.run(["apt-get", *[f"-o{option}" for option in options], "--print-uris", "download", name],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
            there[name] = folder / uris.split()[1]
            if not there[name].exists():
                print(f"downloading {name}", flush=True)
                apt(options, "download", name)
                next((DL / "part").glob(f"{name}_*.deb")).rename(there[name])
        return there


def newest_mainline():
    """(package, its path) of the newest linux-source-N.M of the archive."""
    with lock("dl"):
        return download_newest()


def download_newest():
    options = other_lists("later", "deb", SUITES)
    empty_part()
    apt(options, "update")
    names = subprocess.run(["apt-cache", *[f"-o{option}" for option in options], "pkgnames", "linux-source-"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    found = {tuple(map(int, m[1].split("."))): name for name in names
             if (m := re.fullmatch(r"linux-source-(\d+\.\d+)", name))}
    if not found:
        fail("the archive has no linux-source-N.M")
    name = found[max(found)]
    version = subprocess.run(["apt-cache", *[f"-o{option}" for option in options], "madison", name],
                             check=True, stdout=subprocess.PIPE, text=True).stdout.split("|")[1].strip()
    there = sorted(DL.glob(f"{name}_{version.replace(':', '%3a')}_all.deb"))
    if not there:
        print(f"downloading {name} {version}", flush=True)
        apt(options, "download", f"{name}={version}")
        package = next((DL / "part").glob(f"{name}_*.deb"))
        there = [package.rename(DL / package.name)]
    return name, there[0]
