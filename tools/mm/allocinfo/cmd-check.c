// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo check: can this kernel account its memory, does it, and what does reading cost.
 *
 * The cost is measured then and there: CPU time of this thread, the median of several
 * reads.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "balance.h"
#include "contexts.h"
#include "outfile.h"
#include "place.h"
#include "source.h"
#include "status.h"

/* Data */

#define READS		9u
#define MINUTE_NS	(60 * UINT64_C(1000000000))

static const char usage[] =
"Usage: allocinfo check [options]\n"
"Say whether this kernel can account its memory, whether it does, and what it costs\n"
"to read the table and to parse it, which is measured.\n"
"\n"
"Options:\n"
"      --proc DIR       use DIR instead of /proc\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   profiling is on\n"
"  1   there is no table, or it cannot be read\n"
"  2   profiling is off, or lines of the table could not be read\n"
"  3   the output could not be written\n"
"  64  wrong options\n";

static const struct option long_options[] = {
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* a way to read the table, for measuring */
typedef int read_fn(struct table *table, int fd);

static const struct complainer quiet;

/* Measuring */

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int read_text(struct table *table, int fd)
{
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : table_read(table, fd);
}

static int read_records(struct table *table, int fd)
{
	return table_read_records(table, fd, NULL);
}

/*
 * Returns the median in nanoseconds, or 0 if the table cannot be read in this way. If @parse
 * is set, this is the time of parsing what was read. Parsing cuts the text into words, so
 * each time needs a new text.
 */
static uint64_t measure(read_fn *read, bool parse, struct table *table, int fd)
{
	uint64_t times[READS], begin;
	size_t i;

	for (i = 0; i < READS; i++) {
		begin = cpu_time();
		if (read(table, fd))
			return 0;
		if (parse) {
			begin = cpu_time();
			if (!table_parse(table, "allocinfo", &quiet))
				return 0;
		}
		times[i] = cpu_time() - begin;
	}
	qsort(times, READS, sizeof(*times), compare_times);
	return times[READS / 2];
}

/* Printing */

static void put_line(const char *what)
{
	printf("%-18s ", what);
}

static void put_kernel(void)
{
	struct utsname names;

	put_line("kernel");
	if (uname(&names))
		puts("unknown");
	else
		printf("Linux %s %s\n", names.release, names.machine);
}

static void put_profiling(enum profiling state)
{
	put_line("profiling");
	puts(state == PROFILING_ON ? "on" : state == PROFILING_OFF ? "off" : "not available");
}

static void put_table(const struct table *table)
{
	size_t i, holding = 0, inaccurate = 0;

	for (i = 0; i < table->nr; i++) {
		holding += table->sites[i].bytes != 0;
		inaccurate += !table->sites[i].accurate;
	}
	put_line("table");
	printf("version %u.%u, %zu call sites, %zu of them hold memory\n", table->major,
	       table->minor, table->nr, holding);
	put_line("not accurate");
	printf("%zu call sites\n", inaccurate);
}

static void put_bytes(const char *what, int64_t bytes, const char *more)
{
	char text[BYTES_TEXT];

	put_line(what);
	printf("%s%s\n", bytes_text(bytes, false, text), more);
}

/* Where the memory is: what is on no line, and how exact that is, see balance.h. */
static void put_balance(const struct table *table, const struct source *source)
{
	struct balance balance;
	char text[BYTES_TEXT], margin[BYTES_TEXT + 32];

	if (!balance_read(&balance, table, source)) {
		put_line("memory");
		puts("unknown, /proc/meminfo cannot be read");
		return;
	}
	snprintf(margin, sizeof(margin), ", may be wrong by %s",
		 bytes_text(balance.margin, false, text));
	put_bytes("memory", balance.total, "");
	put_bytes("free", balance.lists == BALANCE_UNKNOWN ? balance.free :
		  add_counts(balance.free, balance.lists), "");
	put_bytes("at call sites", balance.sites, "");
	put_bytes("unaccounted", balance.none, margin);
}

static void put_contexts(const char *proc)
{
	int fd;
	enum capture_state state = contexts_open(proc, CONTEXTS_CAPTURE, &fd);
	const char *advice = capture_advice(state);

	put_line("contexts");
	if (state == CAPTURE_ON)
		close(fd);
	puts(state == CAPTURE_ON ? "can be captured" : advice ? advice : "not available");
}

static uint64_t put_cost(const char *what, read_fn *read, bool parse, struct table *table,
			 int fd)
{
	uint64_t cost = measure(read, parse, table, fd);

	put_line(what);
	if (cost)
		printf("%.2f ms of CPU time, the median of %u reads\n", cost / 1e6, READS);
	else
		puts("not possible");
	return cost;
}

static void put_costs(int fd)
{
	struct table table = { 0 };
	char text[BYTES_TEXT];
	uint64_t cost;

	cost = put_cost("reading text", read_text, false, &table, fd);
	put_line("size of text");
	puts(bytes_text(table.size, false, text));
	put_cost("parsing text", read_text, true, &table, fd);
	put_cost("reading records", read_records, false, &table, fd);
	put_line("one read a minute");
	printf("%.4f %% of a CPU\n", 100.0 * cost / MINUTE_NS);
	table_free(&table);
}

/* Do the text and the records of the kernel say the same? */

static bool read_and_parse(read_fn *read, struct table *table, int fd)
{
	return !read(table, fd) && table_parse(table, "allocinfo", &quiet);
}

/* A record has the last 63 bytes of a name. */
static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name);

	return !strcmp(name + (len < ALLOCINFO_STR_SIZE ? 0 : len - ALLOCINFO_STR_SIZE + 1), end);
}

static bool same_figures(const struct site *a, const struct site *b)
{
	return a->bytes == b->bytes && a->calls == b->calls;
}

static bool same_record(const struct site *text, const struct site *record)
{
	return same_figures(text, record) && text->line == record->line &&
	       text->accurate == record->accurate && ends_with(text->file, record->file) &&
	       ends_with(text->func, record->func) && ends_with(text->module, record->module);
}

/* The text is read before and after the records: only call sites at rest can be compared. */
static void compare_forms(const struct table *before, const struct table *records,
			  const struct table *after)
{
	size_t i, rest = 0, same = 0;

	if (before->nr != records->nr || after->nr != records->nr) {
		puts("not the same number of call sites; was a module loaded or unloaded?");
		return;
	}
	for (i = 0; i < records->nr; i++) {
		if (!same_figures(&before->sites[i], &after->sites[i]))
			continue;
		rest++;
		same += same_record(&before->sites[i], &records->sites[i]);
	}
	printf("the same at %zu of %zu call sites at rest\n", same, rest);
}

static void put_forms(int fd)
{
	struct table before = { 0 }, records = { 0 }, after = { 0 };
	int err = -read_records(&records, fd);

	put_line("text and records");
	if (err == ENOTTY)
		puts("this kernel has no records");
	else if (err)
		printf("the records cannot be read: %s\n", strerror(err));
	else if (read_and_parse(read_text, &before, fd) &&
		 read_and_parse(read_records, &records, fd) &&
		 read_and_parse(read_text, &after, fd))
		compare_forms(&before, &records, &after);
	else
		puts("not possible");
	table_free(&before);
	table_free(&records);
	table_free(&after);
}

/* Interface */

static int check(const char *proc)
{
	struct table table = { 0 };
	struct source source;
	enum profiling state = source_open(&source, proc);
	int code = EXIT_CANNOT;

	if (state == PROFILING_ON)
		state = source_read(&source, &table);
	put_kernel();
	put_profiling(state);
	if (state == PROFILING_ON || state == PROFILING_OFF) {
		put_table(&table);
		put_balance(&table, &source);
		put_contexts(proc);
		put_costs(source.fd);
		put_forms(source.fd);
		code = state == PROFILING_OFF || table.damaged ? EXIT_LOST : EXIT_GOOD;
	}
	if (!outfile_close(stdout, NULL, true))
		code = EXIT_OUTPUT;
	source_explain(&source, state);
	source_close(&source);
	table_free(&table);
	return code;
}

/**
 * cmd_check - say what this kernel can do
 * @argc: number of words
 * @argv: name and options
 *
 * Return: exit code.
 */
int cmd_check(int argc, char **argv)
{
	struct common common = { .proc = PROC_DIR };
	int opt;

	while ((opt = getopt_long(argc, argv, "hV", long_options, NULL)) != -1)
		common_option(&common, opt, usage);
	if (optind < argc)
		usage_error("what is this", argv[optind]);
	return check(common.proc);
}
