// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes, times and call sites in words, see words.h.
 */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "util.h"
#include "words.h"

#define HOUR	3600.0
#define DAY	86400.0

/**
 * words_size - a number of bytes with a unit, as bytes_text() writes it
 * @bytes: the number; a rate may be any
 * @text: room for the words
 *
 * Return: @text.
 */
const char *words_size(double bytes, char text[BYTES_TEXT])
{
	return bytes_text(fmax(fmin(bytes, 0x1p62), -0x1p62), false, text);
}

/**
 * words_time - a length of time with a unit
 * @seconds: the time; below 0 is unknown
 * @text: room for the words
 * @room: size of @text
 *
 * Return: the words, not always in @text.
 */
const char *words_time(double seconds, char *text, size_t room)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {
		{ 365 * DAY, "years" }, { DAY, "days" }, { HOUR, "hours" },
		{ 60, "minutes" }, { 1, "seconds" },
	};
	unsigned int unit = 0;

	if (seconds < 0)
		return "";
	if (seconds >= 1000 * 365 * DAY)
		return "centuries";
	while (unit < 4 && seconds < 2 * units[unit].seconds)
		unit++;
	snprintf(text, room, "%.0f %s", seconds / units[unit].seconds, units[unit].name);
	return text;
}

/**
 * words_date - a time of day, local
 * @seconds: seconds since 1970
 * @text: room for the words
 * @room: size of @text
 *
 * Return: @text.
 */
const char *words_date(double seconds, char *text, size_t room)
{
	time_t t = seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, room, "%Y-%m-%d %H:%M", &tm))
		snprintf(text, room, "%.0f", seconds);
	return text;
}

/**
 * words_site - print the name of a call site
 * @site: the call site; its strings must be safe for a terminal
 * @out: where to
 */
void words_site(const struct site *site, FILE *out)
{
	fprintf(out, "%s:%" PRIu32 "%s%s%s%s%s", site->file, site->line,
		*site->module ? " [" : "", site->module, *site->module ? "]" : "",
		*site->func ? " func:" : "", site->func);
}
