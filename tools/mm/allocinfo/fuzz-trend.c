// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile series for the search for trends.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that measures how
 * often the tests take series without a trend for a rise, and fails if that is too often:
 * noise, noise that is correlated with itself, and random walks. The seed differs from run
 * to run and is printed; an argument sets it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "expect.h"
#include "trend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * LLVMFuzzerTestOneInput - judge a series
 * @data: a byte for the distance in time and eight for the value of each point
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double time[TREND_POINTS], value[TREND_POINTS], now = 0;
	struct trend trend;
	unsigned int nr = 0;
	int64_t number;

	for (; size >= 9 && nr < TREND_POINTS; data += 9, size -= 9, nr++) {
		now += 1 + data[0];
		time[nr] = now;
		memcpy(&number, data + 1, sizeof(number));
		value[nr] = number;
	}
	trend_find(time, value, nr, 1000, &trend);
	EXPECT((trend.verdict == TREND_SHORT) == (nr < TREND_POINTS_MIN));
	EXPECT(*trend_reason(trend.verdict));
	EXPECT(isfinite(trend.z) && trend.p >= 0 && trend.p <= 1);
	if (trend.verdict == TREND_LEAK) {
		EXPECT(trend.rise > 0 && trend.p < 0.001);
		EXPECT(trend.low <= trend.slope && trend.slope <= trend.high);
		EXPECT(trend.since >= time[0] && trend.since <= time[nr - 1]);
	}
	return 0;
}

#ifdef FUZZ_MAIN

#define SERIES	1000u

/* as in a normal distribution, with mean 0 and variance 1 */
static double gauss(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += drand48();
	return sum - 6;
}

/* what the tests said of SERIES series */
struct alarms {
	unsigned int plain;	/* Mann and Kendall without a correction, at 5 % */
	unsigned int corrected;	/* with the correction, at 5 % */
	unsigned int leaks;	/* trend_find() for a single series, without Bonferroni */
};

/* Each value keeps a part of the one before it. At 1 this is a random walk. */
static void measure(double keep, struct alarms *alarms)
{
	double time[TREND_POINTS], value[TREND_POINTS], factor, z;
	struct trend trend;
	unsigned int i, k;

	*alarms = (struct alarms){ 0 };
	for (i = 0; i < SERIES; i++) {
		value[0] = gauss() / sqrt(keep < 1 ? 1 - keep * keep : 1);
		for (k = 0; k < TREND_POINTS; k++) {
			time[k] = k;
			if (k)
				value[k] = keep * value[k - 1] + gauss();
		}
		z = trend_kendall(time, value, TREND_POINTS, 0, &factor);
		alarms->plain += z * sqrt(factor) > 1.645;
		alarms->corrected += z > 1.645;
		trend_find(time, value, TREND_POINTS, 1, &trend);
		alarms->leaks += trend.verdict == TREND_LEAK;
	}
}

int main(int argc, char **argv)
{
	static const double keeps[] = { 0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1 };
	long seed = argc > 1 ? atol(argv[1]) : time(NULL);
	struct alarms alarms;
	size_t i;

	srand48(seed);
	printf("seed %ld; alarms in %u series without a trend\n", seed, SERIES);
	printf("keeps  plain  corrected  leaks\n");
	for (i = 0; i < sizeof(keeps) / sizeof(*keeps); i++) {
		measure(keeps[i], &alarms);
		printf("%5.2f  %4.1f%%  %8.1f%%  %4.1f%%\n", keeps[i],
		       alarms.plain * 100.0 / SERIES, alarms.corrected * 100.0 / SERIES,
		       alarms.leaks * 100.0 / SERIES);
		EXPECT(!alarms.leaks || keeps[i] == 1);
		EXPECT(alarms.leaks < SERIES / 100);
	}
	return 0;
}
#endif
