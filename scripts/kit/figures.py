# SPDX-License-Identifier: GPL-2.0-only
"""The figures of `make bench`: rows, values derived from them, a table and a picture.

A row is a case with a value for each kernel and mode that ran:

  base never 0 1		6.1 unpatched; ours
  m.off m.never m.0 m.1	mainline without the option; with it

The derived values depend on the kind of row:

  cost	instructions, nanoseconds, workloads: on adds 1 - 0, off adds 0 - base
  pages	on adds 1 - never, since a kernel may set aside at 0 already
	(memory, too)
  text	one kernel for all modes: on adds 1 - base (sizes of files, too)
  total	reading: no difference is derived, the totals are compared

A ratio is ours divided by mainline's.  There is none if mainline's is not above zero.
"""

import csv
from html import escape

MODES = ["base", "never", "0", "1"]
PEER = {"base": "m.off", "never": "m.never", "0": "m.0", "1": "m.1"}
COLUMNS = MODES + [PEER[m] for m in MODES]
DERIVED = ["on", "m.on", "off", "m.off adds", "ratio"]
SECTIONS = {                        # name -> kind
    "instructions": "cost",
    "nanoseconds": "cost",
    "workloads": "cost",
    "reading": "total",
    "slab pages": "pages",
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

    def derived(self):
        """name -> number or None, in the order of DERIVED."""
        kind = SECTIONS[self.section]
        if kind == "total":
            on, peer_on, off, peer_off = None, None, None, None
            ratio = quotient(self.values.get("1"), self.values.get("m.1"))
        else:
            start = START[kind]
            on, peer_on = self.less("1", start), self.less("m.1", PEER[start])
            off, peer_off = self.less("0", "base"), self.less("m.0", "m.off")
            ratio = quotient(on, peer_on)
        if kind == "text":      # as shares, because the kernels differ in size
            ratio = quotient(share(on, self.values.get("base")), share(peer_on, self.values.get("m.off")))
        return dict(zip(DERIVED, [on, peer_on, off, peer_off, ratio]))


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
    if name == "ratio":
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
