/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests handshakes that prove key pairs, below endpoints: beside nodes of earlier releases, while
 * key pairs change, and with a wrong key in the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "test/sim/rig.h"

static struct rig *rig_encrypted(uint32_t count, uint64_t number, uint32_t loss_ppm)
{
	const struct sim_faults faults = {.loss_ppm = loss_ppm, .reorder_ppm = loss_ppm};

	rig_protect = WIRE_PROTECT_ENCRYPT;
	struct rig *r = rig_create(count, number, &faults, 1408);
	assert_non_null(r);
	return r;
}

static uint64_t unauthentic(struct rig *r, uint32_t node)
{
	return rltp_endpoint_counters(r->nodes[node].endpoint)->unauthentic;
}

/* Makes the node one of an earlier release, without a key pair; call it before a restart. */
static void plain_make(struct rig *r, uint32_t node)
{
	assert_int_equal(rig_identity(r, node, 0), DXP_OK);
	assert_int_equal(rig_restart(r, node, true), DXP_OK);
}

static void identity__beside_earlier_releases(void **state)
{
	for (uint32_t plain = 0; plain < 8; plain++) {
		struct rig *r = rig_encrypted(3, seed(), 0);
		for (uint32_t i = 0; i < 3; i++)
			if (plain >> i & 1)
				plain_make(r, i);
		for (uint32_t i = 0; i < 3; i++)
			rig_open(r, i, (i + 1) % 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(unauthentic(r, i), 0);
		rig_destroy(r);
	}
}

/* The table has another key than the node has: no session opens, from either side. When the table
 * is right, handshakes that wait succeed by themselves. */
static void identity__a_wrong_key_in_the_table(void **state)
{
	for (uint32_t from = 0; from < 2; from++) {
		struct rig *r = rig_encrypted(2, seed(), 0);
		uint8_t right[32];
		memcpy(right, r->nodes[1].public_key, sizeof(right));
		memcpy(r->nodes[1].public_key, r->nodes[0].public_key, sizeof(right));
		rig_post(r, from, 1 - from, 3000);
		assert_false(rig_finish(r, from, S_NS));
		assert_true(unauthentic(r, 1 - from) > 0);
		assert_int_equal(r->nodes[1 - from].delivered_bytes, 0);
		memcpy(r->nodes[1].public_key, right, sizeof(right));
		assert_true(rig_finish(r, from, 2 * S_NS));
		assert_int_equal(r->nodes[from].ok, 1);
		once_check(r);
		rig_destroy(r);
	}
}

/* A node opens no session without its key pair if the table has its key. */
static void identity__no_downgrade(void **state)
{
	struct rig *r = rig_encrypted(2, seed(), 0);

	r->nodes[0].keyed = false;
	assert_int_equal(rig_restart(r, 0, true), DXP_OK);
	for (uint32_t from = 0; from < 2; from++) {
		rig_post(r, from, 1 - from, 3000);
		assert_false(rig_finish(r, from, S_NS));
		assert_int_equal(r->nodes[1 - from].delivered_bytes, 0);
	}
	assert_true(unauthentic(r, 1) > 0);
	rig_destroy(r);
}

/* Key pairs change under load and loss: open sessions stay, restarts open new ones. */
static void identity__key_pairs_change(void **state)
{
	for (uint64_t number = 1; number <= 20; number++) {
		struct rig *r = rig_encrypted(3, number, number % 2 ? 100000 : 0);
		for (uint8_t round = 0; round < 9; round++) {
			const uint32_t node = round % 3;
			for (uint32_t i = 0; i < 3; i++) {
				rig_post(r, i, (i + 1) % 3, 20000);
				rig_post(r, i, (i + 2) % 3, 3000);
			}
			rig_run(r, (number % 5) * 50 * US_NS);
			assert_int_equal(rig_identity(r, node, (uint8_t)(100 + round)), DXP_OK);
			for (uint32_t i = 0; i < 3; i++)
				assert_true(rig_finish(r, i, 20 * S_NS));
			if (round % 2)
				assert_int_equal(rig_restart(r, (node + 1) % 3, true), DXP_OK);
		}
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(r->nodes[i].ok, r->nodes[i].posted);
		once_check(r);
		rig_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity__beside_earlier_releases),
		cmocka_unit_test(identity__a_wrong_key_in_the_table),
		cmocka_unit_test(identity__no_downgrade),
		cmocka_unit_test(identity__key_pairs_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
