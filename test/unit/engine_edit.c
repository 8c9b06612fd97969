/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares WRITE, COPY and FILL with a model by bytes; tests invalid rectangles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "engine/engine.h"

#define BYTES 65536u

static uint8_t memory[BYTES], model[BYTES];

static void model_edit(const struct engine_edit *e)
{
	const struct dxp_rect *r = &e->rect;
	uint64_t from_row, from_slice, to_row, to_slice;

	if (e->op == COMMAND_WRITE) {
		memcpy(model + e->to, e->data, e->data_bytes);
		return;
	}
	command_rect_pitches(r, RECT_TO, &to_row, &to_slice);
	command_rect_pitches(r, RECT_FROM, &from_row, &from_slice);
	for (uint64_t z = 0; z < r->slices; z++)
		for (uint64_t y = 0; y < r->rows; y++)
			for (uint64_t x = 0; x < r->row_bytes; x++)
				model[e->to + z * to_slice + y * to_row + x] =
					e->op == COMMAND_FILL
						? ((const uint8_t *)e->data)[x % e->data_bytes]
						: model[e->from + z * from_slice + y * from_row +
							x];
}

static void pitches_draw(struct rng *r, const struct dxp_rect *b, uint64_t *row, uint64_t *slice)
{
	const uint64_t gap = rng_below(r, 3) ? 0 : rng_below(r, 9);

	*row = rng_below(r, 4) ? b->row_bytes + gap : 0;
	*slice = rng_below(r, 4) ? (*row ? *row : b->row_bytes) * b->rows + gap : 0;
}

static void edit_draw(struct rng *r, struct engine_edit *e, uint8_t *data)
{
	static const uint32_t patterns[] = {1, 2, 4, 8, 16, 3, 5, 12, 32, 64, 100, 127, 128};

	e->op = (uint8_t)(uint8_t[]){COMMAND_WRITE, COMMAND_COPY, COMMAND_FILL}[rng_below(r, 3)];
	e->data = data;
	for (int i = 0; i < DXP_INLINE_BYTES; i++)
		data[i] = (uint8_t)rng_below(r, 256);
	e->data_bytes = e->op == COMMAND_FILL ? patterns[rng_below(r, ARRAY_COUNT(patterns))]
					      : (uint32_t)(1 + rng_below(r, DXP_INLINE_BYTES));
	e->rect = (struct dxp_rect){.row_bytes = 1 + rng_below(r, 60),
				    .rows = 1 + rng_below(r, 12),
				    .slices = 1 + rng_below(r, 6)};
	if (e->op == COMMAND_FILL)
		e->rect.row_bytes =
			e->data_bytes * (1 + rng_below(r, 8192 / e->data_bytes / 40 + 1));
	pitches_draw(r, &e->rect, &e->rect.to_row_pitch, &e->rect.to_slice_pitch);
	pitches_draw(r, &e->rect, &e->rect.from_row_pitch, &e->rect.from_slice_pitch);
	/* in separate halves, so they do not overlap */
	e->from = rng_below(r, BYTES / 2);
	e->to = BYTES / 2 + rng_below(r, BYTES / 2);
}

static bool model_accepts(const struct engine_edit *e)
{
	uint64_t to, from;

	if (e->op == COMMAND_WRITE)
		return e->to + e->data_bytes <= BYTES;
	assert_true(command_rect_span(&e->rect, RECT_TO, &to));
	assert_true(command_rect_span(&e->rect, RECT_FROM, &from));
	return e->to + to <= BYTES && (e->op == COMMAND_FILL || e->from + from <= BYTES / 2);
}

static void engine_edit__as_the_model(void **state)
{
	uint8_t data[DXP_INLINE_BYTES];
	struct rng r;
	int done = 0;

	r = (struct rng){7};
	for (uint32_t i = 0; i < BYTES; i++)
		memory[i] = model[i] = (uint8_t)(i * 13 + i / 256);
	for (int i = 0; i < 20000; i++) {
		struct engine_edit e = {.memory = memory, .memory_bytes = BYTES};
		edit_draw(&r, &e, data);
		if (!model_accepts(&e))
			continue;
		assert_int_equal(engine_edit_in_place(&e), DXP_OK);
		model_edit(&e);
		if (memcmp(memory, model, BYTES) != 0)
			fail_msg("edit %d, op %u", i, e.op);
		done++;
	}
	assert_true(done > 10000);
}

static void engine_edit__rejected(void **state)
{
	uint8_t pattern[DXP_PATTERN_MAX + 1] = {0};
	struct engine_edit e;

	memset(memory, 0x5a, BYTES);
#define REFUSED(status, ...)                                                                \
	do {                                                                                \
		e = (struct engine_edit){.op = COMMAND_FILL,                                \
					 .memory = memory,                                  \
					 .memory_bytes = BYTES,                             \
					 .data = pattern,                                   \
					 .data_bytes = 4,                                   \
					 .rect = {.row_bytes = 8, .rows = 2, .slices = 2}}; \
		__VA_ARGS__;                                                                \
		assert_int_equal(engine_edit_in_place(&e), status);                         \
	} while (0)
	REFUSED(DXP_EINVAL, e.rect.row_bytes = 0);
	REFUSED(DXP_EINVAL, e.rect.rows = 0);
	REFUSED(DXP_EINVAL, e.rect.slices = 0);
	REFUSED(DXP_EINVAL, e.rect.row_bytes = 6);
	REFUSED(DXP_EINVAL, e.data_bytes = 0);
	REFUSED(DXP_EINVAL, e.data_bytes = DXP_PATTERN_MAX + 1; e.rect.row_bytes = e.data_bytes);
	REFUSED(DXP_EINVAL, e.rect.to_row_pitch = 7);
	REFUSED(DXP_EINVAL, e.rect.to_slice_pitch = 15);
	REFUSED(DXP_EINVAL, e.op = COMMAND_COPY; e.rect.from_row_pitch = 7);
	REFUSED(DXP_EINVAL, e.rect.rows = UINT64_MAX; e.rect.slices = UINT64_MAX);
	REFUSED(DXP_EINVAL, e.rect.to_row_pitch = UINT64_MAX);
	REFUSED(DXP_ERANGE, e.to = BYTES - 31);
	REFUSED(DXP_ERANGE, e.to = UINT64_MAX - 3);
	REFUSED(DXP_ERANGE, e.rect.to_slice_pitch = 1ull << 62);
	REFUSED(DXP_ERANGE, e.op = COMMAND_COPY; e.from = BYTES - 31);
	REFUSED(DXP_ERANGE, e.op = COMMAND_WRITE; e.to = BYTES - 3);
	REFUSED(DXP_ERANGE, e.op = COMMAND_WRITE; e.to = UINT64_MAX);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(memory[i], 0x5a);
	REFUSED(DXP_OK, e.to = BYTES - 32);
#undef REFUSED
}

static void engine_edit__speed(void **state)
{
	static const uint32_t patterns[] = {1, 2, 4, 8, 16, 12, 128};
	const uint64_t bytes = 12u << 20;
	uint8_t pattern[DXP_PATTERN_MAX] = {1, 2, 3}, *large = malloc(bytes);

	assert_non_null(large);
	memset(large, 1, bytes);
	for (size_t i = 0; i < ARRAY_COUNT(patterns); i++) {
		const struct engine_edit e = {
			.op = COMMAND_FILL,
			.memory = large,
			.memory_bytes = bytes,
			.data = pattern,
			.data_bytes = patterns[i],
			.rect = {.row_bytes = bytes / 384 / 4, .rows = 384, .slices = 4}};
		struct engine_edit even = e;
		even.rect.row_bytes -= even.rect.row_bytes % patterns[i];
		uint64_t start = clock_now_ns();
		assert_int_equal(engine_edit_in_place(&even), DXP_OK);
		print_message("pattern of %u: %.1f GB/s\n", patterns[i],
			      (double)bytes / (double)(clock_now_ns() - start));
	}
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_edit__as_the_model),
		cmocka_unit_test(engine_edit__rejected),
		cmocka_unit_test(engine_edit__speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
