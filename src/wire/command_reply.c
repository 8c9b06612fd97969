/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to hosts: replies, events, output. */
#include <string.h>

#include <dxp/mmd.h>

#include "wire/command_codec.h"
#include "wire/limits.h"

bool command_op_synchronous(uint8_t op)
{
	return (op >= COMMAND_OPEN && op <= COMMAND_RELEASE) || op == COMMAND_NIC ||
	       op == COMMAND_CLOCK || op == COMMAND_SWITCHES;
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

static void get_part(struct get_cursor *g, struct command_reply *r)
{
	r->part_bytes = get_16(g);
	if (r->part_bytes > sizeof(r->part))
		g->bad = true;
	else
		get_bytes(g, r->part, r->part_bytes);
}

static void put_magics(struct put_cursor *p, const struct command_reply *r)
{
	for (int q = 0; q < COMMAND_QPS; q++)
		put_32(p, r->qp_magic[q]);
}

static void get_magics(struct get_cursor *g, struct command_reply *r)
{
	for (int q = 0; q < COMMAND_QPS; q++)
		r->qp_magic[q] = get_32(g);
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
	case COMMAND_SWITCHES: put_part(&p, r); break;
	case COMMAND_NIC:
		put_8(&p, r->function);
		put_32(&p, r->memory_key);
		put_magics(&p, r);
		break;
	}
	return command_put_end(&p, out);
}

static void get_reply_body(struct get_cursor *g, struct command_reply *r)
{
	switch (r->op) {
	case COMMAND_OPEN:
		r->memory_key = get_32(g);
		r->memory_bytes = get_64(g);
		r->free_bytes = get_64(g);
		r->compute_units = get_32(g);
		r->memory_kind = get_8(g);
		r->streams = get_8(g);
		r->buffers = get_32(g);
		r->buffer_bytes = get_32(g);
		get_magics(g, r);
		get_text(g, r->text, sizeof(r->text));
		break;
	case COMMAND_ALLOC:
		r->free_bytes = get_64(g);
		r->address = get_64(g);
		break;
	case COMMAND_FREE: r->free_bytes = get_64(g); break;
	case COMMAND_BUILD:
		r->program = get_32(g);
		r->native = (int32_t)get_32(g);
		r->log_bytes = get_32(g);
		r->about_bytes = get_32(g);
		r->binary_bytes = get_64(g);
		get_part(g, r);
		break;
	case COMMAND_FETCH:
		r->total = get_64(g);
		get_part(g, r);
		break;
	case COMMAND_CLOCK: r->clock_ns = get_64(g); break;
	case COMMAND_SWITCHES: get_part(g, r); break;
	case COMMAND_NIC:
		r->function = get_8(g);
		r->memory_key = get_32(g);
		get_magics(g, r);
		break;
	}
}

int command_reply_decode(const uint8_t *data, size_t bytes, struct command_reply *r)
{
	struct get_cursor t = {.at = data, .end = data + bytes};
	struct command_reply read = {0};

	if (get_8(&t) != COMMAND_REPLY)
		t.bad = true;
	read.op = get_8(&t);
	read.sequence = get_32(&t);
	read.status = (int32_t)get_32(&t);
	get_reply_body(&t, &read);
	if (!get_done(&t) || !reply_valid(&read))
		return DXP_EMALFORMED;
	*r = read;
	return DXP_OK;
}

/* Not inlined, because gcc 12 would warn of an overflow that the cursor prevents. */
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
	struct get_cursor t = {.at = data, .end = data + bytes};
	struct command_event read;

	if (get_8(&t) != COMMAND_EVENT)
		t.bad = true;
	read.event = get_64(&t);
	read.status = (int32_t)get_32(&t);
	read.native = (int32_t)get_32(&t);
	read.queued_ns = get_64(&t);
	read.started_ns = get_64(&t);
	read.ended_ns = get_64(&t);
	if (!get_done(&t) || read.event == 0 || read.status > 0)
		return DXP_EMALFORMED;
	*e = read;
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
	struct get_cursor t = {.at = data, .end = data + bytes};

	if (get_8(&t) != COMMAND_BEGUN)
		t.bad = true;
	uint64_t name = get_64(&t);
	if (!get_done(&t) || name == 0)
		return DXP_EMALFORMED;
	*event = name;
	return DXP_OK;
}

/* Not inlined, for the same reason as put_event. */
static __attribute__((noinline)) void put_failed(struct put_cursor *p, uint64_t event,
						 const char *text)
{
	put_8(p, COMMAND_FAILED);
	put_64(p, event);
	put_text(p, text);
}

int command_failed_encode(uint64_t event, const char *text, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (event == 0 || text[0] == '\0' || !command_text_valid(text, COMMAND_FAILURE_BYTES))
		return DXP_EINVAL;
	put_failed(&p, event, text);
	return command_put_end(&p, out);
}

int command_failed_decode(const uint8_t *data, size_t bytes, uint64_t *event,
			  char text[COMMAND_FAILURE_BYTES])
{
	struct get_cursor t = {.at = data, .end = data + bytes};
	char read[COMMAND_FAILURE_BYTES] = "";

	if (get_8(&t) != COMMAND_FAILED)
		t.bad = true;
	uint64_t name = get_64(&t);
	get_text(&t, read, sizeof(read));
	if (!get_done(&t) || name == 0 || read[0] == '\0')
		return DXP_EMALFORMED;
	*event = name;
	memcpy(text, read, sizeof(read));
	return DXP_OK;
}

/* Not inlined, for the same reason as put_event. */
static __attribute__((noinline)) void put_cycles(struct put_cursor *p, uint64_t event,
						 const struct dxp_event_cycles *c)
{
	put_8(p, COMMAND_CYCLES);
	put_64(p, event);
	put_64(p, c->cycles);
	put_64(p, c->cycles_least);
	put_64(p, c->cycles_most);
	put_64(p, c->instructions);
	put_64(p, c->lines);
	put_64(p, c->lines_missed);
	put_32(p, c->cores);
	put_32(p, c->clock_mhz);
}

int command_cycles_encode(uint64_t event, const struct dxp_event_cycles *cycles, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + COMMAND_BYTES_MAX};

	if (event == 0 || cycles->cycles == 0)
		return DXP_EINVAL;
	put_cycles(&p, event, cycles);
	return command_put_end(&p, out);
}

int command_cycles_decode(const uint8_t *data, size_t bytes, uint64_t *event,
			  struct dxp_event_cycles *cycles)
{
	struct get_cursor t = {.at = data, .end = data + bytes};
	struct dxp_event_cycles read;

	if (get_8(&t) != COMMAND_CYCLES)
		t.bad = true;
	uint64_t name = get_64(&t);
	read.cycles = get_64(&t);
	read.cycles_least = get_64(&t);
	read.cycles_most = get_64(&t);
	read.instructions = get_64(&t);
	read.lines = get_64(&t);
	read.lines_missed = get_64(&t);
	read.cores = get_32(&t);
	read.clock_mhz = get_32(&t);
	if (!get_done(&t) || name == 0 || read.cycles == 0)
		return DXP_EMALFORMED;
	*event = name;
	*cycles = read;
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
