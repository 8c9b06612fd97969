/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records in the format of dxp/about.h. */
#ifndef ENGINE_RECORDS_H
#define ENGINE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct records {
	uint8_t *data; /* freed by the caller */
	size_t bytes, space;
	bool failed; /* out of memory: no further record is added */
};

/* Returns where the caller must write `bytes` before the next call. NULL: no memory. */
uint8_t *records_add(struct records *r, uint32_t tag, size_t bytes);
void records_put(struct records *r, uint32_t tag, const void *data, size_t bytes);
void records_put_le(uint8_t *out, uint64_t value, int bytes);

#endif
