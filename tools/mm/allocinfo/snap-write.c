// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing files of snapshots, see snap.h.
 *
 * If a record cannot be written as a whole, its part is cut off again, so that the file
 * ends with the last whole snapshot. The next snapshot then refers to that one. Each
 * snapshot is synchronised to the disk: the last ones before a crash are those that matter.
 *
 * A part that is large or old enough is renamed, and a new one begins. Renaming needs no
 * space. If the new part cannot be created, the old ones stay where they are, and the next
 * snapshot tries again. If somebody else renames, removes or empties the newest part, a new
 * one begins.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "outfile.h"
#include "snap-record.h"
#include "snap.h"
#include "util.h"

/* Data */

#define LEVEL		5
#define DELTAS_MAX	128u	/* between two full snapshots */
#define PARTS		8u	/* of a recording with limits */

struct snap_writer {
	struct snap_limits limits;
	char *path;
	const char *name;	/* of the newest part in @dir */
	int dir;
	int fd;			/* -1 between two parts */
	uint64_t size;		/* of the newest part */
	uint64_t written;
	time_t begun;		/* when the newest part began */
	unsigned int deltas;
	bool full;		/* the next snapshot must be a full one */
	bool header;		/* ... and must follow a header */
	bool stuck;		/* the newest part cannot be renamed */
	struct buffer text, before, out;
	size_t before_size;
	ZSTD_CCtx *zstd;
};

/* Internals: parts */

static int report(const struct snap_writer *writer, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, writer->path, what);
	return -1;
}

/* Nobody else may have access to the file, or may have chosen it. */
static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_nlink == 1 && !(st.st_mode & 022);
}

/* The file of a recorder that died in its first write has only the beginning of a record. */
static bool begins_record(int fd, uint64_t size)
{
	char magic[SNAP_MAGIC_SIZE];
	ssize_t got = pread(fd, magic, sizeof(magic), 0);

	return !size || (got > 0 && !memcmp(magic, SNAP_MAGIC, got));
}

enum part_state { PART_NONE, PART_OURS, PART_FOREIGN };

/* Other programs use names like FILE.1, too: logrotate, for example. */
static enum part_state part_state(const struct snap_writer *writer, unsigned int nr,
				  struct stat *st)
{
	int fd = part_open(writer->dir, writer->name, nr, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	bool ours;

	if (fd < 0)
		return errno == ENOENT ? PART_NONE : PART_FOREIGN;
	ours = !fstat(fd, st) && is_ours(fd) && st->st_size && begins_record(fd, st->st_size);
	close(fd);
	return ours ? PART_OURS : PART_FOREIGN;
}

/* Returns the number of a file that has the name of an old part but is none, or 0. */
static unsigned int foreign_part(const struct snap_writer *writer)
{
	unsigned int nr, missing = 0;
	enum part_state state;
	struct stat st;

	for (nr = 1; missing < 2; nr++) {
		state = part_state(writer, nr, &st);
		missing = state == PART_NONE ? missing + 1 : 0;
		if (state == PART_FOREIGN)
			return nr;
	}
	return 0;
}

static void report_foreign(const struct snap_writer *writer, unsigned int nr, const char *what)
{
	fprintf(stderr, "%s: %s.%u is no part of a recording; %s\n",
		program_invocation_short_name, writer->path, nr, what);
}

/* A recording with limits needs the names of the old parts. */
static bool names_are_free(const struct snap_writer *writer)
{
	unsigned int nr = 0;

	if (writer->limits.size || writer->limits.age)
		nr = foreign_part(writer);
	if (nr)
		report_foreign(writer, nr, "choose another name");
	return !nr;
}

/* If somebody takes one of the names later, the newest part grows until it is free again. */
static bool may_rename(struct snap_writer *writer)
{
	unsigned int nr = foreign_part(writer);

	if (nr && !writer->stuck)
		report_foreign(writer, nr, "the newest part grows until that file is gone");
	writer->stuck = nr;
	return !nr;
}

/* Returns the number of the first part that does not exist, from 1. */
static unsigned int first_missing(const struct snap_writer *writer)
{
	unsigned int nr = 1;
	struct stat st;
	char *name;
	int missing;

	for (;; nr++) {
		name = part_name(writer->name, nr);
		missing = fstatat(writer->dir, name, &st, AT_SYMLINK_NOFOLLOW);
		free(name);
		if (missing)
			return nr;
	}
}

static bool rename_part(const struct snap_writer *writer, unsigned int from)
{
	char *old = part_name(writer->name, from), *new = part_name(writer->name, from + 1);
	int err = renameat(writer->dir, old, writer->dir, new);

	free(old);
	free(new);
	return !err;
}

/* Ends the newest part. Only the parts below the first missing number are renamed. */
static bool end_part(struct snap_writer *writer)
{
	unsigned int nr = first_missing(writer);

	while (nr--) {
		if (!rename_part(writer, nr))
			return false;
	}
	close(writer->fd);
	writer->fd = -1;
	return true;
}

/*
 * Creates the file of a new part, or takes an empty one: logrotate, for example, creates one
 * in place of the file that it has renamed, or truncates the file.
 */
static int new_part(const struct snap_writer *writer)
{
	int fd = part_open(writer->dir, writer->name, 0,
			   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);

	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = part_open(writer->dir, writer->name, 0, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
	/* logrotate may let others read what it creates */
	if (fd >= 0 && is_ours(fd) && !fchmod(fd, 0600))
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EEXIST;
	return -1;
}

static bool is_empty(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_size;
}

static bool begin_part(struct snap_writer *writer)
{
	int fd = new_part(writer);
	bool mine;

	if (fd < 0)
		return false;
	mine = part_lock(fd);
	/* The file is foreign, or another recorder wrote to it before the lock. */
	if (!mine || !is_empty(fd)) {
		close(fd);
		errno = mine ? EEXIST : EAGAIN;
		return false;
	}
	writer->fd = fd;
	writer->size = 0;
	writer->begun = time(NULL);
	writer->header = true;
	return true;
}

/* Has somebody renamed, removed or truncated the newest part? */
static bool part_is_gone(const struct snap_writer *writer)
{
	struct stat ours, named;

	if (fstat(writer->fd, &ours))
		return false;
	if (fstatat(writer->dir, writer->name, &named, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	return ours.st_dev != named.st_dev || ours.st_ino != named.st_ino ||
	       (uint64_t)ours.st_size < writer->size;
}

/* Returns the size of old parts; sets @last to the number of the oldest, @st to its state. */
static uint64_t old_parts(const struct snap_writer *writer, unsigned int *last,
			  struct stat *st)
{
	unsigned int nr, missing = 0;
	uint64_t size = 0;
	struct stat one;

	*last = 0;
	for (nr = 1; missing < 2; nr++) {
		missing = part_state(writer, nr, &one) == PART_OURS ? 0 : missing + 1;
		if (missing)
			continue;
		*last = nr;
		*st = one;
		size += one.st_size;
	}
	return size;
}

/* Removes the parts that exceed a limit, the oldest first. */
static void remove_old_parts(const struct snap_writer *writer, uint64_t more)
{
	const struct snap_limits *limits = &writer->limits;
	unsigned int last;
	uint64_t size;
	struct stat st;
	char *name;
	int err;

	do {
		size = old_parts(writer, &last, &st) + writer->size + more;
		if (!last || !((limits->size && size > limits->size) ||
			       (limits->age && time(NULL) - st.st_mtime > (time_t)limits->age)))
			return;
		name = part_name(writer->name, last);
		err = unlinkat(writer->dir, name, 0);
		free(name);
	} while (!err);
}

static bool part_is_full(const struct snap_writer *writer, size_t more)
{
	const struct snap_limits *limits = &writer->limits;

	return (limits->size && writer->size + more > limits->size / PARTS) ||
	       (limits->age && time(NULL) - writer->begun > (time_t)(limits->age / PARTS));
}

/* Internals: records */

static size_t one_line(const char *file, char *to, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[got > 0 ? got : 0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	return strlen(to);
}

/* Returns the size of the header, which is put at @at of the output. */
static size_t put_header(struct snap_writer *writer, size_t at)
{
	char boot_id[64], cmdline[4096];
	struct utsname names;
	struct record record = { .type = RECORD_HEADER };
	char *to = buffer_need(&writer->out, at + RECORD_SIZE + 8192) + at;

	uname(&names);
	one_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	one_line("/proc/cmdline", cmdline, sizeof(cmdline));
	record.size = sprintf(to + RECORD_SIZE,
			      "version %d\nboot_id %s\nrelease %s\nmachine %s\nhost %s\ncmdline %s\n",
			      SNAP_VERSION, boot_id, names.release, names.machine,
			      names.nodename, cmdline);
	record.text_size = record.size;
	record.data = (uint8_t *)to + RECORD_SIZE;
	record_pack((uint8_t *)to, &record);
	return RECORD_SIZE + record.size;
}

/* Lays out the text of a snapshot. Returns its size, or 0 if it is too large. */
static size_t put_text(struct snap_writer *writer, const struct snap *snap)
{
	size_t room = 128 + snap->meminfo_size + snap->allocinfo_size;
	char *to, *p;

	if (room > SNAP_TEXT_MAX)
		return 0;
	to = buffer_need(&writer->text, room);
	p = to;
	p += sprintf(p, "snapshot %" PRIu64 " %" PRIu64 " %zu %zu\n", snap->time,
		     snap->boottime, snap->meminfo_size, snap->allocinfo_size);
	p = mempcpy(p, snap->meminfo, snap->meminfo_size);
	*p++ = '\0';
	p = mempcpy(p, snap->allocinfo, snap->allocinfo_size);
	*p++ = '\0';
	return p - to;
}

/* The window of zstd, as a power of two: it must reach the beginning of the prefix. */
static int window(size_t size)
{
	int log = 17;

	while (log < 28 && 1ull << log < size)
		log++;
	return log;
}

/* Packs the text into a record at @at of the output. Returns its size, 0 on failure. */
static size_t put_snapshot(struct snap_writer *writer, size_t size, size_t at)
{
	struct record record = { .type = RECORD_DELTA, .text_size = size };
	size_t bound = ZSTD_compressBound(size), packed;
	uint8_t *to = (uint8_t *)buffer_need(&writer->out, at + RECORD_SIZE + bound) + at;
	ZSTD_CCtx *zstd = writer->zstd;

	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window(size + writer->before_size));
	if (writer->full)
		record.type = RECORD_FULL;
	else
		ZSTD_CCtx_refPrefix(zstd, writer->before.data, writer->before_size);
	packed = ZSTD_compress2(zstd, to + RECORD_SIZE, bound, writer->text.data, size);
	if (ZSTD_isError(packed))
		return 0;
	record.size = packed;
	record.data = to + RECORD_SIZE;
	record_pack(to, &record);
	return RECORD_SIZE + packed;
}

/* Returns the size of the records for a snapshot, 0 on failure. */
static size_t put_records(struct snap_writer *writer, size_t text_size)
{
	size_t size, head = 0;

	if (writer->header)
		head = put_header(writer, 0);
	writer->full |= writer->header || writer->deltas >= DELTAS_MAX;
	size = put_snapshot(writer, text_size, head);
	return size ? head + size : 0;
}

static bool append(struct snap_writer *writer, size_t size)
{
	const char *data = writer->out.data;
	uint64_t at = writer->size;
	ssize_t done;
	int err;

	/* What follows refers to what is in the file: do not write behind a hole. */
	if (part_is_gone(writer)) {
		errno = ESTALE;
		return false;
	}
	while (size) {
		done = pwrite(writer->fd, data, size, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		data += done;
		at += done;
		size -= done;
	}
	if (!size && !fdatasync(writer->fd)) {
		writer->written += at - writer->size;
		writer->size = at;
		return true;
	}
	err = errno;
	if (ftruncate(writer->fd, writer->size))
		report(writer, strerror(errno));
	errno = err;
	return false;
}

static void keep_before(struct snap_writer *writer, size_t size)
{
	struct buffer buffer = writer->before;

	writer->before = writer->text;
	writer->text = buffer;
	writer->before_size = size;
	writer->deltas = writer->full ? 0 : writer->deltas + 1;
	writer->full = false;
	writer->header = false;
}

/* Internals: opening */

/* Returns where the last whole record ends. */
static uint64_t end_of_records(int fd, uint64_t size)
{
	struct buffer buffer = { 0 };
	uint64_t offset = 0, end = 0;
	struct record record;

	while ((offset = record_find(fd, offset, size, &record, &buffer)) < size)
		end = offset += RECORD_SIZE + record.size;
	free(buffer.data);
	return end;
}

static bool cut_off(struct snap_writer *writer, uint64_t size)
{
	writer->size = end_of_records(writer->fd, size);
	if (writer->size == size)
		return true;
	if (ftruncate(writer->fd, writer->size)) {
		report(writer, strerror(errno));
		return false;
	}
	fprintf(stderr, "%s: %s: cut off %" PRIu64 " bytes of an unfinished snapshot\n",
		program_invocation_short_name, writer->path, size - writer->size);
	return true;
}

/* When a file was made; now, if the file system does not know. */
static time_t birth(int fd)
{
	struct statx stx;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) && stx.stx_mask & STATX_BTIME)
		return stx.stx_btime.tv_sec;
	return time(NULL);
}

static const char locked[] = "another program records to it";

/* Continues an existing file. Returns 0, or -1 after a message. */
static int continue_part(struct snap_writer *writer)
{
	struct stat st;

	if (!is_ours(writer->fd))
		return report(writer, "it belongs to another user, or others may write to it");
	if (!part_lock(writer->fd))
		return report(writer, locked);
	if (fstat(writer->fd, &st) || !begins_record(writer->fd, st.st_size))
		return report(writer, "has no snapshots; --force replaces it");
	writer->begun = birth(writer->fd);
	return cut_off(writer, st.st_size) ? 0 : -1;
}

static int open_part(struct snap_writer *writer)
{
	writer->fd = part_open(writer->dir, writer->name, 0,
			       O_RDWR | O_NOFOLLOW | O_NONBLOCK);
	if (writer->fd >= 0)
		return continue_part(writer);
	if (errno == ENOENT && begin_part(writer))
		return 0;
	return report(writer, errno == ELOOP ? "it is a link, which is not followed" :
		      errno == EAGAIN ? locked : strerror(errno));
}

/* With --force, replace a file that no recorder writes to. Its older parts stay. */
static bool replace(const struct snap_writer *writer)
{
	int fd = part_open(writer->dir, writer->name, 0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	bool busy = fd >= 0 && part_locked(fd);

	if (fd >= 0)
		close(fd);
	if (busy)
		return !report(writer, locked);
	fd = outfile_open(writer->path, true);
	return fd >= 0 && !close(fd);
}

/* Interface */

/**
 * snap_writer_open - begin or continue a recording
 * @path: path of the file; if it has snapshots, the recording is continued
 * @force: replace an existing file
 * @limits: how much is kept
 *
 * Return: the writer, or NULL after a message.
 */
struct snap_writer *snap_writer_open(const char *path, bool force,
				     const struct snap_limits *limits)
{
	struct snap_writer *writer = need_memory(1, sizeof(*writer));

	writer->limits = *limits;
	writer->path = need_string(path);
	writer->header = true;
	writer->fd = -1;
	writer->dir = outfile_parent(writer->path, &writer->name);
	writer->zstd = ZSTD_createCCtx();
	if (writer->dir < 0 || !writer->zstd) {
		report(writer, writer->dir < 0 ? strerror(errno) : "out of memory");
	} else if (names_are_free(writer) && (!force || replace(writer)) &&
		   !open_part(writer)) {
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_enableLongDistanceMatching, 1);
		return writer;
	}
	snap_writer_close(writer);
	return NULL;
}

/**
 * snap_write - append a snapshot
 * @writer: the writer
 * @snap: the snapshot; header and number are ignored
 *
 * Return: true; or false with errno. What was written before is then intact, and the
 * caller can try again with a later snapshot.
 */
bool snap_write(struct snap_writer *writer, const struct snap *snap)
{
	size_t text = put_text(writer, snap), size;

	errno = EFBIG;
	if (!text)
		return false;
	if (writer->fd >= 0 && part_is_gone(writer)) {
		close(writer->fd);
		writer->fd = -1;
	}
	if (writer->fd < 0 && !begin_part(writer))
		return false;
	errno = ENOMEM;
	size = put_records(writer, text);
	if (!size)
		return false;
	if (writer->size && part_is_full(writer, size) && may_rename(writer)) {
		if (!end_part(writer) || !begin_part(writer))
			return false;
		errno = ENOMEM;
		size = put_records(writer, text);
		if (!size)
			return false;
	}
	remove_old_parts(writer, size);
	if (!append(writer, size))
		return false;
	keep_before(writer, text);
	return true;
}

/**
 * snap_written - how much was written
 * @writer: the writer
 *
 * Return: bytes, since the writer was opened.
 */
uint64_t snap_written(const struct snap_writer *writer)
{
	return writer->written;
}

/**
 * snap_writer_close - end a recording
 * @writer: the writer
 */
void snap_writer_close(struct snap_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->dir >= 0)
		close(writer->dir);
	free(writer->path);
	free(writer->text.data);
	free(writer->before.data);
	free(writer->out.data);
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
}
