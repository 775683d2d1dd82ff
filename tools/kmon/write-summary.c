// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary for people: who ran, who waited, how long until it ran, who allocated.
 *
 * All times are microseconds with three decimals, so they are exact: the sums can be
 * held against those of /proc/PID/schedstat.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "parse.h"

static const char bar[] = "########################################";

#define BAR_SIZE	(sizeof(bar) - 1)

/* Internals: cells of a table */

static void put_time(FILE *out, int width, uint64_t ns)
{
	fprintf(out, "%*" PRIu64 ".%03u", width > 4 ? width - 4 : 0, ns / 1000,
		(unsigned int)(ns % 1000));
}

static void put_number(FILE *out, int width, uint64_t number)
{
	fprintf(out, "%*" PRIu64, width, number);
}

static void put_percent(FILE *out, uint64_t part, uint64_t all)
{
	fprintf(out, "%6.1f", all ? 100.0 * part / all : 0.0);
}

static void put_bar(FILE *out, uint64_t part, uint64_t most)
{
	fprintf(out, "  %.*s\n", most ? (int)((double)part / most * BAR_SIZE + 0.5) : 0, bar);
}

/* Internals: sections */

static void put_log(const struct sched *s, FILE *out)
{
	unsigned int op;

	fputs("Log: ", out);
	put_time(out, 0, s->last - s->first);
	fputs(" us, from ", out);
	put_time(out, 0, s->first);
	fputs(" to ", out);
	put_time(out, 0, s->last);
	fprintf(out, "\nRecords: %" PRIu64, sched_records(s));
	for (op = 0; op < NR_OPS; op++) {
		if (s->ops[op])
			fprintf(out, ", %s %" PRIu64, op_names[op], s->ops[op]);
	}
	fputc('\n', out);
	if (s->breaks)
		fprintf(out, "Contradictions: %" PRIu64 "; records are missing, and their times\n",
			s->breaks);
}

static void put_cpus(const struct sched *s, FILE *out)
{
	uint64_t span = s->last - s->first;
	const struct cpu *cpu;

	fprintf(out, "\nCPUs (times in us)\n%4s%18s%6s%18s%6s%18s%12s%12s\n", "cpu", "busy", "%",
		"idle", "%", "unknown", "switches", "records");
	for (cpu = s->cpus; cpu < s->cpus + s->nr_cpus; cpu++) {
		if (!cpu->seen)
			continue;
		put_number(out, 4, cpu - s->cpus);
		put_time(out, 18, cpu->busy);
		put_percent(out, cpu->busy, span);
		put_time(out, 18, cpu->idle);
		put_percent(out, cpu->idle, span);
		put_time(out, 18, cpu->unknown);
		put_number(out, 12, cpu->switches);
		put_number(out, 12, cpu->records);
		fputc('\n', out);
	}
}

static uint64_t mean(const struct latency *latency)
{
	return latency->count ? latency->sum / latency->count : 0;
}

static void put_task(const struct parse *parse, const struct task *t, FILE *out)
{
	const char *name = names_get(&parse->pids, t->pid);

	put_number(out, 10, t->pid);
	put_time(out, 18, t->run);
	put_percent(out, t->run, parse->sched->last - parse->sched->first);
	put_time(out, 18, t->wait);
	put_number(out, 10, t->switches);
	put_number(out, 10, t->preempted);
	put_number(out, 10, t->wakeups);
	put_number(out, 8, t->migrations);
	put_time(out, 14, mean(&t->latency));
	put_time(out, 14, t->latency.max);
	fprintf(out, "  %s\n", name ? name : "");
}

static void put_tasks(const struct parse *parse, FILE *out)
{
	const struct task **tasks = tasks_by_run(parse->sched);
	uint32_t i, nr = parse->sched->nr;

	if (parse->top && nr > parse->top)
		nr = parse->top;
	fputs("\nTasks by run time (times in us)\n", out);
	fprintf(out, "%10s%18s%6s%18s%10s%10s%10s%8s%14s%14s  %s\n",
		"pid", "run", "%", "wait", "switches", "preempted", "wakeups", "moves",
		"latency", "longest", "name");
	for (i = 0; i < nr; i++)
		put_task(parse, tasks[i], out);
	if (nr < parse->sched->nr)
		fprintf(out, "(%" PRIu32 " more)\n", parse->sched->nr - nr);
	free(tasks);
}

static void put_latency(const struct sched *s, FILE *out)
{
	uint64_t most = 0;
	unsigned int i;

	if (!s->latency.count)
		return;
	fprintf(out, "\nFrom waking to running: %" PRIu64 " times, mean ", s->latency.count);
	put_time(out, 0, mean(&s->latency));
	fputs(" us, median below ", out);
	put_time(out, 0, latency_median(s));
	fputs(" us, longest ", out);
	put_time(out, 0, s->latency.max);
	fprintf(out, " us\n%18s%12s%6s\n", "from us", "times", "%");
	for (i = 0; i < LATENCY_BUCKETS; i++)
		most = max_u64(most, s->buckets[i]);
	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (!s->buckets[i])
			continue;
		put_time(out, 18, i ? UINT64_C(1) << (i - 1) : 0);
		put_number(out, 12, s->buckets[i]);
		put_percent(out, s->buckets[i], s->latency.count);
		put_bar(out, s->buckets[i], most);
	}
}

static void put_site_cells(const struct site *site, FILE *out)
{
	put_number(out, 12, site->allocs);
	put_number(out, 18, site->bytes);
	put_number(out, 12, site->frees);
	put_number(out, 12, site->live);
	put_number(out, 18, site->live_bytes);
}

static void put_site_name(const struct parse *parse, uint32_t nr, FILE *out)
{
	const char *name = names_get(&parse->sites, nr);

	if (nr == KMON_NO_SITE)
		fputs("  (no line is known)\n", out);
	else if (name)
		fprintf(out, "  %s\n", name);
	else
		fprintf(out, "  line %" PRIu32 "\n", nr);
}

static void put_sites(const struct parse *parse, FILE *out)
{
	uint32_t i, nr, shown;
	const struct site **sites = sites_by_bytes(parse->allocs, &nr);

	shown = parse->top && nr > parse->top ? parse->top : nr;
	fprintf(out, "%12s%18s%12s%12s%18s  %s\n", "allocs", "bytes", "frees", "live",
		"live bytes", "line of code");
	for (i = 0; i < shown; i++) {
		put_site_cells(sites[i], out);
		put_site_name(parse, sites[i]->nr, out);
	}
	if (shown < nr)
		fprintf(out, "(%" PRIu32 " more)\n", nr - shown);
	put_site_cells(&parse->allocs->total, out);
	fputs("  all\n", out);
	free(sites);
}

static void put_allocs(const struct parse *parse, FILE *out)
{
	const struct allocs *a = parse->allocs;

	if (!parse->sched->ops[OP_ALLOC] && !parse->sched->ops[OP_FREE])
		return;
	fputs("\nAllocations by bytes\n", out);
	put_sites(parse, out);
	fprintf(out, "Freed, but not allocated in the log: %" PRIu64 "\n", a->before);
	if (a->missed)
		fprintf(out, "Allocated again, but not freed in the log: %" PRIu64 "\n", a->missed);
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

static int by_bytes(const void *a, const void *b)
{
	const struct site *const *x = a, *const *y = b;

	if ((*x)->bytes != (*y)->bytes)
		return (*x)->bytes > (*y)->bytes ? -1 : 1;
	return ((*x)->nr > (*y)->nr) - ((*x)->nr < (*y)->nr);
}

/* Interface */

/**
 * tasks_by_run - the tasks, those that ran longest first
 * @sched: all of it, ended
 *
 * Return: as many as @sched has, to be given back with free().
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
 * sites_by_bytes - the lines that allocated, those that did most first
 * @allocs: all of it
 * @nr: how many
 *
 * Return: the sites, to be given back with free().
 */
const struct site **sites_by_bytes(const struct allocs *allocs, uint32_t *nr)
{
	const struct site **sites = need_memory(allocs->nr, sizeof(*sites));
	uint32_t i;

	*nr = allocs->nr;
	for (i = 0; i < allocs->nr; i++)
		sites[i] = &allocs->sites[i];
	qsort(sites, *nr, sizeof(*sites), by_bytes);
	return sites;
}

/**
 * latency_median - the time from being woken to running that half do not reach
 * @sched: all of it
 *
 * Return: nanoseconds, the end of the bucket that the median is in.
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
 * write_summary - write the summary as text
 * @parse: with all records in it
 */
void write_summary(struct parse *parse)
{
	put_log(parse->sched, parse->out);
	put_cpus(parse->sched, parse->out);
	put_tasks(parse, parse->out);
	put_latency(parse->sched, parse->out);
	put_allocs(parse, parse->out);
}
