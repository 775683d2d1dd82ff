// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites, sizes and findings, see report-sites.h.
 */
#include <stdlib.h>

#include "report-sites.h"

/* Internals */

static bool site_same(const void *table, uint32_t nr, const void *key)
{
	const struct site *a = sites_get(table, nr), *b = key;

	return a->call_site == b->call_site && a->tag == b->tag &&
	       a->type == b->type;
}

static uint64_t site_hash(uint64_t call_site, uint16_t tag, uint8_t type)
{
	return hash_u64(call_site ^ (uint64_t)tag << 44 ^ (uint64_t)type << 60);
}

static uint32_t site_add(struct sites *sites, uint64_t call_site, uint16_t tag,
			 uint8_t type)
{
	uint32_t nr = sites->nr++;
	struct site *site;

	if (!sites->chunks[nr / SITES_CHUNK])
		sites->chunks[nr / SITES_CHUNK] =
			need_memory(SITES_CHUNK, sizeof(*site));
	site = sites_get(sites, nr);
	site->call_site = call_site;
	site->tag = tag;
	site->type = type;
	site->last_size = INDEX_NONE;
	index_add(&sites->index, site_hash(call_site, tag, type), nr);
	return nr;
}

static bool size_same(const void *table, uint32_t nr, const void *key)
{
	const struct size *a = (const struct size *)table + nr, *b = key;

	return a->site == b->site &&
	       a->bytes.requested == b->bytes.requested &&
	       a->bytes.allocated == b->bytes.allocated;
}

static uint32_t size_add(struct sizes *sizes, const struct size *size, uint64_t hash)
{
	uint32_t nr = sizes->nr;

	if (nr == MODEL_SIZES)
		return INDEX_NONE;
	if (!(nr & (nr - 1)))
		sizes->list = need_more(sizes->list, nr ? nr * 2 : 1, sizeof(*size));
	sizes->list[nr] = *size;
	sizes->nr++;
	index_add(&sizes->index, hash, nr);
	return nr;
}

static bool finding_same(const void *table, uint32_t nr, const void *key)
{
	const struct finding *a = (const struct finding *)table + nr, *b = key;

	return a->kind == b->kind && a->after_losses == b->after_losses &&
	       a->site == b->site && a->other == b->other;
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

/* Interface */

/**
 * sites_find - find a call site, or add it
 * @sites: all call sites
 * @call_site: its address
 * @tag: its code tag, 0 for none
 * @type: enum kmemtrace_type_id
 * @more: incremented if the call site exceeds the limit
 *
 * Return: the number of the call site. Beyond the limit it is that of the unknown call
 * site of this type.
 */
uint32_t sites_find(struct sites *sites, uint64_t call_site, uint16_t tag, uint8_t type,
		    uint64_t *more)
{
	struct site key = { .call_site = call_site, .tag = tag, .type = type };
	uint64_t hash = site_hash(call_site, tag, type);
	uint32_t nr = index_find(&sites->index, hash, site_same, sites, &key);

	if (nr != INDEX_NONE)
		return nr;
	if (sites->nr < NO_SITE - MODEL_TYPES)
		return site_add(sites, call_site, tag, type);
	++*more;
	if (call_site || tag)
		return sites_find(sites, 0, 0, type, more);
	return site_add(sites, 0, 0, type);
}

/**
 * sites_free - free the memory of the call sites
 * @sites: all call sites
 */
void sites_free(struct sites *sites)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sites->chunks); i++)
		free(sites->chunks[i]);
	index_free(&sites->index);
}

/**
 * sizes_count - count the size of an allocation
 * @sizes: all sizes
 * @site: call site of the allocation
 * @nr_site: number of @site
 * @bytes: size of the allocation
 *
 * Most call sites allocate the same size each time, so the last one is tried first.
 *
 * Return: false if the size exceeds the limit.
 */
bool sizes_count(struct sizes *sizes, struct site *site, uint32_t nr_site,
		 struct bytes bytes)
{
	struct size key = { bytes, nr_site, 0 };
	uint32_t nr = site->last_size;
	uint64_t hash;

	if (nr == INDEX_NONE || !size_same(sizes->list, nr, &key)) {
		hash = hash_u64(bytes.requested ^
				hash_u64(bytes.allocated ^
					 (uint64_t)nr_site << 40));
		nr = index_find(&sizes->index, hash, size_same, sizes->list, &key);
		if (nr == INDEX_NONE)
			nr = size_add(sizes, &key, hash);
		site->last_size = nr;
	}
	if (nr == INDEX_NONE)
		return false;
	sizes->list[nr].allocs++;
	return true;
}

/**
 * sizes_free - free the memory of the sizes
 * @sizes: all sizes
 */
void sizes_free(struct sizes *sizes)
{
	free(sizes->list);
	index_free(&sizes->index);
}

/**
 * findings_add - add a finding, or count it if there is one like it
 * @findings: all findings
 * @finding: the finding
 */
void findings_add(struct findings *findings, const struct finding *finding)
{
	uint64_t hash = hash_u64((uint64_t)finding->site << 32 ^
				 (uint64_t)finding->other << 8 ^
				 finding->kind << 1 ^ finding->after_losses);
	uint32_t nr = index_find(&findings->index, hash, finding_same, findings->list,
				 finding);

	if (nr != INDEX_NONE) {
		findings->list[nr].count++;
		return;
	}
	nr = findings->nr;
	if (nr == MODEL_FINDINGS)
		return;
	if (!(nr & (nr - 1)))
		findings->list = need_more(findings->list, nr ? nr * 2 : 1,
					   sizeof(*finding));
	findings->list[nr] = *finding;
	findings->nr++;
	index_add(&findings->index, hash, nr);
}

/**
 * findings_free - free the memory of the findings
 * @findings: all findings
 */
void findings_free(struct findings *findings)
{
	free(findings->list);
	index_free(&findings->index);
}

/**
 * stats_add - add to sums
 * @sum: the sums
 * @stats: the sums to add
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
 * lifetimes_count - count a lifetime
 * @l: lifetimes
 * @time: from the allocation to the free
 */
void lifetimes_count(struct lifetimes *l, uint64_t time)
{
	unsigned int bucket = time ? 64 - __builtin_clzll(time) : 0;

	if (bucket >= LIFETIME_BUCKETS)
		bucket = LIFETIME_BUCKETS - 1;
	l->bucket[bucket]++;
	l->min = l->count ? min_u64(l->min, time) : time;
	l->max = max_u64(l->max, time);
	l->count++;
}

/**
 * lifetimes_median - estimate the median of lifetimes
 * @lifetimes: the lifetimes
 *
 * Return: the median, rounded up to a power of two less one, but at least the shortest and
 * at most the longest lifetime.
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
