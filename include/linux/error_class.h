/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a code of ERR() stands for, and how it is kept from user space: for code that
 * compares errors or returns them to user space. Code that creates error codes includes
 * errname.h. See lib/error_codes.c.
 */
#ifndef _LINUX_ERROR_CLASS_H
#define _LINUX_ERROR_CLASS_H

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/types.h>

struct pt_regs;

/* The largest error that ERR() takes. */
#define ERROR_CLASS_MAX		1023

/*
 * Where there is room, codes begin above MAX_USER_ERRNO, so that no error which
 * user space chose looks like one, and above the errors of NFSv4, which its client
 * passes on as negative numbers (10001 to 10103, and 12001 and 12002 of its own). The
 * last two numbers are ext4's and MAX_ERRNO.
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

/* One compare; what passes it may be a code, or mean something else. */
static __always_inline bool error_code_possible(long err)
{
	return (unsigned long)err + ERROR_CODE_LAST < NR_ERROR_CODES;
}

static __always_inline long __error_class(long err)
{
	return unlikely(error_code_possible(err)) ? error_code_class(err) : err;
}

/**
 * error_class - the error that a code of ERR() stands for
 * @_err: any integer
 *
 * Use it before an error is compared with -EINVAL and the like, and before user space
 * sees it.
 *
 * Context: any.
 * Return: the error that was given to ERR(), or @_err itself when that is no
 * code of ERR(); of the type of @_err.
 */
#define error_class(_err)	((typeof(_err))__error_class(_err))

/**
 * error_is_code - did ERR() return this?
 * @err: any integer
 *
 * Context: any.
 * Return: whether error_class() would change @err.
 */
static inline bool error_is_code(long err)
{
	return __error_class(err) != err;
}

/**
 * syscall_error_class - what a system call returns to user space
 * @regs: registers of the task, as the system call left them
 * @ret: what its function returned
 *
 * For an architecture, between the two; not for values that somebody else puts
 * into the register, as seccomp and tracers do: these are what they are.
 *
 * Context: the current task's, in a system call.
 */
static __always_inline long syscall_error_class(struct pt_regs *regs, long ret)
{
	return unlikely(error_code_possible(ret)) ?
	       error_code_syscall(regs, ret) : ret;
}

/*
 * The value of this system call is what it is, even where it looks like a code:
 * until syscall_return_done(), which the architecture's exit calls.
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
