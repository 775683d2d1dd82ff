/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a fuzzer, or a program for a test, requires of the code that it runs.
 */
#ifndef _CODETAG_EXPECT_H
#define _CODETAG_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the program so that libFuzzer keeps the input. */
#define EXPECT(condition) do {							\
	if (!(condition)) {							\
		fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__,	\
			#condition);						\
		abort();							\
	}									\
} while (0)

#endif /* _CODETAG_EXPECT_H */
