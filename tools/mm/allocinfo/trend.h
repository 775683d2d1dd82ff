/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a series rise for good? The statistics behind `allocinfo leak`, free of I/O.
 *
 * A series is what a call site held over time, as the minimum of each of at most
 * TREND_POINTS blocks of equal length. A cache that is emptied now and then, a burst that
 * is freed again, and noise raise single samples; only memory that stays raises the
 * minima.
 *
 * Series of memory are strongly autocorrelated, and many rise once and then stop. So a
 * significant trend is not enough: trend_find() says at which of its tests a series fails.
 */
#ifndef _ALLOCINFO_TREND_H
#define _ALLOCINFO_TREND_H

#include <stdbool.h>

/* A series has 64 to 128 blocks once it is long enough. */
#define TREND_POINTS	128u
/* With fewer points, even a perfect line could be chance among thousands of series. */
#define TREND_POINTS_MIN	20u

/**
 * enum trend_verdict - what a series is, and if it is no leak, why
 * @TREND_LEAK: it rises for good
 * @TREND_SHORT: there are too few points to say
 * @TREND_FLAT: what it holds at least did not rise
 * @TREND_FALLS: it fell by more than it rose, as a cache does under pressure
 * @TREND_ONCE: it rose in one or a few steps, and not otherwise
 * @TREND_STOPS: it rose, but does so no more, or ever more slowly
 * @TREND_LATE: it rose for a small part of the time only
 * @TREND_CHANCE: it rose no more steadily than one of so many series does by chance
 * @TREND_OBJECTS: it rose because what it holds rose, which has series of its own.
 *	trend_find() does not know that; its caller does.
 * @TREND_BOUNDED: it rises, but only up to a known limit. Only the caller of trend_find()
 *	knows that limit.
 */
enum trend_verdict {
	TREND_LEAK,
	TREND_SHORT,
	TREND_FLAT,
	TREND_FALLS,
	TREND_ONCE,
	TREND_STOPS,
	TREND_LATE,
	TREND_CHANCE,
	TREND_OBJECTS,
	TREND_BOUNDED,
};

/**
 * struct trend - what is known about a series
 * @verdict: the result
 * @z: Mann-Kendall statistic, corrected for ties and autocorrelation, in standard
 *	deviations
 * @p: probability of such a @z, or of a larger one, without a trend
 * @slope: rise a second from @since on
 * @low: lower end of the 95 % interval of @slope
 * @high: its upper end
 * @since: time at which it began to rise
 * @from_start: it rose from the first point on, so it may have begun before
 * @rise: by how much the floor rose
 * @fall: the deepest fall of the series
 * @rises: effective number of separate rises
 * @lasts: part of the time in which it rose
 * @speed_up: rise of the floor in the last third of that time, for 1 in the first
 */
struct trend {
	enum trend_verdict verdict;
	double z;
	double p;
	double slope;
	double low;
	double high;
	double since;
	bool from_start;
	double rise;
	double fall;
	double rises;
	double lasts;
	double speed_up;
};

const char *trend_reason(enum trend_verdict verdict);
double trend_kendall(const double *time, const double *value, unsigned int nr,
		     unsigned int begin, double *factor);
void trend_slope(const double *time, const double *value, unsigned int nr,
		 double factor, struct trend *trend);
unsigned int trend_begin(const double *time, const double *value, unsigned int nr);
void trend_find(const double *time, const double *value, unsigned int nr,
		double trials, struct trend *trend);

#endif /* _ALLOCINFO_TREND_H */
