/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads class names, one a line; the first is class 0. */
#ifndef CLASSIFY_LABELS_H
#define CLASSIFY_LABELS_H

#include <stdint.h>

#include "fault.h"
#include "bounds.h"

struct labels {
	char *text; /* owns the lines */
	const char **names;
	int32_t count;
};

/* Reads names for `classes` classes. One name less means that class 0, "background", is omitted, as
 * in ImageNet lists for 1001 classes. The caller releases *out. Errors: DXP_ENOENT, DXP_EIO,
 * DXP_ENOMEM; DXP_EINVAL: another number of names. */
int labels_read(const char *path, int32_t classes, struct labels *out, struct fault *fault);

/* A class without name gives a text such as "class 17". */
void labels_name(const struct labels *l, int32_t index, char *out, size_t size);
void labels_release(struct labels *l);

/* Finds the indices of the `count` largest values, in falling order of value. If values are equal,
 * the lower index comes first. Returns the number of indices. */
int32_t labels_top(const float *values, int32_t value_count, int32_t count, int32_t *indices);

#endif
