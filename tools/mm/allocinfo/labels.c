// SPDX-License-Identifier: GPL-2.0-only
/*
 * Labels of metrics, see labels.h.
 */
#include <string.h>

#include "labels.h"

/**
 * label_put - write a label
 * @out: output file
 * @name: name of the label
 * @value: its value, valid UTF-8
 * @first: it is the first label of its metric, so no comma precedes it
 */
void label_put(FILE *out, const char *name, const char *value, bool first)
{
	fprintf(out, "%s%s=\"", first ? "" : ",", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\' || *value == '\n')
			fputc('\\', out);
		fputc(*value == '\n' ? 'n' : *value, out);
	}
	fputc('"', out);
}

/**
 * label_take - read a label that label_put() wrote
 * @at: the label, without the comma; changed in place
 * @name: name that the label must have
 * @value: set to the value, in the memory of the label
 *
 * Return: what follows the label, or NULL if there is no such label.
 */
char *label_take(char *at, const char *name, char **value)
{
	size_t len = strlen(name);
	char *to;

	if (strncmp(at, name, len) || strncmp(at + len, "=\"", 2))
		return NULL;
	at += len + 2;
	*value = to = at;
	while (*at && *at != '"') {
		if (*at == '\\') {
			at++;
			if (!*at || !strchr("\"\\n", *at))
				return NULL;
			*to++ = *at == 'n' ? '\n' : *at;
		} else {
			*to++ = *at;
		}
		at++;
	}
	if (!*at)
		return NULL;
	*to = '\0';
	return at + 1;
}
