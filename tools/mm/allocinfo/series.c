// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minima of blocks of snapshots, see series.h.
 *
 * A call site that is not in a snapshot holds nothing then: its module is not loaded. Two
 * lines of a snapshot that name the same call site are added.
 */
#include <stdlib.h>
#include <string.h>

#include "series.h"
#include "utf8.h"

/* Internals */

static bool same_site(const void *table, uint32_t nr, const void *key)
{
	const struct series *series = table;

	return !site_compare(&series[nr].site, key);
}

static struct series *new_series(struct series_set *set, const struct site *site)
{
	struct series *series;

	if (set->nr == set->room) {
		set->room = set->room ? 2 * set->room : 1024;
		set->series = need_more(set->series, set->room, sizeof(*set->series));
	}
	index_add(&set->index, site_hash(site), set->nr);
	series = &set->series[set->nr++];
	*series = (struct series){ .site = *site };
	series->site.file = need_string(site->file);
	series->site.module = need_string(site->module);
	series->site.func = need_string(site->func);
	series->site.bytes = 0;
	series->site.calls = 0;
	return series;
}

static struct series *find_series(struct series_set *set, const struct site *site)
{
	uint32_t nr = set->next;

	if (nr >= set->nr || !same_site(set->series, nr, site))
		nr = index_find(&set->index, site_hash(site), same_site, set->series, site);
	if (nr == INDEX_NONE)
		nr = new_series(set, site) - set->series;
	set->next = nr + 1;
	return &set->series[nr];
}

static void merge_minima(int64_t (*minima)[2], unsigned int nr)
{
	unsigned int i, what;
	int64_t a, b;

	for (i = 0; i < nr / 2; i++) {
		for (what = 0; what < 2; what++) {
			a = minima[2 * i][what];
			b = minima[2 * i + 1][what];
			minima[i][what] = a < b ? a : b;
		}
	}
}

static void merge_blocks(struct series_set *set)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < set->blocks / 2; i++) {
		set->begin[i] = set->begin[2 * i];
		set->end[i] = set->end[2 * i + 1];
	}
	for (k = 0; k < set->nr; k++) {
		if (set->series[k].minima)
			merge_minima(set->series[k].minima, set->blocks);
	}
	set->blocks /= 2;
	set->length *= 2;
}

static void next_block(struct series_set *set, double time)
{
	if (!set->length)
		set->length = 1;
	if (!set->blocks || set->filled == set->length) {
		if (set->blocks == TREND_POINTS)
			merge_blocks(set);
		set->begin[set->blocks++] = time;
		set->filled = 0;
	}
	set->end[set->blocks - 1] = time;
	set->filled++;
}

static void make_minima(const struct series_set *set, struct series *series)
{
	unsigned int i;

	series->minima = need_memory(TREND_POINTS, sizeof(*series->minima));
	for (i = 0; i < set->blocks; i++)
		memcpy(series->minima[i], series->first, sizeof(series->first));
}

static void enter(const struct series_set *set, struct series *series)
{
	int64_t now[2] = { series->site.bytes, series->site.calls };
	int64_t *last;
	unsigned int what;

	if (!series->minima) {
		if (!set->snapshots)
			memcpy(series->first, now, sizeof(now));
		if (!memcmp(series->first, now, sizeof(now)))
			return;
		make_minima(set, series);
	}
	last = series->minima[set->blocks - 1];
	for (what = 0; what < 2; what++) {
		if (set->filled == 1 || now[what] < last[what])
			last[what] = now[what];
	}
}

/* Interface */

/**
 * series_add - add a snapshot
 * @set: the call sites; all zero before the first snapshot
 * @time: time in seconds
 * @table: the snapshot
 *
 * Return: false if the snapshot is not later than the last one; it is not added then.
 */
bool series_add(struct series_set *set, double time, const struct table *table)
{
	const struct site *site;
	struct series *series;
	size_t i;

	if (set->blocks && time <= set->end[set->blocks - 1])
		return false;
	next_block(set, time);
	for (i = 0; i < set->nr; i++) {
		set->series[i].site.bytes = 0;
		set->series[i].site.calls = 0;
	}
	set->next = 0;
	for (site = table->sites; site < table->sites + table->nr; site++) {
		series = find_series(set, site);
		/* a damaged file may contain any number */
		if (__builtin_add_overflow(series->site.bytes, site->bytes,
					   &series->site.bytes))
			series->site.bytes = INT64_MAX;
		if (__builtin_add_overflow(series->site.calls, site->calls,
					   &series->site.calls))
			series->site.calls = INT64_MAX;
	}
	for (i = 0; i < set->nr; i++)
		enter(set, &set->series[i]);
	set->snapshots++;
	return true;
}

/* A last block that is less than half full is counted with the one before it. */
static bool last_is_short(const struct series_set *set)
{
	return set->blocks > 1 && 2 * set->filled < set->length;
}

/**
 * series_times - get the times of the blocks
 * @set: the call sites
 * @time: set to the middle of each block
 *
 * Return: number of blocks.
 */
unsigned int series_times(const struct series_set *set, double *time)
{
	unsigned int nr = set->blocks - last_is_short(set), i;

	for (i = 0; i < nr; i++)
		time[i] = (set->begin[i] + set->end[i]) / 2;
	return nr;
}

/**
 * series_changed - has what a call site holds ever changed?
 * @series: the call site
 *
 * Return: false if it was the same in all snapshots.
 */
bool series_changed(const struct series *series)
{
	return series->minima;
}

/**
 * series_values - get the minima of a call site
 * @set: the call sites
 * @series: one that changed
 * @what: 0 for bytes, 1 for calls
 * @value: set to the minimum of each block
 */
void series_values(const struct series_set *set, const struct series *series,
		   unsigned int what, double *value)
{
	unsigned int i;

	for (i = 0; i < set->blocks; i++)
		value[i] = series->minima[i][what];
	if (last_is_short(set) && value[i - 1] < value[i - 2])
		value[i - 2] = value[i - 1];
}

/**
 * series_clean - make the names of the call sites safe for a terminal and for JSON
 * @set: the call sites; no snapshot can be added afterwards
 */
void series_clean(struct series_set *set)
{
	size_t i;

	for (i = 0; i < set->nr; i++) {
		clean_name((char *)set->series[i].site.file);
		clean_name((char *)set->series[i].site.module);
		clean_name((char *)set->series[i].site.func);
	}
}

/**
 * series_free - free everything
 * @set: the call sites; all zero afterwards
 */
void series_free(struct series_set *set)
{
	size_t i;

	for (i = 0; i < set->nr; i++) {
		free((char *)set->series[i].site.file);
		free((char *)set->series[i].site.module);
		free((char *)set->series[i].site.func);
		free(set->series[i].minima);
	}
	free(set->series);
	index_free(&set->index);
	*set = (struct series_set){ 0 };
}
