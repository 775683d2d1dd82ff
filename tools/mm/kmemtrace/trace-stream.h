/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that is open: its files and the merge of their records. trace-open.c fills
 * these in, trace.c reads records from them. The programs use trace.h.
 */
#ifndef _KMEMTRACE_TRACE_STREAM_H
#define _KMEMTRACE_TRACE_STREAM_H

#include "complaints.h"
#include "heap.h"
#include "trace.h"

/**
 * struct stream - a file of records
 * @name: path of the file
 * @fd: the file, or -1
 * @cpu: CPU that wrote the records
 * @eof: nothing more can be read from @fd
 * @started: @last and @sequence belong to a record
 * @buf: bytes of the file; NULL before the first read and after the last
 * @size: size of @buf
 * @pos: where the head, the next record, begins in @buf
 * @end: where the bytes in @buf end
 * @base: offset of @buf in the file
 * @head_size: size of the head
 * @last: number of the head, as it is in the file
 * @sequence: position of the head in the trace
 *
 * @base and @pos are multiples of KMEMTRACE_ALIGN, so records in @buf are aligned.
 */
struct stream {
	char *name;
	int fd;
	unsigned int cpu;
	bool eof;
	bool started;
	uint8_t *buf;
	size_t size;
	size_t pos;
	size_t end;
	uint64_t base;
	unsigned int head_size;
	uint32_t last;
	uint64_t sequence;
};

/**
 * struct trace - an open trace
 * @header: contents of the header
 * @complainer: receives complaints
 * @swap: the byte order of the records differs from that of this machine
 * @streams: files of records, by CPU
 * @nr_streams: number of @streams
 * @current: stream with the earliest head, NULL at the end of the trace
 * @heap: the other streams, ordered by their heads
 */
struct trace {
	struct trace_header header;
	struct complainer complainer;
	bool swap;
	struct stream *streams;
	size_t nr_streams;
	struct stream *current;
	struct heap heap;
};

bool stream_fill(struct trace *trace, struct stream *s, size_t need);
bool stream_find_head(struct trace *trace, struct stream *s);
void stream_end(struct stream *s);
void trace_begin_merge(struct trace *trace);
bool record_guess_swap(const uint8_t *record);

#endif /* _KMEMTRACE_TRACE_STREAM_H */
