# SPDX-License-Identifier: GPL-2.0-only
"""Follow the codes of ERR(): the analysis behind scripts/error-audit.

A value stands for the set of errors that its codes may mean.  The analysis follows it
from ERR() through variables, return values, arguments, callbacks and methods, over all
files that name a function on the way, until error_class() converts it.  It ignores
conditions and the order of statements: a variable holds all values that its function
assigns to it anywhere.  The kinds of finding:

compare  a code may be compared with an error that it stands for, or with a number
print    a code may be printed as a number
store    a member that user space reads gets a value without error_class()
user     a value that may be a code is copied to user space
"""

import hashlib
import pickle
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from . import csource
from .csource import CALL_RE, CONTROL, group_end, split_args
from .util import fail

ANY = frozenset(["*"])
NONE = frozenset()
# SAME return the value of their argument.  ENDS never return a code.
SAME = {"ERR_PTR", "PTR_ERR", "ERR_CAST", "PTR_ERR_OR_ZERO", "READ_ONCE", "likely", "unlikely", "xchg"}
ENDS = {"error_class", "error_is_code", "IS_ERR", "IS_ERR_OR_NULL", "IS_ERR_VALUE", "sizeof", "typeof",
        "errname", "error_code_name", "WARN_ON", "WARN_ON_ONCE", "BUG_ON"}
# Functions that copy to user space -> index of the argument that they copy.
COPIES = {"copy_to_user": 1, "__copy_to_user": 1, "put_user": 0, "__put_user": 0, "copy_to_sockptr": 1,
          "copy_to_sockptr_offset": 2, "copy_to_iter": 0, "nla_put": 3, "nla_put_u32": 2, "nla_put_s32": 2,
          "put_cmsg": 4}
STRING_RE = re.compile(r"""/\*.*?\*/|//[^\n]*|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)*'""", re.S)
SPEC_RE = re.compile(r"%[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?(?:hh|h|ll|l|z|j|t|L)?([a-zA-Z%])")
CHAIN = r"[A-Za-z_]\w*(?:\s*(?:->|\.)\s*[A-Za-z_]\w*|\s*\[[^\[\]]*\])*"
CHAIN_RE = re.compile(CHAIN)
ASSIGN_RE = re.compile(r"(\*\s*)?(" + CHAIN + r")\s*(?<![=!<>+\-*/%&|^])=(?!=)")
ERRNO = r"(?:ERR_PTR\s*\(\s*)?\(?\s*-\s*(E[A-Z][A-Z0-9]*)\b"
COMPARE_RE = re.compile(r"([=!]=|[<>]=?)\s*" + ERRNO)
NUMBER_RE = re.compile(r"([=!]=|[<>]=?)\s*-\s*(?:MAX_ERRNO\b|\d{2,})")
MIRROR_RE = re.compile(ERRNO + r"\s*\)?\s*[=!]=(?!=)")
SWITCH_RE = re.compile(r"\bswitch\s*\(")
CASE_RE = re.compile(r"\bcase\s+-\s*(E[A-Z][A-Z0-9]*)\b")
# Structures of function pointers whose calls are followed -> names of pointers to them.
TABLES = {"fs_context_operations": "ops", "file_system_type": "type|fs_type", "dentry_operations": "d_op",
          "super_operations": "s_op"}
TABLE_RE = re.compile(r"\bstruct\s+(%s)\s+\w+\s*=\s*\{" % "|".join(TABLES))
METHOD_RE = re.compile(r"\.\s*(\w+)\s*=\s*&?\s*(\w+)\s*[,}]")
POINTER_RE = re.compile(r"(?:^|\W)(?:%s)\s*->\s*$" % "|".join(TABLES.values()))
DECL_RE = re.compile(r"\b(?:struct|union)\s+(\w+)\s+(?:__\w+\s+)*\**\s*(\w+)")
STRUCT_RE = re.compile(r"\bstruct\s+(\w+)\s*\{")
BOOL_RE = re.compile(r"&&|\|\||[=!]=|(?<![-<>])[<>](?![<>])")


def code_name(match):
    """A string as a word that lists its printf conversions, a comment as blanks."""
    text = match[0]
    if text[0] == "/":
        return csource.blank(match)
    if text[0] == "'":
        return "0"
    word = ""
    for spec in SPEC_RE.finditer(match[1]):
        word += "s" * [spec[1], spec[2]].count("*")
        word += "" if spec[3] == "%" else "n" if spec[3] in "diuxX" else "o"
    return " fmt__%s " % word + "\\\n" * text.count("\\\n")


def top_split(text, separators):
    """Split text at the separators that are outside of parentheses."""
    out, depth, start, at = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif not depth and char in separators:
            out.append(text[start:at])
            start = at + 1
        at += 1
    return [*out, text[start:]]


def statement_end(text, at):
    """The end of the expression that starts at @at: a semicolon, or the bracket around it."""
    depth = 0
    for match in re.compile(r"[(){}\[\];,]").finditer(text, at):
        char = match[0]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if not depth:
                return match.start()
            depth -= 1
        elif not depth and char == ";":
            return match.start()
    return len(text)


def block_end(text, at):
    """The offset of the brace that closes the one at @at."""
    depth = 0
    for brace in csource.BRACE_RE.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return len(text)


def operand_before(text, at):
    """The left operand of the operator at @at."""
    depth, i = 0, at - 1
    while i >= 0:
        char = text[i]
        if char in ")]":
            depth += 1
        elif char in "([":
            if not depth:
                break
            depth -= 1
        elif not depth and (char in ";{},?:" or text[i - 1:i + 1] in ("&&", "||")):
            break
        elif not depth and char == "=" and text[i - 1] not in "=!<>" and text[i + 1:i + 2] != "=":
            break
        i -= 1
    return re.sub(r"^\s*(return|case)\b", "", text[i + 1:at]).strip()


def chain(text):
    return re.sub(r"\[[^\[\]]*\]|\s+", "", text)


def called(text, match):
    """The callee: a function, ".member" of one of TABLES, or ".?" for any other member."""
    before = text[max(0, match.start() - 40):match.start()].rstrip()
    if not before.endswith(("->", ".")):
        return match[1]
    return "." + match[1] if POINTER_RE.search(before) else ".?"


class Function:
    """The expressions of one function, as texts that are evaluated again as more is known."""

    def __init__(self, path, function):
        body = function.body
        self.path, self.name, self.static = path, function.name, function.static
        self.params = function.params()
        first = function.source.text.count("\n", 0, function.at) + 1
        self.types = {name: type_ for type_, name in DECL_RE.findall(function.args + ";" + body)}

        def line(at):
            return first + body.count("\n", 0, at)
        self.assigns = []           # line, "*" or "", what, value
        for match in ASSIGN_RE.finditer(body):
            end = statement_end(body, match.end())
            value = top_split(body[match.end():end], ",")
            # a comma outside of parentheses ends the value, unlike in `return a, b`
            self.assigns.append((line(match.start()), (match[1] or "").strip(), chain(match[2]), value[0]))
        self.returns = []
        for match in re.finditer(r"\breturn\b", body):
            self.returns.append(body[match.end():statement_end(body, match.end())])
        self.compares = []          # line, operand, error or "" for a number
        for match in COMPARE_RE.finditer(body):
            self.compares.append((line(match.start()), operand_before(body, match.start()), match[2]))
        for match in NUMBER_RE.finditer(body):
            self.compares.append((line(match.start()), operand_before(body, match.start()), ""))
        for match in MIRROR_RE.finditer(body):
            end = re.compile(r"&&|\|\||[;?{]").search(body, match.end())
            self.compares.append((line(match.start()), body[match.end():end.start() if end else len(body)], match[1]))
        for match in SWITCH_RE.finditer(body):
            closed = group_end(body, match.end() - 1)
            opened = body.find("{", closed)
            if opened >= 0:
                end = block_end(body, opened)
                inner = [(other.start(), block_end(body, body.find("{", other.start())))
                         for other in SWITCH_RE.finditer(body, opened, end)]
                for case in CASE_RE.finditer(body, opened, end):
                    if not any(start < case.start() < stop for start, stop in inner):
                        self.compares.append((line(case.start()), body[match.end():closed], case[1]))
        self.calls = []             # line, name, arguments; a name with a dot is a method
        for match in CALL_RE.finditer(body):
            if match[1] in CONTROL or match[1] in ENDS:
                continue
            args = split_args(body[match.end():group_end(body, match.end() - 1)])
            self.calls.append((line(match.start()), called(body, match), args))
        self.words = {name for _, name, _ in self.calls}
        self.words |= {word for _, _, args in self.calls for arg in args for word in re.findall(r"^&?\s*(\w+)$", arg)}
        self.passes = [i for i, name in enumerate(self.params) if name and any(
            re.fullmatch(r"\W*%s\W*" % name, text) for text in self.returns if name in text)]


class File:
    def __init__(self, path, text):
        source = csource.Source(path, STRING_RE.sub(code_name, text))
        self.codes = len(re.findall(r"\bERR\s*\(\s*-", source.text))
        self.path, self.functions = path, [Function(path, function) for function in source.functions
                                           if "return" in function.body or "=" in function.body or "(" in function.body]
        text = source.text
        self.methods = [found for match in TABLE_RE.finditer(text)
                        for found in METHOD_RE.findall(text[match.end() - 1:block_end(text, match.end() - 1) + 1])]
        self.structs = {match[1]: {name: type_ for type_, name in DECL_RE.findall(
            text[match.end():block_end(text, match.end() - 1)])} for match in STRUCT_RE.finditer(text)}


class Tree:
    """The parsed files of the tree, cached by a hash of their contents."""

    def __init__(self, top, cache):
        self.top, self.cache, self.files = Path(top), cache, {}
        self.replaced = []          # path, old text, new text
        self.version = hashlib.sha256(Path(__file__).read_bytes() + Path(csource.__file__).read_bytes() +
                                      sys.version.encode()).hexdigest()

    def read(self, path):
        if path not in self.files:
            data = (self.top / path).read_bytes()
            for where, old, new in self.replaced:
                if where == path:
                    if old.encode() not in data:
                        fail(f"{path} does not contain: {old}")
                    data = data.replace(old.encode(), new.encode())
            key = self.cache / hashlib.sha256(self.version.encode() + path.encode() + b"\0" + data).hexdigest()
            try:
                self.files[path] = pickle.loads(key.read_bytes())
            except (OSError, EOFError, pickle.PickleError):
                self.files[path] = File(path, data.decode(errors="replace"))
                self.cache.mkdir(parents=True, exist_ok=True)
                part = key.with_suffix(".new")
                part.write_bytes(pickle.dumps(self.files[path]))
                part.rename(key)
        return self.files[path]

    def grep(self, words, *options, where=("*.c", "*.h")):
        """Files that contain one of the words; not Documentation, tools, scripts, samples, rust."""
        if not words:
            return []
        done = subprocess.run(["git", "grep", "-l", *options, "-f", "-", "--", *where, ":!tools", ":!samples",
                               ":!Documentation", ":!scripts", ":!rust"],
                              cwd=self.top, input="\n".join(sorted(words)) + "\n", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode > 1:
            fail(f"git grep in {self.top}: {done.stderr.strip()}")
        return done.stdout.splitlines()


class Finding:
    def __init__(self, function, kind, line, why):
        self.path, self.name, self.kind, self.line, self.why = function.path, function.name, kind, line, why

    def __str__(self):
        return f"{self.path}:{self.line}: {self.name}(): {self.why} [{self.kind}]"


class Audit:
    """@sources: functions that may return any error; @sinks: members that user space reads;
    @plain: functions that never return a code."""

    def __init__(self, tree, sources=(), sinks=(), plain=()):
        self.tree, self.sinks, self.plain = tree, set(sinks), set(plain)
        # keys are names, or (path, name) of static functions
        self.returns = defaultdict(frozenset, {name: ANY for name in sources})
        self.outs = defaultdict(dict)       # parameter -> errors stored where it points
        self.params = defaultdict(dict)     # parameter -> errors that callers may pass
        self.callbacks = defaultdict(dict)  # parameter -> errors that the function passed in it may return
        self.methods = defaultdict(frozenset)   # member -> errors that its functions may return
        self.functions = defaultdict(list)  # by key
        self.users = defaultdict(list)      # word -> functions that call or pass it
        self.assigned = defaultdict(set)    # name -> members that it is assigned to
        self.structs, self.done, self.asked, self.wanted = {}, set(), set(), set()
        self.todo = {}

    # names

    @staticmethod
    def key(function):
        return (function.path, function.name) if function.static and function.path.endswith(".c") else function.name

    def find(self, path, name):
        """The key of the function that a name means in a file."""
        return (path, name) if (path, name) in self.functions else name

    # values

    def value(self, function, env, text):
        """The errors that codes in this expression stand for."""
        text = self.unwrap(text)
        parts = top_split(text, "?")
        if len(parts) > 1:
            arms = [arm for arm in top_split(text[len(parts[0]) + 1:], ":")]
            if not arms[0].strip():
                arms[0] = parts[0]
            return frozenset().union(*(self.value(function, env, arm) for arm in arms))
        flat, out, at = "", NONE, 0
        for match in CALL_RE.finditer(text):
            if match.start() < at:
                continue
            flat += text[at:match.start()]
            closed = group_end(text, match.end() - 1)
            at = match.end() - 1
            if match[1] in SAME:
                continue
            at = closed + 1
            flat += "0"
            if match[1] not in ENDS and match[1] not in CONTROL:
                out |= self.call(function, env, called(text, match), text[match.end():closed])
        flat += text[at:]
        if BOOL_RE.search(re.sub(r"\([^()]*\)", " ", flat).replace("->", ".")) or flat.startswith("!"):
            return NONE
        for match in CHAIN_RE.finditer(flat):
            out |= env.get(chain(match[0]), NONE)
        return out

    @staticmethod
    def unwrap(text):
        """The last operand of a comma expression, without parentheses around it."""
        while True:
            text = top_split(text, ",")[-1].strip()
            if not (text.startswith("(") and group_end(text, 0) == len(text) - 1):
                return text
            text = text[1:-1]

    def call(self, function, env, name, text):
        if name == "ERR":
            return frozenset(re.findall(r"-\s*\(?\s*(E\w+)", text)) or ANY
        if name in self.plain:
            return NONE
        if name.startswith("."):
            return self.methods[name[1:]]
        key = self.find(function.path, name)
        out = self.returns.get(key, NONE)
        if name in function.params:
            out |= self.callbacks[self.key(function)].get(function.params.index(name), NONE)
        for callee in self.functions.get(key, ()):
            args = split_args(text) if callee.passes else ()
            for i in callee.passes:
                out |= self.value(function, env, args[i]) if i < len(args) else NONE
        return out

    def environment(self, function, given=True):
        env = {}
        if given:
            for i, errors in self.params[self.key(function)].items():
                if i < len(function.params) and function.params[i]:
                    env[function.params[i]] = errors
        again = True
        while again:
            again = False
            for _, _, what, text in function.assigns:
                again |= self.widen(env, what, self.value(function, env, text))
            for _, name, args in function.calls:
                for i, errors in self.outs.get(self.find(function.path, name), {}).items():
                    if i < len(args) and args[i].startswith("&"):
                        again |= self.widen(env, chain(args[i][1:]), errors)
        return env

    @staticmethod
    def widen(table, key, errors):
        before = table.get(key, NONE)
        if errors <= before:
            return False
        table[key] = before | errors
        return True

    # one function, evaluated again

    def step(self, function):
        """Evaluate the function with what is known, and pass on what is new."""
        key, env = self.key(function), self.environment(function)
        # an argument's errors go back only to the caller that passed them: Function.passes
        bare = self.environment(function, given=False) if self.params.get(key) else env
        if function.name not in self.plain:
            for text in function.returns:
                if self.widen(self.returns, key, self.value(function, bare, text) - ANY):
                    self.tell(function)
            for _, star, what, text in function.assigns:
                if star and what in function.params and \
                   self.widen(self.outs[key], function.params.index(what), self.value(function, bare, text) - ANY):
                    self.tell(function)
        for _, name, args in function.calls:
            if not name.startswith(".") and name not in SAME:
                self.step_call(function, env, self.find(function.path, name), args)

    def step_call(self, function, env, target, args):
        new = False
        for i, arg in enumerate(args):
            new |= self.widen(self.params[target], i, self.value(function, env, arg) - ANY) if env else False
            word = arg.lstrip("&").strip()
            if word.isidentifier():
                errors = self.returns.get(self.find(function.path, word), NONE)
                if word in function.params:
                    errors |= self.callbacks[self.key(function)].get(function.params.index(word), NONE)
                new |= self.widen(self.callbacks[target], i, errors)
        if new:
            self.again(self.functions.get(target, ()))

    def again(self, functions):
        self.todo.update((id(function), function) for function in functions)

    def tell(self, function):
        """Evaluate the callers of the function again, and those of members that hold it."""
        key = self.key(function)
        if isinstance(key, str) and not re.match(r"(COMPAT_)?SYSCALL_DEFINE|BPF_CALL", key):
            self.wanted.add(key)
        self.again(self.users[function.name])
        for path, member in self.assigned[function.name]:
            if isinstance(key, str) or path == key[0]:
                self.tell_method(member, self.returns[key])

    def tell_method(self, member, errors):
        if self.widen(self.methods, member, errors):
            self.wanted.add(f"->{member}(")         # not an identifier: searched as it is
            self.again(self.users["." + member])

    # the whole tree

    def load(self, paths):
        for path in paths:
            if path in self.done:
                continue
            self.done.add(path)
            file = self.tree.read(path)
            for member, name in file.methods:
                self.assigned[name].add((path, member))
            for name, members in file.structs.items():
                self.structs.setdefault(name, {}).update(members)
            for function in file.functions:
                self.functions[self.key(function)].append(function)
                for word in function.words:
                    self.users[word].append(function)
            self.again(file.functions)
            for member, name in file.methods:
                key = self.find(path, name)
                if self.returns.get(key):
                    self.tell_method(member, self.returns[key])

    def run(self):
        self.wanted = {name for name in self.returns if isinstance(name, str)}
        self.load(self.first())
        while self.todo or self.wanted - self.asked:
            while self.todo:
                self.step(self.todo.pop(next(iter(self.todo))))
            names = self.wanted - self.asked
            self.asked |= names
            self.load(self.tree.grep({name for name in names if name.isidentifier()}, "-w", "-F"))
            self.load(self.tree.grep({name for name in names if not name.isidentifier()}, "-F"))

    def lines(self):
        """The number of ERR() in the files that were read."""
        return sum(file.codes for file in map(self.tree.read, self.done))

    def carriers(self):
        """Functions that return codes."""
        return [key for key, errors in self.returns.items() if errors - ANY]

    def first(self):
        """The files to start with.

        Those are the files with an ERR() that include <linux/errname.h>, and sink_files().
        """
        have = set(self.tree.grep(["#include <linux/errname.h>"], "-F"))
        return [path for path in self.tree.grep(["ERR(-E"], "-F", where=("*.c",)) if path in have] + self.sink_files()

    def sink_files(self):
        """Files that may write a sink, and headers that define the structures around it."""
        members = {sink.split(".")[1] for sink in self.sinks}
        structs = {"struct " + sink.split(".")[0] for sink in self.sinks}
        around, files = set(structs), set()
        for path in self.tree.grep(structs, "-w", "-F"):
            files.add(path)
            for name, held in self.tree.read(path).structs.items():
                if any("struct " + str(type_) in structs for type_ in held.values()):
                    around.add("struct " + name)
        files.update(self.tree.grep(around - structs, "-w", "-F"))
        named = set(self.tree.grep(members, "-w", "-F"))
        return sorted(path for path in files if path in named or path.endswith(".h"))

    # findings

    def findings(self):
        out = []
        gates = {self.member(function, what) for path in self.done for function in self.tree.read(path).functions
                 for _, _, what, text in function.assigns if self.converts(what, text)}
        for path in sorted(self.done):
            for function in self.tree.read(path).functions:
                env = self.environment(function)
                out += self.compared(function, env) + self.printed(function, env)
                out += self.stored(function, gates) + self.copied(function, env)
        return out

    def compared(self, function, env):
        out = []
        for line, text, error in function.compares:
            errors = self.value(function, env, text)
            if errors - ANY and (not error or error in errors):
                out.append(Finding(function, "compare", line, "may compare a code with " + ("-" + error if error else "a number")))
        return out

    def printed(self, function, env):
        out = []
        for line, name, args in function.calls:
            place = next((i for i, arg in enumerate(args) if "fmt__" in arg), None)
            if place is None or name.endswith("ERR_ARG"):
                continue
            specs = "".join("o" if word == "ERR_FMT" else word[5:] for word in re.findall(r"\bfmt__\w*|\bERR_FMT\b", args[place]))
            for spec, arg in zip(specs, args[place + 1:]):
                if spec == "n" and self.value(function, env, arg) - ANY:
                    out.append(Finding(function, "print", line, f"may print a code as a number: {arg}"))
        return out

    def member(self, function, what):
        """The expression as struct.member, as far as types are known."""
        words = re.split(r"->|\.", what)
        type_ = function.types.get(words[0])
        for word in words[1:-1]:
            type_ = self.structs.get(type_, {}).get(word)
        return f"{type_}.{words[-1]}" if len(words) > 1 else ""

    @staticmethod
    def converts(what, text):
        """Does the assignment convert a value in place, by error_class()?"""
        return "error_class" in text and re.sub(r"\s", "", what) in re.sub(r"\s", "", text)

    def stored(self, function, gates):
        out = []
        for line, _, what, text in function.assigns:
            member = self.member(function, what)
            if member not in self.sinks or member in gates or "error_class" in text:
                continue
            if re.fullmatch(r"[\s()]*-?\s*(E[A-Z]+|\d+|[A-Z]+_MAX)[\s()]*", text):
                continue
            out.append(Finding(function, "store", line, f"user space reads {what}, which error_class() does not convert"))
        return out

    def copied(self, function, env):
        out = []
        for line, name, args in function.calls:
            place = COPIES.get(name)
            if place is None or place >= len(args):
                continue
            what = chain(args[place].lstrip("&").strip())
            if any(errors and (at == what or at.startswith(what + ".")) for at, errors in env.items()):
                out.append(Finding(function, "user", line, f"copies {what}, which may be a code, to user space"))
        return out
