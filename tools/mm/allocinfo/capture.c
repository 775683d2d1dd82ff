// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capturing allocation contexts of a call site, see contexts.h.
 *
 * What is captured costs time and memory, so it must end with the program. A list has the
 * captures of this program. An exit and the signals that end a program walk it: write() is
 * safe in a signal handler, and the list is changed only with these signals blocked.
 *
 * Programs may capture one call site at the same time, and the last one must end it. Each of
 * them holds a read lock on one byte of the kernel's file, whose position is a hash of the
 * call site; nothing is at that byte. A program that finds the call site enabled shares the
 * capture if another one holds that lock; without one, a person enabled it, and it stays
 * enabled. At the end, the program that can have the byte for itself is the last one. The
 * write lock on the first byte lets only one program begin or end at a time. The locks belong
 * to the descriptor, so they go with the program even if it is killed.
 *
 * The descriptor has O_APPEND, which the kernel ignores: each write() is a command, at any
 * position.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "allocinfo.h"
#include "contexts.h"
#include "util.h"

/* Data */

#define CONTEXTS	"alloc_tags.ctx"
#define DEBUGFS		"/sys/kernel/debug/" CONTEXTS

/* How often, and how long, a signal handler waits for another program. */
#define TRIES		100
#define TRY_NS		10000000

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static struct capture *captures;
static bool prepared;

/* Internals */

static void block_signals(sigset_t *old)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* Safe in a signal handler. */
static bool lock_byte(int fd, short type, off_t at)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/* A program that was stopped may have the lock, so the wait ends: all others go on. */
static void begin_alone(int fd)
{
	const struct timespec time = { .tv_nsec = TRY_NS };
	int tries = TRIES;

	while (!lock_byte(fd, F_WRLCK, 0) && --tries)
		nanosleep(&time, NULL);
}

static void end_alone(int fd)
{
	lock_byte(fd, F_UNLCK, 0);
}

/* The position of the byte of a call site: FNV-1a of the command that disables it. */
static off_t place_of(const char *command)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*command)
		hash = (hash ^ (unsigned char)*command++) * UINT64_C(0x100000001b3);
	return 1 + (hash >> 2);
}

/* Does another program capture this call site? */
static bool is_shared(const struct capture *capture)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = capture->place,
		.l_len = 1,
	};

	return !fcntl(capture->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Does no other program have the byte? If there are no locks, none does. */
static bool is_last(const struct capture *capture)
{
	return lock_byte(capture->fd, F_WRLCK, capture->place) ||
	       (errno != EAGAIN && errno != EACCES);
}

/* Safe in a signal handler. */
static void disable(struct capture *capture)
{
	if (!capture->ours)
		return;
	begin_alone(capture->fd);
	if (!is_last(capture) || write(capture->fd, capture->command, capture->size) >= 0)
		capture->ours = false;
	lock_byte(capture->fd, F_UNLCK, capture->place);
	end_alone(capture->fd);
}

static void disable_all(void)
{
	struct capture *capture;

	for (capture = captures; capture; capture = capture->next)
		disable(capture);
}

static void on_signal(int nr)
{
	disable_all();
	/* SA_RESETHAND: this one ends the program */
	raise(nr);
}

/* A signal that the program handles or ignores is left to it. */
static void prepare(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND }, old;
	size_t i;

	if (prepared)
		return;
	prepared = true;
	atexit(disable_all);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
}

static enum capture_state state_of(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return CAPTURE_ABSENT;
	case EACCES:
	case EPERM:
		return CAPTURE_DENIED;
	}
	return CAPTURE_FAILED;
}

static enum capture_state state_of_command(int err)
{
	switch (err) {
	case ENOENT:
		return CAPTURE_NO_SITE;
	case EOPNOTSUPP:
		return CAPTURE_NEVER;
	case EACCES:
	case EPERM:
		return CAPTURE_DENIED;
	}
	return CAPTURE_FAILED;
}

/* Build a command for a call site. Returns its length, or 0 if it has no room. */
static size_t build(char *command, const struct site *site, const char *verb)
{
	int size = snprintf(command, CAPTURE_COMMAND, "file \"%s\" line %u%s%s%s%s%s%s %s\n",
			    site->file, site->line, *site->func ? " func \"" : "", site->func,
			    *site->func ? "\"" : "", *site->module ? " module \"" : "",
			    site->module, *site->module ? "\"" : "", verb);

	return size > 0 && size < (int)CAPTURE_COMMAND ? size : 0;
}

static bool is_enabled(int fd, const struct site *site)
{
	struct contexts contexts = { 0 };
	bool enabled = false;

	if (!contexts_read(&contexts, fd)) {
		contexts_parse(&contexts, CONTEXTS, &(struct complainer){ 0 });
		enabled = contexts_find(&contexts, site);
	}
	contexts_free(&contexts);
	return enabled;
}

/* From now on, the capture ends with this program, or with the last one that shares it. */
static void own(struct capture *capture)
{
	lock_byte(capture->fd, F_RDLCK, capture->place);
	capture->ours = true;
	capture->next = captures;
	captures = capture;
}

static enum capture_state enable(struct capture *capture, const struct site *site)
{
	char command[CAPTURE_COMMAND];
	size_t size = build(command, site, "enable");

	/* "enable" is shorter than "disable", so it has room */
	if (write(capture->fd, command, size) < 0) {
		capture->err = -errno;
		return state_of_command(errno);
	}
	own(capture);
	return CAPTURE_ON;
}

static enum capture_state enable_or_share(struct capture *capture, const struct site *site)
{
	enum capture_state state = CAPTURE_ON;
	sigset_t old;

	prepare();
	block_signals(&old);
	begin_alone(capture->fd);
	if (!is_enabled(capture->fd, site))
		state = enable(capture, site);
	else if (is_shared(capture))
		own(capture);
	end_alone(capture->fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return state;
}

/* Interface */

/**
 * contexts_open - open the file of the kernel
 * @proc: directory of procfs; only for that of this machine, debugfs is tried first
 * @flags: CONTEXTS_READ or CONTEXTS_CAPTURE
 * @fd: set to a descriptor
 *
 * Return: CAPTURE_ON if it is open.
 */
enum capture_state contexts_open(const char *proc, int flags, int *fd)
{
	char *path;

	*fd = strcmp(proc, PROC_DIR) ? -1 : open(DEBUGFS, flags);
	if (*fd >= 0)
		return CAPTURE_ON;
	if (asprintf(&path, "%s/" CONTEXTS, proc) < 0)
		return CAPTURE_FAILED;
	*fd = open(path, flags);
	free(path);
	return *fd < 0 ? state_of(errno) : CAPTURE_ON;
}

/**
 * capture_begin - capture the contexts of a call site
 * @capture: must stay where it is until capture_end()
 * @proc: directory of procfs
 * @site: the call site as /proc/allocinfo names it
 *
 * Return: CAPTURE_ON, or why not; then capture_end() is not needed.
 */
enum capture_state capture_begin(struct capture *capture, const char *proc,
				 const struct site *site)
{
	enum capture_state state;

	*capture = (struct capture){ .fd = -1 };
	state = contexts_open(proc, CONTEXTS_CAPTURE, &capture->fd);
	if (state != CAPTURE_ON) {
		capture->err = -errno;
		return state;
	}
	capture->size = build(capture->command, site, "disable");
	capture->place = place_of(capture->command);
	state = capture->size ? enable_or_share(capture, site) : CAPTURE_NO_SITE;
	if (state != CAPTURE_ON)
		close(capture->fd);
	return state;
}

/**
 * capture_end - stop what capture_begin() began
 * @capture: from capture_begin()
 */
void capture_end(struct capture *capture)
{
	struct capture **at;
	sigset_t old;

	block_signals(&old);
	disable(capture);
	for (at = &captures; *at; at = &(*at)->next) {
		if (*at == capture) {
			*at = capture->next;
			break;
		}
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(capture->fd);
	capture->fd = -1;
}

/**
 * capture_advice - what a person can do about a state
 * @state: the state
 *
 * Return: a sentence without its full stop, or NULL if there is nothing to do.
 */
const char *capture_advice(enum capture_state state)
{
	static const char * const advice[] = {
		[CAPTURE_ABSENT] = "this kernel cannot show callers; "
			"it needs CONFIG_MEM_ALLOC_CONTEXT, which mainline does not have",
		[CAPTURE_DENIED] = "only root can capture callers; "
			"nobody can if the kernel is locked down for confidentiality",
		[CAPTURE_NEVER] = "this kernel was booted with profiling disabled; "
			"boot it with sysctl.vm.mem_profiling=1 or =0 in place of never",
		[CAPTURE_NO_SITE] = "the kernel cannot capture this call site; "
			"it is gone, or shares a counter (accurate:no)",
	};

	return (size_t)state < ARRAY_SIZE(advice) ? advice[state] : NULL;
}
