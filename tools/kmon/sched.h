/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The run and wait times of tasks, and the busy and idle times of CPUs, from the records
 * of the scheduler in the order of their times.
 *
 * All times are nanoseconds between the first and the last record of the log.
 */
#ifndef _KMON_SCHED_H
#define _KMON_SCHED_H

#include "record.h"
#include "util.h"

#define LATENCY_BUCKETS	65u

enum task_state {
	TASK_UNKNOWN,	/* no record says yet what it did when the log began */
	TASK_ASLEEP,
	TASK_WAITS,
	TASK_MOVES,	/* waited and was dequeued, to be queued elsewhere */
	TASK_RUNS,
	TASK_LOST,	/* records contradict each other: nothing is known */
};

/**
 * struct latency - times from wakeup to running
 * @count: number of times
 * @sum: sum of the times
 * @max: longest time
 */
struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
};

/**
 * struct task - a task other than the idle ones
 * @pid: its pid
 * @state: state after the last record
 * @queued: is on a run queue; in TASK_UNKNOWN: has not been dequeued
 * @woken: @woken_at is set
 * @ran: @cpu is set
 * @cpu: CPU where it ran last
 * @since: time when TASK_WAITS began
 * @woken_at: time of its wakeup; it has not run since
 * @run: time that it ran
 * @wait: time that it was runnable and did not run
 * @switches: how often a CPU switched to it
 * @preempted: how often a CPU switched from it and it was still runnable
 * @wakeups: how often it was woken
 * @migrations: how often it began to run on another CPU than before
 * @latency: times from wakeup to running
 */
struct task {
	uint32_t pid;
	enum task_state state;
	bool queued;
	bool woken;
	bool ran;
	uint16_t cpu;
	uint64_t since;
	uint64_t woken_at;
	uint64_t run;
	uint64_t wait;
	uint64_t switches;
	uint64_t preempted;
	uint64_t wakeups;
	uint64_t migrations;
	struct latency latency;
};

/**
 * struct cpu - a CPU
 * @seen: there is a record of it
 * @known: @pid and @since are set
 * @pid: pid of the task that runs there, 0 if the CPU is idle
 * @since: time until which everything is counted; @pid has run there since
 * @busy: time that it ran tasks
 * @idle: time that it was idle
 * @unknown: time for which the records do not show what ran
 * @switches: how often it switched
 * @records: number of records made there
 */
struct cpu {
	bool seen;
	bool known;
	uint32_t pid;
	uint64_t since;
	uint64_t busy;
	uint64_t idle;
	uint64_t unknown;
	uint64_t switches;
	uint64_t records;
};

/**
 * struct sched - the tasks and CPUs of a log
 * @tasks: tasks, in the order of their first records
 * @nr: number of @tasks
 * @room: number of @tasks that fit
 * @index: finds a task by its pid
 * @cpus: CPUs by number, up to the highest number seen
 * @nr_cpus: number of @cpus
 * @first: time of the first record
 * @last: time of the last record
 * @breaks: number of contradictions between records
 * @latency: times from wakeup to running of all tasks
 * @buckets: histogram of @latency: 0 ns, 1 ns, up to 3 ns, up to 7 ns, and so on
 * @ops: number of records by subject
 */
struct sched {
	struct task *tasks;
	uint32_t nr;
	uint32_t room;
	struct index index;
	struct cpu *cpus;
	unsigned int nr_cpus;
	uint64_t first;
	uint64_t last;
	uint64_t breaks;
	struct latency latency;
	uint64_t buckets[LATENCY_BUCKETS];
	uint64_t ops[NR_OPS];
};

struct sched *sched_new(void);
void sched_record(struct sched *sched, const struct record *record);
void sched_end(struct sched *sched);
const struct task **tasks_by_run(const struct sched *sched);
uint64_t latency_median(const struct sched *sched);
void sched_free(struct sched *sched);
uint64_t sched_records(const struct sched *sched);

#endif /* _KMON_SCHED_H */
