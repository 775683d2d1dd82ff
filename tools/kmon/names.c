// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for numbers, see names.h. If a number appears twice, the last name counts.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "number.h"
#include "utf8.h"

static bool same_nr(const void *table, uint32_t nr, const void *key)
{
	const struct name *names = table;
	const uint32_t *wanted = key;

	return names[nr].nr == *wanted;
}

static uint32_t find(const struct names *names, uint32_t nr)
{
	return index_find(&names->index, hash_u64(nr), same_nr, names->names, &nr);
}

static void add(struct names *names, uint32_t nr, const char *text)
{
	uint32_t at = find(names, nr);

	if (at != INDEX_NONE) {
		free(names->names[at].text);
		names->names[at].text = need_string(text);
		return;
	}
	if (names->nr == names->room) {
		names->room = names->room ? names->room * 2 : 64;
		names->names = need_more(names->names, names->room, sizeof(*names->names));
	}
	names->names[names->nr] = (struct name){ nr, need_string(text) };
	index_add(&names->index, hash_u64(nr), names->nr++);
}

static bool take_line(struct names *names, char *line)
{
	const char *end;
	uint64_t nr;
	char *name;

	line[strcspn(line, "\n")] = '\0';
	if (!number_take(line, &nr, &end) || nr > UINT32_MAX || *end != ' ' || !end[1])
		return false;
	/* The file may come from elsewhere, and its names go to terminals. */
	name = line + (end + 1 - line);
	clean_name(name);
	add(names, nr, name);
	return true;
}

/**
 * names_read - read a file of names
 * @names: names are added here
 * @file: file to read
 * @path: name of @file, for complaints
 * @to: receives complaints about lines that are not a number and a name
 *
 * Return: false with errno if @file cannot be read to its end.
 */
bool names_read(struct names *names, FILE *file, const char *path,
		const struct complainer *to)
{
	uint64_t line = 0;
	char *text = NULL;
	size_t room = 0;

	while (getline(&text, &room, file) > 0) {
		line++;
		if (!take_line(names, text))
			complain(to, path, line, "not a number and a name");
	}
	free(text);
	return !ferror(file);
}

/**
 * names_get - the name of a number
 * @names: from names_read()
 * @nr: the number
 *
 * Return: the name, or NULL.
 */
const char *names_get(const struct names *names, uint32_t nr)
{
	uint32_t at = find(names, nr);

	return at == INDEX_NONE ? NULL : names->names[at].text;
}

/**
 * names_free - free the memory of names
 * @names: the names; empty afterwards
 */
void names_free(struct names *names)
{
	uint32_t i;

	for (i = 0; i < names->nr; i++)
		free(names->names[i].text);
	free(names->names);
	index_free(&names->index);
	*names = (struct names){ 0 };
}
