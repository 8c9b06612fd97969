/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounds-checked reader of flatbuffers: offsets are data, looked at once, nothing is cast.
 *
 * Every read is checked against the end of the file. The first one that falls outside sets `broken`
 * and yields zero or the default from then on; a caller reads a whole object and looks at `broken`
 * once before it believes any of it. Fields are addressed by their number in the schema.
 * Little-endian files, any alignment. */
#ifndef CLASSIFY_FLATBUFFER_H
#define CLASSIFY_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat {
	const uint8_t *data;
	size_t bytes;
	bool broken; /* sticky */
};

/* A table; at 0 is no table, because the root offset lies there. */
struct flat_table {
	size_t at;
	size_t vtable;
	uint16_t vtable_bytes;
	uint16_t table_bytes;
};

/* A vector whose elements all lie inside the file. */
struct flat_vector {
	size_t at; /* of element 0 */
	uint32_t count;
};

struct flat_table flat_root(struct flat *f);

/* Fields of a table; the default when the field is absent. */
uint8_t flat_u8(struct flat *f, const struct flat_table *t, unsigned field, uint8_t absent);
int32_t flat_i32(struct flat *f, const struct flat_table *t, unsigned field, int32_t absent);
uint32_t flat_u32(struct flat *f, const struct flat_table *t, unsigned field, uint32_t absent);
float flat_f32(struct flat *f, const struct flat_table *t, unsigned field, float absent);
struct flat_table flat_child(struct flat *f, const struct flat_table *t, unsigned field);

/* A vector of elements of `element_bytes`; count 0 when the field is absent. */
struct flat_vector flat_elements(struct flat *f, const struct flat_table *t, unsigned field,
				 size_t element_bytes);

/* Element `index`, which must be below count. */
int32_t flat_element_i32(struct flat *f, const struct flat_vector *v, uint32_t index);
int64_t flat_element_i64(struct flat *f, const struct flat_vector *v, uint32_t index);
float flat_element_f32(struct flat *f, const struct flat_vector *v, uint32_t index);
struct flat_table flat_element_table(struct flat *f, const struct flat_vector *v, uint32_t index);

/* Copies a string field, cut to size - 1 bytes, bytes that do not print replaced by '?'; "" when
 * absent. */
void flat_string(struct flat *f, const struct flat_table *t, unsigned field, char *out,
		 size_t size);

#endif
