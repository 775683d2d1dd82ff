// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile texts of allocation contexts.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes texts
 * without damage, and reads each of them cut off at every byte and with each byte changed.
 * What a cut text shows must be in the whole one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "fuzz.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const char *file, uint64_t place, const char *what, void *data)
{
	EXPECT(*file && *what && place);
	++*(uint64_t *)data;
}

static void expect_clean(const char *text)
{
	for (; *text; text++)
		EXPECT((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check_stack(const struct context_stack *stack)
{
	size_t i;

	EXPECT(stack->nr_frames <= CONTEXT_FRAMES && stack->nr_tasks <= CONTEXT_TASKS);
	for (i = 0; i < stack->nr_frames; i++)
		expect_clean(stack->frames[i]);
	for (i = 0; i < stack->nr_tasks; i++) {
		expect_clean(stack->tasks[i].comm);
		EXPECT(!i || stack->tasks[i].count <= stack->tasks[i - 1].count);
	}
	EXPECT(context_same_stack(stack, stack));
}

static void check_site(const struct context_site *site)
{
	size_t i;

	expect_clean(site->site.file);
	expect_clean(site->site.func);
	expect_clean(site->site.module);
	for (i = 0; i < site->nr; i++) {
		check_stack(&site->stacks[i]);
		EXPECT(!i || site->stacks[i].bytes <= site->stacks[i - 1].bytes);
	}
}

/* Returns the number of complaints. */
static uint64_t parse(struct contexts *contexts, const uint8_t *data, size_t size)
{
	uint64_t complaints = 0;
	size_t i;

	table_set_text(&contexts->text, (const char *)data, size);
	contexts_parse(contexts, "input", &(struct complainer){ count, &complaints });
	EXPECT(complaints == contexts->damaged);
	for (i = 0; i < contexts->nr; i++) {
		check_site(&contexts->sites[i]);
		EXPECT(contexts_find(contexts, &contexts->sites[i].site));
	}
	return complaints;
}

/**
 * LLVMFuzzerTestOneInput - read an input
 * @data: the text
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct contexts contexts;

	parse(&contexts, data, size);
	/* a second read uses the same memory */
	parse(&contexts, data, size / 2);
	return 0;
}

#ifdef FUZZ_MAIN

static size_t stacks_of(const struct contexts *contexts)
{
	size_t nr = 0, i;

	for (i = 0; i < contexts->nr; i++)
		nr += contexts->sites[i].nr;
	return nr;
}

static void check_text(uint8_t *data, size_t size)
{
	struct contexts whole = { 0 }, part = { 0 };
	size_t at;

	EXPECT(!parse(&whole, data, size) && whole.nr);
	for (at = 0; at < size; at++) {
		EXPECT(!parse(&part, data, at));
		EXPECT(part.nr <= whole.nr && stacks_of(&part) <= stacks_of(&whole));
	}
	for (at = 0; at < size; at++) {
		data[at] ^= 0x55;
		parse(&part, data, size);
		data[at] ^= 0x55;
	}
	printf("%zu bytes, %zu call sites, %zu stacks\n", size, whole.nr, stacks_of(&whole));
	contexts_free(&whole);
	contexts_free(&part);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_text);
}
#endif
