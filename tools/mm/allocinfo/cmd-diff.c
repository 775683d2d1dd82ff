// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo diff: what grew between two tables.
 *
 * The call sites of both tables are matched first, see match.h. Then each pair becomes an
 * entry of three tables with the same names, for what it held before and after and for the
 * difference, and rows.h sums them up.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "allocinfo.h"
#include "input.h"
#include "match.h"
#include "number.h"
#include "outfile.h"
#include "place.h"
#include "status.h"

/* Data */

#define TOP_OF_TEXT	20u
#define DIFF_FORMAT	1	/* version of the JSON output */

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct options {
	struct common common;
	const char *before;
	const char *after;
	struct query query;
	enum format format;
	enum row_by by;
	enum row_sort sort;
	bool all;
};

/* what has no counterpart in the other table, or moved */
struct unmatched {
	size_t sites;
	int64_t bytes;
	int64_t calls;
};

struct diff {
	const struct options *options;
	struct input inputs[2];
	struct pairs pairs;
	struct table before, after, change;
	struct rows rows_before, rows_after, rows;
	struct unmatched gone, new, moved;
	size_t nr;		/* rows to be written */
};

static const struct word formats[] = {
	{ "text", FORMAT_TEXT },
	{ "json", FORMAT_JSON },
	{ "csv", FORMAT_CSV },
	{ NULL, 0 },
};

static const char usage[] =
"Usage: allocinfo diff [options] A B [FILTER]\n"
"Show what grew between two tables, the largest growth first. Call sites are matched\n"
"by file, function and module, so A and B may be of different builds of the kernel.\n"
"\n"
"A and B:\n"
INPUT_HELP
"FILTER: 'file F', 'func G', 'module M', 'line N-M' as in dynamic debug\n"
"\n"
"Options:\n"
"  -b, --by WHAT        one row per site (default), func, file, dir or module\n"
"  -s, --sort KEY       sort by the growth of bytes (default) or calls\n"
"  -n, --top N          print N rows, 0 for all (default: 20 in text)\n"
"  -a, --all            print also rows that are the same in both\n"
"  -B, --bytes          print plain numbers of bytes\n"
"      --format FORMAT  text (default), json or csv\n"
"  -o, --output FILE    write to FILE, which only its owner can read, instead of\n"
"                       standard output\n"
"  -f, --force          overwrite FILE\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   done, whether there is a difference or not\n"
"  1   A or B could not be read\n"
"  2   done, but A or B is damaged\n"
"  3   the output could not be written\n"
"  64  wrong options\n";

static const struct option long_options[] = {
	{ "by", required_argument, NULL, 'b' },
	{ "sort", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, 'a' },
	{ "bytes", no_argument, NULL, 'B' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case 'b':
		options->by = by_value(optarg);
		break;
	case 's':
		if (!row_sort_parse(optarg, &options->sort) || options->sort > SORT_CALLS)
			usage_error("unknown word", optarg);
		break;
	case 'a':
		options->all = true;
		break;
	case OPT_FORMAT:
		options->format = word_value(formats, optarg);
		break;
	default:
		common_option(&options->common, opt, usage);
	}
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "b:s:n:aBo:fhV", long_options, NULL)) != -1)
		take_option(options, opt);
	if (argc - optind < 2)
		usage_error("two tables are compared; name both", "");
	options->before = argv[optind];
	options->after = argv[optind + 1];
	filter_value(&options->query, argv + optind + 2);
	if (!options->common.top)
		options->common.top = options->format == FORMAT_TEXT ? TOP_OF_TEXT : SIZE_MAX;
}

/* The difference */

static void set_entry(struct table *table, const struct site *names, int64_t bytes,
		      int64_t calls)
{
	struct site *site = &table->sites[table->nr++];

	*site = *names;
	site->bytes = bytes;
	site->calls = calls;
}

static int64_t subtract(int64_t a, int64_t b)
{
	return add_counts(a, b == INT64_MIN ? INT64_MAX : -b);
}

static void count(struct unmatched *unmatched, const struct site *site)
{
	unmatched->sites++;
	unmatched->bytes = add_counts(unmatched->bytes, site->bytes);
	unmatched->calls = add_counts(unmatched->calls, site->calls);
}

static void count_pair(struct diff *diff, const struct pair *pair)
{
	if (!pair->after)
		count(&diff->gone, pair->before);
	else if (!pair->before)
		count(&diff->new, pair->after);
	else if (pair->before->line != pair->after->line)
		count(&diff->moved, pair->after);
}

static void add_pair(struct diff *diff, const struct pair *pair)
{
	static const struct site nothing;
	const struct site *before = pair->before ? pair->before : &nothing;
	const struct site *after = pair->after ? pair->after : &nothing;
	const struct site *names = pair->after ? pair->after : pair->before;

	set_entry(&diff->before, names, before->bytes, before->calls);
	set_entry(&diff->after, names, after->bytes, after->calls);
	set_entry(&diff->change, names, subtract(after->bytes, before->bytes),
		  subtract(after->calls, before->calls));
	if (query_matches(&diff->options->query, names))
		count_pair(diff, pair);
}

static void make_table(struct table *table, size_t room)
{
	table->sites = need_memory(room, sizeof(*table->sites));
	table->room = room;
}

/* Moves the rows that did not change behind the others. Returns the number of the others. */
static size_t drop_same(struct rows *rows)
{
	size_t i, nr = 0;

	for (i = 0; i < rows->nr; i++) {
		if (rows->rows[i].bytes || rows->rows[i].calls)
			rows->rows[nr++] = rows->rows[i];
	}
	return nr;
}

static void make_diff(struct diff *diff)
{
	const struct options *options = diff->options;
	size_t i;

	pairs_make(&diff->pairs, &diff->inputs[0].table, &diff->inputs[1].table);
	make_table(&diff->before, diff->pairs.nr);
	make_table(&diff->after, diff->pairs.nr);
	make_table(&diff->change, diff->pairs.nr);
	for (i = 0; i < diff->pairs.nr; i++)
		add_pair(diff, &diff->pairs.pairs[i]);
	rows_make(&diff->rows_before, &diff->before, options->by, &options->query);
	rows_make(&diff->rows_after, &diff->after, options->by, &options->query);
	rows_make(&diff->rows, &diff->change, options->by, &options->query);
	rows_sort(&diff->rows, options->sort);
	if (!options->all)
		diff->rows.nr = drop_same(&diff->rows);
	diff->nr = min_u64(options->common.top, diff->rows.nr);
}

/* Returns the pair of a row that is one call site; NULL for other rows. */
static const struct pair *pair_of(const struct diff *diff, const struct row *row)
{
	if (diff->options->by != BY_SITE || row->nr_sites != 1)
		return NULL;
	return &diff->pairs.pairs[row->site - diff->change.sites];
}

/* Returns "new", "gone", "moved" or "". */
static const char *state_of(const struct pair *pair)
{
	if (!pair)
		return "";
	if (!pair->before)
		return "new";
	if (!pair->after)
		return "gone";
	return pair->before->line != pair->after->line ? "moved" : "";
}

/* Text */

static void put_input(FILE *out, const char *letter, const struct input *input)
{
	fprintf(out, "%s: %s", letter, input->name);
	input_describe(input, out);
	fputc('\n', out);
}

static bool booted_between(const struct diff *diff)
{
	const char *before = diff->inputs[0].boot_id, *after = diff->inputs[1].boot_id;

	return *before && *after && strcmp(before, after);
}

static const char *change_text(int64_t bytes, bool plain, char text[BYTES_TEXT])
{
	text[0] = '+';
	bytes_text(bytes, plain, text + (bytes > 0));
	return text;
}

static void put_unmatched(const struct diff *diff, const char *what,
			  const struct unmatched *unmatched, FILE *out)
{
	char text[BYTES_TEXT];

	if (unmatched->sites)
		fprintf(out, "%zu call sites %s, with %s in %" PRId64 " allocations\n",
			unmatched->sites, what,
			bytes_text(unmatched->bytes, diff->options->common.plain, text),
			unmatched->calls);
}

static void put_row(const struct diff *diff, const struct row *row, FILE *out)
{
	const struct row *before = rows_find(&diff->rows_before, row->site);
	const struct row *after = rows_find(&diff->rows_after, row->site);
	const struct pair *pair = pair_of(diff, row);
	const char *state = state_of(pair);
	bool plain = diff->options->common.plain;
	char change[BYTES_TEXT + 1], a[BYTES_TEXT], b[BYTES_TEXT], name[PLACE_TEXT];

	fprintf(out, "%10s %+10" PRId64 " %10s %10s  %s",
		change_text(row->bytes, plain, change), row->calls,
		bytes_text(before->bytes, plain, a), bytes_text(after->bytes, plain, b),
		place_text(diff->options->by, row->site, name));
	if (!strcmp(state, "moved"))
		fprintf(out, " (was line %" PRIu32 ")", pair->before->line);
	else if (*state)
		fprintf(out, " (%s)", state);
	fputc('\n', out);
}

static void write_text(const struct diff *diff, FILE *out)
{
	bool plain = diff->options->common.plain;
	char change[BYTES_TEXT + 1];
	size_t i;

	put_input(out, "A", &diff->inputs[0]);
	put_input(out, "B", &diff->inputs[1]);
	if (booted_between(diff))
		fputs("A and B are of different boots, and counters begin at 0\n", out);
	fprintf(out, "B holds %s in %+" PRId64 " allocations, against A\n",
		change_text(diff->rows.bytes, plain, change), diff->rows.calls);
	put_unmatched(diff, "only in A", &diff->gone, out);
	put_unmatched(diff, "only in B", &diff->new, out);
	put_unmatched(diff, "moved to another line", &diff->moved, out);
	fprintf(out, "\n%10s %10s %10s %10s  %s\n", "BYTES", "CALLS", "BYTES A", "BYTES B",
		place_heading(diff->options->by));
	for (i = 0; i < diff->nr; i++)
		put_row(diff, &diff->rows.rows[i], out);
	if (diff->nr < diff->rows.nr)
		fprintf(out, "%zu more rows; --top 0 prints all\n", diff->rows.nr - diff->nr);
}

/* CSV */

static void write_csv(const struct diff *diff, FILE *out)
{
	const struct row *row, *before, *after;
	const struct pair *pair;
	size_t i;

	place_csv_heading(out, diff->options->by);
	fputs(",bytes,calls,bytes_before,calls_before,bytes_after,calls_after,line_before,state\n",
	      out);
	for (i = 0; i < diff->nr; i++) {
		row = &diff->rows.rows[i];
		before = rows_find(&diff->rows_before, row->site);
		after = rows_find(&diff->rows_after, row->site);
		pair = pair_of(diff, row);
		place_csv(out, diff->options->by, row->site);
		fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			",%" PRId64 ",", row->bytes, row->calls, before->bytes, before->calls,
			after->bytes, after->calls);
		if (pair && pair->before)
			fprintf(out, "%" PRIu32, pair->before->line);
		fprintf(out, ",%s\n", state_of(pair));
	}
}

/* JSON */

static struct json_object *unmatched_object(const struct unmatched *unmatched)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "sites", unmatched->sites);
	json_add_signed(o, "bytes", unmatched->bytes);
	json_add_signed(o, "calls", unmatched->calls);
	return o;
}

static struct json_object *row_object(const struct diff *diff, const struct row *row)
{
	const struct row *before = rows_find(&diff->rows_before, row->site);
	const struct row *after = rows_find(&diff->rows_after, row->site);
	const struct pair *pair = pair_of(diff, row);
	struct json_object *o = json_object_new_object();

	place_json(o, diff->options->by, row->site);
	json_add_signed(o, "bytes", row->bytes);
	json_add_signed(o, "calls", row->calls);
	json_add_signed(o, "bytes_before", before->bytes);
	json_add_signed(o, "calls_before", before->calls);
	json_add_signed(o, "bytes_after", after->bytes);
	json_add_signed(o, "calls_after", after->calls);
	if (pair && pair->before)
		json_add_number(o, "line_before", pair->before->line);
	if (*state_of(pair))
		json_add_string(o, "state", state_of(pair));
	return o;
}

static void write_json(const struct diff *diff, FILE *out)
{
	size_t i;

	fprintf(out, "{\n\"allocinfo_diff\": %d", DIFF_FORMAT);
	json_put_member(out, "before", input_json(&diff->inputs[0]));
	json_put_member(out, "after", input_json(&diff->inputs[1]));
	json_put_member(out, "bytes", json_object_new_int64(diff->rows.bytes));
	json_put_member(out, "calls", json_object_new_int64(diff->rows.calls));
	json_put_member(out, "only_before", unmatched_object(&diff->gone));
	json_put_member(out, "only_after", unmatched_object(&diff->new));
	json_put_member(out, "moved", unmatched_object(&diff->moved));
	fputs(",\n\"rows\": [", out);
	for (i = 0; i < diff->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, row_object(diff, &diff->rows.rows[i]));
	}
	fprintf(out, "],\n\"rows_left_out\": %zu\n}\n", diff->rows.nr - diff->nr);
}

/* Interface */

static int run(struct diff *diff)
{
	const struct options *options = diff->options;
	FILE *out;

	if (input_is_file(&diff->inputs[0], options->common.output) ||
	    input_is_file(&diff->inputs[1], options->common.output))
		return EXIT_OUTPUT;
	out = outfile_stream(options->common.output, options->common.force);
	if (!out)
		return EXIT_OUTPUT;
	make_diff(diff);
	if (options->format == FORMAT_CSV)
		write_csv(diff, out);
	else if (options->format == FORMAT_JSON)
		write_json(diff, out);
	else
		write_text(diff, out);
	if (!outfile_close(out, options->common.output, true))
		return EXIT_OUTPUT;
	return input_damaged(&diff->inputs[0]) | input_damaged(&diff->inputs[1]) ?
	       EXIT_LOST : EXIT_GOOD;
}

/**
 * cmd_diff - compare two tables
 * @argc: number of words
 * @argv: name, options and arguments
 *
 * Return: exit code.
 */
int cmd_diff(int argc, char **argv)
{
	struct options options = { .by = BY_SITE, .sort = SORT_BYTES };
	struct diff diff = { .options = &options };
	int code = EXIT_CANNOT;

	take_options(&options, argc, argv);
	if (input_read(&diff.inputs[0], options.before) &
	    input_read(&diff.inputs[1], options.after))
		code = run(&diff);
	rows_free(&diff.rows);
	rows_free(&diff.rows_before);
	rows_free(&diff.rows_after);
	pairs_free(&diff.pairs);
	free(diff.before.sites);
	free(diff.after.sites);
	free(diff.change.sites);
	input_free(&diff.inputs[0]);
	input_free(&diff.inputs[1]);
	query_free(&options.query);
	return code;
}
