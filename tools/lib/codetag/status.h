/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the programs end: one table for all of them, explained in
 * Documentation/tools/codetag.rst.
 *
 * If several apply, the order is EXIT_OUTPUT, EXIT_CANNOT, EXIT_LOST, EXIT_UNKNOWN.
 */
#ifndef _CODETAG_STATUS_H
#define _CODETAG_STATUS_H

/**
 * enum exit_status - exit codes of all programs
 * @EXIT_GOOD: all of it was done, and nothing is missing
 * @EXIT_CANNOT: it could not be done, or not to the end
 * @EXIT_LOST: done, but the data have gaps or errors: lost or not fetched, damaged
 * @EXIT_OUTPUT: the output could not be made or written
 * @EXIT_UNKNOWN: done, and nobody can tell whether data are missing
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
