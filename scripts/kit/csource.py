# SPDX-License-Identifier: GPL-2.0-only
"""C as the kernel writes it: functions, declarations and macros of a file.

This is not a compiler.  It blanks comments, strings and directives, keeps the line
numbers, and reads both arms of an #if.  A function ends at its closing brace, or at
the first closing brace in column 0 if the braces of an #else spoil the count.
"""

import re
from pathlib import Path

NOISE_RE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.S)
DIRECTIVE_RE = re.compile(r"^[ \t]*#(?:[^\\\n]+|\\.)*", re.M | re.S)
DEFINE_RE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)", re.S)
TOP_RE = re.compile(r"[;{]")
BRACE_RE = re.compile(r"[{}]")
CALL_RE = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
EXPORT_RE = re.compile(r"\bEXPORT_\w+\(\s*(\w+)")
CONTROL = {"if", "while", "for", "switch", "return", "sizeof", "else", "do", "case", "typeof",
           "__typeof__", "defined", "goto"}
# Names with arguments that stand in a function's head and are not the function.
ATTRIBUTES = {"__attribute__", "__printf", "__scanf", "__aligned", "__section", "__acquires",
              "__releases", "__must_hold", "__cond_acquires", "__cond_lock", "__alloc_size",
              "__realloc_size", "__alloc_size__", "__malloc", "__nonnull", "__copy", "__diag_ignore",
              "__acquire", "__release", "__error", "__warning", "__diagnose_as", "__overloads",
              "__same_type", "typeof", "__typeof__", "__assume_aligned", "__naked", "__alias",
              "__guarded_by", "__pure", "__no_sanitize", "_Static_assert", "__gnu_inline", "__target"}


def blank(match):
    text = match[0]
    if text[0] in "\"'":
        return text[0] * 2
    lines = text.count("\n")
    return ("\\\n" if "\\\n" in text else "\n") * lines or " "


def strip(text):
    """The text without comments and the contents of strings, on the same lines."""
    return NOISE_RE.sub(blank, text)


def group_end(text, at):
    """The offset of the parenthesis that closes the one at @at, or the end of the text."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, at):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return len(text)


def split_args(text):
    """Split text, the part between two parentheses, into arguments."""
    out, depth, start = [], 0, 0
    for match in re.finditer(r"[(){}\[\],]", text):
        if match[0] in "({[":
            depth += 1
        elif match[0] in ")}]":
            depth -= 1
        elif not depth:
            out.append(text[start:match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    return out + [last] if last or out else []


class Macro:
    def __init__(self, source, name, params, body, at):
        self.source, self.name, self.params, self.body, self.at = source, name, params, body, at

    @property
    def line(self):
        return self.source.raw.count("\n", 0, self.at) + 1


class Function:
    def __init__(self, source, head, name, args, body, at):
        self.source, self.head, self.name, self.args, self.body, self.at = source, head, name, args, body, at
        self.static = re.search(r"\bstatic\b|\bSYSCALL_DEFINE", head) is not None

    @property
    def line(self):
        """The line of the opening brace."""
        return self.source.text.count("\n", 0, self.at) + 1

    @property
    def type(self):
        """The return type, without storage class and attributes."""
        words = re.sub(r"__\w+\s*\([^)]*\)", " ", self.head)
        words = re.sub(r"\b(static|inline|extern|const|volatile|noinline\w*|__always_inline|__\w+|asmlinkage|noinstr|"
                       r"fastcall|notrace|nokprobe_inline|inline_for_\w+)\b", " ", words)
        return " ".join(words.replace("*", " * ").split())

    def params(self):
        """Names of the parameters, in order; "" for a parameter without a name."""
        out = []
        for arg in split_args(self.args):
            match = re.search(r"\(\s*\*+\s*(\w+)", arg) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", arg)
            out.append(match[1] if match else "")
        return out


class Source:
    """A file: .functions, .macros, .declared (text and offset of each)."""

    def __init__(self, path, text):
        self.path, self.header = path, path.endswith(".h")
        self.raw = strip(text)
        self.functions, self.macros, self.declared = [], [], []
        self.text = DIRECTIVE_RE.sub(self.take_directive, self.raw)
        self.walk()

    def take_directive(self, match):
        define = DEFINE_RE.match(match[0])
        if define:
            self.macros.append(Macro(self, define[1], define[2], define[3].replace("\\\n", "\n"),
                                     match.start()))
        return "\n" * match[0].count("\n")

    def walk(self):
        text, start = self.text, 0
        while True:
            match = TOP_RE.search(text, start)
            if not match:
                return
            at = match.start()
            if match[0] == ";":
                self.declared.append((text[start:at], start))
                start = at + 1
                continue
            end = self.close(at)
            self.take_head(text[start:at], at, end)
            start = end

    def close(self, at):
        """The offset just after the brace that closes the one at @at."""
        text = self.text
        stop = text.find("\n}", at)
        stop = len(text) if stop < 0 else stop + 2
        depth = 0
        for match in BRACE_RE.finditer(text, at, stop):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return match.end()
        return stop

    def take_head(self, head, at, end):
        if "(" not in head or head.rstrip().endswith("="):
            return
        found = self.declarator(head)
        if found:
            name, start, opened, closed = found
            self.functions.append(Function(self, head[:start], name, head[opened + 1:closed],
                                           self.text[at:end], at))

    @staticmethod
    def declarator(head):
        """The name in a head, its offset, and the offsets of the parameters' parentheses."""
        found, pos = None, 0
        while True:
            match = CALL_RE.search(head, pos)
            if not match:
                return found
            opened = match.end() - 1
            closed = group_end(head, opened)
            if match[1] not in ATTRIBUTES and match[1] not in CONTROL:
                found = (match[1], match.start(), opened, closed)
            pos = closed + 1

    def exports(self):
        return EXPORT_RE.findall(self.text)


def read(top, path):
    return Source(path, (Path(top) / path).read_bytes().decode(errors="replace"))
