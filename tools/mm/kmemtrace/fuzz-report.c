// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile traces for kmemtrace-report: the report is computed from a trace and written in
 * every format. fuzz-trace.c stops after the trace is read. See fuzz.h for the format of
 * an input.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * files and reads each of them cut off at every byte and as a whole.
 */
#include <errno.h>
#include <inttypes.h>

#include "report.h"

#define FUZZER	"fuzz-report"
#include "fuzz.h"

static FILE *null;

/* Files */

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (unlink(path) && errno == EISDIR)
		rmdir(path);
}

static void remove_ctf(void)
{
	remove_file("ctf/cpu0");
	remove_file("ctf/cpu1");
	remove_file("ctf/metadata");
	remove_file("ctf");
}

/* The report */

struct sum {
	uint64_t objects;
	uint64_t bytes;
};

static void sum_live(void *data, uint32_t site, struct bytes bytes)
{
	struct sum *sum = data;

	EXPECT(site < NO_SITE);
	sum->objects++;
	sum->bytes = sat_add(sum->bytes, bytes.allocated);
}

/* The sums of all call sites must agree with the live objects and blocks. */
static void check_model(const struct report *report)
{
	struct stats totals[MODEL_TYPES], all;
	struct sum sum = { 0 };
	uint64_t when;

	totals_make(report, totals, &all);
	model_each_live(report->model, sum_live, &sum);
	EXPECT(sum.objects == all.live);
	EXPECT(all.lifetimes.count == all.frees);
	if (all.allocated < UINT64_MAX / 2) {
		EXPECT(sum.bytes == all.live_bytes.allocated);
		EXPECT(model_peak(report->model, MODEL_TYPES, &when) >= sum.bytes);
	}
}

static void write_all(struct report *report)
{
	static const enum group groups[] = {
		BY_SITE, BY_TAG, BY_SIZE, BY_TYPE,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		report->group = groups[i];
		report->sort = i;
		report->top = i;
		report->plain = i & 1;
		write_text(report, null);
		write_json(report, null);
		write_csv(report, null);
	}
	report->top = 0;
	for (i = WEIGHT_LIVE; i <= WEIGHT_CALLS; i++) {
		report->weight = i;
		write_folded(report, null);
	}
	EXPECT(write_pprof(report, null));
}

static void count(const char *file, uint64_t offset, const char *what, void *data)
{
	struct report *report = data;

	report->damage += strlen(file) + strlen(what) + !offset;
}

static void report_trace(struct report *report, struct trace *trace)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ctf", dir);
	report->header = trace_header(trace);
	report->symbolizer = symbolizer_new(report->header, NULL,
					    &(struct complainer){ count, report });
	report->sections = SECTION_ALL;
	report->model = model_new(4);
	EXPECT(write_ctf(report, trace, path));
	check_model(report);
	write_all(report);
	model_free(report->model);
	symbolizer_free(report->symbolizer);
}

/**
 * LLVMFuzzerTestOneInput - report an input
 * @data: see fuzz.h
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { 0 };
	struct trace *trace;

	if (!null)
		null = fopen("/dev/null", "w");
	EXPECT(null);
	put_trace(data, size);
	trace = trace_open(dir, count, &report);
	if (trace)
		report_trace(&report, trace);
	trace_close(trace);
	remove_ctf();
	return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		each_cut(argv[i]);
	return 0;
}
#endif
