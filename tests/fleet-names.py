#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check what queries name: tests/fleet-names.py [FOLDER]

FOLDER has the rules, the console pages and the dashboard (tools/mm/allocinfo/prometheus). Each
metric in their queries must be one that tools/mm/allocinfo/metrics.c writes, one that the rules
record, or one of the few of other programs; each state and kind must be in metrics.c, too.
promtool must understand each query. The dashboard has the queries of the pages.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
METRICS = (TOP / "tools/mm/allocinfo/metrics.c").read_text()
OTHERS = {"ALERTS", "node_textfile_mtime_seconds", "up"}
KEYWORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless",
            "offset", "bool"}


def rule_queries(text):
    """Values of expr:, in one line or as a block."""
    for match in re.finditer(r"^( *)(?:- )?expr: (?:[|>]-?\n((?:\1 +\S.*\n)+)|(.+)\n)", text, re.M):
        yield match[2] or match[3]


def page_queries(text):
    """Queries of the templates, and those of the graphs."""
    for match in re.finditer(r'(?:query|expr:|printf) "([^"]*)"', text):
        yield match[1]


def dashboard_queries(text):
    for panel in json.loads(text)["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def plain(query):
    """The same for pages and dashboard: one name for the host, one space."""
    query = re.sub(r"'(?:\{\{ \.Params\.instance \}\}|\$instance)'|%q", "'HOST'", query)
    return " ".join(query.split())


def names(query):
    """The metrics that a query names."""
    query = re.sub(r'"[^"]*"|\'[^\']*\'', "", query)
    query = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", query)
    query = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)", " ", query)
    query = re.sub(r"\boffset +\w+|@ *end\(\)|[0-9.^]+", " ", query)
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)( *\()?", query):
        if not match[2] and match[1] not in KEYWORDS:
            yield match[1]


def values(query):
    """States and kinds that a query selects."""
    for match in re.finditer(r"\b(?:state|kind)[!=]=?~?[\"']([^\"']*)[\"']", query):
        yield from match[1].split("|")


def misspelled(where, query, known):
    for name in names(query):
        if name not in known:
            yield f"{where}: no metric {name}: {query}"
    for value in values(query):
        if f'"{value}"' not in METRICS:
            yield f"{where}: metrics.c has no \"{value}\": {query}"


def refused(queries):
    """What promtool says about queries, all as rules of one file."""
    rules = "".join(f"  - record: r{i}\n    expr: {json.dumps(query)}\n" for i, query in enumerate(queries))
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as f:
        f.write("groups:\n- name: queries\n  rules:\n" + rules)
        f.flush()
        done = subprocess.run(["promtool", "check", "rules", f.name], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [done.stdout] if done.returncode else []


def check(folder):
    rules = (folder / "allocinfo.rules.yml").read_text()
    found = {"rules": {plain(q) for q in rule_queries(rules)},
             "pages": {plain(q) for page in folder.glob("*.html") for q in page_queries(page.read_text())},
             "dashboard": {plain(q) for q in dashboard_queries((folder / "allocinfo-dashboard.json").read_text())}}
    known = set(re.findall(r"\blinux_alloc_\w+", METRICS)) | OTHERS | set(re.findall(r"record: (\S+)", rules))
    problems = [f"{where}: no queries" for where, queries in found.items() if len(queries) < 10]
    for where, queries in found.items():
        for query in sorted(queries):
            problems += misspelled(where, query, known)
    problems += [f"only the pages have: {q}" for q in found["pages"] - found["dashboard"]]
    problems += [f"only the dashboard has: {q}" for q in found["dashboard"] - found["pages"]]
    return problems + refused(sorted(set.union(*found.values())))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TOP / "tools/mm/allocinfo/prometheus"
    problems = check(folder)
    print("\n".join(problems) or "all queries name what there is")
    return 1 if problems else 0


sys.exit(main())
