// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo record: write snapshots of /proc/allocinfo to a file, for weeks.
 *
 * A snapshot is the text of /proc/allocinfo and of /proc/meminfo, read one after the other.
 * If it cannot be read or written, it is missing, and the recorder goes on: the disk may
 * have room again later. Messages about that are printed when the state changes, and not
 * for each snapshot.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "number.h"
#include "signals.h"
#include "snap.h"
#include "source.h"
#include "status.h"
#include "table.h"
#include "turns.h"
#include "util.h"

/* Data */

#define INTERVAL	60u
#define SIZE_MIN	(1024 * 1024)

struct options {
	struct common common;
	struct snap_limits limits;
	uint64_t interval;
	uint64_t count;		/* 0: no end */
};

/* a file of /proc, read again and again; only the text of the table is used */
struct proc_file {
	char *path;
	struct table table;
};

struct recorder {
	struct proc_file allocinfo;
	struct proc_file meminfo;
	struct snap_writer *writer;
	uint64_t snapshots;
	uint64_t unread;
	uint64_t unwritten;
	bool unreadable;	/* the last snapshot could not be read */
	bool unwritable;	/* ... or not be written */
};

static const char usage[] =
"Usage: allocinfo record -o FILE [options]\n"
"Write snapshots of /proc/allocinfo and /proc/meminfo to FILE until SIGINT or\n"
"SIGTERM. If FILE has snapshots, the recording is continued. The other commands\n"
"read FILE, also while it is recorded.\n"
"\n"
"Options:\n"
"  -o, --output FILE    file of the snapshots, which only its owner can read\n"
"  -f, --force          replace FILE instead of continuing it\n"
"  -i, --interval TIME  time between two snapshots: 30, 5m, 1h (default: 60)\n"
"  -n, --count N        stop when N snapshots are written\n"
"      --max-size SIZE  keep at most SIZE bytes, at least 1M: 100M, 2G. The oldest\n"
"                       part is removed. Older parts are FILE.1, FILE.2 and so on.\n"
"      --max-age TIME   keep snapshots for TIME: 12h, 14d\n"
"      --proc DIR       read allocinfo and meminfo in DIR instead of /proc\n"
HELP_OPTIONS
"\n"
"Exit status:\n"
"  0   all snapshots were written\n"
"  1   the table could not be read\n"
"  2   snapshots are missing\n"
"  3   FILE could not be written\n"
"  64  wrong options\n";

enum { OPT_SIZE = OPT_OWN, OPT_AGE };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "interval", required_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'n' },
	{ "max-size", required_argument, NULL, OPT_SIZE },
	{ "max-age", required_argument, NULL, OPT_AGE },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Options */

static uint64_t size_value(const char *word)
{
	uint64_t size;

	if (!size_parse(word, INT64_MAX, &size) || size < SIZE_MIN)
		usage_error("not a size, or too small", word);
	return size;
}

static uint64_t count_value(const char *word)
{
	uint64_t count;

	if (!number_parse(word, INT64_MAX, &count) || !count)
		usage_error("not a number of snapshots", word);
	return count;
}

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case 'i':
		options->interval = seconds_value(optarg);
		break;
	case 'n':
		options->count = count_value(optarg);
		break;
	case OPT_SIZE:
		options->limits.size = size_value(optarg);
		break;
	case OPT_AGE:
		options->limits.age = seconds_value(optarg);
		break;
	default:
		common_option(&options->common, opt, usage);
	}
}

static void take_options(struct options *options, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "o:fi:n:hV", long_options, NULL)) != -1)
		take_option(options, opt);
	if (optind < argc)
		usage_error("what is this", argv[optind]);
	if (!options->common.output)
		usage_error("-o FILE is missing", "");
}

/* Reading */

/* Returns false with errno. */
static bool read_proc(struct proc_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return false;
	err = -table_read(&file->table, fd);
	close(fd);
	errno = err;
	return !err;
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* Explains why there is no table, or why it will not change. */
static bool check_source(const char *proc)
{
	struct table table = { 0 };
	struct source source;
	enum profiling state = source_open(&source, proc);

	if (state == PROFILING_ON)
		state = source_read(&source, &table);
	source_explain(&source, state);
	source_close(&source);
	table_free(&table);
	return state == PROFILING_ON || state == PROFILING_OFF;
}

/* Recording */

static void message(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, what);
}

static bool read_snapshot(struct recorder *recorder)
{
	const char *path = recorder->allocinfo.path;

	/* without /proc/meminfo a snapshot is of use, too */
	if (!read_proc(&recorder->meminfo))
		table_set_text(&recorder->meminfo.table, "", 0);
	if (!read_proc(&recorder->allocinfo)) {
		if (!recorder->unreadable)
			message(path, strerror(errno));
		recorder->unreadable = true;
		recorder->unread++;
		return false;
	}
	if (recorder->unreadable && recorder->snapshots)
		message(path, "can be read again");
	recorder->unreadable = false;
	return true;
}

static void write_snapshot(struct recorder *recorder, const struct options *options)
{
	struct snap snap = {
		.time = now(CLOCK_REALTIME),
		.boottime = now(CLOCK_BOOTTIME),
		.meminfo = recorder->meminfo.table.text,
		.meminfo_size = recorder->meminfo.table.size,
		.allocinfo = recorder->allocinfo.table.text,
		.allocinfo_size = recorder->allocinfo.table.size,
	};

	if (!snap_write(recorder->writer, &snap)) {
		if (!recorder->unwritable)
			fprintf(stderr, "%s: %s: cannot write, trying again: %s\n",
				program_invocation_short_name, options->common.output,
				strerror(errno));
		recorder->unwritable = true;
		recorder->unwritten++;
		return;
	}
	if (recorder->unwritable)
		fprintf(stderr, "%s: %s: recording again; %" PRIu64 " snapshots are missing\n",
			program_invocation_short_name, options->common.output,
			recorder->unwritten);
	recorder->unwritable = false;
	recorder->snapshots++;
}

/* A turn whose snapshot is missing does not count. */
static bool has_all(const struct recorder *recorder, const struct options *options)
{
	return options->count && recorder->snapshots == options->count;
}

static int record(struct recorder *recorder, const struct options *options)
{
	bool first = true;
	sigset_t set;
	int signals = signals_open(&set), timer = turns_start(options->interval);

	if (signals < 0 || timer < 0) {
		message("cannot wait", strerror(errno));
		return EXIT_CANNOT;
	}
	do {
		/* the caller has read the first one */
		if (first || read_snapshot(recorder))
			write_snapshot(recorder, options);
		first = false;
	} while (!has_all(recorder, options) && turns_wait(signals, timer));
	close(signals);
	close(timer);
	if (recorder->unwritable)
		return EXIT_OUTPUT;
	return recorder->unread || recorder->unwritten ? EXIT_LOST : EXIT_GOOD;
}

/* Interface */

/**
 * cmd_record - write snapshots to a file
 * @argc: number of words
 * @argv: name and options
 *
 * Return: exit code.
 */
int cmd_record(int argc, char **argv)
{
	struct options options = { .interval = INTERVAL, .common.proc = PROC_DIR };
	struct recorder recorder = { 0 };
	int code = EXIT_CANNOT;

	take_options(&options, argc, argv);
	if (asprintf(&recorder.allocinfo.path, "%s/allocinfo", options.common.proc) < 0 ||
	    asprintf(&recorder.meminfo.path, "%s/meminfo", options.common.proc) < 0)
		return EXIT_CANNOT;
	if (check_source(options.common.proc) && read_snapshot(&recorder)) {
		recorder.writer = snap_writer_open(options.common.output, options.common.force,
						   &options.limits);
		code = recorder.writer ? record(&recorder, &options) : EXIT_OUTPUT;
	}
	if (recorder.writer)
		snap_writer_close(recorder.writer);
	free(recorder.allocinfo.path);
	table_free(&recorder.allocinfo.table);
	free(recorder.meminfo.path);
	table_free(&recorder.meminfo.table);
	return code;
}
