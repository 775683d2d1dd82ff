# SPDX-License-Identifier: GPL-2.0-only
"""The patch queue and the overlay: their format and their rules.

A change to a kernel file is a patch in patches/; a new file is an overlay file,
kept here at its kernel path (a KUnit test below kunit/).  Exactly one patch adds
it, with a trailer:

    Adds: lib/codetag.c
    Adds: lib/codetag_kunit.c (from kunit/codetag_kunit.c)

A patch exists in two forms with the same content, a file of patches/ and a
commit of build/linux, and Patch turns each into the other.  The text form is a
function of the commit alone, so a refresh without a change writes the same
bytes.

A change that older 6.1.y cannot take is a patch at the end of the queue.  It has the
trailer Since:, and the trailer Part-of: if it belongs to another patch:

    Since: 6.1.187
    Part-of: 510
"""

import hashlib
import os
import re
import subprocess
from pathlib import Path

from .util import BASE, PATCHES, TOP, fail, git

OVERLAY_DIRS = ("lib", "mm", "include", "kernel", "drivers", "fs", "net", "arch",
                "samples", "scripts/gdb", "tools", "Documentation")
KUNIT_DIR = "kunit"
PROJECT_DIR = "Documentation/project"   # documents of this repository, not of the kernel

TOPICS = {0: "preparation", 1: "core: code tags, counters, allocation tags", 2: "pages",
          3: "vmalloc, slab, percpu", 4: "helpers of mm and lib", 5: "helpers of the other trees",
          6: "tests and debugging", 7: "streams", 8: "applications",
          9: "changes that older 6.1.y cannot take"}

IDENTITY = PATCHES / "identity"
IDENTITY_RE = re.compile(r"([^<>\n]+) <([^<>@\s]+@[^<>@\s]+)>")

NAME_RE = re.compile(r"^\d{3}-[a-z0-9][a-z0-9-]*$")
SINCE_RE = re.compile(r"^6\.1\.(0|[1-9]\d*)$")
TRAILER_RE = re.compile(r"(Adds|Since|Part-of|Patch):")
ADDS_RE = re.compile(r"^Adds: (\S+)(?: \(from (\S+)\))?$")
SUBJECT_RE = re.compile(r"^[A-Za-z0-9/_.,{}+-]+( [A-Za-z0-9/_.,{}+-]+)?(: \S.*)+$")


class Patch:
    """One logical change: its message, the overlay files that it adds, its diff."""

    def __init__(self, name, subject, body, adds, diff, since="", part_of=""):
        self.name = name            # 100-codetag-library
        self.subject = subject
        self.body = body            # without trailers, no newline at either end
        self.adds = adds            # [(path in the kernel, path in this repository)]
        self.diff = diff
        self.since = since          # 6.1.187: not for an older tree; mostly ''
        self.part_of = part_of      # 510: `make series` folds it into that patch; mostly ''

    @classmethod
    def from_file(cls, path):
        """Read patches/NNN-name.patch."""
        text = path.read_bytes().decode(errors="surrogateescape")
        head, sep, diff = ("\n" + text).partition("\n---\n")
        head = head[1:]
        if not sep or not head.startswith("Subject: "):
            fail(f"{path.name}: must begin with 'Subject: ', and '---' comes before the diff")
        subject, _, rest = head.partition("\n")
        body, trailers = split_trailers(rest)
        return cls(path.name[:-len(".patch")], subject[len("Subject: "):].strip(),
                   body, parse_adds(trailers, path.name), diff, parse_since(trailers, path.name),
                   parse_part_of(trailers, path.name))

    @classmethod
    def from_commit(cls, commit, message, diff):
        """Read a commit of build/linux; its trailer Patch: gives the name."""
        head, _, rest = message.strip("\n").partition("\n\n")
        subject = " ".join(head.split("\n"))
        where = f"commit {commit[:12]} ({subject})"
        body, trailers = split_trailers(rest)
        names = [t[len("Patch:"):].strip() for t in trailers if t.startswith("Patch:")]
        if subject.startswith(("fixup!", "squash!", "amend!")):
            fail(f"{where}: fold it first (git rebase -i --autosquash base)")
        if len(names) != 1:
            fail(f"{where}: wants one trailer 'Patch: NNN-name' to say where in the queue it is")
        name = names[0] if "-" in names[0] else f"{names[0]}-{slug(subject)}"
        return cls(name, subject, body, parse_adds(trailers, where), strip_index(diff),
                   parse_since(trailers, where), parse_part_of(trailers, where))

    @property
    def filename(self):
        return self.name + ".patch"

    def head(self):
        return "\n\n".join(filter(None, [self.body, "\n".join(self.trailers())]))

    def trailers(self):
        late = ([f"Since: {self.since}"] if self.since else []) + \
               ([f"Part-of: {self.part_of}"] if self.part_of else [])
        return late + [f"Adds: {dest}" + (f" (from {src})" if src != dest else "")
                       for dest, src in self.adds]

    def to_text(self):
        head = self.head()
        return f"Subject: {self.subject}\n\n" + (head + "\n" if head else "") + "---\n" + self.diff

    def to_message(self):
        tail = "\n".join(self.trailers() + [f"Patch: {self.name}"])
        return "\n\n".join(filter(None, [self.subject, self.body, tail])) + "\n"

    def belongs_to(self, version):
        """Whether a tree of that version ('6.1.192') is new enough for it."""
        return not self.since or sublevel(version) >= sublevel(self.since)

    def files(self):
        """The kernel files the diff touches."""
        return sorted(set(re.findall(r"^diff --git a/(\S+) b/\S+$", self.diff, re.M)))


def split_trailers(text):
    """(text without our own trailers, the trailers); only the last paragraph has any."""
    paragraphs = text.strip().split("\n\n")
    lines = paragraphs[-1].split("\n")
    ours = [line.strip() for line in lines if TRAILER_RE.match(line)]
    rest = [line for line in lines if not TRAILER_RE.match(line)]
    paragraphs[-1] = "\n".join(rest)
    body = "\n\n".join(paragraphs).strip()
    return "\n".join(line.rstrip() for line in body.split("\n")), ours


def parse_adds(trailers, where):
    adds = []
    for line in trailers:
        if not line.startswith("Adds:"):
            continue
        match = ADDS_RE.match(line)
        if not match:
            fail(f"{where}: cannot read '{line}'")
        adds.append((match[1], match[2] or match[1]))
    return adds


def parse_since(trailers, where):
    values = [line[len("Since:"):].strip() for line in trailers if line.startswith("Since:")]
    if len(values) > 1 or not all(SINCE_RE.match(value) for value in values):
        fail(f"{where}: wants one 'Since: 6.1.N', not '{', '.join(values)}'")
    return values[0] if values else ""


def parse_part_of(trailers, where):
    values = [line[len("Part-of:"):].strip() for line in trailers if line.startswith("Part-of:")]
    if len(values) > 1 or not all(re.fullmatch(r"\d{3}", value) for value in values):
        fail(f"{where}: wants one 'Part-of: NNN', not '{', '.join(values)}'")
    return values[0] if values else ""


def kernel_version(tree):
    """The version of a kernel tree, as '6.1.192'; '' if it is not a kernel tree."""
    makefile = tree / "Makefile"
    text = makefile.read_text(errors="replace") if makefile.is_file() else ""
    parts = [re.search(rf"^{key} = (\d+)$", text, re.M) for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(part[1] for part in parts) if all(parts) else ""


def sublevel(version):
    """The 192 of 6.1.192."""
    return int(version.split(".")[2])


def slug(subject):
    """mm/slub: keep a tag -> slub-keep-a-tag"""
    words = re.sub(r"[^a-z0-9]+", "-", subject.lower().split("/")[-1]).strip("-")
    return words[:50].strip("-")


def strip_index(diff):
    """The diff without git's object names, which differ from base to base."""
    return "".join(line for line in diff.splitlines(keepends=True)
                   if not line.startswith("index "))


def read_series(folder=PATCHES):
    """The names in patches/series, in order."""
    series = folder / "series"
    if not series.exists():
        return []
    lines = (line.split("#")[0].strip() for line in series.read_text().splitlines())
    return [line for line in lines if line]


def load(folder=PATCHES):
    """Every patch of the series."""
    patches = []
    for name in read_series(folder):
        path = folder / name
        if not path.is_file():
            fail(f"patches/series names {name}, which is not there")
        patches.append(Patch.from_file(path))
    return patches


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def queue_rows(folder=PATCHES):
    """[(name, sha256 of the file)] of the series, as the files are now."""
    rows = []
    for name in read_series(folder):
        path = folder / name
        if not path.is_file():
            fail(f"patches/series names {name}, which is not there")
        rows.append((name[:-len(".patch")], digest(path)))
    return rows


def write_queue(patches):
    """Make patches/ hold exactly these; return the names of the files that changed."""
    from .util import write_if_changed
    changed = []
    for patch in patches:
        if write_if_changed(PATCHES / patch.filename, patch.to_text()):
            changed.append(patch.filename)
    keep = {patch.filename for patch in patches}
    for path in sorted(PATCHES.glob("*.patch")):
        if path.name not in keep:
            path.unlink()
            changed.append(f"{path.name} (gone)")
    if write_if_changed(PATCHES / "series", series_text(patches)):
        changed.append("series")
    return changed


def series_text(patches):
    lines = ["# SPDX-License-Identifier: GPL-2.0-only",
             "# The order of the queue; `make refresh` writes this file."]
    topic = None
    for patch in patches:
        if patch.name[0] != topic:
            topic = patch.name[0]
            lines += ["", f"# {topic}xx {TOPICS.get(int(topic), 'further')}"]
        lines.append(patch.filename)
    return "\n".join(lines) + "\n"


def repo_files(*dirs):
    """Files of this repository below dirs, tracked or new, but not ignored."""
    if (TOP / ".git").exists():
        # with the configuration of the user, who may ignore the files of an editor
        done = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-zco", "--exclude-standard", "--", *dirs],
                              cwd=TOP, check=True, stdout=subprocess.PIPE)
        names = {os.fsdecode(n) for n in done.stdout.split(b"\0") if n}
        return sorted(n for n in names if os.path.lexists(TOP / n))
    found = []
    for name in dirs:
        found += [str(p.relative_to(TOP)) for p in (TOP / name).rglob("*") if p.is_file()]
    return sorted(found)


def overlay_files():
    """(files at their kernel path, KUnit sources that a patch must place)."""
    kunit = [f for f in repo_files(KUNIT_DIR) if Path(f).suffix in (".c", ".h")]
    plain = [f for f in repo_files(*OVERLAY_DIRS) if not f.startswith(PROJECT_DIR + "/")]
    return plain, kunit


def links_wanted(patches):
    """{path in the kernel: path in this repository} for every overlay file."""
    plain, kunit = overlay_files()
    links = {name: name for name in plain}
    for patch in patches:
        for dest, src in patch.adds:
            if src in kunit:
                links[dest] = src
    return links


def parse_identity(text, where):
    """'Name <address>' as (name, address)."""
    match = IDENTITY_RE.fullmatch(text.strip())
    if not match:
        fail(f"{where}: wants 'Name <address>', not '{text.strip()}'")
    return match[1].strip(), match[2]


def identity():
    """Author and signer of the series: the only line of patches/identity that is no comment."""
    lines = [line for line in IDENTITY.read_text(encoding="utf-8").splitlines()
             if line.strip() and not line.startswith("#")]
    return parse_identity("\n".join(lines), "patches/identity")


def check_maintainers(patches, person):
    """Each entry that the queue adds to MAINTAINERS has the identity as its only M:."""
    want = f"M:\t{person[0]} <{person[1]}>"
    bad = []
    for patch in patches:
        diff = re.search(r"^diff --git a/MAINTAINERS .*?(?=^diff --git |\Z)", patch.diff, re.M | re.S)
        for entry in re.findall(r"^\+[A-Z0-9][^:\n]*\n(?:\+[A-Z]:.*\n)+", diff[0] if diff else "", re.M):
            title, *lines = [line[1:] for line in entry.splitlines()]
            if [line for line in lines if line.startswith("M:")] != [want]:
                bad.append(f"{patch.filename}: {title}: wants '{want}' as in patches/identity")
    return bad


def check(patches, base=BASE):
    """Check every rule of patches/README.md that a program can check; return the complaints."""
    bad = check_names(patches)
    for patch in patches:
        bad += check_patch(patch)
    return (bad + check_since(patches) + check_part_of(patches) + check_adds(patches, base)
            + check_topics(patches) + check_makefiles(patches) + check_maintainers(patches, identity()))


def check_since(patches):
    """Patches with Since: come last, the oldest first, so none needs one that may be missing."""
    bad, before = [], None
    for patch in patches:
        if before and (not patch.since or sublevel(patch.since) < sublevel(before.since)):
            bad.append(f"{patch.filename}: after {before.filename}, which trees before {before.since} lack")
        if patch.since and patch.adds:
            bad.append(f"{patch.filename}: Adds: in a patch that older trees lack")
        before = patch if patch.since else before
    return bad


def check_part_of(patches):
    """Only a patch with Since: is part of another one, and that one is in every tree."""
    topics = {patch.name[:3] for patch in patches if not patch.since}
    bad = []
    for patch in patches:
        if patch.part_of and not patch.since:
            bad.append(f"{patch.filename}: Part-of: without Since:; move the change into {patch.part_of}")
        if patch.part_of and patch.part_of not in topics:
            bad.append(f"{patch.filename}: Part-of: {patch.part_of}, but no patch without Since: has that number")
    return bad


def with_parts(patches):
    """[(patch, [its parts])]: the queue as `make series` mails it."""
    parts = {}
    for patch in patches:
        if patch.part_of:
            parts.setdefault(patch.part_of, []).append(patch)
    return [(patch, parts.get(patch.name[:3], [])) for patch in patches if not patch.part_of]


def check_names(patches):
    bad = []
    numbers = [patch.name[:3] for patch in patches]
    for patch in patches:
        if not NAME_RE.match(patch.name):
            bad.append(f"{patch.name}: a patch is called NNN-lower-case-words")
    if numbers != sorted(set(numbers)):
        bad.append("the numbers of the series do not rise: " + " ".join(numbers))
    return bad


def check_patch(patch):
    bad = []
    if not SUBJECT_RE.match(patch.subject):
        bad.append(f"{patch.filename}: the subject is not 'subsystem: what it does'")
    if not patch.body:
        bad.append(f"{patch.filename}: no text; a patch says why before it says what")
    if re.search(r"^(---|diff -)", patch.body, re.M):
        bad.append(f"{patch.filename}: a line of the text looks like a diff")
    for found in re.findall(r"^(?:new file mode|rename to|copy to).*$", patch.diff, re.M):
        bad.append(f"{patch.filename}: creates a file ({found}); "
                   "a new file is an overlay file, named by Adds:")
    return bad


def check_adds(patches, base):
    plain, kunit = overlay_files()
    overlay = set(plain) | set(kunit)
    bad, owner, dests = [], {}, {}
    for patch in patches:
        for dest, src in patch.adds:
            if src in owner:
                bad.append(f"{src}: added by {owner[src]} and again by {patch.filename}")
            if dest in dests:
                bad.append(f"{dest}: {dests[dest]} and {patch.filename} both put a file there")
            owner[src] = dests[dest] = patch.filename
            if src not in overlay:
                bad.append(f"{patch.filename}: Adds: {src}, but there is no such overlay file")
            elif src in plain and src != dest:
                bad.append(f"{patch.filename}: {src} goes to its own path, not to {dest}")
    bad += [f"{name}: an overlay file that no patch names (Adds: {name})"
            for name in sorted(overlay - set(owner))]
    places = (set(plain) | set(dests))
    bad += [f"{name}: the base has a file of that name; change it by a patch"
            for name in sorted(places) if os.path.lexists(base / name)]
    return bad


def included(text, dest):
    """Paths in the kernel of the headers that a file, or the lines that a diff adds, includes."""
    for name in re.findall(r"^\+?#include <(linux/[^>]+|uapi/[^>]+)>", text, re.M):
        yield f"include/{name}"
    for name in re.findall(r'^\+?#include "([^"]+\.[ch])"', text, re.M):
        if dest.startswith("tools/"):
            yield f"tools/lib/codetag/{name}"
        elif name.endswith(".c"):       # a KUnit suite, included only if it is configured
            continue
        yield os.path.normpath(f"{os.path.dirname(dest)}/{name}")


def described_in(text):
    """The source file that the comment at the top of a header refers to, or ''."""
    match = re.search(r"\bSee\s+(?:\*\s+)?([\w/.-]+\.c)\b", text.split("*/\n#", 1)[0])
    return match[1] if match else ""


def check_topics(patches):
    """No patch adds a header before its code, or includes a header before it is added."""
    number = {dest: i for i, patch in enumerate(patches) for dest, _ in patch.adds}
    bad = []
    for i, patch in enumerate(patches):
        texts = [(dest, (TOP / src).read_text(errors="surrogateescape"))
                 for dest, src in patch.adds if (TOP / src).is_file()]
        for dest, text in texts:
            code = described_in(text) if dest.endswith(".h") else ""
            if number.get(code, i) > i:
                bad.append(f"{patch.filename}: Adds: {dest} before {patches[number[code]].filename} adds {code}")
        for dest, text in [*texts, ("", patch.diff)]:
            bad += [f"{patch.filename}: {dest or 'a change'} includes {header} of {patches[number[header]].filename}"
                    for header in included(text, dest) if number.get(header, i) > i]
    return bad


NAMED_RE = re.compile(r"(?<![\w./$(-])((?:[\w.-]+/)*[\w-]+\.(?:o|c|h|S|py|sh|mk|proto|rst))(?![\w.])")


def named_by(dest, text):
    """Paths in the kernel of the files that a Makefile, a Kconfig or an index may name.

    In a diff only the lines that it adds count.  A comment names no file.
    """
    for line in text.splitlines():
        line = line.split("#")[0]
        source = re.match(r'\s*source "([^"]+)"', line)
        names = [source[1]] if source else NAMED_RE.findall(line)
        for name in names:
            for folder in filter(None, (not source and os.path.dirname(dest), source and ".",
                                        dest.startswith("tools/") and "tools/lib/codetag")):
                path = os.path.normpath(f"{folder}/{name}")
                yield path
                if path.endswith(".o"):
                    yield path[:-1] + "c"
    if dest.endswith("index.rst"):
        yield from (os.path.normpath(f"{os.path.dirname(dest)}/{name}.rst")
                    for name in re.findall(r"^\s+(\S+)$", text, re.M))


def check_makefiles(patches):
    """No Makefile, Kconfig or index names a file that a later patch adds."""
    number = {dest: i for i, patch in enumerate(patches) for dest, _ in patch.adds}
    is_list = re.compile(r"(^|/)(Makefile|Kbuild|Kconfig[\w.]*|index\.rst|[\w-]+\.mk)$")
    bad = []
    for i, patch in enumerate(patches):
        texts = [(dest, (TOP / src).read_text(errors="surrogateescape"))
                 for dest, src in patch.adds if is_list.search(dest) and (TOP / src).is_file()]
        for part in re.split(r"^(?=diff --git )", patch.diff, flags=re.M)[1:]:
            dest = re.match(r"diff --git a/(\S+)", part)[1]
            if is_list.search(dest):
                texts.append((dest, "\n".join(re.findall(r"^\+(?!\+\+ )(.*)$", part, re.M))))
        for dest, text in texts:
            bad += [f"{patch.filename}: {dest} names {path} of {patches[number[path]].filename}"
                    for path in dict.fromkeys(named_by(dest, text)) if number.get(path, i) > i]
    return bad


def commits_between(first, last, cwd):
    """The commits after first up to last as [(id, message)], oldest first."""
    out = git("log", "--reverse", "--topo-order", "--format=%H%x00%B%x00", f"{first}..{last}", cwd=cwd)
    parts = out.split("\0")
    return [(parts[i].strip(), parts[i + 1]) for i in range(0, len(parts) - 1, 2)]


def commit_diff(commit, cwd):
    return git("diff-tree", "-p", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-color",
               "--no-textconv", "--unified=3", "--diff-algorithm=myers", "--src-prefix=a/",
               "--dst-prefix=b/", commit, cwd=cwd)


def export(first, last, cwd):
    """The commits after first as [(id, Patch)]."""
    return [(commit, Patch.from_commit(commit, message, commit_diff(commit, cwd)))
            for commit, message in commits_between(first, last, cwd)]
