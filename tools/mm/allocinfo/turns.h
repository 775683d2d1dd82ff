/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for the time of the next snapshot, or for a signal that ends the program.
 */
#ifndef _ALLOCINFO_TURNS_H
#define _ALLOCINFO_TURNS_H

#include <stdbool.h>
#include <stdint.h>

int turns_start(uint64_t interval);
bool turns_wait(int signals, int timer);

#endif /* _ALLOCINFO_TURNS_H */
