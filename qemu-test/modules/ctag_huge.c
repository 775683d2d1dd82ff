// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module of 96 MiB. arm64 first looks for room in an area of 128 MiB. Two modules of
 * this size do not fit into it, so the second one must be placed elsewhere.
 */
#include <linux/module.h>
#include <linux/sizes.h>

static char room[96 * SZ_1M] __used;

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Needs much room");
