/* SPDX-License-Identifier: BSD-3-Clause */
/* The control payload, and packets between members. */
#include <assert.h>

#include <dxp/status.h>

#include "wire/cursor.h"
#include "wire/inc.h"
#include "wire/inc_compat.h"
#include "wire/inc_fields.h"

const char *inc_cause_text(unsigned cause)
{
#define TEXT_OF(name, value, text) [value] = (text),
	static const char *const texts[] = {INC_CAUSE_LIST(TEXT_OF)};
#undef TEXT_OF

	return cause < INC_CAUSES ? texts[cause] : "unknown";
}

#define PUT(bits, field) put_##bits(&c, from->field);
#define GET(bits, field) to->field = get_##bits(&c);

static void hop_put(struct put_cursor *cursor, const struct inc_hop *from)
{
	struct put_cursor c = *cursor;

	INC_HOP_FIELDS(PUT)
	*cursor = c;
}

static void hop_get(struct get_cursor *cursor, struct inc_hop *to)
{
	struct get_cursor c = *cursor;

	INC_HOP_FIELDS(GET)
	c.bad |= to->index > 0 && to->index >= to->children;
	*cursor = c;
}

size_t inc_control_encode(const struct inc_control *from, uint8_t out[INC_CONTROL_BYTES_MAX])
{
	struct put_cursor c = {.at = out, .end = out + INC_CONTROL_BYTES_MAX};

	assert(from->path_count <= INC_PATH_MAX);
	INC_CONTROL_FIELDS(PUT)
	put_16(&c, 0);
	for (size_t i = 0; i < from->path_count; i++)
		hop_put(&c, &from->path[i]);
	assert(!c.bad);
	return (size_t)(c.at - out);
}

int inc_control_decode(const uint8_t *data, size_t bytes, struct inc_control *out)
{
	struct get_cursor c = {.at = data, .end = data + bytes};
	struct inc_control control = {0}, *to = &control;

	INC_CONTROL_FIELDS(GET)
	if (get_16(&c) != 0 || to->path_count > INC_PATH_MAX || to->hop > INC_PATH_MAX ||
	    to->master_num > DXP_INC_FLAT || to->fail_cause >= INC_CAUSES ||
	    to->segment_bytes % 16 != 0)
		return DXP_EMALFORMED;
	for (size_t i = 0; i < to->path_count; i++)
		hop_get(&c, &to->path[i]);
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = control;
	return DXP_OK;
}

size_t inc_packet_control_encode(const struct inc_header *h, const struct inc_control *c,
				 uint8_t out[INC_CONTROL_BYTES_MAX])
{
	return inc_compat_is(h) ? inc_compat_control_encode(h, c, out) : inc_control_encode(c, out);
}

int inc_packet_control_decode(const struct inc_packet *p, struct inc_control *out)
{
	struct inc_header h = p->header;

	if (inc_compat_is(&h))
		return inc_compat_control_decode(p->payload, p->payload_bytes, &h, out);
	return inc_control_decode(p->payload, p->payload_bytes, out);
}

size_t inc_peer_encode(const struct inc_peer *p, uint8_t out[INC_PEER_BYTES])
{
	put_be32(out, p->member);
	put_be32(out + 4, p->next);
	return INC_PEER_BYTES;
}

int inc_peer_decode(const uint8_t *data, size_t bytes, struct inc_peer *out)
{
	if (bytes != INC_PEER_BYTES)
		return DXP_EMALFORMED;
	*out = (struct inc_peer){.member = get_be32(data), .next = get_be32(data + 4)};
	return DXP_OK;
}
