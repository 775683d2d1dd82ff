/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation contexts: the call stacks through which the memory of chosen call sites was
 * allocated, see Documentation/mm/allocation-context.rst. Only kernels with
 * CONFIG_MEM_ALLOC_CONTEXT have them; mainline has not.
 *
 * contexts_read() and contexts_parse() read what is captured. A struct capture enables one
 * call site and takes that back:
 *
 *	state = capture_begin(&capture, proc, site);
 *	if (state == CAPTURE_ON) {
 *		... contexts_read(&contexts, capture.fd) now and then ...
 *		capture_end(&capture);
 *	}
 *
 * A call site that a person enabled is read and stays enabled. If several programs capture one
 * call site, it stays enabled until the last of them ends. If the program exits, or
 * if SIGHUP, SIGINT, SIGQUIT or SIGTERM ends it, the kernel stops capturing first. After
 * SIGKILL it does not: `echo disable` into the file does it then.
 */
#ifndef _ALLOCINFO_CONTEXTS_H
#define _ALLOCINFO_CONTEXTS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "complaints.h"
#include "table.h"

/* The kernel shows at most 32 frames of a stack and details of 1024 allocations. */
#define CONTEXT_FRAMES		32u
#define CONTEXT_TASKS		1024u

/**
 * struct context_task - a process that allocated
 * @comm: name of one of its tasks
 * @tgid: its number
 * @count: its allocations among those that have details
 * @bytes: bytes of these
 */
struct context_task {
	const char *comm;
	uint64_t tgid;
	uint64_t count;
	uint64_t bytes;
};

/**
 * struct context_stack - memory that came through one call stack
 * @bytes: bytes that are not freed
 * @count: allocations that are not freed
 * @frames: functions as "name+0xoffset/0xsize", the innermost first
 * @nr_frames: number of @frames
 * @tasks: processes that allocated, the one with most allocations first. The kernel keeps
 *	details of some allocations only.
 * @nr_tasks: number of @tasks
 * @task_room: number of @tasks that fit
 */
struct context_stack {
	uint64_t bytes;
	uint64_t count;
	const char *frames[CONTEXT_FRAMES];
	unsigned int nr_frames;
	struct context_task *tasks;
	size_t nr_tasks;
	size_t task_room;
};

/**
 * struct context_site - a call site that is enabled
 * @site: the call site; its bytes and calls are the sums of @stacks
 * @stacks: its call stacks, the one with most bytes first
 * @nr: number of @stacks
 * @room: number of @stacks that fit
 * @dropped: allocations that were not captured
 */
struct context_site {
	struct site site;
	struct context_stack *stacks;
	size_t nr;
	size_t room;
	uint64_t dropped;
};

/**
 * struct contexts - what is captured
 * @sites: the call sites that are enabled
 * @nr: number of @sites
 * @room: number of @sites that fit
 * @text: the text that the strings are in, which are safe for a terminal
 * @damaged: lines that could not be read
 *
 * All zero at first. It can be read again, which frees what was read before.
 */
struct contexts {
	struct context_site *sites;
	size_t nr;
	size_t room;
	struct table text;
	uint64_t damaged;
};

/**
 * enum capture_state - can a call site be captured?
 * @CAPTURE_ON: it is captured
 * @CAPTURE_ABSENT: the kernel has no CONFIG_MEM_ALLOC_CONTEXT
 * @CAPTURE_DENIED: the user is not root, or the kernel is locked down
 * @CAPTURE_NEVER: profiling was switched off when the kernel was booted
 * @CAPTURE_NO_SITE: no such call site, or it shares its counter
 * @CAPTURE_FAILED: any other error
 */
enum capture_state {
	CAPTURE_ON,
	CAPTURE_ABSENT,
	CAPTURE_DENIED,
	CAPTURE_NEVER,
	CAPTURE_NO_SITE,
	CAPTURE_FAILED,
};

#define CAPTURE_COMMAND	1024u

/**
 * struct capture - a call site that is captured
 * @next: next one of this program
 * @fd: the file of the kernel
 * @ours: capture_begin() enabled it or shares it with another program, so capture_end()
 *	disables it, unless another program still captures it
 * @place: position of the byte whose lock says that a program captures it
 * @command: the command that disables it
 * @size: length of @command
 * @err: a negative errno after CAPTURE_FAILED
 */
struct capture {
	struct capture *next;
	int fd;
	bool ours;
	off_t place;
	char command[CAPTURE_COMMAND];
	size_t size;
	int err;
};

/* Flags of contexts_open(): only read, or also write commands. */
#define CONTEXTS_READ		(O_RDONLY | O_CLOEXEC)
#define CONTEXTS_CAPTURE	(O_RDWR | O_APPEND | O_CLOEXEC)

enum capture_state contexts_open(const char *proc, int flags, int *fd);
int contexts_read(struct contexts *contexts, int fd);
void contexts_parse(struct contexts *contexts, const char *name,
		    const struct complainer *to);
const struct context_site *contexts_find(const struct contexts *contexts,
					 const struct site *site);
void contexts_free(struct contexts *contexts);

bool context_same_stack(const struct context_stack *a, const struct context_stack *b);

enum capture_state capture_begin(struct capture *capture, const char *proc,
				 const struct site *site);
void capture_end(struct capture *capture);
const char *capture_advice(enum capture_state state);

#endif /* _ALLOCINFO_CONTEXTS_H */
