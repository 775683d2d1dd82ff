// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a machine in procfs, see source.h.
 *
 * With "never", ours has only the heading, and mainline has no file (later versions) or
 * rows of zeros (6.12). In all of them the sysctl exists and cannot be written. A kernel
 * without the option has no sysctl.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"
#include "util.h"

#define SYSCTL	"sys/vm/mem_profiling"
#define NODES	"allocinfo.nodes"
/* How often the nodes are read if modules are loaded or unloaded meanwhile. */
#define NODES_TRIES	5

/* What a program without privileges reads again and again, see source_hold(). */
static const char * const held_files[SOURCE_HELD] = {
	SYSCTL, "meminfo", "slabinfo", "zoneinfo",
};

static int open_file(const struct source *source, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", source->proc, name) < (int)sizeof(path))
		return open(path, O_RDONLY | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

/* Returns a descriptor for put_file(), or a negative errno. */
static int get_file(const struct source *source, const char *name)
{
	size_t i;
	int fd;

	if (!source->hold) {
		fd = open_file(source, name);
		return fd < 0 ? -errno : fd;
	}
	for (i = 0; i < SOURCE_HELD; i++) {
		if (!strcmp(held_files[i], name))
			return source->held[i];
	}
	return -ENOENT;
}

static void put_file(const struct source *source, int fd)
{
	if (!source->hold)
		close(fd);
}

/**
 * source_file - read a small file of procfs
 * @source: with @proc set
 * @name: name of the file below procfs
 * @text: receives the text with a NUL at its end
 * @size: size of @text
 *
 * Return: length of the text, cut to @size - 1 bytes, or a negative errno.
 */
int source_file(const struct source *source, const char *name, char *text, int size)
{
	int fd = get_file(source, name), len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	while (len < size - 1 && got > 0) {
		got = pread(fd, text + len, size - 1 - len, len);
		if (got > 0)
			len += got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	if (got < 0)
		len = -errno;
	put_file(source, fd);
	if (len >= 0)
		text[len] = '\0';
	return len;
}

/* A kernel without the sysctl is one without the option. */
static enum profiling absent_or_never(const struct source *source)
{
	char text[32];

	return source_file(source, SYSCTL, text, sizeof(text)) == -ENOENT ? PROFILING_ABSENT
									  : PROFILING_NEVER;
}

static enum profiling why_not(struct source *source, int err)
{
	source->err = -err;
	switch (err) {
	case ENOENT:
		return absent_or_never(source);
	case EACCES:
	case EPERM:
		return PROFILING_DENIED;
	default:
		return PROFILING_FAILED;
	}
}

/* Nobody can switch profiling on. */
static bool is_read_only(const struct source *source)
{
	int fd = get_file(source, SYSCTL);
	struct stat st;
	bool read_only;

	if (fd < 0)
		return false;
	read_only = !fstat(fd, &st) && !(st.st_mode & 0222);
	put_file(source, fd);
	return read_only;
}

static enum profiling why_no_nodes(struct source *source, int err)
{
	source->err = -err;
	switch (err) {
	case ENOENT:
		return PROFILING_NO_NODES;
	case EOPNOTSUPP:
		return PROFILING_NEVER;
	case EACCES:
	case EPERM:
		return PROFILING_NODES_DENIED;
	default:
		return PROFILING_FAILED;
	}
}

/* A walk over all memory. Returns an errno. */
static int read_nodes(const struct source *source, struct table *table)
{
	int fd = open_file(source, NODES), err;

	if (fd < 0)
		return errno;
	err = -table_read(table, fd);
	close(fd);
	return err;
}

/* A copy of procfs that has no sysctl is taken as that of a machine that counts. */
static enum profiling state_of(const struct source *source, const struct table *table)
{
	char text[32];
	bool off = source_file(source, SYSCTL, text, sizeof(text)) > 0 && text[0] == '0';

	if (!off)
		return PROFILING_ON;
	if (is_read_only(source) || (!table->nr && !table->damaged))
		return PROFILING_NEVER;
	return PROFILING_OFF;
}

/**
 * source_open - open the allocinfo file of a machine
 * @source: is set up
 * @proc: where procfs is mounted, usually "/proc"; must stay valid
 *
 * Return: PROFILING_ON if the file is open, whether the kernel counts at present or not;
 * otherwise why it is not open.
 */
enum profiling source_open(struct source *source, const char *proc)
{
	*source = (struct source) { .proc = proc, .name = "allocinfo" };
	source->fd = open_file(source, "allocinfo");
	return source->fd < 0 ? why_not(source, errno) : PROFILING_ON;
}

/**
 * source_hold - open every file that is needed, and keep them open
 * @source: after source_open(), whatever that returned
 *
 * Only root can open some of the files. After source_hold() a program can drop its
 * privileges: source_read(), source_file() and balance_read() open nothing any more. A file
 * that is missing now stays missing.
 */
void source_hold(struct source *source)
{
	size_t i;

	for (i = 0; i < SOURCE_HELD; i++)
		source->held[i] = get_file(source, held_files[i]);
	source->hold = true;
}

/**
 * source_read - read the call sites of a machine
 * @source: opened by source_open(), whatever that returned
 * @table: receives the call sites
 *
 * Return: the state; @table is valid if it is PROFILING_ON or PROFILING_OFF.
 */
enum profiling source_read(struct source *source, struct table *table)
{
	uint64_t complaints = 0;
	const struct complainer print = { complaints_print, &complaints };
	int err = 0;

	if (source->fd < 0)
		return why_not(source, -source->err);
	if (lseek(source->fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = table_read(table, source->fd);
	if (err)
		return why_not(source, -err);
	if (!table_parse(table, "allocinfo", source->to ? source->to : &print)) {
		source->err = -EPROTO;
		return PROFILING_FAILED;
	}
	complaints_end(complaints);
	return state_of(source, table);
}

/**
 * source_read_nodes - read the memory of call sites by node
 * @source: opened by source_open()
 * @table: receives the call sites
 * @nodes: receives their memory by node
 *
 * Complaints about damaged lines go to standard error.
 *
 * Return: the state; @table and @nodes are valid if it is PROFILING_ON or PROFILING_OFF.
 */
enum profiling source_read_nodes(struct source *source, struct table *table,
				 struct nodes *nodes)
{
	const struct complainer print = { complaints_print, &(uint64_t){ 0 } };
	int err, tries = NODES_TRIES;

	source->name = NODES;
	do {
		err = read_nodes(source, table);
	} while (err == ESTALE && --tries);
	if (err)
		return why_no_nodes(source, err);
	if (!nodes_parse(nodes, table, NODES, source->to ? source->to : &print)) {
		source->err = -EPROTO;
		return PROFILING_FAILED;
	}
	return state_of(source, table);
}

/**
 * source_close - close the files
 * @source: was set up by source_open()
 */
void source_close(struct source *source)
{
	size_t i;

	for (i = 0; source->hold && i < SOURCE_HELD; i++) {
		if (source->held[i] >= 0)
			close(source->held[i]);
	}
	source->hold = false;
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}

/**
 * profiling_advice - what a person can do about a state
 * @state: the state
 *
 * Return: a sentence without its full stop, or NULL if there is nothing to do.
 */
const char *profiling_advice(enum profiling state)
{
	static const char * const advice[] = {
		[PROFILING_OFF] = "profiling is off, so new allocations are not counted; "
			"switch it on with: sysctl vm.mem_profiling=1",
		[PROFILING_NEVER] = "this kernel was booted with profiling disabled; "
			"boot it with sysctl.vm.mem_profiling=1 or =0 in place of never",
		[PROFILING_ABSENT] = "this kernel has no memory allocation profiling; "
			"it needs CONFIG_MEM_ALLOC_PROFILING",
		[PROFILING_DENIED] = "only root can read /proc/allocinfo; "
			"run this program with sudo",
		[PROFILING_NO_NODES] = "this kernel does not show memory by node; "
			"it needs CONFIG_NUMA, and mainline has no /proc/allocinfo.nodes",
		[PROFILING_NODES_DENIED] = "only root with CAP_PERFMON can read memory by node; "
			"run this program outside of the container",
	};

	return (size_t)state < ARRAY_SIZE(advice) ? advice[state] : NULL;
}

/**
 * source_explain - print what is wrong, and what to do
 * @source: the machine
 * @state: the state that source_open() or source_read() returned; for PROFILING_ON,
 *	nothing is printed
 */
void source_explain(const struct source *source, enum profiling state)
{
	const char *advice = profiling_advice(state);

	if (advice)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, advice);
	else if (state == PROFILING_FAILED)
		fprintf(stderr, "%s: cannot read %s/%s: %s\n",
			program_invocation_short_name, source->proc, source->name,
			strerror(-source->err));
}
