// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of names that kmonlog writes beside the log, see log.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "pids.h"
#include "record.h"
#include "replace.h"

static struct pids pids;
static struct replace to_pids;
static struct replace to_sites;

static void copy(FILE *from, FILE *to)
{
	char part[4096];
	size_t n;

	do {
		n = fread(part, 1, sizeof(part), from);
		fwrite(part, 1, n, to);
	} while (n);
}

/* Without profiling there are no names. That is a failure only if --sites was given. */
static bool write_sites(void)
{
	FILE *from = fopen(options.tags, "re"), *to;
	bool ok;

	if (!from) {
		log_error("%s: %s; allocations get no names of lines of code", options.tags,
			  strerror(errno));
		return !options.sites_given;
	}
	to = replace_begin(&to_sites);
	if (!to) {
		fclose(from);
		return false;
	}
	copy(from, to);
	ok = !ferror(from) || log_error("%s: cannot be read to its end", options.tags);
	fclose(from);
	return replace_end(&to_sites, to) && ok;
}

static bool write_pids(void)
{
	pids_look_again(&pids);
	return pids_write(&pids, &to_pids);
}

/*
 * The log is complete here, so a signal may end the program while it waits for the
 * reader of a pipe.
 */
static bool write_beside(const struct replace *to, bool (*write_it)(void),
			 const sigset_t *set)
{
	bool in_place = replace_in_place(to), ok;

	if (in_place)
		sigprocmask(SIG_UNBLOCK, set, NULL);
	ok = write_it();
	if (in_place)
		sigprocmask(SIG_BLOCK, set, NULL);
	return ok;
}

/* Interface */

/**
 * log_names_possible - check that the files of names can be written
 *
 * The directories are opened here and kept: at the end, their names may lead elsewhere.
 *
 * Return: false after a message.
 */
bool log_names_possible(void)
{
	replace_open(&to_pids, options.pids);
	replace_open(&to_sites, options.sites);
	if (options.sources & KMON_SOURCE_SCHED && !replace_possible(&to_pids))
		return false;
	return !(options.sources & KMON_SOURCE_ALLOC) || replace_possible(&to_sites);
}

/**
 * log_names_see - note the tasks and call sites in records
 * @data: whole records
 * @size: size of @data
 */
void log_names_see(const uint8_t *data, size_t size)
{
	pids_see_records(&pids, data, size);
}

/**
 * log_names_write - write the files of names
 * @set: signals that are blocked
 *
 * The log also contains records of sources that other programs chose, and these get names,
 * too. But it is only a failure if names of the sources of this program are not written.
 *
 * Return: false after a message.
 */
bool log_names_write(const sigset_t *set)
{
	bool sched = options.sources & KMON_SOURCE_SCHED;
	bool alloc = options.sources & KMON_SOURCE_ALLOC;
	bool ok = true;

	if ((sched || pids.nr) && !write_beside(&to_pids, write_pids, set) && sched)
		ok = false;
	if ((alloc || pids.sites) && !write_beside(&to_sites, write_sites, set) && alloc)
		ok = false;
	pids_free(&pids);
	replace_close(&to_pids);
	replace_close(&to_sites);
	return ok;
}
