# SPDX-License-Identifier: GPL-2.0-only
#
# Programs use io_uring and end.  The masks of CPUs are allocated, as in Debian's kernel.

once()
{
	trigger uring
}
