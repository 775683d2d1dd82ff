# SPDX-License-Identifier: GPL-2.0-only
"""Run by drgn: prints the release of the kernel in a dump, and the functions of the thread that crashed."""

# pylint: disable=undefined-variable
print(prog["init_uts_ns"].name.release.string_().decode())      # noqa: F821
print(*(frame.name for frame in prog.crashed_thread().stack_trace()))   # noqa: F821
