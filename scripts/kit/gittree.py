# SPDX-License-Identifier: GPL-2.0-only
"""build/linux: the base and the queue as a git repository.

    tag base ---- 010 ---- 110 ---- 120 ...        one commit per patch

Overlay files are symbolic links into this repository, hidden from git by
.git/info/exclude.  .git/codetag-state records the base and the patch files from
which the commits were made:

    base <line of build/linux-base.id>
    <commit> <sha256 of the patch file> <name>

The state shows where somebody worked.  If patches/ differs from it, somebody edited
or pulled patches.  If HEAD or the files differ from it, somebody worked in
build/linux.  One of the two can be carried over.  If both differ, the user has to
decide, and nothing is changed until then.

Commits are made in a scratch index, and the work tree moves in one step at the end.
A patch that does not fit therefore changes nothing, and a file that no patch changed
keeps its time stamp, so that kbuild does not compile it again.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import queue
from .util import BASE, BUILD, PATCHES, TOP, TREE, fail, git, write_if_changed

STATE = TREE / ".git" / "codetag-state"
INDEX = TREE / ".git" / "codetag-index"
EXCLUDE = TREE / ".git" / "info" / "exclude"
IDENT = "codetag <codetag@localhost>"


class State:
    """The base and the patches from which build/linux was made; see above."""

    def __init__(self, base="", rows=()):
        self.base = base
        self.rows = list(rows)                  # [(commit, sha256, name)]

    @classmethod
    def read(cls):
        if not STATE.exists():
            return None
        lines = STATE.read_text().splitlines()
        return cls(lines[0].partition(" ")[2], [tuple(line.split(" ", 2)) for line in lines[1:]])

    def write(self):
        rows = [" ".join(row) for row in self.rows]
        STATE.write_text("\n".join([f"base {self.base}"] + rows) + "\n")

    def head(self):
        return self.rows[-1][0] if self.rows else rev("base")

    def queue_rows(self):
        return [(name, sha) for _, sha, name in self.rows]


def say(message):
    print(f"tree: {message}", file=sys.stderr, flush=True)


def rev(name):
    return git("rev-parse", "--verify", "-q", f"{name}^{{commit}}").strip()


def base_id():
    return (BUILD / "linux-base.id").read_text().strip()


def commit_env(number=0):
    """Fixed author, committer and time, so that the same queue gives the same commits."""
    when = f"@{int((BASE / 'Makefile').stat().st_mtime) + number} +0000"
    name, _, mail = IDENT.rstrip(">").partition(" <")
    return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": when}


def dirty():
    """Tracked files with uncommitted edits."""
    lines = git("status", "--porcelain", "--untracked-files=no").splitlines()
    return [line[3:] for line in lines]


def strays():
    """New files in build/linux that are neither overlay files nor ignored."""
    return git("ls-files", "-o", "--exclude-standard").splitlines()


def in_rebase():
    return any((TREE / ".git" / d).exists() for d in ("rebase-merge", "rebase-apply"))


def create():
    """Make build/linux with the base as its only commit."""
    say("making a git repository of the base (half a minute)")
    new = BUILD / "linux.new"
    if new.exists():
        shutil.rmtree(new)
    subprocess.run(["cp", "-a", "--reflink=auto", str(BASE.resolve()), str(new)], check=True)
    git("init", "-q", "-b", "codetag", ".", cwd=new)
    for key, value in (("core.untrackedCache", "true"), ("gc.auto", "0"), ("user.name", "codetag"),
                       ("user.email", "codetag@localhost"), ("core.looseCompression", "1")):
        git("config", key, value, cwd=new)
    git("add", "-A", "-f", ".", cwd=new)
    git("commit", "-q", "-m", f"base: {base_id()}", cwd=new, env=commit_env())
    git("tag", "base", cwd=new)
    new.rename(TREE)
    State(base_id()).write()


def adopt():
    """Find the state of a build/linux that was made by hand or has lost its state file."""
    if git("rev-parse", "-q", "--verify", "refs/tags/base", check=False).returncode:
        roots = git("rev-list", "--max-parents=0", "HEAD").split()
        git("tag", "base", roots[0])
    state = State(base_id())
    rows = rows_of_head()
    if rows and [(name, sha) for _, sha, name in rows] == queue.queue_rows():
        state.rows = rows
    state.write()
    return state


def rows_of_head():
    """The rows that a refresh would record for the present commits; [] if it would fail."""
    import hashlib
    try:
        patches = queue.export("base", "HEAD", TREE)
    except Exception:                   # the commits are not ready for a refresh, for any reason
        return []
    return [(commit, hashlib.sha256(p.to_text().encode(errors="surrogateescape")).hexdigest(), p.name)
            for commit, p in patches]


def commit_base():
    """Commit the present build/linux-base as a root commit; return its id."""
    say(f"committing the base {base_id()} (half a minute)")
    INDEX.unlink(missing_ok=True)
    git("--git-dir", TREE / ".git", "--work-tree", BASE, "add", "-A", "-f", ".", cwd=BASE, index=INDEX)
    tree = git("write-tree", index=INDEX).strip()
    INDEX.unlink()
    return git("commit-tree", tree, "-m", f"base: {base_id()}", env=commit_env()).strip()


def hunk_at(diff, path, line):
    """The number of the hunk of path that starts at that line of the old file, or None."""
    part = re.search(rf"^diff --git a/{re.escape(path)} .*?(?=^diff --git |\Z)", diff, re.M | re.S)
    starts = re.findall(r"^@@ -(\d+)", part[0], re.M) if part else []
    return starts.index(line) + 1 if line in starts else None


def misfit(patch, stderr):
    """The error of git apply as: patch, file, hunk."""
    places = []
    for path, line in re.findall(r"^error: patch failed: (\S+?):(\d+)$", stderr, re.M):
        number = hunk_at(patch.diff, path, line)
        places.append(f"{path}: hunk {number} (line {line})" if number else f"{path}: line {line}")
    if not places:
        places = [line[len("error: "):] for line in stderr.splitlines() if line.startswith("error: ")]
    return f"{patch.filename} does not fit: " + ("; ".join(places) or stderr.strip())


def build_commits(patches, parent, numbers_from=0):
    """Commit the patches on parent without touching a file; return the commit ids."""
    INDEX.unlink(missing_ok=True)
    git("read-tree", parent, index=INDEX)
    commits = []
    for number, patch in enumerate(patches, numbers_from + 1):
        parent = commit_patch(patch, parent, number)
        commits.append(parent)
    INDEX.unlink()
    return commits


def commit_patch(patch, parent, number):
    if patch.diff.strip():
        done = git("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff, index=INDEX, check=False)
        if done.returncode:
            version = queue.kernel_version(BASE)
            if version and not patch.belongs_to(version):
                fail(f"{patch.filename} is for {patch.since} and later, and the base is {version}; "
                     "`make rebase` moves to the newest of the archive")
            fail(misfit(patch, done.stderr.decode(errors="replace")))
    tree = git("write-tree", index=INDEX).strip()
    return git("commit-tree", tree, "-p", parent, stdin=patch.to_message(), env=commit_env(number)).strip()


def settle_conflict(edits, ahead):
    if in_rebase():
        fail("a rebase is under way in build/linux, and patches/ changed; nothing was changed.\n"
             "  To keep build/linux:  finish the rebase, then `make refresh FORCE=1`\n"
             "  To keep patches/:     `git rebase --abort` in build/linux, then `make tree FORCE=1`")
    what = " and ".join(filter(None, [ahead and "commits", edits and "uncommitted edits"]))
    fail(f"patches/ changed, and build/linux has {what} that are not in patches/; nothing was changed.\n"
         "  To keep build/linux:  commit there, then `make refresh FORCE=1` (git diff shows what it overwrote)\n"
         "  To keep patches/:     `git stash` in build/linux, then `make tree FORCE=1`"
         " (the old commits stay as refs/saved/*)")


def move_to(commit):
    """Move the branch and the files from HEAD to commit; unchanged files keep their time stamps."""
    git("reset", "-q", "--keep", commit)


def save_head():
    head = rev("HEAD")
    git("update-ref", f"refs/saved/{head[:12]}", head)
    say(f"the old commits are kept as refs/saved/{head[:12]}")


def update(force=False):
    """Bring the commits of build/linux up to date with patches/; return the new state."""
    state = State.read() or adopt()
    rows = queue.queue_rows()
    if state.base != base_id():
        return change_base(state, rows, force)
    if not stands_on_base(state):
        state.rows = []
    return carry_over(state, rows, force)


def stands_on_base(state):
    """False after a rebase onto a new base was given up."""
    return not git("merge-base", "--is-ancestor", "base", state.head(), check=False).returncode


def carry_over(state, rows, force=False):
    """Bring the commits up to date with patches/, on the base that they stand on; return the state."""
    if state.queue_rows() == rows:
        tell_ahead(state)
        return state
    same = guard(state, rows, force)
    if same:
        return same
    keep = 0
    while keep < min(len(rows), len(state.rows)) and state.queue_rows()[keep] == rows[keep]:
        keep += 1
    parent = state.rows[keep - 1][0] if keep else rev("base")
    replay(state, rows, keep, parent)
    return state


def own_work(state):
    """Whether build/linux has edits, and whether it has commits, that are not in patches/."""
    return bool(dirty()), rev("HEAD") != state.head() or in_rebase()


def guard(state, rows, force):
    """Refuse if moving would lose work; return the state if the commits equal patches/ already."""
    edits, ahead = own_work(state)
    if ahead and not edits:
        own = rows_of_head()
        if [(name, sha) for _, sha, name in own] == rows:
            state.rows = own
            state.write()
            return state
    if edits or (ahead and not force):
        settle_conflict(edits, ahead)
    if ahead:
        save_head()
    return None


def replay(state, rows, keep, parent):
    patches = queue.load()[keep:]
    commits = build_commits(patches, parent, keep)
    move_to(commits[-1] if commits else parent)
    fresh = [(commit, sha, name) for commit, (name, sha) in zip(commits, rows[keep:])]
    state.rows = state.rows[:keep] + fresh
    state.write()
    say(f"{len(rows)} patches on {state.base}" + (f", the first {keep} unchanged" if keep else ""))


def change_base(state, rows, force):
    """Move the queue onto build/linux-base, which is another kernel now."""
    say(f"the base changed: {state.base} -> {base_id()}")
    edits, ahead = own_work(state)
    if edits or (ahead and not force):
        if state.queue_rows() != rows:
            settle_conflict(edits, ahead)
        fail("build/linux has work that is not in patches/; commit it there, run `make refresh`, then try again")
    if ahead:
        save_head()
    base = commit_base()
    try:
        commits = build_commits(queue.load(), base)
    except Exception as why:
        fail(f"{why}\n  `make rebase` moves the commits one by one and stops at each conflict")
    move_to(commits[-1] if commits else base)
    git("tag", "-f", "base", base)
    state.base = base_id()
    state.rows = [(commit, sha, name) for commit, (name, sha) in zip(commits, rows)]
    state.write()
    say(f"{len(rows)} patches on {state.base}")
    return state


def tell_ahead(state):
    if rev("HEAD") != state.head():
        count = git("rev-list", "--count", f"{state.head()}..HEAD").strip()
        say(f"build/linux has new commits that are not in patches/ ({count}); `make refresh` writes them")


def head_patches():
    """The patches of HEAD with only their Adds: lines; an unfinished commit is no error."""
    patches = []
    for commit, message in queue.commits_between("base", "HEAD", TREE):
        _, trailers = queue.split_trailers(message)
        adds = queue.parse_adds(trailers, f"commit {commit[:12]}")
        patches.append(queue.Patch("", "", "", adds, ""))
    return patches


def old_links():
    if not EXCLUDE.exists():
        return []
    return [line[1:] for line in EXCLUDE.read_text().splitlines() if line.startswith("/")]


def update_links():
    """Link each overlay file at its kernel path, relatively; remove stale links."""
    wanted = queue.links_wanted(head_patches())
    tracked = set(git("ls-files", "--", *wanted).splitlines()) if wanted else set()
    for dest in sorted(tracked):
        fail(f"{wanted[dest]}: the base has a file of that name; change it by a patch")
    for dest in old_links():
        path = TREE / dest
        if dest not in wanted and path.is_symlink():
            path.unlink()
            prune(path.parent)
    for dest, src in wanted.items():
        place_link(TREE / dest, TOP / src)
    EXCLUDE.parent.mkdir(exist_ok=True)
    write_if_changed(EXCLUDE, "# overlay files, linked by make tree\n" +
                     "".join(f"/{dest}\n" for dest in sorted(wanted)))


def place_link(path, target):
    value = os.path.relpath(target, path.parent)
    if path.is_symlink():
        if os.readlink(path) == value:
            return
        path.unlink()
    elif path.exists():
        fail(f"build/linux/{path.relative_to(TREE)} is a file, not a link; "
             f"move it to {target.relative_to(TOP)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(value)


def prune(folder):
    """Remove directories that are empty without the overlay files."""
    while folder != TREE and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def queue_changed(state):
    return state.queue_rows() != queue.queue_rows()


def record_refresh(exported):
    """Record after a refresh that HEAD and patches/ agree."""
    state = State.read()
    state.rows = [(commit, queue.digest(PATCHES / patch.filename), patch.name)
                  for commit, patch in exported]
    state.write()
