/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes messages to hosts: replies, events, kernel output. */
#include <string.h>

#include <dxp/mmd.h>

#include "wire/command_codec.h"
#include "wire/limits.h"

bool command_op_synchronous(uint8_t op)
{
	return (op >= COMMAND_OPEN && op <= COMMAND_RELEASE) || op == COMMAND_NIC ||
	       op == COMMAND_CLOCK;
}

static bool open_reply_valid(const struct command_reply *r)
{
	return r->memory_kind <= DXP_MEMORY_BRIDGED && r->streams <= 1 &&
	       r->buffers <= WIRE_BUFFERS_MAX && r->buffer_bytes <= WIRE_BUFFER_MAX &&
	       command_text_valid(r->text, sizeof(r->text));
}

static bool reply_valid(const struct command_reply *r)
{
	if (!command_op_synchronous(r->op) || r->status > 0)
		return false;
	if (r->op == COMMAND_OPEN)
		return open_reply_valid(r);
	if (r->op == COMMAND_BUILD && r->part_bytes &&
	    (uint64_t)r->log_bytes + r->about_bytes != r->part_bytes)
		return false;
	return r->part_bytes <= sizeof(r->part);
}

static void put_part(struct put_cursor *p, const struct command_reply *r)
{
	put_16(p, (uint16_t)r->part_bytes);
	put_bytes(p, r->part, r->part_bytes);
}

static void take_part(struct take_cursor *t, struct command_reply *r)
{
	r->part_bytes = take_16(t);
	if (r->part_bytes > sizeof(r->part))
		t->bad = true;
	else
		take_bytes(t, r->part, r->part_bytes);
}

static void put_magics(struct put_cursor *p, const struct command_reply *r)
{
	for (int q = 0; q < COMMAND_QPS; q++)
		put_32(p, r->qp_magic[q]);
}

static void take_magics(struct take_cursor *t, struct command_reply *r)
{
	for (int q = 0; q < COMMAND_QPS; q++)
		r->qp_magic[q] = take_32(t);
}

int command_reply_encode(const struct command_reply *r, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (!reply_valid(r))
		return DXP_EINVAL;
	put_8(&p, COMMAND_REPLY);
	put_8(&p, r->op);
	put_32(&p, r->sequence);
	put_32(&p, (uint32_t)r->status);
	switch (r->op) {
	case COMMAND_OPEN:
		put_32(&p, r->memory_key);
		put_64(&p, r->memory_bytes);
		put_64(&p, r->free_bytes);
		put_32(&p, r->compute_units);
		put_8(&p, r->memory_kind);
		put_8(&p, r->streams);
		put_32(&p, r->buffers);
		put_32(&p, r->buffer_bytes);
		put_magics(&p, r);
		put_text(&p, r->text);
		break;
	case COMMAND_ALLOC:
		put_64(&p, r->free_bytes);
		put_64(&p, r->address);
		break;
	case COMMAND_FREE: put_64(&p, r->free_bytes); break;
	case COMMAND_BUILD:
		put_32(&p, r->program);
		put_32(&p, (uint32_t)r->native);
		put_32(&p, r->log_bytes);
		put_32(&p, r->about_bytes);
		put_64(&p, r->binary_bytes);
		put_part(&p, r);
		break;
	case COMMAND_FETCH:
		put_64(&p, r->total);
		put_part(&p, r);
		break;
	case COMMAND_CLOCK: put_64(&p, r->clock_ns); break;
	case COMMAND_NIC:
		put_8(&p, r->function);
		put_32(&p, r->memory_key);
		put_magics(&p, r);
		break;
	}
	return command_put_end(&p, out);
}

static void take_reply_body(struct take_cursor *t, struct command_reply *r)
{
	switch (r->op) {
	case COMMAND_OPEN:
		r->memory_key = take_32(t);
		r->memory_bytes = take_64(t);
		r->free_bytes = take_64(t);
		r->compute_units = take_32(t);
		r->memory_kind = take_8(t);
		r->streams = take_8(t);
		r->buffers = take_32(t);
		r->buffer_bytes = take_32(t);
		take_magics(t, r);
		take_text(t, r->text, sizeof(r->text));
		break;
	case COMMAND_ALLOC:
		r->free_bytes = take_64(t);
		r->address = take_64(t);
		break;
	case COMMAND_FREE: r->free_bytes = take_64(t); break;
	case COMMAND_BUILD:
		r->program = take_32(t);
		r->native = (int32_t)take_32(t);
		r->log_bytes = take_32(t);
		r->about_bytes = take_32(t);
		r->binary_bytes = take_64(t);
		take_part(t, r);
		break;
	case COMMAND_FETCH:
		r->total = take_64(t);
		take_part(t, r);
		break;
	case COMMAND_CLOCK: r->clock_ns = take_64(t); break;
	case COMMAND_NIC:
		r->function = take_8(t);
		r->memory_key = take_32(t);
		take_magics(t, r);
		break;
	}
}

int command_reply_decode(const uint8_t *data, size_t bytes, struct command_reply *r)
{
	struct take_cursor t = {.at = data, .end = data + bytes};
	struct command_reply taken = {0};

	if (take_8(&t) != COMMAND_REPLY)
		t.bad = true;
	taken.op = take_8(&t);
	taken.sequence = take_32(&t);
	taken.status = (int32_t)take_32(&t);
	take_reply_body(&t, &taken);
	if (!take_done(&t) || !reply_valid(&taken))
		return DXP_EMALFORMED;
	*r = taken;
	return DXP_OK;
}

/* Not inlined: gcc 12 would warn of an overflow that the cursor prevents. */
static __attribute__((noinline)) void put_event(struct put_cursor *p, const struct command_event *e)
{
	put_8(p, COMMAND_EVENT);
	put_64(p, e->event);
	put_32(p, (uint32_t)e->status);
	put_32(p, (uint32_t)e->native);
	put_64(p, e->queued_ns);
	put_64(p, e->started_ns);
	put_64(p, e->ended_ns);
}

int command_event_encode(const struct command_event *e, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (e->event == 0 || e->status > 0)
		return DXP_EINVAL;
	put_event(&p, e);
	return command_put_end(&p, out);
}

int command_event_decode(const uint8_t *data, size_t bytes, struct command_event *e)
{
	struct take_cursor t = {.at = data, .end = data + bytes};
	struct command_event taken;

	if (take_8(&t) != COMMAND_EVENT)
		t.bad = true;
	taken.event = take_64(&t);
	taken.status = (int32_t)take_32(&t);
	taken.native = (int32_t)take_32(&t);
	taken.queued_ns = take_64(&t);
	taken.started_ns = take_64(&t);
	taken.ended_ns = take_64(&t);
	if (!take_done(&t) || taken.event == 0 || taken.status > 0)
		return DXP_EMALFORMED;
	*e = taken;
	return DXP_OK;
}

int command_begun_encode(uint64_t event, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (event == 0)
		return DXP_EINVAL;
	put_8(&p, COMMAND_BEGUN);
	put_64(&p, event);
	return command_put_end(&p, out);
}

int command_begun_decode(const uint8_t *data, size_t bytes, uint64_t *event)
{
	struct take_cursor t = {.at = data, .end = data + bytes};

	if (take_8(&t) != COMMAND_BEGUN)
		t.bad = true;
	uint64_t name = take_64(&t);
	if (!take_done(&t) || name == 0)
		return DXP_EMALFORMED;
	*event = name;
	return DXP_OK;
}

int command_print_encode(const void *text, size_t text_bytes, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (text_bytes < 1 || text_bytes > COMMAND_PRINT_BYTES)
		return DXP_EINVAL;
	put_8(&p, COMMAND_PRINT);
	put_bytes(&p, text, text_bytes);
	return command_put_end(&p, out);
}

int command_print_decode(const uint8_t *data, size_t bytes, const uint8_t **text,
			 size_t *text_bytes)
{
	if (bytes < 2 || bytes > 1 + COMMAND_PRINT_BYTES || data[0] != COMMAND_PRINT)
		return DXP_EMALFORMED;
	*text = data + 1;
	*text_bytes = bytes - 1;
	return DXP_OK;
}
