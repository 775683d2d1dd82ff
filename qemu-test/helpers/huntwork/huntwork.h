/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HUNTWORK_H
#define HUNTWORK_H

#include <stdbool.h>
#include <stddef.h>

/* Print what failed and errno, and end with exit code 1. */
void __attribute__((noreturn)) fail(const char *what);

/* Returns value, unless it is negative. */
long must(const char *what, long value);

/*
 * Like must(), but returns false if this kernel, file system or device does not have the
 * operation. Memory that is missing is a failure here, too.
 */
bool may(const char *what, long value);

/* Like may(), but only missing memory is a failure. */
bool attempt(const char *what, long value);

/* Read a number; fail() if it is none. */
long number(const char *text);

/* Write text to a file that exists. */
void put(const char *path, const char *text);

/* Like open(), must() */
int open_or_fail(const char *path, int flags);
int open_device(const char *path);

/* Memory that is not given back */
void *room(size_t size);

/* files.c */
void do_files(char **args);
void do_plain(char **args);
void do_read(char **args);
void do_names(char **args);
void do_encrypt(char **args);
void do_mount(char **args);
/* crypto.c */
void do_alg(char **args);
void do_keys(char **args);
/* bpf.c */
void do_bpf(char **args);
/* uring.c */
void do_uring(char **args);
/* mkfs.c */
void do_mkfs(char **args);
/* steps.c */
void do_steps(char **args);
/* sockets.c */
void do_socket(char **args);
void do_packet(char **args);
void do_xdp(char **args);
/* devices.c */
void do_ioctl(char **args);
void do_open(char **args);
void do_ldisc(char **args);
/* events.c */
void do_perf(char **args);
void do_notify(char **args);

#endif
