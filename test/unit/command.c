/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the command codec: random commands, and rejection of wrong lengths and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "test/unit/command_random.h"

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

/* Checks that a valid command is rejected after this change. */
#define REJECTED(...)                                                   \
	do {                                                            \
		struct command c = run_good();                          \
		uint8_t wire[COMMAND_BYTES_MAX];                        \
		assert_true(command_encode(&c, wire) > 0);              \
		__VA_ARGS__;                                            \
		assert_int_equal(command_encode(&c, wire), DXP_EINVAL); \
	} while (0)

static void command_encode__fields_out_of_bounds(void **state)
{
	REJECTED(c.op = 0);
	REJECTED(c.op = COMMAND_REPLY);
	REJECTED(c.op = COMMAND_NIC; c.wait_count = 1; c.waits[0] = 1);
	REJECTED(c.op = COMMAND_PRINT);
	REJECTED(c.op = COMMAND_HURRY + 1);
	REJECTED(c.op = COMMAND_HURRY; c.wait_count = 1; c.waits[0] = 1);
	REJECTED(c.op = COMMAND_CLOCK; c.lazy = 1);
	REJECTED(c.op = COMMAND_WRITE; c.data_bytes = 0);
	REJECTED(c.op = COMMAND_WRITE; c.data_bytes = DXP_INLINE_BYTES + 1);
	REJECTED(c.op = COMMAND_FILL; c.data_bytes = 0);
	REJECTED(c.op = COMMAND_FILL; c.data_bytes = DXP_PATTERN_MAX + 1; c.rect.row_bytes = 129);
	REJECTED(c.op = COMMAND_FILL; c.rect.row_bytes = 9);
	REJECTED(c.op = COMMAND_FILL; c.rect.to_row_pitch = 7);
	REJECTED(c.op = COMMAND_COPY; c.rect.from_row_pitch = 7);
	REJECTED(c.op = COMMAND_COPY; c.rect.to_slice_pitch = 15);
	REJECTED(c.op = COMMAND_COPY; c.rect.rows = 0);
	REJECTED(c.op = COMMAND_COPY; c.rect.slices = 0);
	REJECTED(c.op = COMMAND_COPY; c.rect.row_bytes = 0);
	REJECTED(c.op = COMMAND_COPY; c.rect.rows = UINT64_MAX / 8 + 1);
	REJECTED(c.op = COMMAND_FETCH; c.what = FETCH_PROFILE + 1; c.program = 1);
	REJECTED(c.op = COMMAND_FETCH; c.what = FETCH_PROFILE; c.program = 0);
	REJECTED(c.op = COMMAND_FETCH; c.what = FETCH_DEVICE; c.program = 1);
	REJECTED(c.op = COMMAND_FETCH; c.what = FETCH_LOG; c.program = 0);
	REJECTED(c.op = COMMAND_BRIDGE; c.path = COMMAND_BRIDGE_THROUGH + 1);
	REJECTED(c.op = COMMAND_BRIDGE; c.mode = COMMAND_BRIDGE_SEQUENTIAL + 1);
	REJECTED(c.op = COMMAND_BRIDGE; c.piece_bytes = BRIDGE_BUFFER_MIN - 1);
	REJECTED(c.op = COMMAND_BRIDGE; c.piece_bytes = BRIDGE_BUFFER_MAX + 1);
	REJECTED(c.op = COMMAND_BRIDGE; c.wait_count = 1);
	REJECTED(c.op = COMMAND_BUILD; c.bytes = c.data_bytes = 0);
	REJECTED(c.op = COMMAND_BUILD; c.bytes = 5);
	REJECTED(c.op = COMMAND_BUILD; c.bytes = 4; c.address = 256);
	REJECTED(c.op = COMMAND_BUILD; c.bytes = c.data_bytes = COMMAND_PACKAGE_BYTES + 1);
}

static void command_encode__launch_out_of_bounds(void **state)
{
	REJECTED(c.text[0] = '\0');
	REJECTED(c.text[0] = '\n');
	REJECTED(memset(c.text, 'k', COMMAND_NAME_BYTES));
	REJECTED(c.dimensions = 0);
	REJECTED(c.dimensions = 4);
	REJECTED(c.global[0] = 0);
	REJECTED(c.argument_count = COMMAND_ARGS_MAX + 1);
	REJECTED(c.arguments[0].bytes = 0);
	REJECTED(c.arguments[0].bytes = COMMAND_VALUE_BYTES + 1);
	REJECTED(c.arguments[0].kind = COMMAND_ARG_SAMPLER + 1);
	REJECTED(c.arguments[0].value = NULL);
	REJECTED(c.arguments[0].kind = COMMAND_ARG_IMAGE);
	REJECTED(c.arguments[0].kind = COMMAND_ARG_SAMPLER);
	REJECTED(c.arguments[0] = (struct command_argument){.kind = COMMAND_ARG_LOCAL});
	REJECTED(c.wait_count = COMMAND_WAITS_MAX + 1);
	REJECTED(c.wait_count = 1);
	REJECTED(c.op = COMMAND_ALLOC; c.wait_count = 1; c.waits[0] = 1);
	REJECTED(c.lazy = 2);
	REJECTED(c.op = COMMAND_ALLOC; c.lazy = 1);
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
		cmocka_unit_test(command_encode__launch_out_of_bounds),
		cmocka_unit_test(command_reply_encode__fields_out_of_bounds),
		cmocka_unit_test(command_decode__lying_lengths),
	};

	if (getenv("DXP_SEED"))
		seed = strtoull(getenv("DXP_SEED"), NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
