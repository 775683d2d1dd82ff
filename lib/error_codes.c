// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error codes that name the line they come from.
 *
 * Each ERR() is a code tag with a number. Its value is an error code made from
 * that number, above all errors of the kernel and below MAX_ERRNO, so IS_ERR()
 * and tests of the sign treat it as an error. A table has the meaning of each
 * number: a name and an error. A number gets its meaning when ERR() first
 * returns it and keeps it until reboot. So the holder of a code can look it up
 * at any time and in any context, and never gets the meaning of another line.
 *
 * Therefore the codetag library does not number these tags: it would keep all
 * numbers of a module because of one that is in use. When a module is unloaded,
 * the numbers that it never returned become free. The others wait for a line
 * with the same name and error, which comes when the same module is loaded
 * again. So repeated loads of a module use up its numbers only once. The names
 * of a module's lines are copied when it is loaded: the table never refers to
 * memory of a module. Without a free number, or without memory, ERR() returns
 * the error it was given. The log then shows how many lines of the kernel
 * or of the module have no number.
 *
 * The table grows by chunks, which are never freed. A chunk exists before a tag
 * gets a number in it, and readers start from the number.
 *
 * Numbers are written and read without a lock. The first return of a code
 * publishes its class with a release, after its name: a reader that sees the
 * class also sees the name. Every return orders the code after the class. So a
 * caller that received the code finds its class: the address of the class
 * depends on the code, which orders the load of the class after the code.
 *
 * Numbers are assigned and taken back with the type's lock held for writing.
 */
#define pr_fmt(fmt) "error_codes: " fmt

#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/codetag.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/error_codes.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/thread_info.h>

#include <asm/syscall.h>

/* Data */

extern struct error_code __start_error_codes[], __stop_error_codes[];

/* The codes are above all errors of the kernel, including the restart codes. */
static_assert(ERROR_CODE_FIRST > ERECALLCONFLICT);
/* Code that stores an error in a short keeps working. */
static_assert(MAX_ERRNO <= S16_MAX);
static_assert(NR_ERROR_CODES <= CODETAG_INDEX_MAX);
static_assert(IS_ALIGNED(sizeof(struct error_code), __alignof__(struct codetag)));

/**
 * struct error_meaning - the meaning of a code
 * @name: the error and the line as text
 * @class: the error; 0 until ERR() first returns the code
 */
struct error_meaning {
	const char *name;
	s16 class;
};

/* Meanings by number - 1, that is, by code - ERROR_CODE_FIRST. */
#define ERROR_CHUNK	256
static struct error_meaning *error_chunks[DIV_ROUND_UP(NR_ERROR_CODES, ERROR_CHUNK)];

/* Numbers in use, and those among them that unloaded modules have left. */
static DECLARE_BITMAP(error_codes_given, NR_ERROR_CODES);
static DECLARE_BITMAP(error_codes_left, NR_ERROR_CODES);

static int error_codes_load(struct codetag_type *type,
			    struct codetag_range *range);
static void error_codes_unload(struct codetag_type *type,
			       struct codetag_range *range);

static struct codetag_type error_code_type = {
	.section	= "error_codes",
	.tag_size	= sizeof(struct error_code),
	.module_load	= error_codes_load,
	.module_unload	= error_codes_unload,
};

static struct codetag_range error_code_kernel;

/* Internals: numbers */

static struct error_code *error_code_of_range(struct codetag_type *type,
					      struct codetag_range *range,
					      unsigned int i)
{
	return container_of(codetag_of_range(type, range, i),
			    struct error_code, ct);
}

/* Get the meaning of number @i + 1, or NULL if there is no chunk for it. */
static struct error_meaning *error_meaning(unsigned int i)
{
	struct error_meaning *chunk = READ_ONCE(error_chunks[i / ERROR_CHUNK]);

	return chunk ? &chunk[i % ERROR_CHUNK] : NULL;
}

static struct error_meaning *error_meaning_make(unsigned int i)
{
	struct error_meaning **chunk = &error_chunks[i / ERROR_CHUNK];
	struct error_meaning *new;

	if (!*chunk) {
		new = kcalloc(ERROR_CHUNK, sizeof(*new), GFP_KERNEL);
		/* Pairs with the dependency in error_meaning(). */
		smp_store_release(chunk, new);
	}
	return error_meaning(i);
}

/* Find a number that an unloaded line of the same name and error has left. */
static unsigned int error_code_find_left(const struct error_code *code)
{
	const struct error_meaning *m;
	unsigned int i;

	for_each_set_bit(i, error_codes_left, NR_ERROR_CODES) {
		m = error_meaning(i);
		if (m->class == code->class && !strcmp(m->name, code->name))
			break;
	}
	return i;
}

/* Get a number for a tag, from 1, or 0 if there is none. */
static unsigned int error_code_give(const struct error_code *code)
{
	unsigned int i = error_code_find_left(code);
	struct error_meaning *m;
	const char *name;

	if (i < NR_ERROR_CODES) {
		__clear_bit(i, error_codes_left);
		return i + 1;
	}

	i = find_first_zero_bit(error_codes_given, NR_ERROR_CODES);
	if (i >= NR_ERROR_CODES)
		return 0;
	m = error_meaning_make(i);
	if (!m)
		return 0;
	/* Names in vmlinux are not copied. */
	name = kstrdup_const(code->name, GFP_KERNEL);
	if (!name)
		return 0;
	m->name = name;
	__set_bit(i, error_codes_given);
	return i + 1;
}

static void error_code_take_back(const struct error_code *code)
{
	unsigned int i = code->ct.index - 1;
	struct error_meaning *m = error_meaning(i);

	if (m->class) {
		__set_bit(i, error_codes_left);
		return;
	}
	__clear_bit(i, error_codes_given);
	kfree_const(m->name);
	m->name = NULL;
}

/*
 * Number the lines of the kernel, in the order of linking, or of a module.
 * Never fails: a line without a number returns its error.
 */
static int error_codes_load(struct codetag_type *type,
			    struct codetag_range *range)
{
	struct error_code *code;
	unsigned int i, index, without = 0;

	lockdep_assert_held_write(&type->lock);

	for (i = 0; i < range->nr; i++) {
		code = error_code_of_range(type, range, i);
		index = error_code_give(code);
		without += !index;
		/* Pairs with the dependency in error_code(). */
		smp_store_release(&code->ct.index, index);
	}
	if (without)
		pr_notice("%s: no numbers for %u of %u lines, their errors will not name them\n",
			  range->modname ?: "kernel", without, range->nr);
	return 0;
}

/* None of the module's code runs any more, so it returns no further codes. */
static void error_codes_unload(struct codetag_type *type,
			       struct codetag_range *range)
{
	struct error_code *code;
	unsigned int i;

	lockdep_assert_held_write(&type->lock);

	for (i = 0; i < range->nr; i++) {
		code = error_code_of_range(type, range, i);
		if (code->ct.index)
			error_code_take_back(code);
		code->ct.index = 0;
	}
}

/* Internals: meanings */

/* Get the meaning of a number that passed error_code_possible(), or NULL. */
static const struct error_meaning *error_code_meaning(long err)
{
	const struct error_meaning *m = error_meaning(-err - ERROR_CODE_FIRST);

	/* Pairs with the release in error_code(): a class implies a name. */
	return m && smp_load_acquire(&m->class) ? m : NULL;
}

/*
 * Does a code reach user space in this register? A value that looks like a code
 * is not a code if a tracer or a seccomp filter chose it and skipped the system
 * call, or if rt_sigreturn() restored it. In both cases the number of the
 * system call is -1.
 */
static bool __maybe_unused error_code_leaks(struct pt_regs *regs)
{
	return error_is_code(syscall_get_return_value(current, regs)) &&
	       syscall_get_nr(current, regs) >= 0 &&
	       !test_syscall_work(SYSCALL_AS_IS);
}

/* Interface */

/**
 * error_code - get the value of an ERR()
 * @code: its tag
 *
 * Context: any.
 * Return: the code of the line, or its error if it has no code.
 */
int error_code(const struct error_code *code)
{
	unsigned int index = READ_ONCE(code->ct.index);
	struct error_meaning *m;

	if (unlikely(!index))
		return code->class;

	m = error_meaning(index - 1);
	/* Orders the class before the caller's use of the code, see the top. */
	if (!smp_load_acquire(&m->class)) {
		/* Pairs with the acquire in error_code_meaning(). */
		smp_store_release(&m->class, code->class);
		/* Likewise, for a class that was just written. */
		smp_wmb();
	}
	return -(int)(index - 1 + ERROR_CODE_FIRST);
}
EXPORT_SYMBOL_GPL(error_code);

/**
 * error_code_class - slow path of error_class()
 * @err: a number that passed error_code_possible()
 *
 * It is exported to modules of any license, because linux/pagemap.h uses it
 * inline.
 *
 * Context: any.
 * Return: the error that @err stands for, or @err if it is not a code.
 */
long error_code_class(long err)
{
	const struct error_meaning *m = error_code_meaning(err);

	return m ? m->class : err;
}
EXPORT_SYMBOL(error_code_class);

/**
 * error_code_name - get the name of a code
 * @err: any integer; its sign is ignored, as in errname()
 *
 * Context: any.
 * Return: the name, which is never freed, or NULL if @err is not a code.
 */
const char *error_code_name(long err)
{
	const struct error_meaning *m;

	if (err > 0)
		err = -err;
	if (!error_code_possible(err))
		return NULL;
	m = error_code_meaning(err);
	return m ? m->name : NULL;
}

/**
 * error_code_syscall - slow path of syscall_error_class()
 * @regs: registers of the task
 * @ret: a number that passed error_code_possible()
 *
 * Not every number that looks like a code is one. A system call whose value is
 * not an error calls force_successful_syscall_return(). rt_sigreturn() returns
 * the value that the register had when the signal came, which can be any
 * number, and sets the number of the system call to -1. A new task does not get
 * here from clone(), and the errors that restart a system call are not codes.
 *
 * Context: the current task, in a system call.
 * Return: the error that @ret stands for, or @ret.
 */
long error_code_syscall(struct pt_regs *regs, long ret)
{
	if (syscall_get_nr(current, regs) < 0 ||
	    test_syscall_work(SYSCALL_AS_IS))
		return ret;
	return error_code_class(ret);
}

#ifdef CONFIG_ERROR_CODES_DEBUG
/**
 * error_codes_check_exit - warn about a code that is returned to user space
 * @regs: registers of the task, before a tracer can change them
 *
 * The warning names the line. It is printed once per boot. The value is not
 * changed.
 *
 * Context: the current task, at the end of a system call.
 */
void error_codes_check_exit(struct pt_regs *regs)
{
	WARN_ONCE(error_code_leaks(regs), "system call %d returns %pe",
		  syscall_get_nr(current, regs),
		  ERR_PTR(syscall_get_return_value(current, regs)));
}
#endif

/* Init */

static int __init error_codes_init(void)
{
	codetag_register_type(&error_code_type, &error_code_kernel,
			      __start_error_codes, __stop_error_codes);

	down_write(&error_code_type.lock);
	error_codes_load(&error_code_type, &error_code_kernel);
	up_write(&error_code_type.lock);
	return 0;
}
early_initcall(error_codes_init);

#ifdef CONFIG_ERROR_CODES_KUNIT_TEST
#include "error_codes_kunit.c"
#endif
