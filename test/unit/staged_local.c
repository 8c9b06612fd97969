/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory that a NIC cannot address, in use by its functions, and rejected requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/staged_rig.h"

/* PUTs from offset `to` of function 0's memory to the same offset of the device. */
static void put(struct scene *s, uint64_t to, uint32_t bytes, uint8_t flags, uint64_t context)
{
	struct dxp_target t = rig_target(&s->rig, OWNER, 0);
	struct dxp_entry from = rig_entry(&s->rig, 0, to, bytes);
	struct dxp_entry at = staged_entry(s, to, bytes);

	assert_int_equal(dxp_post_put(s->rig.window[0], 0, &t, &from, &at, flags, context, context),
			 DXP_OK);
}

static void get(struct scene *s, uint64_t from, uint32_t bytes, uint64_t context)
{
	struct dxp_target t = rig_target(&s->rig, OWNER, 0);
	struct dxp_entry at = staged_entry(s, from, bytes);
	struct dxp_entry to = rig_entry(&s->rig, 0, RIG_BYTES / 2, bytes);

	assert_int_equal(dxp_post_get(s->rig.window[0], 0, &t, &at, &to, context), DXP_OK);
}

static bool in_device(const struct scene *s, uint64_t at, uint32_t bytes)
{
	return memcmp(s->device.memory + at, s->rig.memory[0] + at, bytes) == 0;
}

static void staged_local__put_ends_in_the_device(void **state)
{
	const uint32_t lengths[] = {1, 63, 4096, 4097, BUFFER, BUFFER + 1, 100001, BYTES - 7};
	struct dxp_nic_event none;
	struct scene s;

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		scene_make(&s, &slow, 2);
		put(&s, 7, lengths[i], 0, i);
		scene_run(&s, 10 * US_NS);
		assert_false(dxp_sent_dequeue(s.rig.window[0], &none));
		scene_run(&s, 10 * MS_NS);
		rig_sent(&s.rig, 0, i, DXP_OK);
		assert_true(in_device(&s, 7, lengths[i]));
		assert_true(s.rig.window[OWNER]->total_bytes == lengths[i]);
		assert_int_equal(s.device.buffers, 0);
		scene_end(&s);
	}
}

static void staged_local__get_fetches(void **state)
{
	const uint32_t lengths[] = {1, 63, 4096, BUFFER, BUFFER + 1, 100001, BYTES - 7};
	struct scene s;

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		scene_make(&s, &slow, 2);
		get(&s, 7, lengths[i], i);
		scene_run(&s, 10 * MS_NS);
		rig_sent(&s.rig, 0, i, DXP_OK);
		assert_memory_equal(s.rig.memory[0] + RIG_BYTES / 2, s.device.memory + 7,
				    lengths[i]);
		scene_end(&s);
	}
}

/* Lists have several ranges on both sides, in staged and in direct memory. */
static void staged_local__lists(void **state)
{
	struct scene s;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, OWNER, 0);
	struct dxp_entry own[3] = {rig_entry(&s.rig, 0, 0, 5000), rig_entry(&s.rig, 0, 5000, 1),
				   rig_entry(&s.rig, 0, 5001, 24999)};
	struct dxp_entry other[3] = {staged_entry(&s, 0, 12000), staged_entry(&s, 12000, 8000),
				     rig_entry(&s.rig, OWNER, 0, 10000)};
	const struct nic_lists lists = {own, other, 3, 3};
	assert_int_equal(nic_user_put(s.rig.window[0], 0, &t, &lists, 1), DXP_OK);
	scene_run(&s, 10 * MS_NS);
	rig_sent(&s.rig, 0, 1, DXP_OK);
	assert_true(in_device(&s, 0, 20000));
	assert_memory_equal(s.rig.memory[OWNER], s.rig.memory[0] + 20000, 10000);
	memset(s.rig.memory[0], 0, 30000);
	assert_int_equal(nic_user_get(s.rig.window[0], 0, &t, &lists, 2), DXP_OK);
	scene_run(&s, 10 * MS_NS);
	rig_sent(&s.rig, 0, 2, DXP_OK);
	assert_true(in_device(&s, 0, 20000));
	assert_memory_equal(s.rig.memory[OWNER], s.rig.memory[0] + 20000, 10000);
	scene_end(&s);
}

/* Two PUTs are in the device at the same time. Later requests wait until both have completed. */
static void staged_local__events_after_the_data(void **state)
{
	struct staged_options o = slow;
	struct scene s;

	o.latency_ns = MS_NS;
	scene_make(&s, &o, 2);
	struct dxp_target t = rig_target(&s.rig, OWNER, 0);
	put(&s, 0, 100, 0, 1);
	put(&s, 1000, 100, 0, 2);
	assert_int_equal(dxp_post_nap(s.rig.window[0], 0, &t, "x", 1, 0, 3), DXP_OK);
	put(&s, 2000, 100, DXP_FLAG_NOTIFY, 4);
	get(&s, 0, 2100, 5);
	scene_run(&s, MS_NS / 2);
	assert_int_equal(s.device.writes, 2);
	assert_int_equal(rig_received(&s.rig, OWNER), 0);
	scene_run(&s, MS_NS);
	assert_true(in_device(&s, 0, 100) && in_device(&s, 1000, 100));
	assert_int_equal(rig_received(&s.rig, OWNER), 1);
	scene_run(&s, 10 * MS_NS);
	assert_int_equal(rig_received(&s.rig, OWNER), 1);
	for (uint64_t i = 1; i <= 5; i++)
		rig_sent(&s.rig, 0, i, DXP_OK);
	assert_memory_equal(s.rig.memory[0] + RIG_BYTES / 2 + 2000, s.rig.memory[0] + 2000, 100);
	scene_end(&s);
}

/* The request of a failed DMA completes once with DXP_EDEVICE; later ones succeed. */
static void staged_local__each_dma_fails(void **state)
{
	struct staged_options o = slow;
	struct dxp_nic_event e = {0};
	struct scene s;

	for (uint32_t n = 1; n <= 14; n++) {
		uint32_t failed = 0;
		o.fail_nth = n;
		scene_make(&s, &o, 2);
		put(&s, 0, 5 * BUFFER, 0, 1);
		put(&s, 6 * BUFFER, 10, DXP_FLAG_NOTIFY, 2);
		get(&s, 0, 5 * BUFFER, 3);
		put(&s, 7 * BUFFER, 10, 0, 4);
		scene_run(&s, 20 * MS_NS);
		for (uint64_t i = 1; i <= 4; i++) {
			assert_true(dxp_sent_dequeue(s.rig.window[0], &e));
			assert_int_equal(e.context, i);
			assert_true(e.status == DXP_OK || e.status == DXP_EDEVICE);
			failed += e.status != DXP_OK;
		}
		assert_int_equal(failed, n <= s.device.dmas ? 1 : 0);
		assert_int_equal(s.device.writes + s.device.reads + s.device.buffers, 0);
		scene_end(&s);
	}
}

static void staged_local__functions_close(void **state)
{
	struct scene s;

	for (uint32_t function = 0; function < 2; function++) {
		for (uint64_t at_ns = 0; at_ns < 400 * US_NS; at_ns += 7 * US_NS) {
			scene_make(&s, &slow, 2);
			put(&s, 0, 5 * BUFFER, 0, 1);
			put(&s, 6 * BUFFER, 100, 0, 2);
			get(&s, 0, 3 * BUFFER, 3);
			scene_run(&s, at_ns);
			assert_int_equal(
				nic_user_close(s.rig.nic, function, DXP_ECLOSED, s.rig.now_ns),
				DXP_OK);
			assert_true(nic_user_idle(s.rig.nic, function));
			scene_run(&s, 2 * MS_NS);
			assert_int_equal(s.device.writes + s.device.reads + s.device.buffers, 0);
			for (uint64_t i = 1; function == OWNER && i <= 3; i++) {
				struct dxp_nic_event e = {0};
				assert_true(dxp_sent_dequeue(s.rig.window[0], &e));
				assert_int_equal(e.context, i);
			}
			scene_end(&s);
		}
	}
}

/* Staged memory accepts only PUT and GET, even from its owner. */
static void staged_local__what_is_rejected(void **state)
{
	struct scene s;
	uint32_t key;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, OWNER, 0);
	struct dxp_entry at = staged_entry(&s, 0, 8), beyond = staged_entry(&s, BYTES - 4, 8);
	struct dxp_entry own = rig_entry(&s.rig, 0, 0, 8);
	struct dxp_window *w = s.rig.window[0], *owner = s.rig.window[OWNER];
	assert_int_equal(dxp_post_atomic(w, 0, &t, DXP_OP_FETCH_ADD, &at, 1, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(w, 0, &t, &own, &beyond, 0, 0, 2), DXP_OK);
	assert_int_equal(dxp_post_get(w, 0, &t, &beyond, &own, 3), DXP_OK);
	struct dxp_descriptor nap = dxp_head(DXP_OP_NAP, 0, &t, 4);
	nap.src_count = 1;
	assert_int_equal(dxp_post_lists(owner, &nap, &at, NULL, NULL), DXP_OK);
	struct dxp_descriptor add = dxp_head(DXP_OP_FETCH_ADD, 0, &t, 5);
	add.src_count = add.dst_count = 1;
	assert_int_equal(dxp_post_lists(owner, &add, &at, &own, NULL), DXP_OK);
	scene_run(&s, MS_NS);
	rig_sent(&s.rig, 0, 1, DXP_EUNSUPPORTED);
	rig_sent(&s.rig, 0, 2, DXP_ERANGE);
	rig_sent(&s.rig, 0, 3, DXP_ERANGE);
	rig_sent(&s.rig, OWNER, 4, DXP_EUNSUPPORTED);
	rig_sent(&s.rig, OWNER, 5, DXP_EUNSUPPORTED);
	assert_int_equal(nic_region_register_staged(s.rig.nic, OWNER, NULL, NULL, 64, 0, &key),
			 DXP_EINVAL);
	assert_int_equal(nic_region_register_staged(s.rig.nic, OWNER, &staged_device_ops, &s.device,
						    0, 0, &key),
			 DXP_EINVAL);
	scene_end(&s);
}

static void staged_local__a_region_in_use_stays(void **state)
{
	struct scene s;

	scene_make(&s, &slow, 2);
	put(&s, 0, 100, 0, 1);
	rig_poll(&s.rig);
	assert_int_equal(nic_region_deregister(s.rig.nic, s.key), DXP_EBUSY);
	assert_int_equal(nic_region_revoke(s.rig.nic, s.key), DXP_OK);
	assert_true(nic_region_busy(s.rig.nic, s.key));
	scene_run(&s, MS_NS);
	/* it started before the revocation */
	rig_sent(&s.rig, 0, 1, DXP_OK);
	assert_false(nic_region_busy(s.rig.nic, s.key));
	put(&s, 0, 100, 0, 2);
	scene_run(&s, MS_NS);
	rig_sent(&s.rig, 0, 2, DXP_EACCESS);
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_local__put_ends_in_the_device),
		cmocka_unit_test(staged_local__get_fetches),
		cmocka_unit_test(staged_local__lists),
		cmocka_unit_test(staged_local__events_after_the_data),
		cmocka_unit_test(staged_local__each_dma_fails),
		cmocka_unit_test(staged_local__functions_close),
		cmocka_unit_test(staged_local__what_is_rejected),
		cmocka_unit_test(staged_local__a_region_in_use_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
