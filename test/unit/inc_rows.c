/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of a switch's status rows: all three kinds, up to the most rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/inc.h"

#define HEAD_BYTES       12
#define SWITCH_ROW_BYTES 262
#define GROUP_ROW_BYTES  100
#define REJECTION_BYTES  25

static struct inc_answer sample(uint8_t section, uint8_t count)
{
	struct inc_answer a = {.section = section, .total = 0x01020304, .first = 7, .count = count};

	if (section == INC_SECTION_SWITCH) {
		a.self = (struct inc_switch_row){
			.name = "tor-1",
			.ip = 0x0a4d00f1,
			.planes = 3,
			.parent_count = 2,
			.parents = {0x0a4d00fd, 0x0a4d00fe},
			.groups = 5,
			.groups_max = 256,
			.uptime_ms = 1ull << 40,
			.received = 1,
			.expired = 16,
			.computed_dropped = 20,
		};
		return a;
	}
	for (uint8_t i = 0; i < count; i++) {
		if (section == INC_SECTION_GROUPS)
			a.groups[i] = (struct inc_group_row){.id = i, .epoch = 3, .mismatches = i};
		else
			a.refusals[i] = (struct inc_refusal_row){.cause = 130, .count = i};
	}
	return a;
}

static void inc_rows__round_trip(void **state)
{
	static const size_t row_bytes[] = {0, SWITCH_ROW_BYTES, GROUP_ROW_BYTES, REJECTION_BYTES};

	for (uint8_t section = INC_SECTION_SWITCH; section <= INC_SECTION_REFUSALS; section++) {
		uint8_t most = section == INC_SECTION_SWITCH ? 1 : INC_ROWS_MAX;

		for (uint8_t count = 0; count <= most; count++) {
			struct inc_answer a = sample(section, count), out;
			uint8_t data[INC_ANSWER_BYTES_MAX + 1] = {0}, again[INC_ANSWER_BYTES_MAX];
			size_t bytes = inc_answer_encode(&a, data);

			assert_int_equal(bytes, HEAD_BYTES + count * row_bytes[section]);
			for (size_t n = 0; n <= bytes + 1; n++)
				assert_int_equal(inc_answer_decode(data, n, &out),
						 n == bytes ? DXP_OK : DXP_EMALFORMED);
			assert_int_equal(inc_answer_decode(data, bytes, &out), DXP_OK);
			assert_int_equal(inc_answer_encode(&out, again), bytes);
			assert_memory_equal(again, data, bytes);
		}
	}
}

static void inc_rows__values(void **state)
{
	struct inc_answer a = sample(INC_SECTION_SWITCH, 1), out;
	uint8_t data[INC_ANSWER_BYTES_MAX];

	assert_int_equal(inc_answer_decode(data, inc_answer_encode(&a, data), &out), DXP_OK);
	assert_string_equal(out.self.name, "tor-1");
	assert_int_equal(out.self.parents[1], 0x0a4d00fe);
	assert_int_equal(out.self.parent_count, 2);
	assert_int_equal(out.self.planes, 3);
	assert_int_equal(out.self.expired, 16);
	assert_int_equal(out.self.computed_dropped, 20);
	assert_true(out.self.uptime_ms == 1ull << 40);
	a = sample(INC_SECTION_REFUSALS, 2);
	assert_int_equal(inc_answer_decode(data, inc_answer_encode(&a, data), &out), DXP_OK);
	assert_int_equal(out.refusals[1].cause, 130);
	assert_int_equal(out.refusals[1].count, 1);
	assert_int_equal(out.total, 0x01020304);
	assert_int_equal(out.first, 7);
}

static void inc_rows__rejected(void **state)
{
	static const struct {
		uint16_t at;
		uint8_t value;
	} cases[] = {
		{0, 0}, /* undefined section */
		{0, 4},
		{1, 2},             /* row count: at most one switch row */
		{2, 1},             /* must be zero */
		{HEAD_BYTES, '\n'}, /* control character in the name */
		{HEAD_BYTES + 31, 'x'},
		{HEAD_BYTES + SWITCH_ROW_BYTES - 1, INC_PARENTS_MAX + 1},
	};
	struct inc_answer a, out;
	uint8_t data[INC_ANSWER_BYTES_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		a = sample(INC_SECTION_SWITCH, 1);
		size_t bytes = inc_answer_encode(&a, data);

		data[cases[i].at] = cases[i].value;
		if (inc_answer_decode(data, bytes, &out) != DXP_EMALFORMED)
			fail_msg("case %zu", i);
	}
	a = sample(INC_SECTION_SWITCH, 1);
	size_t bytes = inc_answer_encode(&a, data);
	memset(data + HEAD_BYTES, 'x', INC_NAME_BYTES); /* no zero byte ends the name */
	assert_int_equal(inc_answer_decode(data, bytes, &out), DXP_EMALFORMED);
}

static void inc_rows__inquiry(void **state)
{
	struct inc_inquiry q = {INC_SECTION_GROUPS, 0x01020304}, out = {0};
	uint8_t data[INC_INQUIRY_BYTES + 1] = {0};

	assert_int_equal(inc_inquiry_encode(&q, data), INC_INQUIRY_BYTES);
	for (size_t n = 0; n <= sizeof(data); n++)
		if (n != INC_INQUIRY_BYTES)
			assert_int_equal(inc_inquiry_decode(data, n, &out), DXP_EMALFORMED);
	assert_int_equal(inc_inquiry_decode(data, INC_INQUIRY_BYTES, &out), DXP_OK);
	assert_int_equal(out.section, INC_SECTION_GROUPS);
	assert_int_equal(out.first, 0x01020304);
	data[3] = 1;
	assert_int_equal(inc_inquiry_decode(data, INC_INQUIRY_BYTES, &out), DXP_EMALFORMED);
	data[3] = 0;
	data[0] = 9;
	assert_int_equal(inc_inquiry_decode(data, INC_INQUIRY_BYTES, &out), DXP_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_rows__round_trip),
		cmocka_unit_test(inc_rows__values),
		cmocka_unit_test(inc_rows__rejected),
		cmocka_unit_test(inc_rows__inquiry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
