/* SPDX-License-Identifier: BSD-3-Clause */
/* The command codec: docs/wire.md "Commands" holds the tables. What a field may hold is said once,
 * in command_valid, for both directions: so a message that we would refuse is never sent. */
#include "wire/command.h"

#include <stdbool.h>
#include <string.h>

#include <dxp/mmd.h>
#include <dxp/status.h>

#include "base/limits.h"
#include "wire/cursor.h"

#define LAZY_BIT 0x80 /* in the byte that counts the waits */

static bool op_asynchronous(uint8_t op)
{
	return op == COMMAND_RUN || op == COMMAND_SEND || op == COMMAND_SIGNAL ||
	       op == COMMAND_BRIDGE;
}

static bool op_synchronous(uint8_t op)
{
	return (op >= COMMAND_OPEN && op <= COMMAND_RELEASE) || op == COMMAND_NIC;
}

/* The length of a text that ends within `room`, or `room`. */
static size_t text_length(const char *text, size_t room)
{
	return strnlen(text, room);
}

/* Printable, and its zero lies within `room`. */
static bool text_valid(const char *text, size_t room)
{
	size_t bytes = text_length(text, room);

	for (size_t i = 0; i < bytes; i++)
		if ((uint8_t)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return bytes < room;
}

static bool argument_valid(const struct command_argument *a)
{
	switch (a->kind) {
	case COMMAND_ARG_BYTES: return a->bytes >= 1 && a->bytes <= COMMAND_VALUE_BYTES;
	case COMMAND_ARG_BUFFER: return true;
	case COMMAND_ARG_LOCAL: return a->bytes >= 1;
	case COMMAND_ARG_NIC: return true;
	default: return false;
	}
}

static bool run_valid(const struct command *c)
{
	if (c->text[0] == '\0' || !text_valid(c->text, COMMAND_NAME_BYTES))
		return false;
	if (c->dimensions < 1 || c->dimensions > 3 || c->argument_count > COMMAND_ARGS_MAX)
		return false;
	for (uint8_t d = 0; d < c->dimensions; d++)
		if (c->global[d] == 0)
			return false;
	for (uint8_t i = 0; i < c->argument_count; i++)
		if (!argument_valid(&c->arguments[i]))
			return false;
	return true;
}

/* Ranges are the xPU's to check, which has the memory. */
static bool bridge_valid(const struct command *c)
{
	return c->path <= COMMAND_BRIDGE_THROUGH && c->mode <= COMMAND_BRIDGE_SEQUENTIAL &&
	       (c->piece_bytes == 0 ||
		(c->piece_bytes >= BRIDGE_BUFFER_MIN && c->piece_bytes <= BRIDGE_BUFFER_MAX));
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

static bool command_valid(const struct command *c)
{
	if ((!op_synchronous(c->op) && !op_asynchronous(c->op)) || !waits_valid(c))
		return false;
	switch (c->op) {
	case COMMAND_BUILD: return c->bytes >= 1 && text_valid(c->text, COMMAND_OPTIONS_BYTES);
	case COMMAND_RUN: return run_valid(c);
	case COMMAND_BRIDGE: return bridge_valid(c);
	default: return true;
	}
}

/* Two bytes of length, then the characters: build options may be longer than put_text's 255. */
static void put_long_text(struct put_cursor *c, const char *text)
{
	size_t bytes = strlen(text);

	put_16(c, (uint16_t)bytes);
	put_bytes(c, text, bytes);
}

static void take_long_text(struct take_cursor *c, char *to, size_t room)
{
	size_t bytes = take_16(c);
	const uint8_t *at = take_room(c, bytes);

	if (!at || bytes >= room || memchr(at, '\0', bytes)) {
		c->bad = true;
		return;
	}
	memcpy(to, at, bytes);
	to[bytes] = '\0';
}

static void put_argument(struct put_cursor *p, const struct command_argument *a)
{
	put_8(p, a->kind);
	switch (a->kind) {
	case COMMAND_ARG_BYTES:
		put_8(p, (uint8_t)a->bytes);
		put_bytes(p, a->value, a->bytes);
		break;
	case COMMAND_ARG_BUFFER: put_64(p, a->address); break;
	case COMMAND_ARG_LOCAL: put_32(p, a->bytes); break;
	}
}

static void take_argument(struct take_cursor *t, struct command_argument *a)
{
	a->kind = take_8(t);
	switch (a->kind) {
	case COMMAND_ARG_BYTES:
		a->bytes = take_8(t);
		if (a->bytes > sizeof(a->value))
			t->bad = true;
		else
			take_bytes(t, a->value, a->bytes);
		break;
	case COMMAND_ARG_BUFFER: a->address = take_64(t); break;
	case COMMAND_ARG_LOCAL: a->bytes = take_32(t); break;
	case COMMAND_ARG_NIC: break;
	default: t->bad = true;
	}
}

static void put_run(struct put_cursor *p, const struct command *c)
{
	put_32(p, c->program);
	put_long_text(p, c->text);
	put_8(p, c->dimensions);
	for (uint8_t d = 0; d < c->dimensions; d++) {
		put_64(p, c->global[d]);
		put_64(p, c->local[d]);
	}
	put_8(p, c->argument_count);
	for (uint8_t i = 0; i < c->argument_count; i++)
		put_argument(p, &c->arguments[i]);
}

static void take_run(struct take_cursor *t, struct command *c)
{
	c->program = take_32(t);
	take_long_text(t, c->text, COMMAND_NAME_BYTES);
	c->dimensions = take_8(t);
	for (uint8_t d = 0; d < 3; d++)
		c->global[d] = 1;
	for (uint8_t d = 0; d < c->dimensions && d < 3; d++) {
		c->global[d] = take_64(t);
		c->local[d] = take_64(t);
	}
	c->argument_count = take_8(t);
	for (uint8_t i = 0; i < c->argument_count && i < COMMAND_ARGS_MAX; i++)
		take_argument(t, &c->arguments[i]);
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

static void take_bridge(struct take_cursor *t, struct command *c)
{
	c->path = take_8(t);
	c->mode = take_8(t);
	c->piece_bytes = take_32(t);
	c->address = take_64(t);
	c->bytes = take_64(t);
	c->to_node = take_16(t);
	c->from_key = take_32(t);
	c->from_address = take_64(t);
	c->to_key = take_32(t);
	c->to_address = take_64(t);
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
		put_long_text(p, c->text);
		break;
	case COMMAND_LOG:
		put_32(p, c->program);
		put_32(p, c->offset);
		break;
	case COMMAND_RELEASE: put_32(p, c->program); break;
	case COMMAND_RUN: put_run(p, c); break;
	case COMMAND_SEND:
		put_64(p, c->address);
		put_64(p, c->bytes);
		put_16(p, c->to_node);
		put_32(p, c->to_key);
		put_64(p, c->to_address);
		break;
	case COMMAND_SIGNAL: put_16(p, c->to_node); break;
	case COMMAND_BRIDGE: put_bridge(p, c); break;
	}
}

static void take_body(struct take_cursor *t, struct command *c)
{
	switch (c->op) {
	case COMMAND_OPEN:
		c->reply_qp = take_16(t);
		c->reply_magic = take_32(t);
		break;
	case COMMAND_ALLOC: c->bytes = take_64(t); break;
	case COMMAND_FREE: c->address = take_64(t); break;
	case COMMAND_BUILD:
		c->address = take_64(t);
		c->bytes = take_64(t);
		take_long_text(t, c->text, COMMAND_OPTIONS_BYTES);
		break;
	case COMMAND_LOG:
		c->program = take_32(t);
		c->offset = take_32(t);
		break;
	case COMMAND_RELEASE: c->program = take_32(t); break;
	case COMMAND_RUN: take_run(t, c); break;
	case COMMAND_SEND:
		c->address = take_64(t);
		c->bytes = take_64(t);
		c->to_node = take_16(t);
		c->to_key = take_32(t);
		c->to_address = take_64(t);
		break;
	case COMMAND_SIGNAL: c->to_node = take_16(t); break;
	case COMMAND_BRIDGE: take_bridge(t, c); break;
	}
}

static int put_end(const struct put_cursor *p, const uint8_t *out)
{
	return p->bad ? DXP_EINVAL : (int)(p->at - out);
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
	} else {
		put_32(&p, c->sequence);
	}
	put_body(&p, c);
	return put_end(&p, out);
}

uint8_t command_op(const uint8_t *data, size_t bytes)
{
	return bytes > 0 ? data[0] : 0;
}

static void take_head(struct take_cursor *t, struct command *c)
{
	c->op = take_8(t);
	if (!op_asynchronous(c->op)) {
		c->sequence = take_32(t);
		return;
	}
	uint8_t waits = take_8(t);
	c->lazy = (waits & LAZY_BIT) != 0;
	c->wait_count = waits & (LAZY_BIT - 1);
	c->event = take_64(t);
	c->oldest = take_32(t);
	for (uint8_t i = 0; i < c->wait_count && i < COMMAND_WAITS_MAX; i++)
		c->waits[i] = take_64(t);
}

int command_decode(const uint8_t *data, size_t bytes, struct command *c)
{
	struct take_cursor t = {.at = data, .end = data + bytes};
	struct command taken = {0};

	take_head(&t, &taken);
	take_body(&t, &taken);
	if (!take_done(&t) || !command_valid(&taken))
		return DXP_EMALFORMED;
	*c = taken;
	return DXP_OK;
}

static bool open_reply_valid(const struct command_reply *r)
{
	return r->memory_kind <= DXP_MEMORY_BRIDGED && r->streams <= 1 &&
	       r->buffers <= BRIDGE_BUFFERS_MAX && r->buffer_bytes <= BRIDGE_BUFFER_MAX &&
	       text_valid(r->text, sizeof(r->text));
}

static bool reply_valid(const struct command_reply *r)
{
	if (!op_synchronous(r->op) || r->status > 0)
		return false;
	if (r->op == COMMAND_OPEN)
		return open_reply_valid(r);
	return r->op != COMMAND_LOG || r->log_bytes <= sizeof(r->log);
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
		put_text(&p, r->text);
		break;
	case COMMAND_ALLOC:
		put_64(&p, r->free_bytes);
		put_64(&p, r->address);
		break;
	case COMMAND_FREE: put_64(&p, r->free_bytes); break;
	case COMMAND_BUILD:
		put_32(&p, r->program);
		put_32(&p, r->log_bytes);
		break;
	case COMMAND_LOG:
		put_16(&p, (uint16_t)r->log_bytes);
		put_bytes(&p, r->log, r->log_bytes);
		break;
	case COMMAND_NIC:
		put_8(&p, r->function);
		put_32(&p, r->memory_key);
		for (int q = 0; q < COMMAND_QPS; q++)
			put_32(&p, r->qp_magic[q]);
		break;
	}
	return put_end(&p, out);
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
		take_text(t, r->text, sizeof(r->text));
		break;
	case COMMAND_ALLOC:
		r->free_bytes = take_64(t);
		r->address = take_64(t);
		break;
	case COMMAND_FREE: r->free_bytes = take_64(t); break;
	case COMMAND_BUILD:
		r->program = take_32(t);
		r->log_bytes = take_32(t);
		break;
	case COMMAND_LOG:
		r->log_bytes = take_16(t);
		if (r->log_bytes > sizeof(r->log))
			t->bad = true;
		else
			take_bytes(t, r->log, r->log_bytes);
		break;
	case COMMAND_NIC:
		r->function = take_8(t);
		r->memory_key = take_32(t);
		for (int q = 0; q < COMMAND_QPS; q++)
			r->qp_magic[q] = take_32(t);
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

/* Not inlined: gcc 12 would warn of an overflow that the cursor makes impossible. */
static __attribute__((noinline)) void put_event(struct put_cursor *p, const struct command_event *e)
{
	put_8(p, COMMAND_EVENT);
	put_64(p, e->event);
	put_32(p, (uint32_t)e->status);
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
	return put_end(&p, out);
}

int command_event_decode(const uint8_t *data, size_t bytes, struct command_event *e)
{
	struct take_cursor t = {.at = data, .end = data + bytes};
	struct command_event taken;

	if (take_8(&t) != COMMAND_EVENT)
		t.bad = true;
	taken.event = take_64(&t);
	taken.status = (int32_t)take_32(&t);
	taken.queued_ns = take_64(&t);
	taken.started_ns = take_64(&t);
	taken.ended_ns = take_64(&t);
	if (!take_done(&t) || taken.event == 0 || taken.status > 0)
		return DXP_EMALFORMED;
	*e = taken;
	return DXP_OK;
}
