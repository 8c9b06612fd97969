/* SPDX-License-Identifier: BSD-3-Clause */
#include "labels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "file.h"

#define FILE_BYTES_MAX ((size_t)LABELS_MAX * LABEL_BYTES_MAX)

/* The last line may lack its newline. */
static int32_t split(char *text, const char **names, int32_t space)
{
	int32_t count = 0;

	for (char *line; (line = strsep(&text, "\n")) && count < space;) {
		size_t bytes = strlen(line);
		if (!text && bytes == 0)
			break;
		if (bytes && line[bytes - 1] == '\r')
			line[--bytes] = '\0';
		if (bytes >= LABEL_BYTES_MAX)
			line[LABEL_BYTES_MAX - 1] = '\0';
		names[count++] = line;
	}
	return count;
}

int labels_read(const char *path, int32_t classes, struct labels *out, struct fault *fault)
{
	struct labels l = {.names = calloc(LABELS_MAX + 1, sizeof(*l.names))};
	uint8_t *text;
	size_t bytes;
	int status = l.names ? file_read(path, FILE_BYTES_MAX, &text, &bytes, fault)
			     : fault_set(fault, DXP_ENOMEM, "out of memory");

	if (status != DXP_OK) {
		free(l.names);
		return status;
	}
	l.text = (char *)text;
	l.names[0] = "background";
	l.count = split(l.text, l.names + 1, LABELS_MAX);
	if (l.count == classes)
		memmove(l.names, l.names + 1, (size_t)l.count * sizeof(*l.names));
	else if (l.count + 1 == classes)
		l.count++;
	else
		status = fault_set(
			fault, DXP_EINVAL,
			"%s: %d names, but the network has %d classes; give the right --labels",
			path, l.count, classes);
	if (status == DXP_OK)
		*out = l;
	else
		labels_release(&l);
	return status;
}

void labels_name(const struct labels *l, int32_t index, char *out, size_t size)
{
	if (index < l->count)
		snprintf(out, size, "%s", l->names[index]);
	else
		snprintf(out, size, "class %d", index);
}

void labels_release(struct labels *l)
{
	free(l->text);
	free(l->names);
	*l = (struct labels){0};
}

int32_t labels_top(const float *values, int32_t value_count, int32_t count, int32_t *indices)
{
	int32_t used = 0;

	for (int32_t i = 0; i < value_count; i++) {
		int32_t at = used;
		while (at > 0 && values[indices[at - 1]] < values[i])
			at--;
		if (at == count)
			continue;
		int32_t last = used < count ? used++ : count - 1;
		memmove(&indices[at + 1], &indices[at], (size_t)(last - at) * sizeof(*indices));
		indices[at] = i;
	}
	return used;
}
