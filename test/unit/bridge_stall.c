/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the time limits of DMA and network steps, and their pause while a peer is silent. */
#include "test/unit/bridge_rig.h"

static void bridge_expire__fails_and_waits(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_IN, BUFFER_BYTES);
	uint32_t to, from;

	assert_true(bridge_deadline(b) == UINT64_MAX);
	done(next(BRIDGE_FILL), DXP_OK);
	struct bridge_action dma = next(BRIDGE_DMA_IN);
	assert_int_equal(bridge_deadline(b), now_ns + MS_NS);
	assert_false(bridge_expire(b, now_ns + MS_NS - 1));
	now_ns += MS_NS;
	assert_true(bridge_expire(b, now_ns));
	assert_false(bridge_expire(b, now_ns)); /* only once */
	assert_true(bridge_deadline(b) == UINT64_MAX);
	assert_int_equal(bridge_settled(t), DXP_ETIMEDOUT);
	bridge_buffers_used(b, &to, &from);
	assert_int_equal(to, 1); /* the stalled DMA may still read this buffer */
	none_ended();
	done(dma, DXP_EDEVICE);
	struct bridge_end end = ended(t);
	assert_int_equal(end.status, DXP_ETIMEDOUT);
	assert_int_equal(end.step, BRIDGE_DMA_IN);
	assert_int_equal(bridge_counters(b)->stalls, 1);

	t = begin(BRIDGE_IN, BUFFER_BYTES);
	struct bridge_action fill = next(BRIDGE_FILL);
	now_ns += MS_NS;
	assert_false(bridge_expire(b, now_ns)); /* their limit is twice the stall time */
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	now_ns += MS_NS;
	assert_false(bridge_expire(b, now_ns)); /* no DMA stalled, so no reset is needed */
	done(fill, DXP_OK);
	assert_int_equal(ended(t).status, DXP_ETIMEDOUT);
}

/* A stalled network step is reported after each stall time until its buffer returns; a DMA is
 * not. */
static void bridge_stuck__reports_the_network_only(void **state)
{
	int contexts[2];
	const struct bridge_order in = {.path = BRIDGE_IN, .bytes = 100, .context = &contexts[0]};
	const struct bridge_order out = {.path = BRIDGE_OUT, .bytes = 100, .context = &contexts[1]};
	struct bridge_transfer *pulled = begin_order(in), *pushed = begin_order(out);
	struct bridge_action dma = next(BRIDGE_DMA_OUT), fill = next(BRIDGE_FILL);
	void *context = NULL;

	now_ns += MS_NS;
	assert_true(bridge_expire(b, now_ns));
	assert_false(bridge_stuck(b, &context));
	assert_int_equal(bridge_settled(pushed), DXP_ETIMEDOUT);
	assert_int_equal(bridge_settled(pulled), DXP_EAGAIN);
	for (int i = 0; i < 3; i++) {
		now_ns += MS_NS;
		assert_true(bridge_deadline(b) == now_ns);
		assert_false(bridge_expire(b, now_ns));
		assert_true(bridge_stuck(b, &context));
		assert_ptr_equal(context, &contexts[0]);
		assert_int_equal(bridge_settled(pulled), DXP_ETIMEDOUT);
		assert_false(bridge_stuck(b, &context));
	}
	assert_int_equal(bridge_counters(b)->stalls, 2);
	done(dma, DXP_EDEVICE);
	assert_int_equal(ended(pushed).status, DXP_ETIMEDOUT);
	done(fill, DXP_OK);
	assert_int_equal(ended(pulled).status, DXP_ETIMEDOUT);
	assert_true(bridge_deadline(b) == UINT64_MAX);
}

static bool peer_silent;

static bool patient(void *context)
{
	return peer_silent;
}

/* Network steps do not expire while the peer is silent but its session is kept, and then get the
 * full limit. A DMA does expire. */
static void bridge_expire__waits_for_a_silent_peer(void **state)
{
	struct bridge_options o = {.buffers = BUFFERS,
				   .buffer_bytes = BUFFER_BYTES,
				   .to_device = ring_to,
				   .from_device = ring_from,
				   .stall_ns = MS_NS,
				   .patient = patient};
	struct bridge_transfer *in, *out;
	void *context;

	bridge_destroy(b);
	assert_int_equal(bridge_create(&o, &b), DXP_OK);
	in = begin(BRIDGE_IN, BUFFER_BYTES);
	struct bridge_action fill = next(BRIDGE_FILL);
	peer_silent = true;
	for (int i = 0; i < 60; i++) {
		now_ns += MS_NS;
		assert_true(bridge_deadline(b) == now_ns);
		assert_false(bridge_expire(b, now_ns));
		assert_false(bridge_stuck(b, &context));
		assert_int_equal(bridge_settled(in), DXP_EAGAIN);
	}
	peer_silent = false;
	for (int i = 0; i < 2; i++) {
		now_ns += MS_NS;
		assert_false(bridge_expire(b, now_ns));
		assert_false(bridge_stuck(b, &context));
		assert_int_equal(bridge_settled(in), DXP_EAGAIN);
	}
	assert_int_equal(bridge_counters(b)->stalls, 0);
	now_ns += MS_NS;
	assert_false(bridge_expire(b, now_ns));
	assert_true(bridge_stuck(b, &context));
	assert_int_equal(bridge_settled(in), DXP_ETIMEDOUT);
	done(fill, DXP_OK);
	ended(in);
	peer_silent = true;
	out = begin(BRIDGE_OUT, BUFFER_BYTES);
	struct bridge_action dma = next(BRIDGE_DMA_OUT);
	now_ns += MS_NS;
	assert_true(bridge_expire(b, now_ns));
	done(dma, DXP_EDEVICE);
	assert_int_equal(ended(out).status, DXP_ETIMEDOUT);
	peer_silent = false;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, bridge_setup, bridge_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(bridge_expire__fails_and_waits),
		CASE(bridge_stuck__reports_the_network_only),
		CASE(bridge_expire__waits_for_a_silent_peer),
	};

	return cmocka_run_group_tests_name("bridge_stall", tests, NULL, NULL);
}
