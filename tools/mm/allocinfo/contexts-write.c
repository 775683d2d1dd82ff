// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks as text and as JSON, see contexts-write.h.
 */
#include <inttypes.h>

#include "contexts-write.h"
#include "jsonfile.h"
#include "words.h"

/* Processes of a stack in text. */
#define TASKS	4u

/**
 * contexts_put_stack - print a stack
 * @stack: the stack
 * @frames: number of frames to print at most
 * @out: where to
 */
void contexts_put_stack(const struct context_stack *stack, unsigned int frames, FILE *out)
{
	char size[32];
	size_t i;

	fprintf(out, "    %s in %" PRIu64 " calls", words_size(stack->bytes, size),
		stack->count);
	for (i = 0; i < stack->nr_tasks && i < TASKS; i++)
		fprintf(out, "%s%s (%" PRIu64 ")", i ? ", " : " by ", stack->tasks[i].comm,
			stack->tasks[i].tgid);
	fputc('\n', out);
	for (i = 0; i < stack->nr_frames && i < frames; i++)
		fprintf(out, "        %s\n", stack->frames[i]);
}

/**
 * contexts_stack_json - a stack as an object
 * @stack: the stack
 *
 * Return: the object, for json_object_put().
 */
struct json_object *contexts_stack_json(const struct context_stack *stack)
{
	struct json_object *object = json_object_new_object();
	struct json_object *frames = json_object_new_array(), *tasks = json_object_new_array();
	struct json_object *task;
	size_t i;

	json_add_number(object, "bytes", stack->bytes);
	json_add_number(object, "calls", stack->count);
	for (i = 0; i < stack->nr_frames; i++)
		json_object_array_add(frames, json_object_new_string(stack->frames[i]));
	json_add(object, "frames", frames);
	for (i = 0; i < stack->nr_tasks; i++) {
		task = json_object_new_object();
		json_add_string(task, "comm", stack->tasks[i].comm);
		json_add_number(task, "tgid", stack->tasks[i].tgid);
		json_add_number(task, "calls", stack->tasks[i].count);
		json_object_array_add(tasks, task);
	}
	json_add(object, "tasks", tasks);
	return object;
}
