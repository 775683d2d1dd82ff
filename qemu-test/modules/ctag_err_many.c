// SPDX-License-Identifier: GPL-2.0-only
/*
 * 4,096 places with an ERR(), more than there are numbers below 4095. When loaded, each
 * place returns its code. The load fails unless all codes differ, are errors for IS_ERR(),
 * and stand for -EXFULL.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/errname.h>
#include <linux/module.h>

#define NR_LINES	4096

/* Each is a place of its own, although all are on one line of the file. */
#define PLACE		*at++ = ERR(-EXFULL);
#define PLACES_4	PLACE PLACE PLACE PLACE
#define PLACES_16	PLACES_4 PLACES_4 PLACES_4 PLACES_4
#define PLACES_64	PLACES_16 PLACES_16 PLACES_16 PLACES_16

#define FUNCTION(_n)							\
static noinline int *__init places_##_n(int *at)			\
{									\
	PLACES_64 PLACES_64 PLACES_64 PLACES_64				\
	return at;							\
}

FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3)
FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11)
FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)

static int *(*const functions[])(int *) __initconst = {
	places_0, places_1, places_2, places_3, places_4, places_5, places_6, places_7,
	places_8, places_9, places_10, places_11, places_12, places_13, places_14, places_15,
};

static int __initdata codes[NR_LINES];
static DECLARE_BITMAP(seen, NR_ERROR_CODES) __initdata;

static int __init err_many_init(void)
{
	int *at = codes;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		at = functions[i](at);
	if (at != codes + NR_LINES)
		return -EBADE;
	for (i = 0; i < NR_LINES; i++) {
		if (!error_is_code(codes[i]) || !IS_ERR(ERR_PTR(codes[i])) ||
		    error_class(codes[i]) != -EXFULL)
			return -EBADR;
		if (__test_and_set_bit(-codes[i] - ERROR_CODE_FIRST, seen))
			return -EBADRQC;
	}
	pr_info("%u codes, from %d to %d\n", NR_LINES, codes[0], codes[NR_LINES - 1]);
	return 0;
}
module_init(err_many_init);

static void __exit err_many_exit(void)
{
}
module_exit(err_many_exit);

MODULE_DESCRIPTION("Thousands of lines with error codes");
MODULE_LICENSE("GPL");
