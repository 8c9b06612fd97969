/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the arbiter of a switch's input: classes, weights, order, full queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "switch/input.h"

static const struct roce_path path = {0x0a000001, 0x0a0000f1, ROCE_SOURCE_PORT, ROCE_PORT};

static struct input *input_make(uint8_t forwarded, uint8_t computed)
{
	const uint8_t weights[] = {[INPUT_FORWARDED] = forwarded, [INPUT_COMPUTED] = computed};
	struct input *a;

	assert_int_equal(input_create(weights, &a), DXP_OK);
	return a;
}

/* The first bytes are class and number. */
static void put(struct input *a, enum input_class class, uint16_t number)
{
	const uint8_t data[] = {(uint8_t) class, (uint8_t)(number >> 8), (uint8_t)number};

	input_put(a, class, &path, data, sizeof(data));
}

/* Returns how many of `count` are INPUT_COMPUTED. */
static unsigned computed_of(struct input *a, unsigned count)
{
	unsigned computed = 0;

	for (unsigned i = 0; i < count; i++)
		computed += input_next(a)->data[0] == INPUT_COMPUTED;
	return computed;
}

static void input__shares(void **state)
{
	static const uint8_t cases[][2] = {{1, 1}, {1, 16}, {16, 1}, {3, 5}, {16, 16}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned forwarded = cases[i][0], computed = cases[i][1];
		struct input *a = input_make(cases[i][0], cases[i][1]);
		const struct input_counters *c = input_counters(a);

		for (uint16_t n = 0; n < INPUT_QUEUE_PACKETS; n++) {
			put(a, INPUT_FORWARDED, n);
			put(a, INPUT_COMPUTED, n);
		}
		/* These shares are exact in each round, so no class waits longer. */
		for (unsigned round = 1; round <= 10; round++) {
			assert_int_equal(computed_of(a, forwarded + computed), computed);
			assert_int_equal(c->first[INPUT_COMPUTED], round * computed);
			assert_int_equal(c->first[INPUT_FORWARDED], round * forwarded);
		}
		input_destroy(a);
	}
}

static void input__alone(void **state)
{
	struct input *a = input_make(16, 1);

	assert_null(input_next(a));
	for (uint16_t n = 0; n < 100; n++)
		put(a, INPUT_COMPUTED, n);
	assert_int_equal(computed_of(a, 50), 50);
	/* the other class is among the next two */
	put(a, INPUT_FORWARDED, 0);
	assert_true(computed_of(a, 2) <= 1);
	assert_int_equal(computed_of(a, 49), 49);
	assert_true(input_empty(a));
	assert_in_range(input_counters(a)->first[INPUT_COMPUTED], 0, 1);
	assert_null(input_next(a));
	input_destroy(a);
}

/* Packets keep contents, sender and order, also when the ring of the queue wraps. */
static void input__order(void **state)
{
	struct input *a = input_make(2, 3);
	uint16_t in[2] = {0}, out[2] = {0};

	for (unsigned i = 0; i < 4 * INPUT_QUEUE_PACKETS; i++) {
		enum input_class class = i % 3 ? INPUT_COMPUTED : INPUT_FORWARDED;

		put(a, class, in[class]++);
		if (i < 20)
			continue;
		const struct input_packet *p = input_next(a);

		assert_non_null(p);
		assert_int_equal(p->bytes, 3);
		assert_int_equal(p->from_ip, path.from_ip);
		assert_int_equal(p->from_port, path.from_port);
		assert_int_equal(p->data[1] << 8 | p->data[2], out[p->data[0]]++);
	}
	input_destroy(a);
}

static void input__full(void **state)
{
	struct input *a = input_make(1, 1);
	const struct input_counters *c = input_counters(a);

	for (uint16_t n = 0; n < INPUT_QUEUE_PACKETS + 7; n++)
		put(a, INPUT_FORWARDED, n);
	put(a, INPUT_COMPUTED, 0);
	assert_int_equal(c->queued[INPUT_FORWARDED], INPUT_QUEUE_PACKETS);
	assert_int_equal(c->dropped[INPUT_FORWARDED], 7);
	assert_int_equal(c->queued[INPUT_COMPUTED], 1);
	assert_int_equal(c->dropped[INPUT_COMPUTED], 0);
	assert_int_equal(computed_of(a, 2), 1);
	input_destroy(a);
}

/* Truncated packets must be INPUT_FORWARDED. */
static enum input_class class_of(uint8_t kind, uint8_t opcode, uint8_t tag_xor)
{
	const struct inc_header h = {.kind = kind, .collective = INC_BARRIER, .comm_id = 7};
	uint8_t trailer[INC_TRAILER_BYTES], packet[256];
	size_t tag =
		opcode == ROCE_UD_SEND_ONLY ? ROCE_BTH_BYTES + ROCE_DETH_BYTES : ROCE_BTH_BYTES;
	struct datagram d;

	inc_packet_encode(&h, opcode, opcode == ROCE_UD_SEND_ONLY ? 9 : 0, INC_QP, INC_QP, &path,
			  NULL, 0, &d, trailer);
	memcpy(packet, d.header, d.header_bytes);
	packet[tag] ^= tag_xor;
	for (size_t bytes = 0; bytes < d.header_bytes; bytes++)
		assert_int_equal(input_class_of(packet, bytes), INPUT_FORWARDED);
	return input_class_of(packet, d.header_bytes);
}

/* Returns what class_of returns, for a packet in the compatible format. */
static enum input_class compat_class_of(uint8_t kind)
{
	const struct inc_header h = {
		.kind = kind, .collective = INC_ALLREDUCE, .comm_id = 7, .flags = INC_FLAG_COMPAT};
	uint8_t trailer[INC_TRAILER_BYTES];
	struct datagram d;

	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, 9, INC_QP, INC_QP, &path, NULL, 0, &d, trailer);
	return input_class_of(d.header, d.header_bytes);
}

static void input__classes(void **state)
{
	assert_int_equal(class_of(INC_DATA, ROCE_UD_SEND_ONLY, 0), INPUT_COMPUTED);
	assert_int_equal(class_of(INC_DATA, ROCE_RC_SEND_ONLY, 0), INPUT_COMPUTED);
	assert_int_equal(class_of(INC_DATA, ROCE_UD_SEND_ONLY, 1), INPUT_FORWARDED);
	assert_int_equal(compat_class_of(INC_DATA), INPUT_COMPUTED);
	assert_int_equal(compat_class_of(INC_NOTIFY), INPUT_FORWARDED);
	for (uint8_t kind = INC_REFUSED; kind <= INC_AWAITED; kind++)
		assert_int_equal(class_of(kind, ROCE_UD_SEND_ONLY, 0), INPUT_FORWARDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(input__shares),  cmocka_unit_test(input__alone),
		cmocka_unit_test(input__order),   cmocka_unit_test(input__full),
		cmocka_unit_test(input__classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
