// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile traces for trace.c.
 *
 * An input (see fuzz.h) is read through the interface of trace.h. The promises of trace.h
 * are checked for each record, and all data that the header points to are read, so that
 * the sanitizers check them.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program:
 *
 *	fuzz-trace FILE...			read each input once
 *	fuzz-trace --random SECONDS FILE...	change inputs at random and read them
 *	fuzz-trace --dump DIR			print a trace as text, for the tests
 *	fuzz-trace --count DIR			count the records, to measure the speed
 */
#include <sanitizer/common_interface_defs.h>
#include <sys/stat.h>
#include <time.h>

#include "trace.h"

#define FUZZER	"fuzz-trace"
#include "fuzz.h"

#define NR_FILES		2

/* The promises of trace.h */

static void measure(const char *file, uint64_t offset, const char *what, void *data)
{
	size_t *length = data;

	(void)offset;
	*length += strlen(file) + strlen(what);
}

static void check_header(const struct trace_header *header, size_t *length)
{
	size_t i;

	EXPECT(header->word_bits == 32 || header->word_bits == 64);
	EXPECT(header->page_size);
	EXPECT(header->nr_tags <= 65536);
	*length += strlen(header->machine) + strlen(header->release);
	for (i = 0; i < header->nr_tags; i++)
		if (header->tags[i].where)
			*length += strlen(header->tags[i].where) +
				   strlen(header->tags[i].function);
	for (i = 0; i < header->nr_symbols; i++) {
		*length += strlen(header->symbols[i].name);
		EXPECT(!i || header->symbols[i - 1].addr <= header->symbols[i].addr);
	}
}

static void check_records(struct trace *trace, size_t size)
{
	uint64_t ends[NR_FILES] = { 0 }, last = 0, nr = 0, offset = 0;
	const struct trace_symbol *symbol;
	struct trace_record r;

	for (; trace_next(trace, &r); nr++) {
		EXPECT(r.cpu < NR_FILES);
		EXPECT(!nr || r.sequence >= last);
		EXPECT(r.offset % KMEMTRACE_ALIGN == 0 && r.offset >= ends[r.cpu]);
		EXPECT(r.offset + sizeof(struct kmemtrace_event) <= size);
		EXPECT(nr < size);
		EXPECT(!(r.features & ~0x1eu));
		last = r.sequence;
		ends[r.cpu] = r.offset + sizeof(struct kmemtrace_event);
		symbol = trace_symbol(trace_header(trace), r.call_site, &offset);
		EXPECT(!symbol || symbol->addr + offset == r.call_site);
	}
	EXPECT(!trace_next(trace, &r));
}

/**
 * LLVMFuzzerTestOneInput - read an input as a trace, and then one file by itself
 * @data: see fuzz.h
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace *trace;
	size_t length = 0;
	char path[128];

	put_trace(data, size);
	trace = trace_open(dir, measure, &length);
	if (trace) {
		check_header(trace_header(trace), &length);
		check_records(trace, size);
	}
	trace_close(trace);

	snprintf(path, sizeof(path), "%s/header", dir);
	if (size % 2)
		unlink(path);
	snprintf(path, sizeof(path), "%s/cpu0.out", dir);
	trace = trace_open_file(path, measure, &length);
	EXPECT(trace);
	check_header(trace_header(trace), &length);
	check_records(trace, size);
	trace_close(trace);
	return 0;
}

#ifdef FUZZ_MAIN

#define MAX_INPUT	(1024 * 1024)

static uint8_t input[MAX_INPUT];
static size_t input_size;

#define CRASH	"crash-input"

/* The sanitizers call this before they end the process. */
static void keep_input(void)
{
	FILE *f = fopen(CRASH, "w");

	if (!f)
		return;
	fwrite(input, 1, input_size, f);
	fclose(f);
	fputs("the input is in " CRASH "\n", stderr);
}

static void get_input(const char *name)
{
	FILE *f = fopen(name, "r");

	EXPECT(f);
	input_size = fread(input, 1, sizeof(input), f);
	fclose(f);
}

/* Returns a byte that is likely to cause trouble in a size or a number. */
static uint8_t nasty(void)
{
	static const uint8_t values[] = { 0, 1, 2, 3, 7, 8, 16, 24, 40, 48,
					  0x7f, 0x80, 0xf8, 0xff, '\n', ' ' };

	return rand() % 2 ? values[rand() % sizeof(values)] : rand();
}

static void change_input(void)
{
	size_t at, len;
	int n;

	for (n = 1 + rand() % 8; n && input_size; n--) {
		at = rand() % input_size;
		len = 1 + rand() % 64;
		if (len > input_size - at)
			len = input_size - at;
		switch (rand() % 5) {
		case 0:
			input_size = at;
			break;
		case 1:
			memmove(input + at, input + at + len,
				input_size - at - len);
			input_size -= len;
			break;
		case 2:
			memmove(input + rand() % (input_size - len + 1),
				input + at, len);
			break;
		default:
			input[at] = nasty();
		}
	}
}

static void run_changes(int seconds, char **names, int nr)
{
	time_t end = time(NULL) + seconds;
	unsigned long runs;

	__sanitizer_set_death_callback(keep_input);
	srand(time(NULL));
	for (runs = 0; time(NULL) < end; runs++) {
		get_input(names[rand() % nr]);
		change_input();
		LLVMFuzzerTestOneInput(input, input_size);
	}
	printf("%lu traces read\n", runs);
}

static void show_complaint(const char *file, uint64_t offset, const char *what,
			   void *data)
{
	const char *base = strrchr(file, '/');

	(void)data;
	printf("! %s %llu: %s\n", base ? base + 1 : file,
	       (unsigned long long)offset, what);
}

static void dump_header(const struct trace_header *h)
{
	size_t i;

	printf("abi %u %s-endian %u bits page %u machine %s release %s %s",
	       h->abi_version, h->big_endian ? "big" : "little", h->word_bits,
	       h->page_size, h->machine, h->release,
	       h->complete ? "complete" : "not complete");
	if (h->lost_known)
		printf(" lost %llu %llu", (unsigned long long)h->lost_events,
		       (unsigned long long)h->lost_bytes);
	putchar('\n');
	for (i = 0; i < h->nr_tags; i++)
		if (h->tags[i].where)
			printf("tag %zu %s|%s\n", i, h->tags[i].where,
			       h->tags[i].function);
	for (i = 0; i < h->nr_symbols; i++)
		printf("symbol %llx %s\n",
		       (unsigned long long)h->symbols[i].addr,
		       h->symbols[i].name);
}

static void dump_record(const struct trace *trace, const struct trace_record *r)
{
	const struct trace_symbol *symbol;
	uint64_t offset = 0;

	printf("%llu cpu%u@%llu event %u type %u site %llx ptr %llx",
	       (unsigned long long)r->sequence, r->cpu,
	       (unsigned long long)r->offset, r->event_id, r->type_id,
	       (unsigned long long)r->call_site, (unsigned long long)r->ptr);
	if (r->event_id == KMEMTRACE_EVENT_ALLOC)
		printf(" req %llu alloc %llu gfp %x target %d",
		       (unsigned long long)r->bytes_req,
		       (unsigned long long)r->bytes_alloc, r->gfp_flags,
		       r->target_cpu);
	if (r->event_id == KMEMTRACE_EVENT_LOST)
		printf(" lost %llu %llu", (unsigned long long)r->lost_events,
		       (unsigned long long)r->lost_bytes);
	if (TRACE_HAS(r, KMEMTRACE_FEATURE_TIME))
		printf(" time %llu", (unsigned long long)r->time);
	if (TRACE_HAS(r, KMEMTRACE_FEATURE_PID))
		printf(" pid %d", r->pid);
	if (TRACE_HAS(r, KMEMTRACE_FEATURE_TAG))
		printf(" tag %u", r->tag);
	if (TRACE_HAS(r, KMEMTRACE_FEATURE_BYTES))
		printf(" bytes %llu", (unsigned long long)r->bytes);
	symbol = trace_symbol(trace_header(trace), r->call_site, &offset);
	if (symbol)
		printf(" %s+%llx", symbol->name, (unsigned long long)offset);
	putchar('\n');
}

static int dump(const char *name)
{
	struct trace_record r;
	struct trace *trace;
	struct stat st;

	if (!stat(name, &st) && S_ISDIR(st.st_mode))
		trace = trace_open(name, show_complaint, NULL);
	else
		trace = trace_open_file(name, show_complaint, NULL);
	if (!trace)
		return 1;
	dump_header(trace_header(trace));
	while (trace_next(trace, &r))
		dump_record(trace, &r);
	trace_close(trace);
	return 0;
}

/* Read a trace and do nothing else, to measure the speed. */
static int count(const char *name)
{
	uint64_t nr = 0, sum = 0;
	struct trace_record r;
	struct trace *trace;

	trace = trace_open(name, show_complaint, NULL);
	if (!trace)
		return 1;
	for (; trace_next(trace, &r); nr++)
		sum += r.ptr ^ r.sequence;
	trace_close(trace);
	printf("%llu records, %llx\n", (unsigned long long)nr,
	       (unsigned long long)sum);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	if (argc == 3 && !strcmp(argv[1], "--dump"))
		return dump(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--count"))
		return count(argv[2]);
	if (argc > 3 && !strcmp(argv[1], "--random")) {
		run_changes(atoi(argv[2]), argv + 3, argc - 3);
		return 0;
	}
	for (i = 1; i < argc; i++) {
		get_input(argv[i]);
		LLVMFuzzerTestOneInput(input, input_size);
	}
	return 0;
}

#endif /* FUZZ_MAIN */
