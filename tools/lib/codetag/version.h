/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --version of each program prints.
 */
#ifndef _CODETAG_VERSION_H
#define _CODETAG_VERSION_H

void version_print(const char *program);

#endif /* _CODETAG_VERSION_H */
