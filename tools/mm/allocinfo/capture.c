// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capturing allocation contexts of a call site, see contexts.h.
 *
 * What is captured costs time and memory, so it must end with the program. A list has the
 * captures of this program. An exit and the signals that end a program walk it: write() is
 * safe in a signal handler, and the list is changed only with these signals blocked.
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
#include <unistd.h>

#include "allocinfo.h"
#include "contexts.h"
#include "util.h"

/* Data */

#define CONTEXTS	"alloc_tags.ctx"
#define DEBUGFS		"/sys/kernel/debug/" CONTEXTS

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
static void disable(struct capture *capture)
{
	if (capture->ours && write(capture->fd, capture->command, capture->size) < 0)
		return;
	capture->ours = false;
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

static enum capture_state enable(struct capture *capture, const struct site *site)
{
	char command[CAPTURE_COMMAND];
	size_t size = build(command, site, "enable");
	sigset_t old;
	int err = 0;

	capture->size = build(capture->command, site, "disable");
	if (!size || !capture->size)
		return CAPTURE_NO_SITE;
	prepare();
	block_signals(&old);
	if (write(capture->fd, command, size) < 0) {
		err = errno;
	} else {
		capture->ours = true;
		capture->next = captures;
		captures = capture;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	capture->err = -err;
	return err ? state_of_command(err) : CAPTURE_ON;
}

/* Interface */

/**
 * contexts_open - open the file of the kernel
 * @proc: directory of procfs; only for that of this machine, debugfs is tried first
 * @fd: set to a descriptor
 *
 * Return: CAPTURE_ON if it is open.
 */
enum capture_state contexts_open(const char *proc, int *fd)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC;
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
	state = contexts_open(proc, &capture->fd);
	if (state != CAPTURE_ON) {
		capture->err = -errno;
		return state;
	}
	if (is_enabled(capture->fd, site))
		return CAPTURE_ON;
	state = enable(capture, site);
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
