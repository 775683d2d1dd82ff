/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks in a log and their names: the file "pids.dat".
 */
#ifndef _KMON_PIDS_H
#define _KMON_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

struct pid_entry;
struct replace;

/**
 * struct pids - the tasks seen so far
 * @entries: tasks, in the order of their first records
 * @nr: number of @entries
 * @room: number of @entries that fit
 * @index: finds a task by its pid
 * @sites: there were records with call sites
 */
struct pids {
	struct pid_entry *entries;
	uint32_t nr;
	uint32_t room;
	struct index index;
	bool sites;
};

void pids_see(struct pids *pids, uint32_t pid);
void pids_see_records(struct pids *pids, const uint8_t *data, size_t size);
void pids_look_again(struct pids *pids);
bool pids_write(struct pids *pids, struct replace *to);
void pids_free(struct pids *pids);

#endif /* _KMON_PIDS_H */
