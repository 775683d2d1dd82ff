// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window of alloctop that shows who calls a call site.
 *
 * The kernel captures the call site as long as the window is open. Memory that was
 * allocated before is not shown, unless somebody else had the call site enabled: then it
 * stays enabled, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "jsonfile.h"
#include "top.h"
#include "top-term.h"
#include "utf8.h"

/* Data */

#define CONTEXTS_NAME	"alloc_tags.ctx"
#define HEAD_ROWS	3

/**
 * struct seen - a call stack that was seen
 * @hash: hash of its frames
 * @start: bytes that it held when the window was opened
 */
struct seen {
	uint64_t hash;
	int64_t start;
};

/**
 * struct path - a call stack that is shown
 * @stack: the stack
 * @value: what it is sorted by
 * @growth: growth since the window was opened
 */
struct path {
	const struct context_stack *stack;
	int64_t value;
	int64_t growth;
};

/**
 * struct stacks - the window
 * @top: the program
 * @site: the call site
 * @capture: its capture
 * @contexts: what was captured
 * @found: part of it for the call site, NULL if there is none
 * @seen: call stacks that were seen
 * @nr_seen: number of @seen
 * @seen_room: number of @seen that fit
 * @paths: the call stacks in their order
 * @nr: number of @paths
 * @offset: first line in the window
 * @lines: number of lines of all stacks
 * @begin: time of the machine when the window was opened, in seconds
 * @next: time of the next reading
 * @message: what went wrong, or ""
 * @sort: the order
 * @paused: no reading until the user wants one
 */
struct stacks {
	struct top *top;
	const struct site *site;
	struct capture capture;
	struct contexts contexts;
	const struct context_site *found;
	struct seen *seen;
	size_t nr_seen;
	size_t seen_room;
	struct path *paths;
	size_t nr;
	size_t offset;
	size_t lines;
	double begin;
	long next;
	char message[MESSAGE_SIZE];
	enum top_sort sort;
	bool paused;
};

/* Internals: reading */

static uint64_t hash_stack(const struct context_stack *stack)
{
	uint64_t hash = 0;
	unsigned int i;

	for (i = 0; i < stack->nr_frames; i++)
		hash = hash_u64(hash + hash_string(stack->frames[i]));
	return hash;
}

/* A stack that appears later held nothing at the start. */
static int64_t start_of(struct stacks *stacks, const struct context_stack *stack, bool first)
{
	uint64_t hash = hash_stack(stack);
	size_t i;

	for (i = 0; i < stacks->nr_seen; i++)
		if (stacks->seen[i].hash == hash)
			return stacks->seen[i].start;
	if (i == stacks->seen_room) {
		stacks->seen_room = i ? 2 * i : 64;
		stacks->seen = need_more(stacks->seen, stacks->seen_room, sizeof(*stacks->seen));
	}
	stacks->seen[i] = (struct seen) { hash, first ? min_u64(stack->bytes, INT64_MAX) : 0 };
	stacks->nr_seen++;
	return stacks->seen[i].start;
}

static int compare_paths(const void *pa, const void *pb)
{
	const struct path *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	if (a->stack->bytes != b->stack->bytes)
		return a->stack->bytes < b->stack->bytes ? 1 : -1;
	return strcmp(a->stack->nr_frames ? a->stack->frames[0] : "",
		      b->stack->nr_frames ? b->stack->frames[0] : "");
}

static void sort_paths(struct stacks *stacks)
{
	struct path *path;
	size_t i;

	for (i = 0; i < stacks->nr; i++) {
		path = &stacks->paths[i];
		if (stacks->sort == TOP_GROWTH)
			path->value = path->growth;
		else
			path->value = min_u64(stacks->sort == TOP_CALLS ? path->stack->count
					      : path->stack->bytes, INT64_MAX);
	}
	if (stacks->nr)
		qsort(stacks->paths, stacks->nr, sizeof(*stacks->paths), compare_paths);
}

static void take_paths(struct stacks *stacks, bool first)
{
	const struct context_stack *stack;
	size_t i;

	stacks->nr = stacks->found ? stacks->found->nr : 0;
	stacks->lines = stacks->nr;
	stacks->paths = need_more(stacks->paths, stacks->nr, sizeof(*stacks->paths));
	for (i = 0; i < stacks->nr; i++) {
		stack = &stacks->found->stacks[i];
		stacks->paths[i] = (struct path) {
			.stack = stack,
			.growth = add_counts(min_u64(stack->bytes, INT64_MAX),
					     -start_of(stacks, stack, first)),
		};
		stacks->lines += stack->nr_frames;
	}
	sort_paths(stacks);
}

static void read_stacks(struct stacks *stacks, bool first)
{
	const struct complainer nobody = { 0 };
	int err = contexts_read(&stacks->contexts, stacks->capture.fd);

	stacks->next = term_now() + stacks->top->delay * 1000;
	*stacks->message = '\0';
	if (err) {
		snprintf(stacks->message, MESSAGE_SIZE, "cannot read %s: %s", CONTEXTS_NAME,
			 strerror(-err));
		return;
	}
	contexts_parse(&stacks->contexts, CONTEXTS_NAME, &nobody);
	stacks->found = contexts_find(&stacks->contexts, stacks->site);
	take_paths(stacks, first);
}

/* Internals: drawing */

static void draw_head(const struct stacks *stacks)
{
	const struct context_site *found = stacks->found;
	char text[LINE_SIZE], name[LINE_SIZE - 64], size[32];

	snprintf(name, sizeof(name), "%s:%u %s", stacks->site->file, stacks->site->line,
		 stacks->site->func);
	clean_name(name);
	cut_name(name, COLS > 20 ? COLS - 11 : 9);
	snprintf(text, sizeof(text), "Callers of %s", name);
	term_put(0, text, STYLE_TITLE);
	format_size(stacks->top, found ? found->site.bytes : 0, false, size, sizeof(size));
	snprintf(text, sizeof(text), "%s %.0f s: %s in %" PRId64 " allocations, %zu stacks, %"
		 PRIu64 " lost%s",
		 stacks->capture.ours ? "Captured for" : "Somebody captures it; open for",
		 top_uptime(stacks->top) - stacks->begin, size, found ? found->site.calls : 0,
		 stacks->nr, found ? found->dropped : 0, stacks->paused ? "  PAUSED" : "");
	term_put(1, text, STYLE_PLAIN);
	term_put(2, "  SIZE    CALLS  GROWTH PROCESSES, AND THE CALL STACK FROM THE CALL SITE UP",
		 STYLE_HEADING);
}

static void path_text(const struct stacks *stacks, const struct path *path, char *text,
		      size_t size)
{
	const struct context_stack *stack = path->stack;
	char bytes[32], growth[32];
	size_t i, len;

	format_size(stacks->top, min_u64(stack->bytes, INT64_MAX), false, bytes, sizeof(bytes));
	format_size(stacks->top, path->growth, true, growth, sizeof(growth));
	len = snprintf(text, size, "%6s %8" PRIu64 " %7s", bytes, stack->count, growth);
	for (i = 0; i < stack->nr_tasks && len < size; i++)
		len += snprintf(text + len, size - len, "%s %s[%" PRIu64 "]", i ? "," : "",
				stack->tasks[i].comm, stack->tasks[i].tgid);
}

static void draw_paths(const struct stacks *stacks, size_t rows)
{
	size_t i, k, row = 0, last = stacks->offset + rows;
	const struct path *path;
	char text[LINE_SIZE];

	for (i = 0; i < stacks->nr && row < last; i++) {
		path = &stacks->paths[i];
		path_text(stacks, path, text, sizeof(text));
		if (row++ >= stacks->offset)
			term_put(HEAD_ROWS + row - 1 - stacks->offset, text, STYLE_TITLE);
		for (k = 0; k < path->stack->nr_frames && row < last; k++) {
			if (row++ < stacks->offset)
				continue;
			snprintf(text, sizeof(text), "%24s%s", "", path->stack->frames[k]);
			term_put(HEAD_ROWS + row - 1 - stacks->offset, text, STYLE_PLAIN);
		}
	}
}

static size_t window_rows(void)
{
	int rows = LINES - HEAD_ROWS - 1;

	return rows > 1 ? rows : 1;
}

static void draw(struct stacks *stacks)
{
	size_t rows = window_rows();

	if (stacks->offset + rows > stacks->lines)
		stacks->offset = stacks->lines > rows ? stacks->lines - rows : 0;
	erase();
	draw_head(stacks);
	draw_paths(stacks, rows);
	if (!stacks->nr)
		term_put(HEAD_ROWS, "no allocation since the window was opened", STYLE_PLAIN);
	if (*stacks->message)
		term_message(stacks->message);
	else
		term_put(LINES - 1, "s c g sort  p pause  Space read now  w write  arrows  q back",
			 STYLE_PLAIN);
	refresh();
}

/* Internals: JSON */

static struct json_object *json_name(const char *name)
{
	char copy[LINE_SIZE];

	snprintf(copy, sizeof(copy), "%s", name);
	clean_name(copy);
	return json_object_new_string(copy);
}

static struct json_object *json_tasks(const struct context_stack *stack)
{
	struct json_object *tasks = json_object_new_array(), *task;
	size_t i;

	for (i = 0; i < stack->nr_tasks; i++) {
		task = json_object_new_object();
		json_add(task, "comm", json_name(stack->tasks[i].comm));
		json_add_number(task, "tgid", stack->tasks[i].tgid);
		json_add_number(task, "calls", stack->tasks[i].count);
		json_add_number(task, "bytes", stack->tasks[i].bytes);
		json_object_array_add(tasks, task);
	}
	return tasks;
}

static struct json_object *json_path(const struct path *path)
{
	struct json_object *object = json_object_new_object();
	struct json_object *frames = json_object_new_array();
	unsigned int i;

	json_add_number(object, "bytes", path->stack->bytes);
	json_add_number(object, "calls", path->stack->count);
	json_add(object, "growth", json_object_new_int64(path->growth));
	for (i = 0; i < path->stack->nr_frames; i++)
		json_object_array_add(frames, json_name(path->stack->frames[i]));
	json_add(object, "frames", frames);
	json_add(object, "tasks", json_tasks(path->stack));
	return object;
}

static void put_json(const void *data, FILE *out)
{
	const struct stacks *stacks = data;
	size_t i;

	fputs("{\"version\": 1", out);
	json_put_member(out, "file", json_name(stacks->site->file));
	json_put_member(out, "line", json_object_new_int64(stacks->site->line));
	json_put_member(out, "func", json_name(stacks->site->func));
	json_put_member(out, "module", json_name(stacks->site->module));
	json_put_member(out, "lost",
			json_object_new_uint64(stacks->found ? stacks->found->dropped : 0));
	fputs(",\n\"stacks\": [", out);
	for (i = 0; i < stacks->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, json_path(&stacks->paths[i]));
	}
	fputs("]}\n", out);
}

/* Internals: keys */

static void move_window(struct stacks *stacks, int key)
{
	size_t rows = window_rows(), at = stacks->offset;

	switch (key) {
	case KEY_UP:
	case 'k':
		stacks->offset = at ? at - 1 : 0;
		break;
	case KEY_DOWN:
	case 'j':
		stacks->offset = at + 1;
		break;
	case KEY_PPAGE:
		stacks->offset = at > rows ? at - rows : 0;
		break;
	case KEY_NPAGE:
		stacks->offset = at + rows;
		break;
	case KEY_HOME:
		stacks->offset = 0;
		break;
	case KEY_END:
		stacks->offset = stacks->lines;
		break;
	}
}

static void sort_by(struct stacks *stacks, enum top_sort sort)
{
	stacks->sort = sort;
	stacks->offset = 0;
	sort_paths(stacks);
}

/* Returns false if the key closes the window. */
static bool press(struct stacks *stacks, int key)
{
	switch (key) {
	case 'q':
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
		return false;
	case 's':
		sort_by(stacks, TOP_BYTES);
		break;
	case 'c':
		sort_by(stacks, TOP_CALLS);
		break;
	case 'g':
		sort_by(stacks, TOP_GROWTH);
		break;
	case 'p':
		stacks->paused = !stacks->paused;
		break;
	case ' ':
		read_stacks(stacks, false);
		break;
	case 'w':
		term_write(put_json, stacks, stacks->message);
		break;
	default:
		move_window(stacks, key);
	}
	return true;
}

static void show(struct stacks *stacks)
{
	long left;
	int key;

	do {
		term_said(stacks->message);
		draw(stacks);
		left = stacks->next - term_now();
		key = term_key(stacks->paused ? -1 : left > 0 ? left : 0);
		if (key != ERR && key != KEY_RESIZE)
			*stacks->message = '\0';
		else if (key == ERR && !stacks->paused && term_now() >= stacks->next)
			read_stacks(stacks, false);
	} while (!term_over() && press(stacks, key));
}

/* Why there are no callers, and what to do about it. */
static void show_advice(const struct site *site, enum capture_state state, int err)
{
	const char *advice = capture_advice(state);
	char name[LINE_SIZE], text[MESSAGE_SIZE];
	int key;

	snprintf(name, sizeof(name), "Callers of %s:%u %s", site->file, site->line, site->func);
	clean_name(name);
	if (advice)
		snprintf(text, sizeof(text), "%s; any key to go back", advice);
	else
		snprintf(text, sizeof(text), "cannot use %s: %s; any key to go back",
			 CONTEXTS_NAME, strerror(-err));
	do {
		erase();
		term_put(0, name, STYLE_TITLE);
		term_message(text);
		refresh();
		key = term_key(-1);
	} while (!term_over() && (key == ERR || key == KEY_RESIZE));
}

/**
 * stacks_run - show who calls a call site
 * @top: the program
 * @site: the call site
 *
 * Return: when the user closes the window; the kernel then captures what it did before.
 */
void stacks_run(struct top *top, const struct site *site)
{
	struct stacks stacks = { .top = top, .site = site, .sort = TOP_BYTES };
	enum capture_state state = capture_begin(&stacks.capture, top->source.proc, site);

	if (state != CAPTURE_ON) {
		show_advice(site, state, stacks.capture.err);
		return;
	}
	stacks.begin = top_uptime(top);
	read_stacks(&stacks, true);
	show(&stacks);
	capture_end(&stacks.capture);
	contexts_free(&stacks.contexts);
	free(stacks.seen);
	free(stacks.paths);
}
