// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of allocation contexts, see contexts.h.
 *
 * The kernel prints names of tasks as they are, and a task chooses its own name. So a name
 * may contain a newline and what looks like the next lines. Its 15 bytes have room for a
 * line "ts:", but not for that and another one. So all lines up to the next "ts:" belong to
 * the name, and a second "ts:" is ignored.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contexts.h"
#include "number.h"
#include "utf8.h"
#include "util.h"

/* Data */

#define KEY_INDENT	4u
#define FRAME_INDENT	9u

/* where a line belongs to */
struct place {
	struct contexts *contexts;
	struct context_site *site;
	struct context_stack *stack;
	/* the detail that is being read */
	uint64_t size;
	uint64_t tgid;
	const char *comm;
	bool in_comm;
	bool in_frames;
};

/* Internals: parsing */

static struct context_site *add_site(struct contexts *contexts)
{
	if (contexts->nr == contexts->room) {
		contexts->room = contexts->room ? 2 * contexts->room : 16;
		contexts->sites = need_more(contexts->sites, contexts->room,
					    sizeof(*contexts->sites));
	}
	contexts->sites[contexts->nr] = (struct context_site){ 0 };
	return &contexts->sites[contexts->nr++];
}

static struct context_stack *add_stack(struct context_site *site)
{
	if (site->nr == site->room) {
		site->room = site->room ? 2 * site->room : 16;
		site->stacks = need_more(site->stacks, site->room, sizeof(*site->stacks));
	}
	site->stacks[site->nr] = (struct context_stack){ 0 };
	return &site->stacks[site->nr++];
}

static void add_task(struct place *at)
{
	struct context_stack *stack = at->stack;
	struct context_task *task = stack->tasks;
	size_t i;

	for (i = 0; i < stack->nr_tasks; i++, task++) {
		if (task->tgid == at->tgid && !strcmp(task->comm, at->comm))
			break;
	}
	if (i == stack->nr_tasks) {
		if (i == CONTEXT_TASKS)
			return;
		if (i == stack->task_room) {
			stack->task_room = i ? 2 * i : 4;
			stack->tasks = need_more(stack->tasks, stack->task_room,
						 sizeof(*stack->tasks));
		}
		task = &stack->tasks[stack->nr_tasks++];
		*task = (struct context_task){ .comm = at->comm, .tgid = at->tgid };
	}
	task->count++;
	task->bytes = sat_add(task->bytes, at->size);
}

/* Take a word and end it. Returns NULL at the end of the line. */
static char *take_word(char **line)
{
	char *word = *line + strspn(*line, " ");
	size_t size = strcspn(word, " ");

	if (!size)
		return NULL;
	*line = word + size;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

static char *after(char *word, const char *prefix)
{
	size_t size = strlen(prefix);

	return word && !strncmp(word, prefix, size) ? word + size : NULL;
}

/*
 * The file has an entry for each call of an allocator. Entries with the same file, line,
 * module and function become one call site.
 */
static struct context_site *site_for(struct contexts *contexts, const struct site *site)
{
	struct context_site *new;
	size_t i;

	for (i = 0; i < contexts->nr; i++) {
		if (!site_compare(&contexts->sites[i].site, site))
			return &contexts->sites[i];
	}
	new = add_site(contexts);
	new->site = *site;
	return new;
}

/* "      920KiB      230 arch/x86/mm/pgtable.c:33 module:pgtable func:pte_alloc_one" */
static bool take_site(struct place *at, char *line)
{
	char *size = take_word(&line), *calls = take_word(&line), *where = take_word(&line);
	char *module = after(take_word(&line), "module:");
	char *func = after(take_word(&line), "func:");
	char *colon = where ? strrchr(where, ':') : NULL;
	uint64_t nr, number;
	struct site site = { .accurate = true };

	if (!size || !isdigit((unsigned char)*size) || !colon || colon == where || !func ||
	    !module || !number_parse(calls, INT64_MAX, &nr) ||
	    !number_parse(colon + 1, UINT32_MAX, &number))
		return false;
	*colon = '\0';
	site.file = where;
	site.line = number;
	site.module = module;
	site.func = func;
	at->site = site_for(at->contexts, &site);
	at->stack = NULL;
	return true;
}

static bool take_number(const char *text, uint64_t *number)
{
	return number_parse(text, UINT64_MAX, number);
}

static bool take_detail(struct place *at, const char *key, char *value)
{
	uint64_t number;

	if (!at->stack)
		return false;
	if (!strcmp(key, "size"))
		return take_number(value, &at->size);
	if (!strcmp(key, "tgid"))
		return take_number(value, &at->tgid);
	if (!strcmp(key, "comm")) {
		clean_name(value);
		at->comm = value;
		at->in_comm = true;
		return true;
	}
	/* "ts" ends a detail */
	at->in_comm = false;
	if (at->comm)
		add_task(at);
	at->comm = NULL;
	return take_number(value, &number);
}

static bool is_detail(const char *key)
{
	return !strcmp(key, "size") || !strcmp(key, "tgid") || !strcmp(key, "comm") ||
	       !strcmp(key, "ts");
}

static bool take_key(struct place *at, const char *key, char *value)
{
	uint64_t number;

	if (!at->site)
		return false;
	if (!strncmp(key, "dropped for ", strlen("dropped for "))) {
		if (!take_number(value, &number))
			return false;
		at->site->dropped = sat_add(at->site->dropped, number);
		return true;
	}
	if (!strcmp(key, "count")) {
		at->stack = add_stack(at->site);
		return take_number(value, &at->stack->count);
	}
	if (!strcmp(key, "bytes"))
		return at->stack && take_number(value, &at->stack->bytes);
	if (!strcmp(key, "call stack")) {
		at->in_frames = at->stack;
		return at->stack;
	}
	return is_detail(key) ? take_detail(at, key, value) : true;
}

static bool take_frame(struct place *at, char *frame)
{
	struct context_stack *stack = at->stack;

	if (stack->nr_frames == CONTEXT_FRAMES)
		return false;
	clean_name(frame);
	stack->frames[stack->nr_frames++] = frame;
	return true;
}

static bool take_line(struct place *at, char *line)
{
	size_t indent = strspn(line, " ");
	char *colon = strstr(line, ": "), *value;

	if (at->in_comm && strncmp(line, "    ts: ", strlen("    ts: ")))
		return true;
	if (at->in_frames && indent >= FRAME_INDENT)
		return take_frame(at, line + indent);
	at->in_frames = false;
	if (!line[indent])
		return !indent;
	if (isdigit((unsigned char)line[indent]))
		return take_site(at, line);
	value = colon ? colon + 2 : strchr(line, '\0');
	if (!colon && value > line && value[-1] == ':')
		colon = value - 1;
	if (indent != KEY_INDENT || !colon)
		return false;
	*colon = '\0';
	return take_key(at, line + indent, value);
}

/* Internals: order */

static int compare_tasks(const void *a, const void *b)
{
	const struct context_task *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct context_stack *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->count < y->count) - (x->count > y->count);
}

static void finish_site(struct context_site *site)
{
	uint64_t bytes = 0, calls = 0;
	size_t i;

	clean_name((char *)site->site.file);
	clean_name((char *)site->site.module);
	clean_name((char *)site->site.func);
	for (i = 0; i < site->nr; i++) {
		bytes = sat_add(bytes, site->stacks[i].bytes);
		calls = sat_add(calls, site->stacks[i].count);
		if (site->stacks[i].nr_tasks)
			qsort(site->stacks[i].tasks, site->stacks[i].nr_tasks,
			      sizeof(*site->stacks[i].tasks), compare_tasks);
	}
	site->site.bytes = min_u64(bytes, INT64_MAX);
	site->site.calls = min_u64(calls, INT64_MAX);
	if (site->nr)
		qsort(site->stacks, site->nr, sizeof(*site->stacks), compare_stacks);
}

static void forget_sites(struct contexts *contexts)
{
	size_t i, k;

	for (i = 0; i < contexts->nr; i++) {
		for (k = 0; k < contexts->sites[i].nr; k++)
			free(contexts->sites[i].stacks[k].tasks);
		free(contexts->sites[i].stacks);
	}
	contexts->nr = 0;
}

/* Interface */

/**
 * contexts_read - read what is captured
 * @contexts: receives the text; contexts_parse() must follow
 * @fd: the file, from contexts_open() or struct capture
 *
 * Return: 0, or a negative errno.
 */
int contexts_read(struct contexts *contexts, int fd)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return table_read(&contexts->text, fd);
}

/**
 * contexts_parse - find call sites and stacks in the text
 * @contexts: has a text; its strings are used from now on
 * @name: name of the file, for complaints
 * @to: receives complaints about lines that are damaged, with their number
 */
void contexts_parse(struct contexts *contexts, const char *name, const struct complainer *to)
{
	char *line = contexts->text.text, *end = line + contexts->text.size, *next;
	struct place at = { .contexts = contexts };
	uint64_t nr = 1;
	size_t i;

	forget_sites(contexts);
	contexts->damaged = 0;
	for (; line < end; line = next, nr++) {
		next = memchr(line, '\n', end - line);
		/* a line without an end was cut off */
		if (!next)
			break;
		*next++ = '\0';
		if (take_line(&at, line))
			continue;
		contexts->damaged++;
		complain(to, name, nr, "this line is damaged");
	}
	for (i = 0; i < contexts->nr; i++)
		finish_site(&contexts->sites[i]);
}

/**
 * contexts_find - find a call site among those that are captured
 * @contexts: what is captured
 * @site: the call site as /proc/allocinfo names it
 *
 * Built-in code has no module in /proc/allocinfo, but a name in contexts.
 *
 * Return: the call site, or NULL.
 */
const struct context_site *contexts_find(const struct contexts *contexts,
					 const struct site *site)
{
	const struct site *s;
	size_t i;

	for (i = 0; i < contexts->nr; i++) {
		s = &contexts->sites[i].site;
		if (s->line == site->line && !strcmp(s->file, site->file) &&
		    !strcmp(s->func, site->func) &&
		    (!*site->module || !strcmp(s->module, site->module)))
			return &contexts->sites[i];
	}
	return NULL;
}

/**
 * context_same_stack - compare two stacks
 * @a: a stack
 * @b: another one, also of another read
 *
 * Return: true if they have the same frames.
 */
bool context_same_stack(const struct context_stack *a, const struct context_stack *b)
{
	unsigned int i;

	if (a->nr_frames != b->nr_frames)
		return false;
	for (i = 0; i < a->nr_frames; i++) {
		if (strcmp(a->frames[i], b->frames[i]))
			return false;
	}
	return true;
}

/**
 * contexts_free - free what was read
 * @contexts: all zero afterwards
 */
void contexts_free(struct contexts *contexts)
{
	forget_sites(contexts);
	free(contexts->sites);
	table_free(&contexts->text);
	*contexts = (struct contexts){ 0 };
}
