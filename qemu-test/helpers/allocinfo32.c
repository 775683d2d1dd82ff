// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program that writes all records of /proc/allocinfo to standard output.
 *
 * It uses no C library, because the build machine may have none for 32 bit: a compiler
 * and the header are enough. "allocinfo show" prints its output. Exit code 0: all records
 * were written; 1: an error; 2: /proc/allocinfo cannot be opened.
 */
#include "../../include/uapi/linux/alloc_tag.h"

/* the same numbers on i386 and arm */
#define NR_EXIT		1
#define NR_WRITE	4
#define NR_OPEN		5
#define NR_IOCTL	54
#define NO_ENTRY	(-2)

_Static_assert(sizeof(void *) == 4, "a 32-bit program");
_Static_assert(sizeof(struct allocinfo_content_id) == 8, "as for 64 bit");
_Static_assert(sizeof(struct allocinfo_tag) == 200, "as for 64 bit");
_Static_assert(sizeof(struct allocinfo_counter) == 24, "as for 64 bit");
_Static_assert(sizeof(struct allocinfo_tag_data) == 224, "as for 64 bit");
_Static_assert(sizeof(struct allocinfo_filter) == 232, "as for 64 bit");
_Static_assert(sizeof(struct allocinfo_get_at) == 464, "as for 64 bit");
_Static_assert(__builtin_offsetof(struct allocinfo_filter, min_size) == 208, "as for 64 bit");
_Static_assert(__builtin_offsetof(struct allocinfo_get_at, data) == 240, "as for 64 bit");

static long call(long nr, long a, long b, long c)
{
#ifdef __arm__
	register long r7 __asm__("r7") = nr;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;

	__asm__ volatile("svc #0" : "+r" (r0) : "r" (r7), "r" (r1), "r" (r2) : "memory");
	return r0;
#else
	long ret;

	__asm__ volatile("int $0x80" : "=a" (ret)
			 : "a" (nr), "b" (a), "c" (b), "d" (c) : "memory");
	return ret;
#endif
}

static void __attribute__((noreturn)) leave(long code)
{
	for (;;)
		call(NR_EXIT, code, 0, 0);
}

static void put(const struct allocinfo_tag_data *r)
{
	if (call(NR_WRITE, 1, (long)r, sizeof(*r)) != sizeof(*r))
		leave(1);
}

void _start(void);

void _start(void)
{
	static struct allocinfo_content_id before, after;
	static struct allocinfo_tag_data r;
	static struct allocinfo_get_at at;
	long err, fd = call(NR_OPEN, (long)"/proc/allocinfo", 0, 0);

	if (fd < 0)
		leave(2);
	if (call(NR_IOCTL, fd, (long)ALLOCINFO_IOC_CONTENT_ID, (long)&before))
		leave(1);
	err = call(NR_IOCTL, fd, (long)ALLOCINFO_IOC_GET_AT, (long)&at);
	if (!err)
		put(&at.data);
	while (!err) {
		err = call(NR_IOCTL, fd, (long)ALLOCINFO_IOC_GET_NEXT, (long)&r);
		if (!err)
			put(&r);
	}
	if (call(NR_IOCTL, fd, (long)ALLOCINFO_IOC_CONTENT_ID, (long)&after))
		leave(1);
	leave(err != NO_ENTRY || before.id != after.id);
}
