// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the daemon serves: metrics and profiles of the machine.
 *
 * The files are read only for a request, and not again before the cache is old enough. A
 * text is written when the first client asks for it, and all further ones get the same
 * response, because libmicrohttpd counts its references. So a thousand requests cost one read.
 * A text lives until its last reader has it: a reader has as long as the timeout allows, so
 * there are at most as many texts as there are reads in this time.
 */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "balance.h"
#include "contexts.h"
#include "metrics.h"
#include "report.h"
#include "serve.h"

/* Data */

/**
 * struct data - the machine and what is known about it
 * @source: its files in procfs
 * @contexts: alloc_tags.ctx, or -1
 * @members: functions that have metrics
 * @state: state of profiling at the last read
 * @table: call sites, valid if has_table()
 * @balance: balance of @table
 * @balanced: @balance is valid
 * @time: time of the last read since 1970
 * @read_at: the same on the monotonic clock, 0 if there was none
 * @read_took: duration of the last read
 * @cache: time until the next read; these five are in nanoseconds
 * @metrics: response for the last read, NULL if nobody asked yet
 * @profile: the same
 */
struct data {
	struct source source;
	int contexts;
	struct metrics *members;
	enum profiling state;
	struct table table;
	struct balance balance;
	bool balanced;
	uint64_t time;
	uint64_t read_at;
	uint64_t read_took;
	uint64_t cache;
	struct MHD_Response *metrics;
	struct MHD_Response *profile;
};

/* Internals */

/* All damage of one read is one message. */
static void note_damage(const char *file, uint64_t place, const char *what, void *unused)
{
	(void)unused;
	log_message("%s:%ju: %s", file, (uintmax_t)place, what);
}

static const struct complainer complainer = { note_damage, NULL };

static bool has_table(const struct data *data)
{
	return data->state == PROFILING_ON || data->state == PROFILING_OFF;
}

static void forget(struct MHD_Response **response)
{
	if (*response)
		MHD_destroy_response(*response);
	*response = NULL;
}

static void read_machine(struct data *data)
{
	data->time = serve_clock(CLOCK_REALTIME);
	data->state = source_read(&data->source, &data->table);
	data->read_took = serve_clock(CLOCK_MONOTONIC) - data->read_at;
	data->balanced = false;
	if (!has_table(data))
		return;
	table_clean(&data->table);
	data->balanced = balance_read(&data->balance, &data->table, &data->source);
}

static void refresh(struct data *data)
{
	uint64_t now = serve_clock(CLOCK_MONOTONIC);

	if (data->read_at && now - data->read_at < data->cache)
		return;
	forget(&data->metrics);
	forget(&data->profile);
	data->read_at = now;
	read_machine(data);
}

static bool write_metrics(struct data *data, FILE *out)
{
	metrics_write(data->members, &(struct metrics_values){
		.state = data->state,
		.table = has_table(data) ? &data->table : NULL,
		.balance = data->balanced ? &data->balance : NULL,
		.read_seconds = (double)data->read_took / SERVE_NS,
	}, out);
	return true;
}

static bool write_profile(struct data *data, FILE *out)
{
	struct utsname names = { .release = "" };
	struct report report = { .input = { .table = data->table, .time = data->time } };
	bool good;

	uname(&names);
	report.input.name = "/proc/allocinfo";
	report.input.host = names.nodename;
	report.input.release = names.release;
	if (data->contexts >= 0 && !contexts_read(&report.contexts, data->contexts))
		contexts_parse(&report.contexts, "alloc_tags.ctx", &complainer);
	rows_make(&report.rows, &data->table, BY_SITE, NULL);
	rows_sort(&report.rows, SORT_BYTES);
	report.nr = report.rows.nr;
	good = write_pprof(&report, out);
	rows_free(&report.rows);
	contexts_free(&report.contexts);
	return good;
}

/* Returns what @write writes as a response, or NULL. */
static struct MHD_Response *make_response(struct data *data,
					  bool (*write)(struct data *data, FILE *out))
{
	struct MHD_Response *response;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool good = out && write(data, out);

	if (out && fclose(out))
		good = false;
	response = good ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE)
			: NULL;
	if (!response)
		free(text);
	return response;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (response)
		MHD_add_response_header(response, name, value);
}

/* Says why there is no table. */
static struct MHD_Response *explain(const struct data *data)
{
	const char *advice = profiling_advice(data->state);
	char text[512];

	if (advice)
		snprintf(text, sizeof(text), "%s\n", advice);
	else
		snprintf(text, sizeof(text), "cannot read /proc/allocinfo: %s\n",
			 strerror(-data->source.err));
	return data_text(text);
}

/* Interface */

/**
 * data_open - open the files of the machine
 * @proc: where procfs is mounted
 * @cache_seconds: the files are not read more often than this
 *
 * A machine without profiling is served, too. Only a user who may not read the file is an
 * error, because the daemon could never serve anything.
 *
 * Return: the machine, or NULL after a message.
 */
struct data *data_open(const char *proc, uint64_t cache_seconds)
{
	struct data *data = need_memory(1, sizeof(*data));

	data->state = source_open(&data->source, proc);
	if (data->state == PROFILING_DENIED) {
		source_explain(&data->source, data->state);
		free(data);
		return NULL;
	}
	source_hold(&data->source);
	data->source.to = &complainer;
	data->cache = cache_seconds * SERVE_NS;
	data->members = metrics_new();
	if (contexts_open(proc, CONTEXTS_READ, &data->contexts) != CAPTURE_ON)
		data->contexts = -1;
	return data;
}

/**
 * data_text - a response that is a text
 * @text: the text, copied
 *
 * Return: the response, or NULL if there is no memory.
 */
struct MHD_Response *data_text(const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text,
						MHD_RESPMEM_MUST_COPY);

	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	return response;
}

/**
 * data_metrics - metrics of the machine
 * @data: the machine
 * @status: set to the status of HTTP
 *
 * Return: the response, which belongs to @data; NULL if there is no memory.
 */
struct MHD_Response *data_metrics(struct data *data, unsigned int *status)
{
	refresh(data);
	*status = MHD_HTTP_OK;
	if (!data->metrics) {
		data->metrics = make_response(data, write_metrics);
		add_header(data->metrics, MHD_HTTP_HEADER_CONTENT_TYPE,
			   "text/plain; version=0.0.4; charset=utf-8");
	}
	return data->metrics;
}

/**
 * data_profile - profile of the machine
 * @data: the machine
 * @status: set to the status of HTTP
 *
 * Return: the response, which belongs to @data; NULL if there is no memory.
 */
struct MHD_Response *data_profile(struct data *data, unsigned int *status)
{
	refresh(data);
	*status = has_table(data) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
	if (data->profile)
		return data->profile;
	if (!has_table(data)) {
		data->profile = explain(data);
		return data->profile;
	}
	data->profile = make_response(data, write_profile);
	add_header(data->profile, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
	add_header(data->profile, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
		   "attachment; filename=\"heap.pb.gz\"");
	return data->profile;
}

/**
 * data_close - close the files
 * @data: the machine
 */
void data_close(struct data *data)
{
	forget(&data->metrics);
	forget(&data->profile);
	metrics_free(data->members);
	table_free(&data->table);
	if (data->contexts >= 0)
		close(data->contexts);
	source_close(&data->source);
	free(data);
}
