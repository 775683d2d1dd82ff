// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary as one JSON object. All times are nanoseconds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "utf8.h"
#include "write.h"

/* Internals */

static void put_number(FILE *out, const char *key, uint64_t number)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, number);
}

static void put_name(FILE *out, const char *key, const char *name)
{
	if (!name)
		return;
	fprintf(out, ",\"%s\":", key);
	put_quoted(out, name);
}

static void put_latency(FILE *out, const struct latency *latency)
{
	fprintf(out, ",\"latency\":{\"count\":%" PRIu64, latency->count);
	put_number(out, "sum", latency->sum);
	put_number(out, "max", latency->max);
}

static void put_log(const struct sched *s, FILE *out)
{
	unsigned int op;

	put_number(out, "first", s->first);
	put_number(out, "last", s->last);
	put_number(out, "span", s->last - s->first);
	put_number(out, "contradictions", s->breaks);
	fprintf(out, ",\n\"records\":{\"all\":%" PRIu64, sched_records(s));
	for (op = 0; op < NR_OPS; op++)
		put_number(out, op_names[op], s->ops[op]);
	fputc('}', out);
}

static void put_cpus(const struct sched *s, FILE *out)
{
	const char *comma = "";
	const struct cpu *cpu;

	fputs(",\n\"cpus\":[", out);
	for (cpu = s->cpus; cpu < s->cpus + s->nr_cpus; cpu++) {
		if (!cpu->seen)
			continue;
		fprintf(out, "%s\n{\"cpu\":%u", comma, (unsigned int)(cpu - s->cpus));
		put_number(out, "busy", cpu->busy);
		put_number(out, "idle", cpu->idle);
		put_number(out, "unknown", cpu->unknown);
		put_number(out, "switches", cpu->switches);
		put_number(out, "records", cpu->records);
		fputc('}', out);
		comma = ",";
	}
	fputc(']', out);
}

static void put_task(const struct writer *writer, const struct task *t, FILE *out)
{
	fprintf(out, "{\"pid\":%" PRIu32, t->pid);
	put_number(out, "run", t->run);
	put_number(out, "wait", t->wait);
	put_number(out, "switches", t->switches);
	put_number(out, "preempted", t->preempted);
	put_number(out, "wakeups", t->wakeups);
	put_number(out, "migrations", t->migrations);
	put_latency(out, &t->latency);
	fputc('}', out);
	put_name(out, "name", names_get(&writer->pids, t->pid));
	fputc('}', out);
}

static void put_tasks(const struct writer *writer, FILE *out)
{
	const struct task **tasks = tasks_by_run(writer->sched);
	uint32_t i, nr = writer->sched->nr;

	if (writer->top && nr > writer->top)
		nr = writer->top;
	fputs(",\n\"tasks\":[", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_task(writer, tasks[i], out);
	}
	fprintf(out, "],\n\"tasks_left_out\":%" PRIu32, writer->sched->nr - nr);
	free(tasks);
}

static void put_histogram(const struct sched *s, FILE *out)
{
	const char *comma = "";
	unsigned int i;

	fputc('\n', out);
	put_latency(out, &s->latency);
	fputs(",\"histogram\":[", out);
	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (!s->buckets[i])
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma,
			i ? UINT64_C(1) << (i - 1) : 0, s->buckets[i]);
		comma = ",";
	}
	fputs("]}", out);
}

static void put_site(FILE *out, const struct site *site)
{
	fprintf(out, "\"allocs\":%" PRIu64, site->allocs);
	put_number(out, "bytes", site->bytes);
	put_number(out, "frees", site->frees);
	put_number(out, "live", site->live);
	put_number(out, "live_bytes", site->live_bytes);
}

static void put_sites(const struct writer *writer, FILE *out)
{
	uint32_t i, nr, shown;
	const struct site **sites = sites_by_bytes(writer->allocs, &nr);

	shown = writer->top && nr > writer->top ? writer->top : nr;
	fputs(",\n\"sites\":[", out);
	for (i = 0; i < shown; i++) {
		fprintf(out, "%s\n{\"site\":", i ? "," : "");
		if (sites[i]->nr == KMON_NO_SITE)
			fputs("null,", out);
		else
			fprintf(out, "%" PRIu32 ",", sites[i]->nr);
		put_site(out, sites[i]);
		put_name(out, "line", names_get(&writer->sites, sites[i]->nr));
		fputc('}', out);
	}
	fprintf(out, "],\n\"sites_left_out\":%" PRIu32, nr - shown);
	free(sites);
}

static void put_allocs(const struct writer *writer, FILE *out)
{
	fputs(",\n\"allocations\":{", out);
	put_site(out, &writer->allocs->total);
	put_number(out, "freed_from_before", writer->allocs->before);
	put_number(out, "frees_missing", writer->allocs->missed);
	fputc('}', out);
	put_sites(writer, out);
}

/* Interface */

/**
 * write_summary_json - write the summary as JSON
 * @writer: the writer, after the last record
 */
void write_summary_json(const struct writer *writer)
{
	fputs("{\"kmonparse_summary\":" SUMMARY_FORMAT, writer->out);
	put_log(writer->sched, writer->out);
	put_cpus(writer->sched, writer->out);
	put_tasks(writer, writer->out);
	put_histogram(writer->sched, writer->out);
	put_allocs(writer, writer->out);
	fputs("}\n", writer->out);
}
