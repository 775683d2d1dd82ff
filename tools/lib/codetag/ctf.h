/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a trace in the Common Trace Format 1.8, with one stream per CPU.
 *
 * The caller defines the fields of its events and describes them in the metadata. Every
 * event begins with its number (one byte) and the time from ctf_time() (eight bytes);
 * ctf_put_head() and ctf_put_stream() describe these and the packets.
 */
#ifndef _CODETAG_CTF_H
#define _CODETAG_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ctf_writer;
struct ctf_stream;

void ctf_put_head(FILE *file, const char *tracer, const char *machine,
		  const char *release, const char *clock);
void ctf_put_stream(FILE *file, const char *event_context);
void ctf_put_label(FILE *file, const char *text);

struct ctf_writer *ctf_open(const char *dir);
struct ctf_stream *ctf_stream(struct ctf_writer *ctf, unsigned int cpu);
uint64_t ctf_time(const struct ctf_stream *stream);
void ctf_advance(struct ctf_stream *stream, uint64_t time);
void ctf_put(struct ctf_writer *ctf, struct ctf_stream *stream, const void *event,
	     size_t size);
void ctf_lost(struct ctf_writer *ctf, struct ctf_stream *stream, uint64_t events);
FILE *ctf_metadata(struct ctf_writer *ctf);
bool ctf_close(struct ctf_writer *ctf, FILE *metadata);

#endif /* _CODETAG_CTF_H */
