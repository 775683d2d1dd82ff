# SPDX-License-Identifier: GPL-2.0-only
"""What find.sh found in the guest, compared with the fix.

A bug has `frees` and `caller`, lists of functions; see qemu-test/leaks/run.
"""

import json
import re

FIRST = 3       # call sites of `allocinfo leak` that somebody looks at


def read(text):
    """{word: (arguments, lines)} of the parts of the output, which begin with @WORD."""
    parts = []
    for line in text.splitlines():
        if line.startswith("@"):
            word, *arguments = line[1:].split()
            parts.append((word, arguments, []))
        elif parts and not line.startswith("#"):
            parts[-1][2].append(line)
    if not parts or parts[-1][0] != "end":
        raise ValueError("the guest did not finish its search")
    return parts


def functions(frames):
    """The names of the functions, without what the compiler or a module adds to them."""
    return [re.sub(r"(\.(isra|constprop|part|cold)\b.*|\+0x.*)$", "", frame).strip() for frame in frames]


def growth(before, after):
    """The cache of slabs that grew most, with its bytes; both are lines NAME OBJECTS SIZE."""
    def sizes(lines):
        return {name: int(n) * int(size) for name, n, size in map(str.split, lines)}
    old, new = sizes(before), sizes(after)
    most = max(new, key=lambda name: new[name] - old.get(name, 0))
    return f"{most} +{new[most] - old.get(most, 0)}"


def ours(bug, parts):
    """What our tools said, and whether that is right."""
    before, after, (_, (begin, end), lines), *whys = parts
    leaks = json.loads("\n".join(lines))["leaks"]
    rank = next((i for i, leak in enumerate(leaks[:FIRST], 1) if leak["func"] in bug.frees), 0)
    result = {"seconds": round(float(end) - float(begin)), "rank": rank, "named": len(leaks),
              "sites": ["%s:%d %s" % (leak["file"], leak["line"], leak["func"]) for leak in leaks],
              "frees": any(leak["func"] in bug.frees for leak in leaks), "stack": [],
              "caches": growth(before[2], after[2])}
    # a function that is inlined is in no stack, but the call site names its own
    seen = [leaks[rank - 1]["func"]] if rank else []
    for word, _, lines in whys:
        if word != "why" or not "".join(lines).strip():
            continue
        why = json.loads("\n".join(lines))
        stack = next((functions(s["frames"]) for s in why["stacks"] if s["grows"]), [])
        if rank and why["func"] in bug.frees and not result["stack"]:
            result["stack"] = stack
            seen += stack
    result["caller"] = next((f for f in seen if f in bug.caller), "")
    return result


def kmemleak(bug, parts):
    """How many objects kmemleak reports, and how many of those that find.sh lists are the leak."""
    _, (begin, found), lines = parts[0]
    objects = [functions(re.findall(r"^ {4}(?:\[<[0-9a-fx]+>\] )?(\S+\+0x\S+)", text, re.M))
               for text in "\n".join(lines[1:]).split("unreferenced object")[1:]]
    right = [o for o in objects if set(o) & set(bug.caller)]
    return {"seconds": round(float(found) - float(begin)) if found != "never" else 0,
            "objects": int(lines[0]), "listed": len(objects), "right": len(right),
            "stack": (right or objects or [[]])[0]}
