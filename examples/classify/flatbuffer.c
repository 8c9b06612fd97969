/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a model file's bytes; no other code addresses them. A table starts with the signed distance
 * back to its vtable: sizes of vtable and table, then a 16-bit offset per field. */
#include "flatbuffer.h"

#include <string.h>

#define VTABLE_HEADER_BYTES 4
#define OFFSET_BYTES        4

/* Copies zeros if the range is not all in the file. */
static void copy_at(struct flat *f, size_t at, void *to, size_t count)
{
	if (f->broken || at > f->bytes || count > f->bytes - at) {
		f->broken = true;
		memset(to, 0, count);
		return;
	}
	memcpy(to, f->data + at, count);
}

static uint16_t get_u16(struct flat *f, size_t at)
{
	uint16_t v;
	copy_at(f, at, &v, sizeof(v));
	return v;
}

static uint32_t get_u32(struct flat *f, size_t at)
{
	uint32_t v;
	copy_at(f, at, &v, sizeof(v));
	return v;
}

static size_t follow(struct flat *f, size_t at)
{
	return at + get_u32(f, at);
}

static struct flat_table table_at(struct flat *f, size_t at)
{
	struct flat_table t = {.at = at};
	int64_t vtable = (int64_t)at - (int32_t)get_u32(f, at);

	if (vtable < 0 || (uint64_t)vtable > f->bytes)
		f->broken = true;
	t.vtable = (size_t)vtable;
	t.vtable_bytes = get_u16(f, t.vtable);
	t.table_bytes = get_u16(f, t.vtable + 2);
	if (t.vtable_bytes < VTABLE_HEADER_BYTES || t.vtable_bytes > f->bytes - t.vtable ||
	    t.table_bytes < OFFSET_BYTES || t.table_bytes > f->bytes - at)
		f->broken = true;
	return f->broken ? (struct flat_table){0} : t;
}

struct flat_table flat_root(struct flat *f)
{
	return table_at(f, follow(f, 0));
}

/* Returns a field's offset; 0: absent. */
static size_t field_at(struct flat *f, const struct flat_table *t, unsigned field, size_t bytes)
{
	size_t entry = VTABLE_HEADER_BYTES + 2 * (size_t)field;

	if (f->broken || t->at == 0 || entry + 2 > t->vtable_bytes)
		return 0;
	size_t offset = get_u16(f, t->vtable + entry);
	if (offset == 0)
		return 0;
	if (offset < OFFSET_BYTES || offset + bytes > t->table_bytes) {
		f->broken = true;
		return 0;
	}
	return t->at + offset;
}

uint8_t flat_u8(struct flat *f, const struct flat_table *t, unsigned field, uint8_t absent)
{
	size_t at = field_at(f, t, field, sizeof(absent));
	if (at)
		copy_at(f, at, &absent, sizeof(absent));
	return absent;
}

uint32_t flat_u32(struct flat *f, const struct flat_table *t, unsigned field, uint32_t absent)
{
	size_t at = field_at(f, t, field, sizeof(absent));
	return at ? get_u32(f, at) : absent;
}

int32_t flat_i32(struct flat *f, const struct flat_table *t, unsigned field, int32_t absent)
{
	return (int32_t)flat_u32(f, t, field, (uint32_t)absent);
}

float flat_f32(struct flat *f, const struct flat_table *t, unsigned field, float absent)
{
	size_t at = field_at(f, t, field, sizeof(absent));
	if (at)
		copy_at(f, at, &absent, sizeof(absent));
	return absent;
}

struct flat_table flat_child(struct flat *f, const struct flat_table *t, unsigned field)
{
	size_t at = field_at(f, t, field, OFFSET_BYTES);
	return at ? table_at(f, follow(f, at)) : (struct flat_table){0};
}

struct flat_vector flat_elements(struct flat *f, const struct flat_table *t, unsigned field,
				 size_t element_bytes)
{
	size_t at = field_at(f, t, field, OFFSET_BYTES);

	if (at == 0)
		return (struct flat_vector){0};
	size_t start = follow(f, at);
	uint32_t count = get_u32(f, start);
	if (f->broken || count > (f->bytes - start - OFFSET_BYTES) / element_bytes) {
		f->broken = true;
		return (struct flat_vector){0};
	}
	return (struct flat_vector){.at = start + OFFSET_BYTES, .count = count};
}

int32_t flat_element_i32(struct flat *f, const struct flat_vector *v, uint32_t index)
{
	return (int32_t)get_u32(f, v->at + (size_t)index * sizeof(int32_t));
}

int64_t flat_element_i64(struct flat *f, const struct flat_vector *v, uint32_t index)
{
	int64_t value;
	copy_at(f, v->at + (size_t)index * sizeof(value), &value, sizeof(value));
	return value;
}

float flat_element_f32(struct flat *f, const struct flat_vector *v, uint32_t index)
{
	float value;
	copy_at(f, v->at + (size_t)index * sizeof(value), &value, sizeof(value));
	return value;
}

struct flat_table flat_element_table(struct flat *f, const struct flat_vector *v, uint32_t index)
{
	return table_at(f, follow(f, v->at + (size_t)index * OFFSET_BYTES));
}

void flat_string(struct flat *f, const struct flat_table *t, unsigned field, char *out, size_t size)
{
	struct flat_vector v = flat_elements(f, t, field, 1);
	size_t count = v.count < size - 1 ? v.count : size - 1;

	copy_at(f, v.at, out, count);
	out[f->broken ? 0 : count] = '\0';
	for (char *c = out; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}
