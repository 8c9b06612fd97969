/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests descriptors whose own memory is staged (P-01), between functions of one NIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/staged_rig.h"

static const uint32_t lengths[] = {
	1, 63, 4097, BUFFER + 1, 100001, NIC_BOUNCE_BYTES, NIC_BOUNCE_BYTES + 1, BYTES - 7};

/* The owner PUTs from offset 7 of the device to offset 0 of function 0's memory. */
static void own_put(struct scene *s, uint32_t bytes, uint8_t flags, uint64_t context)
{
	struct dxp_target t = rig_target(&s->rig, 0, 0);
	struct dxp_entry from = staged_entry(s, 7, bytes);
	struct dxp_entry to = rig_entry(&s->rig, 0, 0, bytes);

	assert_int_equal(
		dxp_post_put(s->rig.window[OWNER], 0, &t, &from, &to, flags, context, context),
		DXP_OK);
}

/* The owner GETs from offset 7 of function 0's memory to offset 7 of the device. */
static void own_get(struct scene *s, uint32_t bytes, uint64_t context)
{
	struct dxp_target t = rig_target(&s->rig, 0, 0);
	struct dxp_entry from = rig_entry(&s->rig, 0, 7, bytes);
	struct dxp_entry to = staged_entry(s, 7, bytes);

	assert_int_equal(dxp_post_get(s->rig.window[OWNER], 0, &t, &from, &to, context), DXP_OK);
}

static void idle(const struct scene *s)
{
	assert_int_equal(s->device.writes + s->device.reads + s->device.buffers, 0);
	assert_int_equal(s->rig.nic->users[OWNER].bounces, 0);
	assert_int_equal(s->rig.nic->users[OWNER].chain_entries, 0);
}

static void staged_own__put(void **state)
{
	struct scene s;

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		scene_make(&s, &slow, 2);
		own_put(&s, lengths[i], 0, i);
		scene_run(&s, 10 * MS_NS);
		rig_sent(&s.rig, OWNER, i, DXP_OK);
		assert_memory_equal(s.rig.memory[0], s.device.memory + 7, lengths[i]);
		assert_true(s.rig.window[0]->total_bytes == lengths[i]);
		idle(&s);
		scene_end(&s);
	}
}

/* Completes only when its bytes are in the device, and they do not count as bytes of a PUT. */
static void staged_own__get(void **state)
{
	struct dxp_nic_event none;
	struct scene s;

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		scene_make(&s, &slow, 2);
		own_get(&s, lengths[i], i);
		scene_run(&s, 40 * US_NS);
		assert_false(dxp_sent_dequeue(s.rig.window[OWNER], &none));
		scene_run(&s, 10 * MS_NS);
		rig_sent(&s.rig, OWNER, i, DXP_OK);
		assert_memory_equal(s.device.memory + 7, s.rig.memory[0] + 7, lengths[i]);
		assert_true(s.rig.window[OWNER]->total_bytes == 0);
		idle(&s);
		scene_end(&s);
	}
}

/* Ranges in the device and in host memory. */
static void staged_own__lists(void **state)
{
	struct scene s;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, 0, 0);
	struct dxp_entry own[3] = {staged_entry(&s, 100, 5000), rig_entry(&s.rig, OWNER, 0, 300001),
				   staged_entry(&s, 9000, 24999)};
	struct dxp_entry other[2] = {rig_entry(&s.rig, 0, 0, 4999),
				     rig_entry(&s.rig, 0, 4999, 325001)};
	const struct nic_lists lists = {own, other, 3, 2};
	rig_fill(&s.rig, OWNER, 9);
	assert_int_equal(nic_user_put(s.rig.window[OWNER], 0, &t, &lists, 1), DXP_OK);
	scene_run(&s, 10 * MS_NS);
	rig_sent(&s.rig, OWNER, 1, DXP_OK);
	assert_memory_equal(s.rig.memory[0], s.device.memory + 100, 5000);
	assert_memory_equal(s.rig.memory[0] + 5000, s.rig.memory[OWNER], 300001);
	assert_memory_equal(s.rig.memory[0] + 305001, s.device.memory + 9000, 24999);
	rig_fill(&s.rig, 0, 77);
	assert_int_equal(nic_user_get(s.rig.window[OWNER], 0, &t, &lists, 2), DXP_OK);
	scene_run(&s, 10 * MS_NS);
	rig_sent(&s.rig, OWNER, 2, DXP_OK);
	assert_memory_equal(s.device.memory + 100, s.rig.memory[0], 5000);
	assert_memory_equal(s.rig.memory[OWNER], s.rig.memory[0] + 5000, 300001);
	assert_memory_equal(s.device.memory + 9000, s.rig.memory[0] + 305001, 24999);
	idle(&s);
	scene_end(&s);
}

static void staged_own__device_to_device(void **state)
{
	const uint32_t bytes = BYTES / 2 - 3;
	struct scene s;

	scene_make(&s, &slow, 2);
	struct dxp_target self = rig_target(&s.rig, OWNER, 1);
	struct dxp_entry low = staged_entry(&s, 1, bytes),
			 high = staged_entry(&s, BYTES / 2, bytes);
	assert_int_equal(dxp_post_put(s.rig.window[OWNER], 0, &self, &low, &high, 0, 0, 1), DXP_OK);
	scene_run(&s, 20 * MS_NS);
	rig_sent(&s.rig, OWNER, 1, DXP_OK);
	assert_memory_equal(s.device.memory + BYTES / 2, s.device.memory + 1, bytes);
	memset(s.device.memory + 1, 5, bytes);
	assert_int_equal(dxp_post_get(s.rig.window[OWNER], 0, &self, &low, &high, 2), DXP_OK);
	scene_run(&s, 20 * MS_NS);
	rig_sent(&s.rig, OWNER, 2, DXP_OK);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(s.device.memory[BYTES / 2 + i], 5);
	idle(&s);
	scene_end(&s);
}

/* Requests behind the PUT wait. */
static void staged_own__events_after_the_data(void **state)
{
	struct scene s;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, 0, 0);
	own_put(&s, 300000, DXP_FLAG_NOTIFY, 1);
	assert_int_equal(dxp_post_nap(s.rig.window[OWNER], 0, &t, "x", 1, 0, 2), DXP_OK);
	scene_run(&s, 40 * US_NS);
	assert_int_equal(rig_received(&s.rig, 0), 0);
	scene_run(&s, 10 * MS_NS);
	assert_int_equal(rig_received(&s.rig, 0), 2);
	assert_memory_equal(s.rig.memory[0], s.device.memory + 7, 300000);
	rig_sent(&s.rig, OWNER, 1, DXP_OK);
	rig_sent(&s.rig, OWNER, 2, DXP_OK);
	scene_end(&s);
}

/* More requests than the NIC has memory for. */
static void staged_own__many(void **state)
{
	struct dxp_nic_event e;
	struct scene s;
	uint32_t ended = 0;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, 0, 0);
	for (uint64_t i = 0; i < 32; i++) {
		struct dxp_entry own = staged_entry(&s, i * 4096, 4096);
		struct dxp_entry other = rig_entry(&s.rig, 0, i * 4096, 4096);
		struct dxp_window *w = s.rig.window[OWNER];
		assert_int_equal(i % 8 < 4 ? dxp_post_put(w, i % 4, &t, &own, &other, 0, 0, i)
					   : dxp_post_get(w, i % 4, &t, &other, &own, i),
				 DXP_OK);
	}
	scene_run(&s, 20 * MS_NS);
	for (; dxp_sent_dequeue(s.rig.window[OWNER], &e); ended++)
		assert_int_equal(e.status, DXP_OK);
	assert_int_equal(ended, 32);
	assert_memory_equal(s.rig.memory[0], s.device.memory, 32 * 4096);
	idle(&s);
	scene_end(&s);
}

/* The request of a failed DMA completes once with DXP_EDEVICE; later ones succeed. */
static void staged_own__each_dma_fails(void **state)
{
	struct staged_options o = slow;
	struct dxp_nic_event e = {0};
	struct scene s;

	for (uint32_t n = 1; n <= 12; n++) {
		uint32_t failed = 0;
		o.fail_nth = n;
		scene_make(&s, &o, 2);
		own_put(&s, 4 * BUFFER, 0, 1);
		own_get(&s, 5 * BUFFER, 2);
		own_put(&s, 10, DXP_FLAG_NOTIFY, 3);
		scene_run(&s, 20 * MS_NS);
		for (uint64_t i = 1; i <= 3; i++) {
			assert_true(dxp_sent_dequeue(s.rig.window[OWNER], &e));
			assert_int_equal(e.context, i);
			assert_true(e.status == DXP_OK || e.status == DXP_EDEVICE);
			failed += e.status != DXP_OK;
		}
		assert_int_equal(failed, n <= s.device.dmas ? 1 : 0);
		idle(&s);
		scene_end(&s);
	}
}

static void staged_own__functions_close(void **state)
{
	struct scene s;

	for (uint32_t function = 0; function < 2; function++) {
		for (uint64_t at_ns = 0; at_ns < 900 * US_NS; at_ns += 7 * US_NS) {
			scene_make(&s, &slow, 2);
			own_put(&s, 5 * BUFFER, 0, 1);
			own_get(&s, 3 * BUFFER, 2);
			own_put(&s, 100, 0, 3);
			scene_run(&s, at_ns);
			assert_int_equal(
				nic_user_close(s.rig.nic, function, DXP_ECLOSED, s.rig.now_ns),
				DXP_OK);
			scene_run(&s, 4 * MS_NS);
			assert_true(nic_user_idle(s.rig.nic, function));
			idle(&s);
			for (uint64_t i = 1; function == 0 && i <= 3; i++) {
				struct dxp_nic_event e = {0};
				assert_true(dxp_sent_dequeue(s.rig.window[OWNER], &e));
				assert_int_equal(e.context, i);
			}
			scene_end(&s);
		}
	}
}

static void staged_own__wrong_ones_move_no_byte(void **state)
{
	struct scene s;

	scene_make(&s, &slow, 2);
	struct dxp_target t = rig_target(&s.rig, 0, 0);
	struct dxp_window *w = s.rig.window[OWNER];
	struct dxp_entry at = staged_entry(&s, 0, 8), beyond = staged_entry(&s, BYTES - 4, 8);
	struct dxp_entry none = staged_entry(&s, 0, 0), unknown = staged_entry(&s, 0, 8);
	struct dxp_entry other = rig_entry(&s.rig, 0, 0, 8);
	struct dxp_entry far = rig_entry(&s.rig, 0, RIG_BYTES, 8);
	unknown.key ^= 1u << 20;
	assert_int_equal(dxp_post_put(w, 0, &t, &beyond, &other, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_put(w, 0, &t, &none, &other, 0, 0, 2), DXP_OK);
	assert_int_equal(dxp_post_get(w, 0, &t, &other, &beyond, 3), DXP_OK);
	assert_int_equal(dxp_post_put(w, 0, &t, &at, &far, 0, 0, 4), DXP_OK);
	assert_int_equal(dxp_post_put(w, 0, &t, &unknown, &other, 0, 0, 5), DXP_OK);
	/* not its own memory */
	struct dxp_target self = rig_target(&s.rig, OWNER, 0);
	assert_int_equal(dxp_post_put(s.rig.window[0], 0, &self, &at, &at, 0, 0, 6), DXP_OK);
	scene_run(&s, 10 * MS_NS);
	rig_sent(&s.rig, OWNER, 1, DXP_ERANGE);
	rig_sent(&s.rig, OWNER, 2, DXP_ERANGE);
	rig_sent(&s.rig, OWNER, 3, DXP_ERANGE);
	rig_sent(&s.rig, OWNER, 4, DXP_ERANGE);
	rig_sent(&s.rig, OWNER, 5, DXP_EACCESS);
	rig_sent(&s.rig, 0, 6, DXP_EACCESS);
	assert_int_equal(s.device.dmas, 0);
	idle(&s);
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_own__put),
		cmocka_unit_test(staged_own__get),
		cmocka_unit_test(staged_own__lists),
		cmocka_unit_test(staged_own__device_to_device),
		cmocka_unit_test(staged_own__events_after_the_data),
		cmocka_unit_test(staged_own__many),
		cmocka_unit_test(staged_own__each_dma_fails),
		cmocka_unit_test(staged_own__functions_close),
		cmocka_unit_test(staged_own__wrong_ones_move_no_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
