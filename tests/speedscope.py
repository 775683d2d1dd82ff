#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Open a profile in speedscope, in a headless Chromium, and print what the page shows.

speedscope.py RELEASE FILE: RELEASE is the folder dist/release of the npm package speedscope. The
page shows its table of functions ("sandwich"). For each of its rows, print a line "SELF TOTAL
FUNCTION", separated by tabs, as it stands there.
"""

import functools
import html.parser
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

TIMEOUT = 120
# milliseconds that the page may believe to have waited before its contents are printed
BUDGET = 20000


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Table(html.parser.HTMLParser):
    """The texts of the cells of all tables, without elements inside them."""

    def __init__(self):
        super().__init__()
        self.rows = []
        self.cell = False

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self.cell = tag == "td" or (self.cell and tag in ("span", "div"))

    def handle_endtag(self, tag):
        if tag == "td":
            self.cell = False

    def handle_data(self, data):
        if self.cell:
            self.rows[-1][-1] += data


def page(url, scratch):
    """The contents of a page after its scripts ran."""
    argv = ["chromium", "--headless", "--disable-gpu", "--enable-unsafe-swiftshader", "--no-first-run",
            f"--user-data-dir={scratch}", f"--virtual-time-budget={BUDGET}", "--dump-dom", url]
    if os.geteuid() == 0:
        argv.insert(1, "--no-sandbox")
    done = subprocess.run(argv, check=False, timeout=TIMEOUT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"speedscope.py: chromium: exit status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def show(release, file):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "root")
        shutil.copytree(release, root)
        shutil.copyfile(file, root / file.name)
        handler = functools.partial(Quiet, directory=root)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            site = f"http://127.0.0.1:{server.server_port}"
            text = page(f"{site}/index.html#profileURL={site}/{file.name}&view=sandwich",
                        Path(scratch, "profile"))
            server.shutdown()
    return text


def main():
    table = Table()
    table.feed(show(Path(sys.argv[1]), Path(sys.argv[2])))
    rows = [row for row in table.rows if len(row) == 3]
    for total, own, name in rows:
        print(own, total, name, sep="\t")
    return 0 if rows else "speedscope.py: the page has no table of functions"


sys.exit(main())
