/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal of alloctop: ncurses, signals, and messages that would go to standard
 * error.
 */
#ifndef _ALLOCINFO_TOP_TERM_H
#define _ALLOCINFO_TOP_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <curses.h>

#define KEY_ESCAPE	27
#define KEY_RETURN	'\r'
#define MESSAGE_SIZE	256u

/**
 * enum term_style - how a text looks; without colours, too
 * @STYLE_PLAIN: as it is
 * @STYLE_TITLE: bold
 * @STYLE_HEADING: reverse
 * @STYLE_CURSOR: reverse and bold
 * @STYLE_GREW: red
 * @STYLE_SHRANK: green
 * @STYLE_MESSAGE: bold, yellow
 */
enum term_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEADING,
	STYLE_CURSOR,
	STYLE_GREW,
	STYLE_SHRANK,
	STYLE_MESSAGE,
};

/* typedef draw_fn - draws a window again, after its size changed */
typedef void draw_fn(void *data);

/* typedef write_fn - writes JSON */
typedef void write_fn(const void *data, FILE *out);

bool term_begin(void);
int term_end(int status);
bool term_over(void);
int term_key(int timeout);
void term_put(int y, const char *text, enum term_style style);
void term_message(const char *text);
void term_mark(int y, size_t from, size_t length, enum term_style style);
bool term_ask(const char *question, char *answer, size_t size, draw_fn *draw, void *data);
void term_write(write_fn *write, const void *data, char *message);
bool term_said(char *message);
long term_now(void);

#endif /* _ALLOCINFO_TOP_TERM_H */
