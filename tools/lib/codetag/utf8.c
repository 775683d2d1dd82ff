// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names made fit for a terminal, see utf8.h.
 *
 * Terminals obey the controls of ASCII, and many obey those behind ASCII, too: U+009B
 * is as good as ESC [. What is no valid UTF-8 may be such a byte to a terminal that
 * has another encoding, and has no place in JSON either.
 */
#include <stddef.h>
#include <stdint.h>

#include "utf8.h"

/*
 * How long the character is that begins at @s, which ends with a zero; 0: it is not
 * valid. What the first byte says also limits the second one: so there is only one
 * way to write a character, no half of a UTF-16 pair, and nothing over U+10FFFF.
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

static int is_control(const uint8_t *s)
{
	return *s < ' ' || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

/**
 * clean_name - have no controls in a name, and only valid UTF-8
 * @s: the name; is changed in place, and may become shorter
 *
 * Each control character, and each byte that is part of no valid character, becomes
 * one '?'.
 */
void clean_name(char *s)
{
	uint8_t *from = (uint8_t *)s, *to = from;
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
