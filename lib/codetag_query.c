// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of code tags: the words by which a person says which tags a command
 * is about.
 *
 *	file F | line N[-M] | func G | module M | class C | index A[-B]
 *
 * in any order, each at most once; a tag has to satisfy all of them. What
 * follows them in the line is the command, which is the caller's to read. Names
 * are patterns as dynamic debug has them. Words are separated by white space,
 * and one with white space in it stands in quotes.
 *
 * A line is taken apart in place, word by word, and the first thing that is
 * wrong with it ends that: what it is and where it stands are kept, to be shown in
 * the kernel log.
 *
 * Any context, but for codetag_command().
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
 * codetag_words_wrong - end the reading of a line for an error
 * @w: the line
 * @error: what is wrong with the word it is read up to
 *
 * Return: -EINVAL.
 */
int codetag_words_wrong(struct codetag_words *w, const char *error)
{
	w->error = error;
	return -EINVAL;
}

/* Ends a word at a quote. Returns what follows it, NULL when there is no end. */
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
 * codetag_words_next - read a line up to the next word
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
 * codetag_words_begin - read a line up to its first word
 * @w: out
 * @text: the line, which is written to and has to stay while @w is in use
 */
void codetag_words_begin(struct codetag_words *w, char *text)
{
	*w = (struct codetag_words) { .text = text, .next = text };
	codetag_words_next(w);
}

/**
 * codetag_words_report - tell the kernel log what is wrong with a line, if anything
 * @w: the line
 * @from: where it comes from
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
 * codetag_words_number - read a word that is a number, and go on to the next
 * @w: the line
 * @min: the least that it may be
 * @max: the largest
 * @number: out, when there is no error
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

/* N, N-M, N- or -M. */
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
 * codetag_query_parse - read the terms that a line begins with
 * @q: out; refers to the text of the line
 * @w: the line, read up to its first word; then up to the first word that is
 *	not of a term, which is the command
 *
 * A query without terms is one for all tags.
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
 * codetag_query_match - is a command about this tag?
 * @q: what the command said; counts the tags that it is asked about, so that
 *	all tags are to be asked about once, in their order
 * @ct: the tag
 * @modname: name of its module, codetag_modname()
 * @class: its class, NULL for none
 *
 * Return: whether it is.
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
 * codetag_command - do what somebody writes to a file
 * @file: what the kernel log is to call that file
 * @buf: what was written, all of it one command
 * @count: how much that is
 * @run: does it, or says by codetag_words_wrong() what is wrong with it; its words
 *	are gone afterwards
 *
 * Context: process, may sleep.
 * Return: @count; or an error: that of @run, -E2BIG for more than a page, -EINVAL
 * for a zero byte, -ENOMEM, -EFAULT.
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
