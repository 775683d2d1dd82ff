// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main window of alloctop, and its keys.
 *
 * Only the rows in the window are made into text. Reading, sums and sorting are done once
 * for each reading of the machine, and a key that only moves the cursor does none of them.
 */
#include <string.h>

#include "number.h"
#include "status.h"
#include "top.h"
#include "top-term.h"

/* Data */

/**
 * struct screen - the main window
 * @top: the program
 * @cursor: row that the cursor is on
 * @offset: first row in the window
 * @message: what the last line says
 * @next: time of the next reading
 * @paused: no reading until the user wants one
 * @quit: the user wants to end
 */
struct screen {
	struct top *top;
	size_t cursor;
	size_t offset;
	char message[MESSAGE_SIZE];
	long next;
	bool paused;
	bool quit;
};

typedef void key_fn(struct screen *screen, int key);

static const char hint[] = "? help  s c a g m n sort  1-5 t group  f filter  Enter callers  q quit";

/* Internals: the window */

static unsigned int header_lines(void)
{
	return LINES >= 16 ? HEADER_LINES : LINES >= 6 ? 2 : 0;
}

static size_t window_rows(void)
{
	int rows = LINES - (int)header_lines() - 2;

	return rows > 1 ? rows : 1;
}

static void keep_in_view(struct screen *screen)
{
	size_t nr = screen->top->nr, rows = window_rows();

	if (screen->cursor >= nr)
		screen->cursor = nr ? nr - 1 : 0;
	if (screen->offset > screen->cursor)
		screen->offset = screen->cursor;
	if (screen->cursor >= screen->offset + rows)
		screen->offset = screen->cursor - rows + 1;
	if (screen->offset + rows > nr)
		screen->offset = nr > rows ? nr - rows : 0;
}

static void draw_header(const struct screen *screen)
{
	char text[LINE_SIZE], state[64];
	unsigned int i;

	for (i = 0; i < header_lines(); i++) {
		format_header(screen->top, i, text, sizeof(text));
		if (!i) {
			if (screen->paused)
				snprintf(state, sizeof(state), "  PAUSED");
			else
				snprintf(state, sizeof(state), "  every %u s",
					 (unsigned int)screen->top->delay);
			strcat(text, state);
		}
		term_put(i, text, i ? STYLE_PLAIN : STYLE_TITLE);
	}
}

static void draw_row(const struct screen *screen, int y, size_t nr)
{
	const struct top *top = screen->top;
	const struct line *line = &top->lines[nr];
	int64_t growth = node_growth(&top->model.nodes[line->node]);
	size_t from, length = format_changes(top, COLS, &from);
	char text[LINE_SIZE];

	format_row(top, line, COLS, text, sizeof(text));
	term_put(y, text, nr == screen->cursor ? STYLE_CURSOR : STYLE_PLAIN);
	if (nr != screen->cursor && length && growth)
		term_mark(y, from, length, growth > 0 ? STYLE_GREW : STYLE_SHRANK);
}

static void draw(void *data)
{
	struct screen *screen = data;
	const struct top *top = screen->top;
	size_t i, rows = window_rows();
	unsigned int y = header_lines();
	char text[LINE_SIZE];

	keep_in_view(screen);
	erase();
	draw_header(screen);
	format_heading(top, COLS > 2 ? COLS : 2, text, sizeof(text));
	term_put(y++, text, STYLE_HEADING);
	for (i = 0; i < rows && screen->offset + i < top->nr; i++)
		draw_row(screen, y + i, screen->offset + i);
	if (!top->nr)
		term_put(y, *top->filter ? "no call site passes the filter" :
			 "no call site holds memory", STYLE_PLAIN);
	if (*screen->message)
		term_message(screen->message);
	else
		term_put(LINES - 1, hint, STYLE_PLAIN);
	refresh();
}

static void say(struct screen *screen, const char *text)
{
	snprintf(screen->message, sizeof(screen->message), "%s", text);
}

static uint32_t cursor_node(const struct screen *screen)
{
	const struct top *top = screen->top;

	return screen->cursor < top->nr ? top->lines[screen->cursor].node : NODE_NONE;
}

/* The cursor stays on its row, unless it is on the first one: that is the largest. */
static void stay_on(struct screen *screen, uint32_t node)
{
	size_t row = screen->cursor ? view_find(screen->top, node) : 0;

	if (row < screen->top->nr)
		screen->cursor = row;
}

static void rebuild(struct screen *screen)
{
	struct top *top = screen->top;
	uint32_t node = cursor_node(screen);

	view_build(top);
	stay_on(screen, node);
}

static void read_again(struct screen *screen)
{
	struct top *top = screen->top;
	uint32_t node = cursor_node(screen);
	enum profiling before = top->state;

	screen->next = term_now() + top->delay * 1000;
	if (!top_read(top) || top->state != before)
		source_explain(&top->source, top->state);
	stay_on(screen, node);
}

/* Keys */

static void key_quit(struct screen *screen, int key)
{
	(void)key;
	screen->quit = true;
}

static void key_sort(struct screen *screen, int key)
{
	static const char keys[] = "scagmn";

	screen->top->sort = strchr(keys, key) - keys;
	screen->cursor = 0;
	rebuild(screen);
}

static void key_by(struct screen *screen, int key)
{
	screen->top->by = key - '1';
	screen->top->tree = false;
	screen->cursor = 0;
	rebuild(screen);
}

static void key_tree(struct screen *screen, int key)
{
	(void)key;
	screen->top->tree = !screen->top->tree;
	screen->cursor = 0;
	rebuild(screen);
}

static struct node *cursor_row(const struct screen *screen)
{
	uint32_t node = cursor_node(screen);

	return node == NODE_NONE ? NULL : &screen->top->model.nodes[node];
}

static void key_unfold(struct screen *screen, int key)
{
	struct node *node = cursor_row(screen);

	(void)key;
	if (!screen->top->tree) {
		say(screen, "only the tree unfolds; press t");
	} else if (node && node->by != BY_SITE) {
		node->open = true;
		rebuild(screen);
	}
}

/* Folds the row, or else goes to the row above it in the tree. */
static void key_fold(struct screen *screen, int key)
{
	struct node *node = cursor_row(screen);

	(void)key;
	if (!screen->top->tree) {
		say(screen, "only the tree folds; press t");
	} else if (node && node->open) {
		node->open = false;
		rebuild(screen);
	} else if (node && node->parent != NODE_NONE) {
		screen->cursor = view_find(screen->top, node->parent);
	}
}

static void key_all(struct screen *screen, int key)
{
	if (!screen->top->tree) {
		say(screen, "only the tree unfolds; press t");
		return;
	}
	view_open_all(screen->top, key == ']');
	screen->cursor = 0;
	rebuild(screen);
}

static void key_filter(struct screen *screen, int key)
{
	char text[MESSAGE_SIZE], said[MESSAGE_SIZE];
	const char *problem;

	(void)key;
	snprintf(text, sizeof(text), "%s", screen->top->filter);
	if (!term_ask("filter (file, func, module, line): ", text, sizeof(text), draw, screen))
		return;
	if (top_filter(screen->top, text, &problem)) {
		screen->cursor = 0;
		return;
	}
	snprintf(said, sizeof(said), "filter: %.240s", problem);
	say(screen, said);
}

static void key_delay(struct screen *screen, int key)
{
	char text[16] = "";
	uint64_t delay;

	(void)key;
	if (!term_ask("seconds from one reading to the next: ", text, sizeof(text), draw, screen) ||
	    !*text)
		return;
	if (seconds_parse(text, 86400, &delay) && delay) {
		screen->top->delay = delay;
		screen->next = term_now() + delay * 1000;
	} else {
		say(screen, "the delay is a time from 1 second to 1 day, such as 10 or 5m");
	}
}

static void key_pause(struct screen *screen, int key)
{
	(void)key;
	screen->paused = !screen->paused;
}

static void key_read(struct screen *screen, int key)
{
	(void)key;
	read_again(screen);
}

static void key_restart(struct screen *screen, int key)
{
	(void)key;
	model_restart(&screen->top->model);
	model_sum(&screen->top->model, &screen->top->query);
	rebuild(screen);
	say(screen, "growth counts from now on");
}

static void key_bytes(struct screen *screen, int key)
{
	(void)key;
	screen->top->plain = !screen->top->plain;
}

static void put_json(const void *data, FILE *out)
{
	top_json(data, out);
}

static void key_write(struct screen *screen, int key)
{
	(void)key;
	term_write(put_json, screen->top, screen->message);
}

/* A filter cannot name each group exactly: * also stands for slashes, for example. */
static void show_sites(struct screen *screen)
{
	top_only(screen->top, cursor_node(screen));
	screen->cursor = 0;
}

static void key_enter(struct screen *screen, int key)
{
	struct node *node = cursor_row(screen);

	(void)key;
	if (!node)
		return;
	if (node->by == BY_SITE)
		stacks_run(screen->top, node->site);
	else if (screen->top->tree && node->open)
		key_fold(screen, key);
	else if (screen->top->tree)
		key_unfold(screen, key);
	else
		show_sites(screen);
}

static void key_move(struct screen *screen, int key)
{
	size_t rows = window_rows(), nr = screen->top->nr, at = screen->cursor;

	switch (key) {
	case KEY_UP:
	case 'k':
		screen->cursor = at ? at - 1 : 0;
		break;
	case KEY_DOWN:
	case 'j':
		screen->cursor = at + 1;
		break;
	case KEY_PPAGE:
		screen->cursor = at > rows ? at - rows : 0;
		break;
	case KEY_NPAGE:
		screen->cursor = at + rows;
		break;
	case KEY_HOME:
		screen->cursor = 0;
		break;
	case KEY_END:
		screen->cursor = nr ? nr - 1 : 0;
		break;
	}
}

static void key_help(struct screen *screen, int key);

/* Keys that do the same are beside each other; the first of them has the help. */
static const struct {
	int key;
	const char *name;
	const char *help;
	key_fn *fn;
} keys[] = {
	{ 's', "s", "sort by size", key_sort },
	{ 'c', "c", "sort by calls, the allocations that are not freed", key_sort },
	{ 'a', "a", "sort by average size", key_sort },
	{ 'g', "g", "sort by growth since the start", key_sort },
	{ 'm', "m", "sort by growth a minute", key_sort },
	{ 'n', "n", "sort by name", key_sort },
	{ '1', "1", "a row is a call site", key_by },
	{ '2', "2", "a row is a function", key_by },
	{ '3', "3", "a row is a file", key_by },
	{ '4', "4", "a row is a directory", key_by },
	{ '5', "5", "a row is a module", key_by },
	{ 't', "t", "show a tree, or no tree", key_tree },
	{ KEY_RIGHT, "Right +", "unfold a row of the tree", key_unfold },
	{ '+', NULL, NULL, key_unfold },
	{ KEY_LEFT, "Left -", "fold a row of the tree", key_fold },
	{ '-', NULL, NULL, key_fold },
	{ ']', "[ ]", "fold or unfold the whole tree", key_all },
	{ '[', NULL, NULL, key_all },
	{ 'f', "f /", "filter by file, func, module, line", key_filter },
	{ '/', NULL, NULL, key_filter },
	{ 'p', "p", "pause", key_pause },
	{ ' ', "Space", "read now", key_read },
	{ 'd', "d", "delay from one reading to the next", key_delay },
	{ 'z', "z", "count growth from now on", key_restart },
	{ 'b', "b", "plain numbers of bytes", key_bytes },
	{ 'w', "w", "write the rows as JSON", key_write },
	{ KEY_RETURN, "Enter", "callers of a call site, call sites of a group", key_enter },
	{ KEY_UP, "Up k", "one row up", key_move },
	{ 'k', NULL, NULL, key_move },
	{ KEY_DOWN, "Down j", "one row down", key_move },
	{ 'j', NULL, NULL, key_move },
	{ KEY_PPAGE, "PgUp", "one page up", key_move },
	{ KEY_NPAGE, "PgDn", "one page down", key_move },
	{ KEY_HOME, "Home", "first row", key_move },
	{ KEY_END, "End", "last row", key_move },
	{ '?', "? h", "this help", key_help },
	{ 'h', NULL, NULL, key_help },
	{ 'q', "q", "quit", key_quit },
};

static const char * const notes[] = {
	"",
	"The table has both the objects in slabs and per-CPU chunks, and the pages of these:",
	"call sites = table - objects.",
	"user = page cache and memory of processes; tables = page tables; boot kept = the kernel",
	"itself, its page map and so on, which are not in MemTotal; on no line = allocated early",
	"at boot, or before profiling was on; (shared) = several call sites have one counter",
};

static void draw_help(unsigned int first)
{
	unsigned int i, y = 0, row = 0, total = ARRAY_SIZE(keys) + ARRAY_SIZE(notes);
	char text[LINE_SIZE];

	erase();
	term_put(y++, "alloctop: keys", STYLE_HEADING);
	for (i = 0; i < total && (int)y < LINES - 1; i++) {
		if (i >= ARRAY_SIZE(keys))
			snprintf(text, sizeof(text), "%s", notes[i - ARRAY_SIZE(keys)]);
		else if (keys[i].name)
			snprintf(text, sizeof(text), "  %-8s %s", keys[i].name, keys[i].help);
		else
			continue;
		if (row++ >= first)
			term_put(y++, text, STYLE_PLAIN);
	}
	term_put(LINES - 1, i < total ? "any key for more, q to leave" : "any key to leave",
		 STYLE_MESSAGE);
	refresh();
}

static unsigned int help_rows(void)
{
	unsigned int i, rows = ARRAY_SIZE(notes);

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		rows += !!keys[i].name;
	return rows;
}

static void key_help(struct screen *screen, int key)
{
	unsigned int first = 0, page;

	(void)screen;
	do {
		draw_help(first);
		key = term_key(-1);
		page = LINES > 3 ? LINES - 2 : 1;
		if (key != KEY_RESIZE && key != ERR)
			first += page;
	} while (!term_over() && key != 'q' && key != KEY_ESCAPE && first < help_rows());
}

static void press(struct screen *screen, int key)
{
	size_t i;

	if (key == KEY_RESIZE)
		return;
	say(screen, "");
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].key != key)
			continue;
		keys[i].fn(screen, key);
		return;
	}
	say(screen, "no such key; ? shows all of them");
}

static void wait_for_key(struct screen *screen)
{
	long left = screen->next - term_now();
	int key = term_key(screen->paused ? -1 : left > 0 ? left : 0);

	if (key != ERR)
		press(screen, key);
	else if (!screen->paused && term_now() >= screen->next)
		read_again(screen);
}

/**
 * screen_run - show the machine until the user has seen enough
 * @top: the program; it has been read once
 *
 * Return: exit status.
 */
int screen_run(struct top *top)
{
	struct screen screen = { .top = top };

	if (!term_begin())
		return EXIT_CANNOT;
	screen.next = term_now() + top->delay * 1000;
	source_explain(&top->source, top->state);
	while (!screen.quit && !term_over()) {
		term_said(screen.message);
		draw(&screen);
		wait_for_key(&screen);
	}
	return term_end(EXIT_GOOD);
}
