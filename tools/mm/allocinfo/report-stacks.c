// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites as folded stacks and as a profile.
 *
 * A table has no stacks. In their place, the module, the directory and the file of a call
 * site are its callers, so a flame graph shows how much each of them holds. If the stacks
 * of a call site were captured, they are used for the memory that came through them, and
 * the rest of its memory is shown like that of the others.
 */
#include <inttypes.h>
#include <string.h>

#include "place.h"
#include "pprof.h"
#include "report.h"
#include "utf8.h"

/* Internals */

static const char *module_of(const struct site *site, char *text)
{
	return *site->module ? site->module : place_text(BY_MODULE, site, text);
}

static const char *function_of(const struct site *site)
{
	return *site->func ? site->func : "?";
}

static uint64_t positive(int64_t number)
{
	return number > 0 ? number : 0;
}

/*
 * Copies the function of a frame "function+0xoffset/0xsize [module]". The compiler names
 * clones of a function with a dot, as in function.isra.0.
 */
static const char *frame_function(const char *frame, char text[PLACE_TEXT])
{
	snprintf(text, PLACE_TEXT, "%.*s", (int)strcspn(frame, "+. "), frame);
	clean_name(text);
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && !strcmp(text + size - end_size, end);
}

/*
 * Returns the frame of the caller of the call site. A stack begins with the function of the
 * call site. If the compiler inlined it, the stack begins with the functions that it
 * called: the one that captures, and those that allocate.
 */
static unsigned int first_caller(const struct context_stack *stack, const struct site *site)
{
	char text[PLACE_TEXT];
	const char *name;
	unsigned int i;

	for (i = 0; i < stack->nr_frames; i++) {
		name = frame_function(stack->frames[i], text);
		if (!strcmp(name, site->func))
			return i + 1;
		if (strcmp(name, "context_count") && !ends_with(name, "_noprof"))
			break;
	}
	return i;
}

/* What the call site holds, and is not in any of its stacks. */
static struct row rest_of(const struct row *row, const struct context_site *captured)
{
	struct row rest = *row;
	size_t i;

	for (i = 0; captured && i < captured->nr; i++) {
		rest.bytes -= min_u64(positive(rest.bytes), captured->stacks[i].bytes);
		rest.calls -= min_u64(positive(rest.calls), captured->stacks[i].count);
	}
	return rest;
}

/* Internals: folded */

static void put_site(const struct site *site, uint64_t weight, FILE *out)
{
	put_frame(out, function_of(site));
	fprintf(out, "@%" PRIu32 " %" PRIu64 "\n", site->line, weight);
}

static void put_folded(const struct site *site, uint64_t weight, FILE *out)
{
	char text[PLACE_TEXT];

	put_frame(out, module_of(site, text));
	fputc(';', out);
	put_frame(out, place_text(BY_DIR, site, text));
	fputc(';', out);
	put_frame(out, place_text(BY_FILE, site, text));
	fputc(';', out);
	put_site(site, weight, out);
}

static void put_stack(const struct site *site, const struct context_stack *stack,
		      uint64_t weight, FILE *out)
{
	unsigned int i, first = first_caller(stack, site);
	char text[PLACE_TEXT];

	for (i = stack->nr_frames; i > first; i--) {
		put_frame(out, frame_function(stack->frames[i - 1], text));
		fputc(';', out);
	}
	put_site(site, weight, out);
}

static void put_row(const struct report *report, const struct row *row, FILE *out)
{
	const struct context_site *captured = contexts_find(&report->contexts, row->site);
	struct row rest = rest_of(row, captured);
	const struct context_stack *stack;
	int64_t weight = report->calls ? rest.calls : rest.bytes;
	size_t i;

	for (i = 0; captured && i < captured->nr; i++) {
		stack = &captured->stacks[i];
		put_stack(row->site, stack, report->calls ? stack->count : stack->bytes, out);
	}
	if (weight > 0)
		put_folded(row->site, weight, out);
}

/* Internals: profile */

static void add_sample(struct pprof *pprof, const struct site *site, uint64_t calls,
		       uint64_t bytes)
{
	char text[PLACE_TEXT];

	pprof_sample(pprof, (uint64_t[]){ calls, bytes });
	pprof_label(pprof, "module", module_of(site, text));
	pprof_frame(pprof, &(struct pprof_frame){
		.function = function_of(site),
		.file = site->file,
		.line = site->line,
	});
}

static void add_caller(struct pprof *pprof, const char *name)
{
	pprof_frame(pprof, &(struct pprof_frame){ .function = name, .file = "" });
}

static void add_site(struct pprof *pprof, const struct row *row)
{
	const struct site *site = row->site;
	char text[PLACE_TEXT];

	add_sample(pprof, site, positive(row->calls), positive(row->bytes));
	add_caller(pprof, site->file);
	add_caller(pprof, place_text(BY_DIR, site, text));
	add_caller(pprof, module_of(site, text));
}

static void add_stack(struct pprof *pprof, const struct site *site,
		      const struct context_stack *stack)
{
	char text[PLACE_TEXT];
	unsigned int i;

	add_sample(pprof, site, stack->count, stack->bytes);
	for (i = first_caller(stack, site); i < stack->nr_frames; i++)
		add_caller(pprof, frame_function(stack->frames[i], text));
}

static void add_row(struct pprof *pprof, const struct report *report, const struct row *row)
{
	const struct context_site *captured = contexts_find(&report->contexts, row->site);
	struct row rest = rest_of(row, captured);
	size_t i;

	for (i = 0; captured && i < captured->nr; i++)
		add_stack(pprof, row->site, &captured->stacks[i]);
	if (rest.bytes > 0 || rest.calls > 0)
		add_site(pprof, &rest);
}

/* Interface */

/**
 * write_folded - write call sites as folded stacks
 * @report: the report, with a row per call site
 * @out: output file
 */
void write_folded(const struct report *report, FILE *out)
{
	const struct row *row;

	for (row = report->rows.rows; row < report->rows.rows + report->nr; row++)
		put_row(report, row, out);
}

/**
 * write_pprof - write call sites as a gzipped profile
 * @report: the report, with a row per call site
 * @out: output file
 *
 * Return: false if it could not be packed or written.
 */
bool write_pprof(const struct report *report, FILE *out)
{
	static const struct pprof_type types[] = {
		{ "inuse_objects", "count" },
		{ "inuse_space", "bytes" },
	};
	struct pprof *pprof = pprof_new(types, ARRAY_SIZE(types), "inuse_space");
	const struct row *row;
	char text[PLACE_TEXT];

	snprintf(text, sizeof(text), "allocinfo of %s %s",
		 *report->input.host ? report->input.host : report->input.name,
		 report->input.release);
	pprof_comment(pprof, text);
	pprof_time(pprof, report->input.time, 0);
	for (row = report->rows.rows; row < report->rows.rows + report->nr; row++)
		add_row(pprof, report, row);
	return pprof_write(pprof, out);
}
