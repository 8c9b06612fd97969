/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the attach codec: round trips, and rejection of messages with a wrong length or field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "wire/attach.h"

#define OFF_VERSION 4
#define OFF_TYPE    5
#define OFF_STATUS  6
#define OFF_BODY    6

static const struct attach_request requests[] = {
	{.type = ATTACH_OPEN, .function = 7, .label = "left.sensor_1-a"},
	{.type = ATTACH_OPEN},
	{.type = ATTACH_OPEN, .function = 1, .qp = ATTACH_QP(3)},
	{.type = ATTACH_OPEN, .qp = ATTACH_QP_ANY, .label = "x"},
	{.type = ATTACH_REGISTER, .rights = 7, .offset = 1ull << 40, .bytes = UINT64_MAX},
	{.type = ATTACH_REVOKE, .key = 0x89abcdef},
	{.type = ATTACH_LOOKUP, .vaddr = UINT64_MAX, .bytes = 1, .key = 3, .offset = 4},
	{.type = ATTACH_FIND, .qp = 3, .label = "0123456789012345678901234567890"},
	{.type = ATTACH_ARM, .on = 1},
	{.type = ATTACH_LIST, .function = 4, .qp = 2},
	{.type = ATTACH_WEIGHT, .function = 1, .value = 64},
	{.type = ATTACH_LIMIT, .function = 2, .value = UINT64_MAX},
	{.type = ATTACH_RESET, .function = 3},
	{.type = ATTACH_AREAS, .function = 5, .qp = 1},
	{.type = ATTACH_PRIORITY, .function = 6, .value = 1},
};

#define ANSWERS 13

static struct attach_row row_of(uint8_t function)
{
	struct attach_row r = {
		.function = function,
		.qp = function % DXP_QPS,
		.qps = (uint8_t)(DXP_QPS - function % DXP_QPS),
		.state = DXP_FUNCTION_STOPPED,
		.weight = 64,
		.priority = 1,
		.armed = 1,
		.error = 5,
		.pid = UINT32_MAX,
		.regions = 12,
		.mapped_bytes = 1ull << 33,
		.limit_bytes_per_s = UINT64_MAX,
		.label = "0123456789012345678901234567890",
	};
	uint64_t next = (uint64_t)function << 32;

#define COUNTER_SET(name) r.counters.name = ++next;
	DXP_COUNTER_LIST(COUNTER_SET)
#undef COUNTER_SET
	return r;
}

static struct attach_answer answer_of(int i)
{
	struct attach_answer a = {.type = (uint8_t)(i % ANSWERS)};

	switch (a.type) {
	case 0: a.status = DXP_EMALFORMED; break;
	case ATTACH_OPEN:
		a.function = 7;
		a.qp = 3;
		a.node = 0xffff;
		break;
	case ATTACH_REGISTER: a.key = UINT32_MAX; break;
	case ATTACH_REVOKE: a.status = DXP_ENOENT; break;
	case ATTACH_FIND: a.target = (struct dxp_target){0x1234, 7, 3, 0x89abcdef}; break;
	case ATTACH_LIST:
		a.malformed = UINT64_MAX;
		a.row_count = ATTACH_ROWS;
		for (uint8_t k = 0; k < ATTACH_ROWS; k++)
			a.rows[k] = row_of(k);
		break;
	case ATTACH_AREAS:
		a.area_count = ATTACH_AREAS_MAX;
		for (uint8_t k = 0; k < ATTACH_AREAS_MAX; k++)
			a.areas[k] = (struct attach_area){k + 1ull, k + 2ull, k + 3ull, k + 4u};
		a.total_bytes = UINT64_MAX;
		a.registers.send_vaddr = 1ull << 50;
		a.registers.send_go = 2;
		a.registers.recv_used = 3;
		break;
	default: break;
	}
	return a;
}

/* An exact allocation lets a sanitizer detect reads past it. */
static int decode_exact(const uint8_t *data, size_t bytes, bool request, void *out)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	int status = request ? attach_request_decode(copy, bytes, out)
			     : attach_answer_decode(copy, bytes, out);
	free(copy);
	return status;
}

static void lengths_rejected(const uint8_t *wire, size_t bytes, bool request)
{
	static union {
		struct attach_request r;
		struct attach_answer a;
	} out, before;
	uint8_t longer[ATTACH_BYTES_MAX + 1] = {0};

	memset(&out, 0x5a, sizeof(out));
	before = out;
	for (size_t cut = 0; cut < bytes; cut++)
		assert_int_equal(decode_exact(wire, cut, request, &out), DXP_EMALFORMED);
	memcpy(longer, wire, bytes);
	assert_int_equal(decode_exact(longer, bytes + 1, request, &out), DXP_EMALFORMED);
	assert_memory_equal(&out, &before, sizeof(out));
}

static void attach_request_decode__what_was_encoded_and_no_other_length(void **state)
{
	uint8_t wire[ATTACH_BYTES_MAX];

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct attach_request back;
		size_t bytes = attach_request_encode(&requests[i], wire);
		assert_int_equal(decode_exact(wire, bytes, true, &back), DXP_OK);
		assert_memory_equal(&requests[i], &back, sizeof(back));
		lengths_rejected(wire, bytes, true);
	}
}

static void attach_answer_decode__what_was_encoded_and_no_other_length(void **state)
{
	uint8_t wire[ATTACH_BYTES_MAX];

	for (int i = 0; i < ANSWERS; i++) {
		const struct attach_answer a = answer_of(i);
		struct attach_answer back;
		size_t bytes = attach_answer_encode(&a, wire);
		assert_true(bytes < ATTACH_BYTES_MAX);
		assert_int_equal(decode_exact(wire, bytes, false, &back), DXP_OK);
		assert_memory_equal(&a, &back, sizeof(back));
		lengths_rejected(wire, bytes, false);
	}
}

static int changed(const struct attach_request *r, size_t at, uint8_t to)
{
	uint8_t wire[ATTACH_BYTES_MAX];
	struct attach_request out;
	size_t bytes = attach_request_encode(r, wire);

	wire[at] = to;
	return attach_request_decode(wire, bytes, &out);
}

static void attach_request_decode__bounds(void **state)
{
	const struct attach_request open = {.type = ATTACH_OPEN, .label = "ab"};
	const struct attach_request find = {.type = ATTACH_FIND, .label = "ab"};
	const struct attach_request arm = {.type = ATTACH_ARM};
	const struct attach_request list = {.type = ATTACH_LIST};
	const struct attach_request memory = {.type = ATTACH_REGISTER};
	struct attach_request none = {.type = ATTACH_FIND}, out;
	uint8_t wire[ATTACH_BYTES_MAX];

	assert_int_equal(changed(&list, 0, 'd'), DXP_EMALFORMED);
	assert_int_equal(changed(&list, OFF_VERSION, ATTACH_VERSION + 1), DXP_EUNSUPPORTED);
	assert_int_equal(changed(&list, OFF_TYPE, 0), DXP_EMALFORMED);
	assert_int_equal(changed(&list, OFF_TYPE, ATTACH_PRIORITY + 1), DXP_EMALFORMED);
	assert_int_equal(changed(&open, OFF_BODY, 8), DXP_EMALFORMED); /* function */
	/* choice of queue pairs */
	assert_int_equal(changed(&open, OFF_BODY + 1, ATTACH_QP(3)), DXP_OK);
	assert_int_equal(changed(&open, OFF_BODY + 1, ATTACH_QP(4)), DXP_EMALFORMED);
	assert_int_equal(changed(&open, OFF_BODY + 1, 254), DXP_EMALFORMED);
	assert_int_equal(changed(&open, OFF_BODY + 3, ' '), DXP_EMALFORMED);
	assert_int_equal(changed(&open, OFF_BODY + 3, '/'), DXP_EMALFORMED);
	assert_int_equal(changed(&open, OFF_BODY + 4, 0), DXP_EMALFORMED);
	assert_int_equal(changed(&find, OFF_BODY, 4), DXP_EMALFORMED); /* queue pair */
	assert_int_equal(changed(&arm, OFF_BODY, 2), DXP_EMALFORMED);
	assert_int_equal(changed(&memory, OFF_BODY, 1), DXP_EMALFORMED); /* rights */
	assert_int_equal(changed(&memory, OFF_BODY + 3, 8), DXP_EMALFORMED);
	size_t bytes = attach_request_encode(&none, wire);
	assert_int_equal(attach_request_decode(wire, bytes, &out), DXP_EMALFORMED);
}

static void attach_answer_decode__bounds(void **state)
{
	struct attach_answer a = answer_of(ATTACH_LIST), out;
	uint8_t wire[ATTACH_BYTES_MAX];
	size_t bytes = attach_answer_encode(&a, wire);
	const size_t rows = OFF_STATUS + 12;

	wire[rows] = ATTACH_ROWS + 1;
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	attach_answer_encode(&a, wire);
	wire[rows + 3] = 0; /* number of queue pairs */
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	wire[rows + 3] = DXP_QPS + 1;
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	attach_answer_encode(&a, wire);
	wire[rows + 4] = DXP_FUNCTION_CLOSED + 1;
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	attach_answer_encode(&a, wire);
	wire[rows + 10] = 128; /* error */
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	attach_answer_encode(&a, wire);
	wire[OFF_VERSION] = 9;
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EUNSUPPORTED);

	/* undefined status; success or error with an undefined type */
	a = (struct attach_answer){.type = ATTACH_ARM, .status = 1};
	bytes = attach_answer_encode(&a, wire);
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	a = (struct attach_answer){0};
	bytes = attach_answer_encode(&a, wire);
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
	a = (struct attach_answer){.type = ATTACH_PRIORITY + 1, .status = DXP_EINVAL};
	bytes = attach_answer_encode(&a, wire);
	assert_int_equal(attach_answer_decode(wire, bytes, &out), DXP_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach_request_decode__what_was_encoded_and_no_other_length),
		cmocka_unit_test(attach_answer_decode__what_was_encoded_and_no_other_length),
		cmocka_unit_test(attach_request_decode__bounds),
		cmocka_unit_test(attach_answer_decode__bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
