# SPDX-License-Identifier: GPL-2.0-only
"""Find functions that return fresh memory: the analysis behind scripts/alloc-audit.

The analysis starts at the hooks (macros around alloc_hooks()).  A function returns
fresh memory if it returns the value of a hook or of another such function, or stores
it where a parameter points: directly, through a variable, or through a function that
returns its argument.  The analysis ignores conditions and the order of statements: a
value that may be returned on some path counts as returned.
"""

import os
import re
import subprocess
from pathlib import Path

from . import csource
from .csource import CALL_RE, CONTROL, group_end, split_args
from .util import fail

# FOLDERS are read with their subfolders, TOPS without.
FOLDERS = ["include", "arch/x86/include", "arch/x86/mm", "arch/x86/kernel", "mm", "lib", "kernel", "block", "ipc", "init", "virt",
           "net/core", "drivers/base", "fs/proc", "fs/kernfs", "fs/debugfs"]
TOPS = ["fs", "security", "crypto"]
# In these folders, a function that fills in its caller's structure allocates for the caller.
FILLERS = ("include/", "lib/", "mm/")
# Not read: no code in these allocates; decompress/ is used before the kernel runs.
WITHOUT = {"include/linux/decompress", "include/dt-bindings", "include/trace", "include/uapi", "include/config", "include/generated"}

HOOK_RE = re.compile(r"\b(?:alloc_hooks\w*|DEFINE_ALLOC_TAG)\s*\(")
HOOKED_CALL_RE = re.compile(r"\b(?:alloc_hooks\w*)\s*\(")
NOPROF_RE = re.compile(r"\b(\w+_noprof)\b")
# Return types of functions that return a status or a number, not memory.
NUMBER_RE = re.compile(r"(?!unsigned long$)(unsigned |signed )?(int|bool|void|short|char|ssize_t|long long|loff_t|[su](8|16|32|64)|"
                       r"gfp_t|__poll_t|vm_fault_t|blk_status_t|u?int(8|16|32|64)_t|size_t|irqreturn_t|unsigned|long)")
# These return an entry, the new one or the old one, not the memory that they allocated.
NOT_FRESH_RE = re.compile(r"(__)?(xa|xas|radix_tree|idr|ida|mas|mtree|maple)_\w+")
# Calls through a pointer that count as allocations.
MEMBER_RE = re.compile(r"(?:->|\.)\w*[aA]lloc\w*\s*\($")
# Functions and macros that return their argument in another form.
SAME = {"page_address", "virt_to_page", "page_to_virt", "page_to_phys", "virt_to_phys", "__pa", "__va",
        "page_folio", "folio_page", "folio_address", "container_of", "PTR_ALIGN", "ALIGN", "likely", "unlikely",
        "no_free_ptr", "return_ptr", "kmap", "kmap_local_page", "page_slab", "folio_slab", "slab_folio",
        "slab_address", "pfn_to_page", "page_to_pfn", "ACCESS_PRIVATE", "READ_ONCE", "rcu_dereference",
        "to_pci_dev", "virt_to_folio", "skb_put", "netdev_priv", "ERR_CAST", "cmpxchg"}
LVALUE_RE = re.compile(r"(\*\s*\w+|\(\s*\*\s*\w+\s*\)|[A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+|\[[^\[\]]*\])*)"
                       r"\s*(?<![=!<>+\-*/%&|^])=(?!=)")
CAST_RE = re.compile(r"\(\s*(?:const\s+|unsigned\s+|struct\s+|union\s+|__force\s+|void|char|long|int|u8|u16|u32|u64|"
                     r"pte_t|pmd_t|pud_t|p4d_t|pgd_t|pgtable_t|size_t|[a-z]\w*_t)[\w\s*]*\)|\(\s*\w+\s*\*+\s*\)")


def scope(top):
    """The files to read, as paths relative to @top."""
    out = []
    for folder in FOLDERS:
        for where, folders, names in os.walk(Path(top, folder)):
            here = os.path.relpath(where, top)
            folders[:] = [name for name in folders if f"{here}/{name}" not in WITHOUT]
            out += [f"{here}/{name}" for name in names if name.endswith(".h") or
                    (name.endswith(".c") and not folder.endswith("include"))]
    for folder in TOPS:
        if Path(top, folder).is_dir():
            out += [f"{folder}/{name}" for name in os.listdir(Path(top, folder)) if name.endswith((".c", ".h"))]
    return sorted(out)


class Finding:
    """One function that needs a hook or an explanation."""

    def __init__(self, path, name, kind, line, why, type_=""):
        self.path, self.name, self.kind, self.line, self.why, self.type = path, name, kind, line, why, type_

    def __str__(self):
        return f"{self.path}:{self.line}: {self.name}(): {self.why}"


class Hooks:
    """The macros that contain a hook."""

    def __init__(self, sources):
        self.at_caller = {}         # macro -> function it hooks, or None
        self.direct = set()         # macros that contain a hook themselves, not through another macro
        self.where = {}             # macro of direct -> the headers that define it
        self.inner = set()          # functions that are called inside a hook
        self.local = {}             # path of a .c file -> its own macros -> function they hook
        pending = []
        for source in sources:
            for macro in source.macros:
                if HOOK_RE.search(macro.body) and not re.match(r"alloc_hooks|DEFINE_ALLOC_TAG", macro.name):
                    self.take(macro)
                else:
                    pending.append(macro)
        self.close(pending)

    def take(self, macro):
        target = None
        for match in HOOKED_CALL_RE.finditer(macro.body):
            inside = macro.body[match.end():group_end(macro.body, match.end() - 1)]
            calls = CALL_RE.findall(inside)
            noprof = [name for name in calls if name.endswith("_noprof")]
            for name in noprof or calls[:1]:
                self.inner.add(name)
                target = target or name
        self.add(macro, target)

    def add(self, macro, target):
        if macro.source.header:
            self.at_caller.setdefault(macro.name, target)
            self.direct.add(macro.name)
            self.where.setdefault(macro.name, set()).add(macro.source.path)
        else:
            self.local.setdefault(macro.source.path, {})[macro.name] = target

    def close(self, pending):
        """A macro that calls or names a hooked macro counts as hooked, too."""
        words = [(macro, CALL_RE.findall(macro.body) + re.findall(r"^\s*(\w+)\s*$", macro.body))
                 for macro in pending if not macro.name.endswith("_noprof")]
        again = True
        while again:
            again = False
            for macro, names in words:
                hit = next((name for name in names if name in self.at_caller and name != macro.name), None)
                if hit and macro.source.header and macro.name not in self.at_caller:
                    self.at_caller[macro.name] = self.at_caller[hit]
                    again = True
                elif hit and not macro.source.header:
                    self.local.setdefault(macro.source.path, {})[macro.name] = self.at_caller[hit]

    def names(self, path):
        return self.local.get(path, {}).keys() | self.at_caller.keys()

    def function(self, path, name):
        """The function behind a hooked name."""
        return self.local.get(path, {}).get(name) or self.at_caller.get(name)

    def __contains__(self, name):
        return name in self.at_caller


class Flow:
    """Where one function's values go: to the return value, or where a parameter points."""

    def __init__(self, audit, function, fresh, start=()):
        self.audit, self.path, self.body = audit, function.source.path, function.body
        self.params = function.params()
        self.returned = None        # the call whose value is returned
        self.fills = None           # the call stored in a member of a parameter's structure
        self.out = {}               # index of a parameter -> the call stored where it points
        self.tainted = dict.fromkeys(start, "its argument")
        for name, at, end in fresh:
            self.take_call(name, at, end)
        self.spread()

    def take_call(self, name, at, end):
        """Follow the value of one call that returns fresh memory."""
        if name == "return_ptr":
            return
        after = self.body[end + 1:end + 40].lstrip()
        if re.match(r"==|!=|\?[^:]|<|>|&&|\|\|", after):
            after = None
        prefix = CAST_RE.sub("", self.statement(at))
        if after is not None and not prefix.rstrip().endswith("!") and self.plain(prefix):
            self.sink(prefix, name)

    def statement(self, at):
        start = max(self.body.rfind(c, 0, at) for c in ";{}")
        return self.body[start + 1:at]

    def plain(self, prefix):
        """Is the expression after @prefix the value itself, not an argument of another call?"""
        depth = 0
        for match in reversed(list(re.finditer(r"(\w*)\s*([()])", prefix))):
            depth += 1 if match[2] == ")" else -1
            if depth < 0:
                depth = 0
                word = match[1]
                if word and word not in CONTROL and not self.audit.same(self.path, word):
                    return False
        return True

    def sink(self, prefix, name):
        """Record where the value after @prefix goes: to the caller, or into a variable."""
        last = None
        for last in LVALUE_RE.finditer(prefix):
            pass
        back = [m.start() for m in re.finditer(r"\breturn\b", prefix)]
        if back and (not last or back[-1] > last.start()):
            self.returned = self.returned or name
        elif last:
            self.assign(last[1], prefix[:last.start()], name)

    def assign(self, lvalue, before, name):
        lvalue = re.sub(r"\s+", "", lvalue).strip("()")
        before = before.rstrip()
        if lvalue[0] == "*" and re.search(r"[\w*]$", before) and not re.search(r"\b(else|do)$", before):
            lvalue = lvalue.lstrip("*")         # a declaration
        elif lvalue[0] == "*" or lvalue.endswith("]"):
            base = re.match(r"\**(\w+)", lvalue)[1]
            if base in self.params and not re.search(r"->|\.", lvalue):
                self.out.setdefault(self.params.index(base), name)
                return
        member = re.match(r"(\w+)->", lvalue)
        if member and member[1] in self.params:
            self.fills = self.fills or name
        self.tainted.setdefault(lvalue, name)

    def spread(self):
        """Follow the values of variables, to other variables and out of the function."""
        done = set()
        while self.tainted.keys() - done:
            for var in self.tainted.keys() - done:
                done.add(var)
                self.follow(var, self.tainted[var])

    def follow(self, var, name):
        pattern = re.escape(var).replace(r"\->", "->")
        for match in re.finditer(rf"(?<![\w.>]){pattern}(?!\w)", self.body):
            after = self.body[match.end():match.end() + 40].lstrip()
            if re.match(r"->|\.(?!\.)|\[|\(|=(?!=)|==|!=|<|>|&|\?(?!\s*:)|\+\+|--", after):
                before = self.body[:match.start()].rstrip()
                if not (re.match(r"->|\[", after) and (before.endswith("&") or
                        re.match(r"->\s*\w+\s*;", after) and re.search(r"\breturn\s*(\([\w\s]*\*+\s*\))?$", before))):
                    continue
            prefix = CAST_RE.sub("", self.statement(match.start())).rstrip()
            if prefix.endswith("&"):
                if not re.match(r"->|\[", after):
                    continue
                prefix = prefix[:-1].rstrip()
            if re.search(r"[!*\w]$", prefix) and not prefix.endswith("return"):
                continue
            if self.plain(prefix):
                self.sink(prefix, name)


class Audit:
    """The functions of a tree, and the facts found about them."""

    def __init__(self, top, paths):
        self.sources = [csource.read(top, path) for path in paths]
        self.hooks = Hooks(self.sources)
        self.defined = {}           # global name -> functions
        self.local = {}             # (path, name) -> static function of a .c
        self.callers = {}           # name -> functions with a call of it
        self.calls = {}             # function -> [(name, at, end)]
        self.fresh = {}             # (path or None, name) -> why
        self.sure = {}              # function -> what this definition returns, stores, fills in
        self.outs = {}              # (path or None, name) -> {index of parameter: why}
        self.passes = {}            # key -> does it return its argument?
        for source in self.sources:
            for function in source.functions:
                self.add(function)
        self.fixpoint()

    def add(self, function):
        if function.static and not function.source.header:
            self.local[function.source.path, function.name] = function
        else:
            self.defined.setdefault(function.name, []).append(function)
        for name in dict.fromkeys(CALL_RE.findall(function.body)):
            self.callers.setdefault(name, []).append(function)

    def key(self, function):
        if function.static and not function.source.header:
            return (function.source.path, function.name)
        return (None, function.name)

    def find(self, path, name):
        """The key under which @name is known in @path."""
        return (path, name) if (path, name) in self.local else (None, name)

    def same(self, path, name):
        """Does the function or macro return (one of) its arguments?"""
        if name in SAME:
            return True
        key = self.find(path, name)
        if key not in self.passes:
            self.passes[key] = False
            functions = [self.local[key]] if key in self.local else self.defined.get(name, [])[:2]
            self.passes[key] = any(self.returns_argument(f) for f in functions)
        return self.passes[key]

    def returns_argument(self, function):
        if NUMBER_RE.fullmatch(function.type) or len(function.body) > 4000:
            return False
        return Flow(self, function, [], [p for p in function.params() if p][:1]).returned is not None

    def is_number(self, name):
        """Does this hooked function return an entry, a status or a number, not memory?"""
        if NOT_FRESH_RE.fullmatch(name):
            return True
        functions = self.defined.get(name, [])
        return bool(functions) and all(NUMBER_RE.fullmatch(f.type) for f in functions)

    def returns_fresh(self, path, name):
        if path in self.hooks.local and name in self.hooks.local[path] or name in self.hooks:
            target = self.hooks.function(path, name)
            return not NOT_FRESH_RE.fullmatch(name) and not (target and self.is_number(target))
        if HOOKED_CALL_RE.match(name + "("):
            return True
        return self.find(path, name) in self.fresh

    def stores_fresh(self, path, name):
        target = self.hooks.function(path, name) or name
        return self.outs.get(self.find(path, target), {})

    def fixpoint(self):
        todo = {}
        seeds = set(self.hooks.at_caller) | set(self.hooks.inner) | {"alloc_hooks", "alloc_hooks_tag"}
        for names in self.hooks.local.values():
            seeds |= names.keys()
        for name in self.hooks.inner:
            if not self.is_number(name):
                self.fresh[None, name] = "it is behind a hook"
        seeds |= {name for name in self.callers if "lloc" in name}
        for name in sorted(seeds):
            todo.update(dict.fromkeys(self.callers.get(name, [])))
        while todo:
            function, _ = todo.popitem()
            if self.look_at(function):
                for name in self.names_of(function):
                    todo.update(dict.fromkeys(self.callers.get(name, [])))

    def names_of(self, function):
        """The function and the macros that hook it."""
        return [function.name] + [m for m, target in self.hooks.at_caller.items() if target == function.name]

    def look_at(self, function):
        """Analyse a function; true if more is known about it than before."""
        key = self.key(function)
        flow = Flow(self, function, self.fresh_calls(function))
        self.store_calls(function, flow)
        self.sure[function] = (flow.returned if not NUMBER_RE.fullmatch(function.type) else None,
                               next(iter(flow.out.values()), None), flow.fills)
        news = False
        if flow.returned and key not in self.fresh and not NUMBER_RE.fullmatch(function.type):
            self.fresh[key] = flow.returned
            news = True
        if flow.out:
            known = self.outs.setdefault(key, {})
            news = news or bool(flow.out.keys() - known.keys())
            for index, name in flow.out.items():
                known.setdefault(index, name)
        return news

    def fresh_calls(self, function):
        out, path = [], function.source.path
        for match in CALL_RE.finditer(function.body):
            if self.returns_fresh(path, match[1]) or MEMBER_RE.search(function.body, max(0, match.start() - 2), match.end()):
                out.append((match[1], match.start(), group_end(function.body, match.end() - 1)))
        return out

    def store_calls(self, function, flow):
        """Follow values that come back through an argument: f(&p), or f(p) if p is a parameter."""
        path = function.source.path
        for match in CALL_RE.finditer(function.body):
            outs = self.stores_fresh(path, match[1])
            if not outs:
                continue
            end = group_end(function.body, match.end() - 1)
            args = split_args(function.body[match.end():end])
            for index in outs:
                arg = re.sub(r"\s+", "", args[index]) if index < len(args) else ""
                if arg[:1] == "&":
                    flow.tainted.setdefault(arg[1:], match[1])
                elif arg in flow.params:
                    flow.out.setdefault(flow.params.index(arg), match[1])
        flow.spread()

    def findings(self):
        out = []
        for source in self.sources:
            for function in source.functions:
                if not function.static or source.header:
                    out += self.judge(function)
        return out

    def exempt(self, function):
        return function.name.endswith("_noprof") or function.name in self.hooks.inner

    def judge(self, function):
        if self.exempt(function):
            return []
        path = function.source.path
        if path.endswith(".h"):
            for match in CALL_RE.finditer(function.body):
                if match[1] in self.hooks.names(path) or HOOKED_CALL_RE.match(match[1] + "("):
                    return [self.finding(function, "header", f"allocates in a header, by {match[1]}()")]
        returned, stored, filled = self.sure.get(function, (None, None, None))
        if returned:
            return [self.finding(function, "returns", f"returns the memory of {returned}()")]
        if stored:
            return [self.finding(function, "stores", f"stores the memory of {stored}() for its caller")]
        if filled and path.startswith(FILLERS):
            return [self.finding(function, "fills", f"puts the memory of {filled}() into its caller's structure")]
        return []

    @staticmethod
    def finding(function, kind, why):
        return Finding(function.source.path, function.name, kind, function.line, why, function.type)

    def private(self):
        """Static functions of .c files that return fresh memory."""
        return [key for key in self.fresh if key[0] and not key[1].endswith("_noprof")]


# All folders with kernel code: a macro's name can be misused in any of them.
EVERYWHERE = ["arch", "block", "crypto", "drivers", "fs", "include", "init", "io_uring", "ipc", "kernel",
              "lib", "mm", "net", "samples", "security", "sound", "virt"]


# A declaration of a local variable or a parameter with that name, which does not use the macro.
VARIABLE = (r"(?:\b(?:int|long|bool|unsigned|u32|u64|size_t)\b|\b(?:struct|union|enum)\s+\w+[\s*])[\s,\w*]*?"
            r"\b%s\s*[;=,)]")


def suspects(top, names, everywhere):
    """Files with _noprof names; with @everywhere also files with a hooked name that is no call.

    The search everywhere is slow.  It finds errors that a compiler would find only in the
    configurations that somebody builds.
    """
    pattern = "_noprof"
    if everywhere:
        name = f"({'|'.join(sorted(names))})"
        pattern += (rf"|(^|[^A-Za-z0-9_]){name}[ \t]*[,;)}}]|(->|\.){name}[ \t]*\(|"
                    rf"^#[ \t]*undef[ \t]+{name}([^A-Za-z0-9_]|$)|^([a-z_][A-Za-z0-9_ \t*]*[ \t*])?{name}[ \t]*\(")
    folders = [name for name in EVERYWHERE if Path(top, name).is_dir()]
    done = subprocess.run(["grep", "-rlE", "--include=*.[ch]", "--exclude-dir=trace", pattern, *folders], cwd=top,
                          check=False, env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE, text=True)
    if done.returncode > 1:
        fail("grep failed on the kernel tree")
    return sorted(done.stdout.split())


BARE_RE = re.compile(r"(?<![\w.>*])([A-Za-z_]\w*)\s*[,;)}]")
MEMBER_CALL_RE = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)\s*\(")
UNDEF_RE = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)


class Uses:
    """Wrong uses of hooks.  The kinds of finding:

    noprof   a _noprof function is called outside of any hook: nobody is charged
    nested   a _noprof function calls a function that has a hook of its own
    pointer  a macro's name is used as a function's, or the address of a _noprof
             function is taken
    clash    a function or a member has the name of a macro
    """

    def __init__(self, hooks, sources):
        self.hooks, self.sources = hooks, sources

    def named(self, pattern, text):
        """Matches of @pattern whose first group is a hooked name."""
        return [match for match in pattern.finditer(text) if match[1] in self.hooks.direct]

    def findings(self):
        return [finding for source in self.sources for finding in self.look_at(source)]

    def look_at(self, source):
        out = self.clashes(source) + self.pointers(source)
        answered = self.answered(source)
        for function in source.functions:
            if function.name not in answered:
                out += self.bare_noprof(source, function.name, function.line, function.body)
            if function.name.endswith("_noprof"):
                out += self.nested(source, function)
        for macro in source.macros:
            if not macro.name.endswith("_noprof"):
                out += self.bare_noprof(source, macro.name, macro.line, macro.body)
        return out

    def is_inner(self, name):
        return name.endswith("_noprof") or name in self.hooks.inner

    def bare_noprof(self, source, name, line, body):
        for call in self.outside_hooks(body):
            if call.endswith("_noprof"):
                return [Finding(source.path, name, "noprof", line, f"calls {call}() outside of any hook")]
        return []

    def nested(self, source, function):
        """The innermost hook wins, so a function that is hooked at its callers must not use another."""
        return [Finding(source.path, function.name, "nested", function.line, f"calls {call}(), which has a hook of its own")
                for call in self.outside_hooks(function.body) if call in self.hooks.direct][:1]

    @staticmethod
    def hooked(body):
        """The ranges of a body that are arguments of alloc_hooks()."""
        return [(m.end(), group_end(body, m.end() - 1)) for m in HOOKED_CALL_RE.finditer(body)]

    def outside_hooks(self, body):
        """Names called in a body outside of alloc_hooks()."""
        inside = self.hooked(body)
        return [m[1] for m in CALL_RE.finditer(body)
                if not any(start <= m.start() < end for start, end in inside)]

    def answered(self, source):
        """Functions of a file that run inside a caller's hook.

        Those are the functions that is_inner() knows, and static functions that are called
        only by such functions or inside hooks.
        """
        sure = {f.name for f in source.functions if self.is_inner(f.name)}
        taken = set(re.findall(r"\b[A-Za-z_]\w*+(?!\s*\()", source.text))
        static = {f.name for f in source.functions if f.static} - taken
        callers = {}
        for function in source.functions:
            for start, end in self.hooked(function.body):
                for name in CALL_RE.findall(function.body, start, end):
                    callers.setdefault(name, set())
            for name in set(self.outside_hooks(function.body)) & static:
                callers.setdefault(name, set()).add(function.name)
        ok, again = static & callers.keys(), True
        while again:            # remove functions with a caller outside of any hook
            bad = {name for name in ok if not callers[name] <= sure | ok}
            ok, again = ok - bad, bool(bad)
        return sure | ok

    def pointers(self, source):
        out = []
        for match in self.named(BARE_RE, source.text):
            before = source.text[max(0, match.start() - 40):match.start()]
            if re.search(VARIABLE % match[1], source.text):
                continue
            if re.search(r"\bEXPORT\w+\(\s*$|\b(goto|struct|union|enum|int|long|bool|unsigned|u\d+|char|void)\s+\**$",
                         before):
                continue
            out.append(self.at(source, match, "pointer", f"{match[1]} is a macro, not a function"))
        for match in re.finditer(r"[=,(?:&]\s*(\w+_noprof)\s*[,;)}]", source.text):
            if not re.search(r"\bEXPORT\w+\s*$", source.text[max(0, match.start() - 30):match.start()]):
                out.append(self.at(source, match, "pointer", f"takes the address of {match[1]}()"))
        return out

    def clashes(self, source):
        out = [self.at(source, match, "clash", f"calls a member {match[1]}, which is also a macro")
               for match in self.named(MEMBER_CALL_RE, source.text)]
        out += [self.at(source, match, "clash", f"undefines the macro {match[1]}", source.raw)
                for match in self.named(UNDEF_RE, source.raw)]
        for function in source.functions:
            if function.name in self.hooks.direct and source.path not in self.hooks.where[function.name]:
                out.append(Finding(source.path, function.name, "clash", function.line,
                                   "is defined as a function and a macro"))
        for text, at in source.declared:
            found = source.declarator(text) if "(" in text and "=" not in text else None
            if found and found[0] in self.hooks.direct and text[:found[1]].strip() \
                    and source.path not in self.hooks.where[found[0]]:
                out.append(Finding(source.path, found[0], "clash", source.text.count("\n", 0, at + found[1]) + 1,
                                   "is declared as a function and a macro"))
        return out

    @staticmethod
    def at(source, match, kind, why, text=None):
        line = (text or source.text).count("\n", 0, match.start(1)) + 1
        return Finding(source.path, match[1], kind, line, why)
