/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/records.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 8

void records_put_le(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

uint8_t *records_add(struct records *r, uint32_t tag, size_t bytes)
{
	size_t space = r->space ? r->space : 1024;

	while (space < r->bytes + HEAD_BYTES + bytes)
		space *= 2;
	if (space > r->space && !r->failed) {
		uint8_t *more = realloc(r->data, space);
		r->failed = !more;
		r->data = more ? more : r->data;
		r->space = more ? space : r->space;
	}
	if (r->failed || bytes > UINT32_MAX) {
		r->failed = true;
		return NULL;
	}
	uint8_t *at = r->data + r->bytes;
	records_put_le(at, tag, 4);
	records_put_le(at + 4, bytes, 4);
	r->bytes += HEAD_BYTES + bytes;
	return at + HEAD_BYTES;
}

void records_put(struct records *r, uint32_t tag, const void *data, size_t bytes)
{
	uint8_t *at = records_add(r, tag, bytes);

	if (at && bytes)
		memcpy(at, data, bytes);
}
