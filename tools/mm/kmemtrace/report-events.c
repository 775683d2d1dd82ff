// SPDX-License-Identifier: GPL-2.0-only
/*
 * The effect of a record on the model of kmemtrace-report, see report-model.h.
 *
 * Findings are certain only if no records are missing. So each loss of records begins a
 * new epoch, each object and block remembers its epoch, and findings about those of an
 * older epoch are listed separately: a lost record may explain them. A gap of a single
 * number, as when recording is switched on, also begins an epoch: events may have happened
 * while recording was off.
 *
 * If the trace has no allocation of a freed address, the memory was allocated before the
 * trace, and the free is no error. There is one exception: if a page was allocated during
 * the trace, everything in it was allocated during the trace, too.
 *
 * The slab allocator and large kmalloc()s use blocks of pages, which have records of their
 * own. A record of an object says nothing about its block.
 */
#include "report-events.h"

/* Data */

#define EPOCH_LAST	(BIT(LIVE_EPOCH_BITS) - 1)

/* kmalloc(0) returns this address; like 0, it is not memory */
#define NO_MEMORY_LAST	16u

/* value of @born in an entry that is only a mark; no allocation has this time */
#define FREED		UINT64_MAX

/* Add a finding. @epoch is that of the last record about this memory. */
static void found(struct model *model, enum finding_kind kind, uint32_t epoch,
		  uint32_t site, uint32_t other, const struct trace_record *r)
{
	struct finding finding = {
		.kind = kind,
		.after_losses = epoch != model->epoch || epoch == EPOCH_LAST,
		.site = site,
		.other = other,
		.count = 1,
		.ptr = r->ptr,
		.sequence = r->sequence,
		.offset = r->offset,
		.cpu = r->cpu,
	};

	model->counts.findings[kind][finding.after_losses]++;
	findings_add(&model->findings, &finding);
}

static uint32_t find_site(struct model *model, const struct trace_record *r, uint16_t tag)
{
	return sites_find(&model->sites, r->call_site, tag, r->type_id,
			  &model->counts.more_sites);
}

static uint32_t site_of_free(struct model *model, const struct trace_record *r)
{
	return find_site(model, r, 0);
}

/* Internals: the clock */

/* Records are ordered by number; the times of different CPUs may differ slightly. */
static void advance(struct model *model, const struct trace_record *r)
{
	uint64_t clock;

	if (!model->started) {
		if (r->event_id == KMEMTRACE_EVENT_LOST)
			return;
		model->started = true;
		model->has_time = TRACE_HAS(r, KMEMTRACE_FEATURE_TIME);
		model->origin = model->has_time ? r->time : r->sequence;
	}
	if (!model->has_time)
		clock = r->sequence;
	else if (TRACE_HAS(r, KMEMTRACE_FEATURE_TIME))
		clock = r->time;
	else
		return;
	model->now = max_u64(model->now, sat_sub(clock, model->origin));
}

static void new_epoch(struct model *model)
{
	if (model->epoch < EPOCH_LAST)
		model->epoch++;
}

static void look_for_gap(struct model *model, const struct trace_record *r)
{
	uint64_t missing = sat_sub(r->sequence, model->sequence);

	if (model->counts.records && missing > 1) {
		missing--;
		model->counts.gaps++;
		model->counts.small_gaps += missing == 1;
		model->counts.missing = sat_add(model->counts.missing, missing);
		new_epoch(model);
	}
	model->sequence = max_u64(model->sequence, r->sequence);
}

/* Internals: what is live */

static void peak_note(struct model *model, unsigned int i, uint64_t live)
{
	if (live > model->peak[i]) {
		model->peak[i] = live;
		model->peak_at[i] = model->now;
	}
}

static void live_more(struct model *model, struct site *site,
		      struct bytes bytes)
{
	struct stats *s = &site->stats;
	uint64_t *live = &model->live.types[site->type];

	s->live++;
	s->live_bytes.requested = sat_add(s->live_bytes.requested,
					  bytes.requested);
	s->live_bytes.allocated = sat_add(s->live_bytes.allocated,
					  bytes.allocated);
	*live = sat_add(*live, bytes.allocated);
	model->live.all = sat_add(model->live.all, bytes.allocated);
	peak_note(model, site->type, *live);
	peak_note(model, MODEL_TYPES, model->live.all);
}

static void live_less(struct model *model, struct site *site,
		      struct bytes bytes)
{
	struct stats *s = &site->stats;
	uint64_t *live = &model->live.types[site->type];

	s->live--;
	s->live_bytes.requested = sat_sub(s->live_bytes.requested,
					  bytes.requested);
	s->live_bytes.allocated = sat_sub(s->live_bytes.allocated,
					  bytes.allocated);
	*live = sat_sub(*live, bytes.allocated);
	model->live.all = sat_sub(model->live.all, bytes.allocated);
}

static void count_free(struct model *model, struct site *site,
		       uint64_t born, unsigned int cpu,
		       const struct trace_record *r)
{
	site->stats.frees++;
	if (cpu != r->cpu % BIT(LIVE_CPU_BITS))
		site->stats.cross_frees++;
	lifetimes_count(&site->stats.lifetimes, sat_sub(model->now, born));
}

static void object_gone(struct model *model, struct object *object)
{
	live_less(model, sites_get(&model->sites, object->site),
		  object_freed(model->objects, object));
	object->born = FREED;
	object->epoch = model->epoch;
}

/* Each part of a divided block that stays live counts as a live block. */
static bool cut(struct model *model, uint64_t start, uint64_t last,
		struct block *part)
{
	struct block *whole = blocks_find(model->blocks, start, last);
	unsigned int parts;
	struct site *site;

	if (!whole)
		return false;
	site = sites_get(&model->sites, whole->site);
	parts = (start > whole->start) + (last < whole->last);
	blocks_cut(model->blocks, start, last, part);
	live_less(model, site, block_bytes(part));
	site->stats.live += parts;
	return true;
}

/* Internals: records */

static void alloc_object(struct model *model, uint32_t site,
			 struct bytes bytes, const struct trace_record *r)
{
	struct object *object = objects_get(model->objects, r->ptr);

	if (object->live) {
		found(model, FINDING_STILL_LIVE, object->epoch, object->site,
		      site, r);
		object_gone(model, object);
	}
	object->site = site;
	object->born = model->now;
	object->cpu = r->cpu;
	object->epoch = model->epoch;
	object_born(model->objects, object, bytes);
}

static void alloc_block(struct model *model, uint32_t site,
			struct bytes *bytes, const struct trace_record *r)
{
	struct block part, block = {
		.start = r->ptr,
		.last = r->ptr + (bytes->allocated ? bytes->allocated - 1 : 0),
		.born = model->now,
		.requested = bytes->requested,
		.site = site,
		.cpu = r->cpu,
		.epoch = model->epoch,
	};

	if (block.last < block.start)
		block.last = UINT64_MAX;
	bytes->allocated = block_size(&block);
	while (cut(model, block.start, block.last, &part))
		found(model, FINDING_STILL_LIVE, part.epoch, part.site, site, r);
	blocks_add(model->blocks, &block);
}

static void record_alloc(struct model *model, const struct trace_record *r)
{
	uint16_t tag = TRACE_HAS(r, KMEMTRACE_FEATURE_TAG) ? r->tag : 0;
	uint32_t nr = find_site(model, r, tag);
	struct bytes bytes = { r->bytes_req, r->bytes_alloc };
	struct site *site = sites_get(&model->sites, nr);
	struct stats *s = &site->stats;

	if (r->ptr <= NO_MEMORY_LAST) {
		s->failed++;
		return;
	}
	if (bytes.allocated < bytes.requested)
		found(model, FINDING_SHORT, model->epoch, nr, NO_SITE, r);
	if (r->type_id == KMEMTRACE_TYPE_PAGES)
		alloc_block(model, nr, &bytes, r);
	else
		alloc_object(model, nr, bytes, r);
	s->allocs++;
	s->requested = sat_add(s->requested, bytes.requested);
	s->allocated = sat_add(s->allocated, bytes.allocated);
	if (r->target_cpu != -1 && (unsigned int)r->target_cpu != r->cpu)
		s->cross_allocs++;
	if (!sizes_count(&model->sizes, site, nr, bytes))
		model->counts.more_sizes++;
	live_more(model, site, bytes);
}

static enum finding_kind wrong_api(unsigned int allocated, unsigned int freed)
{
	return allocated == KMEMTRACE_TYPE_CACHE &&
	       freed == KMEMTRACE_TYPE_KMALLOC ?
	       FINDING_MIXED : FINDING_WRONG_API;
}

static void free_live_object(struct model *model, struct object *object,
			     const struct trace_record *r)
{
	struct site *site = sites_get(&model->sites, object->site);

	if (site->type != r->type_id)
		found(model, wrong_api(site->type, r->type_id), object->epoch,
		      object->site, site_of_free(model, r), r);
	count_free(model, site, object->born, object->cpu, r);
	object_gone(model, object);
}

/* The address is unknown: look for a block that contains it. */
static void free_unknown(struct model *model, const struct trace_record *r)
{
	const struct block *block = blocks_find(model->blocks, r->ptr, r->ptr);

	if (block)
		found(model, FINDING_UNKNOWN, block->epoch, block->site,
		      site_of_free(model, r), r);
	else
		model->counts.before[r->type_id]++;
}

static void record_free_object(struct model *model,
			       const struct trace_record *r)
{
	struct object *object = objects_get(model->objects, r->ptr);

	if (object->live) {
		free_live_object(model, object, r);
		return;
	}
	if (object->born == FREED) {
		found(model, FINDING_DOUBLE_FREE, object->epoch, object->site,
		      site_of_free(model, r), r);
	} else {
		object->site = NO_SITE;
		object->born = FREED;
		free_unknown(model, r);
	}
	object->epoch = model->epoch;
}

/* Returns the last byte that a free of pages frees. Old ABIs do not record the size. */
static uint64_t free_last(struct model *model, const struct trace_record *r)
{
	const struct block *block;
	uint64_t last;

	if (TRACE_HAS(r, KMEMTRACE_FEATURE_BYTES)) {
		last = r->ptr + (r->bytes ? r->bytes - 1 : 0);
		return last < r->ptr ? UINT64_MAX : last;
	}
	block = blocks_find(model->blocks, r->ptr, r->ptr);
	return block ? block->last : r->ptr;
}

static void free_no_block(struct model *model, const struct freed *freed,
			  struct object *object, const struct trace_record *r)
{
	if (object)
		free_live_object(model, object, r);
	else if (freed->start == r->ptr)
		found(model, FINDING_DOUBLE_FREE, freed->epoch, freed->site,
		      site_of_free(model, r), r);
	else
		model->counts.before[KMEMTRACE_TYPE_PAGES]++;
}

/*
 * A large kmalloc() is an object that fills a block. If the block is freed while the
 * object is live, the pages were freed without kfree().
 */
static void record_free_pages(struct model *model, const struct trace_record *r)
{
	struct freed *freed = &model->freed[hash_u64(r->ptr) % FREED_BLOCKS];
	struct object *object = objects_find(model->objects, r->ptr);
	uint64_t last = free_last(model, r);
	uint32_t site = NO_SITE;
	struct block part;

	if (object && !object->live)
		object = NULL;
	while (cut(model, r->ptr, last, &part)) {
		site = part.site;
		count_free(model, sites_get(&model->sites, site), part.born, part.cpu, r);
	}
	if (site == NO_SITE)
		free_no_block(model, freed, object, r);
	else if (object && object_bytes(model->objects, object).allocated ==
		 last - r->ptr + 1)
		free_live_object(model, object, r);
	*freed = (struct freed){ r->ptr, site, model->epoch };
}

static void record_free(struct model *model, const struct trace_record *r)
{
	if (r->ptr <= NO_MEMORY_LAST)
		model->counts.null_frees++;
	else if (r->type_id == KMEMTRACE_TYPE_PAGES)
		record_free_pages(model, r);
	else
		record_free_object(model, r);
}

static void record_lost(struct model *model, const struct trace_record *r)
{
	struct counts *c = &model->counts;

	c->lost_records++;
	c->lost_events = sat_add(c->lost_events, r->lost_events);
	c->lost_bytes = sat_add(c->lost_bytes, r->lost_bytes);
	new_epoch(model);
}

void model_record(struct model *model, const struct trace_record *r)
{
	struct moment *moment;

	advance(model, r);
	look_for_gap(model, r);
	model->counts.records++;
	moment = timeline_at(&model->timeline, model->now, &model->live);
	if (r->event_id == KMEMTRACE_EVENT_LOST) {
		record_lost(model, r);
	} else if (r->type_id >= MODEL_TYPES ||
		   r->event_id > KMEMTRACE_EVENT_FREE) {
		model->counts.unknown++;
	} else if (r->event_id == KMEMTRACE_EVENT_ALLOC) {
		model->counts.allocs++;
		moment->allocs++;
		record_alloc(model, r);
	} else {
		model->counts.frees++;
		moment->frees++;
		record_free(model, r);
	}
	moment->peak = max_u64(moment->peak, model->live.all);
}
