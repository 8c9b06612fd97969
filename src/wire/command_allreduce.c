/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/collective.h>
#include <dxp/inc.h>

#include "wire/command_codec.h"

static bool switches_valid(const struct command *c)
{
	if (c->data_bytes > COMMAND_PACKAGE_BYTES || (c->data_bytes && !c->data))
		return false;
	switch (c->what) {
	case SWITCHES_OPEN:
		return c->members >= 2 && c->members <= DXP_GROUP_MEMBERS_MAX &&
		       c->member < c->members && c->data_bytes == 0;
	case SWITCHES_SHARE: return c->members == 0 && c->member == 0 && c->data_bytes >= 1;
	case SWITCHES_CLOSE: return c->members == 0 && c->member == 0 && c->data_bytes == 0;
	default: return false;
	}
}

static bool allreduce_valid(const struct command *c)
{
	return dxp_inc_defined((enum dxp_inc_op)c->reduction, (enum dxp_inc_type)c->type) &&
	       c->bytes > 0 && c->bytes % dxp_inc_type_bytes((enum dxp_inc_type)c->type) == 0;
}

bool command_allreduce_valid(const struct command *c)
{
	switch (c->op) {
	case COMMAND_SWITCHES: return switches_valid(c);
	case COMMAND_ALLREDUCE: return allreduce_valid(c);
	default: return c->settles != 0 && c->status <= 0;
	}
}

void command_allreduce_put(struct put_cursor *p, const struct command *c)
{
	switch (c->op) {
	case COMMAND_SWITCHES:
		put_32(p, c->group);
		put_8(p, c->what);
		put_16(p, c->member);
		put_16(p, c->members);
		put_16(p, (uint16_t)c->data_bytes);
		if (c->data_bytes)
			put_bytes(p, c->data, c->data_bytes);
		break;
	case COMMAND_ALLREDUCE:
		put_32(p, c->group);
		put_8(p, c->type);
		put_8(p, c->reduction);
		put_64(p, c->address);
		put_64(p, c->to_address);
		put_64(p, c->bytes);
		break;
	case COMMAND_SETTLE:
		put_64(p, c->settles);
		put_32(p, (uint32_t)c->status);
		break;
	}
}

void command_allreduce_get(struct get_cursor *g, struct command *c)
{
	switch (c->op) {
	case COMMAND_SWITCHES:
		c->group = get_32(g);
		c->what = get_8(g);
		c->member = get_16(g);
		c->members = get_16(g);
		c->data_bytes = get_16(g);
		c->data = get_raw(g, c->data_bytes);
		break;
	case COMMAND_ALLREDUCE:
		c->group = get_32(g);
		c->type = get_8(g);
		c->reduction = get_8(g);
		c->address = get_64(g);
		c->to_address = get_64(g);
		c->bytes = get_64(g);
		break;
	case COMMAND_SETTLE:
		c->settles = get_64(g);
		c->status = (int32_t)get_32(g);
		break;
	}
}

static bool lost_valid(const struct command_lost *l)
{
	return l->event != 0 && l->status < 0;
}

/* Not inlined, because gcc 12 would warn of an overflow that the cursor prevents. */
static __attribute__((noinline)) void put_lost(struct put_cursor *p, const struct command_lost *l)
{
	put_8(p, COMMAND_LOST);
	put_64(p, l->event);
	put_64(p, l->done_bytes);
	put_32(p, (uint32_t)l->status);
}

int command_lost_encode(const struct command_lost *l, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (!lost_valid(l))
		return DXP_EINVAL;
	put_lost(&p, l);
	return command_put_end(&p, out);
}

int command_lost_decode(const uint8_t *data, size_t bytes, struct command_lost *out)
{
	struct get_cursor t = {.at = data, .end = data + bytes};
	struct command_lost l;

	if (get_8(&t) != COMMAND_LOST)
		t.bad = true;
	l.event = get_64(&t);
	l.done_bytes = get_64(&t);
	l.status = (int32_t)get_32(&t);
	if (!get_done(&t) || !lost_valid(&l))
		return DXP_EMALFORMED;
	*out = l;
	return DXP_OK;
}
