// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault points of class memory, read from and switched in dynamic_faults.
 */
#include "faultwalk.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS		"/sys/kernel/debug/dynamic_faults"

static struct text faults;
struct point *points;
size_t nr_points;
static const struct point *armed;

static const char *find_point(const struct point *point)
{
	size_t len = strlen(point->key);
	unsigned int before = point->index;

	for (const char *p = faults.p; p; p = next_line(p))
		if (!strncmp(p, point->key, len) && !before--)
			return p;
	return NULL;
}

/* The number of lines with the same key before this one. */
static unsigned int index_of(const char *line, const char *key)
{
	size_t len = strlen(key);
	unsigned int n = 0;

	for (const char *p = faults.p; p != line; p = next_line(p))
		n += !strncmp(p, key, len);
	return n;
}

static char __attribute__((format(printf, 1, 2))) *text_of(const char *format, ...)
{
	va_list ap;
	char *s;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		die("out of memory");
	va_end(ap);
	return s;
}

static void add_point(const char *line)
{
	char file[256], mod[64], func[128];
	struct point *p = &points[nr_points];
	unsigned int number;

	if (sscanf(line, "%255[^:]:%u module:%63s func:%127s class:memory", file, &number,
		   mod, func) != 4)
		die("not a fault point: %.100s", line);
	p->key = text_of("%s:%u module:%s func:%s class:memory ", file, number, mod, func);
	p->index = index_of(line, p->key);
	p->where = text_of("file %s line %u func %s module %s class memory index %u",
			   file, number, func, mod, p->index);
	p->label = text_of("%s:%u func:%s module:%s", file, number, func, mod);
	nr_points++;
}

/* Collect the points that the workload has evaluated. */
void find_points(void)
{
	size_t most = 0;

	read_text(&faults, FAULTS);
	for (const char *p = faults.p; p; p = next_line(p))
		most++;
	points = calloc(most, sizeof(*points));
	for (const char *p = faults.p; p; p = next_line(p))
		if (number_in(p, " evaluated:") > 0)
			add_point(p);
}

void fault_command(const char *where, const char *what)
{
	char line[700];
	int error;

	snprintf(line, sizeof(line), "%s %s", where, what);
	error = write_text(FAULTS, line);
	if (error)
		die("\"%s\": %s", line, strerror(error));
}

void arm(const struct point *p)
{
	const struct point *before = armed;

	fault_command(p->where, "oneshot task " FAULTED);
	armed = p;
	/* Disable last: while one point is enabled, the static branch stays as it is. */
	if (before && before != p)
		fault_command(before->where, "disable");
}

bool is_armed(const struct point *p)
{
	return armed == p;
}

void disarm(void)
{
	if (armed)
		fault_command(armed->where, "disable");
	armed = NULL;
}

unsigned int times_fired(const struct point *p)
{
	const char *line;
	long n;

	read_text(&faults, FAULTS);
	line = find_point(p);
	n = line ? number_in(line, " fired:") : 0;
	return n > 0 ? n : 0;
}
