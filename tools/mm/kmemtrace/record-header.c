// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file "header" of a trace, see record.h.
 *
 * It is written twice. The first header says that the trace is not complete, so a trace
 * without the second one is never taken for a complete one. The disk space of the second
 * header is reserved at the beginning: the disk may be full at the end.
 *
 * Both are made before recording begins, because writing them allocates memory. They have
 * temporary names, because an old trace stays until the kernel records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#include "record.h"

/* bytes that the second header may have more than the first */
#define HEADER_MORE	(64 * 1024)

/* what this program has made */
static bool made;		/* files with temporary names */
static bool named;		/* "header" */

static void put_section(FILE *f, const char *name, const struct text *text)
{
	fprintf(f, "section %s\n", name);
	if (text->len)
		fwrite(text->s, 1, text->len, f);
	if (text->len && text->s[text->len - 1] != '\n')
		fputc('\n', f);
}

/* The kernel lists "[time] [pid] tag" if time and pid are on: write "time pid". */
static void put_features(FILE *f)
{
	const char *p = rec.features.s;
	size_t len;

	fputs("features", f);
	for (; p && (p = strchr(p, '[')); p += len) {
		p++;
		len = strcspn(p, "]");
		fprintf(f, " %.*s", (int)len, p);
	}
	fputc('\n', f);
}

static int compare_readers(const void *a, const void *b)
{
	const struct reader *x = *(struct reader *const *)a;
	const struct reader *y = *(struct reader *const *)b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_losses(FILE *f)
{
	struct stats was, is;
	size_t i;

	fprintf(f, "span %s\n",
		rec.whole && losses_known() && (rec.ended || options.rest) &&
		!rec.full && !rec.unfetched ? "whole" : "part");
	/* This program alone switched recording on, before the first record. */
	if (rec.begun)
		fputs("begins 0\n", f);
	for (i = 0; i < rec.nr_readers; i++)
		fprintf(f, "written %u %llu\n", rec.readers[i]->cpu,
			(unsigned long long)rec.readers[i]->bytes);
	for (i = 0; i < rec.after.nr; i++) {
		is = rec.after.cpus[i];
		was = stats_of(&rec.before, is.cpu);
		fprintf(f, "lost %u %llu %llu\n", is.cpu,
			(unsigned long long)(is.lost_events - was.lost_events),
			(unsigned long long)(is.lost_bytes - was.lost_bytes));
		fprintf(f, "earlier %u %llu %llu\n", is.cpu,
			(unsigned long long)was.untold_events,
			(unsigned long long)was.untold_bytes);
		fprintf(f, "untold %u %llu %llu\n", is.cpu,
			(unsigned long long)is.untold_events,
			(unsigned long long)is.untold_bytes);
	}
}

static void put_header(FILE *f, bool last)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct utsname uts;
	size_t i;

	uname(&uts);
	fprintf(f, "kmemtrace 1\nabi_version %lld\n",
		read_value("abi_version", KMEMTRACE_ABI_VERSION));
	fprintf(f, "byte_order %s\n", big ? "big" : "little");
	fprintf(f, "word_bits %d\n",
		strstr(uts.machine, "64") || strstr(uts.machine, "s390x") ?
		64 : (int)sizeof(long) * 8);
	fprintf(f, "page_size %ld\nclock monotonic\n", sysconf(_SC_PAGESIZE));
	fprintf(f, "machine %s\nrelease %s\n", uts.machine, uts.release);
	put_features(f);
	fprintf(f, "started %s\n", rec.started);
	fprintf(f, "complete %s\n",
		last && !rec.failed_output && !rec.failed_other && !rec.unfetched ?
		"yes" : "no");
	fputs("cpus", f);
	for (i = 0; i < rec.nr_readers; i++)
		fprintf(f, " %u", rec.readers[i]->cpu);
	fputc('\n', f);
	if (last)
		put_losses(f);
	put_section(f, "tags", &rec.tags);
	put_section(f, "modules", &rec.modules);
	put_section(f, "kallsyms", &rec.kallsyms);
	fputs("end\n", f);
}

static bool header_trouble(int err)
{
	record_error("%s/header: %s", options.output, strerror(err));
	set_flag(&rec.failed_output);
	return false;
}

/* Returns NULL with errno on failure. */
static FILE *create_header(const char *name)
{
	int fd = create_at(name);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/*
 * Overwrite @f with the header and with @more bytes that reserve disk space. Returns 0 or
 * a negative errno.
 */
static int fill_header(FILE *f, bool last, size_t more)
{
	static const char zeros[4096];

	rewind(f);
	put_header(f, last);
	for (; more; more -= sizeof(zeros))
		fwrite(zeros, 1, sizeof(zeros), f);
	if (!fflush(f) && !ftruncate(fileno(f), ftello(f)) && !fsync(fileno(f)) &&
	    !ferror(f))
		return 0;
	return errno ? -errno : -EIO;
}

static int name_header(const char *name)
{
	return renameat(rec.dir, name, rec.dir, "header") ? -errno : 0;
}

static int write_first_header(void)
{
	FILE *f = create_header(FIRST_HEADER);
	int err = f ? fill_header(f, false, 0) : -errno;

	if (f)
		fclose(f);
	return err;
}

static int keep_room_for_last(void)
{
	rec.last_header = create_header(LAST_HEADER);
	return rec.last_header ? fill_header(rec.last_header, false, HEADER_MORE) : -errno;
}

static void remove_temporary(void)
{
	if (rec.last_header)
		fclose(rec.last_header);
	rec.last_header = NULL;
	unlinkat(rec.dir, FIRST_HEADER, 0);
	unlinkat(rec.dir, LAST_HEADER, 0);
}

/* Returns 0 or a negative errno. */
static int make_headers(void)
{
	int err;

	/* An earlier start that was killed may have left them. */
	remove_temporary();
	made = true;
	err = write_first_header();
	return err ? err : keep_room_for_last();
}

/* The kernel shows all addresses as 0 to unprivileged readers. */
static bool has_addresses(void)
{
	const char *line, *end;

	for (line = rec.kallsyms.s; line && *line; line = end + 1) {
		end = line_end(&rec.kallsyms, line);
		if (line[strspn(line, "0")] != ' ')
			return true;
		if (!*end)
			break;
	}
	return false;
}

/* Write the first header, and reserve room for the last one, under temporary names. */
bool begin_header(void)
{
	time_t now = time(NULL);
	struct tm tm;
	int err;

	strftime(rec.started, sizeof(rec.started), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &tm));
	if (!read_file("features", &rec.features))
		rec.features = (struct text){ .s = NULL };
	follow_modules();
	if (!has_addresses())
		record_note("/proc/kallsyms hides addresses (kernel.kptr_restrict): no symbols");
	err = make_headers();
	/* The old trace may take the room. */
	if ((err == -ENOSPC || err == -EDQUOT) && options.force)
		err = clear_directory() ? make_headers() : err;
	return !err || header_trouble(-err);
}

bool name_first_header(void)
{
	int err = name_header(FIRST_HEADER);

	named = !err;
	return named || header_trouble(-err);
}

/* Remove the headers if there is no trace. */
void forget_header(void)
{
	if (made)
		remove_temporary();
	if (named)
		unlinkat(rec.dir, "header", 0);
}

void end_header(void)
{
	int err;

	refresh_symbols();
	if (rec.nr_readers)
		qsort(rec.readers, rec.nr_readers, sizeof(*rec.readers),
		      compare_readers);
	err = fill_header(rec.last_header, true, 0);
	if (!err)
		err = name_header(LAST_HEADER);
	fsync(rec.dir);
	if (!err)
		return;
	header_trouble(-err);
	unlinkat(rec.dir, LAST_HEADER, 0);
	record_error("the last header could not be written: the trace is not complete");
}
