/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests requests inside one NIC that run at once, not stored: same effects, rejections and shares
 * as stored ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

static int put(struct rig *r, uint8_t qp, const struct dxp_entry *own,
	       const struct dxp_entry *other, uint8_t flags, uint64_t context)
{
	const struct dxp_target to = rig_target(r, 1, 1);

	return dxp_post_put(r->window[0], qp, &to, own, other, flags, 7, context);
}

static void memory_fill(struct rig *r)
{
	for (uint32_t i = 0; i < RIG_BYTES; i++)
		r->memory[0][i] = (uint8_t)(1 + i % 255);
}

static void local_now__put(void **state)
{
	const uint32_t sizes[] = {1, 8, 63, 64, 4096, 65536};
	struct nic_options o = rig_options();
	uint64_t bytes = 0;
	struct rig r;

	rig_make(&r, &o, 2);
	memory_fill(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		const struct dxp_entry own = rig_entry(&r, 0, 3, sizes[i]),
				       other = rig_entry(&r, 1, RIG_BYTES - sizes[i], sizes[i]);
		memset(r.memory[1], 0, RIG_BYTES);
		assert_int_equal(put(&r, 2, &own, &other, 0, i), DXP_OK);
		assert_int_equal(rig_poll(&r), 1);
		struct dxp_nic_event e = rig_sent(&r, 0, i, DXP_OK);
		assert_int_equal(e.bytes, sizes[i]);
		assert_int_equal(e.qp, 2);
		assert_int_equal(e.peer_qp, 1 << 8 | 1);
		assert_int_equal(e.imm, 0);
		assert_memory_equal(r.memory[1] + RIG_BYTES - sizes[i], r.memory[0] + 3, sizes[i]);
		assert_int_equal(r.memory[1][RIG_BYTES - sizes[i] - 1], 0);
		assert_null(dxp_received_peek(r.window[1]));
		bytes += sizes[i];
		assert_int_equal(r.window[1]->total_bytes, bytes);
		assert_int_equal(rig_counters(&r, 0).sent_bytes, bytes);
		assert_int_equal(rig_counters(&r, 0).sent_messages, i + 1);
		assert_int_equal(rig_counters(&r, 1).received_bytes, bytes);
		assert_int_equal(rig_counters(&r, 1).received_messages, i + 1);
		assert_int_equal(nic_counters(r.nic)->puts_sent, i + 1);
	}
	rig_end(&r);
}

static void local_now__put_with_event(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_entry own = rig_entry(&r, 0, 0, 8), other = rig_entry(&r, 1, 0, 8);
	assert_int_equal(put(&r, 0, &own, &other, DXP_FLAG_NOTIFY, 0), DXP_OK);
	rig_run(&r);
	assert_int_equal(dxp_received_peek(r.window[1])->type, DXP_EVENT_PUT);
	assert_int_equal(dxp_received_peek(r.window[1])->imm, 7);
	rig_sent(&r, 0, 0, DXP_OK);
	rig_end(&r);
}

static void refused(struct rig *r, const struct dxp_entry *own, const struct dxp_entry *other,
		    uint8_t flags, int status)
{
	assert_int_equal(put(r, 0, own, other, flags, 5), DXP_OK);
	rig_run(r);
	rig_sent(r, 0, 5, status);
	for (uint32_t i = 0; i < RIG_BYTES; i++)
		assert_int_equal(r->memory[1][i], 0);
}

static void local_now__put_rejected(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;
	uint32_t key;

	rig_make(&r, &o, 2);
	memory_fill(&r);
	assert_int_equal(nic_region_register(r.nic, 1, r.memory[1], 64,
					     NIC_REMOTE_READ | NIC_REMOTE_ATOMIC, &key),
			 DXP_OK);
	const struct dxp_entry own = rig_entry(&r, 0, 0, 8), other = rig_entry(&r, 1, 0, 8);
	const struct dxp_entry read_only = {0, 8, key}, late = rig_entry(&r, 0, RIG_BYTES - 7, 8),
			       wraps = rig_entry(&r, 0, UINT64_MAX - 3, 8),
			       far = rig_entry(&r, 1, RIG_BYTES - 7, 8),
			       nothing = rig_entry(&r, 0, 0, 0), none = rig_entry(&r, 1, 0, 0),
			       longer = rig_entry(&r, 1, 0, 9);
	refused(&r, &own, &read_only, 0, DXP_EACCESS);
	refused(&r, &other, &other, 0, DXP_EACCESS);
	refused(&r, &own, &own, 0, DXP_EACCESS);
	refused(&r, &late, &other, 0, DXP_ERANGE);
	refused(&r, &wraps, &other, 0, DXP_ERANGE);
	refused(&r, &own, &far, 0, DXP_ERANGE);
	refused(&r, &nothing, &none, 0, DXP_ERANGE);
	refused(&r, &own, &longer, 0, DXP_EINVAL);
	refused(&r, &own, &other, DXP_FLAG_INLINE, DXP_EINVAL);
	assert_int_equal(nic_region_revoke(r.nic, r.key[1]), DXP_OK);
	refused(&r, &own, &other, 0, DXP_EACCESS);
	rig_end(&r);
}

/* PUTs at once could use nearly all bytes of each poll; the long PUT still needs at most four times
 * its polls alone. */
static void local_now__busy_queue_pairs_keep_their_order(void **state)
{
	const uint32_t piece = NIC_QUANTUM_BYTES - 4096;
	struct nic_options o = rig_options();
	struct dxp_nic_event e = {0};
	uint32_t polls = 0;
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_entry own = rig_entry(&r, 0, 0, RIG_BYTES),
			       other = rig_entry(&r, 1, 0, RIG_BYTES),
			       part = rig_entry(&r, 0, 0, piece),
			       there = rig_entry(&r, 1, 0, piece);
	assert_int_equal(put(&r, 0, &own, &other, 0, 1), DXP_OK);
	rig_poll(&r);
	while (e.context != 1) {
		if (r.nic->functions[0].queues[1].outstanding == 0)
			put(&r, 1, &part, &there, 0, 2);
		rig_poll(&r);
		while (e.context != 1 && dxp_sent_dequeue(r.window[0], &e))
			assert_int_equal(e.status, DXP_OK);
		assert_true(++polls < 4 * RIG_BYTES / NIC_QUANTUM_BYTES);
	}
	rig_end(&r);
}

/* During a burst the consumer index is reread only when needed, but no unread completion is
 * overwritten. */
static void local_now__rows_end_at_a_full_ring(void **state)
{
	struct nic_options o = rig_options();
	struct dxp_nic_event e;
	uint32_t posted = 0, dequeued = 0;
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_entry own = rig_entry(&r, 0, 0, 8), other = rig_entry(&r, 1, 0, 8);
	for (int round = 0; round < 3; round++) {
		for (uint32_t poll = 0; poll < 2 * NIC_EVENTS / NIC_DOORBELLS; poll++) {
			while (put(&r, 0, &own, &other, 0, posted) == DXP_OK)
				posted++;
			rig_poll(&r);
		}
		assert_int_equal(posted - dequeued, NIC_EVENTS + NIC_DOORBELLS);
		for (uint32_t i = 0; i < NIC_EVENTS; i++)
			rig_sent(&r, 0, dequeued++, DXP_OK);
		assert_false(dxp_sent_dequeue(r.window[0], &e));
	}
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_now__put),
		cmocka_unit_test(local_now__put_with_event),
		cmocka_unit_test(local_now__put_rejected),
		cmocka_unit_test(local_now__busy_queue_pairs_keep_their_order),
		cmocka_unit_test(local_now__rows_end_at_a_full_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
