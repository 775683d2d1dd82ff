// SPDX-License-Identifier: GPL-2.0-only
/*
 * The result of `allocinfo leak` as text and as JSON, see leak.h.
 *
 * series_clean() made the names of call sites safe for a terminal and for JSON, and
 * contexts_parse() those of stacks and tasks.
 */
#include <inttypes.h>
#include <math.h>

#include "contexts-write.h"
#include "jsonfile.h"
#include "leak.h"
#include "words.h"

/* Data */

#define HOUR	3600.0
/* Stacks and frames of a call site in text. */
#define STACKS	3u
#define FRAMES	6u

/* Internals: text */

static void put_stacks(const struct contexts *contexts, const struct site *site, FILE *out)
{
	const struct context_site *captured = contexts_find(contexts, site);
	size_t i;

	if (!captured)
		return;
	for (i = 0; i < captured->nr && i < STACKS; i++)
		contexts_put_stack(&captured->stacks[i], FRAMES, out);
}

static void put_leak(const struct leaks *leaks, const struct leak *leak, FILE *out)
{
	const struct trend *bytes = &leak->bytes;
	char a[32], b[32], c[32];

	fprintf(out, "%s bytes an hour (%s to %s), %.1f calls an hour: ",
		words_size(bytes->slope * HOUR, a),
		words_size(bytes->low * HOUR, b),
		words_size(bytes->high * HOUR, c), leak->calls.slope * HOUR);
	words_site(&leak->series->site, out);
	fprintf(out, "\n    since %s%s, holds %s in %" PRId64 " calls",
		words_date(bytes->since, a, sizeof(a)), bytes->from_start ? " or before" : "",
		words_size(leak->series->site.bytes, b), leak->series->site.calls);
	if (leaks->available)
		fprintf(out, "; alone it ends the memory in %s",
			words_time(leaks_memory_ends(leaks, bytes->slope), c, sizeof(c)));
	fputc('\n', out);
}

static void put_rest(const struct leaks *leaks, size_t top, FILE *out)
{
	const struct leak *leak = leaks->list + leaks->found;
	char size[32];
	size_t i;

	if (leak == leaks->list + leaks->nr)
		return;
	fputs("\nCall sites that grew and do not leak, as far as can be seen:\n", out);
	for (i = 0; i < top && leak < leaks->list + leaks->nr; i++, leak++) {
		fprintf(out, "+%s: ", words_size(leak->bytes.rise, size));
		words_site(&leak->series->site, out);
		fprintf(out, ": %s\n", trend_reason(leak->bytes.verdict));
	}
}

static void put_summary(const struct leaks *leaks, FILE *out)
{
	char a[32], b[32];

	fprintf(out, "%zu of %zu call sites leak; %zu changed in %" PRIu64 " snapshots over %s.\n",
		leaks->found, leaks->sites, leaks->changed, leaks->snapshots,
		words_time(leaks->end - leaks->begin, a, sizeof(a)));
	if (!leaks->enough)
		fprintf(out, "These are too few snapshots: at least %u are needed.\n",
			TREND_POINTS_MIN);
	if (leaks->found && leaks->available)
		fprintf(out, "Together they lose %s bytes an hour, which ends the memory in %s.\n",
			words_size(leaks->slope * HOUR, a),
			words_time(leaks_memory_ends(leaks, leaks->slope), b, sizeof(b)));
}

/* Internals: JSON */

static void add_double(struct json_object *to, const char *name, double value)
{
	json_add(to, name, isfinite(value) ? json_object_new_double(value) : NULL);
}

static void add_stacks(struct json_object *to, const struct contexts *contexts,
		       const struct site *site)
{
	const struct context_site *captured = contexts_find(contexts, site);
	struct json_object *list;
	size_t i;

	if (!captured)
		return;
	list = json_object_new_array();
	for (i = 0; i < captured->nr; i++)
		json_object_array_add(list, contexts_stack_json(&captured->stacks[i]));
	json_add(to, "stacks", list);
}

static void add_trend(struct json_object *to, const char *name, const struct trend *trend)
{
	struct json_object *object = json_object_new_object();

	add_double(object, "an_hour", trend->slope * HOUR);
	add_double(object, "an_hour_low", trend->low * HOUR);
	add_double(object, "an_hour_high", trend->high * HOUR);
	add_double(object, "rise", trend->rise);
	add_double(object, "fall", trend->fall);
	add_double(object, "rises", trend->rises);
	add_double(object, "lasts", trend->lasts);
	add_double(object, "speed_up", trend->speed_up);
	add_double(object, "z", trend->z);
	add_double(object, "p", trend->p);
	json_add(to, name, object);
}

static struct json_object *leak_object(const struct leaks *leaks, const struct leak *leak,
				       const struct contexts *contexts)
{
	struct json_object *object = json_object_new_object();
	const struct site *site = &leak->series->site;
	bool leaks_now = leak->bytes.verdict == TREND_LEAK;
	double ends = leaks_memory_ends(leaks, leak->bytes.slope);

	json_add_string(object, "file", site->file);
	json_add_number(object, "line", site->line);
	json_add_string(object, "module", *site->module ? site->module : NULL);
	json_add_string(object, "func", *site->func ? site->func : NULL);
	json_add_string(object, "verdict", trend_reason(leak->bytes.verdict));
	json_add(object, "held_bytes", json_object_new_int64(site->bytes));
	json_add(object, "held_calls", json_object_new_int64(site->calls));
	add_trend(object, "bytes", &leak->bytes);
	add_trend(object, "calls", &leak->calls);
	if (leaks_now) {
		add_double(object, "since", leak->bytes.since);
		json_add(object, "since_or_before",
			 json_object_new_boolean(leak->bytes.from_start));
		json_add(object, "memory_ends_in",
			 ends >= 0 ? json_object_new_double(ends) : NULL);
		add_stacks(object, contexts, site);
	}
	return object;
}

/* Interface */

/**
 * leaks_text - print the result as text
 * @leaks: the result
 * @contexts: call stacks, if there are any
 * @top: how many leaks to print at most, and how many other call sites
 * @all: also print the call sites that grew and do not leak
 * @out: where to
 */
void leaks_text(const struct leaks *leaks, const struct contexts *contexts, size_t top,
		bool all, FILE *out)
{
	size_t i;

	for (i = 0; i < leaks->found && i < top; i++) {
		put_leak(leaks, &leaks->list[i], out);
		put_stacks(contexts, &leaks->list[i].series->site, out);
	}
	if (leaks->found > top)
		fprintf(out, "(%zu more)\n", leaks->found - top);
	put_summary(leaks, out);
	if (all)
		put_rest(leaks, top, out);
}

/**
 * leaks_json - print the result as JSON
 * @leaks: the result
 * @contexts: call stacks, if there are any
 * @top: how many leaks to print at most, and how many other call sites
 * @all: also print the call sites that grew and do not leak
 * @out: where to
 */
void leaks_json(const struct leaks *leaks, const struct contexts *contexts, size_t top,
		bool all, FILE *out)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array(), *rest = json_object_new_array();
	size_t i;

	json_add_number(object, "sites", leaks->sites);
	json_add_number(object, "changed", leaks->changed);
	json_add_number(object, "snapshots", leaks->snapshots);
	add_double(object, "begin", leaks->begin);
	add_double(object, "end", leaks->end);
	json_add(object, "enough", json_object_new_boolean(leaks->enough));
	json_add(object, "available", leaks->available ?
	    json_object_new_uint64(leaks->available) : NULL);
	json_add_number(object, "found", leaks->found);
	for (i = 0; i < leaks->found && i < top; i++)
		json_object_array_add(list, leak_object(leaks, &leaks->list[i], contexts));
	json_add(object, "leaks", list);
	for (i = leaks->found; all && i < leaks->nr; i++)
		json_object_array_add(rest, leak_object(leaks, &leaks->list[i], contexts));
	if (all)
		json_add(object, "others", rest);
	else
		json_object_put(rest);
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
					     JSON_C_TO_STRING_NOSLASHESCAPE), out);
	fputc('\n', out);
	json_object_put(object);
}
