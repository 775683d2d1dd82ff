/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit codes: one table for all programs, explained in
 * Documentation/tools/codetag.rst.
 *
 * If several codes apply, the first of EXIT_OUTPUT, EXIT_CANNOT, EXIT_LOST, EXIT_UNKNOWN
 * is used.
 */
#ifndef _CODETAG_STATUS_H
#define _CODETAG_STATUS_H

/**
 * enum exit_status - exit codes of all programs
 * @EXIT_GOOD: success, and no data are missing
 * @EXIT_CANNOT: the task failed, or could not be finished
 * @EXIT_LOST: done, but data were lost, not fetched, or damaged
 * @EXIT_OUTPUT: the output could not be created or written
 * @EXIT_UNKNOWN: done, but it is unknown whether data are missing
 * @EXIT_USAGE: wrong options; nothing was done
 *
 * EXIT_USAGE is EX_USAGE of sysexits.h.
 */
enum exit_status {
	EXIT_GOOD	= 0,
	EXIT_CANNOT	= 1,
	EXIT_LOST	= 2,
	EXIT_OUTPUT	= 3,
	EXIT_UNKNOWN	= 4,
	EXIT_USAGE	= 64,
};

#endif /* _CODETAG_STATUS_H */
