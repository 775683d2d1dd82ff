// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers and sizes of the command line, see number.h.
 *
 * strtoull() takes signs, spaces and empty words; here only digits are a number.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static bool parse(const char *text, uint64_t *number, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	return !errno;
}

/* How far a unit shifts a size; -1: there is no such unit. */
static int unit_shift(const char *unit)
{
	static const char units[] = "kmg";
	const char *found;

	if (!*unit)
		return 0;
	found = strchr(units, tolower((unsigned char)*unit));
	return found && !unit[1] ? 10 * (int)(found - units + 1) : -1;
}

/**
 * number_parse - read a decimal number
 * @text: nothing but the number
 * @max: the largest one that will do
 * @number: where to
 *
 * Return: false if @text is no such number.
 */
bool number_parse(const char *text, uint64_t max, uint64_t *number)
{
	const char *end;

	return parse(text, number, &end) && !*end && *number <= max;
}

/**
 * size_parse - read a number of bytes
 * @text: a decimal number, and perhaps k, M or G, powers of 1024
 * @max: the largest one that will do
 * @size: where to
 *
 * Return: false if @text is no such size.
 */
bool size_parse(const char *text, uint64_t max, uint64_t *size)
{
	const char *end;
	int shift;

	if (!parse(text, size, &end))
		return false;
	shift = unit_shift(end);
	if (shift < 0 || *size > max >> shift)
		return false;
	*size <<= shift;
	return true;
}
