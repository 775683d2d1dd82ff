// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a recording, messages, flags between threads, and small files. See
 * record.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "trace.h"

struct record_options options = { .debugfs = DEFAULT_DEBUGFS, .output = "." };
struct recording rec = {
	.dir = -1, .lock = -1,
	.stop_fd = -1, .wake_fd = -1, .done_fd = -1,
};

/* Messages */

static void vsay(const char *format, va_list args)
{
	flockfile(stderr);
	if (rec.line)
		fputs("\r\033[K", stderr);
	rec.line = false;
	fputs("kmemtraced: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	fflush(stderr);
	funlockfile(stderr);
}

void __printf(1, 2) record_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

void __printf(1, 2) record_note(const char *format, ...)
{
	va_list args;

	if (options.quiet)
		return;
	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

void set_flag(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

void wake(int fd)
{
	uint64_t one = 1;

	/* It fails only if the counter is full, and then the descriptor is readable. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* A reader calls this to make the main thread end the recording. */
void record_fail(bool *which)
{
	set_flag(which);
	wake(rec.wake_fd);
}

/* Small files */

static int open_in(const char *dir, const char *name, int flags)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, flags | O_CLOEXEC);
}

static bool locked_down;

/*
 * A kernel under lockdown, as Secure Boot sets it, opens no file in debugfs that can be
 * written. Such files are in /proc, too.
 */
int open_at(const char *name, int flags)
{
	int fd = open_in(options.debugfs, name, flags);

	if (fd >= 0 || errno != EPERM)
		return fd;
	fd = open_in(PROC_DIR, name, flags);
	if (fd < 0)
		errno = EPERM;
	else
		locked_down = true;
	return fd;
}

/* The directory of the files that can be written, for messages. */
const char *control_dir(void)
{
	return locked_down ? PROC_DIR : options.debugfs;
}

/* Read a file to its end and add a NUL byte. */
static bool slurp_fd(int fd, struct text *text)
{
	size_t room = 4096;
	ssize_t n;
	char *p;

	*text = (struct text){ .s = malloc(room) };
	while (text->s) {
		n = read(fd, text->s + text->len, room - text->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text->s);
			text->s = NULL;
		}
		if (n <= 0)
			break;
		text->len += n;
		if (room - text->len > 1024)
			continue;
		room *= 2;
		p = realloc(text->s, room);
		if (!p)
			free(text->s);
		text->s = p;
	}
	if (!text->s) {
		text->len = 0;
		return false;
	}
	text->s[text->len] = '\0';
	return true;
}

bool read_all(int fd, struct text *text)
{
	bool ok;

	*text = (struct text){ .s = NULL };
	if (fd < 0)
		return false;
	ok = slurp_fd(fd, text);
	close(fd);
	return ok;
}

bool read_file(const char *name, struct text *text)
{
	return read_all(open_at(name, O_RDONLY), text);
}

long long read_value(const char *name, long long otherwise)
{
	struct text text;
	long long value;
	char *end;

	if (!read_file(name, &text))
		return otherwise;
	errno = 0;
	value = strtoll(text.s, &end, 10);
	if (end == text.s || errno)
		value = otherwise;
	free(text.s);
	return value;
}

/* Returns 0 or a negative errno. */
int write_file(const char *name, const char *value)
{
	int fd = open_at(name, O_WRONLY | O_TRUNC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Create a file of the trace. An existing file or link is an error. */
int create_at(const char *name)
{
	return openat(rec.dir, name,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Is @name "cpu<n>@suffix", with the number in its usual form? */
bool cpu_name(const char *name, const char *suffix, unsigned int *cpu)
{
	char again[32];

	if (sscanf(name, "cpu%5u", cpu) != 1 || *cpu >= TRACE_MAX_CPUS)
		return false;
	snprintf(again, sizeof(again), "cpu%u%s", *cpu, suffix);
	return !strcmp(name, again);
}
