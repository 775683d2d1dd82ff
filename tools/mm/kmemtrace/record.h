/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of kmemtraced share:
 *
 *	kmemtraced.c	begin, wait, end, and say how it went
 *	record-options.c	the command line
 *	record-header.c	the file "header"
 *	record-symbols.c	tags, modules and symbols for the header
 *	record-dir.c	the directory of the trace
 *	record-cpu.c	the threads that read the files of the CPUs
 *	record-stats.c	what the kernel counted
 *	record-base.c	messages, flags, small files of the kernel
 *
 * Each part calls only parts below it.
 *
 * The readers share with the main thread only the events to stop and to have stopped,
 * the room that --max leaves, and the flags about failures. The main thread does
 * everything else.
 */
#ifndef _KMEMTRACE_RECORD_H
#define _KMEMTRACE_RECORD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util.h"

#define DEFAULT_DEBUGFS	"/sys/kernel/debug/kmemtrace"
#define TICK_MS		1000

/* options of the command line */
struct record_options {
	const char *debugfs;
	const char *output;
	const char *features;
	double seconds;
	uint64_t max;		/* bytes; 0: no limit */
	bool force;
	bool quiet;
	bool progress;
	bool rest;
	bool stop;
};

/**
 * struct reader - a CPU's file on its way to disk
 * @cpu: number
 * @in: cpu<n> of debugfs
 * @out: cpu<n>.out
 * @buf: READ_SIZE or less, aligned for @direct
 * @fill: how much of @buf is still to be written
 * @direct: @out goes past the page cache, in whole buffers. What the page cache
 *	would take for each page are allocations, and the trace would be full of
 *	them.
 * @thread: reads
 * @bound: the thread is bound to @cpu, or was until that went offline
 * @offline: main thread: has been reported to be
 * @bytes: written to @out
 * @mark: a place between two records, which is what a read() ends with that had
 *	room for more; perhaps still to be written
 * @whole: the last @mark that is in @out
 */
struct reader {
	unsigned int cpu;
	int in;
	int out;
	uint8_t *buf;
	size_t fill;
	bool direct;
	pthread_t thread;
	bool bound;
	bool offline;
	uint64_t bytes;
	uint64_t mark;
	uint64_t whole;
};

/* A line of the file "stats". */
struct stats {
	unsigned int cpu;
	uint64_t events;
	uint64_t bytes;
	uint64_t lost_events;
	uint64_t lost_bytes;
	uint64_t untold_events;
	uint64_t untold_bytes;
};

/* @overruns is what a kernel without "stats" has: bytes lost, -1: not even that */
struct all_stats {
	struct stats *cpus;
	size_t nr;
	bool known;
	long long overruns;
};

struct text {
	char *s;
	size_t len;
};

struct recording {
	struct reader **readers;
	size_t nr_readers;
	size_t read_size;
	uint64_t drain_max;	/* of a reader, once told to stop */
	uint64_t room;		/* what is left of --max */
	int dir;
	int lock;		/* "enabled": holds the lock and the recording */
	FILE *last_header;	/* room for it, until it is written */
	int stop_fd;		/* readable once all shall stop */
	int wake_fd;		/* readable once one has failed */
	int done_fd;		/* counts readers that have stopped */
	bool begun;		/* recording is to be switched on here, or was */
	bool on;		/* it was, so it is ours to switch off */
	bool ended;		/* and off, by anyone's wish */
	bool whole;		/* the trace is of all that was recorded */
	bool full;		/* --max is reached */
	bool give_up;		/* told to stop once more */
	bool unfetched;		/* and something was left */
	bool unknown;		/* nobody knows what was lost */
	bool failed_output;
	bool failed_other;
	struct all_stats before;
	struct all_stats after;
	struct text features;
	struct text tags;
	struct text modules;
	struct text kallsyms;
	char started[32];
	bool line;		/* a line of progress stands on the terminal */
};

extern struct record_options options;
extern struct recording rec;

/* record-base.c */
void __printf(1, 2) record_error(const char *format, ...);
void __printf(1, 2) record_note(const char *format, ...);
bool is_set(const bool *flag);
void set_flag(bool *flag);
void wake(int fd);
void record_fail(bool *which);
int open_at(const char *name, int flags);
bool read_all(int fd, struct text *text);
bool read_file(const char *name, struct text *text);
long long read_value(const char *name, long long otherwise);
int write_file(const char *name, const char *value);
int create_at(const char *name);
bool cpu_name(const char *name, const char *suffix, unsigned int *cpu);

/* record-stats.c */
void read_stats(struct all_stats *all);
struct stats stats_of(const struct all_stats *all, unsigned int cpu);
struct stats sum_stats(const struct all_stats *all);
bool losses_known(void);
bool has_lost(void);

/* record-cpu.c */
bool visit_cpu_files(bool (*fn)(unsigned int cpu));
bool scan(void);
void report_cpus(void);
uint64_t bytes_read(void);

/* record-dir.c */
bool make_directory(void);
bool clear_directory(void);

/* record-symbols.c */
const char *line_end(const struct text *text, const char *line);
void refresh_symbols(void);
void follow_modules(void);

/* record-header.c */
bool begin_header(void);
void end_header(void);

/* record-options.c */
void parse_options(int argc, char **argv);

#endif /* _KMEMTRACE_RECORD_H */
