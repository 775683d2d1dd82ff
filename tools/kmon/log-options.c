// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of kmonlog, see log.h.
 */
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kmon.h>

#include "log.h"
#include "number.h"
#include "outfile.h"
#include "status.h"
#include "version.h"

#define DEFAULT_DEVICE	"/dev/kmon"
#define DEFAULT_PIDS	"pids.dat"
#define DEFAULT_SITES	"sites.dat"
#define DEFAULT_TAGS	"/sys/kernel/debug/kmon/tags"

#define MS_MAX		1000000000000u

struct log_options options = {
	.device = DEFAULT_DEVICE,
	.tags = DEFAULT_TAGS,
	.sources = KMON_SOURCES_DEFAULT,
};

/* Internals: files that must not be the same */

/* Without a @path, look at standard output. A link counts as a file: it is replaced. */
static bool is_there(const char *path, struct stat *st)
{
	return !(path ? lstat(path, st) : fstat(STDOUT_FILENO, st));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Will both paths name the same file, although neither exists yet? */
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

/* Several outputs may go to /dev/null, but not to the same file. */
static bool same_file(const char *a, const char *b)
{
	struct stat st_a, st_b;
	bool there_a = is_there(a, &st_a), there_b = is_there(b, &st_b);

	if (there_a && there_b)
		return (S_ISREG(st_a.st_mode) || S_ISLNK(st_a.st_mode)) &&
		       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
	return !there_a && !there_b && a && b && same_name(a, b);
}

/* Check all pairs: records of other writers may need each file of names. */
static void need_different(const char *a, const char *b)
{
	if (!same_file(a, b))
		return;
	log_error("%s: is also a file for names, see -p and --sites",
		  a ? a : "standard output");
	exit(EXIT_USAGE);
}

/* Internals: options */

static void usage(FILE *out)
{
	fputs("Usage: kmonlog [-d KDEV] [-b BUFSIZ] [-o OUTFIL] [-t MSTEST] [-m BMAX]\n"
	      "               [-p PIDFIL] [-h]\n"
	      "Write the records of /dev/kmon to a log, until SIGINT (Ctrl-C) or SIGTERM.\n"
	      "\n"
	      "  -d, --device KDEV    the kmon device (default: " DEFAULT_DEVICE ")\n"
	      "  -b, --buffer BUFSIZ  size of the kernel's buffer, from 4k to 1G, rounded up to\n"
	      "                       a power of two (default: leave it, initially 1M)\n"
	      "  -o, --output OUTFIL  the log (default: standard output)\n"
	      "  -f, --force          overwrite OUTFIL\n"
	      "  -t, --time MSTEST    stop after MSTEST milliseconds\n"
	      "  -m, --max BMAX       stop before the log exceeds BMAX bytes\n"
	      "  -p, --pids PIDFIL    file for the names of tasks, replaced if it exists\n"
	      "                       (default: " DEFAULT_PIDS " in the directory of OUTFIL if\n"
	      "                       that is a file, else in the current directory)\n"
	      "  -s, --sources LIST   sources to switch on: a list of sched,alloc, or none\n"
	      "                       (default: sched); other programs may add records as well\n"
	      "      --sites FILE     with alloc: file for the names of lines of code, replaced\n"
	      "                       if it exists (default: " DEFAULT_SITES ", placed as for -p)\n"
	      "      --tags FILE      file in which the kernel names lines of code\n"
	      "                       (default: " DEFAULT_TAGS ")\n"
	      "  -q, --quiet          do not print that recording started, and print no counts\n"
	      "                       at the end unless records were lost or refused\n"
	      "  -h, --help           print this text\n"
	      "  -V, --version        print the version\n"
	      "\n"
	      "Sizes may end with k, M or G.\n"
	      "\n"
	      "Exit status:\n"
	      "  0   logged, and no record was lost; refused blobs never became records\n"
	      "  1   nothing could be logged, or logging failed\n"
	      "  2   logged, but records were lost or not fetched\n"
	      "  3   the output could not be written: a file contains whole records only\n"
	      "  64  wrong options\n", out);
}

static void bad_option(const char *option, const char *word, const char *wanted)
{
	log_error("%s %s: not %s", option, word, wanted);
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
		end_output();
	case 'V':
		version_print("kmonlog");
		end_output();
	default:
		fputs("kmonlog: see --help\n", stderr);
		exit(EXIT_USAGE);
	}
}

/* If the log goes to a device, write the names into the current directory, not /dev. */
static char *beside_output(const char *name)
{
	bool file = options.output && !outfile_in_place(AT_FDCWD, options.output);

	return path_beside(file ? options.output : NULL, name);
}

/* Interface */

/**
 * log_error - print a message
 * @format: format, as for printf()
 *
 * Return: false.
 */
bool __printf(1, 2) log_error(const char *format, ...)
{
	va_list args;

	fputs("kmonlog: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/**
 * log_options_take - read the command line
 * @argc: number of arguments
 * @argv: arguments
 *
 * Exits if the options are wrong.
 */
void log_options_take(int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "d:b:o:ft:m:p:s:qhV", long_options,
				  NULL)) != -1)
		take_option(opt);
	if (optind < argc) {
		log_error("unexpected argument: %s; see --help", argv[optind]);
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
