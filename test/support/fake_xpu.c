/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/fake_xpu_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/util.h"
#include "node/node.h"
#include "test/support/fake_bridge.h"
#include "wire/command.h"

#define LONG_BYTES (100u << 10) /* bytes of each device record */
#define LOG_TEXT   "line 1: not like this\n"
#define SLEEP_NS   (50 * MS_NS)

#define CORE_OPERAND 45 /* register with the core's operand, as in xpu/cfg.h */

static uint8_t reg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	struct fake_xpu *x = context;

	if (first + count > FAKE_REGISTERS)
		return WIRE_NACK_BOUNDS;
	memcpy(values, x->registers + first, count * sizeof(*values));
	return 0;
}

static uint8_t reg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	struct fake_xpu *x = context;

	if (first + count > FAKE_REGISTERS)
		return WIRE_NACK_BOUNDS;
	memcpy(x->registers + first, values, count * sizeof(*values));
	uint32_t writes = atomic_fetch_add(&x->writes, 1) + 1;
	if (writes > atomic_load(&x->writes_most))
		atomic_store(&x->writes_most, writes);
	return 0;
}

const struct nic_cfg_ops fake_xpu_cfg_ops = {reg_read, reg_write};

static void text_print(struct fake_xpu *x, const struct dxp_target *to, const uint8_t *message,
		       int bytes)
{
	struct dxp_nic_event sent;

	assert(bytes > 0);
	while (dxp_post_nap(node_window(x->node), 0, to, message, (uint32_t)bytes, 0, 0) ==
	       DXP_EAGAIN) {
		node_poll(x->node);
		while (dxp_sent_dequeue(node_window(x->node), &sent))
			;
	}
}

static void notify(struct fake_xpu *x, const struct dxp_target *to, uint64_t event, int status)
{
	const struct command_event e = {.event = event,
					.status = status,
					.native = status == DXP_EDEVICE ? FAKE_NATIVE : 0,
					.queued_ns = 1,
					.started_ns = 2,
					.ended_ns = 3};
	uint8_t message[COMMAND_BYTES_MAX];

	text_print(x, to, message, command_event_encode(&e, message));
}

static void begun(struct fake_xpu *x, uint64_t event)
{
	uint8_t message[COMMAND_BYTES_MAX];

	text_print(x, &x->host, message, command_begun_encode(event, message));
}

static void failed(struct fake_xpu *x, uint64_t event, const char *text)
{
	uint8_t message[COMMAND_BYTES_MAX];

	text_print(x, &x->host, message, command_failed_encode(event, text, message));
}

static void explain(struct fake_xpu *x, uint64_t event)
{
	uint8_t message[COMMAND_BYTES_MAX];
	const int bytes = command_failed_encode(event, "not this", message);

	failed(x, event + 1000, "of no event");
	failed(x, event ^ 1ull << 32, "of another xPU");
	message[9]++; /* invalid: the text's length is larger than the message */
	text_print(x, &x->host, message, bytes);
	failed(x, event, FAKE_SENTENCE);
}

static void cycles_send(struct fake_xpu *x, uint64_t event)
{
	struct dxp_event_cycles c = {event & UINT16_MAX, 1, 9, 40, 6, 3, 32, 200};
	uint8_t message[COMMAND_BYTES_MAX];
	const int bytes = command_cycles_encode(event, &c, message);

	text_print(x, &x->host, message, bytes - 1); /* invalid: too short */
	text_print(x, &x->host, message, bytes);
	c.cycles = 99;
	text_print(x, &x->host, message,
		   command_cycles_encode(event ^ 1ull << 32, &c, message)); /* of another xPU */
	text_print(x, &x->host, message,
		   command_cycles_encode(event + 1000, &c, message)); /* of no event */
}

static void note_done(struct fake_xpu *x, uint64_t event, int status)
{
	x->done[x->done_count++ % ARRAY_COUNT(x->done)] = (struct done){event, status};
}

/* 1: all events that `c` waits for completed without error; 0: one has not completed; negative: the
 * status of a failed one. */
static int waits_state(const struct fake_xpu *x, const struct command *c)
{
	unsigned known = (unsigned)min_u64(x->done_count, ARRAY_COUNT(x->done));
	int state = 1;

	for (unsigned w = 0; w < c->wait_count; w++) {
		unsigned i = 0;
		while (i < known && x->done[i].event != c->waits[w])
			i++;
		if (i == known)
			state = 0;
		else if (x->done[i].status != DXP_OK)
			return DXP_ECANCELED;
	}
	return state;
}

static int kernel(const char *name)
{
	return strcmp(name, "ok") == 0      ? DXP_OK
	       : strcmp(name, "long") == 0  ? DXP_OK
	       : strcmp(name, "timed") == 0 ? DXP_OK
	       : strcmp(name, "fail") == 0  ? DXP_EDEVICE
	       : strcmp(name, "why") == 0   ? DXP_EDEVICE
					    : DXP_ENOENT;
}

static void finish(struct fake_xpu *x, const struct command *c, int status)
{
	struct dxp_target peer;

	note_done(x, c->event, status);
	if ((c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL) &&
	    node_target(x->node, c->to_node, &peer) == DXP_OK)
		notify(x, &peer, c->event, status);
	notify(x, &x->host, c->event, status);
}

static int send_memory(struct fake_xpu *x, const struct command *c)
{
	const struct dxp_entry local = {c->address, (uint32_t)c->bytes, x->key};
	const struct dxp_entry remote = {c->to_address, (uint32_t)c->bytes, c->to_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_target peer;
	struct dxp_nic_event sent = {0};
	int status = node_target(x->node, c->to_node, &peer);

	if (status == DXP_OK)
		status = nic_user_put(node_window(x->node), 1, &peer, &lists, 77);
	while (status == DXP_OK && sent.context != 77) {
		node_poll(x->node);
		if (dxp_sent_dequeue(node_window(x->node), &sent) && sent.context == 77)
			return sent.status;
	}
	return status;
}

static void lie(void *context, const struct command *c)
{
	struct fake_xpu *x = context;

	notify(x, &x->host, c->event, DXP_EDEVICE);
	/* so that the answer is sent before the xPU stops */
	for (uint64_t until = clock_now_ns() + 50 * MS_NS; clock_now_ns() < until;)
		node_poll(x->node);
}

static int bridge(struct fake_xpu *x, const struct command *c)
{
	const struct fake_bridge b = {.node = x->node,
				      .memory = x->memory,
				      .memory_bytes = FAKE_MEMORY_BYTES,
				      .key = x->key,
				      .operand = &x->registers[CORE_OPERAND],
				      .host = x->host,
				      .frozen = &x->frozen,
				      .started = &x->pieces,
				      .faults = &x->faults,
				      .lie = lie,
				      .context = x};

	return fake_bridge_run(&b, c);
}

static int daemon_do(struct fake_xpu *x, const struct command *c)
{
	const struct dxp_rect *b = &c->rect;
	uint64_t from_row, from_slice, to_row, to_slice;
	uint64_t to = c->op == COMMAND_FILL ? c->address : c->to_address;

	command_rect_pitches(b, RECT_FROM, &from_row, &from_slice);
	command_rect_pitches(b, RECT_TO, &to_row, &to_slice);
	for (uint64_t s = 0; s < b->slices; s++)
		for (uint64_t r = 0; r < b->rows; r++)
			for (uint64_t i = 0; i < b->row_bytes; i++)
				x->memory[to + s * to_slice + r * to_row + i] =
					c->op == COMMAND_FILL
						? c->data[i % c->data_bytes]
						: x->memory[c->address + s * from_slice +
							    r * from_row + i];
	return DXP_OK;
}

static int print(struct fake_xpu *x)
{
	uint8_t message[COMMAND_BYTES_MAX];

	text_print(x, &x->host, message, command_print_encode("printed\n", 8, message));
	return DXP_OK;
}

static int carry_out(struct fake_xpu *x, const struct command *c)
{
	switch (c->op) {
	case COMMAND_RUN: return strcmp(c->text, "print") == 0 ? print(x) : kernel(c->text);
	case COMMAND_SEND: return send_memory(x, c);
	case COMMAND_BRIDGE: return bridge(x, c);
	case COMMAND_WRITE: memcpy(x->memory + c->address, c->data, c->data_bytes); return DXP_OK;
	case COMMAND_COPY:
	case COMMAND_FILL: return daemon_do(x, c);
	default: return DXP_OK;
	}
}

/* False: `c` must still wait. */
static bool try_run(struct fake_xpu *x, const struct command *c)
{
	int state = waits_state(x, c);

	if (state == 0 || (c->op == COMMAND_RUN && strcmp(c->text, "never") == 0))
		return false;
	if (state > 0 && c->op == COMMAND_RUN && strcmp(c->text, "long") == 0)
		begun(x, c->event);
	if (state > 0 && c->op == COMMAND_RUN && strcmp(c->text, "endless") == 0) {
		begun(x, c->event);
		return true;
	}
	if (state > 0)
		state = carry_out(x, c);
	if (state == DXP_EDEVICE && c->op == COMMAND_RUN && strcmp(c->text, "why") == 0)
		explain(x, c->event);
	if (state == DXP_OK && c->op == COMMAND_RUN && strcmp(c->text, "timed") == 0)
		cycles_send(x, c->event);
	if (atomic_load(&x->frozen))
		return true;
	finish(x, c, state);
	return true;
}

static void held_look(struct fake_xpu *x)
{
	static _Thread_local struct command c;
	unsigned kept = 0;

	/* in the order of their arrival */
	for (unsigned i = 0; i < x->held_count; i++) {
		if (command_decode(x->held[i].message, x->held[i].bytes, &c) == DXP_OK &&
		    try_run(x, &c))
			continue;
		if (kept != i)
			x->held[kept] = x->held[i];
		kept++;
	}
	x->held_count = kept;
}

/* The log is a text. Every other record has LONG_BYTES bytes; byte i is i * 7. */
static void fetch(struct fake_xpu *x, const struct command *c, struct command_reply *r)
{
	uint64_t left;

	r->total = c->what == FETCH_LOG ? sizeof(LOG_TEXT) - 1 : LONG_BYTES;
	left = min_u64(r->total - min_u64(c->skip, r->total), c->bytes);
	if (c->what == FETCH_BINARY && c->address != COMMAND_NO_ADDRESS) {
		r->status = DXP_EUNSUPPORTED;
		return;
	}
	if (c->address == COMMAND_NO_ADDRESS)
		left = r->part_bytes = (uint32_t)min_u64(left, sizeof(r->part));
	uint8_t *to = r->part_bytes ? r->part : x->memory + c->address;
	for (uint64_t i = 0; i < left; i++)
		to[i] = c->what == FETCH_LOG ? (uint8_t)LOG_TEXT[c->skip + i]
					     : (uint8_t)((c->skip + i) * 7);
}

static void answer(struct fake_xpu *x, const struct command *c)
{
	struct command_reply r = {
		.op = c->op, .sequence = c->sequence, .free_bytes = FAKE_MEMORY_BYTES - x->used};
	uint8_t message[COMMAND_BYTES_MAX];

	switch (c->op) {
	case COMMAND_OPEN:
		r.memory_key = x->key;
		r.memory_bytes = FAKE_MEMORY_BYTES;
		r.compute_units = 3;
		r.memory_kind = atomic_load(&x->direct) ? DXP_MEMORY_DIRECT : DXP_MEMORY_BRIDGED;
		r.streams = 1;
		r.buffers = 8;
		r.buffer_bytes = 1u << 20;
		for (uint32_t q = 0; q < COMMAND_QPS; q++)
			r.qp_magic[q] = nic_qp_magic(node_nic(x->node), 0, q);
		snprintf(r.text, sizeof(r.text), "toy");
		break;
	case COMMAND_ALLOC:
		r.status = c->bytes > FAKE_MEMORY_BYTES - x->used ? DXP_ENOMEM : DXP_OK;
		r.address = x->used;
		x->used += r.status == DXP_OK ? (c->bytes + 255) / 256 * 256 : 0;
		break;
	case COMMAND_BUILD:
		r.program = 5;
		r.status = memmem(c->data_bytes ? c->data : x->memory + c->address, c->bytes,
				  "error", 5)
				   ? DXP_EBUILD
				   : DXP_OK;
		r.log_bytes = r.status ? sizeof(LOG_TEXT) - 1 : 0;
		r.about_bytes = c->bytes > COMMAND_PACKAGE_BYTES ? LONG_BYTES : 5;
		if (r.about_bytes == 5) {
			r.part_bytes = r.log_bytes + 5;
			memcpy(r.part, LOG_TEXT, r.log_bytes);
			memcpy(r.part + r.log_bytes, "about", 5);
		}
		break;
	case COMMAND_CLOCK: r.clock_ns = clock_now_ns() + FAKE_CLOCK_NS; break;
	case COMMAND_FETCH: fetch(x, c, &r); break;
	default: break;
	}
	text_print(x, &x->host, message, command_reply_encode(&r, message));
}

static void allocate(struct fake_xpu *x, uint16_t source, const uint8_t *data, uint32_t bytes)
{
	static _Thread_local struct command c;
	struct command_event e;

	if (command_event_decode(data, bytes, &e) == DXP_OK) {
		note_done(x, e.event, e.status);
		return;
	}
	if (command_decode(data, bytes, &c) != DXP_OK)
		return;
	if (c.op == COMMAND_OPEN)
		x->host = (struct dxp_target){
			.node = source, .qp = c.reply_qp, .magic = c.reply_magic};
	atomic_fetch_add(&x->commands, 1);
	if (c.op < COMMAND_RUN || c.op == COMMAND_NIC || c.op == COMMAND_CLOCK)
		answer(x, &c);
	else if (c.op == COMMAND_HURRY)
		atomic_fetch_add(&x->hurries, 1);
	else if (!try_run(x, &c) && x->held_count < HELD_MAX) {
		memcpy(x->held[x->held_count].message, data, bytes);
		x->held[x->held_count++].bytes = bytes;
	}
}

void *fake_xpu_run(void *context)
{
	struct fake_xpu *x = context;
	const struct dxp_nic_event *event;
	struct dxp_nic_event sent;
	const uint8_t *data;

	while (!atomic_load(&x->frozen)) {
		atomic_store(&x->writes, 0);
		uint32_t work = node_poll(x->node);
		while ((event = nic_user_received_peek(node_window(x->node), &data))) {
			/* copied and released first, because a waiting BRIDGE command checks for
			 * the next message */
			uint8_t message[COMMAND_BYTES_MAX];
			uint16_t source = event->node;
			uint32_t bytes = event->bytes;
			memcpy(message, data, min_u64(bytes, sizeof(message)));
			dxp_received_release(node_window(x->node));
			allocate(x, source, message, bytes);
			work++;
		}
		while (dxp_sent_dequeue(node_window(x->node), &sent))
			work++;
		held_look(x);
		if (!work)
			node_wait(x->node, clock_now_ns() + SLEEP_NS);
	}
	return NULL;
}
