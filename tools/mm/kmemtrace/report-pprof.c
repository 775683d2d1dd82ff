// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report for `go tool pprof`: profile.proto packed by protobuf-c, gzipped.
 *
 * A sample is a call site with the values that pprof knows from heap profiles, and the
 * type as a label. Its stack has one frame, because a trace contains no stacks. Each
 * sample has its own location and function, even if names repeat: pprof joins them by
 * name. The message points into an array of entries, which is freed after packing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile.pb-c.h"
#include "report.h"

/* Data */

enum { VALUES = 4 };

struct entry {
	Kmemtrace__Sample sample;
	Kmemtrace__Label label;
	Kmemtrace__Label *labels;
	Kmemtrace__Location location;
	Kmemtrace__Line line;
	Kmemtrace__Line *lines;
	Kmemtrace__Function function;
	uint64_t location_id;
	int64_t values[VALUES];
};

struct profile {
	Kmemtrace__Profile message;
	Kmemtrace__ValueType types[VALUES], *type_list[VALUES];
	Kmemtrace__Mapping mapping;
	Kmemtrace__Mapping *mapping_list;
	struct entry *entries;
	struct index strings;
	size_t room;
	int64_t comment;
};

/* Internals */

static bool string_same(const void *table, uint32_t nr, const void *key)
{
	return !strcmp(((char **)table)[nr], key);
}

static uint64_t string_hash(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash_u64(hash ^ (unsigned char)*text);
	return hash;
}

/* Returns the number of @text in the table of strings. */
static int64_t intern(struct profile *profile, const char *text)
{
	Kmemtrace__Profile *message = &profile->message;
	uint64_t hash = string_hash(text);
	uint32_t nr = index_find(&profile->strings, hash, string_same,
				 message->string_table, text);

	if (nr != INDEX_NONE)
		return nr;
	if (message->n_string_table == profile->room) {
		profile->room = profile->room ? profile->room * 2 : 64;
		message->string_table = need_more(message->string_table,
						  profile->room,
						  sizeof(char *));
	}
	nr = message->n_string_table++;
	message->string_table[nr] = need_string(text);
	index_add(&profile->strings, hash, nr);
	return nr;
}

static void set_types(struct profile *profile)
{
	static const char * const names[VALUES][2] = {
		{ "alloc_objects", "count" },
		{ "alloc_space", "bytes" },
		{ "inuse_objects", "count" },
		{ "inuse_space", "bytes" },
	};
	unsigned int i;

	for (i = 0; i < VALUES; i++) {
		kmemtrace__value_type__init(&profile->types[i]);
		profile->types[i].type = intern(profile, names[i][0]);
		profile->types[i].unit = intern(profile, names[i][1]);
		profile->type_list[i] = &profile->types[i];
	}
	profile->message.sample_types = profile->type_list;
	profile->message.n_sample_types = VALUES;
	profile->message.default_sample_type = intern(profile, "inuse_space");
}

/* pprof looks for a binary unless a mapping says that the profile has names. */
static void set_mapping(struct profile *profile)
{
	Kmemtrace__Mapping *mapping = &profile->mapping;

	kmemtrace__mapping__init(mapping);
	mapping->id = 1;
	mapping->memory_limit = UINT64_MAX;
	mapping->filename = intern(profile, "[kernel.kallsyms]");
	mapping->has_functions = true;
	mapping->has_filenames = true;
	mapping->has_line_numbers = true;
	profile->mapping_list = mapping;
	profile->message.mappings = &profile->mapping_list;
	profile->message.n_mappings = 1;
}

static void set_function(struct profile *profile, struct entry *entry,
			 const struct report *report, const struct row *row)
{
	const struct place *place = &row->place;
	char label[512];

	kmemtrace__function__init(&entry->function);
	kmemtrace__line__init(&entry->line);
	if (place->function)
		snprintf(label, sizeof(label), "%s", place->function);
	else
		place_label(report, row->call_site, place, label,
			    sizeof(label));
	entry->function.id = entry->location_id;
	entry->function.name = intern(profile, label);
	entry->function.system_name = entry->function.name;
	entry->function.filename = intern(profile, place->file ? place->file :
					  place->module ? place->module : "");
	entry->line.function_id = entry->function.id;
	entry->line.line = place->line;
}

static void set_location(struct entry *entry, const struct row *row)
{
	kmemtrace__location__init(&entry->location);
	entry->location.id = entry->location_id;
	entry->location.mapping_id = 1;
	entry->location.address = row->call_site;
	entry->lines = &entry->line;
	entry->location.lines = &entry->lines;
	entry->location.n_lines = 1;
}

static void set_sample(struct profile *profile, struct entry *entry,
		       const struct row *row)
{
	const struct stats *s = &row->stats;

	entry->values[0] = min_u64(s->allocs, INT64_MAX);
	entry->values[1] = min_u64(s->allocated, INT64_MAX);
	entry->values[2] = min_u64(s->live, INT64_MAX);
	entry->values[3] = min_u64(s->live_bytes.allocated, INT64_MAX);
	kmemtrace__label__init(&entry->label);
	entry->label.key = intern(profile, "type");
	entry->label.str = intern(profile, type_names[row->type]);
	entry->labels = &entry->label;
	kmemtrace__sample__init(&entry->sample);
	entry->sample.location_id = &entry->location_id;
	entry->sample.n_location_id = 1;
	entry->sample.value = entry->values;
	entry->sample.n_value = VALUES;
	entry->sample.labels = &entry->labels;
	entry->sample.n_labels = 1;
}

static void add_row(struct profile *profile, uint32_t nr,
		    const struct report *report, const struct row *row)
{
	struct entry *entry = &profile->entries[nr];

	entry->location_id = nr + 1;
	set_sample(profile, entry, row);
	set_location(entry, row);
	set_function(profile, entry, report, row);
	profile->message.samples[nr] = &entry->sample;
	profile->message.locations[nr] = &entry->location;
	profile->message.functions[nr] = &entry->function;
}

static void add_rows(struct profile *profile, const struct report *report)
{
	Kmemtrace__Profile *message = &profile->message;
	struct rows rows;
	uint32_t i;

	rows_make(report, BY_SITE, report->sort, report->top, &rows);
	profile->entries = need_memory(rows.nr, sizeof(*profile->entries));
	message->samples = need_memory(rows.nr, sizeof(void *));
	message->locations = need_memory(rows.nr, sizeof(void *));
	message->functions = need_memory(rows.nr, sizeof(void *));
	message->n_samples = rows.nr;
	message->n_locations = rows.nr;
	message->n_functions = rows.nr;
	for (i = 0; i < rows.nr; i++)
		add_row(profile, i, report, &rows.rows[i]);
	rows_free(&rows);
}

static void set_comment(struct profile *profile, const struct report *report)
{
	const struct trace_header *h = report->header;
	char text[256];

	snprintf(text, sizeof(text), "kmemtrace of %s %s", h->machine,
		 h->release);
	profile->comment = intern(profile, text);
	profile->message.comment = &profile->comment;
	profile->message.n_comment = 1;
	if (model_has_time(report->model))
		profile->message.duration_nanos =
			min_u64(model_duration(report->model), INT64_MAX);
}

static void profile_free(struct profile *profile)
{
	Kmemtrace__Profile *message = &profile->message;
	size_t i;

	for (i = 0; i < message->n_string_table; i++)
		free(message->string_table[i]);
	free(message->string_table);
	free(message->samples);
	free(message->locations);
	free(message->functions);
	free(profile->entries);
	index_free(&profile->strings);
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
 * write_pprof - write call sites as a gzipped profile
 * @report: the report
 * @out: output file
 *
 * Return: false if it could not be packed or written.
 */
bool write_pprof(const struct report *report, FILE *out)
{
	struct profile profile = { 0 };
	uint8_t *data;
	size_t size;
	bool ok;

	kmemtrace__profile__init(&profile.message);
	intern(&profile, "");
	set_types(&profile);
	set_mapping(&profile);
	set_comment(&profile, report);
	add_rows(&profile, report);
	size = kmemtrace__profile__get_packed_size(&profile.message);
	data = need_memory(size, 1);
	kmemtrace__profile__pack(&profile.message, data);
	ok = write_gzipped(data, size, out);
	free(data);
	profile_free(&profile);
	return ok;
}
