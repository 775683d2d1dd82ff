/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots as text, as a loop in a shell writes them:
 *
 *	while sleep 60; do
 *		echo "# time $(date +%s)"; cat /proc/meminfo /proc/allocinfo
 *	done >FILE
 *
 * /proc/meminfo may be missing.
 */
#ifndef _ALLOCINFO_SNAP_TEXT_H
#define _ALLOCINFO_SNAP_TEXT_H

#include <stdbool.h>

#include "snap.h"

struct snap_text;

struct snap_text *snap_text_open(const char *path);
bool snap_text_next(struct snap_text *reader, struct snap *snap);
bool snap_text_close(struct snap_text *reader);

#endif /* _ALLOCINFO_SNAP_TEXT_H */
