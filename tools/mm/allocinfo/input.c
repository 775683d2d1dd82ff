// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables from where the user names them, see input.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "number.h"
#include "jsonfile.h"
#include "snap-record.h"
#include "snap.h"
#include "source.h"
#include "status.h"
#include "utf8.h"
#include "util.h"

/* Data */

#define NS		UINT64_C(1000000000)
#define MEMINFO_SIZE	16384
#define CMDLINE_SIZE	4096

/**
 * struct when - which snapshot of a file
 * @kind: what @number is
 * @number: number of the snapshot from the beginning or the end, or a time in nanoseconds
 */
struct when {
	enum { WHEN_LAST, WHEN_NR, WHEN_FROM_END, WHEN_TIME, WHEN_BEFORE_END } kind;
	uint64_t number;
};

/* Internals */

static bool fail(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, what);
	return false;
}

static void set_text(char **field, const char *text)
{
	free(*field);
	*field = need_string(text);
	clean_name(*field);
}

static void remember_file(struct input *input, const struct stat *st)
{
	if (S_ISREG(st->st_mode)) {
		input->dev = st->st_dev;
		input->ino = st->st_ino;
	}
}

static bool is_file(const struct input *input, const char *path)
{
	struct stat st;

	return input->ino && !stat(path, &st) && st.st_dev == input->dev &&
	       st.st_ino == input->ino;
}

static bool parse(struct input *input, struct nodes *nodes)
{
	const struct complainer to = { complaints_print, &input->damage };
	bool good = nodes ? nodes_parse(nodes, &input->table, input->name, &to) :
			    table_parse(&input->table, input->name, &to);

	table_clean(&input->table);
	return good;
}

/* Internals: which snapshot */

/* A day or a minute includes its end. Not every local day has 24 hours. */
static bool parse_date(const char *text, uint64_t *time)
{
	static const struct {
		const char *format;
		int days;
		int seconds;
	} forms[] = {
		{ "%Y-%m-%dT%H:%M:%S", 0, 1 },
		{ "%Y-%m-%d %H:%M:%S", 0, 1 },
		{ "%Y-%m-%dT%H:%M", 0, 60 },
		{ "%Y-%m-%d %H:%M", 0, 60 },
		{ "%Y-%m-%d", 1, 0 },
	};
	const char *end;
	struct tm tm;
	size_t i;
	time_t t;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		tm = (struct tm){ .tm_isdst = -1 };
		end = strptime(text, forms[i].format, &tm);
		if (!end || *end)
			continue;
		tm.tm_mday += forms[i].days;
		t = mktime(&tm) + forms[i].seconds;
		*time = t * NS - 1;
		return t > 0;
	}
	return false;
}

static bool parse_when(const char *text, struct when *when)
{
	bool negative = *text == '-';

	if (number_parse(text + negative, INT64_MAX, &when->number)) {
		when->kind = negative ? WHEN_FROM_END : WHEN_NR;
		return !negative || when->number;
	}
	if (negative && seconds_parse(text + 1, INT32_MAX, &when->number)) {
		when->number *= NS;
		when->kind = WHEN_BEFORE_END;
		return true;
	}
	when->kind = WHEN_TIME;
	return parse_date(text, &when->number);
}

/* Splits FILE@WHEN, unless there is a file of that name. Returns false after a message. */
static bool split(char *path, struct when *when)
{
	char *at = strrchr(path, '@');

	*when = (struct when){ WHEN_LAST, 0 };
	if (!at || !access(path, F_OK))
		return true;
	*at = '\0';
	if (!snap_is_file(path)) {
		*at = '@';
		return true;
	}
	return parse_when(at + 1, when) || fail(at + 1, "not a number or a time of a snapshot");
}

/* Internals: snapshots */

/*
 * Finds out which time or number @when is if it counts from the end. The complaints of this
 * pass would be printed again in the next one, so they are ignored.
 */
static bool resolve(const char *path, struct when *when)
{
	struct snap_reader *reader;
	struct snap snap = { 0 };
	uint64_t nr = 0;

	if (when->kind != WHEN_FROM_END && when->kind != WHEN_BEFORE_END)
		return true;
	reader = snap_open(path, &(struct complainer){ NULL, NULL });
	if (!reader)
		return fail(path, strerror(errno));
	while (snap_next(reader, &snap))
		nr++;
	snap_close(reader);
	if (when->kind == WHEN_FROM_END && when->number > nr)
		return fail(path, "has fewer snapshots");
	*when = when->kind == WHEN_FROM_END ?
		(struct when){ WHEN_NR, nr - when->number } :
		(struct when){ WHEN_TIME, sat_sub(snap.time, when->number) };
	return true;
}

static void take_snap(struct input *input, const struct snap *snap)
{
	table_set_text(&input->table, snap->allocinfo, snap->allocinfo_size);
	free(input->meminfo);
	input->meminfo = need_string(snap->meminfo);
	input->time = snap->time;
	input->boottime = snap->boottime;
	set_text(&input->boot_id, snap->header->boot_id);
	set_text(&input->release, snap->header->release);
	set_text(&input->host, snap->header->host);
	set_text(&input->cmdline, snap->header->cmdline);
}

/* Is @snap the one that is looked for, or the best one up to now? */
static bool matches(const struct snap *snap, const struct when *when)
{
	switch (when->kind) {
	case WHEN_NR:
		return snap->nr == when->number;
	case WHEN_TIME:
		return snap->time <= when->number;
	default:
		return true;
	}
}

static bool read_snap(struct input *input, const char *path, const struct when *when)
{
	struct snap_reader *reader;
	struct snap snap;
	bool found = false;

	input->recording = need_string(path);
	reader = snap_open(path, &(struct complainer){ complaints_print, &input->damage });
	if (!reader)
		return fail(path, strerror(errno));
	while (snap_next(reader, &snap)) {
		if (!matches(&snap, when))
			continue;
		take_snap(input, &snap);
		found = true;
		if (when->kind == WHEN_NR)
			break;
	}
	snap_close(reader);
	return found ? parse(input, NULL) : fail(input->name, "there is no such snapshot");
}

static bool read_fd(struct input *input, struct nodes *nodes, int fd)
{
	int err = fd < 0 ? errno : -table_read(&input->table, fd);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		remember_file(input, &st);
	if (fd >= 0)
		close(fd);
	return err ? fail(input->name, strerror(err)) : parse(input, nodes);
}

static bool read_copy(struct input *input, struct nodes *nodes, const char *path)
{
	return read_fd(input, nodes, strcmp(path, "-") ?
		       open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : dup(STDIN_FILENO));
}

static void begin(struct input *input, const char *name)
{
	*input = (struct input){ 0 };
	set_text(&input->name, name);
	set_text(&input->boot_id, "");
	set_text(&input->release, "");
	set_text(&input->host, "");
	set_text(&input->cmdline, "");
	set_text(&input->meminfo, "");
}

/* Internals: the running kernel */

static void about_machine(struct input *input, const struct source *source)
{
	char text[MEMINFO_SIZE];
	struct utsname names;
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	input->time = ts.tv_sec * NS + ts.tv_nsec;
	clock_gettime(CLOCK_BOOTTIME, &ts);
	input->boottime = ts.tv_sec * NS + ts.tv_nsec;
	if (!uname(&names)) {
		set_text(&input->release, names.release);
		set_text(&input->host, names.nodename);
	}
	if (source_file(source, "sys/kernel/random/boot_id", text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		set_text(&input->boot_id, text);
	}
	if (source_file(source, "cmdline", text, CMDLINE_SIZE) > 0) {
		text[strcspn(text, "\n")] = '\0';
		set_text(&input->cmdline, text);
	}
	if (source_file(source, "meminfo", text, sizeof(text)) > 0) {
		free(input->meminfo);
		input->meminfo = need_string(text);
	}
}

static bool read_live(struct input *input, struct nodes *nodes, const char *proc)
{
	struct source source;
	const struct complainer to = { complaints_print, &input->damage };
	enum profiling state = source_open(&source, proc);

	source.to = &to;
	if (state == PROFILING_ON)
		state = nodes ? source_read_nodes(&source, &input->table, nodes) :
				source_read(&source, &input->table);
	source_explain(&source, state);
	table_clean(&input->table);
	about_machine(input, &source);
	source_close(&source);
	return state == PROFILING_ON || state == PROFILING_OFF;
}

/* Internals: JSON */

/* The figures of /proc/meminfo; those with a unit in bytes. */
static struct json_object *meminfo_object(const char *meminfo)
{
	char *text = need_string(meminfo), *rest = text, *line, *value;
	struct json_object *o = json_object_new_object();
	const char *unit;
	uint64_t number;

	while ((line = strsep(&rest, "\n"))) {
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = '\0';
		if (!number_take(value + strspn(value, " "), &number, &unit))
			continue;
		clean_name(line);
		json_add_number(o, line, strcmp(unit, " kB") ? number :
				min_u64(number, UINT64_MAX >> 10) << 10);
	}
	free(text);
	return o;
}

/* Internals: crash dumps */

/* Starts allocinfo-dump. Returns its output, or -1 with errno. */
static int start_dump(const char *dump, const char *map, pid_t *pid)
{
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	*pid = fork();
	if (!*pid) {
		dup2(fds[1], STDOUT_FILENO);
		if (map)
			execlp("allocinfo-dump", "allocinfo-dump", "-m", map, "--", dump, NULL);
		else
			execlp("allocinfo-dump", "allocinfo-dump", "--", dump, NULL);
		fail("allocinfo-dump", strerror(errno));
		_exit(EXIT_CANNOT);
	}
	err = errno;
	close(fds[1]);
	if (*pid > 0)
		return fds[0];
	close(fds[0]);
	errno = err;
	return -1;
}

/* Interface */

/**
 * input_live - read the table of the running kernel
 * @input: result, to be freed with input_free()
 * @proc: where procfs is mounted
 *
 * Return: false after a message.
 */
bool input_live(struct input *input, const char *proc)
{
	begin(input, "/proc/allocinfo");
	return read_live(input, NULL, proc);
}

/**
 * input_nodes - read the memory of call sites by node
 * @input: result, to be freed with input_free()
 * @nodes: result, to be freed with nodes_free()
 * @what: a copy of /proc/allocinfo.nodes, "-" for standard input, NULL for the running kernel
 * @proc: where procfs is mounted
 *
 * Return: false after a message.
 */
bool input_nodes(struct input *input, struct nodes *nodes, const char *what,
		 const char *proc)
{
	begin(input, what ? what : "/proc/allocinfo.nodes");
	if (!what)
		return read_live(input, nodes, proc);
	if (snap_is_file(what))
		return fail(what, "snapshots have no memory by node");
	return read_copy(input, nodes, what);
}

/**
 * input_vmcore - read the table of a crashed kernel, by allocinfo-dump
 * @input: result, to be freed with input_free()
 * @dump: file of kdump, or /proc/kcore
 * @map: System.map of that kernel, NULL to find it
 *
 * Return: false after a message.
 */
bool input_vmcore(struct input *input, const char *dump, const char *map)
{
	int fd, status, err;
	pid_t pid;

	begin(input, dump);
	fd = start_dump(dump, map, &pid);
	if (fd < 0)
		return fail("allocinfo-dump", strerror(errno));
	err = -table_read(&input->table, fd);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* allocinfo-dump has printed a message */
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return false;
	return err ? fail(dump, strerror(err)) : parse(input, NULL);
}

/**
 * input_read - read the table that the user names
 * @input: result, to be freed with input_free()
 * @what: see INPUT_HELP
 *
 * Return: false after a message.
 */
bool input_read(struct input *input, const char *what)
{
	struct when when;
	char *path;
	bool ok;

	begin(input, what);
	if (!strcmp(what, "-"))
		return read_copy(input, NULL, what);
	path = need_string(what);
	ok = split(path, &when);
	if (ok && snap_is_file(path))
		ok = resolve(path, &when) && read_snap(input, path, &when);
	else if (ok)
		ok = read_copy(input, NULL, path);
	free(path);
	return ok;
}

/**
 * input_free - free what an input holds
 * @input: the input
 */
void input_free(struct input *input)
{
	table_free(&input->table);
	free(input->name);
	free(input->boot_id);
	free(input->release);
	free(input->host);
	free(input->cmdline);
	free(input->meminfo);
	free(input->recording);
}

/**
 * input_is_file - check whether an output would replace the input
 * @input: the input
 * @path: path of the output, NULL for standard output
 *
 * A recording of weeks must not be lost because its name, or that of one of its parts, was
 * given twice.
 *
 * Return: true after a message.
 */
bool input_is_file(const struct input *input, const char *path)
{
	if (!path || !(input->recording ? part_same(input->recording, path) :
					  is_file(input, path)))
		return false;
	fail(path, "is an input file");
	return true;
}

/**
 * input_damaged - check whether data are missing, after saying how many complaints there were
 * @input: the input
 *
 * Return: true if there were complaints.
 */
bool input_damaged(const struct input *input)
{
	complaints_end(input->damage);
	return input->damage;
}

/**
 * input_describe - print what is known about an input
 * @input: the input
 * @out: output file; each item begins with ", "
 */
void input_describe(const struct input *input, FILE *out)
{
	time_t time = input->time / NS;
	char text[32];
	struct tm tm;

	if (input->time && localtime_r(&time, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, ", %s", text);
	if (*input->host)
		fprintf(out, ", %s", input->host);
	if (*input->release)
		fprintf(out, ", Linux %s", input->release);
}

/**
 * input_json - what is known about an input
 * @input: the input
 *
 * Return: a new object.
 */
struct json_object *input_json(const struct input *input)
{
	struct json_object *o = json_object_new_object();
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", input->table.major, input->table.minor);
	json_add_string(o, "input", input->name);
	json_add_string(o, "format", text);
	if (input->time)
		json_add_number(o, "time_ns", input->time);
	if (input->boottime)
		json_add_number(o, "boottime_ns", input->boottime);
	json_add_string(o, "boot_id", *input->boot_id ? input->boot_id : NULL);
	json_add_string(o, "host", *input->host ? input->host : NULL);
	json_add_string(o, "release", *input->release ? input->release : NULL);
	json_add_string(o, "cmdline", *input->cmdline ? input->cmdline : NULL);
	json_add(o, "meminfo", *input->meminfo ? meminfo_object(input->meminfo) : NULL);
	json_add_number(o, "damage", input->damage);
	return o;
}
