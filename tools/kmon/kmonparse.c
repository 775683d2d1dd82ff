// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmonparse: convert a log of kmonlog to text, JSON, CTF or a summary.
 *
 * If a log is damaged, everything that can be read is converted; the exit code shows the
 * damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "number.h"
#include "outfile.h"
#include "parse.h"
#include "status.h"
#include "util.h"
#include "version.h"

/* Data */

#define DEFAULT_PIDS	"pids.dat"
#define DEFAULT_SITES	"sites.dat"
#define DEFAULT_SCALE	1000u
#define TOP_OF_TEXT	20u

struct options {
	const char *output;
	const char *pids;
	const char *sites;
	const char *log;	/* the first one; NULL for standard input */
	char *pids_beside;	/* default file in the directory of @log */
	char *sites_beside;
	bool force;
	bool text;
	bool json;
	bool summary;
	bool top_given;
};

static uint64_t damage;
static const struct complainer complainer = { complaints_print, &damage };

static const char usage[] =
"Usage: kmonparse [options] [FILE...]\n"
"Convert logs of kmonlog. Without FILE, or if FILE is -, read standard input.\n"
"\n"
"      --text           one line per record (default)\n"
"  -n, --names          add the names of tasks and lines of code to the text\n"
"  -j, --json           one JSON object per record, each on a line, with names\n"
"      --ctf OUTDIR     the records as a CTF trace for babeltrace2\n"
"      --summary        which tasks ran, waited, woke up and moved, and which\n"
"                       lines of code allocated; with --json as one JSON object\n"
"  -t, --top N          rows in each list of a summary, 0 for all (default: 20 in\n"
"                       text, else all)\n"
"\n"
"  -s, --scale N        nanoseconds per unit of time (default: 1000)\n"
"      --sort           sort the records by time instead of keeping the order of\n"
"                       the file; --ctf and --summary always sort\n"
"  -p, --pids PIDFIL    imply --names, and read names of tasks from PIDFIL\n"
"                       (default: " DEFAULT_PIDS " in the directory of the first FILE)\n"
"      --sites FILE     imply --names, and read names of lines of code from FILE\n"
"                       (default: " DEFAULT_SITES " in the directory of the first FILE)\n"
"  -o, --output OUTFIL  write to OUTFIL instead of standard output\n"
"  -f, --force          overwrite OUTFIL\n"
"      --sort-memory SIZE  memory for sorting, 256k or more (default: 64M); a\n"
"                       longer log is sorted through a temporary file in $TMPDIR\n"
"  -h, --help           print this text\n"
"  -V, --version        print the version\n"
"\n"
"Exit status:\n"
"  0   converted\n"
"  1   a file could not be read\n"
"  2   a log or a file of names is damaged; the readable parts are converted\n"
"  3   the output could not be written\n"
"  64  wrong options\n";

enum long_option {
	OPT_TEXT = 256,
	OPT_CTF,
	OPT_SUMMARY,
	OPT_SITES,
	OPT_SORT,
	OPT_SORT_MEMORY,
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, OPT_TEXT },
	{ "names", no_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "ctf", required_argument, NULL, OPT_CTF },
	{ "summary", no_argument, NULL, OPT_SUMMARY },
	{ "top", required_argument, NULL, 't' },
	{ "scale", required_argument, NULL, 's' },
	{ "sort", no_argument, NULL, OPT_SORT },
	{ "pids", required_argument, NULL, 'p' },
	{ "sites", required_argument, NULL, OPT_SITES },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, 'f' },
	{ "sort-memory", required_argument, NULL, OPT_SORT_MEMORY },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* Messages */

static bool error(const char *file)
{
	fprintf(stderr, "kmonparse: %s: %s\n", file, strerror(errno));
	return false;
}

/* Options */

static uint64_t number_option(uint64_t min, uint64_t max)
{
	uint64_t number;

	if (!number_parse(optarg, max, &number) || number < min)
		usage_error("not a number, or out of range", optarg);
	return number;
}

static size_t memory_option(void)
{
	uint64_t size;

	if (!size_parse(optarg, SORT_MEMORY_MAX, &size) || size < SORT_MEMORY_MIN)
		usage_error("not a size from 256k to 2G", optarg);
	return size;
}

static void take_option(struct options *options, struct parse *parse, int opt)
{
	switch (opt) {
	case OPT_TEXT:
		options->text = true;
		break;
	case 'n':
		parse->writer.with_names = true;
		break;
	case 'j':
		options->json = true;
		break;
	case OPT_CTF:
		parse->ctf_dir = optarg;
		break;
	case OPT_SUMMARY:
		options->summary = true;
		break;
	case 't':
		parse->writer.top = number_option(0, UINT32_MAX);
		options->top_given = true;
		break;
	case 's':
		parse->writer.scale = number_option(1, UINT64_MAX);
		break;
	case OPT_SORT:
		parse->sort = true;
		break;
	case 'p':
		options->pids = optarg;
		break;
	case OPT_SITES:
		options->sites = optarg;
		break;
	case 'o':
		options->output = optarg;
		break;
	case 'f':
		options->force = true;
		break;
	case OPT_SORT_MEMORY:
		parse->memory = memory_option();
		break;
	case 'h':
		fputs(usage, stdout);
		end_output();
	case 'V':
		version_print("kmonparse");
		end_output();
	default:
		usage_error("unknown option", "");
	}
}

static void choose_format(const struct options *options, struct parse *parse)
{
	if (options->summary)
		parse->format = options->json ? FORMAT_SUMMARY_JSON : FORMAT_SUMMARY;
	else if (options->json)
		parse->format = FORMAT_JSON;
	else if (parse->ctf_dir)
		parse->format = FORMAT_CTF;
	/* These formats need the records in the order of their times. */
	if (parse->format != FORMAT_TEXT && parse->format != FORMAT_JSON)
		parse->sort = true;
	/* A user who names the files of names wants to see the names. */
	if (options->pids || options->sites)
		parse->writer.with_names = true;
	if (!options->top_given && parse->format == FORMAT_SUMMARY)
		parse->writer.top = TOP_OF_TEXT;
	if (options->text && options->json)
		usage_error("--text or --json, not both", "");
	if (options->top_given && !options->summary)
		usage_error("--top needs --summary", "");
	if (parse->ctf_dir && (options->summary || options->json || options->text))
		usage_error("--ctf cannot be combined with another format", "");
	if (parse->ctf_dir && options->output)
		usage_error("--ctf takes a directory; --output cannot be used with it", "");
}

static void take_options(struct options *options, struct parse *parse, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "njt:s:p:o:fhV", long_options, NULL)) != -1)
		take_option(options, parse, opt);
	choose_format(options, parse);
}

/* Files */

static int log_stat(const char *path, struct stat *st)
{
	return strcmp(path, "-") ? stat(path, st) : fstat(STDIN_FILENO, st);
}

/* If others may write to the directory of a log, anybody can put a file beside the log. */
static bool is_trusted(int fd, const char *log)
{
	struct stat st, log_st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	return !st.st_uid || st.st_uid == geteuid() ||
	       (log && !log_stat(log, &log_st) && st.st_uid == log_st.st_uid);
}

/* Returns NULL with errno on failure; ENOENT if the file is missing. */
static FILE *open_beside(const char *path, const char *log)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (is_trusted(fd, log))
		return fdopen(fd, "r");
	close(fd);
	errno = EPERM;
	return NULL;
}

/* Closes @file, which may be NULL with errno. */
static bool read_names(struct names *names, const char *path, FILE *file)
{
	bool ok;

	if (!file)
		return error(path);
	ok = names_read(names, file, path, &complainer) || error(path);
	fclose(file);
	return ok;
}

static const char *why_not_read(int err)
{
	switch (err) {
	case ELOOP:
		return "is a link";
	case EPERM:
		return "is not a regular file, or belongs to another user";
	}
	return strerror(err);
}

/* With these, no other file can be opened either. */
static bool is_out_of_resources(int err)
{
	return err == ENOMEM || err == EMFILE || err == ENFILE;
}

/*
 * A default file of names may be missing, unreadable or not trustworthy: then the log is
 * converted without names, and that is no failure.
 */
static bool read_names_beside(struct names *names, const char *path, const char *log)
{
	FILE *file = open_beside(path, log);

	if (file && names_read(names, file, path, &complainer)) {
		fclose(file);
		return true;
	}
	if (is_out_of_resources(errno))
		return error(path);
	if (file || errno != ENOENT)
		fprintf(stderr, "kmonparse: %s: not read: %s\n", path, why_not_read(errno));
	if (file)
		fclose(file);
	return true;
}

static bool names_of(const struct options *options, struct names *names,
		     const char *path, const char *beside)
{
	return path ? read_names(names, path, fopen(path, "re")) :
		      read_names_beside(names, beside, options->log);
}

static bool wants_names(const struct parse *parse)
{
	return parse->format != FORMAT_TEXT || parse->writer.with_names;
}

static bool read_all_names(const struct options *options, struct parse *parse)
{
	if (!wants_names(parse))
		return true;
	return names_of(options, &parse->writer.pids, options->pids, options->pids_beside) &&
	       names_of(options, &parse->writer.sites, options->sites, options->sites_beside);
}

/* Check this without opening the file, because it may be a pipe. */
static bool can_read(const char *path)
{
	struct stat st;

	if (log_stat(path, &st))
		return false;
	errno = EISDIR;
	if (S_ISDIR(st.st_mode))
		return false;
	return !strcmp(path, "-") || !access(path, R_OK);
}

/* Neither create nor overwrite an output if no log can be read. */
static bool can_read_any(char **paths)
{
	char **path;

	if (!*paths)
		return true;
	for (path = paths; *path; path++) {
		if (can_read(*path))
			return true;
	}
	for (path = paths; *path; path++) {
		if (!can_read(*path))
			error(*path);
	}
	return false;
}

static bool is_file(const struct stat *st, const char *path)
{
	struct stat other;

	return !log_stat(path, &other) && st->st_dev == other.st_dev &&
	       st->st_ino == other.st_ino;
}

static bool is_input(const struct stat *st, const struct options *options,
		     const struct parse *parse, char **paths)
{
	if (wants_names(parse) &&
	    (is_file(st, options->pids ? options->pids : options->pids_beside) ||
	     is_file(st, options->sites ? options->sites : options->sites_beside)))
		return true;
	if (!*paths)
		return is_file(st, "-");
	for (; *paths; paths++) {
		if (is_file(st, *paths))
			return true;
	}
	return false;
}

/* Also check the target of a link: --force must not replace an input under any name. */
static bool would_replace_input(const struct options *options, const struct parse *parse,
				char **paths)
{
	struct stat st;

	if (!options->force || stat(options->output, &st) || !S_ISREG(st.st_mode) ||
	    !is_input(&st, options, parse, paths))
		return false;
	fprintf(stderr, "kmonparse: %s: is an input file\n", options->output);
	return true;
}

static bool open_output(const struct options *options, struct parse *parse, char **paths)
{
	int fd;

	parse->writer.out = stdout;
	if (!options->output)
		return true;
	if (would_replace_input(options, parse, paths))
		return false;
	fd = outfile_open(options->output, options->force);
	if (fd < 0)
		return false;
	parse->writer.out = fdopen(fd, "w");
	return parse->writer.out || error(options->output);
}

static bool close_output(const struct options *options, struct parse *parse)
{
	bool ok = !ferror(parse->writer.out);

	if (fclose(parse->writer.out))
		ok = false;
	return ok || error(options->output ? options->output : "standard output");
}

/* Logs */

static bool parse_path(struct parse *parse, const char *path)
{
	FILE *file;
	bool ok;

	if (!strcmp(path, "-"))
		return parse_file(parse, stdin, "standard input") || error("standard input");
	file = fopen(path, "re");
	if (!file)
		return error(path);
	ok = parse_file(parse, file, path) || error(path);
	fclose(file);
	return ok;
}

/* If a log cannot be read, convert the others. */
static bool parse_all(struct parse *parse, char **paths)
{
	bool ok = true;

	if (!*paths)
		return parse_path(parse, "-");
	for (; *paths; paths++) {
		if (!parse_path(parse, *paths))
			ok = false;
	}
	return ok;
}

static int exit_status(bool ok, bool written)
{
	complaints_end(damage);
	if (!written)
		return EXIT_OUTPUT;
	if (!ok)
		return EXIT_CANNOT;
	return damage ? EXIT_LOST : EXIT_GOOD;
}

static int run(const struct options *options, struct parse *parse, char **paths)
{
	bool ok, written;

	if (!read_all_names(options, parse) || (options->output && !can_read_any(paths)))
		return EXIT_CANNOT;
	if (!open_output(options, parse, paths) || !parse_begin(parse))
		return EXIT_OUTPUT;
	ok = parse_all(parse, paths);
	if (!parse_end(parse))
		ok = false;
	written = close_output(options, parse) && !parse->unwritten;
	return exit_status(ok, written);
}

int main(int argc, char **argv)
{
	struct parse parse = {
		.writer.scale = DEFAULT_SCALE,
		.memory = SORT_MEMORY,
		.complainer = complainer,
	};
	struct options options = { 0 };
	int status;

	take_options(&options, &parse, argc, argv);
	hash_seed_init();
	options.log = argv[optind];
	options.pids_beside = path_beside(options.log, DEFAULT_PIDS);
	options.sites_beside = path_beside(options.log, DEFAULT_SITES);
	status = run(&options, &parse, argv + optind);
	parse_free(&parse);
	names_free(&parse.writer.pids);
	names_free(&parse.writer.sites);
	free(options.pids_beside);
	free(options.sites_beside);
	return status;
}
