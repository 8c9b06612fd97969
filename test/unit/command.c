/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the command codec: random commands, and rejection of wrong lengths and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/collective.h>
#include <dxp/inc.h>
#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "bridge/limits.h"
#include "wire/command.h"

#define ROUNDS 3000

static uint64_t seed = 1;

static const uint8_t replies[] = {COMMAND_OPEN,  COMMAND_CLOSE,   COMMAND_ALLOC,   COMMAND_FREE,
				  COMMAND_BUILD, COMMAND_FETCH,   COMMAND_RELEASE, COMMAND_NIC,
				  COMMAND_CLOCK, COMMAND_SWITCHES};
static const uint8_t commands[] = {
	COMMAND_OPEN,   COMMAND_CLOSE,   COMMAND_ALLOC, COMMAND_FREE,     COMMAND_BUILD,
	COMMAND_FETCH,  COMMAND_RELEASE, COMMAND_NIC,   COMMAND_RUN,      COMMAND_SEND,
	COMMAND_SIGNAL, COMMAND_BRIDGE,  COMMAND_WRITE, COMMAND_COPY,     COMMAND_FILL,
	COMMAND_MARK,   COMMAND_CLOCK,   COMMAND_HURRY, COMMAND_SWITCHES, COMMAND_ALLREDUCE,
	COMMAND_SETTLE};

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

/* An exact allocation lets a sanitizer detect reads past it. */
static int decode_exact(const uint8_t *data, size_t bytes, int what, void *out)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	int status = what == 0   ? command_decode(copy, bytes, out)
		     : what == 1 ? command_reply_decode(copy, bytes, out)
				 : command_event_decode(copy, bytes, out);
	free(copy);
	return status;
}

static void arguments_same(const struct command *a, const struct command *b)
{
	for (int i = 0; i < a->argument_count; i++) {
		const struct command_argument *x = &a->arguments[i], *y = &b->arguments[i];
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->bytes, y->bytes);
		assert_true(x->address == y->address);
		if (x->value)
			assert_memory_equal(x->value, y->value, x->bytes);
	}
}

/* Compares all members of two commands, except the unused parts of their long arrays. */
static void commands_same(struct command *a, struct command *b)
{
	assert_int_equal(a->data_bytes, b->data_bytes);
	if (a->data_bytes)
		assert_memory_equal(a->data, b->data, a->data_bytes);
	a->data = b->data = NULL;
	assert_memory_equal(a, b, offsetof(struct command, text));
	assert_string_equal(a->text, b->text);
	arguments_same(a, b);
}

static void command_decode__what_was_encoded(void **state)
{
	struct rng r = {seed};
	uint8_t wire[COMMAND_BYTES_MAX];

	print_message("seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)rng_next(&r);
	for (int i = 0; i < ROUNDS; i++) {
		struct command c = command_random(&r, commands[i % ARRAY_COUNT(commands)]), back;
		int bytes = command_encode(&c, wire);
		assert_true(bytes > 0 && bytes <= COMMAND_BYTES_MAX);
		assert_int_equal(command_op(wire, (size_t)bytes), c.op);
		memset(&back, 0x5a, sizeof(back));
		assert_int_equal(command_decode(wire, (size_t)bytes, &back), DXP_OK);
		commands_same(&c, &back);
	}
}

static void command_reply_decode__what_was_encoded(void **state)
{
	struct rng r = {seed};
	uint8_t wire[COMMAND_BYTES_MAX];

	for (int i = 0; i < ROUNDS; i++) {
		struct command_reply p = reply_random(&r, replies[i % ARRAY_COUNT(replies)]), back;
		int bytes = command_reply_encode(&p, wire);
		assert_true(bytes > 0 && bytes <= COMMAND_BYTES_MAX);
		assert_int_equal(decode_exact(wire, (size_t)bytes, 1, &back), DXP_OK);
		assert_memory_equal(&p, &back, sizeof(p));
	}
}

static void command_event_decode__what_was_encoded(void **state)
{
	struct command_event e = {EVENT_NAME(3, 5, 7), DXP_EDEVICE, -54, 1, 2, UINT64_MAX}, back;
	uint8_t wire[COMMAND_BYTES_MAX];
	int bytes = command_event_encode(&e, wire);

	assert_int_equal(EVENT_HOST(e.event), 3);
	assert_int_equal(EVENT_XPU(e.event), 5);
	assert_int_equal(EVENT_COUNT(e.event), 7);
	assert_int_equal(decode_exact(wire, (size_t)bytes, 2, &back), DXP_OK);
	assert_int_equal(back.event, e.event);
	assert_int_equal(back.status, DXP_EDEVICE);
	assert_int_equal(back.native, -54);
	assert_int_equal(back.queued_ns, 1);
	assert_int_equal(back.started_ns, 2);
	assert_int_equal(back.ended_ns, UINT64_MAX);
	e.status = 1;
	assert_int_equal(command_event_encode(&e, wire), DXP_EINVAL);
	e = (struct command_event){0};
	assert_int_equal(command_event_encode(&e, wire), DXP_EINVAL);
}

/* A rejected reply or event leaves the output unchanged. */
static void lengths_rejected(const uint8_t *wire, int bytes, int what)
{
	uint8_t longer[COMMAND_BYTES_MAX + 1] = {0};
	static union {
		struct command c;
		struct command_reply r;
		struct command_event e;
	} out, before;

	memset(&out, 0x5a, sizeof(out));
	before = out;
	for (int cut = 0; cut < bytes; cut++)
		assert_int_equal(decode_exact(wire, (size_t)cut, what, &out), DXP_EMALFORMED);
	memcpy(longer, wire, (size_t)bytes);
	assert_int_equal(decode_exact(longer, (size_t)bytes + 1, what, &out), DXP_EMALFORMED);
	if (what != 0)
		assert_memory_equal(&out, &before, sizeof(out));
}

static void decode__every_other_length(void **state)
{
	struct rng r = {seed};
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command_event e = {.event = 1};

	for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
		struct command c = command_random(&r, commands[i]);
		lengths_rejected(wire, command_encode(&c, wire), 0);
	}
	for (size_t i = 0; i < ARRAY_COUNT(replies); i++) {
		struct command_reply p = reply_random(&r, replies[i]);
		lengths_rejected(wire, command_reply_encode(&p, wire), 1);
	}
	lengths_rejected(wire, command_event_encode(&e, wire), 2);
	assert_int_equal(command_op(wire, 0), 0);
}

static struct command run_good(void)
{
	struct command c = {.op = COMMAND_RUN,
			    .text = "k",
			    .dimensions = 1,
			    .global = {1, 1, 1},
			    .argument_count = 1};

	c.arguments[0] =
		(struct command_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = junk};
	c.data = junk;
	c.data_bytes = 4;
	c.rect = (struct dxp_rect){.row_bytes = 8, .rows = 2, .slices = 3};
	return c;
}

/* So many images fit only because equal descriptions are encoded once. */
static void command_run__images_alike(void **state)
{
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command c = run_good(), back;

	c.argument_count = COMMAND_ARGS_MAX;
	for (int i = 0; i < COMMAND_ARGS_MAX; i++)
		c.arguments[i] = (struct command_argument){.kind = COMMAND_ARG_IMAGE,
							   .bytes = COMMAND_IMAGE_BYTES,
							   .address = 4096 * (uint64_t)i,
							   .value = junk + i % 3};
	c.arguments[5] =
		(struct command_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = junk};
	int bytes = command_encode(&c, wire);
	assert_true(bytes > 0);
	assert_int_equal(command_decode(wire, (size_t)bytes, &back), DXP_OK);
	arguments_same(&c, &back);
	/* Index of the argument that shares the last image's description. */
	wire[bytes - 1] = 5;
	assert_int_equal(decode_exact(wire, (size_t)bytes, 0, &back), DXP_EMALFORMED);
	wire[bytes - 1] = COMMAND_ARGS_MAX - 1;
	assert_int_equal(decode_exact(wire, (size_t)bytes, 0, &back), DXP_EMALFORMED);
	wire[bytes - 1] = 0xff;
	assert_int_equal(decode_exact(wire, (size_t)bytes, 0, &back), DXP_EMALFORMED);
	for (int i = 0; i < COMMAND_ARGS_MAX; i++)
		c.arguments[i].value = junk + i;
	assert_int_equal(command_encode(&c, wire), DXP_EINVAL);
}

static void command_encode__fields_out_of_bounds(void **state)
{
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command c = run_good();

	assert_true(command_encode(&c, wire) > 0);
#define REFUSED(...)                                                    \
	do {                                                            \
		c = run_good();                                         \
		__VA_ARGS__;                                            \
		assert_int_equal(command_encode(&c, wire), DXP_EINVAL); \
	} while (0)
	REFUSED(c.op = 0);
	REFUSED(c.op = COMMAND_REPLY);
	REFUSED(c.op = COMMAND_NIC; c.wait_count = 1; c.waits[0] = 1);
	REFUSED(c.op = COMMAND_PRINT);
	REFUSED(c.op = COMMAND_HURRY + 1);
	REFUSED(c.op = COMMAND_HURRY; c.wait_count = 1; c.waits[0] = 1);
	REFUSED(c.op = COMMAND_CLOCK; c.lazy = 1);
	REFUSED(c.op = COMMAND_WRITE; c.data_bytes = 0);
	REFUSED(c.op = COMMAND_WRITE; c.data_bytes = DXP_INLINE_BYTES + 1);
	REFUSED(c.op = COMMAND_FILL; c.data_bytes = 0);
	REFUSED(c.op = COMMAND_FILL; c.data_bytes = DXP_PATTERN_MAX + 1; c.rect.row_bytes = 129);
	REFUSED(c.op = COMMAND_FILL; c.rect.row_bytes = 9);
	REFUSED(c.op = COMMAND_FILL; c.rect.to_row_pitch = 7);
	REFUSED(c.op = COMMAND_COPY; c.rect.from_row_pitch = 7);
	REFUSED(c.op = COMMAND_COPY; c.rect.to_slice_pitch = 15);
	REFUSED(c.op = COMMAND_COPY; c.rect.rows = 0);
	REFUSED(c.op = COMMAND_COPY; c.rect.slices = 0);
	REFUSED(c.op = COMMAND_COPY; c.rect.row_bytes = 0);
	REFUSED(c.op = COMMAND_COPY; c.rect.rows = UINT64_MAX / 8 + 1);
	REFUSED(c.op = COMMAND_FETCH; c.what = FETCH_PROFILE + 1; c.program = 1);
	REFUSED(c.op = COMMAND_FETCH; c.what = FETCH_PROFILE; c.program = 0);
	REFUSED(c.op = COMMAND_FETCH; c.what = FETCH_DEVICE; c.program = 1);
	REFUSED(c.op = COMMAND_FETCH; c.what = FETCH_LOG; c.program = 0);
	REFUSED(c.op = COMMAND_BRIDGE; c.path = COMMAND_BRIDGE_THROUGH + 1);
	REFUSED(c.op = COMMAND_BRIDGE; c.mode = COMMAND_BRIDGE_SEQUENTIAL + 1);
	REFUSED(c.op = COMMAND_BRIDGE; c.piece_bytes = BRIDGE_BUFFER_MIN - 1);
	REFUSED(c.op = COMMAND_BRIDGE; c.piece_bytes = BRIDGE_BUFFER_MAX + 1);
	REFUSED(c.op = COMMAND_BRIDGE; c.wait_count = 1);
	REFUSED(c.text[0] = '\0');
	REFUSED(c.text[0] = '\n');
	REFUSED(memset(c.text, 'k', COMMAND_NAME_BYTES));
	REFUSED(c.dimensions = 0);
	REFUSED(c.dimensions = 4);
	REFUSED(c.global[0] = 0);
	REFUSED(c.argument_count = COMMAND_ARGS_MAX + 1);
	REFUSED(c.arguments[0].bytes = 0);
	REFUSED(c.arguments[0].bytes = COMMAND_VALUE_BYTES + 1);
	REFUSED(c.arguments[0].kind = COMMAND_ARG_SAMPLER + 1);
	REFUSED(c.arguments[0].value = NULL);
	REFUSED(c.arguments[0].kind = COMMAND_ARG_IMAGE);
	REFUSED(c.arguments[0].kind = COMMAND_ARG_SAMPLER);
	REFUSED(c.arguments[0] = (struct command_argument){.kind = COMMAND_ARG_LOCAL});
	REFUSED(c.wait_count = COMMAND_WAITS_MAX + 1);
	REFUSED(c.wait_count = 1);
	REFUSED(c.op = COMMAND_ALLOC; c.wait_count = 1; c.waits[0] = 1);
	REFUSED(c.lazy = 2);
	REFUSED(c.op = COMMAND_ALLOC; c.lazy = 1);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = c.data_bytes = 0);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = 5);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = 4; c.address = 256);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = c.data_bytes = COMMAND_PACKAGE_BYTES + 1);
#undef REFUSED
}

static void command_reply_encode__fields_out_of_bounds(void **state)
{
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command_reply r = {.op = COMMAND_RUN};

	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_CLOSE, .status = 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_FETCH, .part_bytes = COMMAND_LOG_PART + 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_BUILD, .log_bytes = 3, .part_bytes = 2};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_OPEN};
	memset(r.text, 'x', sizeof(r.text));
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_OPEN, .memory_kind = DXP_MEMORY_BRIDGED + 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_OPEN, .streams = 2};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_OPEN, .buffers = BRIDGE_BUFFERS_MAX + 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_OPEN, .buffer_bytes = BRIDGE_BUFFER_MAX + 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_BRIDGE};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
}

/* Each byte, also of lengths, gets all values. A message that decodes is as long as its fields
 * state. */
static void command_decode__lying_lengths(void **state)
{
	struct command c = run_good(), back;
	uint8_t wire[COMMAND_BYTES_MAX], bad[COMMAND_BYTES_MAX], again[COMMAND_BYTES_MAX];
	int bytes = command_encode(&c, wire);

	for (int at = 0; at < bytes; at++) {
		memcpy(bad, wire, (size_t)bytes);
		for (int value = 0; value < 256; value++) {
			bad[at] = (uint8_t)value;
			if (decode_exact(bad, (size_t)bytes, 0, &back) == DXP_OK &&
			    command_decode(bad, (size_t)bytes, &back) == DXP_OK)
				assert_int_equal(command_encode(&back, again), bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_decode__what_was_encoded),
		cmocka_unit_test(command_reply_decode__what_was_encoded),
		cmocka_unit_test(command_event_decode__what_was_encoded),
		cmocka_unit_test(decode__every_other_length),
		cmocka_unit_test(command_run__images_alike),
		cmocka_unit_test(command_encode__fields_out_of_bounds),
		cmocka_unit_test(command_reply_encode__fields_out_of_bounds),
		cmocka_unit_test(command_decode__lying_lengths),
	};

	if (getenv("DXP_SEED"))
		seed = strtoull(getenv("DXP_SEED"), NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
