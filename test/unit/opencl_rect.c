/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares rectangles with a model by bytes; folding moves no byte, and the overlap is exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plugins/opencl/memory/rect.h"

#define BYTES  600
#define ROUNDS 20000

static struct dxp_rect rect_random(struct rng *r)
{
	struct dxp_rect b = {
		.row_bytes = 1 + rng_below(r, 6),
		.rows = 1 + rng_below(r, 4),
		.slices = 1 + rng_below(r, 4),
	};

	/* often contiguous, so they can be folded */
	b.from_row_pitch = b.row_bytes + (rng_below(r, 2) ? rng_below(r, 4) : 0);
	b.to_row_pitch = b.row_bytes + (rng_below(r, 2) ? rng_below(r, 4) : 0);
	b.from_slice_pitch = b.from_row_pitch * (b.rows + (rng_below(r, 2) ? rng_below(r, 2) : 0));
	b.to_slice_pitch = b.to_row_pitch * (b.rows + (rng_below(r, 2) ? rng_below(r, 2) : 0));
	return b;
}

static void plain_copy(const struct dxp_rect *r, uint8_t *to, const uint8_t *from)
{
	for (uint64_t z = 0; z < r->slices; z++)
		for (uint64_t y = 0; y < r->rows; y++)
			for (uint64_t x = 0; x < r->row_bytes; x++)
				to[z * r->to_slice_pitch + y * r->to_row_pitch + x] =
					from[z * r->from_slice_pitch + y * r->from_row_pitch + x];
}

static void opencl_rect__fold(void **state)
{
	static uint8_t from[BYTES], to[BYTES], expected[BYTES];
	struct rng r;

	r.state = 7;
	for (int i = 0; i < BYTES; i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct dxp_rect b = rect_random(&r), folded = b;
		memset(to, 0, BYTES);
		memset(expected, 0, BYTES);
		rect_fold(&folded);
		assert_int_equal(rect_bytes(&folded), rect_bytes(&b));
		assert_int_equal(rect_from_span(&folded), rect_from_span(&b));
		assert_int_equal(rect_to_span(&folded), rect_to_span(&b));
		assert_true(folded.rows * folded.slices <= b.rows * b.slices);
		plain_copy(&b, expected, from);
		rect_copy(&folded, to, from);
		assert_memory_equal(to, expected, BYTES);
	}
}

static void opencl_rect__line(void **state)
{
	struct dxp_rect b = {16, 8, 4, 16, 128, 16, 128}, open = {16, 8, 4, 16, 128, 16, 144};

	rect_fold(&b);
	assert_true(rect_is_line(&b));
	assert_int_equal(b.row_bytes, 512);
	rect_fold(&open);
	assert_false(rect_is_line(&open));
	assert_int_equal(open.row_bytes, 128);
	assert_int_equal(open.rows, 4);
	assert_int_equal(open.slices, 1);
	assert_true(rect_from_is_tight(&open));
	assert_false(rect_to_is_tight(&open));
}

static void opencl_rect__pitches_of_zero(void **state)
{
	struct dxp_rect b = {.row_bytes = 4, .rows = 2, .slices = 3, .to_row_pitch = 8};

	rect_fold(&b);
	assert_int_equal(b.from_row_pitch, 4);
	assert_int_equal(rect_to_span(&b), 5 * 8 + 4);
}

static void mark(const struct dxp_rect *r, uint64_t at, bool from_side, uint8_t *seen)
{
	for (uint64_t i = 0; i < r->rows * r->slices; i++) {
		uint64_t row = at + (from_side ? rect_from_row(r, i) : rect_to_row(r, i));
		for (uint64_t x = 0; x < r->row_bytes; x++)
			seen[row + x] |= from_side ? 1 : 2;
	}
}

static void opencl_rect__overlaps(void **state)
{
	struct rng r;
	uint32_t both = 0;

	r.state = 9;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t seen[2 * BYTES] = {0};
		struct dxp_rect b = rect_random(&r);
		uint64_t from = rng_below(&r, 60), to = rng_below(&r, 60);
		bool shared = false;

		rect_fold(&b);
		mark(&b, from, true, seen);
		mark(&b, to, false, seen);
		for (int at = 0; at < 2 * BYTES; at++)
			shared |= seen[at] == 3;
		assert_int_equal(rect_overlaps(&b, from, to), shared);
		both += shared;
	}
	assert_true(both > ROUNDS / 10 && both < ROUNDS * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opencl_rect__fold),
		cmocka_unit_test(opencl_rect__line),
		cmocka_unit_test(opencl_rect__pitches_of_zero),
		cmocka_unit_test(opencl_rect__overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
