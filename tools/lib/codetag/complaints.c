// SPDX-License-Identifier: GPL-2.0-only
/*
 * Complaints about damaged input, see complaints.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "complaints.h"

/* The first messages show what kind of damage there is; the others are only counted. */
#define COMPLAINTS_SHOWN	20u

/**
 * vcomplain - format a complaint and pass it on
 * @to: receiver
 * @file: name of the damaged file
 * @place: position in @file
 * @format: format of the complaint, as for printf()
 * @args: arguments of @format
 */
void vcomplain(const struct complainer *to, const char *file, uint64_t place,
	       const char *format, va_list args)
{
	char what[256];

	if (!to->fn)
		return;
	vsnprintf(what, sizeof(what), format, args);
	to->fn(file, place, what, to->data);
}

/**
 * complain - format a complaint and pass it on
 * @to: receiver
 * @file: name of the damaged file
 * @place: position in @file
 * @format: format of the complaint, as for printf()
 */
void complain(const struct complainer *to, const char *file, uint64_t place,
	      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(to, file, place, format, args);
	va_end(args);
}

/**
 * complaints_print - print the first complaints and count all of them
 * @file: name of the damaged file
 * @place: position in @file
 * @what: the complaint
 * @count: number of complaints so far, a uint64_t that begins with 0
 */
void complaints_print(const char *file, uint64_t place, const char *what, void *count)
{
	uint64_t *nr = count;

	if ((*nr)++ < COMPLAINTS_SHOWN)
		fprintf(stderr, "%s: %s:%" PRIu64 ": %s\n", program_invocation_short_name,
			file, place, what);
}

/**
 * complaints_end - print how many complaints were not shown
 * @count: number of complaints
 */
void complaints_end(uint64_t count)
{
	if (count > COMPLAINTS_SHOWN)
		fprintf(stderr, "%s: %" PRIu64 " more messages about damage\n",
			program_invocation_short_name, count - COMPLAINTS_SHOWN);
}
