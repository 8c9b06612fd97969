/* SPDX-License-Identifier: BSD-3-Clause */
/* Random commands and replies that the codec must accept. */
#ifndef TEST_UNIT_COMMAND_RANDOM_H
#define TEST_UNIT_COMMAND_RANDOM_H

#include <dxp/collective.h>
#include <dxp/inc.h>

#include "base/rng.h"
#include "bridge/limits.h"
#include "wire/command.h"

/* Target of pointers in random commands. */
static uint8_t junk[COMMAND_BYTES_MAX];

static void text_random(struct rng *r, char *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (char)(' ' + rng_below(r, 95));
	out[bytes] = '\0';
}

static void argument_random(struct rng *r, struct command_argument *a, uint32_t space)
{
	*a = (struct command_argument){.kind = (uint8_t)rng_below(r, COMMAND_ARG_SAMPLER + 1)};
	if (a->kind == COMMAND_ARG_BUFFER || a->kind == COMMAND_ARG_IMAGE)
		a->address = rng_next(r);
	if (a->kind == COMMAND_ARG_BUFFER && rng_below(r, 2))
		a->bytes = (uint32_t)rng_next(r);
	if (a->kind == COMMAND_ARG_LOCAL)
		a->bytes = (uint32_t)rng_next(r) | 1;
	if (a->kind == COMMAND_ARG_BYTES)
		a->bytes = 1 + (uint32_t)rng_below(r, rng_below(r, 8) ? 16 : space - 12);
	if (a->kind == COMMAND_ARG_IMAGE)
		a->bytes = COMMAND_IMAGE_BYTES;
	if (a->kind == COMMAND_ARG_SAMPLER)
		a->bytes = COMMAND_SAMPLER_BYTES;
	if (a->kind == COMMAND_ARG_BYTES || a->kind >= COMMAND_ARG_IMAGE)
		a->value = junk + rng_below(r, 500);
}

static void run_random(struct rng *r, struct command *c)
{
	c->program = (uint32_t)rng_next(r);
	text_random(r, c->text, 1 + rng_below(r, rng_below(r, 4) ? 30 : COMMAND_NAME_BYTES - 1));
	c->dimensions = (uint8_t)(1 + rng_below(r, 3));
	for (int d = 0; d < 3; d++)
		c->global[d] = d < c->dimensions ? 1 + rng_below(r, 1u << 30) : 1;
	for (int d = 0; d < c->dimensions; d++) {
		c->local[d] = rng_below(r, 4);
		c->offset[d] = rng_next(r);
	}
	uint32_t space = 900;
	uint32_t count = (uint32_t)rng_below(r, COMMAND_ARGS_MAX + 1);
	while (c->argument_count < count && space >= 64) {
		struct command_argument *a = &c->arguments[c->argument_count++];
		argument_random(r, a, space);
		space -= 12 + (a->value ? a->bytes : 0);
	}
}

static void transfer_random(struct rng *r, struct command *c)
{
	c->to_node = (uint16_t)rng_next(r);
	if (c->op != COMMAND_SEND)
		return;
	c->address = rng_next(r);
	c->bytes = rng_next(r);
	c->to_key = (uint32_t)rng_next(r);
	c->to_address = rng_next(r);
}

static void bridge_random(struct rng *r, struct command *c)
{
	c->path = (uint8_t)rng_below(r, COMMAND_BRIDGE_THROUGH + 1);
	c->mode = (uint8_t)rng_below(r, COMMAND_BRIDGE_SEQUENTIAL + 1);
	if (rng_below(r, 2))
		c->piece_bytes = BRIDGE_BUFFER_MIN +
				 (uint32_t)rng_below(r, BRIDGE_BUFFER_MAX - BRIDGE_BUFFER_MIN + 1);
	c->address = rng_next(r);
	c->bytes = rng_next(r);
	c->to_node = (uint16_t)rng_next(r);
	c->from_key = (uint32_t)rng_next(r);
	c->from_address = rng_next(r);
	c->to_key = (uint32_t)rng_next(r);
	c->to_address = rng_next(r);
}

static void data_random(struct rng *r, struct command *c, uint32_t most)
{
	c->data_bytes = 1 + (uint32_t)rng_below(r, most);
	c->data = junk;
}

static void rect_random(struct rng *r, struct command *c, bool from)
{
	struct dxp_rect *b = &c->rect;

	b->row_bytes = (1 + rng_below(r, 1000)) * (c->data_bytes ? c->data_bytes : 1);
	b->rows = 1 + rng_below(r, 1000);
	b->slices = 1 + rng_below(r, 1000);
	b->to_row_pitch = b->row_bytes + rng_below(r, 9);
	b->to_slice_pitch = b->to_row_pitch * b->rows + rng_below(r, 9);
	if (from && rng_below(r, 2))
		b->from_row_pitch = b->row_bytes;
}

static void build_random(struct rng *r, struct command *c)
{
	if (rng_below(r, 2)) {
		data_random(r, c, COMMAND_PACKAGE_BYTES);
		c->bytes = c->data_bytes;
	} else {
		c->address = rng_next(r);
		c->bytes = rng_next(r) | 1;
	}
}

static void fetch_random(struct rng *r, struct command *c)
{
	c->what = (uint8_t)rng_below(r, FETCH_PROFILE + 1);
	c->program = c->what == FETCH_DEVICE ? 0 : (uint32_t)rng_next(r) | 1;
	c->skip = rng_next(r);
	c->bytes = rng_next(r);
	c->address = rng_next(r);
}

static void switches_random(struct rng *r, struct command *c)
{
	c->group = (uint32_t)rng_next(r);
	c->what = (uint8_t)rng_below(r, SWITCHES_CLOSE + 1);
	if (c->what == SWITCHES_OPEN) {
		c->members = (uint16_t)(2 + rng_below(r, DXP_GROUP_MEMBERS_MAX - 1));
		c->member = (uint16_t)rng_below(r, c->members);
	}
	if (c->what == SWITCHES_SHARE)
		data_random(r, c, COMMAND_PACKAGE_BYTES);
}

static void allreduce_random(struct rng *r, struct command *c)
{
	c->group = (uint32_t)rng_next(r);
	c->type = (uint8_t)(DXP_INC_INT8 + rng_below(r, DXP_INC_DOUBLE));
	c->reduction = (uint8_t)(DXP_INC_SUM + rng_below(r, 4));
	c->address = rng_next(r);
	c->to_address = rng_next(r);
	c->bytes = 8 * (1 + rng_below(r, 1 << 30));
}

static struct command command_random(struct rng *r, uint8_t op)
{
	struct command c = {.op = op};

	if (op == COMMAND_HURRY) {
		c.upto = (uint32_t)rng_next(r);
	} else if ((op >= COMMAND_RUN && op <= COMMAND_SIGNAL) ||
		   (op >= COMMAND_BRIDGE && op <= COMMAND_MARK) || op == COMMAND_ALLREDUCE ||
		   op == COMMAND_SETTLE) {
		c.event = rng_next(r);
		c.oldest = (uint32_t)rng_next(r);
		c.lazy = (uint8_t)rng_below(r, 2);
		c.wait_count = (uint8_t)rng_below(r, COMMAND_WAITS_MAX + 1);
		for (int i = 0; i < c.wait_count; i++)
			c.waits[i] = rng_next(r) | 1;
	} else {
		c.sequence = (uint32_t)rng_next(r);
	}
	switch (op) {
	case COMMAND_OPEN:
		c.reply_qp = (uint16_t)rng_next(r);
		c.reply_magic = (uint32_t)rng_next(r);
		break;
	case COMMAND_ALLOC: c.bytes = rng_next(r); break;
	case COMMAND_FREE: c.address = rng_next(r); break;
	case COMMAND_BUILD: build_random(r, &c); break;
	case COMMAND_FETCH: fetch_random(r, &c); break;
	case COMMAND_RELEASE: c.program = (uint32_t)rng_next(r); break;
	case COMMAND_RUN: run_random(r, &c); break;
	case COMMAND_SEND:
	case COMMAND_SIGNAL: transfer_random(r, &c); break;
	case COMMAND_BRIDGE: bridge_random(r, &c); break;
	case COMMAND_WRITE:
		c.address = rng_next(r);
		data_random(r, &c, DXP_INLINE_BYTES);
		break;
	case COMMAND_COPY:
		c.address = rng_next(r);
		c.to_address = rng_next(r);
		rect_random(r, &c, true);
		break;
	case COMMAND_FILL:
		c.address = rng_next(r);
		data_random(r, &c, DXP_PATTERN_MAX);
		rect_random(r, &c, false);
		break;
	case COMMAND_SWITCHES: switches_random(r, &c); break;
	case COMMAND_ALLREDUCE: allreduce_random(r, &c); break;
	case COMMAND_SETTLE:
		c.settles = rng_next(r) | 1;
		c.status = -(int32_t)rng_below(r, 20);
		break;
	}
	return c;
}

static void part_random(struct rng *r, struct command_reply *p, uint32_t bytes)
{
	p->part_bytes = bytes;
	for (uint32_t i = 0; i < bytes; i++)
		p->part[i] = (uint8_t)rng_next(r);
}

static struct command_reply reply_random(struct rng *r, uint8_t op)
{
	struct command_reply p = {
		.op = op, .sequence = (uint32_t)rng_next(r), .status = -(int32_t)rng_below(r, 20)};

	switch (op) {
	case COMMAND_OPEN:
		p.memory_key = (uint32_t)rng_next(r);
		p.memory_bytes = rng_next(r);
		p.compute_units = (uint32_t)rng_next(r);
		text_random(r, p.text, rng_below(r, COMMAND_TEXT_BYTES));
		p.free_bytes = rng_next(r);
		p.memory_kind = (uint8_t)rng_below(r, 3);
		p.streams = (uint8_t)rng_below(r, 2);
		p.buffers = (uint32_t)rng_below(r, BRIDGE_BUFFERS_MAX + 1);
		p.buffer_bytes = (uint32_t)rng_below(r, BRIDGE_BUFFER_MAX + 1);
		for (int q = 0; q < COMMAND_QPS; q++)
			p.qp_magic[q] = (uint32_t)rng_next(r);
		break;
	case COMMAND_ALLOC: p.address = rng_next(r); /* fall through */
	case COMMAND_FREE: p.free_bytes = rng_next(r); break;
	case COMMAND_BUILD:
		p.program = (uint32_t)rng_next(r);
		p.native = (int32_t)rng_next(r);
		p.log_bytes = (uint32_t)rng_below(r, COMMAND_LOG_PART);
		p.about_bytes = (uint32_t)rng_below(r, COMMAND_LOG_PART);
		p.binary_bytes = rng_next(r);
		if (p.log_bytes + p.about_bytes <= COMMAND_LOG_PART)
			part_random(r, &p, p.log_bytes + p.about_bytes);
		break;
	case COMMAND_FETCH:
		p.total = rng_next(r);
		part_random(r, &p, (uint32_t)rng_below(r, COMMAND_LOG_PART + 1));
		break;
	case COMMAND_CLOCK: p.clock_ns = rng_next(r); break;
	case COMMAND_SWITCHES:
		part_random(r, &p, (uint32_t)rng_below(r, COMMAND_LOG_PART + 1));
		break;
	case COMMAND_NIC:
		p.function = (uint8_t)rng_next(r);
		p.memory_key = (uint32_t)rng_next(r);
		for (int q = 0; q < COMMAND_QPS; q++)
			p.qp_magic[q] = (uint32_t)rng_next(r);
		break;
	}
	return p;
}

#endif
