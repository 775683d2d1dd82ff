// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace-report: report on a trace of kmemtraced.
 *
 * This file has the options, reads the trace into the model, and calls the writer. See
 * report.h for the parts.
 *
 * If a trace is damaged, everything that can be read is reported; the exit code shows the
 * damage.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "number.h"
#include "outfile.h"
#include "report.h"
#include "status.h"
#include "version.h"

/* Data */

#define TOP_OF_TEXT	20u
#define MOMENTS		32u
#define MOMENTS_MAX	65536u

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_CTF,
};

struct options {
	const char *dir;
	const char *vmlinux;
	const char *output;
	const char *ctf_dir;
	enum format format;
	enum group group;
	enum sort_key sort;
	enum weight weight;
	unsigned int sections;
	unsigned int moments;
	unsigned int top;
	bool format_given;
	bool top_given;
	bool force;
	bool plain;
	bool strict;
};

/* words of an option and their values; the last entry has no word */
struct word {
	const char *word;
	int value;
};

static const struct word sort_words[] = {
	{ "allocated", SORT_ALLOCATED },
	{ "requested", SORT_REQUESTED },
	{ "fragmentation", SORT_FRAGMENTATION },
	{ "live", SORT_LIVE },
	{ "calls", SORT_CALLS },
	{ "frees", SORT_FREES },
	{ "lifetime", SORT_LIFETIME },
	{ "cross-cpu", SORT_CROSS_CPU },
	{ NULL, 0 },
};

static const struct word group_words[] = {
	{ "site", BY_SITE },
	{ "tag", BY_TAG },
	{ "size", BY_SIZE },
	{ "type", BY_TYPE },
	{ NULL, 0 },
};

static const struct word weight_words[] = {
	{ "live", WEIGHT_LIVE },
	{ "allocated", WEIGHT_ALLOCATED },
	{ "requested", WEIGHT_REQUESTED },
	{ "calls", WEIGHT_CALLS },
	{ NULL, 0 },
};

static const char usage[] =
"Usage: kmemtrace-report [options] [DIR]\n"
"Report on the trace that kmemtraced recorded in DIR (default: the current\n"
"directory if it has a header, else " TRACE_DIRECTORY ").\n"
"\n"
"Contents:\n"
"  -s, --sort KEY       sort by allocated (default), requested, fragmentation,\n"
"                       live, calls, frees, lifetime or cross-cpu, largest first\n"
"  -n, --top N          rows in each list, 0 for all (default: 20 in text)\n"
"  -b, --by WHAT        one row per site (default), tag, size or type\n"
"  -k, --vmlinux FILE   take file and line of call sites from FILE, the kernel\n"
"                       that ran, with debug information. An allocation with a\n"
"                       tag keeps the line of the tag. A call site that FILE does\n"
"                       not contain gets its name from the symbols of the trace.\n"
"      --moments N      parts of the time line, an even number (default: 32)\n"
"Parts of the text (default: all):\n"
"      --summary --rows --sizes --live --lifetimes --timeline --errors\n"
"  -B, --bytes          print plain numbers of bytes and nanoseconds\n"
"Format:\n"
"      --text           text (default)\n"
"      --json           everything as JSON\n"
"      --csv            the rows as CSV\n"
"      --folded         stacks for flame graphs\n"
"      --weight WHAT    weight of the stacks: live (default), allocated, requested\n"
"                       or calls\n"
"      --pprof          gzipped profile for 'go tool pprof'\n"
"      --ctf OUTDIR     the records as a CTF trace for babeltrace2\n"
"  -o, --output FILE    write to FILE, which only its owner can read, instead of\n"
"                       standard output\n"
"  -f, --force          overwrite FILE\n"
"\n"
"      --strict         exit with code 2 also if the trace shows kernel errors\n"
"  -h, --help           print this text\n"
"  -V, --version        print the version and the supported ABI\n"
"\n"
"Exit status:\n"
"  0   reported\n"
"  1   the trace could not be read\n"
"  2   the trace is damaged, or --strict was given and there are errors. Allowed\n"
"      mixing of interfaces and findings after losses do not count as errors.\n"
"  3   the report could not be written\n"
"  64  wrong options\n";

enum long_option {
	OPT_TEXT = 256,
	OPT_JSON,
	OPT_CSV,
	OPT_FOLDED,
	OPT_PPROF,
	OPT_CTF,
	OPT_WEIGHT,
	OPT_MOMENTS,
	OPT_STRICT,
	OPT_SECTION,	/* plus a bit of enum section */
};

static const struct option long_options[] = {
	{ "sort", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "by", required_argument, NULL, 'b' },
	{ "vmlinux", required_argument, NULL, 'k' },
	{ "bytes", no_argument, NULL, 'B' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "text", no_argument, NULL, OPT_TEXT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "pprof", no_argument, NULL, OPT_PPROF },
	{ "ctf", required_argument, NULL, OPT_CTF },
	{ "weight", required_argument, NULL, OPT_WEIGHT },
	{ "moments", required_argument, NULL, OPT_MOMENTS },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "summary", no_argument, NULL, OPT_SECTION + SECTION_SUMMARY },
	{ "rows", no_argument, NULL, OPT_SECTION + SECTION_ROWS },
	{ "sizes", no_argument, NULL, OPT_SECTION + SECTION_SIZES },
	{ "errors", no_argument, NULL, OPT_SECTION + SECTION_ERRORS },
	{ "live", no_argument, NULL, OPT_SECTION + SECTION_LIVE },
	{ "lifetimes", no_argument, NULL, OPT_SECTION + SECTION_LIFETIMES },
	{ "timeline", no_argument, NULL, OPT_SECTION + SECTION_TIMELINE },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static int word_value(const struct word *words, const char *word)
{
	for (; words->word; words++) {
		if (!strcmp(words->word, word))
			return words->value;
	}
	usage_error("unknown word", word);
}

static unsigned int number_value(const char *word, unsigned int max)
{
	uint64_t value;

	if (!number_parse(word, max, &value))
		usage_error("not a number, or too large", word);
	return value;
}

static unsigned int moments_value(const char *word)
{
	unsigned int value = number_value(word, MOMENTS_MAX);

	if (!value || value % 2)
		usage_error("not an even number", word);
	return value;
}

static void choose_format(struct options *options, enum format format)
{
	if (options->format_given && format != options->format)
		usage_error("only one format can be given", "");
	options->format = format;
	options->format_given = true;
}

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case 's':
		options->sort = word_value(sort_words, optarg);
		break;
	case 'n':
		options->top = number_value(optarg, INT32_MAX);
		options->top_given = true;
		break;
	case 'b':
		options->group = word_value(group_words, optarg);
		break;
	case 'k':
		options->vmlinux = optarg;
		break;
	case 'B':
		options->plain = true;
		break;
	case 'o':
		options->output = optarg;
		break;
	case 'f':
		options->force = true;
		break;
	case 'h':
		fputs(usage, stdout);
		end_output();
	case 'V':
		version_print("kmemtrace-report");
		printf("kmemtrace ABI %d\n", KMEMTRACE_ABI_VERSION);
		end_output();
	case OPT_WEIGHT:
		options->weight = word_value(weight_words, optarg);
		break;
	case OPT_MOMENTS:
		options->moments = moments_value(optarg);
		break;
	case OPT_STRICT:
		options->strict = true;
		break;
	case '?':
		usage_error("unknown option", "");
	default:
		if (opt == OPT_CTF)
			options->ctf_dir = optarg;
		if (opt < OPT_SECTION)
			choose_format(options, opt - OPT_TEXT);
		else
			options->sections |= opt - OPT_SECTION;
	}
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "s:n:b:k:Bo:fhV", long_options,
				  NULL)) != -1)
		take_option(options, opt);
	if (argc - optind > 1)
		usage_error("only one directory can be given", argv[optind + 1]);
	options->dir = optind < argc ? argv[optind] : trace_default_directory();
	if (!options->top_given)
		options->top = options->format == FORMAT_TEXT ? TOP_OF_TEXT : 0;
	if (!options->sections)
		options->sections = SECTION_ALL;
	if (options->format == FORMAT_CTF && options->output)
		usage_error("--ctf takes a directory; --output cannot be used with it", "");
	if (options->format == FORMAT_PPROF && !options->output && isatty(STDOUT_FILENO))
		usage_error("a profile cannot be printed on a terminal; use -o", "");
}

/* The trace */

static void complain_vmlinux(const char *file, uint64_t offset,
			     const char *what, void *data)
{
	(void)offset;
	(void)data;
	fprintf(stderr, "kmemtrace-report: %s: %s\n", file, what);
}

/* The report */

static bool write_format(const struct report *report, enum format format,
			 FILE *out)
{
	switch (format) {
	case FORMAT_JSON:
		write_json(report, out);
		break;
	case FORMAT_CSV:
		write_csv(report, out);
		break;
	case FORMAT_FOLDED:
		write_folded(report, out);
		break;
	case FORMAT_PPROF:
		return write_pprof(report, out);
	case FORMAT_CTF:
	case FORMAT_TEXT:
		write_text(report, out);
		break;
	}
	return true;
}

static bool write_report(const struct report *report,
			 const struct options *options, FILE *out)
{
	return outfile_close(out, options->output, write_format(report, options->format, out));
}

static bool same_file(const struct stat *st, int dir, const char *name)
{
	struct stat other;

	return !fstatat(dir, name, &other, 0) && other.st_dev == st->st_dev &&
	       other.st_ino == st->st_ino;
}

/* Is the output a file of the trace, perhaps under another name? */
static bool is_input(const struct stat *st, const struct options *options)
{
	DIR *d = opendir(options->dir);
	struct dirent *entry;
	unsigned int cpu;
	bool found = false;

	while (d && !found && (entry = readdir(d)))
		if (!strcmp(entry->d_name, "header") ||
		    trace_is_cpu_file(entry->d_name, &cpu))
			found = same_file(st, dirfd(d), entry->d_name);
	if (d)
		closedir(d);
	return found || (options->vmlinux && same_file(st, AT_FDCWD, options->vmlinux));
}

static bool would_replace_input(const struct options *options)
{
	struct stat st;

	if (!options->force || stat(options->output, &st) || !is_input(&st, options))
		return false;
	fprintf(stderr, "kmemtrace-report: %s: is an input file\n", options->output);
	return true;
}

static FILE *open_output(const struct options *options)
{
	if (options->output && would_replace_input(options))
		return NULL;
	return outfile_stream(options->output, options->force);
}

static int exit_code(const struct report *report, const struct options *options)
{
	complaints_end(report->damage);
	if (report->damage ||
	    (options->strict && model_errors(report->model)))
		return EXIT_LOST;
	return EXIT_GOOD;
}

/* Read the trace and write the report. Returns false if it cannot be written. */
static bool run_report(struct report *report, const struct options *options,
		       struct trace *trace)
{
	FILE *out = open_output(options);

	if (!out)
		return false;
	model_read(report->model, trace, NULL, NULL);
	return write_report(report, options, out);
}

static int run(struct report *report, const struct options *options,
	       struct trace *trace)
{
	bool ok;

	report->header = trace_header(trace);
	report->symbolizer = symbolizer_new(report->header, options->vmlinux,
					    &(struct complainer){ complain_vmlinux, NULL });
	if (!report->symbolizer)
		return EXIT_CANNOT;
	report->model = model_new(options->moments);
	ok = options->format == FORMAT_CTF ?
	     write_ctf(report, trace, options->ctf_dir) :
	     run_report(report, options, trace);
	symbolizer_free(report->symbolizer);
	return ok ? exit_code(report, options) : EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
	struct options options = { .moments = MOMENTS };
	struct report report = { 0 };
	struct trace *trace;
	int code = EXIT_CANNOT;

	take_options(&options, argc, argv);
	hash_seed_init();
	report.group = options.group;
	report.sort = options.sort;
	report.top = options.top;
	report.sections = options.sections;
	report.weight = options.weight;
	report.plain = options.plain;
	trace = trace_open(options.dir, complaints_print, &report.damage);
	if (trace)
		code = run(&report, &options, trace);
	if (report.model)
		model_free(report.model);
	trace_close(trace);
	return code;
}
