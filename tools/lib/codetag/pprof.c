// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles for `go tool pprof`, see pprof.h: profile.proto packed by protobuf-c, gzipped.
 *
 * Each frame of each sample has its own location and function, even if names repeat:
 * pprof joins them by name, and gzip makes the repetition cheap. The arrays grow while
 * samples are added, so they hold numbers. The message that points into them is made
 * at the end.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pprof.h"
#include "profile.pb-c.h"
#include "util.h"

/* Data */

struct frame {
	Codetag__Location location;
	Codetag__Line line;
	Codetag__Line *lines;
	Codetag__Function function;
};

struct sample {
	Codetag__Sample sample;
	Codetag__Label label;
	Codetag__Label *labels;
	int64_t values[PPROF_VALUES];
	size_t first;		/* of its frames */
};

struct pprof {
	Codetag__Profile message;
	Codetag__ValueType types[PPROF_VALUES], *type_list[PPROF_VALUES];
	Codetag__ValueType period_type;
	Codetag__Mapping mapping, *mapping_list;
	struct sample *samples;
	struct frame *frames;
	uint64_t *ids;
	struct index strings;
	size_t nr_samples, sample_room;
	size_t nr_frames, frame_room;
	size_t string_room;
	int64_t comment;
};

/* Internals: adding */

static bool string_same(const void *table, uint32_t nr, const void *key)
{
	return !strcmp(((char **)table)[nr], key);
}

/* Makes room for one more element at @nr of an array, or exits. */
static void *make_room(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	return need_more(array, *room, size);
}

/* Returns the number of @text in the table of strings. */
static int64_t intern(struct pprof *pprof, const char *text)
{
	Codetag__Profile *message = &pprof->message;
	uint64_t hash = hash_string(text);
	uint32_t nr = index_find(&pprof->strings, hash, string_same,
				 message->string_table, text);

	if (nr != INDEX_NONE)
		return nr;
	message->string_table = make_room(message->string_table, message->n_string_table,
					  &pprof->string_room, sizeof(char *));
	nr = message->n_string_table++;
	message->string_table[nr] = need_string(text);
	index_add(&pprof->strings, hash, nr);
	return nr;
}

static void set_types(struct pprof *pprof, const struct pprof_type *types, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		codetag__value_type__init(&pprof->types[i]);
		pprof->types[i].type = intern(pprof, types[i].name);
		pprof->types[i].unit = intern(pprof, types[i].unit);
		pprof->type_list[i] = &pprof->types[i];
	}
	pprof->message.sample_types = pprof->type_list;
	pprof->message.n_sample_types = nr;
}

/*
 * A period of one byte: no allocation is left out. Go's heap profiles have the same type, and a
 * database of profiles can name profiles by it.
 */
static void set_period(struct pprof *pprof)
{
	codetag__value_type__init(&pprof->period_type);
	pprof->period_type.type = intern(pprof, "space");
	pprof->period_type.unit = intern(pprof, "bytes");
	pprof->message.period_type = &pprof->period_type;
	pprof->message.period = 1;
}

/* pprof looks for a binary unless a mapping says that the profile has names. */
static void set_mapping(struct pprof *pprof)
{
	Codetag__Mapping *mapping = &pprof->mapping;

	codetag__mapping__init(mapping);
	mapping->id = 1;
	mapping->memory_limit = UINT64_MAX;
	mapping->filename = intern(pprof, "[kernel.kallsyms]");
	mapping->has_functions = true;
	mapping->has_filenames = true;
	mapping->has_line_numbers = true;
	pprof->mapping_list = mapping;
	pprof->message.mappings = &pprof->mapping_list;
	pprof->message.n_mappings = 1;
}

/* Internals: the message */

static void link_frames(struct pprof *pprof)
{
	Codetag__Profile *message = &pprof->message;
	struct frame *frame;
	size_t i;

	message->locations = need_memory(pprof->nr_frames, sizeof(void *));
	message->functions = need_memory(pprof->nr_frames, sizeof(void *));
	message->n_locations = pprof->nr_frames;
	message->n_functions = pprof->nr_frames;
	pprof->ids = need_memory(pprof->nr_frames, sizeof(*pprof->ids));
	for (i = 0; i < pprof->nr_frames; i++) {
		frame = &pprof->frames[i];
		frame->lines = &frame->line;
		frame->location.lines = &frame->lines;
		frame->location.n_lines = 1;
		message->locations[i] = &frame->location;
		message->functions[i] = &frame->function;
		pprof->ids[i] = frame->location.id;
	}
}

static void link_samples(struct pprof *pprof)
{
	Codetag__Profile *message = &pprof->message;
	struct sample *sample;
	size_t i, next;

	message->samples = need_memory(pprof->nr_samples, sizeof(void *));
	message->n_samples = pprof->nr_samples;
	for (i = 0; i < pprof->nr_samples; i++) {
		sample = &pprof->samples[i];
		next = i + 1 < pprof->nr_samples ? sample[1].first : pprof->nr_frames;
		sample->sample.location_id = &pprof->ids[sample->first];
		sample->sample.n_location_id = next - sample->first;
		sample->sample.value = sample->values;
		sample->sample.n_value = message->n_sample_types;
		sample->labels = &sample->label;
		sample->sample.labels = &sample->labels;
		message->samples[i] = &sample->sample;
	}
}

static void pprof_free(struct pprof *pprof)
{
	Codetag__Profile *message = &pprof->message;
	size_t i;

	for (i = 0; i < message->n_string_table; i++)
		free(message->string_table[i]);
	free(message->string_table);
	free(message->samples);
	free(message->locations);
	free(message->functions);
	free(pprof->samples);
	free(pprof->frames);
	free(pprof->ids);
	index_free(&pprof->strings);
	free(pprof);
}

static bool write_gzipped(uint8_t *data, size_t size, FILE *out)
{
	z_stream stream = { .next_in = data, .avail_in = size };
	uint8_t *packed;
	size_t room;
	bool ok;

	/* 15 + 16: the largest window, the header of gzip */
	if (size > UINT32_MAX / 2 ||
	    deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	room = deflateBound(&stream, size);
	packed = need_memory(room, 1);
	stream.next_out = packed;
	stream.avail_out = room;
	ok = deflate(&stream, Z_FINISH) == Z_STREAM_END &&
	     fwrite(packed, 1, stream.total_out, out) == stream.total_out;
	deflateEnd(&stream);
	free(packed);
	return ok;
}

/* Interface */

/**
 * pprof_new - begin a profile
 * @types: what the values of each sample are
 * @nr: number of @types, up to PPROF_VALUES
 * @by_default: name of the type that pprof shows by default
 *
 * Return: the profile; pprof_write() frees it.
 */
struct pprof *pprof_new(const struct pprof_type *types, size_t nr, const char *by_default)
{
	struct pprof *pprof = need_memory(1, sizeof(*pprof));

	codetag__profile__init(&pprof->message);
	intern(pprof, "");
	set_types(pprof, types, nr);
	pprof->message.default_sample_type = intern(pprof, by_default);
	set_period(pprof);
	set_mapping(pprof);
	return pprof;
}

/**
 * pprof_comment - set the comment, which `pprof -comments` prints
 * @pprof: the profile, without a comment
 * @text: the comment
 */
void pprof_comment(struct pprof *pprof, const char *text)
{
	pprof->comment = intern(pprof, text);
	pprof->message.comment = &pprof->comment;
	pprof->message.n_comment = 1;
}

/**
 * pprof_time - say when the profile was taken
 * @pprof: the profile
 * @time: nanoseconds since 1970, 0 if unknown
 * @duration: nanoseconds that the profile covers, 0 if it shows a moment
 */
void pprof_time(struct pprof *pprof, uint64_t time, uint64_t duration)
{
	pprof->message.time_nanos = min_u64(time, INT64_MAX);
	pprof->message.duration_nanos = min_u64(duration, INT64_MAX);
}

/**
 * pprof_sample - begin a sample
 * @pprof: the profile
 * @values: a value of each type, at most INT64_MAX
 *
 * Labels and frames that are added from now on belong to this sample.
 */
void pprof_sample(struct pprof *pprof, const uint64_t *values)
{
	struct sample *sample;
	size_t i;

	pprof->samples = make_room(pprof->samples, pprof->nr_samples, &pprof->sample_room,
				   sizeof(*sample));
	sample = &pprof->samples[pprof->nr_samples++];
	codetag__sample__init(&sample->sample);
	sample->first = pprof->nr_frames;
	for (i = 0; i < pprof->message.n_sample_types; i++)
		sample->values[i] = min_u64(values[i], INT64_MAX);
}

/**
 * pprof_label - label the last sample
 * @pprof: the profile
 * @key: what the label says, for `pprof -tagfocus`
 * @text: the label; a sample has only one
 */
void pprof_label(struct pprof *pprof, const char *key, const char *text)
{
	struct sample *sample = &pprof->samples[pprof->nr_samples - 1];

	codetag__label__init(&sample->label);
	sample->label.key = intern(pprof, key);
	sample->label.str = intern(pprof, text);
	sample->sample.n_labels = 1;
}

/**
 * pprof_frame - add a frame to the stack of the last sample
 * @pprof: the profile
 * @frame: the frame; the first one of a stack is where memory was allocated, and each
 *	further one is the caller of the one before
 */
void pprof_frame(struct pprof *pprof, const struct pprof_frame *frame)
{
	struct frame *new;

	pprof->frames = make_room(pprof->frames, pprof->nr_frames, &pprof->frame_room,
				  sizeof(*new));
	new = &pprof->frames[pprof->nr_frames++];
	codetag__location__init(&new->location);
	codetag__line__init(&new->line);
	codetag__function__init(&new->function);
	new->location.id = pprof->nr_frames;
	new->location.mapping_id = 1;
	new->location.address = frame->address;
	new->function.id = pprof->nr_frames;
	new->function.name = intern(pprof, frame->function);
	new->function.system_name = new->function.name;
	new->function.filename = intern(pprof, frame->file);
	new->line.function_id = new->function.id;
	new->line.line = frame->line;
}

/**
 * pprof_write - write the gzipped profile and free it
 * @pprof: the profile
 * @out: output file
 *
 * Return: false if it could not be packed or written.
 */
bool pprof_write(struct pprof *pprof, FILE *out)
{
	uint8_t *data;
	size_t size;
	bool ok;

	link_frames(pprof);
	link_samples(pprof);
	size = codetag__profile__get_packed_size(&pprof->message);
	data = need_memory(size, 1);
	codetag__profile__pack(&pprof->message, data);
	ok = write_gzipped(data, size, out);
	free(data);
	pprof_free(pprof);
	return ok;
}
