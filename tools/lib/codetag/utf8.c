// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names made safe for a terminal, JSON, CSV and folded stacks, see utf8.h.
 *
 * Terminals obey the control characters of ASCII, and many also obey U+0080 to U+009F:
 * U+009B does the same as ESC [. A byte that is not valid UTF-8 may be such a control
 * character to a terminal with another encoding, and JSON does not allow it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utf8.h"

/*
 * Returns the length of the character at @s, which ends with a zero byte; 0 if the
 * bytes are not valid UTF-8. For some first bytes the range of the second byte is
 * smaller: this excludes overlong forms, halves of UTF-16 pairs and characters above
 * U+10FFFF.
 */
static size_t utf8_size(const uint8_t *s)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t size, i;

	if (*s < 0x80)
		return 1;
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	size = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	if (*s == 0xe0)
		low = 0xa0;
	else if (*s == 0xed)
		high = 0x9f;
	else if (*s == 0xf0)
		low = 0x90;
	else if (*s == 0xf4)
		high = 0x8f;
	for (i = 1; i < size; i++, low = 0x80, high = 0xbf) {
		if (s[i] < low || s[i] > high)
			return 0;
	}
	return size;
}

static bool is_control(const uint8_t *s)
{
	return *s < ' ' || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

/**
 * clean_name - remove control characters and invalid UTF-8 from a name
 * @name: the name; changed in place, may become shorter
 *
 * Each control character and each byte of invalid UTF-8 becomes one '?'.
 */
void clean_name(char *name)
{
	uint8_t *from = (uint8_t *)name, *to = from;
	size_t size;

	while (*from) {
		size = utf8_size(from);
		if (!size || is_control(from)) {
			*to++ = '?';
			from += size ? size : 1;
			continue;
		}
		while (size--)
			*to++ = *from++;
	}
	*to = '\0';
}

/**
 * put_quoted - write a text as a JSON string
 * @out: output file
 * @text: any bytes; each byte of invalid UTF-8 becomes U+FFFD
 *
 * JSON allows the control characters U+007F to U+009F, but terminals obey them, so they
 * are escaped like those below the space.
 */
void put_quoted(FILE *out, const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t size;

	fputc('"', out);
	for (; *s; s += size ? size : 1) {
		size = utf8_size(s);
		if (!size)
			fputs("\\ufffd", out);
		else if (is_control(s))
			fprintf(out, "\\u%04x", size == 2 ? s[1] : s[0]);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fwrite(s, 1, size, out);
	}
	fputc('"', out);
}

/**
 * put_csv - write a text as a field of CSV, as in RFC 4180
 * @out: output file
 * @text: the text; it is quoted if necessary, with quotes in it doubled
 */
void put_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/**
 * put_frame - write a frame of a folded stack
 * @out: output file
 * @text: the frame; semicolons, which separate frames, and spaces, which precede the
 *	weight, become underscores
 */
void put_frame(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' || *text == ' ' ? '_' : *text, out);
}
