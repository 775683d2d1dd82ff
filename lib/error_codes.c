// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error codes that tell the line they come from.
 *
 * Each ERR() is a code tag with a number, and its value is an error code made of
 * that number, above the errors that the kernel has and below MAX_ERRNO: so it is
 * an error wherever only that is asked. A table says for each number what it
 * stands for. A number has a meaning from the moment that ERR() first returns it,
 * and keeps it until the machine goes down: whoever got hold of it may ask at any
 * time, and in any context, and never gets another line's answer.
 *
 * So the tags are not numbered by the codetag library, which would keep all
 * numbers of a module for the sake of one. When a module goes, the numbers that
 * it never returned are free. Those that it did return wait for a line of the
 * same name and error, which is what they get when that module is loaded again:
 * loading one that fails, however often, takes no more than its lines once.
 * A module's names are copies, made when it is loaded; the table never refers to
 * memory of a module. Where there is no number or no memory left, ERR() is the
 * error that it was given, and the log says how many lines of the kernel or of a
 * module that concerns.
 *
 * The table grows by chunks, which stay. A chunk exists before a tag gets a number in
 * it; readers start from the number.
 *
 * Numbers are written and read without a lock. The first return of a code publishes its
 * class with a release, after its name: a reader that sees the class also sees the name.
 * Every return orders the code after the class, so a caller that received the code finds
 * its class: it looks the table up by the code, and a load whose address depends on the
 * code comes after it.
 *
 * Numbers are given and taken with the type's lock held for writing.
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

/* The codes are above the restart codes and all others that are the kernel's own. */
static_assert(ERROR_CODE_FIRST > ERECALLCONFLICT);
/* What holds an error in a short keeps doing so. */
static_assert(MAX_ERRNO <= S16_MAX);
static_assert(NR_ERROR_CODES <= CODETAG_INDEX_MAX);
static_assert(IS_ALIGNED(sizeof(struct error_code), __alignof__(struct codetag)));

/**
 * struct error_meaning - what a code stands for
 * @name: for people
 * @class: the error; 0 while ERR() has not returned the code
 */
struct error_meaning {
	const char *name;
	s16 class;
};

/* By index of the tag less one, which is by code less the first. */
#define ERROR_CHUNK	256
static struct error_meaning *error_chunks[DIV_ROUND_UP(NR_ERROR_CODES, ERROR_CHUNK)];

/* Given to a tag; and those of them that are left of modules that are gone. */
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

/* The meaning of a number less one, or NULL if there is no chunk for it. */
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

/* A number that is left of a line of this name. */
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

/* A number for a tag, from 1, or 0. */
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
	/* The kernel's own names stay. */
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
 * The lines of the kernel, in the order in which they are linked, or of a module.
 * Never fails: without a number a line returns its error.
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

/* None of the module's code runs any more, so it returns nothing any more. */
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

/* The meaning of what error_code_possible() passed, or NULL. */
static const struct error_meaning *error_code_meaning(long err)
{
	const struct error_meaning *m = error_meaning(-err - ERROR_CODE_FIRST);

	/* Pairs with the release in error_code(): then there is a name. */
	return m && smp_load_acquire(&m->class) ? m : NULL;
}

/*
 * Is this register what user space must not see? Not what somebody chose who
 * knows nothing of codes: a tracer or a filter that skipped the system call, or
 * the one that rt_sigreturn() returns to, which left -1 as the number.
 */
static bool __maybe_unused error_code_leaks(struct pt_regs *regs)
{
	return error_is_code(syscall_get_return_value(current, regs)) &&
	       syscall_get_nr(current, regs) >= 0 &&
	       !test_syscall_work(SYSCALL_AS_IS);
}

/* Interface */

/**
 * error_code - what ERR() returns
 * @code: its tag
 *
 * Context: any.
 * Return: the code of the line, or the error of its class where it has none.
 */
int error_code(const struct error_code *code)
{
	unsigned int index = READ_ONCE(code->ct.index);
	struct error_meaning *m;

	if (unlikely(!index))
		return code->class;

	m = error_meaning(index - 1);
	/* Orders before what the caller does with the code: see at the top. */
	if (!smp_load_acquire(&m->class)) {
		/* Pairs with the acquire in error_code_meaning(). */
		smp_store_release(&m->class, code->class);
		/* Likewise before what the caller does. */
		smp_wmb();
	}
	return -(int)(index - 1 + ERROR_CODE_FIRST);
}
EXPORT_SYMBOL_GPL(error_code);

/**
 * error_code_class - what error_class() does about what may be a code
 * @err: a number that error_code_possible()
 *
 * Context: any.
 * Return: the error it stands for, or @err.
 */
long error_code_class(long err)
{
	const struct error_meaning *m = error_code_meaning(err);

	return m ? m->class : err;
}
EXPORT_SYMBOL_GPL(error_code_class);

/**
 * error_code_name - the name of a code
 * @err: any integer; as with errname(), its sign is no matter
 *
 * Context: any.
 * Return: a string that stays, or NULL when @err is no code of ERR().
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
 * error_code_syscall - what syscall_error_class() does about what may be a code
 * @regs: registers of the task
 * @ret: a number that error_code_possible()
 *
 * Not every number that looks like a code is one. Values that are no errors are
 * announced by force_successful_syscall_return(). What a signal interrupted may
 * have had any value there: rt_sigreturn() returns that, with -1 as the number of
 * the system call. A new task returns from clone() elsewhere, and the errors by
 * which a system call is restarted are no codes.
 *
 * Context: the current task's, in a system call.
 * Return: the error it stands for, or @ret.
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
 * error_codes_check_exit - warn about a code that leaves the kernel
 * @regs: registers of the task, before a tracer can change them
 *
 * Says the line, once a boot, and changes nothing.
 *
 * Context: the current task's, at the end of a system call.
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
