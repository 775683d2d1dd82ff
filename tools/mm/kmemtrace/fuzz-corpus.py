#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Seeds for the fuzzers: write small traces of make-trace.py to a directory, in the packed
# format that the fuzzers read.

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STREAM = '--scenario stream --first 1 --events 24 '
KINDS = {
    'little': STREAM,
    'big': STREAM + '--big',
    'word32': STREAM + '--word 32',
    'lost': STREAM + '--lost --events 120',
    'whole': STREAM + '--lost --events 120 --header span=whole --header begins=0',
    'wrap': STREAM + '--first 0xfffffff0',
    'plain': STREAM + '--features ,',
    'back': STREAM + '--fault seq-back',
    'junk': STREAM + '--fault junk',
    'cut': STREAM + '--fault truncated',
    'no-header': STREAM + '--no-header',
    'basic': '--scenario basic',
    'errors': '--scenario errors',
    'losses': '--scenario losses',
    'hostile': '--scenario hostile',
}


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for name, args in KINDS.items():
        subprocess.run([f'{HERE}/make-trace.py', '--packed', f'{out}/{name}',
                        *args.split()], check=True)


if __name__ == '__main__':
    main()
