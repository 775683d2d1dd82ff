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
#include "version.h"

static void usage(FILE *out)
{
	fputs("Usage: kmemtraced [OPTION]...\n"
	      "Record the kernel's allocations and frees from kmemtrace, until SIGINT (Ctrl-C)\n"
	      "or SIGTERM; a second signal drops the records that are still in the kernel.\n"
	      "Recording is on while this program runs. If it was on before, it stays on.\n"
	      "\n"
	      "  -o, --output DIR      directory for the files cpu<n>.out and header (default:\n"
	      "                        the current directory). No other user may have write\n"
	      "                        access to it.\n"
	      "  -f, --force           overwrite an existing trace\n"
	      "  -F, --features LIST   what to record with each event: a list of time,pid,tag,\n"
	      "                        or all, or none (default: the setting of the kernel)\n"
	      "  -s, --seconds N       stop after N seconds\n"
	      "  -m, --max BMAX        stop before the records exceed BMAX bytes; BMAX may end\n"
	      "                        with k, M or G\n"
	      "  -r, --rest            fetch what an earlier recording left, and exit\n"
	      "  -S, --stop            switch recording off at the end even if it was on before\n"
	      "  -p, --progress        print a line of progress each second, even if standard\n"
	      "                        error is not a terminal\n"
	      "  -q, --quiet           print errors only\n"
	      "  -d, --debugfs DIR     directory of kmemtrace in debugfs\n"
	      "                        (default: " DEFAULT_DEBUGFS ")\n"
	      "  -h, --help            print this text\n"
	      "  -V, --version         print the version and the supported ABI\n"
	      "\n"
	      "Exit status:\n"
	      "  0   recorded, and no event was lost\n"
	      "  1   nothing could be recorded, or recording failed\n"
	      "  2   recorded, but events were lost or not fetched: the trace is valid and says\n"
	      "      how many\n"
	      "  3   the trace could not be written: the part on disk is valid, the rest is\n"
	      "      dropped\n"
	      "  4   recorded, but this kernel does not report whether events were lost\n"
	      "  64  wrong options\n",
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
			end_output();
		case 'V':
			version_print("kmemtraced");
			printf("kmemtrace ABI %d\n", KMEMTRACE_ABI_VERSION);
			end_output();
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
