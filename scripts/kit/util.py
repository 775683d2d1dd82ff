# SPDX-License-Identifier: GPL-2.0-only
"""Paths, errors, locks and git, for every program of scripts/.

A program ends with fail() and one line that says what to do next; a traceback
is a bug.  Git runs without the user's own configuration, so that what we write
does not depend on whose machine it is.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
BASE = BUILD / "linux-base"
TREE = BUILD / "linux"
PEER = BUILD / "linux-peer"
PATCHES = TOP / "patches"
LOGS = BUILD / "log"


class Failure(Exception):
    """An error with a message for the person at the keyboard."""


def fail(message):
    raise Failure(message)


def run_main(name, main):
    """Call main(); turn a Failure into one message and exit status 1."""
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"{name}: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)


def clean_env(**extra):
    """The environment without what an outer make or git left in it."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES",
                        "CONFIG", "ARCH", "KERNEL_SRC", "O") and not k.startswith("GIT_")}
    env.update(extra)
    return env


def git(*args, cwd=TREE, check=True, stdin=None, index=None, env=None, binary=False):
    """Run git, give its output; with check, fail() with git's own words."""
    full = clean_env(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C")
    if index:
        full["GIT_INDEX_FILE"] = str(index)
    full.update(env or {})
    done = subprocess.run(["git", *map(str, args)], cwd=cwd, env=full, check=False,
                          input=stdin.encode(errors="surrogateescape") if isinstance(stdin, str) else stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode:
        fail(f"git {args[0]}: {done.stderr.decode(errors='replace').strip()}")
    if not check:
        return done
    return done.stdout if binary else done.stdout.decode(errors="surrogateescape")


def call(*argv, **kwargs):
    """Run a program of ours, its output on the terminal; fail() silently for it."""
    done = subprocess.run([str(a) for a in argv], check=False, **kwargs)
    if done.returncode:
        sys.exit(done.returncode)


def make_base():
    """build/linux-base is there after this."""
    call(TOP / "scripts" / "base")


def make_source(tree):
    """The tree a kernel is built from is there and up to date after this."""
    if tree == TREE:
        call(TOP / "scripts" / "tree")
    else:
        call(TOP / "scripts" / "base", *(["--peer"] if tree == PEER else []))


@contextlib.contextmanager
def lock(name, shared=False, wait=True):
    """Hold build/.lock-<name>; say so when somebody else has it."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / f".lock-{name}"
    with open(path, "a", encoding="ascii") as handle:
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                fail(f"another make is at work here ({path})")
            print(f"waiting for another make ({path.name})", file=sys.stderr, flush=True)
            fcntl.flock(handle, mode)
        yield


def write_if_changed(path, text):
    """Write a file unless it has this text already; true when it was written."""
    data = text.encode(errors="surrogateescape")
    if path.is_file() and path.read_bytes() == data:
        return False
    path.write_bytes(data)
    return True
