// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading files of snapshots, see snap.h.
 *
 * All parts are opened before the first is read, the newest first. If the recorder renames
 * the parts meanwhile, the same part can be opened twice but none is missed; a part that
 * was opened twice is dropped.
 *
 * A snapshot is unpacked with the one before it, which is therefore kept. After damage the
 * next full snapshot is the first that can be unpacked.
 *
 * The recorder may be writing its next snapshot. A record that is not whole at the end of
 * the newest part is no damage while the recorder has the part; it is not there yet.
 *
 * Recordings of weeks take a while, so a terminal sees how much of the bytes was read. The
 * cursor stays at the beginning of that line: a message replaces it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "snap-record.h"
#include "snap.h"
#include "util.h"

/* Data */

/* Milliseconds before progress is shown for the first time, and between two times. */
#define PROGRESS_AFTER	500
#define PROGRESS_EACH	100

struct part {
	int fd;
	uint64_t size;
	struct stat st;
	char *name;
};

struct snap_reader {
	struct complainer complainer;
	struct part *parts;	/* the newest first */
	unsigned int nr_parts;
	unsigned int at;	/* number of unread parts, the current one included */
	uint64_t offset;
	uint64_t nr;
	struct snap_header header;
	struct buffer record;
	struct buffer text, before;
	size_t before_size;
	bool have_before;
	bool gap;		/* snapshots were skipped and that was reported */
	bool terminal;		/* standard error is one */
	bool progress;		/* it has a line of progress */
	uint64_t progress_next;	/* when to show that, in milliseconds */
	ZSTD_DCtx *zstd;
};

/* Internals: parts */

static const struct part *current_part(const struct snap_reader *reader)
{
	return &reader->parts[reader->at - 1];
}

static void __printf(2, 3) complain_here(const struct snap_reader *reader,
					 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(&reader->complainer, current_part(reader)->name, reader->offset, format,
		  args);
	va_end(args);
}

static void add_part(struct snap_reader *reader, int fd, char *name)
{
	struct part part = { .fd = fd, .name = name }, *last;

	last = reader->nr_parts ? &reader->parts[reader->nr_parts - 1] : NULL;
	if (fstat(fd, &part.st) || !S_ISREG(part.st.st_mode) ||
	    (last && last->st.st_dev == part.st.st_dev && last->st.st_ino == part.st.st_ino)) {
		close(fd);
		free(name);
		return;
	}
	part.size = part.st.st_size;
	reader->parts = need_more(reader->parts, reader->nr_parts + 1, sizeof(part));
	reader->parts[reader->nr_parts++] = part;
}

/* If the recorder died while it renamed parts, one number is missing. */
static void open_parts(struct snap_reader *reader, const char *path)
{
	unsigned int nr, missing = 0;
	int fd;

	for (nr = 0; missing < 2; nr++) {
		fd = part_open(AT_FDCWD, path, nr, O_RDONLY | O_NONBLOCK);
		if (fd >= 0)
			add_part(reader, fd, part_name(path, nr));
		missing = fd < 0 ? missing + 1 : 0;
	}
	reader->at = reader->nr_parts;
}

/* Internals: progress */

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Parts from reader->at on are read. */
static unsigned int percent_read(const struct snap_reader *reader)
{
	double size = 0, got = reader->at ? reader->offset : 0;
	unsigned int i;

	for (i = 0; i < reader->nr_parts; i++) {
		size += reader->parts[i].size;
		if (i >= reader->at)
			got += reader->parts[i].size;
	}
	return size > 0 ? 100 * got / size : 100;
}

static void show_progress(struct snap_reader *reader)
{
	uint64_t now;

	if (!reader->terminal)
		return;
	now = now_ms();
	if (now < reader->progress_next)
		return;
	fprintf(stderr, "\r\033[K%u %% read\r", percent_read(reader));
	reader->progress = true;
	reader->progress_next = now + PROGRESS_EACH;
}

static void end_progress(const struct snap_reader *reader)
{
	if (reader->progress)
		fputs("\r\033[K", stderr);
}

/* Internals: records */

static bool next_part(struct snap_reader *reader)
{
	reader->offset = 0;
	reader->have_before = false;
	return --reader->at;
}

/* Returns true if the recorder has changed the size of a part, which is updated. */
static bool size_changed(struct part *part)
{
	uint64_t size = part->size;
	struct stat st;

	if (!fstat(part->fd, &st))
		part->size = st.st_size;
	return part->size != size;
}

static void complain_about(struct snap_reader *reader, const struct part *part, uint64_t end)
{
	complain_here(reader, "%" PRIu64 " bytes %s", end - reader->offset,
		      end < part->size ? "are damaged" : "at the end are no whole snapshot");
	reader->have_before = false;
}

/* Returns the offset of the next record of a part, or the size of the part. */
static uint64_t find_record(struct snap_reader *reader, struct part *part,
			    struct record *record)
{
	uint64_t found, size;
	bool locked;

	do {
		/* if the recorder ends after this check, the file has changed by then */
		locked = part_locked(part->fd);
		size = part->size;
		found = record_find(part->fd, reader->offset, size, record, &reader->record);
		if (found == reader->offset)
			return found;
	} while (found == size && reader->at == 1 && size_changed(part));
	if (found < size || reader->at != 1 || !locked ||
	    !record_cut(part->fd, reader->offset, size))
		complain_about(reader, part, found);
	return found;
}

/* Reads the next record of any part. */
static bool next_record(struct snap_reader *reader, struct record *record)
{
	struct part *part;
	uint64_t found;

	while (reader->at) {
		part = &reader->parts[reader->at - 1];
		found = find_record(reader, part, record);
		if (found < part->size) {
			reader->offset = found + RECORD_SIZE + record->size;
			return true;
		}
		next_part(reader);
	}
	return false;
}

static char **header_field(struct snap_header *header, const char *name)
{
	const struct {
		const char *name;
		char **field;
	} fields[] = {
		{ "boot_id", &header->boot_id },
		{ "release", &header->release },
		{ "machine", &header->machine },
		{ "host", &header->host },
		{ "cmdline", &header->cmdline },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!name || !strcmp(fields[i].name, name)) {
			free(*fields[i].field);
			*fields[i].field = need_string("");
			if (name)
				return fields[i].field;
		}
	}
	return NULL;
}

/* Returns false if this version of the format is unknown. */
static bool take_header(struct snap_reader *reader, const struct record *record)
{
	char *rest = reader->record.data, *line, *value;
	unsigned long version = 0;
	char **field;

	rest[record->size] = '\0';
	header_field(&reader->header, NULL);
	reader->have_before = false;
	reader->gap = false;
	while ((line = strsep(&rest, "\n"))) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "version"))
			version = strtoul(value, NULL, 10);
		field = header_field(&reader->header, line);
		if (field) {
			free(*field);
			*field = need_string(value);
		}
	}
	return version == SNAP_VERSION;
}

/* Internals: snapshots */

static bool unpack(struct snap_reader *reader, const struct record *record)
{
	char *text = buffer_need(&reader->text, record->text_size + 1);
	size_t got;

	if (record->type == RECORD_DELTA &&
	    ZSTD_isError(ZSTD_DCtx_refPrefix(reader->zstd, reader->before.data,
					     reader->before_size)))
		return false;
	got = ZSTD_decompressDCtx(reader->zstd, text, record->text_size, record->data,
				  record->size);
	ZSTD_DCtx_reset(reader->zstd, ZSTD_reset_session_only);
	text[record->text_size] = '\0';
	return got == record->text_size;
}

static bool take_number(char **text, uint64_t *number)
{
	char *end;

	if (**text != ' ')
		return false;
	errno = 0;
	*number = strtoull(*text + 1, &end, 10);
	if (errno || end == *text + 1)
		return false;
	*text = end;
	return true;
}

static bool take_text(char *text, size_t size, struct snap *snap)
{
	uint64_t meminfo, allocinfo;
	char *end = text + size, *p = text + strlen("snapshot");

	if (size < strlen("snapshot") || memcmp(text, "snapshot", strlen("snapshot")) ||
	    !take_number(&p, &snap->time) || !take_number(&p, &snap->boottime) ||
	    !take_number(&p, &meminfo) || !take_number(&p, &allocinfo) || *p++ != '\n')
		return false;
	size = end - p;
	if (meminfo > size || allocinfo > size || meminfo + allocinfo + 2 != size ||
	    p[meminfo] || end[-1])
		return false;
	snap->meminfo = p;
	snap->meminfo_size = meminfo;
	snap->allocinfo = p + meminfo + 1;
	snap->allocinfo_size = allocinfo;
	return true;
}

static void keep_before(struct snap_reader *reader, size_t size)
{
	struct buffer buffer = reader->before;

	reader->before = reader->text;
	reader->text = buffer;
	reader->before_size = size;
	reader->have_before = true;
}

/* Returns true if @record is a snapshot that can be read. */
static bool take_snap(struct snap_reader *reader, const struct record *record,
		      struct snap *snap)
{
	if (record->type == RECORD_DELTA && !reader->have_before) {
		if (!reader->gap)
			complain_here(reader, "snapshots up to the next full one are lost");
		reader->gap = true;
		return false;
	}
	if (!unpack(reader, record) ||
	    !take_text(reader->text.data, record->text_size, snap)) {
		complain_here(reader, "a snapshot cannot be unpacked");
		reader->have_before = false;
		return false;
	}
	keep_before(reader, record->text_size);
	reader->gap = false;
	snap->header = &reader->header;
	snap->nr = reader->nr++;
	return true;
}

/* Interface */

/**
 * snap_is_file - check whether a file has snapshots
 * @path: path of the file
 *
 * Return: true if it begins like one, or if older parts exist but no such file.
 */
bool snap_is_file(const char *path)
{
	char magic[SNAP_MAGIC_SIZE];
	unsigned int nr;
	struct stat st;
	ssize_t got;
	int fd = -1;

	/* a pipe that is opened here and closed again would end its writer */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return false;
	for (nr = 0; nr < 2 && fd < 0; nr++)
		fd = part_open(AT_FDCWD, path, nr, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return false;
	got = pread(fd, magic, sizeof(magic), 0);
	close(fd);
	return got == sizeof(magic) && !memcmp(magic, SNAP_MAGIC, sizeof(magic));
}

/**
 * snap_open - open a file of snapshots, with its older parts
 * @path: path of the file
 * @complainer: receives complaints about damage
 *
 * Return: the reader, or NULL with errno if there is no such file.
 */
struct snap_reader *snap_open(const char *path, const struct complainer *complainer)
{
	struct snap_reader *reader = need_memory(1, sizeof(*reader));

	reader->complainer = *complainer;
	reader->terminal = isatty(STDERR_FILENO);
	reader->progress_next = now_ms() + PROGRESS_AFTER;
	errno = 0;
	open_parts(reader, path);
	header_field(&reader->header, NULL);
	reader->zstd = ZSTD_createDCtx();
	if (reader->nr_parts && reader->zstd)
		return reader;
	if (!reader->zstd)
		errno = ENOMEM;
	snap_close(reader);
	return NULL;
}

/**
 * snap_next - read the next snapshot
 * @reader: the reader
 * @snap: the snapshot, valid until the next call
 *
 * Return: false after the last one.
 */
bool snap_next(struct snap_reader *reader, struct snap *snap)
{
	struct record record;

	while (next_record(reader, &record)) {
		show_progress(reader);
		if (record.type == RECORD_HEADER && !take_header(reader, &record)) {
			complain_here(reader, "this version of the format is unknown");
			next_part(reader);
		}
		if ((record.type == RECORD_FULL || record.type == RECORD_DELTA) &&
		    take_snap(reader, &record, snap))
			return true;
	}
	return false;
}

/**
 * snap_close - free a reader
 * @reader: the reader, or NULL
 */
void snap_close(struct snap_reader *reader)
{
	unsigned int i;
	int err = errno;

	if (!reader)
		return;
	end_progress(reader);
	for (i = 0; i < reader->nr_parts; i++) {
		close(reader->parts[i].fd);
		free(reader->parts[i].name);
	}
	free(reader->parts);
	free(reader->header.boot_id);
	free(reader->header.release);
	free(reader->header.machine);
	free(reader->header.host);
	free(reader->header.cmdline);
	free(reader->record.data);
	free(reader->text.data);
	free(reader->before.data);
	ZSTD_freeDCtx(reader->zstd);
	free(reader);
	errno = err;
}
