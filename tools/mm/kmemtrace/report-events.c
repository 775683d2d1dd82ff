// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of kmemtrace-report, see report-model.h.
 *
 * What is told of an address is only as good as the records are complete. So
 * every loss of records begins a new epoch, each thing that is remembered says of
 * which epoch it is, and a finding about something of an older one is set apart:
 * the record that would explain it may be among the lost. A gap of a single
 * number is where recording was switched on; as nobody saw what happened while it
 * was off, that begins an epoch too.
 *
 * Memory that was never seen allocated was allocated before the trace, and its
 * free is no error, with one exception: within a page that the page allocator
 * gave out during the trace nothing can be older than the trace.
 *
 * The slab allocator and large kmalloc()s live in blocks of pages, which have
 * records of their own. An object never says anything about the block it is in.
 */
#include <stdlib.h>
#include <string.h>

#include "report-model.h"

/* Data */

#define EPOCH_LAST	(BIT(LIVE_EPOCH_BITS) - 1)

/* the address of kmalloc(0), as 0 no memory */
#define NO_MEMORY_LAST	16u

/* born of an object that is a mark only, as nothing is when it is born */
#define FREED		UINT64_MAX

#define READ_AHEAD	16u

#define SITES_CHUNK	1024u
#define FREED_BLOCKS	BIT(16)

/* a block that was freed not long ago */
struct freed {
	uint64_t start;
	uint32_t site;
	uint32_t epoch;
};

struct model {
	struct objects *objects;
	struct blocks *blocks;
	struct freed *freed;

	struct site *sites[MODEL_SITES / SITES_CHUNK];
	uint32_t nr_sites;
	struct index site_index;

	struct size *sizes;
	uint32_t nr_sizes;
	struct index size_index;

	struct finding *findings;
	uint32_t nr_findings;
	struct index finding_index;

	struct counts counts;
	uint32_t epoch;
	uint64_t sequence;

	bool started;			/* the clock is chosen */
	bool has_time;
	uint64_t origin;
	uint64_t now;			/* since the origin, never goes back */

	uint64_t live[MODEL_TYPES];	/* bytes allocated */
	uint64_t live_all;
	uint64_t peak[MODEL_TYPES + 1];
	uint64_t peak_at[MODEL_TYPES + 1];
	struct timeline timeline;
};

/* Internals: call sites, sizes, findings */

static struct site *site_get(const struct model *model, uint32_t nr)
{
	return &model->sites[nr / SITES_CHUNK][nr % SITES_CHUNK];
}

static bool site_same(const void *table, uint32_t nr, const void *key)
{
	const struct site *a = site_get(table, nr), *b = key;

	return a->call_site == b->call_site && a->tag == b->tag &&
	       a->type == b->type;
}

static uint64_t site_hash(uint64_t call_site, uint16_t tag, uint8_t type)
{
	return hash_u64(call_site ^ (uint64_t)tag << 44 ^ (uint64_t)type << 60);
}

static uint32_t site_add(struct model *model, uint64_t call_site, uint16_t tag,
			 uint8_t type)
{
	uint32_t nr = model->nr_sites++;
	struct site *site;

	if (!model->sites[nr / SITES_CHUNK])
		model->sites[nr / SITES_CHUNK] =
			need_memory(SITES_CHUNK, sizeof(*site));
	site = site_get(model, nr);
	site->call_site = call_site;
	site->tag = tag;
	site->type = type;
	site->last_size = INDEX_NONE;
	index_add(&model->site_index, site_hash(call_site, tag, type), nr);
	return nr;
}

static bool size_same(const void *table, uint32_t nr, const void *key)
{
	const struct size *a = (const struct size *)table + nr, *b = key;

	return a->site == b->site &&
	       a->bytes.requested == b->bytes.requested &&
	       a->bytes.allocated == b->bytes.allocated;
}

static uint32_t size_add(struct model *model, const struct size *size,
			 uint64_t hash)
{
	uint32_t nr = model->nr_sizes;

	if (nr == MODEL_SIZES)
		return INDEX_NONE;
	if (!(nr & (nr - 1)))
		model->sizes = need_more(model->sizes, nr ? nr * 2 : 1,
					 sizeof(*size));
	model->sizes[nr] = *size;
	model->nr_sizes++;
	index_add(&model->size_index, hash, nr);
	return nr;
}

/* Most call sites ask for the same size each time. */
static void count_size(struct model *model, uint32_t nr_site,
		       struct bytes bytes)
{
	struct size key = { bytes, nr_site, 0 };
	struct site *site = site_get(model, nr_site);
	uint32_t nr = site->last_size;
	uint64_t hash;

	if (nr == INDEX_NONE || !size_same(model->sizes, nr, &key)) {
		hash = hash_u64(bytes.requested ^
				hash_u64(bytes.allocated ^
					 (uint64_t)nr_site << 40));
		nr = index_find(&model->size_index, hash, size_same,
				model->sizes, &key);
		if (nr == INDEX_NONE)
			nr = size_add(model, &key, hash);
		site->last_size = nr;
	}
	if (nr == INDEX_NONE)
		model->counts.more_sizes++;
	else
		model->sizes[nr].allocs++;
}

static bool finding_same(const void *table, uint32_t nr, const void *key)
{
	const struct finding *a = (const struct finding *)table + nr, *b = key;

	return a->kind == b->kind && a->after_losses == b->after_losses &&
	       a->site == b->site && a->other == b->other;
}

static void finding_add(struct model *model, const struct finding *finding)
{
	uint64_t hash = hash_u64((uint64_t)finding->site << 32 ^
				 (uint64_t)finding->other << 8 ^
				 finding->kind << 1 ^ finding->after_losses);
	uint32_t nr = index_find(&model->finding_index, hash, finding_same,
				 model->findings, finding);

	if (nr != INDEX_NONE) {
		model->findings[nr].count++;
		return;
	}
	nr = model->nr_findings;
	if (nr == MODEL_FINDINGS)
		return;
	if (!(nr & (nr - 1)))
		model->findings = need_more(model->findings, nr ? nr * 2 : 1,
					    sizeof(*finding));
	model->findings[nr] = *finding;
	model->nr_findings++;
	index_add(&model->finding_index, hash, nr);
}

/* @epoch: when the memory was last heard of */
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
	finding_add(model, &finding);
}

static uint32_t site_of_free(struct model *model, const struct trace_record *r)
{
	return model_find_site(model, r->call_site, 0, r->type_id);
}

/* Internals: the clock, the time line */

static void timeline_double(struct timeline *timeline)
{
	unsigned int i, half = timeline->room / 2;
	struct moment *moments = timeline->moments, a, b;

	for (i = 0; i < half; i++) {
		a = moments[2 * i];
		b = moments[2 * i + 1];
		if (2 * i + 1 >= timeline->used)
			memcpy(b.live, a.live, sizeof(b.live));
		b.allocs += a.allocs;
		b.frees += a.frees;
		b.peak = max_u64(a.peak, b.peak);
		moments[i] = b;
	}
	memset(&moments[half], 0, half * sizeof(*moments));
	timeline->used = (timeline->used + 1) / 2;
	timeline->shift++;
}

/* What is live at the end of the moment, and in those after it till @upto. */
static void timeline_reach(struct model *model, unsigned int upto)
{
	struct timeline *timeline = &model->timeline;
	struct moment *moment = &timeline->moments[timeline->used - 1];

	memcpy(moment->live, model->live, sizeof(moment->live));
	while (timeline->used <= upto) {
		moment = &timeline->moments[timeline->used++];
		memcpy(moment->live, model->live, sizeof(moment->live));
		moment->peak = model->live_all;
	}
}

static struct moment *moment_now(struct model *model)
{
	struct timeline *timeline = &model->timeline;
	uint64_t nr = model->now >> timeline->shift;

	if (nr >= timeline->used) {
		timeline_reach(model, 0);
		while (model->now >> timeline->shift >= timeline->room)
			timeline_double(timeline);
		nr = model->now >> timeline->shift;
		timeline_reach(model, nr);
	}
	return &timeline->moments[nr];
}

/* Records of several CPUs are in order by number; their times may not quite be. */
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
	uint64_t *live = &model->live[site->type];

	s->live++;
	s->live_bytes.requested = sat_add(s->live_bytes.requested,
					  bytes.requested);
	s->live_bytes.allocated = sat_add(s->live_bytes.allocated,
					  bytes.allocated);
	*live = sat_add(*live, bytes.allocated);
	model->live_all = sat_add(model->live_all, bytes.allocated);
	peak_note(model, site->type, *live);
	peak_note(model, MODEL_TYPES, model->live_all);
}

static void live_less(struct model *model, struct site *site,
		      struct bytes bytes)
{
	struct stats *s = &site->stats;
	uint64_t *live = &model->live[site->type];

	s->live--;
	s->live_bytes.requested = sat_sub(s->live_bytes.requested,
					  bytes.requested);
	s->live_bytes.allocated = sat_sub(s->live_bytes.allocated,
					  bytes.allocated);
	*live = sat_sub(*live, bytes.allocated);
	model->live_all = sat_sub(model->live_all, bytes.allocated);
}

static void lifetimes_count(struct lifetimes *l, uint64_t time)
{
	unsigned int bucket = time ? 64 - __builtin_clzll(time) : 0;

	if (bucket >= LIFETIME_BUCKETS)
		bucket = LIFETIME_BUCKETS - 1;
	l->bucket[bucket]++;
	l->min = l->count ? min_u64(l->min, time) : time;
	l->max = max_u64(l->max, time);
	l->count++;
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
	live_less(model, site_get(model, object->site),
		  object_freed(model->objects, object));
	object->born = FREED;
	object->epoch = model->epoch;
}

static struct bytes block_bytes(const struct block *block)
{
	return (struct bytes){ block->requested, block_size(block) };
}

/* A part of a block counts as live as soon as it is one by itself. */
static bool cut(struct model *model, uint64_t start, uint64_t last,
		struct block *part)
{
	struct block *whole = blocks_find(model->blocks, start, last);
	unsigned int parts;
	struct site *site;

	if (!whole)
		return false;
	site = site_get(model, whole->site);
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
	uint32_t nr = model_find_site(model, r->call_site, tag, r->type_id);
	struct bytes bytes = { r->bytes_req, r->bytes_alloc };
	struct site *site = site_get(model, nr);
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
	count_size(model, nr, bytes);
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
	struct site *site = site_get(model, object->site);

	if (site->type != r->type_id)
		found(model, wrong_api(site->type, r->type_id), object->epoch,
		      object->site, site_of_free(model, r), r);
	count_free(model, site, object->born, object->cpu, r);
	object_gone(model, object);
}

/* Nothing is known of the address: is anything of the page it is in? */
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

/* The last byte that a free of pages frees; old ABIs do not tell. */
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
 * A large kmalloc() is an object that fills a block. When the block goes and the
 * object is still there, the pages were freed without kfree().
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
		count_free(model, site_get(model, site), part.born, part.cpu, r);
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

static void model_record(struct model *model, const struct trace_record *r)
{
	struct moment *moment;

	advance(model, r);
	look_for_gap(model, r);
	model->counts.records++;
	moment = moment_now(model);
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
	moment->peak = max_u64(moment->peak, model->live_all);
}

/* Interface */

/**
 * model_new - the model of a trace of which no record was read
 * @moments: how many the time line has at most; even
 *
 * Return: the model, for model_free().
 */
struct model *model_new(unsigned int moments)
{
	struct model *model = need_memory(1, sizeof(*model));

	model->objects = objects_new();
	model->blocks = blocks_new();
	model->freed = need_memory(FREED_BLOCKS, sizeof(*model->freed));
	model->timeline.moments = need_memory(moments, sizeof(struct moment));
	model->timeline.room = moments;
	model->timeline.used = 1;
	return model;
}

/**
 * model_free - give back the memory
 * @model: from model_new()
 */
void model_free(struct model *model)
{
	unsigned int i;

	objects_free(model->objects);
	blocks_free(model->blocks);
	free(model->freed);
	for (i = 0; i < ARRAY_SIZE(model->sites); i++)
		free(model->sites[i]);
	index_free(&model->site_index);
	free(model->sizes);
	index_free(&model->size_index);
	free(model->findings);
	index_free(&model->finding_index);
	free(model->timeline.moments);
	free(model);
}

/**
 * model_read - read a trace
 * @model: from model_new(), once
 * @trace: from trace_open(), read to its end
 * @then: called with each record after the model has it, or NULL
 * @data: for @then
 *
 * A few records are read ahead, so that what the model knows of their addresses
 * is on its way from memory when it is needed.
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
	timeline_reach(model, 0);
}

/**
 * model_counts - how many records there were, and of what
 * @model: from model_new()
 *
 * Return: the counts, valid until model_free().
 */
const struct counts *model_counts(const struct model *model)
{
	return &model->counts;
}

/**
 * model_nr_sites - number of call sites
 * @model: from model_new()
 *
 * Return: the number; some may only have freed.
 */
uint32_t model_nr_sites(const struct model *model)
{
	return model->nr_sites;
}

/**
 * model_site - a call site by its number
 * @model: from model_new()
 * @nr: less than model_nr_sites()
 *
 * Return: the call site, valid until model_free().
 */
const struct site *model_site(const struct model *model, uint32_t nr)
{
	return site_get(model, nr);
}

/**
 * model_find_site - the number of a call site, a new one where it is unknown
 * @model: from model_new()
 * @call_site: its address
 * @tag: its code tag, 0 for none
 * @type: enum kmemtrace_type_id
 *
 * Return: the number; that of the unknown call site when there are too many.
 */
uint32_t model_find_site(struct model *model, uint64_t call_site,
			 uint16_t tag, uint8_t type)
{
	struct site key = { .call_site = call_site, .tag = tag, .type = type };
	uint64_t hash = site_hash(call_site, tag, type);
	uint32_t nr = index_find(&model->site_index, hash, site_same, model,
				 &key);

	if (nr != INDEX_NONE)
		return nr;
	if (model->nr_sites < NO_SITE - MODEL_TYPES)
		return site_add(model, call_site, tag, type);
	model->counts.more_sites++;
	if (call_site || tag)
		return model_find_site(model, 0, 0, type);
	return site_add(model, 0, 0, type);
}

/**
 * model_sizes - sizes of allocations by call site
 * @model: from model_new()
 * @nr: out, how many there are
 *
 * Return: all of them, in no order.
 */
const struct size *model_sizes(const struct model *model, uint32_t *nr)
{
	*nr = model->nr_sizes;
	return model->sizes;
}

/**
 * model_findings - what is wrong
 * @model: from model_new()
 * @nr: out, how many there are
 *
 * Return: all of them, by when they were first found.
 */
const struct finding *model_findings(const struct model *model, uint32_t *nr)
{
	*nr = model->nr_findings;
	return model->findings;
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
 * model_each_live - visit what is live
 * @model: from model_new()
 * @fn: called for each object and block with its call site and size, in no order
 * @data: for @fn
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
 * model_timeline - live bytes over the trace
 * @model: from model_new()
 *
 * Return: the time line, valid until model_free().
 */
const struct timeline *model_timeline(const struct model *model)
{
	return &model->timeline;
}

/**
 * model_has_time - what the clock counts
 * @model: from model_new()
 *
 * Return: true for nanoseconds, false for sequence numbers, which are events.
 */
bool model_has_time(const struct model *model)
{
	return model->has_time;
}

/**
 * model_duration - from the first record to the last
 * @model: from model_new()
 *
 * Return: how long, on the clock of the trace.
 */
uint64_t model_duration(const struct model *model)
{
	return model->now;
}

/**
 * model_peak - most that was live at once
 * @model: from model_new()
 * @type: enum kmemtrace_type_id, or MODEL_TYPES for all together
 * @when: out, time from the beginning of the trace
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
 * model_errors - how much is wrong for certain
 * @model: from model_new()
 *
 * Return: findings that are not allowed and that no loss of records explains.
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

static void lifetimes_add(struct lifetimes *sum, const struct lifetimes *l)
{
	unsigned int i;

	if (!l->count)
		return;
	sum->min = sum->count ? min_u64(sum->min, l->min) : l->min;
	sum->max = max_u64(sum->max, l->max);
	sum->count += l->count;
	for (i = 0; i < LIFETIME_BUCKETS; i++)
		sum->bucket[i] += l->bucket[i];
}

/**
 * stats_add - add one to a sum
 * @sum: grows
 * @stats: what to add
 */
void stats_add(struct stats *sum, const struct stats *stats)
{
	sum->allocs += stats->allocs;
	sum->requested = sat_add(sum->requested, stats->requested);
	sum->allocated = sat_add(sum->allocated, stats->allocated);
	sum->frees += stats->frees;
	sum->live += stats->live;
	sum->live_bytes.requested = sat_add(sum->live_bytes.requested,
					    stats->live_bytes.requested);
	sum->live_bytes.allocated = sat_add(sum->live_bytes.allocated,
					    stats->live_bytes.allocated);
	sum->failed += stats->failed;
	sum->cross_allocs += stats->cross_allocs;
	sum->cross_frees += stats->cross_frees;
	lifetimes_add(&sum->lifetimes, &stats->lifetimes);
}

/**
 * lifetimes_median - about how long half of what was freed had lived at most
 * @lifetimes: of what was freed
 *
 * Return: the median, rounded up to a power of two less one, within the shortest
 * and the longest.
 */
uint64_t lifetimes_median(const struct lifetimes *lifetimes)
{
	uint64_t seen = 0, top;
	unsigned int i;

	for (i = 0; i < LIFETIME_BUCKETS; i++) {
		seen += lifetimes->bucket[i];
		if (seen >= lifetimes->count - lifetimes->count / 2)
			break;
	}
	top = i < LIFETIME_BUCKETS - 1 ? (1ull << i) - 1 : UINT64_MAX;
	return max_u64(lifetimes->min, min_u64(top, lifetimes->max));
}
