// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON written with json-c, see jsonfile.h.
 */
#include "jsonfile.h"

/**
 * json_add - add a member to an object
 * @to: the object
 * @name: name of the member
 * @value: its value, which @to owns from now on; NULL is null
 */
void json_add(struct json_object *to, const char *name, struct json_object *value)
{
	json_object_object_add(to, name, value);
}

/**
 * json_add_number - add a number to an object
 * @to: the object
 * @name: name of the member
 * @number: its value
 */
void json_add_number(struct json_object *to, const char *name, uint64_t number)
{
	json_add(to, name, json_object_new_uint64(number));
}

/**
 * json_add_string - add a string to an object
 * @to: the object
 * @name: name of the member
 * @text: its value, valid UTF-8; NULL is null
 */
void json_add_string(struct json_object *to, const char *name, const char *text)
{
	json_add(to, name, text ? json_object_new_string(text) : NULL);
}

/**
 * json_put - write a value and free it
 * @out: output file
 * @object: the value
 */
void json_put(FILE *out, struct json_object *object)
{
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					     JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	json_object_put(object);
}

/**
 * json_put_member - write a member of the outermost object, but not its first, and free it
 * @out: output file
 * @name: name of the member
 * @object: its value
 */
void json_put_member(FILE *out, const char *name, struct json_object *object)
{
	fprintf(out, ",\n\"%s\": ", name);
	json_put(out, object);
}
