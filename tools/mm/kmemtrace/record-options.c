// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of kmemtraced, see record.h.
 */
#include <getopt.h>
#include <stdlib.h>

#include <linux/kmemtrace.h>

#include "number.h"
#include "record.h"
#include "status.h"

static void usage(FILE *out)
{
	fputs("Usage: kmemtraced [OPTION]...\n"
	      "Record what kmemtrace tells of the kernel's allocations, until SIGINT (Ctrl-C)\n"
	      "or SIGTERM; a second one does without what the kernel still has. Recording is\n"
	      "switched on for as long as this runs; if it was on before, it is left on.\n"
	      "\n"
	      "  -o, --output DIR      where to (the current folder): a file cpu<n>.out for\n"
	      "                        each CPU, and header. Nobody else may write there.\n"
	      "  -f, --force           overwrite the trace that is there\n"
	      "  -F, --features LIST   what to record with each event: of time,pid,tag, or all\n"
	      "                        or none; without it as the kernel is set\n"
	      "  -s, --seconds N       stop after N seconds\n"
	      "  -m, --max BMAX        stop before there are more than BMAX bytes of records;\n"
	      "                        BMAX may end with k, M or G\n"
	      "  -r, --rest            take what a recording that has ended left, and end\n"
	      "  -S, --stop            at the end switch recording off even if it was on before\n"
	      "  -p, --progress        a line of progress each second, terminal or not\n"
	      "  -q, --quiet           errors only\n"
	      "  -d, --debugfs DIR     the kernel's side (" DEFAULT_DEBUGFS ")\n"
	      "  -h, --help            this text\n"
	      "  -V, --version         the version of the ABI that is known\n"
	      "\n"
	      "Exit status:\n"
	      "  0  recorded, and no event was lost\n"
	      "  1  nothing could be recorded, or recording came to a bad end\n"
	      "  2  recorded, but events were lost or not fetched: the trace is valid and says\n"
	      "     which\n"
	      "  3  the trace cannot be written: what is on disk is valid, the rest is dropped\n"
	      "  4  recorded, but this kernel does not say whether events were lost\n"
	      "  64 wrong options\n",
	      out);
}

static bool parse_seconds(const char *s)
{
	char *end;

	options.seconds = strtod(s, &end);
	if (end != s && !*end && options.seconds > 0 && options.seconds < 1e9)
		return true;
	record_error("--seconds %s: not a number of seconds", s);
	return false;
}

static void parse_max(const char *s)
{
	if (size_parse(s, INT64_MAX, &options.max) && options.max)
		return;
	record_error("--max %s: not a size", s);
	exit(EXIT_USAGE);
}

void parse_options(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, 'f' },
		{ "features", required_argument, NULL, 'F' },
		{ "seconds", required_argument, NULL, 's' },
		{ "max", required_argument, NULL, 'm' },
		{ "rest", no_argument, NULL, 'r' },
		{ "stop", no_argument, NULL, 'S' },
		{ "progress", no_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "debugfs", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:fF:s:m:rSpqd:hV", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'o':
			options.output = optarg;
			break;
		case 'f':
			options.force = true;
			break;
		case 'F':
			options.features = optarg;
			break;
		case 's':
			if (!parse_seconds(optarg))
				exit(EXIT_USAGE);
			break;
		case 'm':
			parse_max(optarg);
			break;
		case 'r':
			options.rest = true;
			break;
		case 'S':
			options.stop = true;
			break;
		case 'p':
			options.progress = true;
			break;
		case 'q':
			options.quiet = true;
			break;
		case 'd':
			options.debugfs = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_GOOD);
		case 'V':
			printf("kmemtraced, ABI %d\n", KMEMTRACE_ABI_VERSION);
			exit(EXIT_GOOD);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
}
