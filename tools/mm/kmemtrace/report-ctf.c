// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records as a trace in the Common Trace Format 1.8, for babeltrace2 and other readers
 * of CTF: one stream per CPU, and the metadata.
 *
 * ctf.c writes the streams. A field that a record does not have is 0; a missing pid is -2.
 *
 * Names are labels of enumerations, so the events keep their numbers and readers show the
 * names. The metadata contains these labels and is written last, when all names are known.
 *
 * The clock is that of the trace. Without one, it is the sequence number, shown as
 * nanoseconds.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "ctf.h"
#include "report.h"

/* Data */

#define CTF_NO_PID	(-2)

enum ctf_event {
	CTF_ALLOC	= 0,
	CTF_FREE	= 1,
};

/* the layout of the files: no padding between the fields */
#pragma pack(push, 1)

struct event_head {
	uint8_t id;
	uint64_t time;
	uint64_t sequence;
	int32_t pid;
	uint8_t type;
	uint64_t call_site;
	uint64_t ptr;
};

struct alloc_event {
	struct event_head head;
	uint16_t tag;
	uint64_t bytes_req;
	uint64_t bytes_alloc;
	uint32_t gfp_flags;
	int32_t target_cpu;
};

struct free_event {
	struct event_head head;
	uint64_t bytes;
};

#pragma pack(pop)

static_assert(sizeof(struct event_head) == 38, "as in the metadata");
static_assert(sizeof(struct alloc_event) == 64, "as in the metadata");
static_assert(sizeof(struct free_event) == 46, "as in the metadata");

struct ctf {
	struct ctf_writer *writer;
	struct model *model;
	bool started;
	uint64_t first;		/* sequence number of the first record */
};

static const char metadata_types[] =
"typealias enum : u8 { \"kmalloc\" = 0, \"cache\" = 1, \"pages\" = 2 } := kmem_type;\n";

static const char event_context[] =
"	event.context := struct { u64 sequence; s32 pid; };\n";

static const char metadata_events[] =
"event {\n"
"	name = \"kmem_alloc\";\n"
"	id = 0;\n"
"	stream_id = 0;\n"
"	fields := struct {\n"
"		kmem_type type;\n"
"		kmem_call_site call_site;\n"
"		x64 ptr;\n"
"		kmem_tag tag;\n"
"		u64 bytes_req;\n"
"		u64 bytes_alloc;\n"
"		x32 gfp_flags;\n"
"		s32 target_cpu;\n"
"	};\n"
"};\n"
"event {\n"
"	name = \"kmem_free\";\n"
"	id = 1;\n"
"	stream_id = 0;\n"
"	fields := struct {\n"
"		kmem_type type;\n"
"		kmem_call_site call_site;\n"
"		x64 ptr;\n"
"		u64 bytes;\n"
"	};\n"
"};\n";

/* Internals */

static void clock_set(const struct ctf *ctf, struct ctf_stream *stream,
		      const struct trace_record *r)
{
	if (TRACE_HAS(r, KMEMTRACE_FEATURE_TIME))
		ctf_advance(stream, r->time);
	else if (!model_has_time(ctf->model))
		ctf_advance(stream, sat_sub(r->sequence, ctf->first));
}

static struct event_head event_head(const struct ctf_stream *stream,
				    const struct trace_record *r,
				    enum ctf_event id)
{
	return (struct event_head){
		.id = id,
		.time = ctf_time(stream),
		.sequence = r->sequence,
		.pid = TRACE_HAS(r, KMEMTRACE_FEATURE_PID) ? r->pid :
		       CTF_NO_PID,
		.type = r->type_id,
		.call_site = r->call_site,
		.ptr = r->ptr,
	};
}

static void put_alloc(struct ctf *ctf, struct ctf_stream *stream,
		      const struct trace_record *r)
{
	struct alloc_event event = {
		.head = event_head(stream, r, CTF_ALLOC),
		.tag = TRACE_HAS(r, KMEMTRACE_FEATURE_TAG) ? r->tag : 0,
		.bytes_req = r->bytes_req,
		.bytes_alloc = r->bytes_alloc,
		.gfp_flags = r->gfp_flags,
		.target_cpu = r->target_cpu,
	};

	ctf_put(ctf->writer, stream, &event, sizeof(event));
}

static void put_free(struct ctf *ctf, struct ctf_stream *stream,
		     const struct trace_record *r)
{
	struct free_event event = {
		.head = event_head(stream, r, CTF_FREE),
		.bytes = TRACE_HAS(r, KMEMTRACE_FEATURE_BYTES) ? r->bytes : 0,
	};

	ctf_put(ctf->writer, stream, &event, sizeof(event));
}

static void put_tags(const struct report *report, FILE *file)
{
	const struct trace_header *h = report->header;
	char label[512];
	struct place place;
	size_t i;

	fputs("typealias enum : u16 {\n\t\"none\" = 0", file);
	for (i = 1; i < h->nr_tags && i <= UINT16_MAX; i++) {
		if (!h->tags[i].where)
			continue;
		symbolizer_place(report->symbolizer, 0, i, &place);
		place_label(report, 0, &place, label, sizeof(label));
		place_free(&place);
		fputs(",\n", file);
		ctf_put_label(file, label);
		fprintf(file, " = %zu", i);
	}
	fputs("\n} := kmem_tag;\n", file);
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void put_call_site(const struct report *report, FILE *file,
			  uint64_t call_site)
{
	char label[512];
	struct place place;

	symbolizer_place(report->symbolizer, call_site, 0, &place);
	if (place.function) {
		place_label(report, call_site, &place, label, sizeof(label));
		fputs(",\n", file);
		ctf_put_label(file, label);
		fprintf(file, " = 0x%" PRIx64, call_site);
	}
	place_free(&place);
}

static void put_call_sites(const struct report *report, FILE *file)
{
	uint32_t i, nr = model_nr_sites(report->model);
	uint64_t *list = need_memory(nr, sizeof(*list));

	for (i = 0; i < nr; i++)
		list[i] = model_site(report->model, i)->call_site;
	qsort(list, nr, sizeof(*list), compare_addresses);
	fputs("typealias enum : x64 {\n\t\"none\" = 0", file);
	for (i = 0; i < nr; i++) {
		if (list[i] && (!i || list[i] != list[i - 1]))
			put_call_site(report, file, list[i]);
	}
	fputs("\n} := kmem_call_site;\n", file);
	free(list);
}

static void put_metadata(FILE *file, const struct report *report)
{
	const char *clock = model_has_time(report->model) ? "monotonic" : "sequence";
	const struct trace_header *h = report->header;

	ctf_put_head(file, "kmemtrace", h->machine, h->release, clock);
	fputs(metadata_types, file);
	put_tags(report, file);
	put_call_sites(report, file);
	ctf_put_stream(file, event_context);
	fputs(metadata_events, file);
}

/*
 * The model has processed the record already. Add the call sites of frees to it, because
 * put_call_sites() names them later.
 */
static void ctf_record(const struct trace_record *record, void *data)
{
	struct ctf *ctf = data;
	struct ctf_stream *stream = ctf_stream(ctf->writer, record->cpu);

	if (!ctf->started) {
		ctf->started = true;
		ctf->first = record->sequence;
	}
	clock_set(ctf, stream, record);
	if (record->event_id == KMEMTRACE_EVENT_LOST)
		ctf_lost(ctf->writer, stream, record->lost_events);
	else if (record->type_id >= MODEL_TYPES)
		return;
	else if (record->event_id == KMEMTRACE_EVENT_ALLOC)
		put_alloc(ctf, stream, record);
	else if (record->event_id == KMEMTRACE_EVENT_FREE)
		put_free(ctf, stream, record);
	if (record->event_id == KMEMTRACE_EVENT_FREE)
		model_find_site(ctf->model, record->call_site, 0,
				record->type_id);
}

/* Interface */

/**
 * write_ctf - read a trace into the model, and write it as CTF
 * @report: the report, with an empty model
 * @trace: from trace_open(); read to its end
 * @dir: directory for the CTF trace, see ctf_open()
 *
 * Return: false after a message if something could not be written.
 */
bool write_ctf(const struct report *report, struct trace *trace, const char *dir)
{
	struct ctf ctf = { .writer = ctf_open(dir), .model = report->model };
	FILE *metadata;

	if (!ctf.writer)
		return false;
	model_read(report->model, trace, ctf_record, &ctf);
	metadata = ctf_metadata(ctf.writer);
	if (metadata)
		put_metadata(metadata, report);
	return ctf_close(ctf.writer, metadata);
}
