/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds-checked reader of flatbuffers, without casts.
 *
 * The first read outside the file sets `broken`; from then on reads return zero or the default.
 * Check `broken` once after reading an object, before using it. Fields are numbers in the schema;
 * files are little-endian, at any alignment. */
#ifndef CLASSIFY_FLATBUFFER_H
#define CLASSIFY_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat {
	const uint8_t *data;
	size_t bytes;
	bool broken; /* never reset */
};

/* `at` 0: no table; byte 0 holds the root offset. */
struct flat_table {
	size_t at;
	size_t vtable;
	uint16_t vtable_bytes;
	uint16_t table_bytes;
};

struct flat_vector {
	size_t at; /* offset of element 0 */
	uint32_t count;
};

struct flat_table flat_root(struct flat *f);

/* Return `absent` for an absent field. */
uint8_t flat_u8(struct flat *f, const struct flat_table *t, unsigned field, uint8_t absent);
int32_t flat_i32(struct flat *f, const struct flat_table *t, unsigned field, int32_t absent);
uint32_t flat_u32(struct flat *f, const struct flat_table *t, unsigned field, uint32_t absent);
float flat_f32(struct flat *f, const struct flat_table *t, unsigned field, float absent);
struct flat_table flat_child(struct flat *f, const struct flat_table *t, unsigned field);

/* Count is 0 if the field is absent. */
struct flat_vector flat_elements(struct flat *f, const struct flat_table *t, unsigned field,
				 size_t element_bytes);

/* `index` must be below count. */
int32_t flat_element_i32(struct flat *f, const struct flat_vector *v, uint32_t index);
int64_t flat_element_i64(struct flat *f, const struct flat_vector *v, uint32_t index);
float flat_element_f32(struct flat *f, const struct flat_vector *v, uint32_t index);
struct flat_table flat_element_table(struct flat *f, const struct flat_vector *v, uint32_t index);

/* Copies a string, truncated to size - 1 bytes, '?' for unprintable bytes, "" if absent. */
void flat_string(struct flat *f, const struct flat_table *t, unsigned field, char *out,
		 size_t size);

#endif
