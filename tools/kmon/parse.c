// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converting a log, see parse.h.
 *
 * Damage is found while reading, when the file and the offset are known. Only whole records
 * that can be decoded are passed on.
 */
#include <sys/stat.h>

#include "parse.h"

/* Internals */

static void write_record(struct parse *parse, const struct record *record)
{
	switch (parse->format) {
	case FORMAT_TEXT:
		write_text(&parse->writer, record);
		break;
	case FORMAT_JSON:
		write_json(&parse->writer, record);
		break;
	case FORMAT_CTF:
		write_ctf(&parse->writer, record);
		break;
	case FORMAT_SUMMARY:
	case FORMAT_SUMMARY_JSON:
		sched_record(parse->writer.sched, record);
		allocs_record(parse->writer.allocs, record);
		break;
	}
}

static void write_raw(const uint8_t *raw, void *data)
{
	struct record record;

	record_open(&record, raw);
	record_decode(&record);
	write_record(data, &record);
}

static void take_record(struct parse *parse, const uint8_t *raw, const char *name,
			uint64_t offset)
{
	struct record record;

	record_open(&record, raw);
	if (!record_decode(&record)) {
		complain(&parse->complainer, name, offset,
			 "a blob of %u bytes is too short for type %u",
			 record.size, record_type(&record));
		return;
	}
	if (!parse->begun)
		parse->writer.base = record.time;
	parse->begun = true;
	if (!parse->sort)
		write_record(parse, &record);
	else if (!sorter_add(parse->sorter, raw, record_size(raw)))
		parse->failed = true;
}

/* Returns the number of bytes read: fewer than a record if the file ends within it. */
static size_t read_raw(FILE *file, uint8_t *raw)
{
	size_t n = fread(raw, 1, KMON_HDR_SIZE, file);

	if (n == KMON_HDR_SIZE)
		n += fread(raw + n, 1, record_size(raw) - n, file);
	return n;
}

/* The writer of a pipe may write a record only now and then. */
static bool is_live(FILE *file)
{
	struct stat st;

	return !fstat(fileno(file), &st) && !S_ISREG(st.st_mode);
}

static void write_whole(struct parse *parse)
{
	if (parse->format == FORMAT_SUMMARY)
		write_summary(&parse->writer);
	else if (parse->format == FORMAT_SUMMARY_JSON)
		write_summary_json(&parse->writer);
}

/* Interface */

/**
 * parse_begin - begin to convert a log
 * @parse: options, which the caller has set
 *
 * Return: false after a message.
 */
bool parse_begin(struct parse *parse)
{
	if (parse->sort)
		parse->sorter = sorter_new(parse->memory);
	if (parse->format == FORMAT_SUMMARY || parse->format == FORMAT_SUMMARY_JSON) {
		parse->writer.sched = sched_new();
		parse->writer.allocs = allocs_new();
	}
	if (parse->format != FORMAT_CTF)
		return true;
	parse->writer.ctf = ctf_open(parse->ctf_dir);
	return parse->writer.ctf;
}

/**
 * parse_file - read a log, or one more part of it
 * @parse: from parse_begin()
 * @file: file to read, to its end
 * @name: name of @file, for complaints
 *
 * Return: false with errno if @file cannot be read to its end. The records before the
 * error are converted nevertheless.
 */
bool parse_file(struct parse *parse, FILE *file, const char *name)
{
	bool flush = !parse->sort && is_live(file);
	static uint8_t raw[RECORD_MAX];
	uint64_t offset = 0;
	size_t n = 0;

	while (!parse->failed) {
		n = read_raw(file, raw);
		if (n < KMON_HDR_SIZE || n < record_size(raw))
			break;
		take_record(parse, raw, name, offset);
		offset += n;
		/* The next record may come much later. */
		if (flush)
			fflush(parse->writer.out);
	}
	if (parse->failed)
		return true;
	if (ferror(file))
		return false;
	if (n)
		complain(&parse->complainer, name, offset,
			 "cut short after %zu bytes of a record", n);
	return true;
}

/**
 * parse_end - write everything that is not written yet
 * @parse: from parse_begin(); afterwards it can only be freed
 *
 * Return: false after a message if something failed. The caller checks whether
 * @writer.out could be written.
 */
bool parse_end(struct parse *parse)
{
	if (parse->sorter && !parse->failed)
		parse->failed = !sorter_each(parse->sorter, write_raw, parse);
	if (parse->writer.sched)
		sched_end(parse->writer.sched);
	/* A summary of some of the records would look like a summary of all. */
	if (!parse->failed)
		write_whole(parse);
	if (parse->writer.ctf && !write_ctf_end(&parse->writer))
		parse->unwritten = true;
	return !parse->failed && !parse->unwritten;
}

/**
 * parse_free - free the memory that parse_begin() allocated
 * @parse: from parse_begin(); the caller frees its names and closes @writer.out
 */
void parse_free(struct parse *parse)
{
	if (parse->sorter)
		sorter_free(parse->sorter);
	if (parse->writer.sched)
		sched_free(parse->writer.sched);
	if (parse->writer.allocs)
		allocs_free(parse->writer.allocs);
}

