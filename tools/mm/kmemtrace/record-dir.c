// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory of the trace, see record.h: make it, and remove an old trace from it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "outfile.h"
#include "record.h"

static bool is_temporary(const char *name)
{
	return !strcmp(name, FIRST_HEADER) || !strcmp(name, LAST_HEADER);
}

static bool is_ours(const char *name)
{
	unsigned int cpu;

	return !strcmp(name, "header") || is_temporary(name) ||
	       cpu_name(name, ".out", &cpu);
}

/* In the current directory, "header" may be a file of another program. */
static bool is_of_a_trace(const char *name)
{
	static const char begin[] = "kmemtrace ";
	char text[sizeof(begin)] = "";
	int fd;

	if (strcmp(name, "header"))
		return true;
	fd = openat(rec.dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, strlen(begin)) < 0)
		text[0] = '\0';
	close(fd);
	return !strcmp(text, begin);
}

static bool may_remove(const char *name)
{
	if (!options.force)
		record_error("%s/%s: exists; --force overwrites it", options.output, name);
	else if (!is_of_a_trace(name))
		record_error("%s/%s: exists, and is no header of a trace", options.output, name);
	else
		return true;
	return false;
}

/*
 * Removing a file frees its pages in the page cache, and the kernel would record each of
 * them: free them earlier. Returns true.
 */
static bool drop_cache(const char *name)
{
	int fd = openat(rec.dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return true;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return true;
}

/* A file with a temporary name is a header that this program has just made. */
static bool remove_old(const char *name)
{
	if (is_temporary(name) || !unlinkat(rec.dir, name, 0))
		return true;
	record_error("%s/%s: %s", options.output, name, strerror(errno));
	return false;
}

/* Call @fn for each file of a trace, until it fails. */
static bool visit_old(bool (*fn)(const char *name))
{
	int fd = openat(rec.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool ok = true;

	if (!d) {
		record_error("%s: %s", options.output, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (ok && (entry = readdir(d)))
		if (is_ours(entry->d_name))
			ok = fn(entry->d_name);
	closedir(d);
	return ok;
}

/*
 * The trace contains kernel addresses, so only its owner may read it. From here on the
 * program uses the descriptor of the directory: another user may rename the directory.
 */
bool make_directory(void)
{
	rec.dir = outdir_open(options.output);
	if (rec.dir >= 0 && visit_old(may_remove) && visit_old(drop_cache))
		return true;
	if (rec.dir < 0 && !strcmp(options.output, "."))
		record_error("--output DIR writes to another directory, which is created");
	set_flag(&rec.failed_output);
	return false;
}

bool clear_directory(void)
{
	if (visit_old(remove_old))
		return true;
	set_flag(&rec.failed_output);
	return false;
}
