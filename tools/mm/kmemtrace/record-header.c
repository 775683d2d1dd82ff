// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file "header" of a trace, see record.h.
 *
 * It is written twice. The first header says that the trace is not complete, so a trace
 * without the second one is never taken for a complete one. The disk space of the second
 * header is reserved at the beginning: the disk may be full at the end.
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

static FILE *create_header(void)
{
	int fd = create_at("header.tmp");
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f)
		return f;
	header_trouble(errno);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Overwrite @f with the header and with @more bytes that reserve disk space. */
static bool fill_header(FILE *f, bool last, size_t more)
{
	static const char zeros[4096];

	rewind(f);
	put_header(f, last);
	for (; more; more -= sizeof(zeros))
		fwrite(zeros, 1, sizeof(zeros), f);
	return (!fflush(f) && !ftruncate(fileno(f), ftello(f)) && !fsync(fileno(f)) &&
		!ferror(f)) || header_trouble(errno);
}

static bool name_header(void)
{
	if (renameat(rec.dir, "header.tmp", rec.dir, "header"))
		return header_trouble(errno);
	fsync(rec.dir);
	return true;
}

static bool write_first_header(void)
{
	FILE *f = create_header();
	bool ok = f && fill_header(f, false, 0) && name_header();

	if (f)
		fclose(f);
	return ok;
}

static bool keep_room_for_last(void)
{
	rec.last_header = create_header();
	return rec.last_header && fill_header(rec.last_header, false, HEADER_MORE);
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

/* Write the first header, and reserve room for the last one. */
bool begin_header(void)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(rec.started, sizeof(rec.started), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &tm));
	if (!read_file("features", &rec.features))
		rec.features = (struct text){ .s = NULL };
	follow_modules();
	if (!has_addresses())
		record_note("/proc/kallsyms hides addresses (kernel.kptr_restrict): no symbols");
	if (!write_first_header() || !keep_room_for_last()) {
		unlinkat(rec.dir, "header.tmp", 0);
		unlinkat(rec.dir, "header", 0);
		return false;
	}
	return true;
}

void end_header(void)
{
	refresh_symbols();
	if (rec.nr_readers)
		qsort(rec.readers, rec.nr_readers, sizeof(*rec.readers),
		      compare_readers);
	if (fill_header(rec.last_header, true, 0) && name_header())
		return;
	unlinkat(rec.dir, "header.tmp", 0);
	record_error("the last header could not be written: the trace is not complete");
}
