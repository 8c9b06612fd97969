/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests decisions about collectives: continuation after lost switches, the cause of a failure, the
 * pieces of an allreduce, and the events that a step of a plan waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "collective/cause.h"
#include "collective/posting.h"
#include "collective/rescue.h"
#include "xpu/pieces.h"

#define P RESCUE_PENDING
#define L RESCUE_LOST
#define C RESCUE_COMPLETE
#define F RESCUE_FAILED

static void rescue__decides(void **state)
{
	static const struct {
		enum rescue_state states[3];
		uint64_t done[3];
		enum rescue_step step;
	} rows[] = {
		{{P, P, P}, {0}, RESCUE_NOTHING},
		{{C, C, C}, {0}, RESCUE_NOTHING},
		{{F, P, C}, {0}, RESCUE_NOTHING},
		{{L, P, L}, {8, 0, 8}, RESCUE_AWAIT},
		{{L, P, F}, {8, 0, 0}, RESCUE_AWAIT},
		{{L, F, L}, {8, 0, 8}, RESCUE_CANCEL},
		{{L, L, L}, {8, 16, 8}, RESCUE_DIFFER},
		{{L, C, L}, {8, 0, 8}, RESCUE_DIFFER},
		{{L, L, L}, {104, 104, 104}, RESCUE_DIFFER}, /* more than the result has */
		{{L, L, L}, {0, 0, 0}, RESCUE_REST},
		{{L, L, L}, {8, 8, 8}, RESCUE_REST},
		{{L, L, L}, {96, 96, 96}, RESCUE_SETTLE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct rescue r = {0};
		for (uint32_t m = 0; m < 3; m++)
			rescue_add(&r, m, rows[i].states[m], DXP_ETIMEDOUT, rows[i].done[m]);
		assert_int_equal(rescue_decide(&r, 96), rows[i].step);
	}
}

static void rescue__keeps_the_best_reason(void **state)
{
	struct rescue r = {0};

	(void)state;
	rescue_add(&r, 0, RESCUE_LOST, DXP_EPEERLOST, 0);
	rescue_add(&r, 1, RESCUE_LOST, DXP_ENOENT, 0);
	rescue_add(&r, 2, RESCUE_LOST, DXP_ETIMEDOUT, 0);
	assert_int_equal(r.reason, DXP_ENOENT);
	assert_int_equal(r.reason_member, 1);
	assert_true(r.is_lost[0] && r.is_lost[2]);
}

static void cause__is_the_first_own_failure(void **state)
{
	struct cause c = {.found = false};

	(void)state;
	assert_false(cause_look(&c, 0, DXP_OK, false));
	assert_false(cause_look(&c, 1, DXP_ECANCELED, false));
	assert_false(c.found);
	assert_false(cause_look(&c, 2, DXP_EACCESS, false));
	assert_false(cause_look(&c, 3, DXP_EPEERLOST, false));
	assert_int_equal(c.index, 2);
	assert_int_equal(c.status, DXP_EACCESS);
	assert_true(cause_look(&c, 4, DXP_EDEVICE, true));
	assert_int_equal(c.index, 4);
}

static void pieces__end(void **state)
{
	struct pieces p = {.bytes = 100, .piece_max = 64};

	(void)state;
	pieces_next(&p);
	assert_int_equal(p.piece_bytes, 64);
	assert_int_equal(pieces_ended(&p, DXP_OK, 64, false), PIECES_NEXT);
	pieces_next(&p);
	assert_int_equal(p.piece_bytes, 36);
	assert_int_equal(pieces_ended(&p, DXP_OK, 36, false), PIECES_COMPLETE);
	p.done_bytes = 64;
	assert_int_equal(pieces_ended(&p, DXP_EPEERLOST, 8, true), PIECES_LOST);
	assert_int_equal(p.done_bytes, 72);
	assert_int_equal(pieces_ended(&p, DXP_EUNSUPPORTED, 0, false), PIECES_LOST);
	assert_int_equal(pieces_ended(&p, DXP_EINVAL, 8, false), PIECES_FAILED);
	assert_int_equal(p.done_bytes, 72);
	assert_int_equal(pieces_ended(&p, DXP_OK, 8, true), PIECES_CANCELLED);
}

/* Posts a plan of two members; events are numbered from 101 on. */
static void posting__merges_marks(void **state)
{
	const struct plan_request r = {.operation = PLAN_BROADCAST,
				       .way = DXP_WAY_TREE,
				       .members = 2,
				       .count = 4,
				       .element_bytes = 4,
				       .scratch_bytes = 65536,
				       .in_place = 1};
	struct posting p;
	struct plan plan;
	uint32_t commands = 0;

	(void)state;
	assert_int_equal(plan_make(&r, &plan), DXP_OK);
	assert_int_equal(posting_begin(&p, &plan, 8, false), DXP_OK);
	for (uint32_t i = 0; i < plan.step_count; i++) {
		const bool first = posting_collect(&p, i);
		assert_int_equal(first, i < 2);
		if (first)
			posting_wait(&p, i); /* member 0: 0, no event */
		if (posting_merge(&p, i))
			continue;
		posting_name(&p, i, 101 + commands++);
	}
	/* The begin marks need no command: one waits for nothing, one for the program's event. So
	 * the commands are a SEND and the last marks of both members. */
	assert_int_equal(commands, 3);
	assert_int_equal(posting_last(&p, 0), 102);
	assert_int_equal(posting_last(&p, 1), 103);
	posting_collect(&p, 2);
	for (uint64_t event = 1; event < 9; event++)
		posting_wait(&p, event);
	const uint32_t before = p.wait_count;
	posting_fold(&p, 8, 77);
	assert_int_equal(p.wait_count, before - 7);
	assert_int_equal(p.waits[before - 8], 77);
	posting_end(&p);
	plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rescue__decides),
		cmocka_unit_test(rescue__keeps_the_best_reason),
		cmocka_unit_test(cause__is_the_first_own_failure),
		cmocka_unit_test(pieces__end),
		cmocka_unit_test(posting__merges_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
