// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary as one JSON object. All times are nanoseconds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "parse.h"
#include "utf8.h"

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

static void put_task(const struct parse *parse, const struct task *t, FILE *out)
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
	put_name(out, "name", names_get(&parse->pids, t->pid));
	fputc('}', out);
}

static void put_tasks(const struct parse *parse, FILE *out)
{
	const struct task **tasks = tasks_by_run(parse->sched);
	uint32_t i, nr = parse->sched->nr;

	if (parse->top && nr > parse->top)
		nr = parse->top;
	fputs(",\n\"tasks\":[", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_task(parse, tasks[i], out);
	}
	fprintf(out, "],\n\"tasks_left_out\":%" PRIu32, parse->sched->nr - nr);
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

static void put_sites(const struct parse *parse, FILE *out)
{
	uint32_t i, nr, shown;
	const struct site **sites = sites_by_bytes(parse->allocs, &nr);

	shown = parse->top && nr > parse->top ? parse->top : nr;
	fputs(",\n\"sites\":[", out);
	for (i = 0; i < shown; i++) {
		fprintf(out, "%s\n{\"site\":", i ? "," : "");
		if (sites[i]->nr == KMON_NO_SITE)
			fputs("null,", out);
		else
			fprintf(out, "%" PRIu32 ",", sites[i]->nr);
		put_site(out, sites[i]);
		put_name(out, "line", names_get(&parse->sites, sites[i]->nr));
		fputc('}', out);
	}
	fprintf(out, "],\n\"sites_left_out\":%" PRIu32, nr - shown);
	free(sites);
}

static void put_allocs(const struct parse *parse, FILE *out)
{
	fputs(",\n\"allocations\":{", out);
	put_site(out, &parse->allocs->total);
	put_number(out, "freed_from_before", parse->allocs->before);
	put_number(out, "frees_missing", parse->allocs->missed);
	fputc('}', out);
	put_sites(parse, out);
}

/* Interface */

/**
 * write_summary_json - write the summary as JSON
 * @parse: with all records in it
 */
void write_summary_json(struct parse *parse)
{
	fputs("{\"kmonparse_summary\":" KMONPARSE_VERSION, parse->out);
	put_log(parse->sched, parse->out);
	put_cpus(parse->sched, parse->out);
	put_tasks(parse, parse->out);
	put_histogram(parse->sched, parse->out);
	put_allocs(parse, parse->out);
	fputs("}\n", parse->out);
}
