// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module of 96 MiB. On arm64, two of this size do not fit into the 128 MiB in which
 * modules reach the kernel and each other directly.
 */
#include <linux/module.h>
#include <linux/sizes.h>

static char room[96 * SZ_1M] __used;

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Needs much room");
