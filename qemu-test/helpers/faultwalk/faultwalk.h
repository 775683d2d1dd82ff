/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of faultwalk; faultwalk.c describes the program.
 */
#ifndef _FAULTWALK_H
#define _FAULTWALK_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>

#define FAULTED		"faulted"	/* name of the task that faults can hit */
#define QUIT		"quit"		/* argument with which this program just exits */

#define MORE		4	/* runs with a fault between two readings, to find a leak */
#define KIB		1024UL
#define MIB		(KIB * KIB)

/* faultwalk.c */

extern const char *disk, *module;	/* of the options -d and -m */

void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...);
void pause_ms(unsigned int ms);
void *big(size_t size);

/* workload.c */

/* The report of a workload. One page, shared by the walker and all tasks it starts. */
struct report {
	char call[32];		/* the first one that failed; empty: none */
	char why[32];
	bool left;		/* something could not be cleaned up */
	bool has_table;		/* the module has a file "table" in debugfs */
};

struct work {
	const char *name;
	void (*work)(void);
	void (*clean)(void);		/* in the same process */
	void (*set_up)(void);		/* the walker: before all else */
	bool (*restore)(void);		/* if something could not be cleaned up */
	void (*tear_down)(void);
};

/* How a run ended; the report has the rest. */
struct outcome {
	int sig;
	bool hung;
	bool stuck;		/* not even SIGKILL ends it */
};

extern struct report *report;
extern const struct work *work;		/* the chosen one */
extern const struct work ext4_workload, sockets_workload, module_workload, exec_workload;
extern char data[64 * KIB], back[64 * KIB];	/* to write, and to read into */

bool failed(const char *call, const char *why);
bool ok(const char *call, long ret);
bool ok_error(const char *call, int error);
bool ok_all(const char *call, long got, long want);
bool ok_map(const char *call, const void *p);
int keep(int fd);
bool close_kept(void);
bool read_some(const char *path);

bool choose_work(const char *name);
void set_up_work(void);
struct outcome run(void);

/* kernel.c */

struct text {
	char *p;
	size_t len;
};

/* The consequences of a fault at one point */
struct finding {
	unsigned int fired;
	char result[80];
	char splat[160];
	char leak[400];
	long bytes;
	bool hung, stuck;
	char broken[80];	/* how the workload then ends without a fault */
};

void read_text(struct text *t, const char *path);
int write_text(const char *path, const char *text);
const char *next_line(const char *p);
long number_in(const char *line, const char *word);
void open_log(void);
bool read_log(struct finding *f);
void tell_console(const char *what);

/* points.c */

struct point {
	char *key;		/* the part of its line in the list that stays the same */
	unsigned int index;	/* among lines of the same key */
	char *where;		/* the terms of a query */
	char *label;		/* what is printed */
};

extern struct point *points;
extern size_t nr_points;

void find_points(void);
void fault_command(const char *where, const char *what);
void arm(const struct point *p);
bool is_armed(const struct point *p);
void disarm(void);
unsigned int times_fired(const struct point *p);

/* leaks.c */

enum reading {
	AFTER_ONE,
	AFTER_MORE,
	RESTED,
	AFTER_AGAIN,
	NR_READINGS,
};

void set_up_readings(void);
void drop_caches(void);
void settle(unsigned int ms);
void take_reading(enum reading r, unsigned int ms);
bool any_grew(enum reading to);
long bytes_more(void);
void name_leaks(struct finding *f);
void forget_leaks(void);

#endif /* _FAULTWALK_H */
