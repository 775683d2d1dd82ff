/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translate codes of ERR() back to errors. For code that compares errors or
 * returns them to user space. Code that creates error codes includes
 * linux/errname.h. See lib/error_codes.c.
 */
#ifndef _LINUX_ERROR_CLASS_H
#define _LINUX_ERROR_CLASS_H

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/types.h>

struct pt_regs;

/* The largest error that ERR() accepts. */
#define ERROR_CLASS_MAX		1023

/*
 * With CONFIG_WIDE_ERRNO, codes begin above MAX_USER_ERRNO, so that no error
 * that user space chooses looks like a code. They also begin above the errors
 * that the NFSv4 client passes on as negative numbers: 10001 to 10103 of the
 * protocol, and 12001 and 12002 of the client itself. The last two numbers are
 * not codes: ext4 uses one, and the other is MAX_ERRNO.
 */
#ifdef CONFIG_WIDE_ERRNO
#define ERROR_CODE_FIRST	12288
#else
#define ERROR_CODE_FIRST	(ERROR_CLASS_MAX + 1)
#endif
#define ERROR_CODE_LAST		(MAX_ERRNO - 2)
#define NR_ERROR_CODES		(ERROR_CODE_LAST - ERROR_CODE_FIRST + 1)

#ifdef CONFIG_ERROR_CODES

#include <linux/thread_info.h>

long error_code_class(long err);
const char *error_code_name(long err);
long error_code_syscall(struct pt_regs *regs, long ret);

/* One comparison. A number that passes may be a code or something else. */
static __always_inline bool error_code_possible(long err)
{
	return (unsigned long)err + ERROR_CODE_LAST < NR_ERROR_CODES;
}

static __always_inline long __error_class(long err)
{
	return unlikely(error_code_possible(err)) ? error_code_class(err) : err;
}

/**
 * error_class - get the error that a code of ERR() stands for
 * @_err: any integer
 *
 * Use this before an error is compared with -EINVAL and the like, and before
 * user space sees it.
 *
 * Context: any.
 * Return: the error that was passed to ERR(), or @_err if it is not a code. The
 * type is that of @_err.
 */
#define error_class(_err)	((typeof(_err))__error_class(_err))

/**
 * error_is_code - did ERR() return this?
 * @err: any integer
 *
 * Context: any.
 * Return: true if @err is a code that ERR() has returned.
 */
static inline bool error_is_code(long err)
{
	return __error_class(err) != err;
}

/**
 * syscall_error_class - translate the return value of a system call
 * @regs: registers of the task, as the system call left them
 * @ret: return value of the system call's function
 *
 * An architecture calls this between that function and user space. Values that
 * seccomp or a tracer puts into the register must not be translated.
 *
 * Context: the current task, in a system call.
 * Return: the error that @ret stands for if it is a code, else @ret.
 */
static __always_inline long syscall_error_class(struct pt_regs *regs, long ret)
{
	return unlikely(error_code_possible(ret)) ?
	       error_code_syscall(regs, ret) : ret;
}

/*
 * After syscall_return_as_is(), the value of this system call is not
 * translated, even if it looks like a code. At the end of the system call, the
 * architecture calls syscall_return_done(), so that the next one is translated.
 */
#define syscall_return_as_is()	set_syscall_work(SYSCALL_AS_IS)
#define syscall_return_done()	clear_syscall_work(SYSCALL_AS_IS)

#else /* CONFIG_ERROR_CODES */

#define error_class(_err)	(_err)
#define syscall_return_as_is()	do { } while (0)
#define syscall_return_done()	do { } while (0)

static inline const char *error_code_name(long err)
{
	return NULL;
}

static inline bool error_is_code(long err)
{
	return false;
}

static __always_inline long syscall_error_class(struct pt_regs *regs, long ret)
{
	return ret;
}

#endif /* CONFIG_ERROR_CODES */

#ifdef CONFIG_ERROR_CODES_DEBUG
void error_codes_check_exit(struct pt_regs *regs);
#else
static inline void error_codes_check_exit(struct pt_regs *regs) { }
#endif

#endif /* _LINUX_ERROR_CLASS_H */
