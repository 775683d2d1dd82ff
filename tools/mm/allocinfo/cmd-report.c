// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo report: print the table in a format for people or for other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocinfo.h"
#include "number.h"
#include "outfile.h"
#include "report.h"
#include "status.h"

/* Data */

#define TOP_OF_TEXT	20u

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_OPENMETRICS,
};

struct options {
	struct common common;
	const char *input;	/* NULL: the running kernel */
	const char *vmcore;
	const char *map;
	const char *contexts;
	struct query query;
	enum format format;
	enum row_by by;
	enum row_sort sort;
	bool by_given;
	bool nodes;
	bool calls;
};

static const struct word formats[] = {
	{ "text", FORMAT_TEXT },
	{ "json", FORMAT_JSON },
	{ "csv", FORMAT_CSV },
	{ "folded", FORMAT_FOLDED },
	{ "pprof", FORMAT_PPROF },
	{ "openmetrics", FORMAT_OPENMETRICS },
	{ NULL, 0 },
};

static const struct word weights[] = {
	{ "bytes", false },
	{ "calls", true },
	{ NULL, 0 },
};

static const char usage[] =
"Usage: allocinfo report [options] [INPUT] [FILTER]\n"
"Print the memory that each call site holds. By default, the input is the running\n"
"kernel.\n"
"\n"
"INPUT:\n"
INPUT_HELP
"FILTER: 'file F', 'func G', 'module M', 'line N-M' as in dynamic debug\n"
"\n"
"Options:\n"
"  -b, --by WHAT        one row per site (default), func, file, dir or module; or node:\n"
"                       a row per site with its bytes on each NUMA node, from\n"
"                       /proc/allocinfo.nodes or a copy of that file\n"
"  -s, --sort KEY       sort by bytes (default), calls, average or name\n"
"  -n, --top N          print N rows, 0 for all (default: 20 in text)\n"
"  -B, --bytes          print plain numbers of bytes\n"
"      --format FORMAT  text (default), json, csv, folded (stacks for flame graphs),\n"
"                       pprof (gzipped profile for 'go tool pprof'), openmetrics\n"
"                       (text for Prometheus)\n"
"      --weight WHAT    weight of folded stacks: bytes (default) or calls\n"
"      --contexts FILE  take the stacks of folded and pprof from FILE, a copy of\n"
"                       alloc_tags.ctx. Without it, a report on the running kernel\n"
"                       has the stacks of the call sites that are captured now.\n"
"      --vmcore DUMP    read the dump of a crashed kernel, by allocinfo-dump\n"
"      --map FILE       System.map of that kernel\n"
"      --proc DIR       read allocinfo in DIR instead of /proc\n"
"  -o, --output FILE    write to FILE, which only its owner can read, instead of\n"
"                       standard output\n"
"  -f, --force          overwrite FILE\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   reported\n"
"  1   the input could not be read\n"
"  2   reported, but the input is damaged\n"
"  3   the report could not be written\n"
"  64  wrong options\n";

enum { OPT_WEIGHT = OPT_OWN, OPT_CONTEXTS, OPT_VMCORE, OPT_MAP };

static const struct option long_options[] = {
	{ "by", required_argument, NULL, 'b' },
	{ "sort", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "bytes", no_argument, NULL, 'B' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "weight", required_argument, NULL, OPT_WEIGHT },
	{ "contexts", required_argument, NULL, OPT_CONTEXTS },
	{ "vmcore", required_argument, NULL, OPT_VMCORE },
	{ "map", required_argument, NULL, OPT_MAP },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static void take_input_option(struct options *options, int opt)
{
	switch (opt) {
	case OPT_VMCORE:
		options->vmcore = optarg;
		break;
	case OPT_MAP:
		options->map = optarg;
		break;
	case OPT_CONTEXTS:
		options->contexts = optarg;
		break;
	default:
		common_option(&options->common, opt, usage);
	}
}

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case 'b':
		options->nodes = !strcmp(optarg, "node");
		options->by = options->nodes ? BY_SITE : by_value(optarg);
		options->by_given = true;
		break;
	case 's':
		if (!row_sort_parse(optarg, &options->sort))
			usage_error("unknown word", optarg);
		break;
	case OPT_FORMAT:
		options->format = word_value(formats, optarg);
		break;
	case OPT_WEIGHT:
		options->calls = word_value(weights, optarg);
		break;
	default:
		take_input_option(options, opt);
	}
}

/* A word of a filter cannot be an input; a file of that name is ./file. */
static bool begins_filter(const char *word)
{
	return !strcmp(word, "file") || !strcmp(word, "func") || !strcmp(word, "module") ||
	       !strcmp(word, "line");
}

static bool has_stacks(const struct options *options)
{
	return options->format == FORMAT_FOLDED || options->format == FORMAT_PPROF;
}

/* /proc/allocinfo.nodes has no calls. */
static void check_nodes(const struct options *options)
{
	if (options->sort == SORT_CALLS || options->sort == SORT_AVERAGE)
		usage_error("memory by node is sorted by bytes or name", "");
	if (options->format == FORMAT_OPENMETRICS)
		usage_error("memory by node is written as text, json or csv", "");
	if (options->vmcore)
		usage_error("a dump has no memory by node", options->vmcore);
}

static void check_options(const struct options *options)
{
	if (has_stacks(options) && options->by_given)
		usage_error("stacks have a frame for each of them; --by cannot be used", "");
	if (options->nodes)
		check_nodes(options);
	if (options->contexts && !has_stacks(options))
		usage_error("--contexts is for the formats folded and pprof", "");
	if (options->vmcore && options->input)
		usage_error("--vmcore is the input", options->input);
	if (options->map && !options->vmcore)
		usage_error("--map is for --vmcore", "");
	if (options->format == FORMAT_PPROF && !options->common.output && isatty(STDOUT_FILENO))
		usage_error("a profile cannot be printed on a terminal; use -o", "");
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "b:s:n:Bo:fhV", long_options, NULL)) != -1)
		take_option(options, opt);
	if (optind < argc && !begins_filter(argv[optind]))
		options->input = argv[optind++];
	filter_value(&options->query, argv + optind);
	if (!options->common.top)
		options->common.top = options->format == FORMAT_TEXT ? TOP_OF_TEXT : SIZE_MAX;
	check_options(options);
}

/* The report */

static bool read_input(struct report *report, const struct options *options)
{
	struct input *input = &report->input;

	if (options->nodes)
		return input_nodes(input, &report->nodes, options->input, options->common.proc);
	if (options->vmcore)
		return input_vmcore(input, options->vmcore, options->map);
	if (options->input)
		return input_read(input, options->input);
	return input_live(input, options->common.proc);
}

/* The kernel has the stacks of call sites that were enabled, usually of none. */
static void read_captured(struct contexts *contexts, const char *proc, uint64_t *damage)
{
	int fd;

	if (contexts_open(proc, CONTEXTS_READ, &fd) != CAPTURE_ON)
		return;
	if (!contexts_read(contexts, fd))
		contexts_parse(contexts, "alloc_tags.ctx",
			       &(struct complainer){ complaints_print, damage });
	close(fd);
}

/* Returns false after a message. */
static bool read_contexts(struct report *report, const struct options *options)
{
	struct contexts *contexts = &report->contexts;
	uint64_t *damage = &report->input.damage;
	int fd, err;

	if (!options->contexts) {
		if (has_stacks(options) && !options->input && !options->vmcore)
			read_captured(contexts, options->common.proc, damage);
		return true;
	}
	fd = open(options->contexts, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	err = fd < 0 ? errno : -table_read(&contexts->text, fd);
	if (fd >= 0)
		close(fd);
	if (err) {
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
			options->contexts, strerror(err));
		return false;
	}
	contexts_parse(contexts, options->contexts,
		       &(struct complainer){ complaints_print, damage });
	return true;
}

static bool write_format(const struct report *report, enum format format, FILE *out)
{
	bool nodes = report->nodes.nr;

	switch (format) {
	case FORMAT_JSON:
		(nodes ? write_nodes_json : write_json)(report, out);
		break;
	case FORMAT_CSV:
		(nodes ? write_nodes_csv : write_csv)(report, out);
		break;
	case FORMAT_FOLDED:
		write_folded(report, out);
		break;
	case FORMAT_PPROF:
		return write_pprof(report, out);
	case FORMAT_OPENMETRICS:
		write_openmetrics(report, out);
		break;
	case FORMAT_TEXT:
		(nodes ? write_nodes_text : write_text)(report, out);
		break;
	}
	return true;
}

static int run(struct report *report, const struct options *options)
{
	struct rows *rows = &report->rows;
	FILE *out;

	if (input_is_file(&report->input, options->common.output))
		return EXIT_OUTPUT;
	out = outfile_stream(options->common.output, options->common.force);
	if (!out)
		return EXIT_OUTPUT;
	report->plain = options->common.plain;
	report->calls = options->calls;
	rows_make(rows, &report->input.table, options->by, &options->query);
	if (options->nodes)
		nodes_merge(&report->nodes, &report->input.table, rows);
	rows_sort(rows, options->sort);
	report->nr = min_u64(options->common.top, rows->nr);
	if (!outfile_close(out, options->common.output, write_format(report, options->format, out)))
		return EXIT_OUTPUT;
	return input_damaged(&report->input) ? EXIT_LOST : EXIT_GOOD;
}

/* Interface */

/**
 * cmd_report - print the table
 * @argc: number of words
 * @argv: name, options and arguments
 *
 * Return: exit code.
 */
int cmd_report(int argc, char **argv)
{
	struct options options = { .by = BY_SITE, .sort = SORT_BYTES, .common.proc = PROC_DIR };
	struct report report = { 0 };
	int code = EXIT_CANNOT;

	take_options(&options, argc, argv);
	if (read_input(&report, &options) && read_contexts(&report, &options))
		code = run(&report, &options);
	rows_free(&report.rows);
	contexts_free(&report.contexts);
	nodes_free(&report.nodes);
	input_free(&report.input);
	query_free(&options.query);
	return code;
}
