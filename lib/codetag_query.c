// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of code tags: a query selects the tags that a command applies to. Its
 * terms are
 *
 *	file F | line N[-M] | func G | module M | class C | index A[-B]
 *
 * in any order, each at most once. A tag has to match all of them. The rest of
 * the line is the command, which the caller parses. Names are patterns, as in
 * dynamic debug. Words are separated by white space; a word that contains white
 * space must be quoted.
 *
 * A line is parsed in place, word by word, up to the first error. The message
 * and the column of that error are kept for the kernel log.
 *
 * Everything but codetag_command() may run in any context.
 */
#include <linux/codetag.h>
#include <linux/codetag_query.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/parser.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Words */

/**
 * codetag_words_wrong - stop parsing a line because of an error
 * @w: the line
 * @error: message about the current word
 *
 * Return: -EINVAL.
 */
int codetag_words_wrong(struct codetag_words *w, const char *error)
{
	w->error = error;
	return -EINVAL;
}

/*
 * Terminate a word at its closing quote. Return the text after the quote, or
 * NULL after an error.
 */
static char *codetag_unquote(struct codetag_words *w, char quote)
{
	char *end = strchr(w->word + 1, quote);

	if (!end) {
		codetag_words_wrong(w, "the quote has no end");
		return NULL;
	}
	w->word++;
	*end++ = '\0';
	if (*end && !isspace(*end)) {
		codetag_words_wrong(w, "text right behind a quote");
		return NULL;
	}
	return end;
}

/**
 * codetag_words_next - parse the next word of a line
 * @w: the line
 */
void codetag_words_next(struct codetag_words *w)
{
	char *end;

	if (w->error)
		return;
	w->word = skip_spaces(w->next);
	w->column = w->word - w->text + 1;
	if (!*w->word) {
		w->word = NULL;
		return;
	}
	if (*w->word == '"' || *w->word == '\'') {
		end = codetag_unquote(w, *w->word);
		if (!end)
			return;
	} else {
		for (end = w->word; *end && !isspace(*end); end++)
			;
	}
	w->next = *end ? end + 1 : end;
	*end = '\0';
}

/**
 * codetag_words_begin - begin to parse a line
 * @w: the result: the line, with its first word as the current one
 * @text: text of the line; modified, and must stay while @w is in use
 */
void codetag_words_begin(struct codetag_words *w, char *text)
{
	*w = (struct codetag_words) { .text = text, .next = text };
	codetag_words_next(w);
}

/**
 * codetag_words_report - log the error in a line, if there is one
 * @w: the line
 * @from: name of the file or parameter that the line comes from
 */
void codetag_words_report(const struct codetag_words *w, const char *from)
{
	if (w->error)
		pr_err("%s: column %u, \"%s\": %s\n", from, w->column,
		       w->word ?: "", w->error);
}

static bool codetag_number(const char **s, unsigned int *number)
{
	u64 n = 0;

	if (!isdigit(**s))
		return false;
	for (; isdigit(**s); (*s)++) {
		n = n * 10 + (**s - '0');
		if (n > UINT_MAX)
			return false;
	}
	*number = n;
	return true;
}

/**
 * codetag_words_number - parse the current word as a number, then the next word
 * @w: the line
 * @min: smallest number allowed
 * @max: largest number allowed
 * @number: the result, valid if 0 is returned
 *
 * Return: 0, or -EINVAL with the error in @w.
 */
int codetag_words_number(struct codetag_words *w, unsigned int min,
			 unsigned int max, unsigned int *number)
{
	const char *s = w->word;
	unsigned int n;

	if (w->error)
		return -EINVAL;
	if (!s)
		return codetag_words_wrong(w, "a number is missing");
	if (!codetag_number(&s, &n) || *s)
		return codetag_words_wrong(w, "not a number");
	if (n < min || n > max)
		return codetag_words_wrong(w, "a number out of range");
	*number = n;
	codetag_words_next(w);
	return w->error ? -EINVAL : 0;
}

/* Parse N, N-M, N- or -M. */
static int codetag_words_range(struct codetag_words *w, unsigned int *first,
			       unsigned int *last)
{
	const char *s = w->word;
	bool from = codetag_number(&s, first);

	if (*s != '-') {
		if (!from || *s)
			return codetag_words_wrong(w, "not a number or a range");
		*last = *first;
		return 0;
	}
	s++;
	if (!codetag_number(&s, last) && !from)
		return codetag_words_wrong(w, "not a number or a range");
	if (*s)
		return codetag_words_wrong(w, "not a number or a range");
	if (*first > *last)
		return codetag_words_wrong(w, "a range that ends before it begins");
	return 0;
}

/* Queries */

enum codetag_term {
	TERM_FILE,
	TERM_LINE,
	TERM_FUNC,
	TERM_MODULE,
	TERM_CLASS,
	TERM_INDEX,
};

static const char * const codetag_terms[] = {
	[TERM_FILE]	= "file",
	[TERM_LINE]	= "line",
	[TERM_FUNC]	= "func",
	[TERM_MODULE]	= "module",
	[TERM_CLASS]	= "class",
	[TERM_INDEX]	= "index",
};

static int codetag_query_term(struct codetag_query *q, struct codetag_words *w,
			      enum codetag_term term)
{
	switch (term) {
	case TERM_LINE:
		return codetag_words_range(w, &q->first_line, &q->last_line);
	case TERM_INDEX:
		return codetag_words_range(w, &q->first_index, &q->last_index);
	case TERM_FILE:
		q->file = w->word;
		break;
	case TERM_FUNC:
		q->function = w->word;
		break;
	case TERM_MODULE:
		q->module = w->word;
		break;
	case TERM_CLASS:
		q->class = w->word;
		break;
	}
	return *w->word ? 0 : codetag_words_wrong(w, "an empty name");
}

/**
 * codetag_query_parse - parse the terms at the beginning of a line
 * @q: the result; refers to the text of the line
 * @w: the line. Its first word must be the current one; afterwards the current
 *	word is the first one after the terms, which is the command.
 *
 * A query without terms selects all tags.
 *
 * Return: 0, or -EINVAL with the error in @w.
 */
int codetag_query_parse(struct codetag_query *q, struct codetag_words *w)
{
	unsigned long seen = 0;
	int term;

	*q = (struct codetag_query) {
		.last_line	= UINT_MAX,
		.last_index	= UINT_MAX,
	};
	while (w->word && !w->error) {
		term = match_string(codetag_terms, ARRAY_SIZE(codetag_terms),
				    w->word);
		if (term < 0)
			return 0;
		if (seen & BIT(term))
			return codetag_words_wrong(w, "given twice");
		seen |= BIT(term);

		codetag_words_next(w);
		if (w->error)
			break;
		if (!w->word)
			return codetag_words_wrong(w, "a value is missing");
		if (codetag_query_term(q, w, term))
			break;
		codetag_words_next(w);
	}
	return w->error ? -EINVAL : 0;
}

static bool codetag_matches(const char *pattern, const char *name)
{
	return !pattern || match_wildcard(pattern, name);
}

/**
 * codetag_query_match - does a query select this tag?
 * @q: the query; counts the tags that match its other terms, for the term
 *	``index``. So call this once for each tag, in the order of a walk.
 * @ct: the tag
 * @modname: name of its module, from codetag_modname()
 * @class: its class, NULL for none
 *
 * Return: true if the query selects the tag.
 */
bool codetag_query_match(struct codetag_query *q, const struct codetag *ct,
			 const char *modname, const char *class)
{
	unsigned int index;

	if (ct->lineno < q->first_line || ct->lineno > q->last_line)
		return false;
	if (!codetag_matches(q->file, ct->filename) &&
	    !codetag_matches(q->file, kbasename(ct->filename)))
		return false;
	if (!codetag_matches(q->function, ct->function) ||
	    !codetag_matches(q->module, modname) ||
	    !codetag_matches(q->class, class ?: ""))
		return false;

	index = q->seen++;
	return index >= q->first_index && index <= q->last_index;
}

/**
 * codetag_command - run a command that was written to a file
 * @file: name of the file, for the kernel log
 * @buf: the command, in user space
 * @count: its length in bytes
 * @run: runs the command, or reports an error by codetag_words_wrong(). The
 *	words are freed when it returns.
 *
 * Context: process context, may sleep.
 * Return: @count; or the error of @run; -E2BIG for more than a page; -EINVAL if
 * the command contains a zero byte; -ENOMEM; -EFAULT.
 */
ssize_t codetag_command(const char *file, const char __user *buf, size_t count,
			int (*run)(struct codetag_words *w))
{
	struct codetag_words w;
	char *text;
	int ret;

	if (count > PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) != count) {
		kfree(text);
		return -EINVAL;
	}

	codetag_words_begin(&w, text);
	ret = run(&w);
	codetag_words_report(&w, file);
	kfree(text);
	return ret ?: count;
}

#ifdef CONFIG_CODETAG_QUERY_KUNIT_TEST
#include "codetag_query_kunit.c"
#endif
