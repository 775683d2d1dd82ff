// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks in a log and their names, see pids.h.
 *
 * A task may have ended when the log is complete, or may run another program by then. So
 * its name is looked up when its pid appears first, and again at the end; the last name
 * found counts. A task that ends loses its command line before its pid, so an empty command
 * line does not replace a name that was found before.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pids.h"
#include "record.h"
#include "replace.h"
#include "utf8.h"

/* Data */

/* A longer command line is cut off. */
#define NAME_MAX_SIZE	4096

/* How well a name is known. A name does not replace one that is known better. */
enum known {
	KNOWN_NOT,
	KNOWN_COMM,
	KNOWN_LINE,
};

struct pid_entry {
	uint32_t pid;
	enum known known;
	char *name;
};

/* Internals */

static size_t read_proc(uint32_t pid, const char *what, char *to, size_t size)
{
	char path[64];
	size_t at = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (at < size) {
		n = read(fd, to + at, size - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
	}
	close(fd);
	return at;
}

/* Put ';' after each argument and remove newlines and other control characters. */
static void make_line(char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (!text[i])
			text[i] = ';';
	}
	text[size] = '\0';
	clean_name(text);
}

static enum known look_up(uint32_t pid, char *name)
{
	size_t size;

	if (!pid) {
		strcpy(name, "[IDLE]");
		return KNOWN_LINE;
	}
	size = read_proc(pid, "cmdline", name, NAME_MAX_SIZE - 1);
	if (size) {
		make_line(name, size);
		return KNOWN_LINE;
	}
	size = read_proc(pid, "comm", name + 1, NAME_MAX_SIZE - 3);
	if (!size)
		return KNOWN_NOT;
	size -= name[size] == '\n';
	make_line(name + 1, size);
	name[0] = '[';
	strcat(name, "]");
	return KNOWN_COMM;
}

static void look(struct pid_entry *entry)
{
	char name[NAME_MAX_SIZE];
	enum known known = look_up(entry->pid, name);

	if (known == KNOWN_NOT || known < entry->known)
		return;
	free(entry->name);
	entry->name = need_string(name);
	entry->known = known;
}

static bool same_pid(const void *table, uint32_t nr, const void *key)
{
	const struct pid_entry *entries = table;
	const uint32_t *pid = key;

	return entries[nr].pid == *pid;
}

static int by_pid(const void *a, const void *b)
{
	const struct pid_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Interface */

/**
 * pids_see - note that a task is in the log
 * @pids: the tasks seen so far
 * @pid: pid of the task
 */
void pids_see(struct pids *pids, uint32_t pid)
{
	if (index_find(&pids->index, hash_u64(pid), same_pid, pids->entries, &pid) !=
	    INDEX_NONE)
		return;
	if (pids->nr == pids->room) {
		pids->room = pids->room ? pids->room * 2 : 64;
		pids->entries = need_more(pids->entries, pids->room, sizeof(*pids->entries));
	}
	pids->entries[pids->nr] = (struct pid_entry){ .pid = pid };
	look(&pids->entries[pids->nr]);
	index_add(&pids->index, hash_u64(pid), pids->nr++);
}

/**
 * pids_see_records - note the tasks of records, and whether there are call sites
 * @pids: the tasks seen so far
 * @data: whole records
 * @size: size of @data
 */
void pids_see_records(struct pids *pids, const uint8_t *data, size_t size)
{
	struct record record;
	unsigned int i;
	size_t at;

	for (at = 0; at < size; at += record_size(data + at)) {
		record_open(&record, data + at);
		if (!record_decode(&record))
			continue;
		pids->sites |= record.op == OP_ALLOC;
		for (i = 0; i < record_pids(&record); i++)
			pids_see(pids, record.pid[i]);
	}
}

/**
 * pids_look_again - look up all names again, at the end of the log
 * @pids: from pids_see()
 */
void pids_look_again(struct pids *pids)
{
	uint32_t i;

	for (i = 0; i < pids->nr; i++)
		look(&pids->entries[i]);
}

/**
 * pids_write - write the file, sorted by pid
 * @pids: the tasks; they are sorted here and can only be freed afterwards
 * @to: the file, from replace_open()
 *
 * Return: false after a message.
 */
bool pids_write(struct pids *pids, struct replace *to)
{
	FILE *file = replace_begin(to);
	uint32_t i;

	if (!file)
		return false;
	if (pids->nr)
		qsort(pids->entries, pids->nr, sizeof(*pids->entries), by_pid);
	for (i = 0; i < pids->nr; i++)
		fprintf(file, "%" PRIu32 " %s\n", pids->entries[i].pid,
			pids->entries[i].known ? pids->entries[i].name : "[?]");
	return replace_end(to, file);
}

/**
 * pids_free - free the memory of the tasks
 * @pids: the tasks; empty afterwards
 */
void pids_free(struct pids *pids)
{
	uint32_t i;

	for (i = 0; i < pids->nr; i++)
		free(pids->entries[i].name);
	free(pids->entries);
	index_free(&pids->index);
	*pids = (struct pids){ 0 };
}
