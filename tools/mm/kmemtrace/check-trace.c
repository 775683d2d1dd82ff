// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checks of a whole trace: its header, its files, and whether records are missing.
 *
 * Each record has a sequence number of its own, and so has each lost record. So every
 * missing number must belong to a reported loss: in a record of losses or in the header.
 * One more number is missing each time recording begins. If the trace is not complete or
 * is only a part of a recording, missing numbers prove nothing; the exit code then says
 * that it is unknown whether records are missing.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "util.h"

/* Headers */

struct header_errors {
	char name[PATH_MAX];
	uint64_t nr;
};

/* check-file.c finds the errors in records, so only complaints about the header count. */
static void complain_header(const char *file, uint64_t line, const char *what,
			    void *data)
{
	const char *base = strrchr(file, '/');
	struct header_errors *errors = data;

	if (strcmp(base ? base + 1 : file, "header"))
		return;
	check_result.errors++;
	snprintf(errors->name, sizeof(errors->name), "%s", file);
	if (errors->nr++ >= check_options.max_errors)
		return;
	if (line)
		printf("%s: line %llu: %s\n", file, (unsigned long long)line,
		       what);
	else
		printf("%s: %s\n", file, what);
}

/* Say how many errors were not printed. Call this when the header was read completely. */
static void summarize_header(const struct header_errors *errors)
{
	if (errors->nr > check_options.max_errors)
		printf("%s: and %llu more errors\n", errors->name,
		       (unsigned long long)(errors->nr - check_options.max_errors));
}

static bool is_regular(const char *name)
{
	struct stat st;

	if (stat(name, &st)) {
		check_unreadable(name, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		check_unreadable(name, "not a regular file");
		return false;
	}
	return true;
}

static size_t dir_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 - name : 0;
}

/* All files of a directory share one long header, which is read only once. */
static struct {
	struct trace *trace;
	char *name;		/* file that it was read for */
	struct header_errors errors;
} known;

/**
 * check_forget_header - free the header that check_one() keeps for the next file
 */
void check_forget_header(void)
{
	trace_close(known.trace);
	free(known.name);
	known.trace = NULL;
	known.name = NULL;
}

static bool has_header(const char *name)
{
	return known.name && dir_length(name) == dir_length(known.name) &&
	       !strncmp(name, known.name, dir_length(name)) &&
	       trace_header(known.trace)->abi_version;
}

/**
 * check_one - check a file by itself
 * @name: path of the file; the header is looked for beside it
 */
void check_one(const char *name)
{
	const struct trace_header *header;

	if (!is_regular(name))
		return;
	if (!has_header(name)) {
		check_forget_header();
		known.errors.nr = 0;
		known.trace = trace_open_file(name, complain_header, &known.errors);
		summarize_header(&known.errors);
		if (!known.trace) {
			check_unreadable(name, "cannot be opened");
			return;
		}
		known.name = strdup(name);
	}
	header = trace_header(known.trace);
	if (!header->abi_version && !check_options.quiet)
		printf("%s: no header, byte order guessed: %s\n", name,
		       header->big_endian ? "big" : "little");
	check_file(name, header);
}

/* All files together */

/* sequence numbers and losses of a trace */
struct account {
	const struct trace_header *header;
	bool sound;		/* no file has an error */
	uint64_t untold;	/* events lost at the end, which no record reports */
	uint64_t told;		/* lost events that records report */
	uint64_t told_bytes;
	uint64_t missing;
	uint64_t singles;	/* gaps of one number */
	uint64_t doubles;	/* records with the number of another record */
};

static void __printf(2, 3) finding(const char *dir, const char *format, ...)
{
	va_list args;

	printf("%s: ", dir);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Merge the files and count the missing numbers. */
static void count_missing(struct trace *trace, const char *dir, struct account *a)
{
	struct trace_record r;
	unsigned int cpu = 0;
	uint64_t last = 0;
	bool any = false;

	for (; trace_next(trace, &r); any = true) {
		if (r.event_id == KMEMTRACE_EVENT_LOST) {
			a->told += r.lost_events;
			a->told_bytes += r.lost_bytes;
		}
		if (any && r.sequence == last &&
		    a->doubles++ < check_options.max_errors)
			finding(dir, "cpu%u.out: offset %llu: number %u is in cpu%u.out as well",
				r.cpu, (unsigned long long)r.offset,
				(uint32_t)r.sequence, cpu);
		if (any && r.sequence > last + 1) {
			a->missing += r.sequence - last - 1;
			a->singles += r.sequence == last + 2;
		}
		last = r.sequence;
		cpu = r.cpu;
	}
	if (a->doubles > check_options.max_errors)
		finding(dir, "and %llu more numbers appear twice",
			(unsigned long long)(a->doubles - check_options.max_errors));
	check_result.errors += a->doubles;
}

/* Records missing at the beginning or the end leave no gap, but the files are shorter. */
static void check_sizes(const char *dir, const struct account *a)
{
	DIR *d = a->header->written_known ? opendir(dir) : NULL;
	uint64_t bytes = 0;
	struct dirent *e;
	unsigned int cpu;
	struct stat st;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (trace_is_cpu_file(e->d_name, &cpu) &&
		    !fstatat(dirfd(d), e->d_name, &st, 0))
			bytes += st.st_size;
	}
	closedir(d);
	if (bytes == a->header->written)
		return;
	finding(dir, "the files have %llu bytes, %llu were written",
		(unsigned long long)bytes,
		(unsigned long long)a->header->written);
	check_result.errors++;
}

/* Compare the losses in records with the counts of the kernel. */
static void check_told(const char *dir, const struct account *a)
{
	uint64_t lost = a->header->lost_events;

	if (a->told == lost - a->untold ||
	    a->told == lost - a->untold + a->header->earlier_events)
		return;
	finding(dir,
		"records report %llu lost events; the kernel counted %llu, %llu of them untold",
		(unsigned long long)a->told, (unsigned long long)lost,
		(unsigned long long)a->untold);
	check_result.errors++;
}

/*
 * Events lost after the last record leave no gap. No record reports these losses, so at
 * most @untold of the losses may have no gap.
 */
static void check_missing(const char *dir, const struct account *a)
{
	unsigned long long begins = check_options.begins_given ? check_options.begins :
				    a->header->begins;
	unsigned long long lost = a->header->lost_events;
	unsigned long long missing = a->missing;

	if (check_options.begins_given || a->header->begins_known) {
		if (missing > lost + begins ||
		    missing + a->untold < lost + begins) {
			finding(dir,
				"%llu numbers are missing; %llu events were lost, and there were %llu begins",
				missing, lost, begins);
			check_result.errors++;
		}
		return;
	}
	if (missing + a->untold < lost) {
		finding(dir, "only %llu numbers are missing, but %llu events were lost",
			missing, lost);
		check_result.errors++;
	} else if (missing > lost + !!a->singles) {
		finding(dir, "%llu numbers are missing, but only %llu events were lost",
			missing, lost);
		check_result.errors++;
	} else if (missing > lost) {
		finding(dir,
			"note: %llu numbers are missing beyond %llu lost events; did recording begin anew?",
			missing - lost, lost);
	}
}

/* The trace has no error, but it is unknown whether records are missing. */
static void open_end(const char *dir, const char *why)
{
	finding(dir,
		"%s: the existing records are sound, but it is unknown whether records are missing",
		why);
	check_result.unknown = true;
}

static void check_account(const char *dir, struct account *a)
{
	const struct trace_header *header = a->header;

	if (!check_options.quiet)
		finding(dir,
			"%llu numbers missing, %llu of them alone; events lost: %llu by records, %llu by header",
			(unsigned long long)a->missing,
			(unsigned long long)a->singles,
			(unsigned long long)a->told,
			(unsigned long long)header->lost_events);
	if (!a->sound) {
		finding(dir, "note: there are errors, so nothing follows from the numbers");
		return;
	}
	if (!header->complete) {
		open_end(dir, "not complete, kmemtraced did not finish it");
		return;
	}
	if (!header->whole) {
		open_end(dir, "a part of a recording");
		return;
	}
	/* Another recorder may not write this count: then take the difference. */
	a->untold = header->untold_events;
	if (!header->untold_known && a->told <= header->lost_events)
		a->untold = header->lost_events - a->told;
	check_told(dir, a);
	check_missing(dir, a);
}

/* Find the CPUs that have a file in @dir. */
static void find_files(const char *dir, bool *there)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned int cpu;

	while (d && (e = readdir(d)))
		if (trace_is_cpu_file(e->d_name, &cpu))
			there[cpu] = true;
	if (d)
		closedir(d);
}

static bool check_files(struct trace *trace, const char *dir, unsigned int *nr)
{
	bool *there = calloc(TRACE_MAX_CPUS, sizeof(*there));
	uint64_t before = check_result.errors;
	bool read = true;
	unsigned int cpu;
	char *path;

	if (there)
		find_files(dir, there);
	else
		check_unreadable(dir, "out of memory");
	for (cpu = 0; there && cpu < TRACE_MAX_CPUS; cpu++) {
		if (!there[cpu] || asprintf(&path, "%s/cpu%u.out", dir, cpu) < 0)
			continue;
		if (is_regular(path)) {
			read = check_file(path, trace_header(trace)) && read;
			++*nr;
		}
		free(path);
	}
	free(there);
	return read && before == check_result.errors;
}

/**
 * check_all - check all files of a trace, and that no record is missing
 * @dir: directory of the trace
 */
void check_all(const char *dir)
{
	uint64_t before = check_result.errors;
	struct header_errors errors = { .nr = 0 };
	struct account a = { 0 };
	struct trace *trace;
	unsigned int nr = 0;

	trace = trace_open(dir, complain_header, &errors);
	summarize_header(&errors);
	if (!trace) {
		check_unreadable(dir, "not a trace that can be read");
		return;
	}
	a.header = trace_header(trace);
	a.sound = check_files(trace, dir, &nr) && before == check_result.errors;
	if (!nr) {
		printf("%s: no files of CPUs\n", dir);
		check_result.errors++;
	}
	count_missing(trace, dir, &a);
	check_sizes(dir, &a);
	check_account(dir, &a);
	trace_close(trace);
}
