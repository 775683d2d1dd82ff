// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counts of the kernel, see record.h: its files "stats" and "total_overruns".
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

static bool parse_stats(const char *line, struct stats *s)
{
	unsigned long long v[6];

	if (sscanf(line, "%u %llu %llu %llu %llu %llu %llu", &s->cpu, &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5]) != 7)
		return false;
	s->events = v[0];
	s->bytes = v[1];
	s->lost_events = v[2];
	s->lost_bytes = v[3];
	s->untold_events = v[4];
	s->untold_bytes = v[5];
	return true;
}

void read_stats(struct all_stats *all)
{
	struct stats s, *more;
	struct text text;
	char *line, *next;

	free(all->cpus);
	*all = (struct all_stats){ .overruns = read_value("total_overruns", -1) };
	all->known = read_file("stats", &text);
	if (!all->known)
		return;
	for (line = text.s; *line; line = next) {
		next = strchrnul(line, '\n');
		next += *next == '\n';
		if (*line == '#' || !parse_stats(line, &s))
			continue;
		more = realloc(all->cpus, (all->nr + 1) * sizeof(*more));
		all->known = more;
		if (!more)
			break;
		all->cpus = more;
		all->cpus[all->nr++] = s;
	}
	free(text.s);
}

struct stats stats_of(const struct all_stats *all, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < all->nr; i++)
		if (all->cpus[i].cpu == cpu)
			return all->cpus[i];
	return (struct stats){ .cpu = cpu };
}

struct stats sum_stats(const struct all_stats *all)
{
	struct stats sum = { 0 };
	size_t i;

	for (i = 0; i < all->nr; i++) {
		sum.events += all->cpus[i].events;
		sum.bytes += all->cpus[i].bytes;
		sum.lost_events += all->cpus[i].lost_events;
		sum.lost_bytes += all->cpus[i].lost_bytes;
	}
	return sum;
}

/* Only a kernel with "stats" reports what each CPU lost. */
bool losses_known(void)
{
	return rec.before.known && rec.after.known;
}

bool has_lost(void)
{
	if (rec.unknown)
		return false;
	/* The losses before --rest belong to the recording that --rest fetches. */
	if (!losses_known())
		return rec.after.overruns !=
		       (options.rest ? 0 : rec.before.overruns);
	return sum_stats(&rec.after).lost_events !=
	       sum_stats(&rec.before).lost_events;
}
