/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/text.h"

#include <stdlib.h>
#include <string.h>

struct web_text *web_text_create(const char *data, size_t bytes)
{
	struct web_text *t = malloc(sizeof(*t) + bytes + 1);

	if (!t)
		return NULL;
	atomic_init(&t->references, 1);
	t->bytes = bytes;
	memcpy(t->data, data, bytes);
	t->data[bytes] = '\0';
	return t;
}

struct web_text *web_text_json(json_t *value)
{
	char *dump = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
	struct web_text *t = dump ? web_text_create(dump, strlen(dump)) : NULL;

	json_decref(value);
	free(dump);
	return t;
}

struct web_text *web_text_hold(struct web_text *t)
{
	if (t)
		atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
	return t;
}

void web_text_release(struct web_text *t)
{
	if (t && atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) == 1)
		free(t);
}
