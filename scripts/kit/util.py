# SPDX-License-Identifier: GPL-2.0-only
"""Paths, errors, locks and git, for every program of scripts/.

A program that fails calls fail() with one line that says what to do next; a
traceback is a bug.  Git runs without the user's own configuration, so that the
output is the same on every machine.
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
NEWEST = BUILD / "linux-newest"
PATCHES = TOP / "patches"
LOGS = BUILD / "log"


class Failure(Exception):
    """An error with a message for the user."""


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
    """The environment without the variables of an outer make or git."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES",
                        "CONFIG", "ARCH", "KERNEL_SRC", "O") and not k.startswith("GIT_")}
    env.update(extra)
    return env


def git(*args, cwd=TREE, check=True, stdin=None, index=None, env=None, binary=False):
    """Run git and return its output, or fail() with its message.

    Without check, return the CompletedProcess, whatever its exit status.
    """
    # safe.directory: root may work in the clone of a user, whose programs it runs anyway
    full = clean_env(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C", GIT_CONFIG_COUNT="1",
                     GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
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
    """Run one of our programs.  If it fails, exit with its status: it has reported the error."""
    done = subprocess.run([str(a) for a in argv], check=False, **kwargs)
    if done.returncode:
        sys.exit(done.returncode)


def make_base():
    """Make build/linux-base if it is missing."""
    call(TOP / "scripts" / "base")


def make_source(tree):
    """Make the tree that a kernel is built from, or bring it up to date."""
    if tree == TREE:
        call(TOP / "scripts" / "tree")
    elif tree == NEWEST:
        call(TOP / "scripts" / "newest")
    else:
        call(TOP / "scripts" / "base", *(["--peer"] if tree == PEER else []))


@contextlib.contextmanager
def lock(name, shared=False, wait=True):
    """Hold build/.lock-<name>; print a line before waiting for another process."""
    BUILD.mkdir(exist_ok=True)
    path = BUILD / f".lock-{name}"
    try:
        handle = open(path, "a", encoding="ascii")
    except PermissionError:
        fail(f"{path} belongs to {path.owner()}, who ran make here; "
             f"as root, `chown -R {os.getuid()} {BUILD}` makes all of build/ yours")
    with handle:
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                fail(f"another make is running here ({path})")
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
