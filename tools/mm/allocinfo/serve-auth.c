// SPDX-License-Identifier: GPL-2.0-only
/*
 * Secrets of the daemon: files that only their owner can read, and passwords.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve.h"

/* Data */

#define FILE_MAX	(1u << 20)

/**
 * struct auth - users and passwords
 * @text: text of the file, cut into strings
 * @users: pairs of strings in it: user, password
 * @nr: number of pairs
 */
struct auth {
	char *text;
	char *(*users)[2];
	size_t nr;
};

/* Files */

static char *refuse(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path, why);
	return NULL;
}

/* Returns why others could know a secret in this file, or NULL. */
static const char *exposure(const struct stat *st)
{
	if (st->st_mode & 077)
		return "group or others have access to it; it needs mode 0600 or 0400";
	if (st->st_uid && st->st_uid != geteuid())
		return "it belongs to another user";
	return NULL;
}

/* Returns the text, or NULL with errno. */
static char *read_all(int fd)
{
	char *text = need_memory(FILE_MAX + 1, 1);
	size_t size = 0;
	ssize_t got;

	do {
		got = read(fd, text + size, FILE_MAX - size);
		if (got > 0)
			size += got;
	} while (got > 0 && size < FILE_MAX);
	if (!got)
		return text;
	if (got > 0)
		errno = EFBIG;
	free(text);
	return NULL;
}

/**
 * file_read - read a small file
 * @path: the file
 * @secret: refuse a file that other users can read
 *
 * Return: its text, to be freed; NULL after a message.
 */
char *file_read(const char *path, bool secret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *why = NULL;
	char *text = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "not a file";
	else if (secret)
		why = exposure(&st);
	if (!why) {
		text = read_all(fd);
		if (!text)
			why = strerror(errno);
	}
	if (fd >= 0)
		close(fd);
	return why ? refuse(path, why) : text;
}

/* Passwords */

static bool has_control(const char *text)
{
	while (*text && !iscntrl((unsigned char)*text))
		text++;
	return *text;
}

/* Returns NULL, or why the line is wrong. */
static const char *add_user(struct auth *auth, char *line)
{
	char *colon = strchr(line, ':');

	if (!colon || colon == line || !colon[1])
		return "a line is not user:password";
	/* with the CR of a file of Windows, no password would ever be right */
	if (has_control(line))
		return "a line has a control character, perhaps CR";
	*colon = '\0';
	auth->users = need_more(auth->users, auth->nr + 1, sizeof(*auth->users));
	auth->users[auth->nr][0] = line;
	auth->users[auth->nr++][1] = colon + 1;
	return NULL;
}

/**
 * auth_read - read users and passwords
 * @path: the file, with a line "user:password" for each; empty lines and those that begin
 *	with '#' are ignored
 *
 * Return: the users, to be freed by auth_free(); NULL after a message.
 */
struct auth *auth_read(const char *path)
{
	struct auth *auth = need_memory(1, sizeof(*auth));
	char *line, *next, *end;
	const char *why = NULL;

	auth->text = file_read(path, true);
	if (!auth->text) {
		auth_free(auth);
		return NULL;
	}
	for (line = auth->text; *line && !why; line = next) {
		end = strchrnul(line, '\n');
		next = *end ? end + 1 : end;
		*end = '\0';
		if (*line && *line != '#')
			why = add_user(auth, line);
	}
	if (!why && auth->nr)
		return auth;
	refuse(path, why ? why : "it has no user");
	auth_free(auth);
	return NULL;
}

/* The time depends only on what the client sends, not on how much of it is right. */
static unsigned int same(const char *secret, const char *given)
{
	size_t len = strlen(secret), i;
	unsigned char wrong = len != strlen(given);

	for (i = 0; given[i]; i++)
		wrong |= given[i] ^ secret[i % (len + 1)];
	return !wrong;
}

/**
 * auth_allows - check a password
 * @auth: users
 * @user: user
 * @password: password
 *
 * Return: true if the user has this password.
 */
bool auth_allows(const struct auth *auth, const char *user, const char *password)
{
	unsigned int allowed = 0;
	size_t i;

	for (i = 0; i < auth->nr; i++)
		allowed |= same(auth->users[i][0], user) & same(auth->users[i][1], password);
	return allowed;
}

/**
 * auth_free - forget the passwords
 * @auth: users, or NULL
 */
void auth_free(struct auth *auth)
{
	if (!auth)
		return;
	if (auth->text)
		explicit_bzero(auth->text, FILE_MAX);
	free(auth->text);
	free(auth->users);
	free(auth);
}
