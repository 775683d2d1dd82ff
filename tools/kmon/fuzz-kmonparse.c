// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile logs and names for kmonparse. An input consists of a file of pids, a file of
 * sites and the log; the length of each of the two files (4 bytes, little-endian) comes
 * before the file. The log is converted to every format, and the sums of a summary are
 * checked against each other.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * files: it reads each of them cut off at every byte and as a whole, or with --random N
 * it changes them at random for N seconds.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct part {
	const uint8_t *data;
	size_t size;
};

struct input {
	struct part pids;
	struct part sites;
	struct part log;
};

static char dir[64];
static FILE *null;

/* Files */

static void remove_ctf(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	EXPECT(d);
	while ((entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

static void remove_dir(void)
{
	remove_ctf();
	rmdir(dir);
}

static void make_dir(void)
{
	if (*dir)
		return;
	strcpy(dir, "/dev/shm/fuzz-kmonparse.XXXXXX");
	if (!mkdtemp(dir)) {
		strcpy(dir, "/tmp/fuzz-kmonparse.XXXXXX");
		EXPECT(mkdtemp(dir));
	}
	null = fopen("/dev/null", "w");
	EXPECT(null);
	atexit(remove_dir);
}

static FILE *open_part(const struct part *part)
{
	/* fmemopen() may refuse a size of 0. */
	FILE *file = part->size ? fmemopen((void *)part->data, part->size, "r") :
				  fopen("/dev/null", "r");

	EXPECT(file);
	return file;
}

static struct part take_part(struct part *from)
{
	struct part part = { .size = 0 };

	if (from->size >= 4) {
		part.size = from->data[0] | from->data[1] << 8 | from->data[2] << 16 |
			    (size_t)from->data[3] << 24;
		from->data += 4;
		from->size -= 4;
	}
	if (part.size > from->size)
		part.size = from->size;
	part.data = from->data;
	from->data += part.size;
	from->size -= part.size;
	return part;
}

/* The summary */

static void check_sched(const struct sched *s)
{
	uint64_t span = s->last - s->first, busy = 0, run = 0, sum = 0;
	const struct cpu *cpu;
	uint32_t i;

	for (cpu = s->cpus; cpu < s->cpus + s->nr_cpus; cpu++) {
		if (cpu->seen)
			EXPECT(cpu->busy + cpu->idle + cpu->unknown == span);
		busy = sat_add(busy, cpu->busy);
	}
	for (i = 0; i < s->nr; i++) {
		EXPECT(s->tasks[i].run <= span && s->tasks[i].wait <= span);
		run = sat_add(run, s->tasks[i].run);
		sum += s->tasks[i].latency.count;
	}
	EXPECT(run == busy && sum == s->latency.count);
	for (i = 0; i < LATENCY_BUCKETS; i++)
		sum -= s->buckets[i];
	EXPECT(!sum);
}

static void check_allocs(const struct allocs *a)
{
	uint64_t live = 0;
	uint32_t i;

	for (i = 0; i < a->nr; i++) {
		EXPECT(a->sites[i].allocs - a->sites[i].frees == a->sites[i].live);
		live += a->sites[i].live;
	}
	/* an address is live once or twice */
	EXPECT(live == a->total.live && live >= a->addresses && live <= 2 * a->addresses);
}

/* All formats */

static void count(const char *file, uint64_t place, const char *what, void *data)
{
	uint64_t *damage = data;

	*damage += strlen(file) + strlen(what) + !place;
}

static void parse_log(const struct input *input, struct parse *parse)
{
	FILE *log = open_part(&input->log);

	EXPECT(parse_begin(parse));
	EXPECT(parse_file(parse, log, "log"));
	EXPECT(parse_end(parse));
	fclose(log);
	if (parse->writer.sched) {
		check_sched(parse->writer.sched);
		check_allocs(parse->writer.allocs);
	}
	parse_free(parse);
}

static void read_names(const struct input *input, struct parse *parse)
{
	FILE *pids = open_part(&input->pids), *sites = open_part(&input->sites);

	EXPECT(names_read(&parse->writer.pids, pids, "pids", &parse->complainer));
	EXPECT(names_read(&parse->writer.sites, sites, "sites", &parse->complainer));
	fclose(pids);
	fclose(sites);
}

static void parse_as(const struct input *input, enum format format, bool other)
{
	uint64_t damage = 0;
	struct parse parse = {
		.format = format,
		.writer.out = null,
		.ctf_dir = dir,
		.sort = other || format > FORMAT_JSON,
		.writer.with_names = other,
		.writer.scale = other ? 1 : 1000,
		.writer.top = other,
		.memory = other ? 1024 : SORT_MEMORY,
		.complainer = { count, &damage },
	};

	read_names(input, &parse);
	parse_log(input, &parse);
	names_free(&parse.writer.pids);
	names_free(&parse.writer.sites);
	if (format == FORMAT_CTF)
		remove_ctf();
}

/**
 * LLVMFuzzerTestOneInput - parse an input
 * @data: see the top of the file
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct part whole = { data, size };
	struct input input;
	enum format format;

	make_dir();
	input.pids = take_part(&whole);
	input.sites = take_part(&whole);
	input.log = whole;
	for (format = FORMAT_TEXT; format <= FORMAT_SUMMARY_JSON; format++) {
		parse_as(&input, format, false);
		parse_as(&input, format, true);
	}
	return 0;
}

#ifdef FUZZ_MAIN
static uint8_t buffer[64 * 1024];

static size_t load(const char *name)
{
	FILE *file = fopen(name, "r");
	size_t size;

	EXPECT(file);
	size = fread(buffer, 1, sizeof(buffer), file);
	fclose(file);
	return size;
}

static void each_cut(const char *name)
{
	size_t size = load(name), i;

	for (i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(buffer, i);
	printf("%s: %zu inputs\n", name, size + 1);
}

static void random_changes(int seconds, char **names, int nr)
{
	time_t end = time(NULL) + seconds;
	unsigned long inputs = 0;
	size_t size;
	int i;

	for (; time(NULL) < end; inputs++) {
		size = load(names[random() % nr]);
		for (i = random() % 8; i && size; i--)
			buffer[random() % size] = random();
		LLVMFuzzerTestOneInput(buffer, size ? random() % size + 1 : 0);
	}
	printf("%lu inputs\n", inputs);
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 3 && !strcmp(argv[1], "--random")) {
		random_changes(atoi(argv[2]), argv + 3, argc - 3);
		return 0;
	}
	for (i = 1; i < argc; i++)
		each_cut(argv[i]);
	return 0;
}
#endif
