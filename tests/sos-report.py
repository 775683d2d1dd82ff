#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run Debian's sos with our plugin: tests/sos-report.py PROGRAMS ARGUMENT...

PROGRAMS is a folder, in which sos looks for programs first. sos and its plugins are modules of
Debian's Python.
"""

import sys
from pathlib import Path

import sos.report.plugins
from sos import SoS
from sos.policies.debian import DebianPolicy

FOLDER = Path(__file__).resolve().parent.parent / "tools/mm/allocinfo/sos"

sys.dont_write_bytecode = True
sos.report.plugins.__path__.append(str(FOLDER))
DebianPolicy.PATH = f"{sys.argv[1]}:{DebianPolicy.PATH}"
SoS(sys.argv[2:]).execute()
