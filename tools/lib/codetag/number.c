// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers, sizes and times, see number.h.
 *
 * strtoull() accepts signs, leading spaces and empty words. Here a number is digits only.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

/**
 * number_take - read a decimal number at the beginning of a text
 * @text: begins with a digit
 * @number: result
 * @end: set to the first character after the number
 *
 * Return: false if there is no number or if it exceeds 64 bits.
 */
bool number_take(const char *text, uint64_t *number, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	return !errno;
}

/* Returns by how many bits a unit shifts a size; -1 if the unit is unknown. */
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
 * @text: the number and nothing else
 * @max: largest number to accept
 * @number: result
 *
 * Return: false if @text is not a number or exceeds @max.
 */
bool number_parse(const char *text, uint64_t max, uint64_t *number)
{
	const char *end;

	return number_take(text, number, &end) && !*end && *number <= max;
}

/**
 * size_parse - read a number of bytes
 * @text: a decimal number with an optional unit k, M or G (powers of 1024)
 * @max: largest size to accept
 * @size: result
 *
 * Return: false if @text is not a size or exceeds @max.
 */
bool size_parse(const char *text, uint64_t max, uint64_t *size)
{
	const char *end;
	int shift;

	if (!number_take(text, size, &end))
		return false;
	shift = unit_shift(end);
	if (shift < 0 || *size > max >> shift)
		return false;
	*size <<= shift;
	return true;
}

/* Returns the seconds of a unit; 0 if the unit is unknown. */
static unsigned int unit_seconds(const char *unit)
{
	if (!*unit)
		return 1;
	if (unit[1])
		return 0;
	switch (*unit) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 60 * 60;
	case 'd':
		return 24 * 60 * 60;
	}
	return 0;
}

/**
 * seconds_parse - read a length of time
 * @text: a decimal number with an optional unit s, m, h or d
 * @max: longest time to accept, in seconds
 * @seconds: result
 *
 * Return: false if @text is not a time or exceeds @max.
 */
bool seconds_parse(const char *text, uint64_t max, uint64_t *seconds)
{
	unsigned int unit;
	const char *end;

	if (!number_take(text, seconds, &end))
		return false;
	unit = unit_seconds(end);
	if (!unit || *seconds > max / unit)
		return false;
	*seconds *= unit;
	return true;
}
