// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile traces for kmemtrace_check: it checks a whole trace with --all, and then the
 * files one by one. See fuzz.h for the format of an input.
 *
 * kmemtrace_check checks every byte, but trace.c is lenient. So if kmemtrace_check finds
 * no error in a trace, trace.c must not complain about this trace, either.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * files and reads each of them cut off at every byte and as a whole.
 */
#include "check.h"

#define FUZZER	"fuzz-check"
#include "fuzz.h"

static FILE *null;

static void count(const char *file, uint64_t at, const char *what, void *data)
{
	uint64_t *complaints = data;

	*complaints += strlen(file) + strlen(what) + !at;
}

/* Returns the number of complaints of trace.c about the same files. */
static uint64_t complaints(void)
{
	struct trace_record r;
	struct trace *trace;
	uint64_t nr = 0;

	trace = trace_open(dir, count, &nr);
	if (!trace)
		return 1;
	while (trace_next(trace, &r))
		;
	trace_close(trace);
	return nr;
}

static void check_files_alone(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cpu0.out", dir);
	check_one(path);
	snprintf(path, sizeof(path), "%s/cpu1.out", dir);
	check_one(path);
	check_forget_header();
}

/* Check an input without printing anything. */
static bool check_silently(void)
{
	FILE *out = stdout, *err = stderr;
	bool clean;

	stdout = null;
	stderr = null;
	check_all(dir);
	clean = !check_result.errors && !check_result.trouble;
	check_files_alone();
	stdout = out;
	stderr = err;
	return clean;
}

/**
 * LLVMFuzzerTestOneInput - check an input
 * @data: see fuzz.h
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool clean;

	if (!null)
		null = fopen("/dev/null", "w");
	EXPECT(null);
	put_trace(data, size);
	check_result = (struct check_result){ 0 };
	check_options.quiet = size % 2;
	clean = check_silently();
	EXPECT(!clean || !complaints());
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
