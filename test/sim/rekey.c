/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the replacement of the fabric key below endpoints: sessions stay, handshakes succeed while
 * both keys are accepted, and the former key opens nothing afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "test/sim/rig.h"

#define OLD 7
#define NEW 9

/* States of a node in a rotation, in their order. */
enum step { STEP_OLD, STEP_ACCEPTS, STEP_SENDS, STEP_NEW, STEPS };

static void step_set(struct rig *r, uint32_t node, enum step step)
{
	const uint8_t present = step == STEP_OLD ? OLD : NEW;
	const uint8_t former = step == STEP_ACCEPTS || step == STEP_SENDS ? OLD : 0;

	assert_int_equal(rig_rekey(r, node, present, former, step == STEP_ACCEPTS), DXP_OK);
}

static struct rig *rig_at(enum step a, enum step b, uint8_t protect)
{
	rig_protect = protect;
	struct rig *r = rig_make(2, 1408);
	step_set(r, 0, a);
	step_set(r, 1, b);
	return r;
}

static uint64_t unauthentic(struct rig *r, uint32_t node)
{
	return rltp_endpoint_counters(r->nodes[node].endpoint)->unauthentic;
}

/* Returns whether a node at step `b` accepts what one at step `a` sends. */
static bool accepted(enum step a, enum step b)
{
	return a <= STEP_ACCEPTS ? b != STEP_NEW : b != STEP_OLD;
}

static void rekey__a_handshake_needs_a_common_key(void **state)
{
	for (uint8_t protect = 0; protect <= WIRE_PROTECT_LAST; protect++)
		for (enum step a = STEP_OLD; a < STEPS; a++)
			for (enum step b = STEP_OLD; b < STEPS; b++) {
				struct rig *r = rig_at(a, b, protect);
				rig_post(r, 0, 1, 5000);
				const bool opens = rig_finish(r, 0, S_NS);
				assert_int_equal(opens, accepted(a, b));
				assert_int_equal(r->nodes[1].delivered_bytes, opens ? 5000 : 0);
				assert_int_equal(unauthentic(r, 1) > 0, !opens);
				rig_destroy(r);
			}
}

/* Steps of a rotation at different times in both nodes, with loss; the session stays the same. */
static void rekey__sessions_stay(void **state)
{
	const struct sim_faults faults = {
		.loss_ppm = 50000, .reorder_ppm = 50000, .duplicate_ppm = 20000};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		rig_protect = seed % 3;
		struct rig *r = rig_create(2, seed, &faults, 1408);
		assert_non_null(r);
		step_set(r, 0, STEP_OLD);
		step_set(r, 1, STEP_OLD);
		rig_open(r, 0, 1);
		const uint32_t id = rig_session(r, 0, 1)->local_id;
		for (enum step step = STEP_ACCEPTS; step < STEPS; step++)
			for (uint32_t i = 0; i < 2; i++) {
				rig_post(r, 0, 1, 60000);
				rig_post(r, 1, 0, 20000);
				rig_run(r, 100 * US_NS);
				step_set(r, i ^ (seed & 1), step);
			}
		assert_true(rig_finish(r, 0, 20 * S_NS) && rig_finish(r, 1, 20 * S_NS));
		assert_int_equal(r->nodes[0].ok + r->nodes[1].ok, 14);
		assert_int_equal(rig_session(r, 0, 1)->local_id, id);
		assert_int_equal(unauthentic(r, 0) + unauthentic(r, 1), 0);
		once_check(r);
		rig_destroy(r);
	}
}

/* A HELLO by the former key without an answer is made again by the new one. */
static void rekey__a_waiting_handshake_begins_anew(void **state)
{
	for (uint8_t protect = 0; protect <= WIRE_PROTECT_LAST; protect++) {
		struct rig *r = rig_at(STEP_ACCEPTS, STEP_NEW, protect);
		rig_post(r, 0, 1, 5000);
		rig_run(r, SHORT_NS);
		assert_int_equal(r->nodes[0].ended, 0);
		step_set(r, 0, STEP_NEW);
		assert_true(rig_finish(r, 0, S_NS));
		assert_int_equal(r->nodes[0].ok, 1);
		once_check(r);
		rig_destroy(r);
	}
}

/* Nodes that open new sessions all the time, while all of them go through the steps. */
static void rekey__new_sessions_open_at_each_step(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct sim_faults faults = {.loss_ppm = seed % 2 ? 100000 : 0};
		rig_protect = seed % 3;
		struct rig *r = rig_create(3, seed, &faults, 1408);
		assert_non_null(r);
		for (uint32_t i = 0; i < 3; i++)
			step_set(r, i, STEP_OLD);
		for (enum step step = STEP_ACCEPTS; step < STEPS; step++)
			for (uint32_t i = 0; i < 3; i++) {
				step_set(r, i, step);
				assert_int_equal(rig_restart(r, (i + 1) % 3, true), DXP_OK);
				step_set(r, (i + 1) % 3, i < 2 ? step - 1 : step);
				for (uint32_t k = 0; k < 3; k++)
					rig_post(r, k, (k + 1) % 3, 3000);
				for (uint32_t k = 0; k < 3; k++)
					assert_true(rig_finish(r, k, 20 * S_NS));
			}
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(r->nodes[k].ok, r->nodes[k].posted);
		once_check(r);
		rig_destroy(r);
	}
}

/* A recorded HELLO of the former key opens nothing after the overlap, nor does its owner. */
static void rekey__the_former_key_opens_nothing(void **state)
{
	for (uint8_t protect = 0; protect <= WIRE_PROTECT_LAST; protect++) {
		struct rig *r = rig_at(STEP_SENDS, STEP_SENDS, protect);
		rig_open(r, 0, 1);
		step_set(r, 1, STEP_NEW);
		step_set(r, 0, STEP_OLD); /* a removed node, which never gets the new key */
		assert_int_equal(rig_restart(r, 0, true), DXP_OK);
		assert_int_equal(rig_rekey(r, 0, OLD, 0, false), DXP_OK);
		const uint64_t before = unauthentic(r, 1), bytes = r->nodes[1].delivered_bytes;
		rig_post(r, 0, 1, 100);
		assert_false(rig_finish(r, 0, S_NS));
		assert_true(unauthentic(r, 1) > before);
		assert_int_equal(r->nodes[1].delivered_bytes, bytes);
		rig_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rekey__a_handshake_needs_a_common_key),
		cmocka_unit_test(rekey__sessions_stay),
		cmocka_unit_test(rekey__a_waiting_handshake_begins_anew),
		cmocka_unit_test(rekey__new_sessions_open_at_each_step),
		cmocka_unit_test(rekey__the_former_key_opens_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
