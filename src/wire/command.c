/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes commands (docs/reference/wire.md "Commands"). Both directions use
 * command_valid(), so no message is sent that a receiver would reject. */
#include "wire/command.h"

#include <string.h>

#include "wire/command_codec.h"
#include "wire/limits.h"

#define LAZY_BIT 0x80 /* in the wait count's byte: lazy */

static bool op_asynchronous(uint8_t op)
{
	return (op >= COMMAND_RUN && op <= COMMAND_SIGNAL) ||
	       (op >= COMMAND_BRIDGE && op <= COMMAND_MARK) || op == COMMAND_ALLREDUCE ||
	       op == COMMAND_SETTLE;
}

/* Checks a BRIDGE, but no address ranges: only the xPU knows its memory. */
static bool bridge_valid(const struct command *c)
{
	return c->path <= COMMAND_BRIDGE_THROUGH && c->mode <= COMMAND_BRIDGE_SEQUENTIAL &&
	       (c->piece_bytes == 0 ||
		(c->piece_bytes >= WIRE_BUFFER_MIN && c->piece_bytes <= WIRE_BUFFER_MAX));
}

static bool waits_valid(const struct command *c)
{
	if (c->wait_count > COMMAND_WAITS_MAX || c->lazy > 1 ||
	    ((c->wait_count || c->lazy) && !op_asynchronous(c->op)))
		return false;
	for (uint8_t i = 0; i < c->wait_count; i++)
		if (c->waits[i] == 0)
			return false;
	return true;
}

static bool data_valid(const struct command *c, uint32_t most)
{
	return c->data && c->data_bytes >= 1 && c->data_bytes <= most;
}

/* Returns whether the package is inside the message, or `bytes` bytes at `address`. */
static bool build_valid(const struct command *c)
{
	return c->data_bytes ? c->data_bytes <= COMMAND_PACKAGE_BYTES && c->data &&
				       c->bytes == c->data_bytes && c->address == 0
			     : c->bytes >= 1;
}

static bool copy_valid(const struct command *c)
{
	uint64_t span;

	return command_rect_span(&c->rect, RECT_FROM, &span) &&
	       command_rect_span(&c->rect, RECT_TO, &span);
}

static bool fill_valid(const struct command *c)
{
	uint64_t span;

	return data_valid(c, DXP_PATTERN_MAX) && c->rect.row_bytes % c->data_bytes == 0 &&
	       command_rect_span(&c->rect, RECT_TO, &span);
}

static bool command_valid(const struct command *c)
{
	if (!waits_valid(c))
		return false;
	switch (c->op) {
	case COMMAND_BUILD: return build_valid(c);
	case COMMAND_FETCH:
		return c->what <= FETCH_PROFILE && (c->what == FETCH_DEVICE) == (c->program == 0);
	case COMMAND_RUN: return command_run_valid(c);
	case COMMAND_BRIDGE: return bridge_valid(c);
	case COMMAND_WRITE: return data_valid(c, DXP_INLINE_BYTES);
	case COMMAND_COPY: return copy_valid(c);
	case COMMAND_FILL: return fill_valid(c);
	case COMMAND_SWITCHES:
	case COMMAND_ALLREDUCE:
	case COMMAND_SETTLE: return command_allreduce_valid(c);
	default:
		return command_op_synchronous(c->op) || op_asynchronous(c->op) ||
		       c->op == COMMAND_HURRY;
	}
}

static void put_data(struct put_cursor *p, const struct command *c)
{
	put_16(p, (uint16_t)c->data_bytes);
	if (c->data_bytes)
		put_bytes(p, c->data, c->data_bytes);
}

static void get_data(struct get_cursor *g, struct command *c)
{
	c->data_bytes = get_16(g);
	c->data = get_raw(g, c->data_bytes);
}

static void put_rect(struct put_cursor *p, const struct dxp_rect *r, bool from)
{
	put_64(p, r->row_bytes);
	put_64(p, r->rows);
	put_64(p, r->slices);
	if (from) {
		put_64(p, r->from_row_pitch);
		put_64(p, r->from_slice_pitch);
	}
	put_64(p, r->to_row_pitch);
	put_64(p, r->to_slice_pitch);
}

static void get_rect(struct get_cursor *g, struct dxp_rect *r, bool from)
{
	r->row_bytes = get_64(g);
	r->rows = get_64(g);
	r->slices = get_64(g);
	if (from) {
		r->from_row_pitch = get_64(g);
		r->from_slice_pitch = get_64(g);
	}
	r->to_row_pitch = get_64(g);
	r->to_slice_pitch = get_64(g);
}

static void put_bridge(struct put_cursor *p, const struct command *c)
{
	put_8(p, c->path);
	put_8(p, c->mode);
	put_32(p, c->piece_bytes);
	put_64(p, c->address);
	put_64(p, c->bytes);
	put_16(p, c->to_node);
	put_32(p, c->from_key);
	put_64(p, c->from_address);
	put_32(p, c->to_key);
	put_64(p, c->to_address);
}

static void get_bridge(struct get_cursor *g, struct command *c)
{
	c->path = get_8(g);
	c->mode = get_8(g);
	c->piece_bytes = get_32(g);
	c->address = get_64(g);
	c->bytes = get_64(g);
	c->to_node = get_16(g);
	c->from_key = get_32(g);
	c->from_address = get_64(g);
	c->to_key = get_32(g);
	c->to_address = get_64(g);
}

static void put_body(struct put_cursor *p, const struct command *c)
{
	switch (c->op) {
	case COMMAND_OPEN:
		put_16(p, c->reply_qp);
		put_32(p, c->reply_magic);
		break;
	case COMMAND_ALLOC: put_64(p, c->bytes); break;
	case COMMAND_FREE: put_64(p, c->address); break;
	case COMMAND_BUILD:
		put_64(p, c->address);
		put_64(p, c->bytes);
		put_data(p, c);
		break;
	case COMMAND_FETCH:
		put_32(p, c->program);
		put_8(p, c->what);
		put_64(p, c->skip);
		put_64(p, c->bytes);
		put_64(p, c->address);
		break;
	case COMMAND_RELEASE: put_32(p, c->program); break;
	case COMMAND_RUN: command_run_put(p, c); break;
	case COMMAND_SEND:
		put_64(p, c->address);
		put_64(p, c->bytes);
		put_16(p, c->to_node);
		put_32(p, c->to_key);
		put_64(p, c->to_address);
		break;
	case COMMAND_SIGNAL: put_16(p, c->to_node); break;
	case COMMAND_BRIDGE: put_bridge(p, c); break;
	case COMMAND_WRITE:
		put_64(p, c->address);
		put_data(p, c);
		break;
	case COMMAND_COPY:
		put_64(p, c->address);
		put_64(p, c->to_address);
		put_rect(p, &c->rect, true);
		break;
	case COMMAND_FILL:
		put_64(p, c->address);
		put_data(p, c);
		put_rect(p, &c->rect, false);
		break;
	case COMMAND_HURRY: put_32(p, c->upto); break;
	default: command_allreduce_put(p, c);
	}
}

static void get_body(struct get_cursor *g, struct command *c)
{
	switch (c->op) {
	case COMMAND_OPEN:
		c->reply_qp = get_16(g);
		c->reply_magic = get_32(g);
		break;
	case COMMAND_ALLOC: c->bytes = get_64(g); break;
	case COMMAND_FREE: c->address = get_64(g); break;
	case COMMAND_BUILD:
		c->address = get_64(g);
		c->bytes = get_64(g);
		get_data(g, c);
		break;
	case COMMAND_FETCH:
		c->program = get_32(g);
		c->what = get_8(g);
		c->skip = get_64(g);
		c->bytes = get_64(g);
		c->address = get_64(g);
		break;
	case COMMAND_RELEASE: c->program = get_32(g); break;
	case COMMAND_RUN: command_run_get(g, c); break;
	case COMMAND_SEND:
		c->address = get_64(g);
		c->bytes = get_64(g);
		c->to_node = get_16(g);
		c->to_key = get_32(g);
		c->to_address = get_64(g);
		break;
	case COMMAND_SIGNAL: c->to_node = get_16(g); break;
	case COMMAND_BRIDGE: get_bridge(g, c); break;
	case COMMAND_WRITE:
		c->address = get_64(g);
		get_data(g, c);
		break;
	case COMMAND_COPY:
		c->address = get_64(g);
		c->to_address = get_64(g);
		get_rect(g, &c->rect, true);
		break;
	case COMMAND_FILL:
		c->address = get_64(g);
		get_data(g, c);
		get_rect(g, &c->rect, false);
		break;
	case COMMAND_HURRY: c->upto = get_32(g); break;
	default: command_allreduce_get(g, c);
	}
}

int command_encode(const struct command *c, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (!command_valid(c))
		return DXP_EINVAL;
	put_8(&p, c->op);
	if (op_asynchronous(c->op)) {
		put_8(&p, c->wait_count | (c->lazy ? LAZY_BIT : 0));
		put_64(&p, c->event);
		put_32(&p, c->oldest);
		for (uint8_t i = 0; i < c->wait_count; i++)
			put_64(&p, c->waits[i]);
	} else if (c->op != COMMAND_HURRY) {
		put_32(&p, c->sequence);
	}
	put_body(&p, c);
	return command_put_end(&p, out);
}

uint8_t command_op(const uint8_t *data, size_t bytes)
{
	return bytes > 0 ? data[0] : 0;
}

static void get_head(struct get_cursor *g, struct command *c)
{
	c->op = get_8(g);
	if (c->op == COMMAND_HURRY)
		return;
	if (!op_asynchronous(c->op)) {
		c->sequence = get_32(g);
		return;
	}
	uint8_t waits = get_8(g);
	c->lazy = (waits & LAZY_BIT) != 0;
	c->wait_count = waits & (LAZY_BIT - 1);
	c->event = get_64(g);
	c->oldest = get_32(g);
	for (uint8_t i = 0; i < c->wait_count && i < COMMAND_WAITS_MAX; i++)
		c->waits[i] = get_64(g);
}

int command_decode(const uint8_t *data, size_t bytes, struct command *c)
{
	struct get_cursor t = {.at = data, .end = data + bytes};

	/* The 3.5 KiB from `text` on are not cleared, to save time; only their filled part is
	 * read. */
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	get_head(&t, c);
	get_body(&t, c);
	return get_done(&t) && command_valid(c) ? DXP_OK : DXP_EMALFORMED;
}
