// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening a trace: find its files, read the header, and begin the merge of the records.
 * See trace.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace-header.h"
#include "trace-order.h"
#include "trace-stream.h"
#include "util.h"

#define KIB		1024u
#define MIB		(KIB * KIB)

/* size of a stream's buffer; the smallest one holds the largest record */
#define BUFFER_MAX	(256 * KIB)
#define BUFFER_MIN	(64 * KIB)
/* size of all buffers together, unless each would have less than BUFFER_MIN */
#define BUFFERS		(64 * MIB)

bool trace_is_cpu_file(const char *name, unsigned int *cpu)
{
	char again[32];

	if (sscanf(name, "cpu%5u.out", cpu) != 1 || *cpu >= TRACE_MAX_CPUS)
		return false;
	snprintf(again, sizeof(again), "cpu%u.out", *cpu);
	return !strcmp(name, again);
}

const char *trace_default_directory(void)
{
	return access("header", F_OK) ? TRACE_DIRECTORY : ".";
}

static char *join(const char *dir, size_t len, const char *name)
{
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir,
		     len && dir[len - 1] != '/' ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static int compare_streams(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static bool add_stream(struct trace *trace, size_t *room, char *name,
		       unsigned int cpu)
{
	if (!name || !try_grow(&trace->streams, trace->nr_streams, room,
			       sizeof(*trace->streams))) {
		free(name);
		return false;
	}
	trace->streams[trace->nr_streams++] = (struct stream){
		.name = name,
		.fd = -1,
		.cpu = cpu,
	};
	return true;
}

static bool find_streams(struct trace *trace, const char *dir)
{
	struct dirent *entry;
	unsigned int cpu;
	size_t room = 0;
	bool ok = true;
	DIR *d;

	d = opendir(dir);
	if (!d) {
		complain(&trace->complainer, dir, 0, "%s", strerror(errno));
		return false;
	}
	while (ok && trace->nr_streams < TRACE_MAX_CPUS && (entry = readdir(d)))
		if (trace_is_cpu_file(entry->d_name, &cpu))
			ok = add_stream(trace, &room,
					join(dir, strlen(dir), entry->d_name),
					cpu);
	closedir(d);
	if (!ok) {
		complain(&trace->complainer, dir, 0, "out of memory");
		return false;
	}
	if (trace->nr_streams)
		qsort(trace->streams, trace->nr_streams,
		      sizeof(*trace->streams), compare_streams);
	return true;
}

/* A machine with many CPUs has more files than a process can open by default. */
static void allow_files(size_t nr)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= nr + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t buffer_size(const struct trace *trace, uint64_t file_size)
{
	size_t size = BUFFERS / trace->nr_streams;

	if (size > BUFFER_MAX)
		size = BUFFER_MAX;
	if (size > file_size)
		size = file_size;
	return size < BUFFER_MIN ? BUFFER_MIN : size;
}

static bool open_stream(struct trace *trace, struct stream *s, int flags)
{
	struct stat st;

	s->fd = open(s->name, O_RDONLY | O_CLOEXEC | flags);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		complain(&trace->complainer, s->name, 0, "%s", strerror(errno));
		stream_end(s);
		return false;
	}
	/* With O_NONBLOCK, a pipe without a writer would look empty. */
	if (flags & O_NONBLOCK && !S_ISREG(st.st_mode)) {
		complain(&trace->complainer, s->name, 0, "not a regular file");
		stream_end(s);
		return false;
	}
	s->size = buffer_size(trace, S_ISREG(st.st_mode) ? (uint64_t)st.st_size :
							    BUFFER_MAX);
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return true;
}

/* Guess the byte order if the header does not give it. */
static void guess_byte_order(struct trace *trace)
{
	struct stream *s;
	bool swap = false;
	size_t i;

	for (i = 0; i < trace->nr_streams; i++) {
		s = &trace->streams[i];
		if (!s->eof &&
		    stream_fill(trace, s, sizeof(struct kmemtrace_event))) {
			swap = record_guess_swap(s->buf);
			break;
		}
	}
	trace->header.big_endian = native_big_endian() != swap;
}

/* Returns true if at least one file could be opened, or if there are none. */
static bool open_streams(struct trace *trace, bool order_known, int flags)
{
	bool any = !trace->nr_streams;
	size_t i;

	allow_files(trace->nr_streams);
	trace->heap.items = calloc(trace->nr_streams + 1, sizeof(void *));
	if (!trace->heap.items)
		return false;
	for (i = 0; i < trace->nr_streams; i++)
		any |= open_stream(trace, &trace->streams[i], flags);
	if (!order_known)
		guess_byte_order(trace);
	trace->swap = trace->header.big_endian != native_big_endian();
	for (i = 0; i < trace->nr_streams; i++)
		if (stream_find_head(trace, &trace->streams[i]))
			trace->heap.items[trace->heap.nr++] = &trace->streams[i];
	trace_begin_merge(trace);
	return any;
}

static bool has_stream(const struct trace *trace, unsigned int cpu)
{
	struct stream key = { .cpu = cpu };

	return trace->nr_streams &&
	       bsearch(&key, trace->streams, trace->nr_streams,
		       sizeof(key), compare_streams);
}

static void find_missing(const struct trace *trace, const struct header_file *file)
{
	size_t i;

	for (i = 0; i < file->nr_cpus; i++)
		if (!has_stream(trace, file->cpus[i]))
			complain(&trace->complainer, file->name, 0,
				 "the trace has a cpu%u.out, which is not here",
				 file->cpus[i]);
}

static struct trace *new_trace(complain_fn *fn, void *data)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		if (fn)
			fn("", 0, "out of memory", data);
		return NULL;
	}
	trace->complainer = (struct complainer){ fn, data };
	trace->header.word_bits = 64;
	trace->header.page_size = 4096;
	trace->header.big_endian = native_big_endian();
	return trace;
}

struct trace *trace_open(const char *dir, complain_fn *fn, void *data)
{
	struct trace *trace = new_trace(fn, data);
	struct header_file file = { .name = join(dir, strlen(dir), "header") };
	bool ok;

	if (!trace) {
		header_free(&file);
		return NULL;
	}
	file.header = &trace->header;
	ok = header_read(&file, true, &trace->complainer) && find_streams(trace, dir);
	if (ok) {
		find_missing(trace, &file);
		ok = open_streams(trace, file.byte_order_known, O_NONBLOCK);
	}
	header_free(&file);
	if (!ok) {
		trace_close(trace);
		return NULL;
	}
	return trace;
}

struct trace *trace_open_file(const char *path, complain_fn *fn,
			      void *data)
{
	struct trace *trace = new_trace(fn, data);
	const char *base = strrchr(path, '/');
	struct header_file file = { 0 };
	unsigned int cpu = 0;
	size_t room = 0;
	bool ok;

	if (!trace)
		return NULL;
	base = base ? base + 1 : path;
	if (!trace_is_cpu_file(base, &cpu))
		cpu = 0;
	file.name = join(path, base - path, "header");
	file.header = &trace->header;
	header_read(&file, false, &trace->complainer);
	ok = add_stream(trace, &room, strdup(path), cpu) &&
	     open_streams(trace, file.byte_order_known, 0);
	header_free(&file);
	if (!ok) {
		trace_close(trace);
		return NULL;
	}
	return trace;
}
