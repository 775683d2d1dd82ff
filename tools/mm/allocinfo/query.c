// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters for call sites, see query.h.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "query.h"
#include "util.h"

/* "12", "12-20", "12-" or "-20" */
static bool parse_lines(struct query *query, const char *word)
{
	uint64_t first = 0, last = UINT32_MAX;
	const char *end = word;

	if (*word != '-') {
		if (!number_take(word, &first, &end))
			return false;
		if (!*end)
			last = first;
	}
	if (*end == '-' && end[1] && !number_parse(end + 1, UINT32_MAX, &last))
		return false;
	if ((*end && *end != '-') || !strcmp(word, "-") || first > last || last > UINT32_MAX)
		return false;
	query->first = first;
	query->last = last;
	return true;
}

static bool set_name(const char **name, const char *word, const char **problem)
{
	if (*name) {
		*problem = "a keyword is given twice";
		return false;
	}
	*name = word;
	return true;
}

static bool set_lines(struct query *query, const char *word, const char **problem)
{
	if (parse_lines(query, word))
		return true;
	*problem = "line needs a number or a range like 10-20";
	return false;
}

/* "file slub.c:alloc_*" and "file slub.c:100-200" name a function or lines, too. */
static bool set_file(struct query *query, char *word, const char **problem)
{
	char *colon = strchr(word, ':');

	if (colon)
		*colon++ = '\0';
	if (!set_name(&query->file, word, problem))
		return false;
	if (!colon)
		return true;
	if (strspn(colon, "0123456789-") == strlen(colon))
		return set_lines(query, colon, problem);
	return set_name(&query->func, colon, problem);
}

static bool set_word(struct query *query, const char *key, char *word, const char **problem)
{
	if (!strcmp(key, "file"))
		return set_file(query, word, problem);
	if (!strcmp(key, "func"))
		return set_name(&query->func, word, problem);
	if (!strcmp(key, "module"))
		return set_name(&query->module, word, problem);
	if (!strcmp(key, "line"))
		return set_lines(query, word, problem);
	*problem = "the keywords are: file, func, module, line";
	return false;
}

static bool parse_text(struct query *query, const char **problem)
{
	static const char blanks[] = " \t\n";
	char *key, *word, *save;

	for (key = strtok_r(query->text, blanks, &save); key;
	     key = strtok_r(NULL, blanks, &save)) {
		word = strtok_r(NULL, blanks, &save);
		if (!word) {
			*problem = "each keyword needs a value: file, func, module, line";
			return false;
		}
		if (!set_word(query, key, word, problem))
			return false;
	}
	return true;
}

/**
 * query_parse - read a filter
 * @query: receives the filter; query_free() must follow, also after an error
 * @text: the filter; an empty one matches all call sites
 * @problem: set to what is wrong
 *
 * Return: false if @text is not a filter; then @query matches all call sites.
 */
bool query_parse(struct query *query, const char *text, const char **problem)
{
	*query = (struct query) { .last = UINT32_MAX, .text = need_string(text) };
	if (parse_text(query, problem))
		return true;
	query_free(query);
	return false;
}

/**
 * query_join - make one text of the words of a filter
 * @words: the words, with NULL at the end
 *
 * Return: the text, for query_parse(); the caller frees it with free().
 */
char *query_join(char **words)
{
	size_t size = 1;
	char *text;
	char **word;

	for (word = words; *word; word++)
		size += strlen(*word) + 1;
	text = need_memory(size, 1);
	for (word = words; *word; word++) {
		if (word != words)
			strcat(text, " ");
		strcat(text, *word);
	}
	return text;
}

/**
 * query_parse_words - read a filter from arguments of a program
 * @query: as for query_parse()
 * @words: the words, with NULL at the end
 * @problem: as for query_parse()
 *
 * Return: as query_parse().
 */
bool query_parse_words(struct query *query, char **words, const char **problem)
{
	char *text = query_join(words);
	bool good = query_parse(query, text, problem);

	free(text);
	return good;
}

static bool file_matches(const char *pattern, const char *file)
{
	const char *slash = strrchr(file, '/');

	return !fnmatch(pattern, file, 0) || (slash && !fnmatch(pattern, slash + 1, 0));
}

/**
 * query_matches - find whether a call site passes a filter
 * @query: the filter
 * @site: the call site
 *
 * Return: true if it passes.
 */
bool query_matches(const struct query *query, const struct site *site)
{
	return site->line >= query->first && site->line <= query->last &&
	       (!query->module || !fnmatch(query->module, site->module, 0)) &&
	       (!query->func || !fnmatch(query->func, site->func, 0)) &&
	       (!query->file || file_matches(query->file, site->file));
}

/**
 * query_free - free the memory of a filter
 * @query: the filter; it matches all call sites from now on
 */
void query_free(struct query *query)
{
	free(query->text);
	*query = (struct query) { .last = UINT32_MAX };
}
