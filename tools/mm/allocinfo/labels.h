/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Labels of metrics, in the text format of Prometheus and OpenMetrics: name="value".
 */
#ifndef _ALLOCINFO_LABELS_H
#define _ALLOCINFO_LABELS_H

#include <stdbool.h>
#include <stdio.h>

void label_put(FILE *out, const char *name, const char *value, bool first);
char *label_take(char *at, const char *name, char **value);

#endif /* _ALLOCINFO_LABELS_H */
