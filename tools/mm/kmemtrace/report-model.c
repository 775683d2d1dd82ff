// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of kmemtrace-report: read a trace, then answer the writers. See
 * report-model.h.
 */
#include <stdlib.h>

#include "report-events.h"

#define READ_AHEAD	16u

/* Interface */

/**
 * model_new - create an empty model
 * @moments: parts of the time line at most, an even number
 *
 * Return: the model, for model_free().
 */
struct model *model_new(unsigned int moments)
{
	struct model *model = need_memory(1, sizeof(*model));

	model->objects = objects_new();
	model->blocks = blocks_new();
	model->freed = need_memory(FREED_BLOCKS, sizeof(*model->freed));
	timeline_init(&model->timeline, moments);
	return model;
}

/**
 * model_free - free a model
 * @model: from model_new()
 */
void model_free(struct model *model)
{
	objects_free(model->objects);
	blocks_free(model->blocks);
	free(model->freed);
	sites_free(&model->sites);
	sizes_free(&model->sizes);
	findings_free(&model->findings);
	free(model->timeline.moments);
	free(model);
}

/**
 * model_read - read a trace
 * @model: empty model from model_new()
 * @trace: from trace_open(); read to its end
 * @then: called with each record after the model has processed it, or NULL
 * @data: passed to @then
 *
 * The function reads a few records ahead, so that the CPU fetches the entries of their
 * addresses early.
 */
void model_read(struct model *model, struct trace *trace,
		void (*then)(const struct trace_record *record, void *data),
		void *data)
{
	struct trace_record ahead[READ_AHEAD];
	unsigned int i, nr;

	do {
		for (nr = 0; nr < READ_AHEAD; nr++) {
			if (!trace_next(trace, &ahead[nr]))
				break;
			objects_prefetch(model->objects, ahead[nr].ptr);
		}
		for (i = 0; i < nr; i++) {
			model_record(model, &ahead[i]);
			if (then)
				then(&ahead[i], data);
		}
	} while (nr == READ_AHEAD);
	timeline_finish(&model->timeline, &model->live);
}

/**
 * model_counts - get the numbers of records
 * @model: from model_new()
 *
 * Return: the counts, valid until model_free().
 */
const struct counts *model_counts(const struct model *model)
{
	return &model->counts;
}

/**
 * model_nr_sites - get the number of call sites
 * @model: from model_new()
 *
 * Return: the number, including call sites that only free.
 */
uint32_t model_nr_sites(const struct model *model)
{
	return model->sites.nr;
}

/**
 * model_site - get a call site by its number
 * @model: from model_new()
 * @nr: less than model_nr_sites()
 *
 * Return: the call site, valid until model_free().
 */
const struct site *model_site(const struct model *model, uint32_t nr)
{
	return sites_get(&model->sites, nr);
}

/**
 * model_find_site - find a call site, or add it
 * @model: from model_new()
 * @call_site: its address
 * @tag: its code tag, 0 for none
 * @type: enum kmemtrace_type_id
 *
 * Return: the number, see sites_find().
 */
uint32_t model_find_site(struct model *model, uint64_t call_site,
			 uint16_t tag, uint8_t type)
{
	return sites_find(&model->sites, call_site, tag, type, &model->counts.more_sites);
}

/**
 * model_sizes - get the sizes of allocations by call site
 * @model: from model_new()
 * @nr: set to their number
 *
 * Return: all sizes, in no order.
 */
const struct size *model_sizes(const struct model *model, uint32_t *nr)
{
	*nr = model->sizes.nr;
	return model->sizes.list;
}

/**
 * model_findings - get the findings
 * @model: from model_new()
 * @nr: set to their number
 *
 * Return: all findings, in the order in which they appeared first.
 */
const struct finding *model_findings(const struct model *model, uint32_t *nr)
{
	*nr = model->findings.nr;
	return model->findings.list;
}

struct visit {
	const struct model *model;
	void (*fn)(void *data, uint32_t site, struct bytes bytes);
	void *data;
};

static void visit_object(const struct object *object, void *data)
{
	struct visit *v = data;

	v->fn(v->data, object->site, object_bytes(v->model->objects, object));
}

static void visit_block(const struct block *block, void *data)
{
	struct visit *v = data;

	v->fn(v->data, block->site, block_bytes(block));
}

/**
 * model_each_live - visit all live objects and blocks
 * @model: from model_new()
 * @fn: called for each object and block with its call site and size, in no order
 * @data: passed to @fn
 */
void model_each_live(const struct model *model,
		     void (*fn)(void *data, uint32_t site, struct bytes bytes),
		     void *data)
{
	struct visit visit = { model, fn, data };

	objects_each(model->objects, visit_object, &visit);
	blocks_each(model->blocks, visit_block, &visit);
}

/**
 * model_timeline - get the time line
 * @model: from model_new()
 *
 * Return: the time line, valid until model_free().
 */
const struct timeline *model_timeline(const struct model *model)
{
	return &model->timeline;
}

/**
 * model_has_time - check what the clock counts
 * @model: from model_new()
 *
 * Return: true for nanoseconds, false for sequence numbers, which are events.
 */
bool model_has_time(const struct model *model)
{
	return model->has_time;
}

/**
 * model_duration - get the time from the first record to the last
 * @model: from model_new()
 *
 * Return: the time on the clock of the trace.
 */
uint64_t model_duration(const struct model *model)
{
	return model->now;
}

/**
 * model_peak - get the maximum of live bytes
 * @model: from model_new()
 * @type: enum kmemtrace_type_id, or MODEL_TYPES for all together
 * @when: set to the time of the maximum since the beginning of the trace
 *
 * Return: bytes allocated.
 */
uint64_t model_peak(const struct model *model, unsigned int type,
		    uint64_t *when)
{
	*when = model->peak_at[type];
	return model->peak[type];
}

/**
 * model_errors - count the errors
 * @model: from model_new()
 *
 * Return: number of findings that are errors and that no loss of records can explain.
 */
uint64_t model_errors(const struct model *model)
{
	uint64_t sum = 0;
	unsigned int kind;

	for (kind = 0; kind < FINDING_KINDS; kind++) {
		if (kind != FINDING_MIXED)
			sum += model->counts.findings[kind][0];
	}
	return sum;
}
