// SPDX-License-Identifier: GPL-2.0-only
/* The same module again, because the kernel does not load two of one name. */
#include "ctag_huge.c"
