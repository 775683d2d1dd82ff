/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that come from elsewhere, made fit for a line of text on a terminal.
 */
#ifndef _CODETAG_UTF8_H
#define _CODETAG_UTF8_H

void clean_name(char *s);

#endif /* _CODETAG_UTF8_H */
