// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of error codes: what they stand for, how they are printed, what is
 * left of them when their module is gone, what happens when there are none left,
 * and which values of system calls are taken for one. Included by
 * lib/error_codes.c.
 */
#include <kunit/test.h>
#include <linux/errname.h>
#include <linux/printk.h>
#include <linux/ptrace.h>

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

/* A number that no line has, as the tests find it. */
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
		-1023, -4096, -4097, INT_MIN, LONG_MIN,
		/* the low half alone looks like a code */
		0xfffff830L,
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

/* printk() may keep the arguments and print them later. */
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

/* A module of two lines, as the loader would hand it over. */
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
	/* what it was is no more */
	memset(m->names, 'x', sizeof(m->names));
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

/* However often it is loaded, and whatever else is. */
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
	KUNIT_EXPECT_EQ(test, m->codes[0].ct.index, 0);
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[0]), -EPERM);
	KUNIT_EXPECT_EQ(test, error_code(&m->codes[1]), -EPERM);
	kunit_unload(m);

	/* the last one there is */
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

static void kunit_set_nr(struct pt_regs *regs, int nr)
{
#ifdef CONFIG_UML
	PT_REGS_SYSCALL_NR(regs) = nr;
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

	/* a process group, say */
	force_successful_syscall_return();
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), err);
	syscall_return_done();
	KUNIT_EXPECT_EQ(test, syscall_error_class(regs, err), -(long)EIO);

	/* what rt_sigreturn() returns to */
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
	KUNIT_CASE(test_pointers),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_names_later),
	KUNIT_CASE(test_buffers_unchanged),
	KUNIT_CASE(test_module_is_gone),
	KUNIT_CASE(test_module_comes_again),
	KUNIT_CASE(test_none_are_left),
	KUNIT_CASE(test_system_call_returns),
	KUNIT_CASE(test_leak_is_seen),
	{}
};

static struct kunit_suite error_codes_suite = {
	.name = "error_codes",
	.test_cases = error_codes_cases,
};

kunit_test_suite(error_codes_suite);
