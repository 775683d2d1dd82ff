// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of rows in each format, see place.h.
 */
#include <inttypes.h>

#include "place.h"
#include "utf8.h"

/* Data */

enum field { FIELD_FILE, FIELD_LINE, FIELD_FUNCTION, FIELD_MODULE, FIELD_DIR, FIELDS };

static const char * const names[FIELDS] = { "file", "line", "function", "module", "dir" };

/* the fields of each kind of row, ended by FIELDS */
static const enum field fields[][FIELDS] = {
	[BY_SITE] = { FIELD_FILE, FIELD_LINE, FIELD_FUNCTION, FIELD_MODULE, FIELDS },
	[BY_FUNC] = { FIELD_FUNCTION, FIELD_FILE, FIELD_MODULE, FIELDS },
	[BY_FILE] = { FIELD_FILE, FIELDS },
	[BY_DIR] = { FIELD_DIR, FIELDS },
	[BY_MODULE] = { FIELD_MODULE, FIELDS },
};

/* Internals */

static const char *field_text(enum field field, const struct site *site, char *text)
{
	switch (field) {
	case FIELD_FUNCTION:
		return site->func;
	case FIELD_MODULE:
		return site->module;
	case FIELD_LINE:
		snprintf(text, PLACE_TEXT, "%" PRIu32, site->line);
		return text;
	case FIELD_DIR:
		row_name(BY_DIR, site, text, PLACE_TEXT);
		return text;
	default:
		return site->file;
	}
}

/* Interface */

/**
 * place_heading - heading of the column with the names
 * @by: what a row stands for
 *
 * Return: the heading.
 */
const char *place_heading(enum row_by by)
{
	static const char * const headings[] = {
		[BY_SITE] = "CALL SITE",
		[BY_FUNC] = "FUNCTION",
		[BY_FILE] = "FILE",
		[BY_DIR] = "DIRECTORY",
		[BY_MODULE] = "MODULE",
	};

	return headings[by];
}

/**
 * place_text - name of a row as text
 * @by: what the row stands for
 * @site: a call site of the row
 * @text: buffer
 *
 * Return: @text.
 */
const char *place_text(enum row_by by, const struct site *site, char text[PLACE_TEXT])
{
	row_name(by, site, text, PLACE_TEXT);
	return text;
}

/**
 * place_csv_heading - write the names of the columns of place_csv()
 * @out: output file
 * @by: what a row stands for
 */
void place_csv_heading(FILE *out, enum row_by by)
{
	const enum field *field;

	for (field = fields[by]; *field != FIELDS; field++)
		fprintf(out, "%s%s", field == fields[by] ? "" : ",", names[*field]);
}

/**
 * place_csv - write the name of a row as columns of CSV
 * @out: output file
 * @by: what the row stands for
 * @site: a call site of the row
 */
void place_csv(FILE *out, enum row_by by, const struct site *site)
{
	const enum field *field;
	char text[PLACE_TEXT];

	for (field = fields[by]; *field != FIELDS; field++) {
		if (field != fields[by])
			fputc(',', out);
		put_csv(out, field_text(*field, site, text));
	}
}

/**
 * json_add_signed - add a number to an object
 * @to: the object
 * @name: name of the member
 * @number: its value
 */
void json_add_signed(struct json_object *to, const char *name, int64_t number)
{
	json_add(to, name, json_object_new_int64(number));
}

/**
 * place_json - add the name of a row to a JSON object
 * @to: the object
 * @by: what the row stands for
 * @site: a call site of the row
 */
void place_json(struct json_object *to, enum row_by by, const struct site *site)
{
	const enum field *field;
	char text[PLACE_TEXT];

	for (field = fields[by]; *field != FIELDS; field++) {
		if (*field == FIELD_LINE)
			json_add_number(to, names[*field], site->line);
		else
			json_add_string(to, names[*field], field_text(*field, site, text));
	}
}

/**
 * bytes_text - print a number of bytes
 * @bytes: the number
 * @plain: print it as it is; else with a unit of 1024
 * @text: buffer
 *
 * Return: @text.
 */
const char *bytes_text(int64_t bytes, bool plain, char text[BYTES_TEXT])
{
	static const char units[] = " KMGTPE";
	double value = bytes;
	int unit = 0;

	while (unit < 6 && (value >= 1023.95 || value <= -1023.95)) {
		value /= 1024;
		unit++;
	}
	if (plain || !unit)
		snprintf(text, BYTES_TEXT, "%" PRId64, bytes);
	else
		snprintf(text, BYTES_TEXT, "%.1f%c", value, units[unit]);
	return text;
}
