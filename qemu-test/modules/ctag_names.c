// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines whose file and function names are too long for a record of /proc/allocinfo.
 * Two functions differ only in the part that does not fit; the third one also differs in
 * its last letter. Each holds 64 bytes while the module is loaded.
 */
#include <linux/module.h>
#include <linux/slab.h>

#define TAIL	_of_which_the_last_sixty_three_letters_are_in_a_record_of_allocinfo
#define PASTE(a, b)	a##b
#define NAME(a, b)	PASTE(a, b)

static void *held[3];

#line 1000 "a/folder/with/many/levels/and/long/names/until/the/path/does/not/fit/in/a/record/ctag_names.c"
static noinline void NAME(first, TAIL)(void)
{
	held[0] = kmalloc(64, GFP_KERNEL);
}

static noinline void NAME(second, TAIL)(void)
{
	held[1] = kmalloc(64, GFP_KERNEL);
}

static noinline void NAME(NAME(first, TAIL), _)(void)
{
	held[2] = kmalloc(64, GFP_KERNEL);
}

static int __init ctag_names_init(void)
{
	NAME(first, TAIL)();
	NAME(second, TAIL)();
	NAME(NAME(first, TAIL), _)();
	return 0;
}

static void __exit ctag_names_exit(void)
{
	kfree(held[0]);
	kfree(held[1]);
	kfree(held[2]);
}

module_init(ctag_names_init);
module_exit(ctag_names_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Names that do not fit in a record");
