/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table from where the user names it: the running kernel, a file of snapshots, a copy of
 * /proc/allocinfo, standard input, or the dump of a crashed kernel.
 */
#ifndef _ALLOCINFO_INPUT_H
#define _ALLOCINFO_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "nodes.h"
#include "table.h"

#define INPUT_HELP \
"  FILE                 file of allocinfo record: its last snapshot\n" \
"  FILE@N               ... its snapshot N, from 0; -1 is the last one\n" \
"  FILE@TIME            ... the last one up to TIME: 2026-11-25T10:30, 2026-11-25\n" \
"                       (to its end), or -90m, -12h, -7d before the last one\n" \
"  COPY                 copy of /proc/allocinfo\n" \
"  -                    standard input, a copy of /proc/allocinfo\n"

/**
 * struct input - a table and where it comes from; its strings are safe for a terminal
 * @table: the table
 * @name: what the user named
 * @time: nanoseconds since 1970, 0 if unknown
 * @boottime: nanoseconds since boot, 0 if unknown
 * @boot_id: boot of the kernel, empty if unknown
 * @release: release of the kernel, empty if unknown
 * @host: name of the machine, empty if unknown
 * @cmdline: command line of the kernel, empty if unknown
 * @recording: path of the newest part of a recording, NULL if the input is none
 * @dev: device of the file if it is no recording, 0 if there is none
 * @ino: inode of that file
 * @meminfo: text of /proc/meminfo of that time, empty if unknown
 * @damage: number of complaints
 */
struct input {
	struct table table;
	char *name;
	uint64_t time;
	uint64_t boottime;
	char *boot_id;
	char *release;
	char *host;
	char *cmdline;
	char *meminfo;
	char *recording;
	dev_t dev;
	ino_t ino;
	uint64_t damage;
};

bool input_read(struct input *input, const char *what);
bool input_live(struct input *input, const char *proc);
bool input_nodes(struct input *input, struct nodes *nodes, const char *what,
		 const char *proc);
bool input_vmcore(struct input *input, const char *dump, const char *map);
void input_free(struct input *input);

bool input_is_file(const struct input *input, const char *path);
bool input_damaged(const struct input *input);
void input_describe(const struct input *input, FILE *out);
struct json_object *input_json(const struct input *input);

#endif /* _ALLOCINFO_INPUT_H */
