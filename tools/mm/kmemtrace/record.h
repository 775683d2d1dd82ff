/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces between the parts of kmemtraced:
 *
 *	kmemtraced.c	begin, wait, end, report the outcome
 *	record-options.c	the command line
 *	record-header.c	the file "header"
 *	record-symbols.c	tags, modules and symbols for the header
 *	record-dir.c	the directory of the trace
 *	record-cpu.c	the threads that read the files of the CPUs
 *	record-stats.c	the counts of the kernel
 *	record-base.c	messages, flags, small files of the kernel
 *
 * Each part calls only parts below it.
 *
 * The readers and the main thread share only the descriptors for stopping, the room that
 * --max leaves, and the flags about failures. The main thread does everything else.
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
#define PROC_DIR	"/proc/kmemtrace"
#define TICK_MS		1000

/* temporary names: the first header until the kernel records, and room for the last one */
#define FIRST_HEADER	"header.first"
#define LAST_HEADER	"header.tmp"

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
 * struct reader - copies the records of a CPU to disk
 * @next: next reader that has no thread yet
 * @cpu: number of the CPU
 * @in: file cpu<n> in debugfs
 * @out: file cpu<n>.out; until that is created, a duplicate of @in
 * @buf: rec.read_size bytes, aligned for @direct
 * @fill: bytes of @buf that are not written yet
 * @direct: write whole buffers to @out past the page cache. The page cache would allocate
 *	memory for each page, and the trace would be full of these allocations.
 * @thread: thread that reads
 * @bound: the thread is bound to @cpu, or was until the CPU went offline
 * @offline: the main thread has reported that the CPU is offline
 * @bytes: bytes written to @out
 * @mark: offset of a boundary between records, perhaps not written yet. A read() that
 *	returns less than its buffer ends at such a boundary.
 * @whole: last @mark that is in @out
 */
struct reader {
	struct reader *next;
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

/* counts of a CPU, a line of the file "stats" */
struct stats {
	unsigned int cpu;
	uint64_t events;
	uint64_t bytes;
	uint64_t lost_events;
	uint64_t lost_bytes;
	uint64_t untold_events;
	uint64_t untold_bytes;
};

/*
 * Counts of all CPUs. A kernel without "stats" only reports the lost bytes, @overruns; -1
 * if it does not report these, either.
 */
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
	struct reader **readers;	/* those that have a thread */
	size_t nr_readers;
	size_t read_size;
	uint64_t drain_max;	/* bytes that a reader fetches after the end */
	uint64_t room;		/* bytes that --max leaves */
	int dir;
	int lock;		/* "enabled": holds the lock and keeps recording on */
	FILE *last_header;	/* room for the last header */
	int stop_fd;		/* readable when the readers must stop */
	int wake_fd;		/* readable when a reader has failed */
	int done_fd;		/* counts the readers that have stopped */
	bool begun;		/* this program switches recording on, or did */
	bool on;		/* this program has switched it on and must switch it off */
	bool ended;		/* recording was switched off at the end */
	bool whole;		/* the trace covers the whole recording */
	bool full;		/* --max is reached */
	bool give_up;		/* there was a second signal */
	bool unfetched;		/* the second signal left records in the kernel */
	bool unknown;		/* the kernel does not report losses */
	bool failed_output;
	bool failed_other;
	struct all_stats before;
	struct all_stats after;
	struct text features;
	struct text tags;
	struct text modules;
	struct text kallsyms;
	char started[32];
	bool line;		/* the terminal shows a line of progress */
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
const char *control_dir(void);
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
bool open_readers(void);
bool start_readers(void);
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
bool name_first_header(void);
void forget_header(void);
void end_header(void);

/* record-options.c */
void parse_options(int argc, char **argv);

#endif /* _KMEMTRACE_RECORD_H */
