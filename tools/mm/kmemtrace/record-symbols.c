// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tags, modules and symbols for the header, see record.h.
 *
 * A module may be gone when the recording ends, but records name its call sites. So the
 * texts keep the lines of everything that was loaded during the recording.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/*
 * A key is the beginning of a line that identifies it. Returns its length; a line with the
 * length 0 is not kept.
 */
static size_t first_word(const char *line, size_t len)
{
	const char *space = memchr(line, ' ', len);

	return space ? (size_t)(space - line) : len;
}

/* Only symbols of modules can disappear. */
static size_t symbol_of_module(const char *line, size_t len)
{
	return memchr(line, '\t', len) ? len : 0;
}

struct set {
	uint64_t *slots;
	size_t mask;
};

static uint64_t text_hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;

	while (len--)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3;
	return h ? h : 1;
}

/* Returns whether the set contained @h before. */
static bool set_add(struct set *set, uint64_t h)
{
	size_t i;

	for (i = h & set->mask; set->slots[i]; i = (i + 1) & set->mask)
		if (set->slots[i] == h)
			return true;
	set->slots[i] = h;
	return false;
}

const char *line_end(const struct text *text, const char *line)
{
	const char *end = memchr(line, '\n', text->s + text->len - line);

	return end ? end : text->s + text->len;
}

static size_t count_lines(const struct text *text)
{
	size_t nr = 0, i;

	for (i = 0; i < text->len; i++)
		nr += text->s[i] == '\n';
	return nr + 1;
}

/* Add the lines of @old that are missing in @now. */
static void merge(struct text *now, const struct text *old,
		  size_t (*key)(const char *line, size_t len))
{
	const char *line, *end, *stop = now->s + now->len;
	struct set set = { .mask = 1 };
	size_t len;
	char *p;

	while (set.mask < 2 * (count_lines(now) + count_lines(old)))
		set.mask = 2 * set.mask + 1;
	set.slots = calloc(set.mask + 1, sizeof(*set.slots));
	p = realloc(now->s, now->len + old->len + 2);
	if (p)
		now->s = p;
	if (!p || !set.slots) {
		free(set.slots);
		return;
	}
	stop = now->s + now->len;
	for (line = now->s; line < stop; line = end + 1) {
		end = line_end(now, line);
		len = key(line, end - line);
		if (len)
			set_add(&set, text_hash(line, len));
	}
	for (line = old->s; line < old->s + old->len; line = end + 1) {
		end = line_end(old, line);
		len = key(line, end - line);
		if (!len || set_add(&set, text_hash(line, len)))
			continue;
		len = end - line;
		memcpy(now->s + now->len, line, len);
		now->len += len;
		now->s[now->len++] = '\n';
	}
	now->s[now->len] = '\0';
	free(set.slots);
}

static void refresh_text(struct text *text, int fd,
			 size_t (*key)(const char *line, size_t len))
{
	struct text now;

	if (!read_all(fd, &now)) {
		free(now.s);
		return;
	}
	if (text->s)
		merge(&now, text, key);
	free(text->s);
	*text = now;
}

void refresh_symbols(void)
{
	refresh_text(&rec.tags, open_at("tags", O_RDONLY), first_word);
	refresh_text(&rec.modules, open("/proc/modules", O_RDONLY | O_CLOEXEC),
		     first_word);
	refresh_text(&rec.kallsyms, open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
		     symbol_of_module);
}

/* A hash of the names of the modules in their order, which changes with each load. */
static uint64_t modules_hash(void)
{
	const char *line, *end;
	struct text text;
	uint64_t h = 0;

	if (!read_all(open("/proc/modules", O_RDONLY | O_CLOEXEC), &text))
		return 0;
	for (line = text.s; line < text.s + text.len; line = end + 1) {
		end = line_end(&text, line);
		h = 31 * h + text_hash(line, first_word(line, end - line));
	}
	free(text.s);
	return h;
}

/* Read the texts again if a module was loaded or unloaded. */
void follow_modules(void)
{
	static uint64_t last;
	static bool any;
	uint64_t h = modules_hash();

	if (h != last || !any)
		refresh_symbols();
	last = h;
	any = true;
}
