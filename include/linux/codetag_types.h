/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The definition of a code tag alone, for headers that cannot include
 * linux/codetag.h because it includes them.
 */
#ifndef _LINUX_CODETAG_TYPES_H
#define _LINUX_CODETAG_TYPES_H

#include <linux/types.h>

/**
 * struct codetag - a place in the source
 * @filename: name of the source file, as the compiler got it. KBUILD_MODNAME
 *	follows its zero byte, see codetag_kbuild_modname().
 * @function: the function that the tag is in
 * @lineno: line in @filename
 * @index: number of the tag within its type, 0 while it has none
 * @flags: for the user of the type
 *
 * This is the first member of every record of every type.
 */
struct codetag {
	const char *filename;
	const char *function;
	unsigned int lineno;
	u16 index;
	u16 flags;
};

/*
 * For a tag that is defined outside the function it stands for, or that sets
 * other members. One string holds the names of the file and of the module, so
 * that the module's name costs no pointer in each tag.
 */
#define CODETAG_INIT_FOR(_function, ...) {				\
	.filename	= __FILE__ "\0" KBUILD_MODNAME,			\
	.function	= _function,					\
	.lineno		= __LINE__,					\
	__VA_ARGS__							\
}

#define CODETAG_INIT	CODETAG_INIT_FOR(__func__)

#endif /* _LINUX_CODETAG_TYPES_H */
