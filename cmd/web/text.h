/* SPDX-License-Identifier: BSD-3-Clause */
/* An immutable text with a reference count, so that many slow readers share one copy. */
#ifndef CMD_WEB_TEXT_H
#define CMD_WEB_TEXT_H

#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>

struct web_text {
	_Atomic unsigned references;
	size_t bytes;
	char data[]; /* ends with a zero byte, which `bytes` does not count */
};

/* Copies the bytes; returns one reference, or NULL if out of memory. */
struct web_text *web_text_create(const char *data, size_t bytes);

/* Converts a JSON value to a text and releases the value. Returns NULL if out of memory. */
struct web_text *web_text_json(json_t *value);

/* Returns `t`. Both accept NULL. */
struct web_text *web_text_hold(struct web_text *t);
void web_text_release(struct web_text *t);

#endif
