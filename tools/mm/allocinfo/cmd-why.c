// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo why: which call paths let a call site grow?
 *
 * The kernel captures the call stacks of this call site for a while. What it holds from
 * before is not shown, so every path begins at 0: only a path that rises all the time and
 * does not give back, by the test of `allocinfo leak`, is said to grow.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "contexts-write.h"
#include "jsonfile.h"
#include "number.h"
#include "outfile.h"
#include "paths.h"
#include "query.h"
#include "signals.h"
#include "source.h"
#include "status.h"
#include "utf8.h"
#include "turns.h"
#include "util.h"
#include "words.h"

/* Data */

#define SECONDS		60u
#define SNAPSHOTS	60u
#define TOP		10u
#define HOUR		3600.0
#define CANDIDATES	10u

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
};

struct options {
	struct common common;
	struct query query;
	uint64_t seconds;
	enum format format;
};

/* what is captured */
struct why {
	const struct options *options;
	struct table table;
	const struct site *site;
	struct capture capture;
	struct contexts contexts;
	struct paths paths;
	bool failed;
};

static const struct word format_words[] = {
	{ "text", FORMAT_TEXT },
	{ "json", FORMAT_JSON },
	{ NULL, 0 },
};

static const char usage[] =
"Usage: allocinfo why [options] SITE...\n"
"Capture the call stacks of a call site for a while, and say which of them grow. This\n"
"needs root and a kernel with CONFIG_MEM_ALLOC_CONTEXT. Afterwards nothing is captured\n"
"any more, unless it was before.\n"
"\n"
"SITE is FILE:LINE, or a function, or words of dynamic debug such as file 'slub.c'\n"
"func 'alloc_*' line 10-20. It must match one line of /proc/allocinfo.\n"
"\n"
"Options:\n"
"      --for TIME       capture for TIME: 30, 10m, 1h (default: 60). SIGINT ends it early.\n"
"  -n, --top N          print at most N call stacks, 0 for all (default: 10)\n"
"      --format FORMAT  text (default) or json\n"
"  -o, --output FILE    write to FILE, which only its owner can read\n"
"  -f, --force          overwrite FILE\n"
"      --proc DIR       read allocinfo and alloc_tags.ctx in DIR instead of /proc\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   done\n"
"  1   this kernel or this call site cannot be captured\n"
"  2   done, but the kernel did not capture all allocations\n"
"  3   the output could not be written\n"
"  64  wrong options\n";

enum { OPT_FOR = OPT_OWN };

static const struct option long_options[] = {
	{ "for", required_argument, NULL, OPT_FOR },
	{ "top", required_argument, NULL, 'n' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

/* FILE:LINE and a function are short for a filter. */
static void site_value(struct query *query, char *site)
{
	char func[] = "func", file[] = "file", line_word[] = "line";
	char *words[5] = { func, site };
	char *colon = strrchr(site, ':');
	uint64_t line;

	if (colon && colon > site && number_parse(colon + 1, UINT32_MAX, &line)) {
		*colon = '\0';
		words[0] = file;
		words[2] = line_word;
		words[3] = colon + 1;
	}
	filter_value(query, words);
}

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case OPT_FOR:
		options->seconds = seconds_value(optarg);
		break;
	case OPT_FORMAT:
		options->format = word_value(format_words, optarg);
		break;
	default:
		common_option(&options->common, opt, usage);
	}
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "n:o:fhV", long_options, NULL)) != -1)
		take_option(options, opt);
	if (optind == argc)
		usage_error("which call site?", "");
	if (optind + 1 == argc && !strpbrk(argv[optind], " \t"))
		site_value(&options->query, argv[optind]);
	else
		filter_value(&options->query, argv + optind);
}

static void message(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, what);
}

/* The call site */

static bool read_table(struct why *why)
{
	struct source source;
	enum profiling state = source_open(&source, why->options->common.proc);

	if (state == PROFILING_ON)
		state = source_read(&source, &why->table);
	source_explain(&source, state);
	source_close(&source);
	return state == PROFILING_ON;
}

static int by_bytes(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Keep the call sites that match. Two allocations in one line are one call site here. */
static void filter(struct table *table, const struct query *query)
{
	struct site *site, *last = NULL;
	size_t i, nr = 0;

	for (i = 0; i < table->nr; i++) {
		site = &table->sites[i];
		if (!query_matches(query, site))
			continue;
		if (last && !site_compare(last, site)) {
			last->bytes = sat_add(last->bytes, site->bytes);
			last->calls = sat_add(last->calls, site->calls);
			continue;
		}
		last = &table->sites[nr++];
		*last = *site;
	}
	table->nr = nr;
	if (nr)
		qsort(table->sites, nr, sizeof(*table->sites), by_bytes);
}

static void clean_site(const struct site *site)
{
	clean_name((char *)site->file);
	clean_name((char *)site->module);
	clean_name((char *)site->func);
}

static void list_candidates(const struct table *table)
{
	char size[32];
	size_t i;

	fprintf(stderr, "%s: %zu call sites match; name one of them:\n",
		program_invocation_short_name, table->nr);
	for (i = 0; i < table->nr && i < CANDIDATES; i++) {
		clean_site(&table->sites[i]);
		fprintf(stderr, "  %10s  ", words_size(table->sites[i].bytes, size));
		words_site(&table->sites[i], stderr);
		fputc('\n', stderr);
	}
}

static bool find_site(struct why *why)
{
	if (!read_table(why))
		return false;
	filter(&why->table, &why->options->query);
	if (why->table.nr == 1)
		why->site = why->table.sites;
	else if (why->table.nr)
		list_candidates(&why->table);
	else
		fprintf(stderr, "%s: no such call site\n", program_invocation_short_name);
	return why->site;
}

/* Capturing */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool take_snapshot(struct why *why, double time)
{
	int err = contexts_read(&why->contexts, why->capture.fd);

	if (err) {
		message("alloc_tags.ctx", strerror(-err));
		why->failed = true;
		return false;
	}
	contexts_parse(&why->contexts, "alloc_tags.ctx", &(struct complainer){ 0 });
	paths_add(&why->paths, time, &why->contexts, why->site);
	return true;
}

static void watch(struct why *why, int signals)
{
	uint64_t interval = max_u64(1, why->options->seconds / SNAPSHOTS);
	double start = now(), end = start + why->options->seconds;
	int timer = turns_start(interval);
	bool terminal = isatty(STDERR_FILENO);

	while (timer >= 0 && take_snapshot(why, now())) {
		if (terminal)
			fprintf(stderr, "\r%zu call stacks, %.0f s left, ^C ends it  ",
				why->paths.nr, fmax(0, end - now()));
		if (now() + interval / 2.0 >= end)
			break;
		if (!turns_wait(signals, timer)) {
			take_snapshot(why, now());
			break;
		}
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	close(timer);
}

static void explain(const struct capture *capture, enum capture_state state)
{
	const char *advice = capture_advice(state);

	if (advice)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, advice);
	else
		message("alloc_tags.ctx", strerror(-capture->err));
}

static bool capture(struct why *why)
{
	enum capture_state state;
	sigset_t set;
	int signals = signals_open(&set);

	if (signals < 0) {
		message("cannot wait for signals", strerror(errno));
		return false;
	}
	state = capture_begin(&why->capture, why->options->common.proc, why->site);
	if (state != CAPTURE_ON) {
		explain(&why->capture, state);
		close(signals);
		return false;
	}
	if (!why->capture.ours)
		message("alloc_tags.ctx", "this call site was captured before, and stays so");
	watch(why, signals);
	capture_end(&why->capture);
	close(signals);
	return !why->failed && why->paths.snapshots;
}

/* The result */

static double span(const struct paths *paths)
{
	return paths->time[paths->snapshots - 1] - paths->time[0];
}

static void put_path(const struct path *path, FILE *out)
{
	const struct trend *trend = &path->trend;
	char a[32], b[32], c[32];

	if (trend->verdict == TREND_LEAK)
		fprintf(out, "grows by %s bytes an hour (%s to %s):\n",
			words_size(trend->slope * HOUR, a),
			words_size(trend->low * HOUR, b),
			words_size(trend->high * HOUR, c));
	else
		fprintf(out, "%s:\n", trend_reason(trend->verdict));
	contexts_put_stack(&path->stack, CONTEXT_FRAMES, out);
}

static void put_text(const struct why *why, FILE *out)
{
	const struct paths *paths = &why->paths;
	char time[32], size[32];
	size_t i;

	words_site(why->site, out);
	fprintf(out, "\n%zu call stacks in %s; before that the call site held %s in %" PRId64
		" calls.\n", paths->nr,
		words_time(span(paths), time, sizeof(time)),
		words_size(why->site->bytes, size), why->site->calls);
	if (paths->dropped)
		fprintf(out, "The kernel did not capture %" PRIu64 " allocations.\n",
			paths->dropped);
	for (i = 0; i < paths->nr && i < why->options->common.top; i++) {
		fputc('\n', out);
		put_path(paths->list[i], out);
	}
	if (paths->nr > why->options->common.top)
		fprintf(out, "(%" PRIu64 " more)\n", paths->nr - why->options->common.top);
}

static struct json_object *path_object(const struct path *path)
{
	struct json_object *object = contexts_stack_json(&path->stack);
	const struct trend *trend = &path->trend;
	bool grows = trend->verdict == TREND_LEAK;

	json_add(object, "grows", json_object_new_boolean(grows));
	if (grows) {
		json_add(object, "an_hour", json_object_new_double(trend->slope * HOUR));
		json_add(object, "an_hour_low", json_object_new_double(trend->low * HOUR));
		json_add(object, "an_hour_high", json_object_new_double(trend->high * HOUR));
	} else {
		json_add_string(object, "reason", trend_reason(trend->verdict));
	}
	return object;
}

static void put_json(const struct why *why, FILE *out)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const struct site *site = why->site;
	size_t i;

	json_add_string(object, "file", site->file);
	json_add_number(object, "line", site->line);
	json_add_string(object, "module", *site->module ? site->module : NULL);
	json_add_string(object, "func", *site->func ? site->func : NULL);
	json_add(object, "held_bytes", json_object_new_int64(site->bytes));
	json_add(object, "held_calls", json_object_new_int64(site->calls));
	json_add(object, "seconds", json_object_new_double(span(&why->paths)));
	json_add_number(object, "snapshots", why->paths.snapshots);
	json_add_number(object, "dropped", why->paths.dropped);
	for (i = 0; i < why->paths.nr && i < why->options->common.top; i++)
		json_object_array_add(list, path_object(why->paths.list[i]));
	json_add(object, "stacks", list);
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
					     JSON_C_TO_STRING_NOSLASHESCAPE), out);
	fputc('\n', out);
	json_object_put(object);
}

static int print(struct why *why, FILE *out)
{
	paths_find(&why->paths);
	clean_site(why->site);
	(why->options->format == FORMAT_JSON ? put_json : put_text)(why, out);
	if (!outfile_close(out, why->options->common.output, true))
		return EXIT_OUTPUT;
	return why->paths.dropped || why->contexts.damaged ? EXIT_LOST : EXIT_GOOD;
}

/* The output is opened before: a run of an hour must not end with a wrong path. */
static int run(struct why *why)
{
	FILE *out;

	if (!find_site(why))
		return EXIT_CANNOT;
	out = outfile_stream(why->options->common.output, why->options->common.force);
	if (!out)
		return EXIT_OUTPUT;
	return capture(why) ? print(why, out) : EXIT_CANNOT;
}

/* Interface */

/**
 * cmd_why - say which call paths let a call site grow
 * @argc: number of words
 * @argv: name and options
 *
 * Return: exit code.
 */
int cmd_why(int argc, char **argv)
{
	struct options options = { .common.proc = PROC_DIR, .seconds = SECONDS, .common.top = TOP };
	struct why why = { .options = &options };
	int code;

	take_options(&options, argc, argv);
	code = run(&why);
	paths_free(&why.paths);
	contexts_free(&why.contexts);
	table_free(&why.table);
	query_free(&options.query);
	return code;
}
