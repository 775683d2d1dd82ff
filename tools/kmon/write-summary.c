// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary as text: how long tasks ran and waited, how long it took from wakeup to
 * running, and which call sites allocated.
 *
 * All times are microseconds with three decimals, so they are exact: the sums can be
 * compared with those of /proc/PID/schedstat.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "write.h"

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
		fprintf(out, "Contradictions: %" PRIu64
			"; records are missing, so some times are too short\n", s->breaks);
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

static void put_task(const struct writer *writer, const struct task *t, FILE *out)
{
	const char *name = names_get(&writer->pids, t->pid);

	put_number(out, 10, t->pid);
	put_time(out, 18, t->run);
	put_percent(out, t->run, writer->sched->last - writer->sched->first);
	put_time(out, 18, t->wait);
	put_number(out, 10, t->switches);
	put_number(out, 10, t->preempted);
	put_number(out, 10, t->wakeups);
	put_number(out, 8, t->migrations);
	put_time(out, 14, mean(&t->latency));
	put_time(out, 14, t->latency.max);
	fprintf(out, "  %s\n", name ? name : "");
}

static void put_tasks(const struct writer *writer, FILE *out)
{
	const struct task **tasks = tasks_by_run(writer->sched);
	uint32_t i, nr = writer->sched->nr;

	if (writer->top && nr > writer->top)
		nr = writer->top;
	fputs("\nTasks by run time (times in us)\n", out);
	fprintf(out, "%10s%18s%6s%18s%10s%10s%10s%8s%14s%14s  %s\n",
		"pid", "run", "%", "wait", "switches", "preempted", "wakeups", "moves",
		"latency", "longest", "name");
	for (i = 0; i < nr; i++)
		put_task(writer, tasks[i], out);
	if (nr < writer->sched->nr)
		fprintf(out, "(%" PRIu32 " more)\n", writer->sched->nr - nr);
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

static void put_site_name(const struct writer *writer, uint32_t nr, FILE *out)
{
	const char *name = names_get(&writer->sites, nr);

	if (nr == KMON_NO_SITE)
		fputs("  (no line is known)\n", out);
	else if (name)
		fprintf(out, "  %s\n", name);
	else
		fprintf(out, "  line %" PRIu32 "\n", nr);
}

static void put_sites(const struct writer *writer, FILE *out)
{
	uint32_t i, nr, shown;
	const struct site **sites = sites_by_bytes(writer->allocs, &nr);

	shown = writer->top && nr > writer->top ? writer->top : nr;
	fprintf(out, "%12s%18s%12s%12s%18s  %s\n", "allocs", "bytes", "frees", "live",
		"live bytes", "line of code");
	for (i = 0; i < shown; i++) {
		put_site_cells(sites[i], out);
		put_site_name(writer, sites[i]->nr, out);
	}
	if (shown < nr)
		fprintf(out, "(%" PRIu32 " more)\n", nr - shown);
	put_site_cells(&writer->allocs->total, out);
	fputs("  all\n", out);
	free(sites);
}

static void put_allocs(const struct writer *writer, FILE *out)
{
	const struct allocs *a = writer->allocs;

	if (!writer->sched->ops[OP_ALLOC] && !writer->sched->ops[OP_FREE])
		return;
	fputs("\nAllocations by bytes\n", out);
	put_sites(writer, out);
	fprintf(out, "Freed, but not allocated in the log: %" PRIu64 "\n", a->before);
	if (a->missed)
		fprintf(out, "Allocated again, but not freed in the log: %" PRIu64 "\n", a->missed);
}

/* Interface */

/**
 * write_summary - write the summary as text
 * @writer: the writer, after the last record
 */
void write_summary(const struct writer *writer)
{
	put_log(writer->sched, writer->out);
	put_cpus(writer->sched, writer->out);
	put_tasks(writer, writer->out);
	put_latency(writer->sched, writer->out);
	put_allocs(writer, writer->out);
}
