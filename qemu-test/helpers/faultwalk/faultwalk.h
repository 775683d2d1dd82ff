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

extern const char *disk, *module, *script;	/* of the options -d, -m and -s */

void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...);
void pause_ms(unsigned int ms);
void *big(size_t size);

/* workload.c */

/* The report of a workload. One page, shared by the walker and all tasks it starts. */
struct report {
	char call[32];		/* the first one that failed; empty: none */
	char why[120];
	bool left;		/* something could not be cleaned up */
	bool has_table;		/* the module has a file "table" in debugfs */
	unsigned int nth;	/* fail-nth of the task; 0: none */
	bool nth_fired;
};

struct outcome;
struct finding;

struct work {
	const char *name;
	void (*work)(void);
	void (*clean)(void);		/* in the same process */
	void (*set_up)(void);		/* the walker: before all else */
	bool (*restore)(void);		/* if something could not be cleaned up */
	void (*tear_down)(void);
	struct outcome (*run)(void);	/* instead of a process for each run */
	void (*idle)(void);		/* starts a program, as every workload does */
	bool may_fail;			/* it fails in the same way without a fault */
	bool by_nth;			/* before the points, walk by fail-nth */
};

/* How a run ended; the report has the rest. */
struct outcome {
	int sig;
	bool hung;
	bool stuck;		/* not even SIGKILL ends it */
};

extern struct report *report;
extern const struct work *work;		/* the chosen one */
extern const struct work ext4_workload, sockets_workload, module_workload, exec_workload,
			 script_workload, sweep_workload;
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
void log_hang(void);
bool task_is_called(const char *pid, const char *name);
struct outcome run(void);

/* kernel.c */

struct text {
	char *p;
	size_t len;
};

#define MOST_LOG	60	/* lines of the kernel log in a finding */

/* The consequences of a fault at one point */
struct finding {
	unsigned int fired;
	char result[160];
	char splat[160];
	char leak[1000];
	char log[MOST_LOG][200];
	unsigned int nr_log;
	bool repeats;		/* the log has come to the same splat again */
	bool take_all;		/* note each line of the log, not only a splat */
	long bytes;
	bool hung, stuck;
	char broken[160];	/* how the workload then ends without a fault */
};

void read_text(struct text *t, const char *path);
int write_text(const char *path, const char *text);
const char *next_line(const char *p);
long number_in(const char *line, const char *word);
long number_in_text(const char *text, const char *word);
void open_log(void);
bool read_log(struct finding *f);
bool lockdep_is_on(void);
void tell_console(const char *what);

/* points.c */

struct point {
	char *key;		/* the part of its line in the list that stays the same */
	unsigned int index;	/* among lines of the same key */
	unsigned int nth;	/* the evaluation of a run that fails */
	char *where;		/* the terms of a query; NULL: by fail-nth of the task */
	char *label;		/* what is printed */
};

/* Which points a walk visits, and how deep it goes */
struct choice {
	const char *done;	/* file with the labels of points to leave out */
	const char *behind;	/* label: start behind that point */
	const char *only;	/* label: only that point */
	unsigned int depth;	/* fail the first, the second, ... of so many evaluations */
};

extern struct point *points;
extern size_t nr_points;

void count_points(void);
void find_points(const struct choice *c);
void name_nth(struct point *p, const char *name, unsigned int nth);
bool is_chosen(const struct choice *c, const char *label);
void fault_command(const char *where, const char *what);
void arm(const struct point *p);
bool is_armed(const struct point *p);
void disarm(void);
unsigned int times_fired(const struct point *p);

/* leaks.c */

enum reading {
	BEFORE,
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
void keep_reading(enum reading r);
bool any_suspect(void);
bool suspect_again(void);
bool any_grew(enum reading to);
long bytes_more(void);
void name_leaks(struct finding *f);
void forget_leaks(void);

#endif /* _FAULTWALK_H */
