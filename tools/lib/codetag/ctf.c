// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams and packets of a CTF trace, and the metadata that describes them, see ctf.h.
 *
 * There is no library behind it: events with a fixed layout only have to be copied, and
 * a library's object for each field would take most of the time. All fields are aligned
 * to bytes and in the byte order of this machine.
 *
 * The clock of a stream must not go back. If the time of an event does, the clock stands
 * still. Lost records are reported in the packets, as other tracers do: each report of a
 * loss ends a packet.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf.h"
#include "outfile.h"
#include "util.h"

/* Data */

#define CTF_MAGIC	0xc1fc1fc1u
#define PACKET_FIRST	1024u
#define PACKET_SIZE	65536u
/* readers store nanoseconds in signed 64 bits */
#define CLOCK_MAX	((uint64_t)INT64_MAX / 2)

/* the layout of the files: no padding between the fields */
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

#pragma pack(pop)

static_assert(sizeof(struct packet_head) == 52, "as in the metadata");

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

struct ctf_writer {
	int dir;
	bool failed;
	struct ctf_stream **streams;
	unsigned int nr_streams;
};

/* the first part of the metadata: types, byte order, names, clock */
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
"	tracer_name = \"%s\";\n"
"	machine = \"%s\";\n"
"	release = \"%s\";\n"
"};\n"
"clock {\n"
"	name = %s;\n"
"	freq = 1000000000;\n"
"};\n"
"typealias integer {\n"
"	size = 64; align = 8; signed = false; map = clock.%s.value;\n"
"} := clock_value;\n";

static const char metadata_stream[] =
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
"%s};\n";

/* Internals */

static int create(const struct ctf_writer *ctf, const char *name, int flags)
{
	return openat(ctf->dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

static void report_error(const char *name)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name,
		strerror(errno));
}

static void fail(struct ctf_writer *ctf, const char *name)
{
	if (!ctf->failed)
		report_error(name);
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

/* Open the file for each packet: there may be more CPUs than a process can open files. */
static void packet_write(struct ctf_writer *ctf, struct ctf_stream *stream)
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

static void packet_end(struct ctf_writer *ctf, struct ctf_stream *stream)
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

static void make_room(struct ctf_stream *stream, size_t size)
{
	if (size <= stream->room)
		return;
	while (size > stream->room)
		stream->room *= 2;
	stream->packet = need_more(stream->packet, stream->room, 1);
}

static void stream_end(struct ctf_writer *ctf, struct ctf_stream *stream)
{
	packet_end(ctf, stream);
	free(stream->packet);
	free(stream);
}

/* Strings in the metadata must not contain quotes, backslashes or control characters. */
static char clean(char c)
{
	return c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
}

static void clean_copy(char *to, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i < size - 1; i++)
		to[i] = clean(text[i]);
	to[i] = '\0';
}

/* Interface */

/**
 * ctf_put_head - write the first part of the metadata
 * @file: from ctf_metadata()
 * @tracer: name of the tracer
 * @machine: architecture of the recorded machine, or ""
 * @release: release of its kernel, or ""
 * @clock: name of the clock, one word; the clock counts nanoseconds
 *
 * This defines the types u8 to u64, s32, x32, x64 and clock_value.
 */
void ctf_put_head(FILE *file, const char *tracer, const char *machine,
		  const char *release, const char *clock)
{
	char m[256], r[256];

	clean_copy(m, sizeof(m), machine);
	clean_copy(r, sizeof(r), release);
	fprintf(file, metadata_head, __BYTE_ORDER == __BIG_ENDIAN ? "be" : "le",
		tracer, m, r, clock, clock);
}

/**
 * ctf_put_stream - write the part of the metadata that describes the streams
 * @file: from ctf_metadata()
 * @event_context: declaration of the fields that follow the head of each event, or ""
 */
void ctf_put_stream(FILE *file, const char *event_context)
{
	fprintf(file, metadata_stream, event_context);
}

/**
 * ctf_put_label - write a label of an enumeration
 * @file: from ctf_metadata()
 * @text: any text; characters that a label cannot contain become '?'
 */
void ctf_put_label(FILE *file, const char *text)
{
	fputs("\t\"", file);
	for (; *text; text++)
		fputc(clean(*text), file);
	fputc('"', file);
}

/**
 * ctf_open - begin to write a CTF trace
 * @dir: path of the directory, see outdir_open(); it must not contain a trace yet
 *
 * Return: the argument for ctf_close(), or NULL after a message.
 */
struct ctf_writer *ctf_open(const char *dir)
{
	struct ctf_writer *ctf;
	int fd = outdir_open(dir);

	if (fd < 0)
		return NULL;
	/* Fail now rather than after all work is done. */
	if (!faccessat(fd, "metadata", F_OK, AT_SYMLINK_NOFOLLOW)) {
		close(fd);
		errno = EEXIST;
		report_error(dir);
		return NULL;
	}
	ctf = need_memory(1, sizeof(*ctf));
	ctf->dir = fd;
	return ctf;
}

/**
 * ctf_stream - the stream of a CPU
 * @ctf: from ctf_open()
 * @cpu: number of the CPU; memory grows with the highest number
 *
 * Return: the stream, which ctf_close() frees.
 */
struct ctf_stream *ctf_stream(struct ctf_writer *ctf, unsigned int cpu)
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

/**
 * ctf_time - time for the next event
 * @stream: stream of the event
 *
 * Return: nanoseconds.
 */
uint64_t ctf_time(const struct ctf_stream *stream)
{
	return stream->time;
}

/**
 * ctf_advance - move the clock of a stream forward
 * @stream: the stream
 * @time: nanoseconds; a time before the clock does not change it
 */
void ctf_advance(struct ctf_stream *stream, uint64_t time)
{
	stream->time = max_u64(stream->time, min_u64(time, CLOCK_MAX));
}

/**
 * ctf_put - write an event
 * @ctf: from ctf_open()
 * @stream: stream of the event
 * @event: the event in the layout of the file, with the time from ctf_time()
 * @size: size of @event in bytes
 */
void ctf_put(struct ctf_writer *ctf, struct ctf_stream *stream, const void *event,
	     size_t size)
{
	if (stream->used + size > PACKET_SIZE)
		packet_end(ctf, stream);
	make_room(stream, stream->used + size);
	packet_begin(stream);
	memcpy(stream->packet + stream->used, event, size);
	stream->used += size;
}

/**
 * ctf_lost - report lost events
 * @ctf: from ctf_open()
 * @stream: stream of the lost events
 * @events: number of lost events
 *
 * This ends the current packet, which carries the number; the packet may be empty.
 */
void ctf_lost(struct ctf_writer *ctf, struct ctf_stream *stream, uint64_t events)
{
	packet_begin(stream);
	stream->discarded = sat_add(stream->discarded, events);
	packet_end(ctf, stream);
}

/**
 * ctf_metadata - begin to write the metadata
 * @ctf: from ctf_open()
 *
 * Return: the argument for ctf_close(), or NULL after a message.
 */
FILE *ctf_metadata(struct ctf_writer *ctf)
{
	int fd = create(ctf, "metadata", O_CREAT | O_EXCL);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		fail(ctf, "metadata");
	return file;
}

/**
 * ctf_close - write the remaining packets and close the trace
 * @ctf: from ctf_open(); freed
 * @metadata: from ctf_metadata(), or NULL; closed
 *
 * Return: false after a message if something could not be written.
 */
bool ctf_close(struct ctf_writer *ctf, FILE *metadata)
{
	unsigned int i;
	bool ok;

	for (i = 0; i < ctf->nr_streams; i++) {
		if (ctf->streams[i])
			stream_end(ctf, ctf->streams[i]);
	}
	if (metadata && (ferror(metadata) | fclose(metadata)))
		fail(ctf, "metadata");
	ok = !ctf->failed;
	close(ctf->dir);
	free(ctf->streams);
	free(ctf);
	return ok;
}
