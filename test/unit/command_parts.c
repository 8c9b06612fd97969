/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests prints, images, samplers and rectangles in commands, and the documented command numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/inc.h>
#include <dxp/mmd.h>
#include <dxp/status.h>

#include "base/rng.h"
#include "wire/command.h"

static void command_op__as_documented(void **state)
{
	static const char *const names[] = {
		"OPEN",  "CLOSE",  "ALLOC",    "FREE",      "BUILD", "FETCH", "RELEASE",
		"RUN",   "SEND",   "SIGNAL",   "REPLY",     "EVENT", "NIC",   "BRIDGE",
		"WRITE", "COPY",   "FILL",     "MARK",      "CLOCK", "PRINT", "HURRY",
		"BEGUN", "FAILED", "SWITCHES", "ALLREDUCE", "LOST",  "SETTLE"};
	static char text[65536];
	char row[32];
	FILE *f = fopen(DXP_SOURCE_DIR "/docs/reference/wire.md", "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	const char *section = strstr(text, "\n## Commands\n");
	assert_non_null(section);
	for (int op = COMMAND_OPEN; op <= COMMAND_SETTLE; op++) {
		snprintf(row, sizeof(row), "\n| %d | %s |", op, names[op - 1]);
		if (!strstr(section, row))
			fail_msg("docs/reference/wire.md has no row '%s'", row + 1);
	}
}

static void command_begun__what_was_encoded(void **state)
{
	uint8_t wire[COMMAND_BYTES_MAX];
	uint64_t name = EVENT_NAME(3, 5, 7), back = 0;
	int bytes = command_begun_encode(name, wire);

	assert_int_equal(bytes, 9);
	assert_int_equal(command_op(wire, 9), COMMAND_BEGUN);
	assert_int_equal(command_begun_decode(wire, 9, &back), DXP_OK);
	assert_true(back == name);
	for (size_t cut = 0; cut < 9; cut++)
		assert_int_equal(command_begun_decode(wire, cut, &back), DXP_EMALFORMED);
	assert_int_equal(command_begun_decode(wire, 10, &back), DXP_EMALFORMED);
	wire[0] = COMMAND_EVENT;
	assert_int_equal(command_begun_decode(wire, 9, &back), DXP_EMALFORMED);
	memset(wire, 0, sizeof(wire));
	wire[0] = COMMAND_BEGUN;
	assert_int_equal(command_begun_decode(wire, 9, &back), DXP_EMALFORMED);
	assert_int_equal(command_begun_encode(0, wire), DXP_EINVAL);
	assert_true(back == name);
}

static void command_lost__what_was_encoded(void **state)
{
	const struct command_lost lost = {EVENT_NAME(3, 5, 7), 1ull << 40, DXP_ETIMEDOUT};
	const struct command_lost wrong[] = {{0, 0, DXP_ETIMEDOUT}, {1, 0, DXP_OK}, {1, 0, 4}};
	uint8_t wire[COMMAND_BYTES_MAX];
	struct command_lost back = {0};
	int bytes = command_lost_encode(&lost, wire);

	assert_int_equal(bytes, 21);
	assert_int_equal(command_op(wire, 21), COMMAND_LOST);
	assert_int_equal(command_lost_decode(wire, 21, &back), DXP_OK);
	assert_true(back.event == lost.event && back.done_bytes == lost.done_bytes &&
		    back.status == lost.status);
	for (size_t cut = 0; cut < 21; cut++)
		assert_int_equal(command_lost_decode(wire, cut, &back), DXP_EMALFORMED);
	assert_int_equal(command_lost_decode(wire, 22, &back), DXP_EMALFORMED);
	memset(wire + 17, 0, 4);
	assert_int_equal(command_lost_decode(wire, 21, &back), DXP_EMALFORMED);
	command_lost_encode(&lost, wire);
	memset(wire + 1, 0, 8);
	assert_int_equal(command_lost_decode(wire, 21, &back), DXP_EMALFORMED);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(command_lost_encode(&wrong[i], wire), DXP_EINVAL);
}

/* A SWITCHES or ALLREDUCE with a value out of range is neither sent nor accepted. */
static void command_allreduce__out_of_range(void **state)
{
	static const uint8_t all[1];
	const struct command wrong[] = {
		{.op = COMMAND_SWITCHES, .what = SWITCHES_OPEN, .members = 1},
		{.op = COMMAND_SWITCHES, .what = SWITCHES_OPEN, .members = 65},
		{.op = COMMAND_SWITCHES, .what = SWITCHES_OPEN, .member = 2, .members = 2},
		{.op = COMMAND_SWITCHES, .what = SWITCHES_SHARE},
		{.op = COMMAND_SWITCHES,
		 .what = SWITCHES_SHARE,
		 .data = all,
		 .data_bytes = COMMAND_PACKAGE_BYTES + 1},
		{.op = COMMAND_SWITCHES, .what = SWITCHES_CLOSE, .data = all, .data_bytes = 1},
		{.op = COMMAND_SWITCHES, .what = SWITCHES_CLOSE + 1},
		{.op = COMMAND_ALLREDUCE, .type = DXP_INC_FLOAT, .reduction = DXP_INC_SUM},
		{.op = COMMAND_ALLREDUCE,
		 .type = DXP_INC_FLOAT,
		 .reduction = DXP_INC_SUM,
		 .bytes = 6},
		{.op = COMMAND_ALLREDUCE,
		 .type = DXP_INC_FLOAT,
		 .reduction = DXP_INC_BOR,
		 .bytes = 4},
		{.op = COMMAND_ALLREDUCE,
		 .type = DXP_INC_TYPES,
		 .reduction = DXP_INC_SUM,
		 .bytes = 4},
		{.op = COMMAND_SETTLE},
		{.op = COMMAND_SETTLE, .settles = 1, .status = 1},
	};
	struct command good = {.op = COMMAND_ALLREDUCE,
			       .type = DXP_INC_FLOAT,
			       .reduction = DXP_INC_SUM,
			       .bytes = 4};
	uint8_t wire[COMMAND_BYTES_MAX];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (command_encode(&wrong[i], wire) != DXP_EINVAL)
			fail_msg("command %u is accepted", (unsigned)i);
	const int bytes = command_encode(&good, wire);
	assert_true(bytes > 8);
	assert_int_equal(command_decode(wire, (size_t)bytes, &good), DXP_OK);
	wire[bytes - 1] = 6; /* last byte of the length */
	assert_int_equal(command_decode(wire, (size_t)bytes, &good), DXP_EMALFORMED);
}

static void command_failed__there_and_back(void **state)
{
	char text[COMMAND_FAILURE_BYTES], back[COMMAND_FAILURE_BYTES] = "kept";
	const uint64_t event = EVENT_NAME(3, 4, 5);
	uint8_t wire[COMMAND_BYTES_MAX];
	uint64_t name = 0;

	for (size_t bytes = 1; bytes < COMMAND_FAILURE_BYTES; bytes += 127) {
		memset(text, 'x', bytes);
		text[bytes] = '\0';
		const int length = command_failed_encode(event, text, wire);
		assert_int_equal(length, 10 + bytes);
		assert_int_equal(command_op(wire, (size_t)length), COMMAND_FAILED);
		for (size_t less = 0; less < (size_t)length; less++)
			assert_int_equal(command_failed_decode(wire, less, &name, back),
					 DXP_EMALFORMED);
		assert_int_equal(command_failed_decode(wire, (size_t)length + 1, &name, back),
				 DXP_EMALFORMED);
		assert_int_equal(command_failed_decode(wire, (size_t)length, &name, back), DXP_OK);
		assert_true(name == event);
		assert_string_equal(back, text);
		for (uint8_t wrong = 0; wrong <= 0x7f; wrong += wrong < 0x1f ? 1 : 0x60) {
			wire[10] = wrong; /* control character */
			assert_int_equal(command_failed_decode(wire, (size_t)length, &name, back),
					 DXP_EMALFORMED);
		}
	}
	assert_int_equal(command_failed_encode(0, "text", wire), DXP_EINVAL);
	assert_int_equal(command_failed_encode(event, "", wire), DXP_EINVAL);
	assert_int_equal(command_failed_encode(event, "two\nlines", wire), DXP_EINVAL);
	memset(text, 'x', sizeof(text)); /* no final zero */
	assert_int_equal(command_failed_encode(event, text, wire), DXP_EINVAL);
	assert_int_equal(command_failed_encode(event, "text", wire), 14);
	memset(wire + 1, 0, 8);
	assert_int_equal(command_failed_decode(wire, 14, &name, back), DXP_EMALFORMED);
	wire[9] = 0;
	assert_int_equal(command_failed_decode(wire, 10, &name, back), DXP_EMALFORMED);
}

static void command_cycles__there_and_back(void **state)
{
	const struct dxp_event_cycles c = {1, 2, 1ull << 63, 4, 5, 6, 7, UINT32_MAX};
	const struct dxp_event_cycles none = {.instructions = 1};
	const uint64_t event = EVENT_NAME(3, 4, 5);
	struct dxp_event_cycles back = {0};
	uint8_t wire[COMMAND_BYTES_MAX];
	uint64_t name = 0;

	assert_int_equal(command_cycles_encode(event, &none, wire), DXP_EINVAL);
	assert_int_equal(command_cycles_encode(0, &c, wire), DXP_EINVAL);
	const int length = command_cycles_encode(event, &c, wire);
	assert_int_equal(length, 65);
	assert_int_equal(command_op(wire, (size_t)length), COMMAND_CYCLES);
	for (size_t bytes = 0; bytes <= 66; bytes++)
		if (bytes != (size_t)length)
			assert_int_equal(command_cycles_decode(wire, bytes, &name, &back),
					 DXP_EMALFORMED);
	assert_int_equal(command_cycles_decode(wire, (size_t)length, &name, &back), DXP_OK);
	assert_true(name == event);
	assert_memory_equal(&back, &c, sizeof(c));
	wire[0] = COMMAND_FAILED;
	assert_int_equal(command_cycles_decode(wire, (size_t)length, &name, &back), DXP_EMALFORMED);
	wire[0] = COMMAND_CYCLES;
	for (int first = 1; first <= 9; first += 8) { /* the event, then the cycles */
		uint8_t zero[sizeof(wire)];
		memcpy(zero, wire, sizeof(zero));
		memset(zero + first, 0, 8);
		assert_int_equal(command_cycles_decode(zero, (size_t)length, &name, &back),
				 DXP_EMALFORMED);
	}
}

static void command_print__any_bytes(void **state)
{
	static uint8_t any[COMMAND_PRINT_BYTES + 1];
	uint8_t wire[COMMAND_BYTES_MAX];
	struct rng r = {1};
	const uint8_t *text;
	size_t text_bytes;

	for (size_t i = 0; i < sizeof(any); i++)
		any[i] = (uint8_t)rng_next(&r);
	for (size_t bytes = 1; bytes <= COMMAND_PRINT_BYTES; bytes += 211) {
		int length = command_print_encode(any, bytes, wire);
		assert_int_equal(length, bytes + 1);
		assert_int_equal(command_op(wire, (size_t)length), COMMAND_PRINT);
		assert_int_equal(command_print_decode(wire, (size_t)length, &text, &text_bytes),
				 DXP_OK);
		assert_int_equal(text_bytes, bytes);
		assert_memory_equal(text, any, bytes);
	}
	assert_int_equal(command_print_encode(any, 0, wire), DXP_EINVAL);
	assert_int_equal(command_print_encode(any, COMMAND_PRINT_BYTES + 1, wire), DXP_EINVAL);
	assert_int_equal(command_print_decode(wire, 1, &text, &text_bytes), DXP_EMALFORMED);
	assert_int_equal(command_print_decode(wire, COMMAND_PRINT_BYTES + 2, &text, &text_bytes),
			 DXP_EMALFORMED);
	wire[0] = COMMAND_EVENT;
	assert_int_equal(command_print_decode(wire, 5, &text, &text_bytes), DXP_EMALFORMED);
}

static void command_image__there_and_back(void **state)
{
	const struct dxp_image image = {1, 2, 3, 4, 5, 6, 7, UINT32_MAX, UINT64_MAX - 1, 9};
	const struct dxp_sampler sampler = {1, 0x1130, UINT32_MAX};
	uint8_t value[COMMAND_IMAGE_BYTES];
	struct dxp_image image_back;
	struct dxp_sampler sampler_back;

	command_image_put(&image, value);
	command_image_get(value, &image_back);
	assert_memory_equal(&image, &image_back, sizeof(image));
	command_sampler_put(&sampler, value);
	command_sampler_get(value, &sampler_back);
	assert_memory_equal(&sampler, &sampler_back, sizeof(sampler));
}

static void command_rect_span__pitches_and_overflow(void **state)
{
	struct dxp_rect b = {.row_bytes = 3, .rows = 4, .slices = 5};
	uint64_t span;

	assert_true(command_rect_span(&b, RECT_FROM, &span));
	assert_int_equal(span, 60);
	b.from_row_pitch = 10;
	assert_true(command_rect_span(&b, RECT_FROM, &span));
	assert_int_equal(span, 4 * 40 + 3 * 10 + 3);
	assert_true(command_rect_span(&b, RECT_TO, &span));
	assert_int_equal(span, 60);
	b.from_slice_pitch = 100;
	assert_true(command_rect_span(&b, RECT_FROM, &span));
	assert_int_equal(span, 4 * 100 + 3 * 10 + 3);
	b.from_slice_pitch = 39;
	assert_false(command_rect_span(&b, RECT_FROM, &span));
	b.from_slice_pitch = UINT64_MAX / 4 + 1;
	assert_false(command_rect_span(&b, RECT_FROM, &span));
	b = (struct dxp_rect){.row_bytes = UINT64_MAX, .rows = 1, .slices = 1};
	assert_true(command_rect_span(&b, RECT_TO, &span));
	assert_true(span == UINT64_MAX);
	b.slices = 2;
	assert_false(command_rect_span(&b, RECT_TO, &span));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_failed__there_and_back),
		cmocka_unit_test(command_cycles__there_and_back),
		cmocka_unit_test(command_print__any_bytes),
		cmocka_unit_test(command_image__there_and_back),
		cmocka_unit_test(command_rect_span__pitches_and_overflow),
		cmocka_unit_test(command_op__as_documented),
		cmocka_unit_test(command_begun__what_was_encoded),
		cmocka_unit_test(command_lost__what_was_encoded),
		cmocka_unit_test(command_allreduce__out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
