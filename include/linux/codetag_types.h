/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a code tag is, for headers that the rest of linux/codetag.h includes.
 */
#ifndef _LINUX_CODETAG_TYPES_H
#define _LINUX_CODETAG_TYPES_H

#include <linux/types.h>

/**
 * struct codetag - a place in the source
 * @filename: as the compiler was given it; behind its zero byte follows the
 *	name of the module, KBUILD_MODNAME, see codetag_kbuild_modname()
 * @function: the function around it
 * @lineno: line in @filename
 * @index: number of the tag within its type, 0 while it has none
 * @flags: for the user of the type
 *
 * The first member of every record that a type puts in its section.
 */
struct codetag {
	const char *filename;
	const char *function;
	unsigned int lineno;
	u16 index;
	u16 flags;
};

/*
 * For a tag outside of the function that it stands for, or with flags. One string
 * holds both names, so that a module name costs no pointer in each tag.
 */
#define CODETAG_INIT_FOR(_function, ...) {				\
	.filename	= __FILE__ "\0" KBUILD_MODNAME,			\
	.function	= _function,					\
	.lineno		= __LINE__,					\
	__VA_ARGS__							\
}

#define CODETAG_INIT	CODETAG_INIT_FOR(__func__)

#endif /* _LINUX_CODETAG_TYPES_H */
