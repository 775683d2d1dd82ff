// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes files of the kernel, and reads its log.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KMSG		"/dev/kmsg"

#define TEXT_ROOM	(8 * MIB)

void read_text(struct text *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (!t->p)
		t->p = big(TEXT_ROOM);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	t->len = 0;
	while ((n = read(fd, t->p + t->len, TEXT_ROOM - 1 - t->len)) > 0)
		t->len += n;
	if (n < 0 || t->len == TEXT_ROOM - 1)
		die("%s: %s", path, n < 0 ? strerror(errno) : "too long");
	t->p[t->len] = '\0';
	close(fd);
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

/* The next line, NULL at the end. */
const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p && p[1] ? p + 1 : NULL;
}

/* The number that follows a word in a line, -1 if the word is missing. */
long number_in(const char *line, const char *word)
{
	size_t len = strlen(word);
	const char *p = memmem(line, strcspn(line, "\n"), word, len);

	return p ? strtol(p + len, NULL, 10) : -1;
}

/* The same in a whole text. */
long number_in_text(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	return p ? strtol(p + strlen(word), NULL, 10) : -1;
}

/* The kernel log */

static int kmsg = -1;
static char last_line[256];

static const char * const splats[] = {
	"BUG:", "WARNING:", "Oops", "general protection", "possible recursive",
	"possible circular", "possible irq lock", "inconsistent lock state",
	"suspicious RCU usage", "INFO: task", "INFO: rcu", " stall", "soft lockup",
	"KASAN", "KFENCE:", "UBSAN", "refcount_t", "corruption", "Bad page",
	"scheduling while atomic", "sleeping function called", "nable to handle",
	"Objects remaining", "Busy inodes", "cannot create duplicate",
	"to become free. Usage count", "BUG ", "invalid opcode", "leaked reference",
	"Call Trace:",
};

/* read_log() starts with the lines after this call. */
void open_log(void)
{
	kmsg = open(KMSG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0)
		die("%s: %s", KMSG, strerror(errno));
}

static bool is_splat(const char *line)
{
	/* fail-nth announces the copy from or to user space that it makes fail */
	if (strstr(line, "Call Trace:") && !strncmp(last_line, "FAULT_INJECTION:", 16))
		return false;
	for (size_t i = 0; i < sizeof(splats) / sizeof(splats[0]); i++)
		if (strstr(line, splats[i]))
			return true;
	return false;
}

/* For a stack trace take the line before it, which has the reason. */
static void take_splat(struct finding *f, const char *line)
{
	if (*f->splat)
		return;
	if (strstr(line, "Call Trace:"))
		line = last_line;
	snprintf(f->splat, sizeof(f->splat), "%.150s", line);
	for (char *p = f->splat; *p; p++)
		if (*p <= ' ')
			*p = '_';
}

/* Registers, code and what the unwinder is not sure about */
static bool is_ballast(const char *line)
{
	return !strncmp(line, " ? ", 3) || !strncmp(line, "Code: ", 6) ||
	       (*line == 'R' && (line[3] == ':' || (line[3] && line[4] == ':')) &&
		strncmp(line, "RIP:", 4));
}

/*
 * Everything from the first splat on, with one line before it, for the report.  It ends when
 * the splat comes again, with the next fault.
 */
static void note_line(struct finding *f, const char *line, bool splat)
{
	if (f->nr_log == MOST_LOG || f->repeats || is_ballast(line))
		return;
	if (!f->nr_log && !f->take_all && !splat)
		return;
	if (!f->nr_log && splat && *last_line)
		snprintf(f->log[f->nr_log++], sizeof(f->log[0]), "%.190s", last_line);
	for (unsigned int i = 0; splat && i < f->nr_log && i < 2; i++)
		f->repeats |= f->nr_log > 2 && !strcmp(f->log[i], line);
	snprintf(f->log[f->nr_log++], sizeof(f->log[0]), "%.190s", line);
}

/* Note the first splat. Returns whether ext4 has reported an error. */
bool read_log(struct finding *f)
{
	static char record[8192];
	bool disorder = false;
	ssize_t n;
	char *line;

	for (;;) {
		n = read(kmsg, record, sizeof(record) - 1);
		if (n < 0 && errno != EPIPE)
			return disorder;
		if (n <= 0)
			continue;
		record[n] = '\0';
		line = strchr(record, ';');
		if (!line)
			continue;
		line++;
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "faultwalk:", 10))
			continue;
		disorder |= strstr(line, "EXT4-fs error") || strstr(line, "borting journal");
		note_line(f, line, is_splat(line));
		if (is_splat(line))
			take_splat(f, line);
		if (strncmp(line, "CPU: ", 5) && strncmp(line, "Hardware name", 13))
			snprintf(last_line, sizeof(last_line), "%s", line);
	}
}

/* Is lockdep still on, or not there? It ends with the first report. */
bool lockdep_is_on(void)
{
	static char room[16 * KIB];
	int fd = open("/proc/lockdep_stats", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, room, sizeof(room) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true;
	room[n] = '\0';
	return number_in_text(room, "debug_locks:") != 0;
}

/* The limit of /dev/kmsg is ten lines in five seconds per open file: open it anew. */
void tell_console(const char *what)
{
	char line[400];

	snprintf(line, sizeof(line), "<6>faultwalk: %s: %s\n", work->name, what);
	write_text(KMSG, line);
}
