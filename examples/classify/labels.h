/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of classes: a text file with one name a line, the first line is class 0. */
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

/* Reads the file at `path` for a network with `classes` classes. One name less than classes means
 * that the file leaves out class 0, "background", as the ImageNet lists for networks with 1001
 * classes do. *out must be released. DXP_ENOENT, DXP_EIO, DXP_ENOMEM, DXP_EINVAL when the count
 * fits neither way. */
int labels_read(const char *path, int32_t classes, struct labels *out, struct fault *fault);

/* Names for classes nobody has named: "class 17". */
void labels_name(const struct labels *l, int32_t index, char *out, size_t size);
void labels_release(struct labels *l);

/* Indices of the `count` largest values, in falling order; the lower index first among equals.
 * Returns how many. */
int32_t labels_top(const float *values, int32_t value_count, int32_t count, int32_t *indices);

#endif
