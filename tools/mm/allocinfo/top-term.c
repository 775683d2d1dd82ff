// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal of alloctop, see top-term.h.
 *
 * Signals are blocked except while the program waits for a key. So none gets lost between
 * a check and the wait, and none interrupts ncurses while it draws. ncurses has handlers
 * of its own for SIGTSTP, after which the terminal is as it was before the program, and
 * for SIGWINCH, after which it delivers KEY_RESIZE.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "outfile.h"
#include "status.h"
#include "top.h"
#include "top-term.h"
#include "utf8.h"

/* Data */

/* A terminal that is gone is always ready, and delivers nothing. */
#define EMPTY_READS_MAX	20u
#define FILES_MAX	10000u

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

static struct {
	SCREEN *screen;
	FILE *stderr_before;
	FILE *said;
	char *said_text;
	size_t said_size;
	sigset_t blocked;
	sigset_t before;
	unsigned int empty_reads;
	bool gone;
	bool colours;
} term;

static atomic_int end_signal, continued;

/* Internals */

static void on_end(int sig)
{
	end_signal = sig;
}

/* After SIGSTOP, ncurses does not know that the shell has used the terminal. */
static void on_continue(int sig)
{
	(void)sig;
	continued = 1;
}

/* Handlers come before newterm(), so that ncurses does not install its own ones. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_end }, old;
	size_t i;

	sigemptyset(&term.blocked);
	for (i = 0; i < ARRAY_SIZE(end_signals); i++) {
		if (sigaction(end_signals[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue;
		sigaction(end_signals[i], &action, NULL);
		sigaddset(&term.blocked, end_signals[i]);
	}
	action.sa_handler = on_continue;
	sigaction(SIGCONT, &action, NULL);
	sigaddset(&term.blocked, SIGCONT);
	sigaddset(&term.blocked, SIGTSTP);
	sigaddset(&term.blocked, SIGWINCH);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &term.blocked, &term.before);
}

static void use_colours(void)
{
	const char *no = getenv("NO_COLOR");

	if ((no && *no) || !has_colors() || start_color() == ERR)
		return;
	term.colours = true;
	use_default_colors();
	init_pair(STYLE_GREW, COLOR_RED, -1);
	init_pair(STYLE_SHRANK, COLOR_GREEN, -1);
	init_pair(STYLE_MESSAGE, COLOR_YELLOW, -1);
}

static chtype attributes(enum term_style style)
{
	static const chtype plain[] = {
		[STYLE_TITLE] = A_BOLD, [STYLE_HEADING] = A_REVERSE,
		[STYLE_CURSOR] = A_REVERSE | A_BOLD, [STYLE_GREW] = A_BOLD,
		[STYLE_SHRANK] = 0, [STYLE_MESSAGE] = A_BOLD,
	};

	return plain[style];
}

/* Messages of other parts of the program must not go across the screen. */
static void collect_messages(void)
{
	free(term.said_text);
	term.said_text = NULL;
	term.said = open_memstream(&term.said_text, &term.said_size);
	stderr = term.said ? term.said : term.stderr_before;
}

static void redraw_all(void)
{
	reset_prog_mode();
	clearok(curscr, TRUE);
	continued = 0;
}

static int read_key(void)
{
	int key = getch();

	return key == '\n' || key == KEY_ENTER ? KEY_RETURN : key;
}

/* Interface */

/**
 * term_begin - take over the terminal
 *
 * Return: false after a message if the type of the terminal is unknown.
 */
bool term_begin(void)
{
	const char *type = getenv("TERM");

	catch_signals();
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen) {
		sigprocmask(SIG_SETMASK, &term.before, NULL);
		fprintf(stderr, "%s: the terminal type '%s' is unknown; set TERM, or use -1\n",
			program_invocation_short_name, type ? type : "");
		return false;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	use_colours();
	fflush(stderr);
	term.stderr_before = stderr;
	collect_messages();
	return true;
}

/**
 * term_end - give the terminal back
 * @status: exit status of the program
 *
 * If a signal ended the program, it ends here, by that signal.
 *
 * Return: @status, or EXIT_CANNOT if the terminal is gone.
 */
int term_end(int status)
{
	endwin();
	delscreen(term.screen);
	stderr = term.stderr_before;
	if (term.said)
		fclose(term.said);
	free(term.said_text);
	if (end_signal) {
		signal(end_signal, SIG_DFL);
		raise(end_signal);
	}
	sigprocmask(SIG_SETMASK, &term.before, NULL);
	return term.gone ? EXIT_CANNOT : status;
}

/**
 * term_over - find whether the program must end
 *
 * Return: true after a signal, or if the terminal is gone.
 */
bool term_over(void)
{
	return end_signal || term.gone;
}

/**
 * term_key - wait for a key
 * @timeout: in milliseconds
 *
 * Return: the key, KEY_RETURN for any kind of it; ERR if there was none, and KEY_RESIZE if
 * the window must be drawn again.
 */
int term_key(int timeout)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	const struct timespec ts = { timeout / 1000, timeout % 1000 * 1000000L };
	int key = read_key();

	if (key != ERR || term_over())
		return key;
	if (ppoll(&fd, 1, timeout < 0 ? NULL : &ts, &term.before) > 0 &&
	    (fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
		term.gone = true;
	if (continued) {
		redraw_all();
		return KEY_RESIZE;
	}
	key = term_over() ? ERR : read_key();
	term.empty_reads = key == ERR && fd.revents ? term.empty_reads + 1 : 0;
	term.gone |= term.empty_reads > EMPTY_READS_MAX;
	return key;
}

/**
 * term_put - write a line, cut to the width of the terminal
 * @y: its number
 * @text: the text, made safe
 * @style: how it looks
 */
void term_put(int y, const char *text, enum term_style style)
{
	char copy[LINE_SIZE];

	if (y < 0 || y >= LINES || COLS < 2)
		return;
	snprintf(copy, sizeof(copy), "%s", text);
	cut_end(copy, COLS);
	mvaddstr(y, 0, copy);
	if (style == STYLE_HEADING || style == STYLE_CURSOR)
		term_mark(y, 0, COLS, style);
	else if (style != STYLE_PLAIN)
		term_mark(y, 0, text_width(copy), style);
}

/**
 * term_mark - change how a part of a line looks
 * @y: the line
 * @from: first character
 * @length: number of characters
 * @style: how they look
 */
void term_mark(int y, size_t from, size_t length, enum term_style style)
{
	short pair = term.colours && style >= STYLE_GREW ? (short)style : 0;

	mvchgat(y, from, length, attributes(style), pair, NULL);
}

/**
 * term_message - write a message at the bottom, in as many lines as it needs
 * @text: the message, made safe
 */
void term_message(const char *text)
{
	char lines[8][LINE_SIZE];
	int nr = 0, i;
	size_t len;

	for (; *text && nr < (int)ARRAY_SIZE(lines); text += len) {
		text += strspn(text, " ");
		len = wrap(text, COLS);
		snprintf(lines[nr++], LINE_SIZE, "%.*s", (int)len, text);
	}
	for (i = 0; i < nr; i++) {
		move(LINES - nr + i, 0);
		clrtoeol();
		term_put(LINES - nr + i, lines[i], STYLE_MESSAGE);
	}
}

static void put_question(const char *question, const char *answer)
{
	char text[LINE_SIZE];
	size_t width = text_width(question), room = COLS > 1 ? COLS - 1 : 1;

	snprintf(text, sizeof(text), "%s", answer);
	cut_name(text, room > width ? room - width : 0);
	move(LINES - 1, 0);
	clrtoeol();
	addstr(question);
	attron(A_BOLD);
	addstr(text);
	attroff(A_BOLD);
}

/* Returns false when the answer is complete. */
static bool edit(char *answer, size_t size, int key)
{
	size_t len = strlen(answer);

	if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		if (len)
			answer[len - 1] = '\0';
	} else if (key == ('U' & 0x1f)) {
		*answer = '\0';
	} else if (key >= ' ' && key < 127 && len + 1 < size) {
		answer[len] = key;
		answer[len + 1] = '\0';
	}
	return key != KEY_RETURN && key != KEY_ESCAPE;
}

/**
 * term_ask - ask for a text in the last line
 * @question: the question
 * @answer: text to begin with; receives the answer
 * @size: size of @answer
 * @draw: draws the window above the question
 * @data: passed to @draw
 *
 * Return: false if the user pressed Escape.
 */
bool term_ask(const char *question, char *answer, size_t size, draw_fn *draw, void *data)
{
	int key = KEY_RESIZE;

	curs_set(1);
	do {
		if (key == KEY_RESIZE)
			draw(data);
		put_question(question, answer);
		refresh();
		key = term_key(-1);
	} while (!term_over() && edit(answer, size, key));
	curs_set(0);
	return key == KEY_RETURN && !term_over();
}

/* A name that nobody uses; if somebody takes it now, creating the file fails. */
static void file_name(char *name, size_t size)
{
	unsigned int i;

	for (i = 1; i < FILES_MAX; i++) {
		snprintf(name, size, "alloctop-%u.json", i);
		if (faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW))
			return;
	}
}

/**
 * term_write - write a file of JSON
 * @write: writes it
 * @data: passed to @write
 * @message: receives the name of the file, MESSAGE_SIZE bytes; if the file could not be
 *	written, term_said() has the reason
 */
void term_write(write_fn *write, const void *data, char *message)
{
	char name[32];
	FILE *out;

	file_name(name, sizeof(name));
	out = outfile_stream(name, false);
	if (!out)
		return;
	write(data, out);
	if (outfile_close(out, name, true))
		snprintf(message, MESSAGE_SIZE, "written to %s", name);
}

/**
 * term_said - take the last message of the program
 * @message: receives it, MESSAGE_SIZE bytes
 *
 * Return: false if there is none; then @message stays as it is.
 */
bool term_said(char *message)
{
	const char *begin;
	char *end;

	if (!term.said || fflush(term.said) || !term.said_size)
		return false;
	end = term.said_text + term.said_size;
	while (end > term.said_text && end[-1] == '\n')
		*--end = '\0';
	begin = strrchr(term.said_text, '\n');
	snprintf(message, MESSAGE_SIZE, "%s", begin ? begin + 1 : term.said_text);
	clean_name(message);
	fclose(term.said);
	collect_messages();
	return true;
}

/**
 * term_now - read a clock that never jumps
 *
 * Return: the time in milliseconds.
 */
long term_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}
