// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo export: write the memory of this host as metrics for Prometheus.
 *
 * The file is for the textfile collector of the node exporter. It is written under a
 * temporary name and renamed, so a reader never sees a part of it. The previous file says
 * which functions had series of their own; the others do not take their places lightly.
 *
 * The outputs of the other commands are for their owner alone. This file is for everybody,
 * because the node exporter runs as a user without privileges. It has no addresses, and
 * only sums of functions and of the whole machine.
 *
 * If there is no table, the file says so. It never keeps the figures of the past.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "balance.h"
#include "metrics.h"
#include "outfile.h"
#include "source.h"
#include "status.h"

/* Data */

#define FILE_NAME	"allocinfo.prom"
#define SUFFIX		".prom"
#define FILE_MODE	0644

/* Outputs have tens of kilobytes. A larger file is not one of them. */
#define PREVIOUS_MAX	1048576

struct options {
	struct common common;
	char *path;		/* NULL: standard output */
};

/* where the file is */
struct place {
	const char *path;
	const char *name;	/* in @dir, a part of @path */
	int dir;
};

static const char usage[] =
"Usage: allocinfo export [options]\n"
"Write the memory of this host as metrics for Prometheus: the 40 functions that hold\n"
"most, the sum of the others, and a balance of the memory; at most 100 series.\n"
"\n"
"Options:\n"
"  -t, --textfile PATH  write to PATH instead of standard output: a file whose name\n"
"                       ends in " SUFFIX ", or the directory of " FILE_NAME ", such as\n"
"                       /var/lib/prometheus/node-exporter. The file is replaced at\n"
"                       once. Everybody can read it. Functions of the previous file\n"
"                       stay in it while they are among the first 60.\n"
"      --proc DIR       read allocinfo, meminfo, slabinfo and zoneinfo in DIR instead\n"
"                       of /proc\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   exported, also if profiling is off\n"
"  1   there is no table, or it cannot be read; the file says so\n"
"  2   exported, but a part of the table, the balance or the previous file was\n"
"      missing or damaged\n"
"  3   the file could not be written\n"
"  64  wrong options\n";

static const struct option long_options[] = {
	{ "textfile", required_argument, NULL, 't' },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static bool ends_in(const char *text, const char *end)
{
	size_t size = strlen(text), len = strlen(end);

	return size > len && !strcmp(text + size - len, end);
}

/* A name with another end is a directory, so no other file is replaced by mistake. */
static char *path_of(const char *word)
{
	char *path;

	if (!*word)
		usage_error("the name of the file is empty", "");
	if (ends_in(word, SUFFIX))
		return need_string(word);
	path = need_memory(strlen(word) + sizeof("/" FILE_NAME), 1);
	stpcpy(stpcpy(path, word), "/" FILE_NAME);
	return path;
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "t:hV", long_options, NULL)) != -1) {
		if (opt != 't') {
			common_option(&options->common, opt, usage);
			continue;
		}
		free(options->path);
		options->path = path_of(optarg);
	}
	if (optind < argc)
		usage_error("what is this", argv[optind]);
}

/* Messages */

static void message(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, what);
}

static bool cannot_write(const struct place *place)
{
	fprintf(stderr, "%s: %s: cannot write: %s\n", program_invocation_short_name,
		place->path, strerror(errno));
	return false;
}

/* The previous file */

/* Returns the size of the file, or -1 with errno. A file that is too large has no members. */
static ssize_t read_previous(const struct place *place, char *text)
{
	int fd = openat(place->dir, place->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t size = 0, got = 1;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= PREVIOUS_MAX)
		while (got > 0 && size < PREVIOUS_MAX) {
			got = read(fd, text + size, PREVIOUS_MAX - size);
			size += got > 0 ? got : 0;
		}
	close(fd);
	return got < 0 ? -1 : size;
}

/* Returns false after a message if there is a file, but none of ours. */
static bool take_members(struct metrics *metrics, const struct place *place)
{
	char *text = need_memory(PREVIOUS_MAX, 1);
	ssize_t size = read_previous(place, text);
	bool good = true;

	if (size < 0 && errno != ENOENT) {
		message(place->path, errno == ELOOP ? "it is a link, which is replaced"
						    : strerror(errno));
		good = false;
	} else if (size >= 0 && !metrics_members(metrics, text, size)) {
		message(place->path, "not a whole file of allocinfo export, so it is replaced");
		good = false;
	}
	free(text);
	return good;
}

/* Writing */

static bool write_stream(struct metrics *metrics, const struct metrics_values *values, int fd)
{
	FILE *out = fdopen(fd, "w");
	bool good;

	if (!out) {
		close(fd);
		return false;
	}
	metrics_write(metrics, values, out);
	good = !fflush(out) && !ferror(out) && !fchmod(fd, FILE_MODE);
	return !fclose(out) && good;
}

/* Returns false after a message, with the previous file in place. */
static bool replace_file(struct metrics *metrics, const struct metrics_values *values,
			 const struct place *place)
{
	char temp[OUTFILE_TEMP_SIZE];
	int fd, err;

	if (!outfile_replaceable(place->dir, place->name))
		return cannot_write(place);
	fd = outfile_temp(place->dir, temp);
	if (fd < 0)
		return cannot_write(place);
	if (!write_stream(metrics, values, fd)) {
		err = errno;
		unlinkat(place->dir, temp, 0);
		errno = err;
		return cannot_write(place);
	}
	return outfile_rename(place->dir, temp, place->name) || cannot_write(place);
}

/* The file has the members of the one before. */
static int export_file(struct metrics *metrics, const struct metrics_values *values,
		       const char *path)
{
	struct place place = { .path = path };
	int code = EXIT_OUTPUT;
	bool good;

	place.dir = outfile_parent(path, &place.name);
	if (place.dir < 0) {
		message(path, strerror(errno));
		return EXIT_OUTPUT;
	}
	good = take_members(metrics, &place);
	if (replace_file(metrics, values, &place))
		code = good ? EXIT_GOOD : EXIT_LOST;
	close(place.dir);
	return code;
}

static int export(const struct metrics_values *values, const char *path)
{
	struct metrics *metrics = metrics_new();
	int code = EXIT_GOOD;

	if (path) {
		code = export_file(metrics, values, path);
	} else {
		metrics_write(metrics, values, stdout);
		if (!outfile_close(stdout, NULL, true))
			code = EXIT_OUTPUT;
	}
	metrics_free(metrics);
	return code;
}

/* Reading */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* With profiling off there is a table. A file that says so is enough then. */
static void read_table(struct source *source, const struct options *options,
		       struct table *table, struct metrics_values *values)
{
	double begin = now();

	values->state = source_open(source, options->common.proc);
	if (values->state == PROFILING_ON)
		values->state = source_read(source, table);
	values->read_seconds = now() - begin;
	if (values->state != PROFILING_OFF || !options->path)
		source_explain(source, values->state);
	if (values->state == PROFILING_ON || values->state == PROFILING_OFF) {
		table_clean(table);
		values->table = table;
	}
}

static void read_balance(const struct source *source, struct balance *balance,
			 struct metrics_values *values)
{
	if (!values->table)
		return;
	if (balance_read(balance, values->table, source))
		values->balance = balance;
	else
		message(source->proc, "no MemTotal in meminfo, so the balance is missing");
}

/* The output comes first: the codes of status.h have an order. */
static int code_of(int output, const struct metrics_values *values)
{
	if (output == EXIT_OUTPUT)
		return EXIT_OUTPUT;
	if (!values->table)
		return EXIT_CANNOT;
	return values->balance && !values->table->damaged ? output : EXIT_LOST;
}

/* Interface */

/**
 * cmd_export - write metrics
 * @argc: number of words
 * @argv: name and options
 *
 * Return: exit code.
 */
int cmd_export(int argc, char **argv)
{
	struct options options = { .common.proc = PROC_DIR };
	struct metrics_values values = { 0 };
	struct table table = { 0 };
	struct balance balance;
	struct source source;
	int code;

	take_options(&options, argc, argv);
	read_table(&source, &options, &table, &values);
	read_balance(&source, &balance, &values);
	code = code_of(export(&values, options.path), &values);
	source_close(&source);
	table_free(&table);
	free(options.path);
	return code;
}
