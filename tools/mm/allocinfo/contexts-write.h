/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks as text and as JSON.
 */
#ifndef _ALLOCINFO_CONTEXTS_WRITE_H
#define _ALLOCINFO_CONTEXTS_WRITE_H

#include <stdio.h>

#include "contexts.h"

struct json_object;

void contexts_put_stack(const struct context_stack *stack, unsigned int frames, FILE *out);
struct json_object *contexts_stack_json(const struct context_stack *stack);

#endif /* _ALLOCINFO_CONTEXTS_WRITE_H */
