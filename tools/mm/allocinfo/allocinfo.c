// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfo: record, compare and report the memory that the call sites of the kernel hold.
 *
 * This file chooses the command. Each command takes its own options, see allocinfo.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocinfo.h"
#include "number.h"
#include "status.h"
#include "util.h"
#include "version.h"

/* Data */

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "record", cmd_record, "write snapshots of /proc/allocinfo to a file, for weeks" },
	{ "diff", cmd_diff, "show what grew between two snapshots" },
	{ "report", cmd_report, "print the table as text, JSON, CSV, a profile or metrics" },
	{ "check", cmd_check, "say whether this kernel can do it and what it costs" },
	{ "leak", cmd_leak, "say which call sites leak" },
	{ "why", cmd_why, "say which callers let a call site grow" },
	{ "export", cmd_export, "write the memory of this host as metrics for Prometheus" },
};

/* Shared by the commands */

/**
 * word_value - find a word of an option, or exit
 * @words: the words that are allowed
 * @word: the word
 *
 * Return: its value.
 */
int word_value(const struct word *words, const char *word)
{
	for (; words->word; words++) {
		if (!strcmp(words->word, word))
			return words->value;
	}
	usage_error("unknown word", word);
}

/**
 * seconds_value - read a time such as 90, 10m, 12h or 7d, or exit
 * @word: the time
 *
 * Return: seconds, at least 1.
 */
uint64_t seconds_value(const char *word)
{
	uint64_t seconds;

	if (!seconds_parse(word, INT32_MAX, &seconds) || !seconds)
		usage_error("not a time, or too long", word);
	return seconds;
}

/**
 * by_value - read what a row stands for, or exit
 * @word: see row_by_parse()
 *
 * Return: what a row stands for.
 */
enum row_by by_value(const char *word)
{
	enum row_by by;

	if (!row_by_parse(word, &by))
		usage_error("unknown word", word);
	return by;
}

/**
 * filter_value - read a filter, or exit
 * @query: the filter, to be freed with query_free()
 * @words: its words, ended by NULL; without any, each call site matches
 */
void filter_value(struct query *query, char **words)
{
	const char *problem;

	if (!query_parse_words(query, words, &problem))
		usage_error("filter", problem);
}

static _Noreturn void last_option(int opt, const char *usage)
{
	if (opt == 'h')
		fputs(usage, stdout);
	else if (opt == 'V')
		version_print("allocinfo");
	else
		usage_error("unknown option", "");
	end_output();
}

static uint64_t top_value(const char *word)
{
	uint64_t top;

	if (!number_parse(word, INT32_MAX, &top))
		usage_error("not a number of rows", word);
	return top ? top : SIZE_MAX;
}

/**
 * common_option - take an option that several commands have
 * @common: where it goes
 * @opt: what getopt_long() returned
 * @usage: text of --help
 *
 * After --help, --version and an unknown option, the program exits.
 */
void common_option(struct common *common, int opt, const char *usage)
{
	switch (opt) {
	case 'n':
		common->top = top_value(optarg);
		break;
	case 'B':
		common->plain = true;
		break;
	case 'o':
		common->output = optarg;
		break;
	case 'f':
		common->force = true;
		break;
	case OPT_PROC:
		common->proc = optarg;
		break;
	default:
		last_option(opt, usage);
	}
}

/* Internals */

static _Noreturn void print_usage(void)
{
	size_t i;

	puts("Usage: allocinfo COMMAND [options]\n"
	     "Record, compare and report the memory that each call site of the kernel holds,\n"
	     "as /proc/allocinfo shows it.\n"
	     "\n"
	     "Commands, each with a --help of its own:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-7s  %s\n", commands[i].name, commands[i].summary);
	fputs("\nOptions:\n" HELP_OPTIONS
	      "\n"
	      "Exit status:\n"
	      "  0   done\n"
	      "  1   the table or a file could not be read\n"
	      "  2   done, but data are missing or damaged\n"
	      "  3   the output could not be written\n"
	      "  64  wrong options\n", stdout);
	end_output();
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command;
	char name[64];

	if (argc < 2)
		usage_error("which command?", "");
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		print_usage();
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		version_print("allocinfo");
		end_output();
	}
	command = find_command(argv[1]);
	if (!command)
		usage_error(*argv[1] == '-' ? "unknown option" : "unknown command", argv[1]);
	/* messages begin with it */
	snprintf(name, sizeof(name), "allocinfo %s", command->name);
	program_invocation_short_name = name;
	argv[1] = name;
	hash_seed_init();
	return command->run(argc - 1, argv + 1);
}
