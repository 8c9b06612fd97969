/* SPDX-License-Identifier: BSD-3-Clause */
/* The command codec: random commands of every kind come back as they went, and no shorter, longer
 * or out-of-bounds message is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/mmd.h>
#include <dxp/status.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/util.h"
#include "wire/command.h"

#define ROUNDS 3000

static uint64_t seed = 1;

static const uint8_t replies[] = {COMMAND_OPEN,  COMMAND_CLOSE, COMMAND_ALLOC,   COMMAND_FREE,
				  COMMAND_BUILD, COMMAND_LOG,   COMMAND_RELEASE, COMMAND_NIC};
static const uint8_t commands[] = {COMMAND_OPEN,  COMMAND_CLOSE, COMMAND_ALLOC,   COMMAND_FREE,
				   COMMAND_BUILD, COMMAND_LOG,   COMMAND_RELEASE, COMMAND_NIC,
				   COMMAND_RUN,   COMMAND_SEND,  COMMAND_SIGNAL,  COMMAND_BRIDGE};

static void text_random(struct rng *r, char *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (char)(' ' + rng_below(r, 95));
	out[bytes] = '\0';
}

static void run_random(struct rng *r, struct command *c)
{
	c->program = (uint32_t)rng_next(r);
	text_random(r, c->text, 1 + rng_below(r, COMMAND_NAME_BYTES - 1));
	c->dimensions = (uint8_t)(1 + rng_below(r, 3));
	for (int d = 0; d < 3; d++)
		c->global[d] = d < c->dimensions ? 1 + rng_below(r, 1u << 30) : 1;
	for (int d = 0; d < c->dimensions; d++)
		c->local[d] = rng_below(r, 4);
	c->argument_count = (uint8_t)rng_below(r, COMMAND_ARGS_MAX + 1);
	for (int i = 0; i < c->argument_count; i++) {
		struct command_argument *a = &c->arguments[i];
		a->kind = (uint8_t)rng_below(r, COMMAND_ARG_NIC + 1);
		if (a->kind == COMMAND_ARG_BUFFER)
			a->address = rng_next(r);
		else if (a->kind != COMMAND_ARG_NIC)
			a->bytes = (uint32_t)(1 + rng_below(r, COMMAND_VALUE_BYTES));
		for (uint32_t k = 0; a->kind == COMMAND_ARG_BYTES && k < a->bytes; k++)
			a->value[k] = (uint8_t)rng_next(r);
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

static struct command command_random(struct rng *r, uint8_t op)
{
	struct command c = {.op = op};

	if ((op >= COMMAND_RUN && op <= COMMAND_SIGNAL) || op == COMMAND_BRIDGE) {
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
	case COMMAND_BUILD:
		c.address = rng_next(r);
		c.bytes = rng_next(r) | 1;
		text_random(r, c.text, rng_below(r, COMMAND_OPTIONS_BYTES));
		break;
	case COMMAND_LOG: c.offset = (uint32_t)rng_next(r); /* fall through */
	case COMMAND_RELEASE: c.program = (uint32_t)rng_next(r); break;
	case COMMAND_RUN: run_random(r, &c); break;
	case COMMAND_SEND:
	case COMMAND_SIGNAL: transfer_random(r, &c); break;
	case COMMAND_BRIDGE: bridge_random(r, &c); break;
	}
	return c;
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
		break;
	case COMMAND_ALLOC: p.address = rng_next(r); /* fall through */
	case COMMAND_FREE: p.free_bytes = rng_next(r); break;
	case COMMAND_BUILD:
		p.program = (uint32_t)rng_next(r);
		p.log_bytes = (uint32_t)rng_next(r);
		break;
	case COMMAND_LOG:
		p.log_bytes = (uint32_t)rng_below(r, COMMAND_LOG_PART + 1);
		for (uint32_t i = 0; i < p.log_bytes; i++)
			p.log[i] = (uint8_t)rng_next(r);
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

/* Decoders must not read past the bytes given: each attempt lies in memory of exactly its size. */
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

static void command_decode__what_was_encoded(void **state)
{
	struct rng r = {seed};
	uint8_t wire[COMMAND_BYTES_MAX];

	print_message("seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < ROUNDS; i++) {
		struct command c = command_random(&r, commands[i % ARRAY_COUNT(commands)]), back;
		int bytes = command_encode(&c, wire);
		assert_true(bytes > 0 && bytes <= COMMAND_BYTES_MAX);
		assert_int_equal(command_op(wire, (size_t)bytes), c.op);
		assert_int_equal(decode_exact(wire, (size_t)bytes, 0, &back), DXP_OK);
		assert_memory_equal(&c, &back, sizeof(c));
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
	struct command_event e = {EVENT_NAME(3, 5, 7), DXP_EDEVICE, 1, 2, UINT64_MAX}, back;
	uint8_t wire[COMMAND_BYTES_MAX];
	int bytes = command_event_encode(&e, wire);

	assert_int_equal(EVENT_HOST(e.event), 3);
	assert_int_equal(EVENT_XPU(e.event), 5);
	assert_int_equal(EVENT_COUNT(e.event), 7);
	assert_int_equal(decode_exact(wire, (size_t)bytes, 2, &back), DXP_OK);
	assert_int_equal(back.event, e.event);
	assert_int_equal(back.status, DXP_EDEVICE);
	assert_int_equal(back.queued_ns, 1);
	assert_int_equal(back.started_ns, 2);
	assert_int_equal(back.ended_ns, UINT64_MAX);
	e.status = 1;
	assert_int_equal(command_event_encode(&e, wire), DXP_EINVAL);
	e = (struct command_event){0};
	assert_int_equal(command_event_encode(&e, wire), DXP_EINVAL);
}

/* Everything shorter and one byte longer is refused, and the output stays as it was. */
static void lengths_refused(const uint8_t *wire, int bytes, int what)
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
	assert_memory_equal(&out, &before, sizeof(out));
}

static void decode__every_other_length(void **state)
{
	struct rng r = {seed};
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command_event e = {.event = 1};

	for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
		struct command c = command_random(&r, commands[i]);
		lengths_refused(wire, command_encode(&c, wire), 0);
	}
	for (size_t i = 0; i < ARRAY_COUNT(replies); i++) {
		struct command_reply p = reply_random(&r, replies[i]);
		lengths_refused(wire, command_reply_encode(&p, wire), 1);
	}
	lengths_refused(wire, command_event_encode(&e, wire), 2);
	assert_int_equal(command_op(wire, 0), 0);
}

/* A RUN that is good but for one field. */
static struct command run_good(void)
{
	struct command c = {.op = COMMAND_RUN,
			    .text = "k",
			    .dimensions = 1,
			    .global = {1, 1, 1},
			    .argument_count = 1};

	c.arguments[0] = (struct command_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4};
	return c;
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
	REFUSED(c.op = COMMAND_BRIDGE + 1);
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
	REFUSED(c.arguments[0].kind = COMMAND_ARG_NIC + 1);
	REFUSED(c.arguments[0] = (struct command_argument){.kind = COMMAND_ARG_LOCAL});
	REFUSED(c.wait_count = COMMAND_WAITS_MAX + 1);
	REFUSED(c.wait_count = 1);
	REFUSED(c.op = COMMAND_ALLOC; c.wait_count = 1; c.waits[0] = 1);
	REFUSED(c.lazy = 2);
	REFUSED(c.op = COMMAND_ALLOC; c.lazy = 1);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = 0);
	REFUSED(c.op = COMMAND_BUILD; c.bytes = 1; memset(c.text, 'o', sizeof(c.text)));
#undef REFUSED
}

static void command_reply_encode__fields_out_of_bounds(void **state)
{
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command_reply r = {.op = COMMAND_RUN};

	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_CLOSE, .status = 1};
	assert_int_equal(command_reply_encode(&r, wire), DXP_EINVAL);
	r = (struct command_reply){.op = COMMAND_LOG, .log_bytes = COMMAND_LOG_PART + 1};
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

/* A length inside the message that says more than there is, or more than may be. */
static void command_decode__lying_lengths(void **state)
{
	struct command c = run_good(), back;
	uint8_t wire[COMMAND_BYTES_MAX], bad[COMMAND_BYTES_MAX];
	int bytes = command_encode(&c, wire);

	for (int at = 0; at < bytes; at++) {
		memcpy(bad, wire, (size_t)bytes);
		for (int value = 0; value < 256; value++) {
			bad[at] = (uint8_t)value;
			if (decode_exact(bad, (size_t)bytes, 0, &back) == DXP_OK)
				assert_int_equal(command_encode(&back, bad), bytes);
		}
	}
}

/* The table of docs/wire.md has a row for each operation, with its number. */
static void command_op__as_documented(void **state)
{
	static const char *const names[] = {"OPEN",  "CLOSE",   "ALLOC", "FREE",  "BUILD",
					    "LOG",   "RELEASE", "RUN",   "SEND",  "SIGNAL",
					    "REPLY", "EVENT",   "NIC",   "BRIDGE"};
	static char text[65536];
	char row[32];
	FILE *f = fopen(DXP_SOURCE_DIR "/docs/wire.md", "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	const char *section = strstr(text, "\n## Commands\n");
	assert_non_null(section);
	for (int op = COMMAND_OPEN; op <= COMMAND_BRIDGE; op++) {
		snprintf(row, sizeof(row), "\n| %d | %s |", op, names[op - 1]);
		if (!strstr(section, row))
			fail_msg("docs/wire.md has no row '%s'", row + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_decode__what_was_encoded),
		cmocka_unit_test(command_reply_decode__what_was_encoded),
		cmocka_unit_test(command_event_decode__what_was_encoded),
		cmocka_unit_test(decode__every_other_length),
		cmocka_unit_test(command_encode__fields_out_of_bounds),
		cmocka_unit_test(command_reply_encode__fields_out_of_bounds),
		cmocka_unit_test(command_decode__lying_lengths),
		cmocka_unit_test(command_op__as_documented),
	};

	if (getenv("DXP_SEED"))
		seed = strtoull(getenv("DXP_SEED"), NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
