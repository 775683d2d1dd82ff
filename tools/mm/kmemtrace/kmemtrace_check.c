// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace_check: check that a trace of kmemtraced is one that a kernel can have written.
 *
 * This file has the options and the exit code. See check.h for the parts.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "number.h"
#include "status.h"
#include "util.h"
#include "version.h"

static void usage(FILE *out)
{
	fputs("Usage: kmemtrace_check [OPTION]... FILE...\n"
	      "       kmemtrace_check [OPTION]... --all [DIR]\n"
	      "Check files cpu<n>.out of kmemtraced. The header of a file is expected in the\n"
	      "same directory; without it, the byte order is guessed.\n"
	      "\n"
	      "  -a, --all             check all files of the trace in DIR (default: the\n"
	      "                        current directory if it has a header, else\n"
	      "                        " TRACE_DIRECTORY "), and that each missing sequence\n"
	      "                        number belongs to a lost event\n"
	      "  -b, --begins N        with --all: recording was switched on N times during the\n"
	      "                        trace. If neither this option nor the header gives this\n"
	      "                        number, missing single numbers only cause a note.\n"
	      "  -m, --max-errors N    print N errors per file (default: 20), count the others\n"
	      "  -q, --quiet           print no summaries\n"
	      "  -h, --help            print this text\n"
	      "  -V, --version         print the version and the supported ABI\n"
	      "\n"
	      "Exit status:\n"
	      "  0   clean\n"
	      "  1   something could not be read\n"
	      "  2   errors were found\n"
	      "  3   the findings could not be written\n"
	      "  4   with --all: no errors, but the trace is incomplete or covers only a part\n"
	      "      of a recording, so it is unknown whether records are missing\n"
	      "  64  wrong options\n",
	      out);
}

static uint64_t to_number(const char *s)
{
	uint64_t n;

	if (!number_parse(s, UINT64_MAX, &n)) {
		fprintf(stderr, "kmemtrace_check: %s: not a number\n", s);
		exit(EXIT_USAGE);
	}
	return n;
}

static int exit_status(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "kmemtrace_check: standard output: %s\n", strerror(errno));
		return EXIT_OUTPUT;
	}
	if (check_result.trouble)
		return EXIT_CANNOT;
	if (check_result.errors)
		return EXIT_LOST;
	return check_result.unknown ? EXIT_UNKNOWN : EXIT_GOOD;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "all", optional_argument, NULL, 'a' },
		{ "begins", required_argument, NULL, 'b' },
		{ "max-errors", required_argument, NULL, 'm' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	const char *dir = NULL;
	bool all = false, files;
	int opt;

	while ((opt = getopt_long(argc, argv, "a::b:m:qhV", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'a':
			all = true;
			dir = optarg;
			break;
		case 'b':
			check_options.begins = to_number(optarg);
			check_options.begins_given = true;
			break;
		case 'm':
			check_options.max_errors = to_number(optarg);
			break;
		case 'q':
			check_options.quiet = true;
			break;
		case 'h':
			usage(stdout);
			end_output();
		case 'V':
			version_print("kmemtrace_check");
			printf("kmemtrace ABI %d\n", KMEMTRACE_ABI_VERSION);
			end_output();
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (all && !dir)
		dir = optind < argc ? argv[optind++] :
		      trace_default_directory();
	files = optind < argc;
	if (files == all) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (all)
		check_all(dir);
	for (; optind < argc; optind++)
		check_one(argv[optind]);
	check_forget_header();
	return exit_status();
}
