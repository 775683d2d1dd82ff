// SPDX-License-Identifier: GPL-2.0-only
/*
 * The times of tasks and CPUs, see sched.h.
 *
 * A switch names the previous task, so the first switch on a CPU shows what ran there
 * since the log began. If the first record of a task is a switch to it, the task has waited
 * since the log began: if it had slept, there would be a record that it was queued. A task
 * that is switched from is still runnable unless a record says that it was dequeued.
 *
 * A task can be dequeued and queued again without sleeping: while it runs, when its
 * priority changes, and while it waits, when it moves to another CPU. Neither wakes it. So
 * these two records alone do not show that an unknown task slept; a record of its wakeup
 * between them does.
 *
 * After lost records, the remaining ones contradict each other. Then nothing is counted
 * until the records show the state again: a sum that is too small is better than an
 * invented one. The contradictions are counted.
 */
#include <stdlib.h>

#include "sched.h"

/* Tasks */

static bool same_task(const void *table, uint32_t nr, const void *key)
{
	const struct task *tasks = table;
	const uint32_t *pid = key;

	return tasks[nr].pid == *pid;
}

static struct task *task_new(struct sched *sched, uint32_t pid)
{
	struct task *task;

	if (sched->nr == sched->room) {
		sched->room = sched->room ? sched->room * 2 : 64;
		sched->tasks = need_more(sched->tasks, sched->room, sizeof(*sched->tasks));
	}
	task = &sched->tasks[sched->nr];
	*task = (struct task){ .pid = pid, .queued = true };
	index_add(&sched->index, hash_u64(pid), sched->nr++);
	return task;
}

/* Each CPU has an idle task with pid 0. These are not counted as tasks. */
static struct task *task_of(struct sched *sched, uint32_t pid)
{
	uint32_t nr;

	if (!pid)
		return NULL;
	nr = index_find(&sched->index, hash_u64(pid), same_task, sched->tasks, &pid);
	return nr == INDEX_NONE ? task_new(sched, pid) : &sched->tasks[nr];
}

static void lose(struct sched *sched, struct task *task)
{
	sched->breaks++;
	if (!task)
		return;
	task->state = TASK_LOST;
	task->woken = false;
}

static void wait_begin(struct task *task, uint64_t time)
{
	task->state = TASK_WAITS;
	task->since = time;
}

static void wait_end(struct task *task, uint64_t time)
{
	task->wait = sat_add(task->wait, time - task->since);
}

/* If the task was woken already, the time of the first wakeup counts. */
static void wake(struct task *task, uint64_t time)
{
	if (!task->woken)
		task->woken_at = time;
	task->woken = true;
}

static void latency_add(struct latency *latency, uint64_t time)
{
	latency->count++;
	latency->sum = sat_add(latency->sum, time);
	latency->max = max_u64(latency->max, time);
}

static unsigned int bucket_of(uint64_t time)
{
	return time ? 64 - __builtin_clzll(time) : 0;
}

static void wake_end(struct sched *sched, struct task *task, uint64_t time)
{
	if (!task->woken)
		return;
	task->woken = false;
	time -= task->woken_at;
	latency_add(&task->latency, time);
	latency_add(&sched->latency, time);
	sched->buckets[bucket_of(time)]++;
}

/* CPUs */

/* Pointers to CPUs are valid until the next call. */
static struct cpu *need_cpu(struct sched *sched, uint16_t nr)
{
	static const struct cpu unseen;

	if (nr >= sched->nr_cpus)
		sched->cpus = need_more(sched->cpus, nr + 1, sizeof(*sched->cpus));
	while (nr >= sched->nr_cpus)
		sched->cpus[sched->nr_cpus++] = unseen;
	return &sched->cpus[nr];
}

/* Count the time up to @time as run time of the task on the CPU, or as idle. */
static void account(struct sched *sched, struct cpu *cpu, uint64_t time)
{
	struct task *task = task_of(sched, cpu->pid);
	uint64_t passed = time - cpu->since;

	if (task) {
		cpu->busy = sat_add(cpu->busy, passed);
		task->run = sat_add(task->run, passed);
	} else {
		cpu->idle = sat_add(cpu->idle, passed);
	}
	cpu->since = time;
}

static void put_on(struct cpu *cpu, uint16_t nr, struct task *task, uint64_t time)
{
	cpu->known = true;
	cpu->pid = task ? task->pid : 0;
	cpu->since = time;
	if (!task)
		return;
	if (task->ran && task->cpu != nr)
		task->migrations++;
	task->ran = true;
	task->cpu = nr;
	task->state = TASK_RUNS;
}

/* If this record is the first to show what the CPU runs, it has run since the log began. */
static void learn(struct sched *sched, uint16_t nr, uint32_t pid)
{
	struct cpu *cpu = &sched->cpus[nr];
	struct task *task = task_of(sched, pid);

	if (cpu->known || (task && task->state != TASK_UNKNOWN))
		return;
	if (task && task->queued)
		task->woken = false;
	put_on(cpu, nr, task, sched->first);
}

/* The record says that the CPU ran @prev, but earlier records contradict this. */
static void contradict(struct sched *sched, uint16_t nr, uint32_t prev, uint64_t time)
{
	struct cpu *cpu = &sched->cpus[nr];
	uint64_t since = cpu->known ? cpu->since : sched->first;
	struct task *task = cpu->known ? task_of(sched, cpu->pid) : NULL;

	cpu->unknown = sat_add(cpu->unknown, time - since);
	if (task && task->state == TASK_RUNS && task->cpu == nr) {
		task->state = TASK_LOST;
		task->woken = false;
	}
	lose(sched, task_of(sched, prev));
}

static void switch_from(struct sched *sched, struct cpu *cpu, uint64_t time)
{
	struct task *task;

	account(sched, cpu, time);
	task = task_of(sched, cpu->pid);
	if (!task)
		return;
	if (task->queued) {
		task->preempted++;
		task->woken = false;
		wait_begin(task, time);
	} else {
		task->state = TASK_ASLEEP;
	}
}

static void switch_to(struct sched *sched, uint16_t nr, uint32_t pid, uint64_t time)
{
	struct task *task = task_of(sched, pid);

	if (!task) {
		put_on(&sched->cpus[nr], nr, NULL, time);
		return;
	}
	if (task->state == TASK_UNKNOWN && task->queued) {
		task->woken = false;
		task->since = sched->first;
		wait_end(task, time);
	} else if (task->state == TASK_WAITS) {
		wait_end(task, time);
		wake_end(sched, task, time);
	} else {
		lose(sched, task);
	}
	task->switches++;
	task->queued = true;
	put_on(&sched->cpus[nr], nr, task, time);
}

/* Does the CPU run @pid, according to the records so far? */
static bool runs(struct sched *sched, uint16_t nr, uint32_t pid)
{
	struct cpu *cpu = &sched->cpus[nr];
	struct task *task = task_of(sched, pid);

	return cpu->known && cpu->pid == pid &&
	       (!task || (task->state == TASK_RUNS && task->cpu == nr));
}

/* Records */

static void record_switch(struct sched *sched, const struct record *r)
{
	struct cpu *cpu = &sched->cpus[r->cpu];

	learn(sched, r->cpu, r->pid[0]);
	if (runs(sched, r->cpu, r->pid[0]))
		switch_from(sched, cpu, r->time);
	else
		contradict(sched, r->cpu, r->pid[0], r->time);
	cpu->switches++;
	switch_to(sched, r->cpu, r->pid[1], r->time);
}

static void record_dequeue(struct sched *sched, const struct record *r)
{
	struct task *task = task_of(sched, r->pid[0]);

	if (!task)
		return;
	task->queued = false;
	if (task->state == TASK_WAITS) {
		wait_end(task, r->time);
		task->state = TASK_MOVES;
	} else if (task->state == TASK_MOVES || task->state == TASK_ASLEEP) {
		lose(sched, task);
	} else {
		/* The task did not sleep yet, so an earlier wakeup does not count. */
		task->woken = false;
	}
}

static void record_queue(struct sched *sched, const struct record *r)
{
	struct task *task = task_of(sched, r->pid[0]);
	bool was_queued;

	if (!task)
		return;
	was_queued = task->queued;
	task->queued = true;
	if (task->state == TASK_WAITS) {
		sched->breaks++;
	} else if (task->state == TASK_MOVES || task->state == TASK_LOST) {
		wait_begin(task, r->time);
	} else if (task->state == TASK_ASLEEP ||
		   (task->state == TASK_UNKNOWN && (was_queued || task->woken))) {
		wake(task, r->time);
		wait_begin(task, r->time);
	}
}

/*
 * A task that already runs or is queued is not woken. The waker is running unless the
 * wakeup came from an interrupt.
 */
static void record_wakeup(struct sched *sched, const struct record *r)
{
	struct task *task;

	if (r->pid[0])
		learn(sched, r->cpu, r->pid[0]);
	task = task_of(sched, r->pid[1]);
	if (!task)
		return;
	task->wakeups++;
	if (task->state == TASK_ASLEEP || task->state == TASK_UNKNOWN ||
	    task->state == TASK_LOST || (task->state == TASK_RUNS && !task->queued))
		wake(task, r->time);
}

static int by_run(const void *a, const void *b)
{
	const struct task *const *x = a, *const *y = b;

	if ((*x)->run != (*y)->run)
		return (*x)->run > (*y)->run ? -1 : 1;
	if ((*x)->wait != (*y)->wait)
		return (*x)->wait > (*y)->wait ? -1 : 1;
	return ((*x)->pid > (*y)->pid) - ((*x)->pid < (*y)->pid);
}

/* Interface */

/**
 * sched_new - an empty account of tasks and CPUs
 *
 * Return: the account, for sched_free().
 */
struct sched *sched_new(void)
{
	struct sched *sched = need_memory(1, sizeof(*sched));

	/* Have an array of CPUs even if the log is empty. */
	need_cpu(sched, 0);
	return sched;
}

/**
 * sched_record - count a record
 * @sched: from sched_new()
 * @record: the record; not earlier than the previous one
 */
void sched_record(struct sched *sched, const struct record *record)
{
	struct cpu *cpu = need_cpu(sched, record->cpu);

	if (!sched_records(sched))
		sched->first = record->time;
	sched->last = record->time;
	sched->ops[record->op]++;
	cpu->seen = true;
	cpu->records++;
	if (record->op == OP_SWITCH)
		record_switch(sched, record);
	else if (record->op == OP_DEQUEUE)
		record_dequeue(sched, record);
	else if (record->op == OP_QUEUE)
		record_queue(sched, record);
	else if (record->op == OP_WAKEUP)
		record_wakeup(sched, record);
}

/**
 * sched_end - count the tasks that still run or wait at the end of the log
 * @sched: from sched_new()
 */
void sched_end(struct sched *sched)
{
	struct cpu *cpu;
	uint32_t i;

	for (cpu = sched->cpus; cpu < sched->cpus + sched->nr_cpus; cpu++) {
		if (cpu->known && runs(sched, cpu - sched->cpus, cpu->pid))
			account(sched, cpu, sched->last);
		else if (cpu->seen)
			cpu->unknown = sat_add(cpu->unknown, sched->last -
					       (cpu->known ? cpu->since : sched->first));
	}
	for (i = 0; i < sched->nr; i++) {
		if (sched->tasks[i].state == TASK_WAITS)
			wait_end(&sched->tasks[i], sched->last);
	}
}

/**
 * sched_records - get the number of records
 * @sched: from sched_new()
 *
 * Return: number of records of all subjects.
 */
uint64_t sched_records(const struct sched *sched)
{
	uint64_t sum = 0;
	unsigned int op;

	for (op = 0; op < NR_OPS; op++)
		sum += sched->ops[op];
	return sum;
}

/**
 * tasks_by_run - list the tasks, the longest run time first
 * @sched: from sched_new(), after sched_end()
 *
 * Return: array of all tasks; the caller frees it with free().
 */
const struct task **tasks_by_run(const struct sched *sched)
{
	const struct task **tasks = need_memory(sched->nr, sizeof(*tasks));
	uint32_t i;

	for (i = 0; i < sched->nr; i++)
		tasks[i] = &sched->tasks[i];
	qsort(tasks, sched->nr, sizeof(*tasks), by_run);
	return tasks;
}

/**
 * latency_median - get the median of the times from wakeup to running
 * @sched: from sched_new()
 *
 * Return: end of the bucket that contains the median, in nanoseconds.
 */
uint64_t latency_median(const struct sched *sched)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		sum += sched->buckets[i];
		if (sum * 2 >= sched->latency.count)
			return UINT64_C(1) << i;
	}
	return UINT64_MAX;
}

/**
 * sched_free - free an account of tasks and CPUs
 * @sched: from sched_new()
 */
void sched_free(struct sched *sched)
{
	free(sched->cpus);
	free(sched->tasks);
	index_free(&sched->index);
	free(sched);
}
