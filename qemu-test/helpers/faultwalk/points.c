// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault points of class memory, read from and switched in dynamic_faults.
 */
#include "faultwalk.h"
#include <stdarg.h>
#include <stdint.h>
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

/* The lines of each key, counted from the start of the list. */
static struct seen {
	const char *line;
	size_t len;
	unsigned int n;
} *seen;

#define NR_SEEN		(1U << 16)

static void forget_seen(void)
{
	if (!seen)
		seen = big(NR_SEEN * sizeof(*seen));
	memset(seen, 0, NR_SEEN * sizeof(*seen));
}

/* The number of lines with the same key before this one; to be called for each line. */
static unsigned int index_of(const char *line)
{
	static const char end[] = " class:memory ";
	const char *p = memmem(line, strcspn(line, "\n"), end, strlen(end));
	size_t len = p ? p + strlen(end) - line : 0;
	uint32_t hash = 2166136261;
	struct seen *s;

	if (!len)
		return 0;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)line[i]) * 16777619;
	for (uint32_t i = 0; i < NR_SEEN; i++) {
		s = &seen[(hash + i) % NR_SEEN];
		if (s->line && (s->len != len || memcmp(s->line, line, len)))
			continue;
		s->line = line;
		s->len = len;
		return s->n++;
	}
	die("too many fault points");
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

/* Points that are not to be walked: a sorted list of labels */
static struct text done_text;
static const char **done;
static size_t nr_done;

static int compare_labels(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

static void read_done(const char *path)
{
	size_t most = 1;

	if (done)
		return;
	read_text(&done_text, path);
	for (const char *p = done_text.p; *p; p++)
		most += *p == '\n';
	done = calloc(most, sizeof(*done));
	for (char *p = strtok(done_text.p, "\n"); p; p = strtok(NULL, "\n"))
		done[nr_done++] = p;
	qsort(done, nr_done, sizeof(*done), compare_labels);
}

bool is_chosen(const struct choice *c, const char *label)
{
	if (c->only)
		return !strcmp(c->only, label);
	if (c->done)
		read_done(c->done);
	return !done || !bsearch(&label, done, nr_done, sizeof(*done), compare_labels);
}

/* The points that even a program which does nothing evaluates */
static struct text idle_faults;

/* Read the counts while a workload runs that does nothing. */
void count_points(void)
{
	read_text(&idle_faults, FAULTS);
}

static bool is_idle_point(const struct point *point)
{
	size_t len = strlen(point->key);
	unsigned int before = point->index;

	for (const char *p = idle_faults.p; p; p = next_line(p))
		if (!strncmp(p, point->key, len) && !before--)
			return number_in(p, " evaluated:") > 0;
	return false;
}

/* The same label for the first evaluation, whether or not others are walked. */
static char *label_of(const char *place, unsigned int index, unsigned int nth)
{
	return nth == 1 ? text_of("%s index:%u", place, index) :
			  text_of("%s index:%u nth:%u", place, index, nth);
}

/* Add the point of a line, for its evaluation number nth. */
static void add_point(const char *line, unsigned int index, unsigned int nth)
{
	char file[256], mod[64], func[128], *place;
	struct point *p = &points[nr_points];
	unsigned int number;

	if (sscanf(line, "%255[^:]:%u module:%63s func:%127s class:memory", file, &number,
		   mod, func) != 4)
		die("not a fault point: %.100s", line);
	p->key = text_of("%s:%u module:%s func:%s class:memory ", file, number, mod, func);
	p->index = index;
	p->nth = nth;
	if (nth > 1 && idle_faults.p && is_idle_point(p))
		return;
	p->where = text_of("file %s line %u func %s module %s class memory index %u",
			   file, number, func, mod, p->index);
	place = text_of("%s:%u func:%s module:%s", file, number, func, mod);
	p->label = label_of(place, p->index, nth);
	free(place);
	nr_points++;
}

static void turn_round(struct point *p, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		struct point other = p[i];

		p[i] = p[nr - 1 - i];
		p[nr - 1 - i] = other;
	}
}

/*
 * Collect the points that the workload has evaluated in each of two runs.  The first evaluation
 * of every point comes before any second one.  The list of faults begins with the core of the
 * kernel and ends with modules; it is turned round, because most defects are in modules.
 */
void find_points(const struct choice *c)
{
	size_t most = 0;

	read_text(&faults, FAULTS);
	for (const char *p = faults.p; p; p = next_line(p))
		most += number_in(p, " evaluated:") > 0;
	points = calloc(most * c->depth + 1, sizeof(*points));
	for (unsigned int nth = 1; nth <= c->depth; nth++) {
		size_t first = nr_points;

		forget_seen();
		for (const char *p = faults.p; p; p = next_line(p)) {
			unsigned int index = index_of(p);

			if (number_in(p, " evaluated:") > (nth == 1 ? 0 : 2 * (long)nth - 1))
				add_point(p, index, nth);
		}
		turn_round(points + first, nr_points - first);
	}
}

/* A point of a module that exists only while it is loaded */
void name_nth(struct point *p, const char *name, unsigned int nth)
{
	char *place = text_of("%s.ko:0 func:- module:%s", name, name);

	free(p->label);
	*p = (struct point) { .nth = nth, .label = label_of(place, 0, nth) };
	free(place);
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
	char what[64];

	armed = p;
	report->nth = p->where ? 0 : p->nth;
	report->nth_fired = false;
	if (p->where) {
		if (p->nth == 1)
			snprintf(what, sizeof(what), "oneshot task " FAULTED);
		else
			snprintf(what, sizeof(what), "frequency %u times 1 task " FAULTED, p->nth);
		fault_command(p->where, what);
	}
	/* Disable last: while one point is enabled, the static branch stays as it is. */
	if (before && before != p && before->where)
		fault_command(before->where, "disable");
}

bool is_armed(const struct point *p)
{
	return armed == p;
}

void disarm(void)
{
	if (armed && armed->where)
		fault_command(armed->where, "disable");
	armed = NULL;
	report->nth = 0;
}

unsigned int times_fired(const struct point *p)
{
	const char *line;
	long n;

	if (!p->where)
		return report->nth_fired;
	read_text(&faults, FAULTS);
	line = find_point(p);
	n = line ? number_in(line, " fired:") : 0;
	return n > 0 ? n : 0;
}
