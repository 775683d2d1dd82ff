// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmonlog: write down what /dev/kmon gives, until it is told to stop.
 *
 * The device is started, read and stopped by one thread. What it gives goes to the
 * output as it comes, but in whole records only, at every end this program comes
 * to. A signal, or the end of the time, stops the device, and then what it still
 * has is fetched; a second signal does without the rest.
 *
 * Signals are read from a file, so they interrupt nothing, and whatever this waits
 * for, it waits for them, too: a reader of a pipe that does not read must not keep
 * it from ending.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "number.h"
#include "outfile.h"
#include "output.h"
#include "pids.h"
#include "record.h"
#include "replace.h"
#include "signals.h"
#include "status.h"
#include "util.h"

#define KMONLOG_VERSION	"1"

#define DEFAULT_DEVICE	"/dev/kmon"
#define DEFAULT_PIDS	"pids.dat"
#define DEFAULT_SITES	"sites.dat"
#define DEFAULT_TAGS	"/sys/kernel/debug/kmon/tags"

#define READ_SIZE	(1024 * 1024)
/* between two looks at a device that had nothing, or not much */
#define PAUSE_MS	10
#define MS_MAX		1000000000000u
#define NS_PER_MS	1000000u

/* Data */

static struct {
	const char *device;
	const char *output;
	const char *pids;
	const char *sites;
	const char *tags;
	uint64_t buffer;
	uint64_t ms;
	uint64_t max;
	uint32_t sources;
	bool sites_given;
	bool force;
	bool quiet;
} options = {
	.device = DEFAULT_DEVICE,
	.tags = DEFAULT_TAGS,
	.sources = KMON_SOURCES_DEFAULT,
};

static struct {
	int device;
	int signals;
	sigset_t signal_set;	/* that come from there */
	uint64_t deadline;	/* 0: none */
	uint64_t records;	/* that were read */
	bool stopped;
	bool give_up;		/* told to stop once more */
	bool failed;
	bool unwritten;		/* a file of names */
	struct output output;
	struct pids pids;
	struct replace to_pids;
	struct replace to_sites;
	struct kmon_stats before;
	struct kmon_stats after;
	size_t fill;		/* of the buffer: what is not a whole record yet */
} rec;

static uint8_t buffer[READ_SIZE];

/* Messages */

static bool __printf(1, 2) error(const char *format, ...)
{
	va_list args;

	fputs("kmonlog: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* The device */

static bool device_error(const char *what)
{
	rec.failed = true;
	return error("%s: cannot %s: %s", options.device, what, strerror(errno));
}

static bool open_device(void)
{
	rec.device = open(options.device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (rec.device < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return error("%s: %s; is this a kernel with CONFIG_KMON?", options.device,
			     strerror(errno));
	if (rec.device < 0 && (errno == EACCES || errno == EPERM))
		return error("%s: %s%s", options.device, strerror(errno),
			     geteuid() ? "; this takes root" : "");
	if (rec.device < 0)
		return error("%s: %s", options.device, strerror(errno));
	if (!ioctl(rec.device, KMON_STATS, &rec.before))
		return true;
	if (errno == ENOTTY || errno == EINVAL)
		return error("%s is not a kmon device", options.device);
	return device_error("ask for its counts");
}

static bool set_buffer(void)
{
	long size = options.buffer;

	return !size || !ioctl(rec.device, KMON_BUFFSIZE, &size) ||
	       device_error("set the size of the buffer");
}

static bool set_sources(void)
{
	uint32_t sources = options.sources;

	if (!ioctl(rec.device, KMON_SOURCES, &sources))
		return true;
	if (errno == EINVAL || errno == EOPNOTSUPP)
		return error("--sources: this kernel does not have all of them");
	return device_error("choose sources");
}

static bool start(void)
{
	return !ioctl(rec.device, KMON_START) || device_error("start");
}

static void stop(void)
{
	if (rec.stopped)
		return;
	rec.stopped = true;
	if (ioctl(rec.device, KMON_STOP))
		device_error("stop");
}

/* Waiting */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* The first signal stops the device, the next one all. */
static void take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(rec.signals, &info, sizeof(info)) < 0)
		return;
	if (rec.stopped)
		rec.give_up = true;
	stop();
}

static int ms_left(void)
{
	uint64_t left;

	if (!rec.deadline || rec.stopped)
		return -1;
	left = sat_sub(rec.deadline, now());
	left = left / NS_PER_MS + !!(left % NS_PER_MS);
	return left < INT_MAX ? left : INT_MAX;
}

/*
 * Until there is one of @events at @fd, a signal, or the end of the time, which is
 * also looked after here. Returns the events.
 */
static short wait_for(int fd, short events, int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = rec.signals, .events = POLLIN },
		{ .fd = fd, .events = events },
	};
	int left = ms_left();

	if (timeout < 0 || (left >= 0 && left < timeout))
		timeout = left;
	if (poll(fds, 2, timeout) < 0 && errno != EINTR) {
		device_error("wait");
		rec.give_up = true;
	}
	if (fds[0].revents)
		take_signal();
	if (!ms_left())
		stop();
	return fds[1].revents;
}

/* For the output: is it worth to try? */
static bool wait_for_output(int fd)
{
	short events = 0;

	while (!events && !rec.give_up)
		events = wait_for(fd, POLLOUT, -1);
	if (!events)
		error("%s takes nothing, the rest is dropped", rec.output.name);
	return events;
}

/* Recording */

/* What was read goes on, but for the part of a record at the end. */
static void pass_on(void)
{
	size_t whole = record_whole(buffer, rec.fill);
	size_t written = output_put(&rec.output, buffer, whole);

	rec.records += record_count(buffer, whole);
	pids_see_records(&rec.pids, buffer, written);
	rec.fill -= whole;
	memmove(buffer, buffer + whole, rec.fill);
}

/* Returns how much it was; 0 if there was nothing, or can be nothing any more. */
static size_t transfer(void)
{
	ssize_t n;

	do
		n = read(rec.device, buffer + rec.fill, sizeof(buffer) - rec.fill);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		device_error("read");
	if (n <= 0)
		return 0;
	rec.fill += n;
	pass_on();
	return n;
}

static bool go_on(void)
{
	return !rec.failed && !rec.give_up && !rec.output.failed && !rec.output.full;
}

/*
 * Who asks an empty device whether there is something makes it look into its rings.
 * There is what this program did to write the last records down: without a pause it
 * would go on for ever about itself. What is much was not made by that alone, and is
 * fetched before it is too much.
 */
static size_t much(void)
{
	uint64_t size = options.buffer ? options.buffer : rec.before.buff_size;

	return min_u64(size, READ_SIZE) / 4;
}

static void record(void)
{
	while (go_on() && !rec.stopped) {
		if (!wait_for(rec.device, POLLIN, -1) || rec.stopped)
			continue;
		/* POLLERR, of a loss, may stand there with nothing to be read. */
		if (transfer() < much() && go_on() && !rec.stopped)
			wait_for(-1, 0, PAUSE_MS);
	}
	stop();
	while (go_on() && transfer())
		wait_for(-1, 0, 0);
}

/* What the kernel says must be what came here. */
static void check_counts(void)
{
	if (ioctl(rec.device, KMON_STATS, &rec.after)) {
		device_error("ask for its counts");
		return;
	}
	if (rec.fill) {
		error("%s: ended within a record", options.device);
		rec.failed = true;
	}
	if (rec.after.read != rec.records) {
		error("%s: gave %llu records, %" PRIu64 " came here", options.device,
		      (unsigned long long)rec.after.read, rec.records);
		rec.failed = true;
	}
}

/* Is anything left in the device that was wanted, and that could have been written? */
static bool left_behind(void)
{
	return rec.after.unread && !rec.output.full &&
	       (rec.give_up || !rec.output.failed);
}

/* Blobs that no header can describe, from anyone, while this ran */
static uint64_t refused(void)
{
	return rec.after.refused - rec.before.refused;
}

static void summarize(void)
{
	unsigned long long lost = rec.after.lost;

	if (left_behind())
		error("%llu records were not fetched",
		      (unsigned long long)rec.after.unread);
	if (options.quiet && !lost && !refused())
		return;
	error("%" PRIu64 " records, %" PRIu64 " bytes; %llu records lost, %" PRIu64 " refused",
	      rec.output.records, rec.output.bytes, lost, refused());
	if (rec.output.full)
		error("-m %" PRIu64 " is reached; %" PRIu64 " records more are left out",
		      options.max,
		      sat_add(rec.after.unread, rec.records - rec.output.records));
	if (lost)
		error("a larger buffer loses less: -b");
}

/* Files beside the log */

static void copy(FILE *from, FILE *to)
{
	char part[4096];
	size_t n;

	do {
		n = fread(part, 1, sizeof(part), from);
		fwrite(part, 1, n, to);
	} while (n);
}

/* Without profiling no line is known, and that is no failure unless it was asked for. */
static bool write_sites(void)
{
	FILE *from = fopen(options.tags, "re"), *to;
	bool ok;

	if (!from) {
		error("%s: %s; allocations will have no names of lines", options.tags,
		      strerror(errno));
		return !options.sites_given;
	}
	to = replace_begin(&rec.to_sites);
	if (!to) {
		fclose(from);
		return false;
	}
	copy(from, to);
	ok = !ferror(from) || error("%s: cannot be read to its end", options.tags);
	fclose(from);
	return replace_end(&rec.to_sites, to) && ok;
}

static bool write_pids(void)
{
	pids_look_again(&rec.pids);
	return pids_write(&rec.pids, &rec.to_pids);
}

/* The log is complete: a pipe may have a reader that does not read, let a signal end it. */
static bool write_beside(const struct replace *to, bool (*write_it)(void))
{
	bool in_place = replace_in_place(to), ok;

	if (in_place)
		sigprocmask(SIG_UNBLOCK, &rec.signal_set, NULL);
	ok = write_it();
	if (in_place)
		sigprocmask(SIG_BLOCK, &rec.signal_set, NULL);
	return ok;
}

/*
 * The log also has what others asked for, and that has names, too. But it is only a
 * failure not to write those of what this program was asked for.
 */
static void write_names(void)
{
	bool sched = options.sources & KMON_SOURCE_SCHED;
	bool alloc = options.sources & KMON_SOURCE_ALLOC;

	if ((sched || rec.pids.nr) && !write_beside(&rec.to_pids, write_pids) && sched)
		rec.unwritten = true;
	if ((alloc || rec.pids.sites) && !write_beside(&rec.to_sites, write_sites) &&
	    alloc)
		rec.unwritten = true;
	pids_free(&rec.pids);
	replace_close(&rec.to_pids);
	replace_close(&rec.to_sites);
}

/* From here on the directories are known: their names may lead elsewhere at the end. */
static bool names_possible(void)
{
	replace_open(&rec.to_pids, options.pids);
	replace_open(&rec.to_sites, options.sites);
	if (options.sources & KMON_SOURCE_SCHED && !replace_possible(&rec.to_pids))
		return false;
	return !(options.sources & KMON_SOURCE_ALLOC) || replace_possible(&rec.to_sites);
}

/* Files that must not be the same */

/* Without a @path it is standard output. A link is a file of its own: it is replaced. */
static bool is_there(const char *path, struct stat *st)
{
	return !(path ? lstat(path, st) : fstat(STDOUT_FILENO, st));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Neither is there: will they be? */
static bool same_name(const char *a, const char *b)
{
	char *dir_a = need_string(a), *dir_b = need_string(b);
	struct stat st_a, st_b;
	bool same = !strcmp(last_part(a), last_part(b)) &&
		    !stat(dirname(dir_a), &st_a) && !stat(dirname(dir_b), &st_b) &&
		    st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;

	free(dir_a);
	free(dir_b);
	return same;
}

/* Several things may go to /dev/null, but not to a file. */
static bool same_file(const char *a, const char *b)
{
	struct stat st_a, st_b;
	bool there_a = is_there(a, &st_a), there_b = is_there(b, &st_b);

	if (there_a && there_b)
		return (S_ISREG(st_a.st_mode) || S_ISLNK(st_a.st_mode)) &&
		       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
	return !there_a && !there_b && a && b && same_name(a, b);
}

/* Also if there seems to be no need for one of them: what others log may need it. */
static void need_different(const char *a, const char *b)
{
	if (!same_file(a, b))
		return;
	error("%s: is also where names are to go, see -p and --sites",
	      a ? a : "standard output");
	exit(EXIT_USAGE);
}

/* Command line */

static void usage(FILE *out)
{
	fputs("Usage: kmonlog [-d KDEV] [-b BUFSIZ] [-o OUTFIL] [-t MSTEST] [-m BMAX]\n"
	      "               [-p PIDFIL] [-h]\n"
	      "Write down what the kernel logs to /dev/kmon, until SIGINT (Ctrl-C) or SIGTERM.\n"
	      "\n"
	      "  -d, --device KDEV    the kmon device (" DEFAULT_DEVICE ")\n"
	      "  -b, --buffer BUFSIZ  size of its buffer, from 4k to 1G, rounded up to a power\n"
	      "                       of two (as it is: 1M)\n"
	      "  -o, --output OUTFIL  where to (standard output)\n"
	      "  -f, --force          overwrite OUTFIL\n"
	      "  -t, --time MSTEST    stop after so many milliseconds (never)\n"
	      "  -m, --max BMAX       stop before there are more than BMAX bytes (never)\n"
	      "  -p, --pids PIDFIL    where to write the names of tasks (" DEFAULT_PIDS " beside\n"
	      "                       OUTFIL if that is a file, else here); is replaced if it\n"
	      "                       is there\n"
	      "  -s, --sources LIST   what to log beside what others add: of\n"
	      "                       sched,alloc, or none (sched)\n"
	      "      --sites FILE     with alloc: where to write the names of lines of code\n"
	      "                       (" DEFAULT_SITES ", as with -p); is replaced if it is there\n"
	      "      --tags FILE      where the kernel names them\n"
	      "                       (" DEFAULT_TAGS ")\n"
	      "  -q, --quiet          no counts at the end, unless some were lost or refused\n"
	      "  -h, --help           this text\n"
	      "  -V, --version        version\n"
	      "\n"
	      "Sizes may end with k, M or G.\n"
	      "\n"
	      "Exit status:\n"
	      "  0  logged, and no record was lost; blobs that were refused never were records\n"
	      "  1  nothing could be logged, or it came to a bad end\n"
	      "  2  logged, but records were lost, or not fetched\n"
	      "  3  the output cannot be written: what is in a file is whole records\n"
	      "  64 wrong options\n", out);
}

static void bad_option(const char *option, const char *word, const char *wanted)
{
	error("%s %s: not %s", option, word, wanted);
	exit(EXIT_USAGE);
}

static uint64_t size_option(const char *option, uint64_t max)
{
	uint64_t size;

	if (!size_parse(optarg, max, &size) || !size)
		bad_option(option, optarg, "a size");
	return size;
}

static uint64_t buffer_option(void)
{
	uint64_t size;

	if (!size_parse(optarg, KMON_BUFFSIZE_MAX, &size) || size < KMON_BUFFSIZE_MIN)
		bad_option("-b", optarg, "a size from 4k to 1G");
	return size;
}

static uint64_t ms_option(void)
{
	uint64_t ms;

	if (!number_parse(optarg, MS_MAX, &ms) || !ms)
		bad_option("-t", optarg, "a number of milliseconds");
	return ms;
}

static uint32_t source_of(const char *word)
{
	if (!strcmp(word, "sched"))
		return KMON_SOURCE_SCHED;
	if (!strcmp(word, "alloc"))
		return KMON_SOURCE_ALLOC;
	return 0;
}

static uint32_t sources_option(void)
{
	char *list = need_string(optarg), *left = list, *word;
	uint32_t sources = 0;

	while (strcmp(list, "none") && (word = strsep(&left, ","))) {
		if (!source_of(word))
			bad_option("--sources", optarg, "a list of sched,alloc, or none");
		sources |= source_of(word);
	}
	free(list);
	return sources;
}

enum long_option {
	OPT_SITES = 256,
	OPT_TAGS,
};

static const struct option long_options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "time", required_argument, NULL, 't' },
	{ "max", required_argument, NULL, 'm' },
	{ "pids", required_argument, NULL, 'p' },
	{ "sources", required_argument, NULL, 's' },
	{ "sites", required_argument, NULL, OPT_SITES },
	{ "tags", required_argument, NULL, OPT_TAGS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static void take_option(int opt)
{
	switch (opt) {
	case 'd':
		options.device = optarg;
		break;
	case 'b':
		options.buffer = buffer_option();
		break;
	case 'o':
		options.output = optarg;
		break;
	case 'f':
		options.force = true;
		break;
	case 't':
		options.ms = ms_option();
		break;
	case 'm':
		options.max = size_option("-m", INT64_MAX);
		break;
	case 'p':
		options.pids = optarg;
		break;
	case 's':
		options.sources = sources_option();
		break;
	case OPT_SITES:
		options.sites = optarg;
		options.sites_given = true;
		break;
	case OPT_TAGS:
		options.tags = optarg;
		break;
	case 'q':
		options.quiet = true;
		break;
	case 'h':
		usage(stdout);
		exit(EXIT_GOOD);
	case 'V':
		puts("kmonlog " KMONLOG_VERSION);
		exit(EXIT_GOOD);
	default:
		fputs("kmonlog: see --help\n", stderr);
		exit(EXIT_USAGE);
	}
}

/* /dev is no place for what goes with /dev/null. */
static char *beside_output(const char *name)
{
	bool file = options.output && !outfile_in_place(AT_FDCWD, options.output);

	return path_beside(file ? options.output : NULL, name);
}

static void take_options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "d:b:o:ft:m:p:s:qhV", long_options,
				  NULL)) != -1)
		take_option(opt);
	if (optind < argc) {
		error("what is this: %s; see --help", argv[optind]);
		exit(EXIT_USAGE);
	}
	if (!options.pids)
		options.pids = beside_output(DEFAULT_PIDS);
	if (!options.sites)
		options.sites = beside_output(DEFAULT_SITES);
	need_different(options.output, options.pids);
	need_different(options.output, options.sites);
	need_different(options.pids, options.sites);
}

static bool catch_signals(void)
{
	rec.signals = signals_open(&rec.signal_set);
	return rec.signals >= 0 || error("signalfd: %s", strerror(errno));
}

static int exit_status(void)
{
	if (rec.output.failed || rec.unwritten)
		return EXIT_OUTPUT;
	if (rec.failed)
		return EXIT_CANNOT;
	return rec.after.lost || left_behind() ? EXIT_LOST : EXIT_GOOD;
}

/* Nothing is made before it is clear that there is something to log. */
static bool prepare(void)
{
	return catch_signals() && open_device() && set_buffer() && set_sources();
}

int main(int argc, char **argv)
{
	take_options(argc, argv);
	hash_seed_init();
	if (!prepare())
		return EXIT_CANNOT;
	rec.output.max = options.max;
	rec.output.wait = wait_for_output;
	if (!names_possible() || !output_open(&rec.output, options.output, options.force))
		return EXIT_OUTPUT;
	if (!start()) {
		output_undo(&rec.output);
		return EXIT_CANNOT;
	}
	if (!options.quiet)
		error("started");
	if (options.ms)
		rec.deadline = now() + options.ms * NS_PER_MS;
	record();
	check_counts();
	output_close(&rec.output);
	write_names();
	summarize();
	return exit_status();
}
