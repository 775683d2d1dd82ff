/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error codes that name the line they come from. See lib/error_codes.c.
 *
 * Include <linux/errname.h> instead of this header, and only in C files: some
 * drivers have an ERR() of their own.
 */
#ifndef _LINUX_ERROR_CODES_H
#define _LINUX_ERROR_CODES_H

#include <linux/error_class.h>

#ifdef CONFIG_ERROR_CODES

#include <linux/build_bug.h>
#include <linux/codetag.h>
#include <linux/stringify.h>

/**
 * struct error_code - a line that returns an error
 * @ct: its place in the source; the index determines the code, 0 means none
 * @name: the error and the line as text
 * @class: the error
 */
struct error_code {
	struct codetag ct;
	const char *name;
	s16 class;
};

int error_code(const struct error_code *code);

/**
 * ERR - make an error that names the line it comes from
 * @_err: a negative error, a constant
 *
 * The value is a code for @_err on this line: error_class() returns @_err,
 * errname() and %pe show @_err and the line. Callers that check only the sign
 * or IS_ERR() need no change; callers that compare the error must use
 * error_class().
 *
 * If the numbers have run out, the value is @_err.
 *
 * Context: any.
 */
#define ERR(_err)							\
({									\
	static struct error_code __used __aligned(8)			\
	__section("error_codes") _error_code = {			\
		.ct	= CODETAG_INIT,					\
		.name	= #_err " at " __FILE__ ":"			\
			  __stringify(__LINE__),			\
		.class	= (_err),					\
	};								\
									\
	BUILD_BUG_ON(!__builtin_constant_p(_err) || (_err) >= 0 ||	\
		     (_err) < -ERROR_CLASS_MAX);			\
	error_code(&_error_code);					\
})

/* Format and argument for an error in a message; shows its line if known. */
#define ERR_FMT		"%pe"
#define ERR_ARG(_err)	ERR_PTR(_err)

#else /* CONFIG_ERROR_CODES */

#define ERR(_err)	(_err)
#define ERR_FMT		"%d"
#define ERR_ARG(_err)	(_err)

#endif /* CONFIG_ERROR_CODES */

#endif /* _LINUX_ERROR_CODES_H */
