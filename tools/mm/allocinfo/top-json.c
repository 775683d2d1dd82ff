// SPDX-License-Identifier: GPL-2.0-only
/*
 * What alloctop shows, as JSON: the balance, and the rows of the view, also those that
 * are outside of the window. Documentation/tools/codetag.rst has the rules.
 */
#include <string.h>

#include "jsonfile.h"
#include "top.h"
#include "utf8.h"

#define VERSION	1u

static const char * const kinds[] = { "site", "func", "file", "dir", "module" };

static void add_signed(struct json_object *to, const char *name, int64_t value)
{
	json_add(to, name, value == BALANCE_UNKNOWN ? NULL : json_object_new_int64(value));
}

static struct json_object *seconds(double time)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f", time);
	return json_object_new_double_s(time, text);
}

static void add_name(struct json_object *to, const char *name, const char *text)
{
	char copy[LINE_SIZE];

	snprintf(copy, sizeof(copy), "%s", text);
	clean_name(copy);
	json_add_string(to, name, copy);
}

static struct json_object *parts_of(const struct balance *balance)
{
	struct json_object *parts = json_object_new_object(), *part;
	size_t i;

	for (i = 0; i < NR_PARTS; i++) {
		part = json_object_new_object();
		add_signed(part, "sites", balance->parts[i].sites);
		add_signed(part, "kernel", balance->parts[i].kernel);
		add_signed(part, "missing", balance_missing(balance, i));
		json_add(parts, balance_part_name(i), part);
	}
	return parts;
}

static struct json_object *balance_of(const struct balance *balance)
{
	struct json_object *object = json_object_new_object();

	add_signed(object, "total", balance->total);
	add_signed(object, "free", balance->free);
	add_signed(object, "cpu_lists", balance->lists);
	add_signed(object, "sites", balance->sites);
	add_signed(object, "on_no_line", balance->none);
	add_signed(object, "margin", balance->margin);
	add_signed(object, "table", balance->table);
	add_signed(object, "slab_objects", balance->slab_objects);
	json_add(object, "slabinfo", json_object_new_boolean(balance->have_slabinfo));
	add_signed(object, "reserved", balance->reserved);
	json_add(object, "parts", parts_of(balance));
	return object;
}

/* Names that the row has: a file has no line, for example. */
static void add_names(struct json_object *row, const struct node *node)
{
	const struct site *site = node->site;
	char dir[LINE_SIZE];

	if (node->by == BY_DIR) {
		row_name(BY_DIR, site, dir, sizeof(dir));
		add_name(row, "dir", dir);
	} else if (node->by != BY_MODULE) {
		add_name(row, "file", site->file);
	}
	if (node->by == BY_SITE)
		json_add_number(row, "line", site->line);
	if (node->by == BY_SITE || node->by == BY_FUNC)
		add_name(row, "func", site->func);
	if (node->by == BY_SITE || node->by == BY_FUNC || node->by == BY_MODULE)
		add_name(row, "module", site->module);
}

static struct json_object *row_of(const struct top *top, const struct line *line)
{
	const struct node *node = &top->model.nodes[line->node];
	struct json_object *row = json_object_new_object();
	int64_t rate;

	json_add_string(row, "kind", kinds[node->by]);
	json_add_number(row, "depth", line->depth);
	add_names(row, node);
	add_signed(row, "bytes", node->bytes);
	add_signed(row, "calls", node->calls);
	add_signed(row, "growth", node_growth(node));
	if (model_rate(&top->model, node, &rate))
		add_signed(row, "growth_per_minute", rate);
	json_add_number(row, "sites", node->nr_sites);
	json_add(row, "accurate", json_object_new_boolean(node->accurate));
	return row;
}

/* The groups that the user has chosen by Enter. */
static struct json_object *groups_of(const struct model *model)
{
	struct json_object *groups = json_object_new_array(), *group;
	size_t i;

	for (i = 0; i <= NR_GROUPS; i++) {
		if (model->only[i] == NODE_NONE)
			continue;
		group = json_object_new_object();
		json_add_string(group, "kind", kinds[i]);
		add_names(group, &model->nodes[model->only[i]]);
		json_object_array_add(groups, group);
	}
	return groups;
}

/**
 * top_json - write the view as JSON
 * @top: the program
 * @out: output file
 */
void top_json(const struct top *top, FILE *out)
{
	struct json_object *object;
	size_t i;

	fprintf(out, "{\"version\": %u", VERSION);
	json_put_member(out, "uptime", seconds(top->model.time));
	json_put_member(out, "seconds", seconds(top->model.time - top->model.begin));
	json_put_member(out, "profiling",
			json_object_new_boolean(top->state == PROFILING_ON));
	json_put_member(out, "by", json_object_new_string(by_name(top)));
	json_put_member(out, "sort", json_object_new_string(sort_name(top->sort)));
	object = json_object_new_object();
	add_name(object, "filter", top->filter);
	json_put_member(out, "filter", json_object_get(json_object_object_get(object, "filter")));
	json_object_put(object);
	json_put_member(out, "groups", groups_of(&top->model));
	json_put_member(out, "balance", top->balanced ? balance_of(&top->balance) : NULL);
	fputs(",\n\"rows\": [", out);
	for (i = 0; i < top->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, row_of(top, &top->lines[i]));
	}
	fputs("]}\n", out);
}
