/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces between the parts of kmonlog:
 *
 *	kmonlog.c (the device and the log) -> log-names.c -> log-options.c
 */
#ifndef _KMON_LOG_H
#define _KMON_LOG_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

/**
 * struct log_options - options of the command line
 * @device: path of the device
 * @output: path of the log, NULL for standard output
 * @pids: path of the file with names of tasks
 * @sites: path of the file with names of call sites
 * @tags: file in which the kernel names call sites
 * @buffer: size of the buffer of the device, 0 to leave it
 * @ms: milliseconds until the end, 0 for no limit
 * @max: bytes of the log, 0 for no limit
 * @sources: KMON_SOURCE_* bits
 * @sites_given: @sites comes from the command line
 * @force: overwrite @output
 * @quiet: do not print that recording started, nor counts at the end
 */
struct log_options {
	const char *device;
	const char *output;
	const char *pids;
	const char *sites;
	const char *tags;
	uint64_t buffer;
	uint64_t ms;
	uint64_t max;
	uint32_t sources;
	bool sites_given;
	bool force;
	bool quiet;
};

extern struct log_options options;

bool __printf(1, 2) log_error(const char *format, ...);
void log_options_take(int argc, char **argv);

bool log_names_possible(void);
void log_names_see(const uint8_t *data, size_t size);
bool log_names_write(const sigset_t *set);

#endif /* _KMON_LOG_H */
