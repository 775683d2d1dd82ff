// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloctop: which call sites of the kernel hold the memory, live or as one table.
 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "number.h"
#include "status.h"
#include "top.h"
#include "version.h"

/* Data */

#define DELAY_DEFAULT	3u
#define DELAY_MAX	86400u
#define WIDTH_DEFAULT	80u
#define WIDTH_MIN	40u
#define WIDTH_MAX	4000u
#define LINES_MAX	UINT32_MAX

static const char usage[] =
"Usage: alloctop [options] [filter]\n"
"Show which call sites of the kernel hold how much memory, live.\n"
"\n"
"The filter has words of dynamic debug: file, func, module, line. For example:\n"
"  alloctop file 'fs/*' func 'alloc_*'\n"
"\n"
"Options:\n"
"  -1, --once           print one table and exit; the default if standard input or output\n"
"                       is no terminal; -o is the same\n"
"  -n, --lines N        show the first N rows; 0, the default, shows all\n"
"  -m, --min SIZE       leave out rows that hold less than SIZE, such as 64k; the default\n"
"                       is 1, and 0 shows empty rows\n"
"  -s, --sort KEY       bytes (the default), calls, average, growth, rate or name; or the\n"
"                       first letter of size, calls, average, growth, minute or tag\n"
"  -b, --by WHAT        a row is a site (the default), func, file, dir or module\n"
"  -t, --tree           show a tree of directories, files, functions and call sites; as\n"
"                       one table it is unfolded\n"
"  -d, --delay TIME     read every TIME seconds, by default 3; also 10s, 5m\n"
"  -B, --bytes          print plain numbers of bytes\n"
"  -w, --width N        width of the table; 0 does not cut names; the default is that of\n"
"                       the terminal, or 80\n"
"  -j, --json           print one table as JSON\n"
"      --proc DIR       use DIR instead of /proc\n"
"  -h, --help           print this help\n"
"  -V, --version        print the version\n"
"\n"
"Exit status:\n"
"  0   good\n"
"  1   there is no table, or it cannot be read\n"
"  2   one table: profiling is off, or lines of the table could not be read\n"
"  3   the output could not be written\n"
"  64  wrong options\n";

enum { OPT_PROC = 256 };

static const struct option long_options[] = {
	{ "once", no_argument, NULL, '1' },
	{ "lines", required_argument, NULL, 'n' },
	{ "min", required_argument, NULL, 'm' },
	{ "sort", required_argument, NULL, 's' },
	{ "by", required_argument, NULL, 'b' },
	{ "tree", no_argument, NULL, 't' },
	{ "delay", required_argument, NULL, 'd' },
	{ "bytes", no_argument, NULL, 'B' },
	{ "width", required_argument, NULL, 'w' },
	{ "json", no_argument, NULL, 'j' },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static void parse_width(struct top *top, const char *word)
{
	if (!number_parse(word, WIDTH_MAX, &top->width) ||
	    (top->width && top->width < WIDTH_MIN))
		usage_error("--width needs 0, or 40 to 4000", word);
}

static void parse_delay(struct top *top, const char *word)
{
	if (!seconds_parse(word, DELAY_MAX, &top->delay) || !top->delay)
		usage_error("--delay needs a time from 1 second to 1 day", word);
}

static void parse_value(struct top *top, int option, const char *word)
{
	switch (option) {
	case 'n':
		if (!number_parse(word, LINES_MAX, &top->limit))
			usage_error("--lines needs a number", word);
		break;
	case 'm':
		if (!size_parse(word, INT64_MAX, &top->min))
			usage_error("--min needs a size such as 64k", word);
		break;
	case 's':
		if (!sort_parse(word, &top->sort))
			usage_error("--sort needs bytes, calls, average, growth, rate or name",
				    word);
		break;
	case 'b':
		if (!row_by_parse(word, &top->by))
			usage_error("--by needs site, func, file, dir or module", word);
		break;
	case 'd':
		parse_delay(top, word);
		break;
	case 'w':
		parse_width(top, word);
		break;
	case OPT_PROC:
		top->source.proc = word;
		break;
	}
}

static void parse_flag(struct top *top, int option)
{
	switch (option) {
	case '1':
	case 'o':
		top->once = true;
		break;
	case 't':
		top->tree = true;
		break;
	case 'B':
		top->plain = true;
		break;
	case 'j':
		top->json = true;
		break;
	case 'h':
		fputs(usage, stdout);
		end_output();
	case 'V':
		version_print("alloctop");
		end_output();
	case '?':
		fprintf(stderr, "%s: see --help\n", program_invocation_short_name);
		exit(EXIT_USAGE);
	}
}

static void parse_options(struct top *top, int argc, char **argv)
{
	const char *problem;
	int option;

	while ((option = getopt_long(argc, argv, "1on:m:s:b:td:Bw:jhV", long_options,
				     NULL)) != -1) {
		parse_value(top, option, optarg);
		parse_flag(top, option);
	}
	top->filter = query_join(argv + optind);
	if (!query_parse(&top->query, top->filter, &problem))
		usage_error("filter", problem);
	top->once |= top->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
	if (top->once && (top->sort == TOP_GROWTH || top->sort == TOP_RATE))
		usage_error("one table has no growth to sort by", "");
}

/* Reading */

/**
 * top_uptime - read the clock of the machine
 * @top: the program
 *
 * The time of the figures is that of their machine, which may be elsewhere than /proc.
 *
 * Return: the time since boot in seconds.
 */
double top_uptime(const struct top *top)
{
	struct timespec ts;
	char text[64];

	if (source_file(&top->source, "uptime", text, sizeof(text)) > 0)
		return strtod(text, NULL);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/**
 * top_read - read the machine
 * @top: the program; its rows are new
 *
 * Return: false if the table could not be read; see @state. The rows are the old ones
 * then.
 */
bool top_read(struct top *top)
{
	top->state = source_read(&top->source, &top->table);
	if (top->state != PROFILING_ON && top->state != PROFILING_OFF)
		return false;
	top->balanced = balance_read(&top->balance, &top->table, &top->source);
	model_update(&top->model, &top->table, top_uptime(top));
	model_sum(&top->model, &top->query);
	view_build(top);
	return true;
}

/**
 * top_filter - use another filter
 * @top: the program; its rows are new
 * @text: the filter, empty for none
 * @problem: set to what is wrong
 *
 * The groups that top_only() chose no longer limit the rows.
 *
 * Return: false if @text is not a filter; then nothing changes.
 */
bool top_filter(struct top *top, const char *text, const char **problem)
{
	struct query query;

	if (!query_parse(&query, text, problem))
		return false;
	query_free(&top->query);
	free(top->filter);
	top->query = query;
	top->filter = need_string(text);
	model_all(&top->model);
	model_sum(&top->model, &top->query);
	view_build(top);
	return true;
}

/**
 * top_only - show the call sites that a row sums, and no others
 * @top: the program; its rows are new
 * @node: the row, a group of call sites
 */
void top_only(struct top *top, uint32_t node)
{
	top->by = BY_SITE;
	model_only(&top->model, node);
	model_sum(&top->model, &top->query);
	view_build(top);
}

/* One table */

static size_t width_of(const struct top *top)
{
	struct winsize size;

	if (top->width != UINT64_MAX)
		return top->width;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= WIDTH_MIN)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

/* Prints a text in lines that end between words. */
static void put_wrapped(const char *text, size_t width)
{
	const char *indent = "";
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, " ");
		len = wrap(text, width && *indent ? width - strlen(indent) : width);
		printf("%s%.*s\n", indent, (int)len, text);
		indent = "    ";
	}
}

static void put_table(const struct top *top)
{
	size_t width = width_of(top), i;
	char text[LINE_SIZE];

	for (i = 0; i < HEADER_LINES; i++) {
		format_header(top, i, text, sizeof(text));
		put_wrapped(text, width);
	}
	puts("");
	format_heading(top, width, text, sizeof(text));
	puts(text);
	for (i = 0; i < top->nr; i++) {
		format_row(top, &top->lines[i], width, text, sizeof(text));
		puts(text);
	}
}

static int run_once(struct top *top)
{
	if (top->tree) {
		view_open_all(top, true);
		view_build(top);
	}
	if (top->json)
		top_json(top, stdout);
	else
		put_table(top);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
			strerror(errno));
		return EXIT_OUTPUT;
	}
	source_explain(&top->source, top->state);
	return top->state == PROFILING_ON && !top->table.damaged ? EXIT_GOOD : EXIT_LOST;
}

static void top_free(struct top *top)
{
	source_close(&top->source);
	table_free(&top->table);
	model_free(&top->model);
	query_free(&top->query);
	free(top->filter);
	free(top->lines);
	free(top->keys);
}

int main(int argc, char **argv)
{
	struct top top = {
		.source.proc = "/proc", .delay = DELAY_DEFAULT, .min = 1, .width = UINT64_MAX,
	};
	int status = EXIT_CANNOT;

	setlocale(LC_CTYPE, "");
	hash_seed_init();
	parse_options(&top, argc, argv);
	model_init(&top.model);
	top.state = source_open(&top.source, top.source.proc);
	if (top.state == PROFILING_ON && top_read(&top))
		status = top.once ? run_once(&top) : screen_run(&top);
	else
		source_explain(&top.source, top.state);
	top_free(&top);
	return status;
}
