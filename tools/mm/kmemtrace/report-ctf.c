// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records as a trace in the Common Trace Format 1.8, for babeltrace2 and what
 * else reads CTF: one stream a CPU, and the metadata.
 *
 * The writer is our own, as events of a fixed layout need no more than copies,
 * and a library's object for each field would take longer than all else. All
 * fields are aligned to bytes and in the order of this machine. A field that the
 * record had not is 0, the pid then -2.
 *
 * Names come into it as labels of enumerations, which is why the metadata is
 * written last: the numbers stay what they were, and a reader shows words.
 *
 * The clock is that of the trace, or where it has none the sequence number, as if
 * it were nanoseconds. In a stream it must not go back, so there it stands still
 * where times do. Lost records are told in the packets, as other tracers do: a
 * packet ends where a loss is told of.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

/* Data */

#define CTF_MAGIC	0xc1fc1fc1u
#define PACKET_FIRST	1024u
#define PACKET_SIZE	65536u
#define CTF_NO_PID	(-2)
/* readers count nanoseconds in 64 bits with a sign */
#define CLOCK_MAX	((uint64_t)INT64_MAX / 2)

enum ctf_event {
	CTF_ALLOC	= 0,
	CTF_FREE	= 1,
};

/* as they are in the files: nothing between the fields */
#pragma pack(push, 1)

struct packet_head {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t begin;
	uint64_t end;
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t discarded;
	uint32_t cpu;
};

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

static_assert(sizeof(struct packet_head) == 52, "as in the metadata");
static_assert(sizeof(struct event_head) == 38, "as in the metadata");
static_assert(sizeof(struct alloc_event) == 64, "as in the metadata");
static_assert(sizeof(struct free_event) == 46, "as in the metadata");

struct ctf_stream {
	unsigned int cpu;
	bool created;
	bool open_packet;
	uint64_t time;		/* of the last event */
	uint64_t begin;
	uint64_t discarded;
	uint8_t *packet;
	size_t used;
	size_t room;
};

struct ctf {
	int dir;
	bool failed;
	bool started;
	uint64_t first;		/* sequence number of the first record */
	struct ctf_stream **streams;
	unsigned int nr_streams;
};

/* the metadata up to the enumerations: byte order, machine, release, clock */
static const char metadata_head[] =
"/* CTF 1.8 */\n"
"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
"typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
"typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
"typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;\n"
"trace {\n"
"	major = 1;\n"
"	minor = 8;\n"
"	byte_order = %s;\n"
"	packet.header := struct { u32 magic; u32 stream_id; };\n"
"};\n"
"env {\n"
"	domain = \"kernel\";\n"
"	tracer_name = \"kmemtrace\";\n"
"	machine = \"%s\";\n"
"	release = \"%s\";\n"
"};\n"
"clock {\n"
"	name = %s;\n"
"	freq = 1000000000;\n"
"};\n"
"typealias integer {\n"
"	size = 64; align = 8; signed = false; map = clock.%s.value;\n"
"} := clock_value;\n"
"typealias enum : u8 { \"kmalloc\" = 0, \"cache\" = 1, \"pages\" = 2 } := kmem_type;\n";

static const char metadata_tail[] =
"stream {\n"
"	id = 0;\n"
"	packet.context := struct {\n"
"		clock_value timestamp_begin;\n"
"		clock_value timestamp_end;\n"
"		u64 content_size;\n"
"		u64 packet_size;\n"
"		u64 events_discarded;\n"
"		u32 cpu_id;\n"
"	};\n"
"	event.header := struct { u8 id; clock_value timestamp; };\n"
"	event.context := struct { u64 sequence; s32 pid; };\n"
"};\n"
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

static int create(const struct ctf *ctf, const char *name, int flags)
{
	return openat(ctf->dir, name, O_WRONLY | O_CLOEXEC | flags, 0666);
}

static void fail(struct ctf *ctf, const char *name)
{
	if (!ctf->failed)
		fprintf(stderr, "kmemtrace-report: %s: %s\n", name,
			strerror(errno));
	ctf->failed = true;
}

static struct ctf_stream *stream_new(unsigned int cpu)
{
	struct ctf_stream *stream = need_memory(1, sizeof(*stream));

	stream->cpu = cpu;
	stream->used = sizeof(struct packet_head);
	stream->room = PACKET_FIRST;
	stream->packet = need_memory(stream->room, 1);
	return stream;
}

static struct ctf_stream *stream_of(struct ctf *ctf, unsigned int cpu)
{
	unsigned int nr = ctf->nr_streams;

	if (cpu >= nr) {
		ctf->nr_streams = cpu + 1;
		ctf->streams = need_more(ctf->streams, ctf->nr_streams,
					 sizeof(*ctf->streams));
		for (; nr <= cpu; nr++)
			ctf->streams[nr] = NULL;
	}
	if (!ctf->streams[cpu])
		ctf->streams[cpu] = stream_new(cpu);
	return ctf->streams[cpu];
}

/* There may be more CPUs than files can be open: open for each packet. */
static void packet_write(struct ctf *ctf, struct ctf_stream *stream)
{
	char name[32];
	ssize_t done;
	size_t at;
	int fd;

	snprintf(name, sizeof(name), "cpu%u", stream->cpu);
	fd = create(ctf, name, stream->created ? O_APPEND : O_CREAT | O_EXCL);
	if (fd < 0) {
		fail(ctf, name);
		return;
	}
	stream->created = true;
	for (at = 0; at < stream->used; at += done) {
		done = write(fd, stream->packet + at, stream->used - at);
		if (done < 0) {
			fail(ctf, name);
			break;
		}
	}
	close(fd);
}

static void packet_end(struct ctf *ctf, struct ctf_stream *stream)
{
	struct packet_head head = {
		.magic = CTF_MAGIC,
		.begin = stream->begin,
		.end = stream->time,
		.content_bits = stream->used * 8,
		.packet_bits = stream->used * 8,
		.discarded = stream->discarded,
		.cpu = stream->cpu,
	};

	if (!stream->open_packet)
		return;
	memcpy(stream->packet, &head, sizeof(head));
	if (!ctf->failed)
		packet_write(ctf, stream);
	stream->used = sizeof(head);
	stream->open_packet = false;
}

static void packet_begin(struct ctf_stream *stream)
{
	if (stream->open_packet)
		return;
	stream->open_packet = true;
	stream->begin = stream->time;
}

static void put_event(struct ctf *ctf, struct ctf_stream *stream,
		      const void *event, size_t size)
{
	if (stream->used + size > PACKET_SIZE)
		packet_end(ctf, stream);
	if (stream->used + size > stream->room) {
		stream->room *= 2;
		stream->packet = need_more(stream->packet, stream->room, 1);
	}
	packet_begin(stream);
	memcpy(stream->packet + stream->used, event, size);
	stream->used += size;
}

static void clock_set(struct ctf *ctf, struct ctf_stream *stream,
		      const struct model *model, const struct trace_record *r)
{
	uint64_t time = stream->time;

	if (TRACE_HAS(r, KMEMTRACE_FEATURE_TIME))
		time = r->time;
	else if (!model_has_time(model))
		time = sat_sub(r->sequence, ctf->first);
	stream->time = max_u64(stream->time, min_u64(time, CLOCK_MAX));
}

static struct event_head event_head(const struct ctf_stream *stream,
				    const struct trace_record *r,
				    enum ctf_event id)
{
	return (struct event_head){
		.id = id,
		.time = stream->time,
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

	put_event(ctf, stream, &event, sizeof(event));
}

static void put_free(struct ctf *ctf, struct ctf_stream *stream,
		     const struct trace_record *r)
{
	struct free_event event = {
		.head = event_head(stream, r, CTF_FREE),
		.bytes = TRACE_HAS(r, KMEMTRACE_FEATURE_BYTES) ? r->bytes : 0,
	};

	put_event(ctf, stream, &event, sizeof(event));
}

/* The loss belongs to the packet that it ends, even if it is an empty one. */
static void put_loss(struct ctf *ctf, struct ctf_stream *stream,
		     const struct trace_record *r)
{
	packet_begin(stream);
	stream->discarded = sat_add(stream->discarded, r->lost_events);
	packet_end(ctf, stream);
}

/* A label of an enumeration: no quote, no backslash. */
static void put_label(FILE *file, const char *text)
{
	fputs("\t\"", file);
	for (; *text; text++)
		fputc(*text == '"' || *text == '\\' || *text < ' ' ||
		      *text > '~' ? '?' : *text, file);
	fputc('"', file);
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
		symbols_place(report->symbols, 0, i, &place);
		place_label(report, 0, &place, label, sizeof(label));
		place_free(&place);
		fputs(",\n", file);
		put_label(file, label);
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

	symbols_place(report->symbols, call_site, 0, &place);
	if (place.function) {
		place_label(report, call_site, &place, label, sizeof(label));
		fputs(",\n", file);
		put_label(file, label);
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

/* Text for a string of the metadata, in place. */
static void string_clean(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			*text = '?';
	}
}

static void put_metadata(struct ctf *ctf, const struct report *report)
{
	const char *clock = model_has_time(report->model) ? "monotonic" : "sequence";
	struct trace_header h = *report->header;
	int fd = create(ctf, "metadata", O_CREAT | O_EXCL);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file) {
		fail(ctf, "metadata");
		return;
	}
	string_clean(h.machine);
	string_clean(h.release);
	fprintf(file, metadata_head, __BYTE_ORDER == __BIG_ENDIAN ? "be" : "le",
		h.machine, h.release, clock, clock);
	put_tags(report, file);
	put_call_sites(report, file);
	fputs(metadata_tail, file);
	if (ferror(file) | fclose(file))
		fail(ctf, "metadata");
}

static void stream_end(struct ctf *ctf, struct ctf_stream *stream)
{
	packet_end(ctf, stream);
	free(stream->packet);
	free(stream);
}

/* Interface */

/**
 * ctf_new - begin to write a CTF trace
 * @dir: is made, or has none of the files yet
 *
 * Return: for ctf_end(), or NULL after a message.
 */
struct ctf *ctf_new(const char *dir)
{
	struct ctf *ctf;
	int fd;

	if (mkdir(dir, 0777) && errno != EEXIST)
		fd = -1;
	else
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "kmemtrace-report: %s: %s\n", dir,
			strerror(errno));
		return NULL;
	}
	ctf = need_memory(1, sizeof(*ctf));
	ctf->dir = fd;
	return ctf;
}

/**
 * ctf_record - write a record
 * @ctf: from ctf_new()
 * @model: has the record already; call sites of frees are remembered there, to
 *	be named at the end
 * @record: the next in the order of the trace
 */
void ctf_record(struct ctf *ctf, struct model *model,
		const struct trace_record *record)
{
	struct ctf_stream *stream = stream_of(ctf, record->cpu);

	if (!ctf->started) {
		ctf->started = true;
		ctf->first = record->sequence;
	}
	clock_set(ctf, stream, model, record);
	if (record->event_id == KMEMTRACE_EVENT_LOST)
		put_loss(ctf, stream, record);
	else if (record->type_id >= MODEL_TYPES)
		return;
	else if (record->event_id == KMEMTRACE_EVENT_ALLOC)
		put_alloc(ctf, stream, record);
	else if (record->event_id == KMEMTRACE_EVENT_FREE)
		put_free(ctf, stream, record);
	if (record->event_id == KMEMTRACE_EVENT_FREE)
		model_find_site(model, record->call_site, 0, record->type_id);
}

/**
 * ctf_end - write the metadata and close
 * @ctf: from ctf_new(), is gone afterwards
 * @report: to name call sites from
 *
 * Return: false when not all could be written, after a message.
 */
bool ctf_end(struct ctf *ctf, const struct report *report)
{
	unsigned int i;
	bool ok;

	for (i = 0; i < ctf->nr_streams; i++) {
		if (ctf->streams[i])
			stream_end(ctf, ctf->streams[i]);
	}
	put_metadata(ctf, report);
	ok = !ctf->failed;
	close(ctf->dir);
	free(ctf->streams);
	free(ctf);
	return ok;
}
