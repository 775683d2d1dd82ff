// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide which call sites leak, see leak.h.
 *
 * Both the bytes and the calls of a leak rise: memory that is never freed belongs to an
 * allocation that is never freed. The bytes decide; the calls only have to stay, because
 * a call site that also makes many short allocations has noisy calls.
 *
 * The pages of slabs rise with the objects in them. If call sites that leak explain most of
 * their rise, only those are reported. Otherwise slabs get emptier, or their objects are on
 * no line: that is reported.
 *
 * When a call site becomes hot, the kernel allocates per-CPU parts for its counter and never
 * frees them. So their number rises for hours after boot, but only up to the number of call sites.
 */
#include <math.h>
#include <stdlib.h>

#include "balance.h"
#include "leak.h"

/*
 * Compute how fast the calls rise, from the time on at which the bytes began to. Noise may make
 * the calls fall for a while; trend_find() computes no rate then.
 */
static void rate_calls(const double *time, const double *calls, unsigned int nr,
		       struct leak *leak)
{
	unsigned int begin = 0;
	double factor = 1;

	while (time[begin] < leak->bytes.since)
		begin++;
	trend_kendall(time, calls, nr, begin, &factor);
	trend_slope(time + begin, calls + begin, nr - begin, factor, &leak->calls);
}

static void judge(const struct series_set *set, const double *time, unsigned int nr,
		  const struct series *series, double trials, struct leak *leak)
{
	double value[TREND_POINTS];

	leak->series = series;
	series_values(set, series, 0, value);
	trend_find(time, value, nr, trials, &leak->bytes);
	leak->calls = (struct trend){ 0 };
	if (leak->bytes.verdict != TREND_LEAK)
		return;
	series_values(set, series, 1, value);
	trend_find(time, value, nr, 1, &leak->calls);
	rate_calls(time, value, nr, leak);
	if (leak->calls.rise <= 0)
		leak->bytes.verdict = TREND_FLAT;
	else if (balance_holds_counters(&series->site) && value[nr - 1] <= set->nr)
		leak->bytes.verdict = TREND_BOUNDED;
}

static int compare_leaks(const void *a, const void *b)
{
	const struct leak *x = a, *y = b;
	bool p = x->bytes.verdict == TREND_LEAK, q = y->bytes.verdict == TREND_LEAK;

	if (p != q)
		return q - p;
	if (p && x->bytes.slope != y->bytes.slope)
		return x->bytes.slope < y->bytes.slope ? 1 : -1;
	if (x->bytes.rise != y->bytes.rise)
		return x->bytes.rise < y->bytes.rise ? 1 : -1;
	return site_compare(&x->series->site, &y->series->site);
}

static void judge_all(const struct series_set *set, struct leaks *leaks)
{
	double time[TREND_POINTS];
	unsigned int nr = series_times(set, time);
	struct leak *leak = leaks->list;
	size_t i;

	leaks->enough = nr >= TREND_POINTS_MIN;
	for (i = 0; i < set->nr; i++) {
		if (!series_changed(&set->series[i]))
			continue;
		judge(set, time, nr, &set->series[i], leaks->changed, leak);
		if (leak->bytes.rise > 0)
			leak++;
	}
	leaks->nr = leak - leaks->list;
}

static bool is_leak(const struct leak *leak)
{
	return leak->bytes.verdict == TREND_LEAK;
}

/* Adds up the leaks of pages whose objects have lines, too, or of all other lines. */
static double sum_of_slopes(const struct leaks *leaks, bool holds_objects)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < leaks->nr; i++) {
		if (is_leak(&leaks->list[i]) &&
		    balance_holds_objects(&leaks->list[i].series->site) == holds_objects)
			sum += leaks->list[i].bytes.slope;
	}
	return sum;
}

static void excuse_pages(struct leaks *leaks)
{
	double lost = sum_of_slopes(leaks, false);
	size_t i;

	for (i = 0; i < leaks->nr; i++) {
		if (is_leak(&leaks->list[i]) &&
		    balance_holds_objects(&leaks->list[i].series->site) &&
		    leaks->list[i].bytes.slope <= 2 * lost)
			leaks->list[i].bytes.verdict = TREND_OBJECTS;
	}
}

/**
 * leaks_find - find the call sites that leak
 * @set: what the call sites held
 * @leaks: the result, for leaks_free(); valid as long as @set does not change. The caller
 *	sets @available.
 */
void leaks_find(const struct series_set *set, struct leaks *leaks)
{
	size_t i;

	*leaks = (struct leaks){ .sites = set->nr, .snapshots = set->snapshots };
	if (set->blocks) {
		leaks->begin = set->begin[0];
		leaks->end = set->end[set->blocks - 1];
	}
	for (i = 0; i < set->nr; i++)
		leaks->changed += series_changed(&set->series[i]);
	leaks->list = need_memory(leaks->changed, sizeof(*leaks->list));
	judge_all(set, leaks);
	excuse_pages(leaks);
	qsort(leaks->list, leaks->nr, sizeof(*leaks->list), compare_leaks);
	for (i = 0; i < leaks->nr && is_leak(&leaks->list[i]); i++)
		;
	leaks->found = i;
	/* At least: the objects may be in the pages, so the sum of both may be too much. */
	leaks->slope = fmax(sum_of_slopes(leaks, true), sum_of_slopes(leaks, false));
}

/**
 * leaks_free - free the result
 * @leaks: the result
 */
void leaks_free(struct leaks *leaks)
{
	free(leaks->list);
}

/**
 * leaks_memory_ends - when is no memory left?
 * @leaks: the result
 * @slope: bytes a second that are lost
 *
 * Return: seconds from the last snapshot on, or below 0 if that is unknown.
 */
double leaks_memory_ends(const struct leaks *leaks, double slope)
{
	return leaks->available && slope > 0 ? leaks->available / slope : -1;
}
