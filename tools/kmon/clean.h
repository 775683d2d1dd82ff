/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that come from elsewhere, made fit for a line of text on a terminal.
 */
#ifndef _KMON_CLEAN_H
#define _KMON_CLEAN_H

void clean_name(char *s);

#endif /* _KMON_CLEAN_H */
