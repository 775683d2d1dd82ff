// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of error codes: their errors, their names, codes of unloaded
 * modules, running out of numbers, and the values of system calls that are
 * translated. Included by lib/error_codes.c.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/errname.h>
#include <linux/errseq.h>
#include <linux/kmsg_dump.h>
#include <linux/mm.h>
#include <linux/nfs4.h>
#include <linux/pagemap.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/xarray.h>

static int kunit_err_twice(unsigned int which, unsigned int *line)
{
	if (which) {
		*line = __LINE__ + 1;
		return ERR(-EINVAL);
	}
	*line = __LINE__ + 1;
	return ERR(-EINVAL);
}

static int kunit_err_io(void)
{
	return ERR(-EIO);
}

/* A code that belongs to no line. */
static long kunit_unused(struct kunit *test)
{
	unsigned int i = find_first_zero_bit(error_codes_given, NR_ERROR_CODES);

	KUNIT_ASSERT_LT(test, i, NR_ERROR_CODES);
	return -(long)(i + ERROR_CODE_FIRST);
}

static void test_lines_differ(struct kunit *test)
{
	unsigned int line;
	int a = kunit_err_twice(0, &line), b = kunit_err_twice(1, &line);

	KUNIT_EXPECT_NE(test, a, b);
	KUNIT_EXPECT_EQ(test, a, kunit_err_twice(0, &line));
	KUNIT_EXPECT_EQ(test, b, kunit_err_twice(1, &line));
	KUNIT_EXPECT_LE(test, a, -ERROR_CODE_FIRST);
	KUNIT_EXPECT_GE(test, a, -ERROR_CODE_LAST);
	KUNIT_EXPECT_TRUE(test, error_is_code(a));
	KUNIT_EXPECT_EQ(test, error_class(a), -EINVAL);
	KUNIT_EXPECT_EQ(test, error_class(b), -EINVAL);
	KUNIT_EXPECT_EQ(test, error_class(kunit_err_io()), -EIO);
}

static void test_other_values_unchanged(struct kunit *test)
{
	static const long values[] = {
		0, 1, 511, 1024, 2000, 4095, 4096, INT_MAX, LONG_MAX,
		-1, -EINVAL, -EHWPOISON, -ERESTARTSYS, -ERECALLCONFLICT,
		-1023, -ERROR_CODE_FIRST + 1, -ERROR_CODE_LAST - 1,
		-MAX_ERRNO, -MAX_ERRNO - 1, INT_MIN, LONG_MIN,
		/* Only the low half looks like a code. */
		0xfffff830L, 0xffffd000L,
	};
	long unused = kunit_unused(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_EXPECT_EQ(test, error_class(values[i]), values[i]);
		KUNIT_EXPECT_FALSE(test, error_is_code(values[i]));
	}
	KUNIT_EXPECT_EQ(test, error_class(unused), unused);
	KUNIT_EXPECT_FALSE(test, error_is_code(unused));
	KUNIT_EXPECT_NULL(test, errname(unused));
	KUNIT_EXPECT_EQ(test, sizeof(error_class(0)), sizeof(int));
	KUNIT_EXPECT_EQ(test, sizeof(error_class(0L)), sizeof(long));
}

/* No error that user space can choose, or that NFSv4 passes on, is a code. */
static void test_foreign_errors_are_no_codes(struct kunit *test)
{
	long err;

	if (!IS_ENABLED(CONFIG_WIDE_ERRNO))
		kunit_skip(test, "codes begin at %d", ERROR_CODE_FIRST);
	KUNIT_EXPECT_GT(test, NR_ERROR_CODES, 20000);
	KUNIT_EXPECT_GT(test, ERROR_CODE_FIRST, NFS4ERR_RESET_TO_PNFS);
	for (err = -MAX_USER_ERRNO; err < 0; err++)
		KUNIT_EXPECT_FALSE(test, error_code_possible(err));
	for (err = -10200; err <= -10001; err++)
		KUNIT_EXPECT_FALSE(test, error_code_possible(err));
	KUNIT_EXPECT_TRUE(test, error_code_possible(-ERROR_CODE_FIRST));
	KUNIT_EXPECT_TRUE(test, error_code_possible(-ERROR_CODE_LAST));
}

static void test_both_ends_are_errors(struct kunit *test)
{
	static const long errors[] = {
		-1, -EINVAL, -MAX_USER_ERRNO, -ERROR_CODE_FIRST,
		-ERROR_CODE_LAST, -MAX_ERRNO,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		KUNIT_EXPECT_TRUE(test, IS_ERR(ERR_PTR(errors[i])));
		KUNIT_EXPECT_TRUE(test, IS_ERR_OR_NULL(ERR_PTR(errors[i])));
		KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE(errors[i]));
		KUNIT_EXPECT_EQ(test, PTR_ERR(ERR_PTR(errors[i])), errors[i]);
		KUNIT_EXPECT_EQ(test, (long)(short)errors[i], errors[i]);
	}
	KUNIT_EXPECT_FALSE(test, IS_ERR(ERR_PTR(-MAX_ERRNO - 1)));
	KUNIT_EXPECT_FALSE(test, IS_ERR(ERR_PTR(0)));
	KUNIT_EXPECT_FALSE(test, IS_ERR(test));
	KUNIT_EXPECT_FALSE(test, IS_ERR(errors));
}

/* The range of errors of a system call differs from that of error pointers. */
static void test_system_call_failed(struct kunit *test)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	static const struct { long ret; bool failed; } calls[] = {
		{ 0, false }, { 5000, false }, { -1, true },
		{ -MAX_USER_ERRNO, true }, { -MAX_USER_ERRNO - 1, false },
		{ -ERROR_CODE_LAST, ERROR_CODE_LAST <= MAX_USER_ERRNO },
	};
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, regs);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		syscall_set_return_value(current, regs, 0, calls[i].ret);
		KUNIT_EXPECT_EQ(test, is_syscall_success(regs), !calls[i].failed);
		KUNIT_EXPECT_EQ(test, syscall_get_error(current, regs),
				calls[i].failed ? calls[i].ret : 0L);
	}
}

/* The XArray and similar structures shift an error by two bits. */
static void test_xarray_errors(struct kunit *test)
{
	static const long errors[] = {
		-1, -MAX_USER_ERRNO, -ERROR_CODE_FIRST, -ERROR_CODE_LAST,
		-MAX_ERRNO,
	};
	void *node = kunit_kzalloc(test, 64, GFP_KERNEL);
	DEFINE_XARRAY(xa);
	XA_STATE(xas, &xa, 0);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, node);
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		KUNIT_EXPECT_EQ(test, xa_err(xa_mk_internal(errors[i])),
				(int)errors[i]);
		xas_set_err(&xas, errors[i]);
		KUNIT_EXPECT_EQ(test, xas_error(&xas), (int)errors[i]);
		KUNIT_EXPECT_TRUE(test, xas_invalid(&xas));
		xas_reset(&xas);
	}
	KUNIT_EXPECT_FALSE(test, xa_is_err(xa_mk_internal(-MAX_ERRNO - 1)));
	/* A node, in the form in which the tree refers to it. */
	KUNIT_EXPECT_FALSE(test, xa_is_err((void *)((unsigned long)node | 2)));
}

/* errseq_t has twelve bits for the error, so a code is stored as its error. */
static void test_errseq_takes_the_class(struct kunit *test)
{
	int err = kunit_err_io();
	errseq_t seq = 0, since;

	errseq_set(&seq, err);
	KUNIT_EXPECT_EQ(test, seq, (errseq_t)EIO);
	since = 0;
	KUNIT_EXPECT_EQ(test, errseq_check(&seq, since), -EIO);
	KUNIT_EXPECT_EQ(test, errseq_check_and_advance(&seq, &since), -EIO);
	KUNIT_EXPECT_EQ(test, errseq_check(&seq, since), 0);
	/* The error was seen, so the counter rises by its lowest bit. */
	errseq_set(&seq, err);
	KUNIT_EXPECT_EQ(test, seq, (errseq_t)(EIO | 1 << 13));
	KUNIT_EXPECT_EQ(test, errseq_check(&seq, since), -EIO);
}

static void test_kept_errors_are_plain(struct kunit *test)
{
	struct address_space *mapping;

	mapping = kunit_kzalloc(test, sizeof(*mapping), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mapping);
	mapping_set_error(mapping, ERR(-ENOSPC));
	KUNIT_EXPECT_TRUE(test, test_bit(AS_ENOSPC, &mapping->flags));
	KUNIT_EXPECT_FALSE(test, test_bit(AS_EIO, &mapping->flags));
	KUNIT_EXPECT_EQ(test, errseq_check(&mapping->wb_err, 0), -ENOSPC);
#ifdef CONFIG_BLOCK
	KUNIT_EXPECT_EQ(test, (int)errno_to_blk_status(ERR(-ENOSPC)),
			(__force int)BLK_STS_NOSPC);
#endif
}

static void test_pointers(struct kunit *test)
{
	int err = kunit_err_io();
	void *p = ERR_PTR(err);

	KUNIT_EXPECT_TRUE(test, IS_ERR(p));
	KUNIT_EXPECT_TRUE(test, IS_ERR_OR_NULL(p));
	KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE((unsigned long)p));
	KUNIT_EXPECT_EQ(test, PTR_ERR(p), (long)err);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(p), err);
	KUNIT_EXPECT_EQ(test, error_class(PTR_ERR(p)), -(long)EIO);
	KUNIT_EXPECT_PTR_EQ(test, ERR_CAST(p), p);
}

static void test_names(struct kunit *test)
{
	unsigned int line;
	int err = kunit_err_twice(1, &line);
	char want[64], got[64];

	scnprintf(want, sizeof(want), "-EINVAL at lib/error_codes_kunit.c:%u",
		  line);
	KUNIT_EXPECT_STREQ(test, errname(err), want);
	KUNIT_EXPECT_STREQ(test, errname(-err), want + 1);
	scnprintf(got, sizeof(got), "%pe", ERR_PTR(err));
	KUNIT_EXPECT_STREQ(test, got, want);
	scnprintf(got, sizeof(got), "%pE", ERR_PTR(err));
	KUNIT_EXPECT_STREQ(test, got, want);
	scnprintf(got, sizeof(got), ERR_FMT "|", ERR_ARG(err));
	KUNIT_EXPECT_EQ(test, got[strlen(want)], '|');

	KUNIT_EXPECT_STREQ(test, errname(-EINVAL), "-EINVAL");
	KUNIT_EXPECT_STREQ(test, errname(EINVAL), "EINVAL");
	scnprintf(got, sizeof(got), "%pe %pE", ERR_PTR(-EIO), ERR_PTR(-EIO));
	KUNIT_EXPECT_STREQ(test, got, "-EIO -EIO");
	scnprintf(got, sizeof(got), "%pE", ERR_PTR(kunit_unused(test)));
	scnprintf(want, sizeof(want), "%ld", kunit_unused(test));
	KUNIT_EXPECT_STREQ(test, got, want);
}

/* Binary printf stores the arguments and formats them later. */
static void test_names_later(struct kunit *test)
{
#ifdef CONFIG_BINARY_PRINTF
	int err = kunit_err_io();
	char want[64], got[64];
	u32 bin[64];

	KUNIT_ASSERT_LT(test, bprintf(bin, ARRAY_SIZE(bin), "%pe %pE",
				      ERR_PTR(err), ERR_PTR(err)), 65);
	bstr_printf(got, sizeof(got), "%pe %pE", bin);
	scnprintf(want, sizeof(want), "%s %s", errname(err), errname(err));
	KUNIT_EXPECT_STREQ(test, got, want);
#else
	kunit_skip(test, "no binary printf");
#endif
}

static void test_buffers_unchanged(struct kunit *test)
{
	static const char buffer[] = "\033b \\C\a\"\220\r]";
	char got[64];

	scnprintf(got, sizeof(got), "%*pE", 9, buffer);
	KUNIT_EXPECT_STREQ(test, got, "\\eb \\C\\a\"\\220\\r");
	scnprintf(got, sizeof(got), "%*pEhp", 4, buffer);
	KUNIT_EXPECT_STREQ(test, got, "\\x1bb \\");
	scnprintf(got, sizeof(got), "%pE", buffer);
	KUNIT_EXPECT_STREQ(test, got, "\\e");
	scnprintf(got, sizeof(got), "%*pE", 0, ERR_PTR(-EIO));
	KUNIT_EXPECT_STREQ(test, got, "");
	scnprintf(got, sizeof(got), "%*pE", 4, ERR_PTR(-EIO));
	KUNIT_EXPECT_STREQ(test, got, "(efault)");
}

/* A module with two lines, as the module loader passes it. */
struct kunit_module {
	struct error_code codes[2];
	char names[2][32];
	struct codetag_range range;
};

static struct kunit_module *kunit_load(struct kunit *test, const char *file)
{
	struct kunit_module *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < 2; i++) {
		scnprintf(m->names[i], sizeof(m->names[i]), "-EPERM at %s:%u",
			  file, i + 1);
		m->codes[i].name = m->names[i];
		m->codes[i].class = -EPERM;
	}
	m->range.tags = m->codes;
	m->range.nr = 2;
	m->range.modname = "kunit_module";

	down_write(&error_code_type.lock);
	KUNIT_EXPECT_EQ(test, error_codes_load(&error_code_type, &m->range), 0);
	up_write(&error_code_type.lock);
	return m;
}

static void kunit_unload(struct kunit_module *m)
{
	down_write(&error_code_type.lock);
	error_codes_unload(&error_code_type, &m->range);
	up_write(&error_code_type.lock);
	/* Overwrite the module's memory to catch later uses. */
	memset(m->names, 'x', sizeof(m->names));
}

/* Does any line of the kernel log contain this text? */
static bool kunit_logged(const char *text)
{
	static char line[256];
	struct kmsg_dump_iter iter;
	bool found = false;
	size_t len;

	kmsg_dump_rewind(&iter);
	while (!found && kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		found = strstr(line, text);
	}
	return found;
}

static unsigned int kunit_given(void)
{
	return bitmap_weight(error_codes_given, NR_ERROR_CODES);
}

static void test_module_is_gone(struct kunit *test)
{
	unsigned int before = kunit_given();
	struct kunit_module *m = kunit_load(test, "gone.c");
	int never = -(int)(m->codes[0].ct.index - 1 + ERROR_CODE_FIRST);
	int err = error_code(&m->codes[1]);

	KUNIT_EXPECT_EQ(test, kunit_given(), before + 2);
	KUNIT_EXPECT_FALSE(test, error_is_code(never));
	kunit_unload(m);

	KUNIT_EXPECT_EQ(test, kunit_given(), before + 1);
	KUNIT_EXPECT_EQ(test, error_class(err), -EPERM);
	KUNIT_EXPECT_STREQ(test, errname(err), "-EPERM at gone.c:2");
	KUNIT_EXPECT_NULL(test, errname(never));
	KUNIT_EXPECT_EQ(test, error_class(never), never);
}

/* A module gets its codes again at every load, even if others were loaded. */
static void test_module_comes_again(struct kunit *test)
{
	struct kunit_module *m, *other;
	unsigned int i, before;
	int err, last = 0;

	m = kunit_load(test, "again.c");
	last = error_code(&m->codes[0]);
	kunit_unload(m);
	other = kunit_load(test, "other.c");
	KUNIT_EXPECT_NE(test, error_code(&other->codes[0]), last);
	before = kunit_given();

	for (i = 0; i < 100; i++) {
		m = kunit_load(test, "again.c");
		err = error_code(&m->codes[0]);
		KUNIT_EXPECT_EQ(test, err, last);
		KUNIT_EXPECT_NE(test, m->codes[1].ct.index, 0);
		kunit_unload(m);
		KUNIT_EXPECT_EQ(test, kunit_given(), before);
	}
	kunit_unload(other);
	KUNIT_EXPECT_EQ(test, kunit_given(), before - 1);
	KUNIT_EXPECT_STREQ(test, errname(last), "-EPERM at again.c:1");
}

static void test_none_are_left(struct kunit *test)
{
	unsigned long *given = bitmap_alloc(NR_ERROR_CODES, GFP_KERNEL);
	struct kunit_module *m;

	KUNIT_ASSERT_NOT_NULL(test, given);
	bitmap_copy(given, error_codes_given, NR_ERROR_CODES);
	bitmap_fill(error_codes_given, NR_ERROR_CODES);
	m = kunit_load(test, "none.c");
	KUNIT_EXPECT_TRUE(test, kunit_logged("kunit_module: no numbers for 2 of 2 lines"));
	KUNIT_EXPECT_EQ(test, m->codes[0].ct.index, 0);
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[0]), -EPERM);
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[1]), -EPERM);
	kunit_unload(m);

	/* Only the last number is free. */
	__clear_bit(NR_ERROR_CODES - 1, error_codes_given);
	m = kunit_load(test, "last.c");
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[0]), -ERROR_CODE_LAST);
	KUNIT_EXPECT_TRUE(test, IS_ERR(ERR_PTR(error_code(&m->codes[0]))));
	KUNIT_EXPECT_STREQ(test, errname(-ERROR_CODE_LAST), "-EPERM at last.c:1");
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[1]), -EPERM);
	kunit_unload(m);

	__set_bit(NR_ERROR_CODES - 1, given);
	bitmap_copy(error_codes_given, given, NR_ERROR_CODES);
	bitmap_free(given);
}

/* The kernel has more lines than there are numbers. */
static void test_none_are_left_for_the_kernel(struct kunit *test)
{
	unsigned long *given = bitmap_alloc(NR_ERROR_CODES, GFP_KERNEL);
	static const struct error_code line = { .name = "-EPERM", .class = -EPERM };
	struct error_code codes[3] = { line, line, line };
	struct codetag_range range = { .tags = codes, .nr = 3 };

	KUNIT_ASSERT_NOT_NULL(test, given);
	down_write(&error_code_type.lock);
	bitmap_copy(given, error_codes_given, NR_ERROR_CODES);
	bitmap_fill(error_codes_given, NR_ERROR_CODES);
	__clear_bit(NR_ERROR_CODES - 1, error_codes_given);
	/* test_none_are_left() has left this number to a line of its module. */
	__clear_bit(NR_ERROR_CODES - 1, error_codes_left);
	error_codes_load(&error_code_type, &range);
	error_codes_unload(&error_code_type, &range);
	bitmap_copy(error_codes_given, given, NR_ERROR_CODES);
	up_write(&error_code_type.lock);
	KUNIT_EXPECT_TRUE(test, kunit_logged("kernel: no numbers for 2 of 3 lines"));
	bitmap_free(given);
}

#define KUNIT_NAME	24

/* Call error_code() for each line of a range. Count the wrong results. */
static unsigned int kunit_wrong(const struct codetag_range *range)
{
	struct error_code *codes = range->tags;
	unsigned int i, wrong = 0;
	int err;

	for (i = 0; i < range->nr; i++) {
		err = error_code(&codes[i]);
		if (!codes[i].ct.index)
			wrong += err != -EPERM;
		else
			wrong += err < -ERROR_CODE_LAST || err > -ERROR_CODE_FIRST ||
				 (short)err != err || !IS_ERR(ERR_PTR(err)) ||
				 error_class(err) != -EPERM ||
				 strcmp(errname(err), codes[i].name);
	}
	return wrong;
}

/* Unload a range as if it had returned no codes: its numbers become free. */
static void kunit_forget(struct codetag_range *range)
{
	struct error_code *codes = range->tags;
	unsigned int i;

	down_write(&error_code_type.lock);
	for (i = 0; i < range->nr; i++)
		if (codes[i].ct.index)
			error_meaning(codes[i].ct.index - 1)->class = 0;
	error_codes_unload(&error_code_type, range);
	up_write(&error_code_type.lock);
}

/* Five lines more than there are free numbers. */
static void test_all_numbers(struct kunit *test)
{
	unsigned int given = kunit_given(), nr = NR_ERROR_CODES - given + 5, i;
	struct codetag_range range = { .nr = nr, .modname = "kunit_many" };
	struct error_code *codes = kvcalloc(nr, sizeof(*codes), GFP_KERNEL);
	char *names = kvcalloc(nr, KUNIT_NAME, GFP_KERNEL), text[64];

	KUNIT_ASSERT_TRUE(test, codes && names);
	for (i = 0; i < nr; i++) {
		codes[i].name = names + i * KUNIT_NAME;
		codes[i].class = -EPERM;
		scnprintf(names + i * KUNIT_NAME, KUNIT_NAME, "-EPERM at many.c:%u", i);
	}
	range.tags = codes;
	down_write(&error_code_type.lock);
	error_codes_load(&error_code_type, &range);
	up_write(&error_code_type.lock);

	KUNIT_EXPECT_EQ(test, kunit_given(), NR_ERROR_CODES);
	KUNIT_EXPECT_EQ(test, kunit_wrong(&range), 0);
	KUNIT_EXPECT_EQ(test, codes[nr - 5].ct.index, 0);
	KUNIT_EXPECT_NE(test, codes[nr - 6].ct.index, 0);
	scnprintf(text, sizeof(text), "kunit_many: no numbers for 5 of %u lines", nr);
	KUNIT_EXPECT_TRUE(test, kunit_logged(text));

	kunit_forget(&range);
	KUNIT_EXPECT_EQ(test, kunit_given(), given);
	kvfree(codes);
	kvfree(names);
}

static void kunit_set_nr(struct pt_regs *regs, int nr)
{
#if defined(CONFIG_UML)
	PT_REGS_SYSCALL_NR(regs) = nr;
#elif defined(CONFIG_ARM64)
	regs->syscallno = nr;
#else
	regs->orig_ax = nr;
#endif
}

static void test_system_call_returns(struct kunit *test)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	long err = kunit_err_io(), unused = kunit_unused(test);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), -(long)EIO);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, -EINVAL), -(long)EINVAL);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, -ERESTARTSYS),
			-(long)ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, 5000), 5000L);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, unused), unused);

	/* The value is not an error but, for example, a process group. */
	force_successful_syscall_return();
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), err);
	syscall_return_done();
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), -(long)EIO);

	/* The value was restored by rt_sigreturn(). */
	kunit_set_nr(regs, -1);
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), err);
}

static void test_leak_is_seen(struct kunit *test)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	long err = kunit_err_io();

	KUNIT_ASSERT_NOT_NULL(test, regs);
	syscall_set_return_value(current, regs, -EIO, 0);
	KUNIT_EXPECT_FALSE(test, error_code_leaks(regs));
	syscall_set_return_value(current, regs, kunit_unused(test), 0);
	KUNIT_EXPECT_FALSE(test, error_code_leaks(regs));
	syscall_set_return_value(current, regs, 0, -err);
	KUNIT_EXPECT_FALSE(test, error_code_leaks(regs));

	syscall_set_return_value(current, regs, err, 0);
	KUNIT_EXPECT_TRUE(test, error_code_leaks(regs));
	syscall_return_as_is();
	KUNIT_EXPECT_FALSE(test, error_code_leaks(regs));
	syscall_return_done();
	KUNIT_EXPECT_TRUE(test, error_code_leaks(regs));
	kunit_set_nr(regs, -1);
	KUNIT_EXPECT_FALSE(test, error_code_leaks(regs));
}

static struct kunit_case error_codes_cases[] = {
	KUNIT_CASE(test_lines_differ),
	KUNIT_CASE(test_other_values_unchanged),
	KUNIT_CASE(test_foreign_errors_are_no_codes),
	KUNIT_CASE(test_both_ends_are_errors),
	KUNIT_CASE(test_pointers),
	KUNIT_CASE(test_xarray_errors),
	KUNIT_CASE(test_errseq_takes_the_class),
	KUNIT_CASE(test_kept_errors_are_plain),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_names_later),
	KUNIT_CASE(test_buffers_unchanged),
	KUNIT_CASE(test_module_is_gone),
	KUNIT_CASE(test_module_comes_again),
	KUNIT_CASE(test_none_are_left),
	KUNIT_CASE(test_none_are_left_for_the_kernel),
	KUNIT_CASE(test_all_numbers),
	KUNIT_CASE(test_system_call_failed),
	KUNIT_CASE(test_system_call_returns),
	KUNIT_CASE(test_leak_is_seen),
	{}
};

static struct kunit_suite error_codes_suite = {
	.name = "error_codes",
	.test_cases = error_codes_cases,
};

kunit_test_suite(error_codes_suite);
