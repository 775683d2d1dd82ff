/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals that ask a recorder to stop, read from a file descriptor.
 */
#ifndef _CODETAG_SIGNALS_H
#define _CODETAG_SIGNALS_H

#include <signal.h>

int signals_open(sigset_t *set);

#endif /* _CODETAG_SIGNALS_H */
