// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo leak: which call sites leak?
 *
 * Snapshots come from a file or from the running machine. Each is added to the series of
 * the call sites (series.h), and at the end the series are judged (leak.h).
 *
 * The exit code is for cron and CI: 0 if nothing leaks, 1 if something does. So an error
 * must not be 1 here: where other commands exit with EXIT_CANNOT, this one exits with
 * EXIT_UNKNOWN, also from shared code that calls exit().
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "leak.h"
#include "number.h"
#include "outfile.h"
#include "query.h"
#include "signals.h"
#include "snap-record.h"
#include "snap-text.h"
#include "source.h"
#include "status.h"
#include "turns.h"
#include "util.h"

/* Data */

#define FOUND		1
#define TOP		20u
#define NSEC		1e9
/* A live run takes this many snapshots unless the interval is given. */
#define LIVE_SNAPSHOTS	60u
#define DROP_SECONDS	2u

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
};

struct options {
	struct common common;
	const char *file;
	struct query query;
	uint64_t live;		/* seconds, 0: read the file */
	uint64_t interval;
	uint64_t last;		/* seconds, 0: all */
	uint64_t until;		/* seconds since the first snapshot, 0: all */
	enum format format;
	bool all;
	bool drop;
};

/* what is read */
struct input {
	struct series_set set;
	struct table table;
	struct complainer complainer;
	const struct options *options;
	char boot_id[64];	/* of the snapshots in @set */
	char clock_id[64];	/* of the boot that @offset belongs to */
	double offset;		/* time of day minus time since boot, in seconds */
	double first;		/* time of the first snapshot, below 0 before it */
	double from;		/* time of the first one that counts */
	uint64_t available;
	uint64_t complaints;
	uint64_t skipped;	/* snapshots that were damaged or not later */
};

static const struct word format_words[] = {
	{ "text", FORMAT_TEXT },
	{ "json", FORMAT_JSON },
	{ NULL, 0 },
};

static const char usage[] =
"Usage: allocinfo leak [options] FILE [FILTER]\n"
"       allocinfo leak [options] --live TIME [FILTER]\n"
"Say which call sites leak: what they hold rises steadily, is not given back under\n"
"memory pressure, and still rises. FILE is one of `allocinfo record`, or text with a\n"
"line \"# time SECONDS\" before each copy of /proc/allocinfo; - is standard input.\n"
"FILTER: words of dynamic debug, such as file 'fs/*' func 'alloc_*' module xfs\n"
"\n"
"Options:\n"
"  -l, --live TIME      watch this machine for TIME: 10m, 3h. SIGINT ends it early.\n"
"  -i, --interval TIME  time between two snapshots of --live (default: TIME / 60)\n"
"      --drop-caches    let the kernel drop its caches at the end of --live: what shrinks\n"
"                       then is a cache. This slows the machine down for a while.\n"
"      --last TIME      use only the last TIME of FILE: a leak must have lasted\n"
"                       half of the time that is used\n"
"      --until TIME     ignore what is later than TIME after the first snapshot\n"
"  -n, --top N          print at most N call sites, 0 for all (default: 20)\n"
"  -a, --all            also print the call sites that grew but are no leaks, and\n"
"                       why\n"
"      --format FORMAT  text (default) or json\n"
"  -o, --output FILE    write to FILE, which only its owner can read\n"
"  -f, --force          overwrite FILE\n"
"      --proc DIR       read allocinfo and meminfo in DIR instead of /proc\n"
HELP_OPTIONS
"\n"
"Exit status, which differs from that of other commands:\n"
"  0   nothing leaks\n"
"  1   at least one call site leaks\n"
"  2   no leak was found, but a part of the data is damaged\n"
"  3   the output could not be written\n"
"  4   unknown: there are too few snapshots, or they could not be read\n"
"  64  wrong options\n";

enum { OPT_DROP = OPT_OWN, OPT_LAST, OPT_UNTIL };

static const struct option long_options[] = {
	{ "live", required_argument, NULL, 'l' },
	{ "interval", required_argument, NULL, 'i' },
	{ "drop-caches", no_argument, NULL, OPT_DROP },
	{ "last", required_argument, NULL, OPT_LAST },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "top", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, 'a' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static bool found;

/* Options */

static void take_option(struct options *options, int opt)
{
	switch (opt) {
	case 'l':
		options->live = seconds_value(optarg);
		break;
	case 'i':
		options->interval = seconds_value(optarg);
		break;
	case OPT_DROP:
		options->drop = true;
		break;
	case OPT_LAST:
		options->last = seconds_value(optarg);
		break;
	case OPT_UNTIL:
		options->until = seconds_value(optarg);
		break;
	case 'a':
		options->all = true;
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

	while ((opt = getopt_long(argc, argv, "l:i:n:ao:fhV", long_options, NULL)) != -1)
		take_option(options, opt);
	if (!options->live && optind < argc)
		options->file = argv[optind++];
	if (!options->live && !options->file)
		usage_error("either a file or --live must be given", "");
	filter_value(&options->query, argv + optind);
	if (options->live && (options->last || options->until))
		usage_error("--last and --until are for a file", "");
	if (!options->live && (options->drop || options->interval))
		usage_error("--drop-caches and --interval are for --live", "");
	if (!options->interval)
		options->interval = max_u64(1, options->live / LIVE_SNAPSHOTS);
	if (options->live && options->live / options->interval < TREND_POINTS_MIN)
		usage_error("the interval is too long for so short a time", "");
}

/* Messages */

static void message(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, what);
}

/* An exit with EXIT_CANNOT must not look like a leak. */
static void no_false_alarm(int code, void *data)
{
	(void)data;
	if (code != EXIT_CANNOT || found)
		return;
	fflush(NULL);
	_exit(EXIT_UNKNOWN);
}

/* Reading */

/* MemAvailable in bytes, or 0. */
static uint64_t available(const char *meminfo)
{
	static const char name[] = "MemAvailable:";
	const char *at = strstr(meminfo, name), *end;
	uint64_t kib;

	if (!at)
		return 0;
	at += strlen(name);
	at += strspn(at, " \t");
	return number_take(at, &kib, &end) && kib < UINT64_MAX >> 10 ? kib << 10 : 0;
}

/* Keep the call sites that match the query. */
static void filter(struct table *table, const struct query *query)
{
	size_t i, nr = 0;

	for (i = 0; i < table->nr; i++) {
		if (query_matches(query, &table->sites[i]))
			table->sites[nr++] = table->sites[i];
	}
	table->nr = nr;
}

static const char *boot_of(const struct snap *snap)
{
	return snap->header ? snap->header->boot_id : "";
}

static bool is_other_boot(const struct input *input, const struct snap *snap)
{
	return input->first < 0 ||
	       strncmp(boot_of(snap), input->clock_id, sizeof(input->clock_id) - 1);
}

/*
 * Time of a snapshot: of day for the first one of a boot, and from there on by the time since
 * boot, which goes on evenly if somebody sets the clock.
 */
static double time_of(struct input *input, const struct snap *snap)
{
	if (is_other_boot(input, snap)) {
		snprintf(input->clock_id, sizeof(input->clock_id), "%s", boot_of(snap));
		input->offset = ((double)snap->time - (double)snap->boottime) / NSEC;
	}
	return input->offset + snap->boottime / NSEC;
}

/* Counters begin anew when a machine boots, so what was before is of no use. */
static void forget_other_boot(struct input *input, const struct snap *snap)
{
	const char *id = boot_of(snap);

	if (input->set.snapshots && strncmp(id, input->boot_id, sizeof(input->boot_id) - 1)) {
		fprintf(stderr, "%s: booted after %" PRIu64 " snapshots, which are left out\n",
			program_invocation_short_name, input->set.snapshots);
		series_free(&input->set);
	}
	snprintf(input->boot_id, sizeof(input->boot_id), "%s", id);
}

/* Returns false if the snapshot and all after it are too late. */
static bool take_snapshot(struct input *input, const struct snap *snap)
{
	const struct options *options = input->options;
	double time = time_of(input, snap);

	if (input->first < 0)
		input->first = time;
	if (options->until && time > input->first + options->until)
		return false;
	if (time < input->from)
		return true;
	forget_other_boot(input, snap);
	table_set_text(&input->table, snap->allocinfo, snap->allocinfo_size);
	if (!table_parse(&input->table, options->file, &input->complainer)) {
		input->skipped++;
		return true;
	}
	filter(&input->table, &options->query);
	if (!series_add(&input->set, time, &input->table))
		input->skipped++;
	input->available = available(snap->meminfo);
	return true;
}

/* --last means the last boot: its clock may be behind that of the boot before. */
static bool time_only(struct input *input, const struct snap *snap)
{
	bool boot = is_other_boot(input, snap);
	double time = time_of(input, snap);
	const struct options *options = input->options;

	if (input->first < 0)
		input->first = time;
	if (options->until && time > input->first + options->until)
		return false;
	input->from = boot ? time - options->last : fmax(input->from, time - options->last);
	return true;
}

typedef bool take_fn(struct input *input, const struct snap *snap);

static bool read_text(struct input *input, take_fn *take)
{
	struct snap_text *reader = snap_text_open(input->options->file);
	struct snap snap;

	if (!reader)
		return false;
	while (snap_text_next(reader, &snap) && take(input, &snap))
		;
	return snap_text_close(reader);
}

static bool read_file(struct input *input, take_fn *take)
{
	struct snap_reader *reader;
	struct snap snap;

	if (!snap_is_file(input->options->file))
		return read_text(input, take);
	reader = snap_open(input->options->file, &input->complainer);
	if (!reader)
		return false;
	while (snap_next(reader, &snap) && take(input, &snap))
		;
	snap_close(reader);
	return true;
}

/* With --last, the first of two passes finds out where that begins. */
static bool read_all(struct input *input)
{
	const struct options *options = input->options;
	bool good = true;

	if (options->last && !strcmp(options->file, "-"))
		usage_error("--last needs a file that can be read twice", "");
	if (options->last)
		good = read_file(input, time_only);
	input->complaints = 0;
	if (!good || !read_file(input, take_snapshot)) {
		message(options->file, strerror(errno));
		return false;
	}
	if (!input->set.snapshots)
		message(options->file, "there are no snapshots");
	return true;
}

/* Live */

static void progress(const struct input *input, double left)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%" PRIu64 " snapshots, %zu call sites, %.0f s left  ",
			input->set.snapshots, input->set.nr, fmax(0, left));
}

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / NSEC;
}

static void take_live(struct input *input, struct source *source, double time)
{
	char meminfo[8192];

	if (source_read(source, &input->table) != PROFILING_ON) {
		input->skipped++;
		return;
	}
	filter(&input->table, &input->options->query);
	series_add(&input->set, time, &input->table);
	if (source_file(source, "meminfo", meminfo, sizeof(meminfo)) > 0)
		input->available = available(meminfo);
}

/*
 * Write dirty pages back, because they cannot be dropped, then drop page cache and slab
 * objects such as dentries. If that is refused, the result has no such proof.
 */
static void drop(struct input *input, struct source *source, double offset)
{
	bool good = false;
	char *path;
	int fd;

	if (asprintf(&path, "%s/sys/vm/drop_caches", input->options->common.proc) < 0)
		return;
	sync();
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		good = write(fd, "3", 1) == 1;
		close(fd);
	}
	if (!good)
		message(path, strerror(errno));
	free(path);
	if (!good)
		return;
	/* dentries and inodes are freed after a grace period of RCU */
	sleep(DROP_SECONDS);
	take_live(input, source, now(CLOCK_BOOTTIME) + offset);
}

/* Times are those of a clock that is never set, moved to the time of day at the start. */
static void watch_source(struct input *input, struct source *source, int signals, int timer)
{
	double start = now(CLOCK_BOOTTIME), offset = now(CLOCK_REALTIME) - start, time;

	do {
		time = now(CLOCK_BOOTTIME);
		take_live(input, source, time + offset);
		progress(input, start + input->options->live - time);
	} while (time + input->options->interval / 2.0 < start + input->options->live &&
		 turns_wait(signals, timer));
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (input->options->drop && input->set.snapshots)
		drop(input, source, offset);
}

static bool watch(struct input *input)
{
	struct source source;
	enum profiling state = source_open(&source, input->options->common.proc);
	int signals, timer;
	sigset_t set;

	if (state == PROFILING_ON)
		state = source_read(&source, &input->table);
	if (state != PROFILING_ON) {
		source_explain(&source, state);
		source_close(&source);
		return false;
	}
	source.to = &input->complainer;
	signals = signals_open(&set);
	timer = turns_start(input->options->interval);
	if (signals >= 0 && timer >= 0)
		watch_source(input, &source, signals, timer);
	else
		message("cannot wait", strerror(errno));
	close(timer);
	close(signals);
	source_close(&source);
	return input->set.snapshots;
}

/* The result */

static void read_contexts(struct contexts *contexts, const struct options *options)
{
	int fd;

	if (!options->live || contexts_open(options->common.proc, CONTEXTS_READ, &fd) != CAPTURE_ON)
		return;
	if (!contexts_read(contexts, fd))
		contexts_parse(contexts, "alloc_tags.ctx", &(struct complainer){ 0 });
	close(fd);
}

static bool print(const struct leaks *leaks, const struct options *options, FILE *out)
{
	struct contexts contexts = { 0 };

	read_contexts(&contexts, options);
	(options->format == FORMAT_JSON ? leaks_json : leaks_text)(leaks, &contexts,
								   options->common.top,
								   options->all, out);
	contexts_free(&contexts);
	return outfile_close(out, options->common.output, true);
}

static int result(struct input *input, FILE *out)
{
	struct leaks leaks;
	int code = EXIT_GOOD;

	series_clean(&input->set);
	leaks_find(&input->set, &leaks);
	leaks.available = input->available;
	if (!print(&leaks, input->options, out))
		code = EXIT_OUTPUT;
	else if (leaks.found)
		code = FOUND;
	else if (!leaks.enough)
		code = EXIT_UNKNOWN;
	else if (input->complaints || input->skipped)
		code = EXIT_LOST;
	found = leaks.found;
	leaks_free(&leaks);
	return code;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * A recording of weeks must not be lost because its name, or that of one of its parts, was
 * given twice.
 */
static bool output_is_input(const struct options *options)
{
	const char *output = options->common.output;

	if (!options->file || !output ||
	    !(snap_is_file(options->file) ? part_same : same_file)(options->file, output))
		return false;
	message(output, "is an input file");
	return true;
}

/* The output is opened before: a run of hours must not end with a wrong path. */
static int run(struct input *input)
{
	const struct options *options = input->options;
	FILE *out;

	if (output_is_input(options))
		return EXIT_OUTPUT;
	/* A file that cannot be read must not cost the old output. */
	if (!options->live && !read_all(input))
		return EXIT_UNKNOWN;
	out = outfile_stream(options->common.output, options->common.force);
	if (!out)
		return EXIT_OUTPUT;
	if (options->live && !watch(input))
		return EXIT_UNKNOWN;
	return result(input, out);
}

/* Interface */

/**
 * cmd_leak - say which call sites leak
 * @argc: number of words
 * @argv: name and options
 *
 * Return: exit code; see the usage.
 */
int cmd_leak(int argc, char **argv)
{
	struct options options = { .common.proc = PROC_DIR, .common.top = TOP };
	struct input input = { .options = &options, .first = -1, .from = -INFINITY };
	int code;

	on_exit(no_false_alarm, NULL);
	take_options(&options, argc, argv);
	input.complainer = (struct complainer){ complaints_print, &input.complaints };
	code = run(&input);
	complaints_end(input.complaints);
	series_free(&input.set);
	table_free(&input.table);
	query_free(&options.query);
	return code;
}
