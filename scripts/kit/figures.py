# SPDX-License-Identifier: GPL-2.0-only
"""The figures of `make bench`: rows, values derived from them, a table and a picture.

A row is a case with a value for each kernel and mode that ran:

  base never 0 1		6.1 unpatched; ours
  m.off m.never m.0 m.1	mainline 6.12 without the option; with it
  n.off n.never n.0 n.1	the same of the newest mainline
  n.1c			the newest mainline with `1,compressed`

The derived values depend on the kind of row:

  cost	instructions, nanoseconds, workloads: on adds 1 - 0, off adds 0 - base
  pages	on adds 1 - never, since a kernel may set aside at 0 already
	(memory, too)
  text	one kernel for all modes: on adds 1 - base (sizes of files, too)
  total	reading: no difference is derived, the totals are compared

A ratio is ours divided by mainline's, `ratio` by that of 6.12.  There is none if mainline's
is not above zero.

`make bench` writes tables into the documents, between these two lines (in Markdown as
comments of HTML):

  .. bench: NAME, NAME	sections; "pairs", a short table in Markdown; "run", what was measured
  .. bench: end
"""

import csv
import re
from html import escape

KERNELS = {                         # prefix of derived values -> columns
    "": {"base": "base", "never": "never", "0": "0", "1": "1"},
    "m.": {"base": "m.off", "never": "m.never", "0": "m.0", "1": "m.1"},
    "n.": {"base": "n.off", "never": "n.never", "0": "n.0", "1": "n.1"},
    "n.1c ": {"base": "n.off", "never": "n.never", "0": "n.0", "1": "n.1c"},
}
COLUMNS = list(dict.fromkeys(c for modes in KERNELS.values() for c in modes.values()))
DERIVED = ["on", "m.on", "n.on", "n.1c on", "off", "m.off adds", "n.off adds",
           "ratio", "n.ratio", "n.1c ratio", "on %"]
SECTIONS = {                        # name -> kind
    "instructions": "cost",
    "nanoseconds": "cost",
    "workloads": "cost",
    "KFENCE: instructions": "cost",
    "Debian: instructions": "cost",
    "Debian: workloads": "cost",
    "reading": "total",
    "slab pages": "pages",
    "Debian: slab pages": "pages",
    "text bytes": "text",
    "kB of memory": "pages",
    "bytes": "text",
}
START = {"cost": "0", "pages": "never", "text": "base"}
FIELDS = ["section", "case", *COLUMNS, *DERIVED]


class Row:
    def __init__(self, section, case, values):
        self.section, self.case = section, case
        self.values = {c: v for c, v in values.items() if v is not None}

    def less(self, this, that):
        if this in self.values and that in self.values:
            return self.values[this] - self.values[that]
        return None

    def on(self, who):
        """What profiling adds when it is on, to the kernel with this prefix."""
        kind = SECTIONS[self.section]
        return None if kind == "total" else self.less(KERNELS[who]["1"], KERNELS[who][START[kind]])

    def off(self, who):
        kind = SECTIONS[self.section]
        return None if kind == "total" else self.less(KERNELS[who]["0"], KERNELS[who]["base"])

    def compared(self, who):
        """The value of which a ratio is made."""
        kind = SECTIONS[self.section]
        if kind == "total":
            return self.values.get(KERNELS[who]["1"])
        if kind == "text":      # as shares, because the kernels differ in size
            return share(self.on(who), self.values.get(KERNELS[who]["base"]))
        return self.on(who)

    def derived(self):
        """name -> number or None, in the order of DERIVED."""
        made = {f"{who}on": self.on(who) for who in KERNELS}
        made |= {"off": self.off(""), "m.off adds": self.off("m."), "n.off adds": self.off("n.")}
        made |= {f"{who.removeprefix('m.')}ratio": quotient(self.compared(""), self.compared(who))
                 for who in list(KERNELS)[1:]}
        part = share(self.on(""), self.values.get("0")) if self.section.endswith("workloads") else None
        made["on %"] = None if part is None else 100 * part
        return {name: made[name] for name in DERIVED}


def share(part, whole):
    return part / whole if part is not None and whole else None


def quotient(ours, theirs):
    """Ours divided by theirs; None if one is missing, or if theirs is zero or less."""
    if ours is None or theirs is None or theirs <= 0:
        return None
    return ours / theirs


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, FIELDS, restval="", lineterminator="\n")
        out.writeheader()
        for row in rows:
            derived = {k: round(v, 3) for k, v in row.derived().items() if v is not None}
            out.writerow({"section": row.section, "case": row.case, **row.values, **derived})


def read_csv(path):
    """The rows of a file that write_csv() wrote; ValueError for any other file."""
    with open(path, newline="", encoding="utf-8") as f:
        table = csv.DictReader(f)
        if table.fieldnames != FIELDS:
            raise ValueError(f"{path} is not a table of make bench")
        rows = []
        for line in table:
            if line["section"] not in SECTIONS:
                raise ValueError(f"{path}: what is '{line['section']}'?")
            rows.append(Row(line["section"], line["case"],
                            {c: number(line[c]) for c in COLUMNS if line[c]}))
        return rows


def number(text):
    return float(text) if "." in text else int(text)


def text_of(value, name=""):
    if value is None:
        return "-"
    if name.endswith(("ratio", "%")):
        return f"{value:.2f}"
    text = f"{value:.1f}" if isinstance(value, float) else str(value)
    return f"+{text}" if name in DERIVED and value >= 0 else text


def table(rows):
    """The lines to print: a block for each section, with the columns that have a value."""
    lines = []
    for section in SECTIONS:
        block = [row for row in rows if row.section == section]
        if not block:
            continue
        derived = [row.derived() for row in block]
        columns = [c for c in COLUMNS if any(c in row.values for row in block)]
        names = columns + [d for d in DERIVED if any(made[d] is not None for made in derived)]
        cells = [[section, *names]]
        for row, made in zip(block, derived):
            cells.append([row.case] + [text_of({**row.values, **made}.get(n), n) for n in names])
        widths = [max(len(line[i]) for line in cells) for i in range(len(names) + 1)]
        lines += ["", *("  ".join([line[0].ljust(widths[0]),
                                   *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))]) for line in cells)]
    return lines[1:]


def short(value):
    """A difference in few digits, for the picture."""
    return f"{value / 1e6:+.2f} M" if abs(value) >= 1e6 else text_of(value, "on")


# The documents

PAIRS = {                           # case -> its name in README.md
    "kmalloc-64": "kmalloc 64 + kfree",
    "kmalloc-4096": "kmalloc 4096 (a page) + kfree",
    "kmem_cache-192": "kmem_cache_alloc 192 + free",
    "kmem_cache-4096": "kmem_cache_alloc 4096 (names_cache) + free",
    "order-0": "alloc_pages order 0 + free",
    "order-2": "alloc_pages order 2 + free",
    "kmalloc-16k": "kmalloc 16k (pages) + kfree",
    "vmalloc-16k": "vmalloc 16k + vfree",
    "percpu-8": "alloc_percpu 8 + free_percpu",
}
MARK = re.compile(r"^((?:<!--|\.\.) bench: (?!end\b)([^\n]+?)(?: -->)?\n).*?^(?=(?:<!--|\.\.) bench: end)", re.M | re.S)


def pairs(rows):
    """The table of README.md."""
    names = ["base", "never", "0", "1", "on", "m.on", "n.on", "n.1c on", "ratio"]
    heads = ["pair", "unpatched", "`never`", "`0`", "`1`", "on adds", "6.12 adds", "newest adds",
             "newest, compressed, adds", "ratio to 6.12"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        if row.section == "instructions" and row.case in PAIRS:
            values = {**row.values, **row.derived()}
            cells = [text_of(values.get(n), n).lstrip("+") for n in names]
            lines.append("| " + " | ".join([PAIRS[row.case], *cells]) + " |")
    return lines


def holes(rows):
    """(section, case, column) that was not measured, but other cases of the section have it."""
    costs = [row for row in rows if SECTIONS[row.section] == "cost"]
    have = {(row.section, column) for row in costs for column in row.values}
    return [(row.section, row.case, column) for row in costs for section, column in sorted(have)
            if section == row.section and column not in row.values]


def filled(text, rows, run):
    """The text of a document with the tables of these rows; ValueError if they miss a part of it."""
    def block(names):
        if names == "pairs":
            return pairs(rows)
        if names == "run":
            return [run]
        wanted = names.split(", ")
        for name in wanted:
            if not any(row.section == name for row in rows):
                raise ValueError(f"no figures for '{name}'")
        lines = table([row for row in rows if row.section in wanted])
        return ["::", "", *(f"  {line}".rstrip() for line in lines)]

    for section, case, column in holes(rows):
        raise ValueError(f"no figure for {column} of {section}, {case}")
    return MARK.sub(lambda m: "\n".join([m[1], *block(m[2]), "", ""]), text)


# The picture: a pair of bars for each case; mainline's bar has the length 1

WIDTH, LEFT, RIGHT, TOP_SPACE, PAIR, BAR = 900, 190, 170, 92, 34, 12
OURS, THEIRS, INK, FAINT = "#2b6cb0", "#b0b0b0", "#222222", "#dddddd"
MOST = 1.5          # longest bar, in units of mainline's; a longer one is cut there


class Drawing:
    def __init__(self):
        self.parts = []

    def rect(self, x, y, w, h, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(w, 0):.1f}" height="{h}" fill="{fill}"/>')

    def text(self, x, y, words, anchor="start", size=12, weight="normal", fill=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
                          f'text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, stroke):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>')

    def svg(self, width, height):
        return "\n".join([
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<!-- SPDX-License-Identifier: GPL-2.0-only -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
            f'<rect width="{width}" height="{height}" fill="white"/>', *self.parts, "</svg>", ""])


def comparable(rows):
    """section -> [(row, on, theirs)] of the costs that can be compared."""
    found = {}
    for row in rows:
        made = row.derived()
        if SECTIONS[row.section] == "cost" and made["ratio"] is not None:
            found.setdefault(row.section, []).append((row, made["on"], made["m.on"]))
    return found


def axis(drawing, x_of, bottom):
    for step in range(int(MOST * 4) + 1):
        x = x_of(step / 4)
        drawing.line(x, TOP_SPACE, x, bottom, INK if step == 0 else FAINT)
        drawing.text(x, TOP_SPACE - 6, f"{step / 4:g}", "middle", 11)


def legend(drawing, name):
    drawing.text(LEFT, 24, "What profiling adds when it is on", size=16, weight="bold")
    drawing.text(LEFT, 44, "mode 1 minus mode 0, as a part of what it adds to mainline; shorter is better")
    for x, fill, words in ((LEFT, OURS, "this series, 6.1"), (LEFT + 150, THEIRS, name)):
        drawing.rect(x, 56, 12, 12, fill)
        drawing.text(x + 18, 66, words)


def bars(drawing, x_of, y, on, theirs):
    """One case: our bar with its figures, mainline's below."""
    ratio = on / theirs
    drawing.rect(x_of(0), y, x_of(min(ratio, MOST)) - x_of(0), BAR, OURS)
    drawing.rect(x_of(0), y + BAR + 1, x_of(1) - x_of(0), BAR, THEIRS)
    drawing.text(x_of(MOST) + 10, y + 17,
                 f"{ratio:.2f}  ({short(on)} to {short(theirs)})", size=11)


def picture(rows, name):
    """The bar chart as the text of an SVG file."""
    drawing, sections = Drawing(), comparable(rows)
    scale = (WIDTH - LEFT - RIGHT) / MOST

    def x_of(ratio):
        return LEFT + ratio * scale

    bottom = TOP_SPACE + sum(26 + PAIR * len(cases) for cases in sections.values()) + 6
    legend(drawing, name)
    axis(drawing, x_of, bottom)
    y = TOP_SPACE
    for section, cases in sections.items():
        drawing.text(8, y + 18, section, weight="bold")
        y += 26
        for row, on, theirs in cases:
            drawing.text(LEFT - 8, y + 17, row.case, "end")
            bars(drawing, x_of, y, on, theirs)
            y += PAIR
    if not sections:
        drawing.text(LEFT, bottom + 20, "nothing was measured on both")
        bottom += 30
    return drawing.svg(WIDTH, bottom + 14)
