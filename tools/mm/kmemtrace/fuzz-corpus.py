#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Seeds for fuzz-trace: small traces of gen-trace.py, packed the way it reads
# them, into the directory that is named.

import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {
    'little': [],
    'big': ['--big'],
    'word32': ['--word', '32'],
    'lost': ['--lost', '--events', '120'],
    'wrap': ['--first', '0xfffffff0'],
    'plain': ['--features', ''],
    'back': ['--fault', 'seq-back'],
    'junk': ['--fault', 'junk'],
    'cut': ['--fault', 'truncated'],
    'no-header': ['--no-header'],
}


def part(path):
    try:
        with open(path, 'rb') as f:
            return f.read()
    except FileNotFoundError:
        return b''


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name, args in KINDS.items():
        with tempfile.TemporaryDirectory() as trace:
            subprocess.run([f'{HERE}/gen-trace.py', trace, '--events', '24', *args], check=True)
            head, first, second = (part(f'{trace}/{f}')
                                   for f in ('header', 'cpu0.out', 'cpu1.out'))
        with open(f'{out}/{name}', 'wb') as f:
            f.write(struct.pack('<I', len(head)) + head +
                    struct.pack('<I', len(first)) + first + second)


if __name__ == '__main__':
    main()
