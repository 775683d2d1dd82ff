// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the daemon to standard error.
 *
 * Clients cause most of them, so their number is limited: a client must not fill the log.
 * The texts of clients can be in them, so they are made safe for a terminal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "serve.h"
#include "utf8.h"

#define LOG_BURST	20u
#define LOG_PERIOD	(60 * SERVE_NS)

static uint64_t period_start, period_nr, dropped, dropped_reported;

static void print(const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	clean_name(text);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
}

/* Returns true if another message fits into this minute. */
static bool admit(void)
{
	uint64_t now = serve_clock(CLOCK_MONOTONIC);

	if (!period_start || now - period_start >= LOG_PERIOD) {
		period_start = now;
		period_nr = 0;
		if (dropped != dropped_reported)
			fprintf(stderr, "%s: %" PRIu64 " more messages were dropped\n",
				program_invocation_short_name, dropped - dropped_reported);
		dropped_reported = dropped;
	}
	if (period_nr++ < LOG_BURST)
		return true;
	dropped++;
	return false;
}

/**
 * log_va - print a message, at most 20 in a minute
 * @unused: for libmicrohttpd
 * @format: format of the message, as for printf(); of the result, only the first line is
 *	printed
 * @args: arguments of @format
 */
void log_va(void *unused, const char *format, va_list args)
{
	(void)unused;
	if (admit())
		print(format, args);
}

/**
 * log_message - print a message, at most 20 in a minute
 * @format: format of the message, as for printf()
 */
void log_message(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_va(NULL, format, args);
	va_end(args);
}
