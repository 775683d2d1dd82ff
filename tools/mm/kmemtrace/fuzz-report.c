// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile traces for kmemtrace-report: a whole trace, through the model and every
 * writer. fuzz-trace.c does it for the reading alone, and its inputs are the same:
 * the length of the header (4 bytes, little-endian), the header, the length of
 * cpu0.out, cpu0.out, and what remains is cpu1.out.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that
 * takes files and reads each as it is and cut off at every byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];
static FILE *null;

#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "fuzz-report: not so: %s\n", #condition); \
			abort(); \
		} \
	} while (0)

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

static void remove_all(void)
{
	remove_ctf();
	remove_file("header");
	remove_file("cpu0.out");
	remove_file("cpu1.out");
	rmdir(dir);
}

static void make_dir(void)
{
	if (*dir)
		return;
	strcpy(dir, "/dev/shm/fuzz-report.XXXXXX");
	if (!mkdtemp(dir)) {
		strcpy(dir, "/tmp/fuzz-report.XXXXXX");
		EXPECT(mkdtemp(dir));
	}
	null = fopen("/dev/null", "w");
	EXPECT(null);
	atexit(remove_all);
}

static void put_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EXPECT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* Take a part off the input whose length comes first. */
static void put_part(const char *name, const uint8_t **data, size_t *size)
{
	uint32_t len = 0;

	if (*size >= 4) {
		len = (*data)[0] | (*data)[1] << 8 | (*data)[2] << 16 |
		      (uint32_t)(*data)[3] << 24;
		*data += 4;
		*size -= 4;
	}
	if (len > *size)
		len = *size;
	put_file(name, *data, len);
	*data += len;
	*size -= len;
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

/* What the call sites say is what is there. */
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

static void complain(const char *file, uint64_t offset, const char *what,
		     void *data)
{
	struct report *report = data;

	report->damage += strlen(file) + strlen(what) + !offset;
}

static void report_trace(struct report *report, struct trace *trace)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ctf", dir);
	report->header = trace_header(trace);
	report->symbols = symbols_new(report->header, NULL, complain, report);
	report->sections = SECTION_ALL;
	report->model = model_new(4);
	EXPECT(write_ctf(report, trace, path));
	check_model(report);
	write_all(report);
	model_free(report->model);
	symbols_free(report->symbols);
}

/**
 * LLVMFuzzerTestOneInput - report an input
 * @data: see the top of the file
 * @size: of it
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { 0 };
	struct trace *trace;

	make_dir();
	put_part("header", &data, &size);
	put_part("cpu0.out", &data, &size);
	put_file("cpu1.out", data, size);
	trace = trace_open(dir, complain, &report);
	if (trace)
		report_trace(&report, trace);
	trace_close(trace);
	remove_ctf();
	return 0;
}

#ifdef FUZZ_MAIN
static void each_cut(const char *name)
{
	static uint8_t input[1024 * 1024];
	FILE *file = fopen(name, "r");
	size_t size, i;

	EXPECT(file);
	size = fread(input, 1, sizeof(input), file);
	fclose(file);
	for (i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(input, i);
	printf("%s: %zu inputs\n", name, size + 1);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		each_cut(argv[i]);
	return 0;
}
#endif
