# SPDX-License-Identifier: GPL-2.0-only
"""The queue as the commits that a mailing list expects.

Each patch becomes a commit on the tag base with its overlay files folded in, and with
the patches that are `Part-of:` it, so the commits have the whole change and need
nothing of this repository.  They are in the object store of build/linux under
refs/series/head, not on the working branch.
"""

import os

from . import gittree, queue
from .util import TOP, TREE, fail, git

REF = "refs/series/head"


def identity(own=""):
    """Author and signer: `own` ('Name <address>'), else $IDENTITY, else patches/identity."""
    if own:
        return queue.parse_identity(own, "--identity")
    if os.environ.get("IDENTITY"):
        return queue.parse_identity(os.environ["IDENTITY"], "IDENTITY")
    return queue.identity()


def when():
    """The date of the repository's last commit: each commit always gives the same series."""
    done = git("log", "-1", "--format=%ct", cwd=TOP, check=False)
    return int(done.stdout.strip() or 0) if not done.returncode else 0


def message(patch, name, mail):
    """The text of a commit, without our own trailers and with a sign-off."""
    sign = f"Signed-off-by: {name} <{mail}>"
    parts = [patch.subject, patch.body] + ([sign] if sign not in patch.body else [])
    return "\n\n".join(filter(None, parts)) + "\n"


def env(name, mail, number):
    date = f"@{when() + number} +0000"
    return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": date}


def add_overlay(patch, index):
    if not patch.adds:
        return
    paths = [TOP / src for _, src in patch.adds]
    blobs = git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin="".join(f"{path}\n" for path in paths))
    modes = ["100755" if os.access(path, os.X_OK) else "100644" for path in paths]
    git("update-index", "--index-info", index=index,
        stdin="".join(f"{mode} {blob}\t{dest}\n" for mode, blob, (dest, _) in zip(modes, blobs.split(), patch.adds)))


def apply_to_index(patch, index):
    if not patch.diff.strip():
        return
    done = git("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff, index=index, check=False)
    if done.returncode:
        fail(gittree.misfit(patch, done.stderr.decode(errors="replace"))
             + (f" (it is part of {patch.part_of})" if patch.part_of else ""))


def make_commits(patches, person=None):
    """Make the commits; return [(commit, patch)].  refs/series/head is the last commit."""
    name, mail = person or identity()
    index, parent, commits = gittree.INDEX, gittree.rev("base"), []
    index.unlink(missing_ok=True)
    git("read-tree", parent, index=index)
    for number, (patch, parts) in enumerate(queue.with_parts(patches), 1):
        for piece in [patch, *parts]:
            apply_to_index(piece, index)
        add_overlay(patch, index)
        tree = git("write-tree", index=index).strip()
        parent = git("commit-tree", tree, "-p", parent, stdin=message(patch, name, mail),
                     env=env(name, mail, number)).strip()
        commits.append((parent, patch))
    index.unlink()
    git("update-ref", REF, parent)
    return commits


def ready():
    """Check the rules that a series depends on; return the patches."""
    patches = queue.load()
    bad = queue.check_part_of(patches) + queue.check_adds(patches, TREE.parent / "linux-base")
    if bad:
        fail("\n  ".join(["the queue is not complete", *bad]))
    return patches
