/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <dxp/status.h>

#include "wire/cursor.h"
#include "wire/inc.h"
#include "wire/inc_fields.h"

#define PUT(bits, field) put_##bits(&c, from->field);
#define GET(bits, field) to->field = get_##bits(&c);

size_t inc_inquiry_encode(const struct inc_inquiry *q, uint8_t out[INC_INQUIRY_BYTES])
{
	put_be32(out, (uint32_t)q->section << 24);
	put_be32(out + 4, q->first);
	return INC_INQUIRY_BYTES;
}

static bool section_known(uint8_t section)
{
	return section >= INC_SECTION_SWITCH && section <= INC_SECTION_REFUSALS;
}

int inc_inquiry_decode(const uint8_t *data, size_t bytes, struct inc_inquiry *out)
{
	if (bytes != INC_INQUIRY_BYTES || get_be32(data) & 0xffffff || !section_known(data[0]))
		return DXP_EMALFORMED;
	*out = (struct inc_inquiry){.section = data[0], .first = get_be32(data + 4)};
	return DXP_OK;
}

/* ---- rows ---- */

static void name_put(struct put_cursor *c, const char name[INC_NAME_BYTES])
{
	char field[INC_NAME_BYTES] = {0};

	memcpy(field, name, strnlen(name, INC_NAME_BYTES - 1));
	put_bytes(c, field, sizeof(field));
}

static void name_get(struct get_cursor *c, char name[INC_NAME_BYTES])
{
	get_bytes(c, name, INC_NAME_BYTES);
	if (c->bad)
		return;

	size_t length = strnlen(name, INC_NAME_BYTES);

	for (size_t i = 0; i < INC_NAME_BYTES; i++)
		c->bad |= i < length ? name[i] < 0x20 || name[i] == 0x7f : name[i] != 0;
	c->bad |= length == INC_NAME_BYTES;
}

static void switch_put(struct put_cursor *cursor, const struct inc_switch_row *from)
{
	struct put_cursor c = *cursor;

	name_put(&c, from->name);
	INC_SWITCH_ROW_FIELDS(PUT)
	*cursor = c;
}

static void switch_get(struct get_cursor *cursor, struct inc_switch_row *to)
{
	struct get_cursor c = *cursor;

	name_get(&c, to->name);
	INC_SWITCH_ROW_FIELDS(GET)
	c.bad |= to->parent_count > INC_PARENTS_MAX;
	*cursor = c;
}

static void group_put(struct put_cursor *cursor, const struct inc_group_row *from)
{
	struct put_cursor c = *cursor;

	INC_GROUP_ROW_FIELDS(PUT)
	*cursor = c;
}

static void group_get(struct get_cursor *cursor, struct inc_group_row *to)
{
	struct get_cursor c = *cursor;

	INC_GROUP_ROW_FIELDS(GET)
	*cursor = c;
}

static void rejection_put(struct put_cursor *cursor, const struct inc_refusal_row *from)
{
	struct put_cursor c = *cursor;

	INC_REFUSAL_ROW_FIELDS(PUT)
	*cursor = c;
}

static void rejection_get(struct get_cursor *cursor, struct inc_refusal_row *to)
{
	struct get_cursor c = *cursor;

	INC_REFUSAL_ROW_FIELDS(GET)
	*cursor = c;
}

/* ---- answers ---- */

size_t inc_answer_encode(const struct inc_answer *a, uint8_t out[INC_ANSWER_BYTES_MAX])
{
	struct put_cursor c = {.at = out, .end = out + INC_ANSWER_BYTES_MAX};

	assert(section_known(a->section) && a->count <= INC_ROWS_MAX);
	assert(a->section != INC_SECTION_SWITCH || a->count <= 1);
	put_8(&c, a->section);
	put_8(&c, a->count);
	put_16(&c, 0);
	put_32(&c, a->total);
	put_32(&c, a->first);
	for (size_t i = 0; i < a->count; i++) {
		if (a->section == INC_SECTION_SWITCH)
			switch_put(&c, &a->self);
		else if (a->section == INC_SECTION_GROUPS)
			group_put(&c, &a->groups[i]);
		else
			rejection_put(&c, &a->refusals[i]);
	}
	assert(!c.bad);
	return (size_t)(c.at - out);
}

int inc_answer_decode(const uint8_t *data, size_t bytes, struct inc_answer *out)
{
	struct get_cursor c = {.at = data, .end = data + bytes};
	struct inc_answer a = {.section = get_8(&c), .count = get_8(&c)};

	if (get_16(&c) != 0 || !section_known(a.section) ||
	    a.count > (a.section == INC_SECTION_SWITCH ? 1 : INC_ROWS_MAX))
		return DXP_EMALFORMED;
	a.total = get_32(&c);
	a.first = get_32(&c);
	for (size_t i = 0; i < a.count && !c.bad; i++) {
		if (a.section == INC_SECTION_SWITCH)
			switch_get(&c, &a.self);
		else if (a.section == INC_SECTION_GROUPS)
			group_get(&c, &a.groups[i]);
		else
			rejection_get(&c, &a.refusals[i]);
	}
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = a;
	return DXP_OK;
}
