/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of a trace, in the byte order of the machine that recorded it.
 */
#ifndef _KMEMTRACE_TRACE_ORDER_H
#define _KMEMTRACE_TRACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool native_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static inline uint16_t load16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

#endif /* _KMEMTRACE_TRACE_ORDER_H */
