/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests guarded regions: rejected accesses move nothing, answers are cached until the epoch
 * changes, and memory is held while a descriptor uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"
#include "wire/frame.h"

/* The accessible range, and counts of calls. */
static struct gate {
	struct nic_reach open;
	uint64_t epoch;
	uint32_t requested, held, queried;
	uint64_t held_at;
} gate;

static uint8_t guard_reach(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out)
{
	const struct nic_reach *open = &gate.open;

	assert_ptr_equal(context, &gate);
	gate.requested++;
	*out = *open;
	return offset >= open->first && offset + bytes <= open->end ? 0 : WIRE_NACK_RIGHTS;
}

static int guard_hold(void *context, uint64_t offset, uint64_t bytes)
{
	struct nic_reach out;

	if (guard_reach(context, offset, bytes, &out) != 0)
		return DXP_EACCESS;
	gate.held++;
	gate.held_at = offset;
	return DXP_OK;
}

static void guard_drop(void *context, uint64_t offset)
{
	assert_true(gate.held > 0 && offset == gate.held_at);
	gate.held--;
}

static void guard_set(uint64_t first, uint64_t end)
{
	gate.open = (struct nic_reach){first, end};
	gate.epoch++;
}

/* Function 0 sends requests; function 1 has the guarded region. */
static void guarded_make(struct rig *r, bool holds)
{
	struct nic_options o = rig_options();
	const struct nic_guard guard = {.reach = guard_reach,
					.hold = holds ? guard_hold : NULL,
					.drop = guard_drop,
					.context = &gate,
					.epoch = &gate.epoch};

	gate = (struct gate){0};
	rig_make(r, &o, 2);
	rig_fill(r, 0, 3);
	rig_fill(r, 1, 90);
	assert_int_equal(nic_region_guard(r->nic, r->key[1], &guard), DXP_OK);
	assert_int_equal(nic_region_guard(r->nic, r->key[1] ^ 1u << 31, &guard), DXP_ENOENT);
}

static void ends(struct rig *r, uint32_t function, uint64_t context, int status)
{
	rig_run(r);
	rig_sent(r, function, context, status);
}

static int put(struct rig *r, uint64_t at, uint32_t bytes)
{
	const struct dxp_target to = rig_target(r, 1, 0);
	const struct dxp_entry from = rig_entry(r, 0, 0, bytes), there = rig_entry(r, 1, at, bytes);

	return dxp_post_put(r->window[0], 0, &to, &from, &there, 0, 0, 1);
}

static int get(struct rig *r, uint64_t at, uint32_t bytes)
{
	const struct dxp_target to = rig_target(r, 1, 0);
	const struct dxp_entry here = rig_entry(r, 0, 0, bytes), there = rig_entry(r, 1, at, bytes);

	return dxp_post_get(r->window[0], 0, &to, &there, &here, 1);
}

/* If any byte on either side is out of range, nothing moves. */
static void guard__put_get_and_atomics(void **state)
{
	static uint8_t before[RIG_BYTES];
	const uint64_t wrong[] = {4096 - 8, 8192 - 56, 0, 8192};
	struct rig r;

	guarded_make(&r, true);
	memcpy(before, r.memory[1], RIG_BYTES);
	guard_set(4096, 8192);
	const struct dxp_target to = rig_target(&r, 1, 0);
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		assert_int_equal(put(&r, wrong[i], 64), DXP_OK);
		ends(&r, 0, 1, DXP_EACCESS);
		assert_int_equal(get(&r, wrong[i], 64), DXP_OK);
		ends(&r, 0, 1, DXP_EACCESS);
		const struct dxp_entry at = rig_entry(&r, 1, wrong[i] < 4096 ? wrong[i] : 8192, 8);
		assert_int_equal(
			dxp_post_atomic(r.window[0], 0, &to, DXP_OP_FETCH_ADD, &at, 1, 0, 1),
			DXP_OK);
		ends(&r, 0, 1, DXP_EACCESS);
	}
	assert_memory_equal(before, r.memory[1], RIG_BYTES);
	assert_int_equal(nic_counters(r.nic)->rights_reject, 12);
	assert_int_equal(rig_counters(&r, 1).refused_rights, 12);
	assert_int_equal(put(&r, 4096, 4096), DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	assert_memory_equal(r.memory[0], r.memory[1] + 4096, 4096);
	assert_int_equal(get(&r, 8128, 64), DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	const struct dxp_entry at = rig_entry(&r, 1, 8184, 8);
	assert_int_equal(dxp_post_atomic(r.window[0], 0, &to, DXP_OP_FETCH_ADD, &at, 1, 0, 1),
			 DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	rig_end(&r);
}

static void guard__queried_once_for_a_stream(void **state)
{
	struct rig r;

	guarded_make(&r, true);
	guard_set(0, RIG_BYTES);
	for (uint64_t i = 0; i < 200; i++) {
		assert_int_equal(put(&r, i * 4096, 4096), DXP_OK);
		ends(&r, 0, 1, DXP_OK);
	}
	assert_int_equal(gate.requested, 1);
	guard_set(0, 8192); /* the next access to the removed part fails */
	assert_int_equal(put(&r, 8192, 64), DXP_OK);
	ends(&r, 0, 1, DXP_EACCESS);
	assert_int_equal(put(&r, 8128, 64), DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	rig_end(&r);
}

/* The guard may return other memory for a part of a region, and change its answer during an
 * access. */
static void guard__names_the_memory(void **state)
{
	static uint8_t other[RIG_BYTES];
	struct rig r;

	guarded_make(&r, true);
	guard_set(0, RIG_BYTES);
	gate.open.base = other;
	memset(other, 0xdd, RIG_BYTES);
	memset(r.memory[1], 0xee, RIG_BYTES);
	const struct dxp_target to = rig_target(&r, 1, 0);
	const struct dxp_entry at = rig_entry(&r, 1, 4096, 8);
	assert_int_equal(put(&r, 64, 64), DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	assert_memory_equal(other + 64, r.memory[0], 64);
	assert_int_equal(get(&r, 4096, 64), DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	assert_memory_equal(other + 4096, r.memory[0], 64);
	assert_int_equal(dxp_post_atomic(r.window[0], 0, &to, DXP_OP_FETCH_ADD, &at, 1, 0, 1),
			 DXP_OK);
	ends(&r, 0, 1, DXP_OK);
	assert_int_equal(other[4096], 0xde);
	for (size_t i = 0; i < RIG_BYTES; i++)
		assert_int_equal(r.memory[1][i], 0xee);
	rig_fill(&r, 0, 3);
	assert_int_equal(put(&r, 0, RIG_BYTES), DXP_OK);
	rig_poll(&r);
	assert_memory_equal(other, r.memory[0], 64);
	guard_set(0, RIG_BYTES);
	ends(&r, 0, 1, DXP_OK);
	assert_int_equal(other[RIG_BYTES - 1], 0xdd);
	assert_int_equal(r.memory[1][RIG_BYTES - 1], r.memory[0][RIG_BYTES - 1]);
	rig_end(&r);
}

/* A long access is copied in slices; what the guard withdraws between two slices is not written. */
static void guard__revoked_between_slices(void **state)
{
	struct rig r;
	int polls = 0;

	guarded_make(&r, true);
	guard_set(0, RIG_BYTES);
	memset(r.memory[1], 0xee, RIG_BYTES);
	assert_int_equal(put(&r, 0, RIG_BYTES), DXP_OK);
	rig_poll(&r);
	assert_int_not_equal(r.memory[1][0], 0xee);
	assert_int_equal(r.memory[1][RIG_BYTES - 1], 0xee);
	guard_set(0, 4096);
	while (nic_deadline(r.nic) == 0 && ++polls < 1000)
		rig_poll(&r);
	rig_sent(&r, 0, 1, DXP_EACCESS);
	assert_int_equal(r.memory[1][RIG_BYTES - 1], 0xee);
	rig_end(&r);
}

/* The guard also checks its owner's own PUTs and GETs. */
static void guard__own_descriptors(void **state)
{
	struct rig r;

	guarded_make(&r, true);
	guard_set(4096, 8192);
	const struct dxp_target to = rig_target(&r, 0, 0);
	struct dxp_entry own = rig_entry(&r, 1, 8000, 256), there = rig_entry(&r, 0, 0, 256);
	assert_int_equal(dxp_post_put(r.window[1], 0, &to, &own, &there, 0, 0, 1), DXP_OK);
	ends(&r, 1, 1, DXP_EACCESS);
	assert_int_equal(dxp_post_get(r.window[1], 0, &to, &there, &own, 2), DXP_OK);
	ends(&r, 1, 2, DXP_EACCESS);
	own.offset = 4096;
	assert_int_equal(dxp_post_put(r.window[1], 0, &to, &own, &there, 0, 0, 3), DXP_OK);
	ends(&r, 1, 3, DXP_OK);
	assert_memory_equal(r.memory[0], r.memory[1] + 4096, 256);
	assert_int_equal(gate.held, 0); /* the hold was dropped once */
	rig_end(&r);
}

/* The source of a PUT that waits for a receive entry is held until its function closes. */
static void guard__held_until_the_function_ends(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	guarded_make(&r, true);
	rig_end(&r);
	o.receive_entries = 1;
	rig_make(&r, &o, 2);
	const struct nic_guard guard = {.reach = guard_reach,
					.hold = guard_hold,
					.drop = guard_drop,
					.context = &gate,
					.epoch = &gate.epoch};
	assert_int_equal(nic_region_guard(r.nic, r.key[1], &guard), DXP_OK);
	guard_set(0, 4096);
	const struct dxp_target to = rig_target(&r, 0, 0);
	const struct dxp_entry own = rig_entry(&r, 1, 64, 64), there = rig_entry(&r, 0, 0, 64);
	for (uint64_t i = 0; i < 2; i++)
		assert_int_equal(
			dxp_post_put(r.window[1], 0, &to, &own, &there, DXP_FLAG_NOTIFY, 0, i),
			DXP_OK);
	for (int i = 0; i < 100; i++)
		rig_poll(&r);
	assert_int_equal(gate.held, 1);
	assert_int_equal(nic_user_close(r.nic, 1, DXP_ECLOSED, ++r.now_ns), DXP_OK);
	assert_int_equal(gate.held, 0);
	rig_end(&r);
}

static bool permits_node_7(void *context, uint16_t node)
{
	gate.queried++;
	return node == 7;
}

/* For a node that the guard does not permit, the key counts as wrong. For a permitted node, the
 * guard is queried once. */
static void guard__permits_one_node(void **state)
{
	struct nic_options o = rig_options();
	const struct nic_guard guard = {.reach = guard_reach,
					.permits = permits_node_7,
					.drop = guard_drop,
					.context = &gate,
					.epoch = &gate.epoch};
	struct rig r;

	gate = (struct gate){0};
	rig_make(&r, &o, 3);
	nic_user_cfg_node(r.nic, 1, 7);
	nic_user_cfg_node(r.nic, 2, 8);
	assert_int_equal(nic_region_guard(r.nic, r.key[0], &guard), DXP_OK);
	guard_set(0, RIG_BYTES);
	const struct dxp_target to = rig_target(&r, 0, 0);
	const struct dxp_entry there = rig_entry(&r, 0, 0, 64);
	for (uint32_t user = 1; user <= 2; user++) {
		const struct dxp_entry own = rig_entry(&r, user, 0, 64);
		for (uint64_t i = 0; i < 3; i++) {
			assert_int_equal(
				dxp_post_put(r.window[user], 0, &to, &own, &there, 0, 0, i),
				DXP_OK);
			rig_run(&r);
			rig_sent(&r, user, i, user == 1 ? DXP_OK : DXP_EACCESS);
		}
		if (user == 1)
			assert_int_equal(gate.queried, 1);
	}
	assert_true(gate.queried > 1);
	assert_int_equal(rig_counters(&r, 0).refused_key, 3);
	rig_end(&r);
}

static void guard__without_hold_no_own_descriptors(void **state)
{
	struct rig r;

	guarded_make(&r, false);
	guard_set(0, RIG_BYTES);
	const struct dxp_target to = rig_target(&r, 0, 0);
	const struct dxp_entry own = rig_entry(&r, 1, 0, 64), there = rig_entry(&r, 0, 0, 64);
	assert_int_equal(dxp_post_put(r.window[1], 0, &to, &own, &there, 0, 0, 1), DXP_OK);
	ends(&r, 1, 1, DXP_EACCESS);
	rig_end(&r);
}

/* The owner of a guard may no longer exist after its key is revoked. */
static void guard__not_queried_once_revoked(void **state)
{
	struct rig r;

	guarded_make(&r, true);
	guard_set(0, RIG_BYTES);
	assert_int_equal(put(&r, 0, RIG_BYTES), DXP_OK);
	rig_poll(&r);
	uint32_t requested = gate.requested;
	assert_int_equal(nic_region_revoke(r.nic, r.key[1]), DXP_OK);
	gate.epoch++;
	ends(&r, 0, 1, DXP_EACCESS);
	assert_int_equal(gate.requested, requested);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard__put_get_and_atomics),
		cmocka_unit_test(guard__queried_once_for_a_stream),
		cmocka_unit_test(guard__names_the_memory),
		cmocka_unit_test(guard__revoked_between_slices),
		cmocka_unit_test(guard__own_descriptors),
		cmocka_unit_test(guard__held_until_the_function_ends),
		cmocka_unit_test(guard__permits_one_node),
		cmocka_unit_test(guard__without_hold_no_own_descriptors),
		cmocka_unit_test(guard__not_queried_once_revoked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
