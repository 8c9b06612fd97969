/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests decoded WRITE, COPY, FILL and MARK: all fields, and no more memory than host and xPU
 * count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "worker/edit.h"
#include "xpu/event_log.h"
#include "xpu/slot_internal.h"

#define ROUNDS 3000

static uint8_t bytes_value[DXP_INLINE_BYTES];

/* Contiguous or with gaps; `unit` divides a row's bytes. */
static struct dxp_rect rect_random(struct rng *r, uint32_t unit)
{
	struct dxp_rect rect = {.row_bytes = unit * (1 + rng_below(r, 9)),
				.rows = 1 + rng_below(r, 5),
				.slices = 1 + rng_below(r, 5)};

	if (rng_below(r, 2)) {
		rect.to_row_pitch = rect.row_bytes + rng_below(r, 7);
		rect.to_slice_pitch = rect.rows * rect.to_row_pitch + rng_below(r, 7);
	}
	return rect;
}

static void command_random(struct rng *r, struct command *c)
{
	static const uint8_t ops[] = {COMMAND_WRITE, COMMAND_COPY, COMMAND_FILL};

	*c = (struct command){.op = ops[rng_below(r, 3)],
			      .event = rng_next(r),
			      .wait_count = (uint8_t)rng_below(r, COMMAND_WAITS_MAX + 1)};
	for (int i = 0; i < c->wait_count; i++)
		c->waits[i] = 1;
	c->address = rng_next(r);
	if (c->op == COMMAND_COPY) {
		c->to_address = rng_next(r);
		c->rect = rect_random(r, 1);
		c->rect.from_row_pitch = c->rect.row_bytes + rng_below(r, 7);
		return;
	}
	c->data = bytes_value;
	c->data_bytes = 1 + (uint32_t)rng_below(r, c->op == COMMAND_FILL ? DXP_PATTERN_MAX
									 : DXP_INLINE_BYTES);
	if (c->op == COMMAND_FILL)
		c->rect = rect_random(r, c->data_bytes);
}

static void edit_compare(const struct command *c, const struct worker_edit *e)
{
	bool copy = c->op == COMMAND_COPY;

	assert_true(e->op == c->op && e->event == c->event);
	assert_true(e->from == (copy ? c->address : 0));
	assert_true(e->to == (copy ? c->to_address : c->address));
	assert_memory_equal(&e->rect, &c->rect, sizeof(e->rect));
	assert_int_equal(e->need_count, 0);
	assert_true(e->data - offsetof(struct worker_edit, needs) >=
		    c->wait_count * sizeof(uint64_t));
	assert_int_equal(e->data_bytes, c->data_bytes);
	if (c->data_bytes)
		assert_memory_equal(worker_edit_data(e), c->data, c->data_bytes);
}

/* Runs one round. The memory has exactly the needed size, so that a sanitizer detects accesses past
 * its end. */
static void round_do(struct rng *r)
{
	struct command c, decoded;
	uint8_t message[COMMAND_BYTES_MAX];

	command_random(r, &c);
	int bytes = command_encode(&c, message);
	assert_true(bytes > 0);
	assert_int_equal(command_decode(message, (size_t)bytes, &decoded), DXP_OK);
	uint32_t edit_bytes = worker_edit_bytes(&decoded);
	struct worker_edit *e = malloc(edit_bytes);
	assert_non_null(e);
	worker_edit_make(&decoded, e);
	memset(message, 0xee, sizeof(message));
	assert_int_equal(e->bytes, edit_bytes);
	edit_compare(&c, e);
	free(e);
	assert_true(sizeof(struct work) + sizeof(struct event_entry) + sizeof(void *) +
			    edit_bytes <=
		    COMMAND_KEPT_BYTES((uint32_t)bytes));
}

static void worker_edit__has_all_fields(void **state)
{
	struct rng r = {.state = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(bytes_value); i++)
		bytes_value[i] = (uint8_t)rng_next(&r);
	for (int i = 0; i < ROUNDS; i++)
		round_do(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_edit__has_all_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
