/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the bridge step by step: states, limits, fair order, and completion of transfers. */
#include "test/unit/bridge_rig.h"

#include "bridge/ring.h"
#include "test/sim/memory.h"

/* The digits of a row are the legal (1) next states of its state. */
static void ring_legal__is_the_documented_table(void **state)
{
	static const char *const to_device[BUFFER_STATES] = {
		[BUFFER_EMPTY] = "010000",  [BUFFER_FILL] = "101000", [BUFFER_FULL] = "100100",
		[BUFFER_DEVICE] = "100000", [BUFFER_DONE] = "000000", [BUFFER_DRAIN] = "000000"};
	static const char *const from_device[BUFFER_STATES] = {
		[BUFFER_EMPTY] = "000100",  [BUFFER_FILL] = "000000", [BUFFER_FULL] = "000000",
		[BUFFER_DEVICE] = "100010", [BUFFER_DONE] = "100001", [BUFFER_DRAIN] = "100000"};

	for (enum bridge_buffer_state from = 0; from < BUFFER_STATES; from++) {
		for (enum bridge_buffer_state to = 0; to < BUFFER_STATES; to++) {
			assert_int_equal(ring_legal(RING_TO_DEVICE, from, to),
					 to_device[from][to] - '0');
			assert_int_equal(ring_legal(RING_FROM_DEVICE, from, to),
					 from_device[from][to] - '0');
		}
	}
}

static void bridge_create__rejections(void **state)
{
	const struct bridge_options good = {
		.buffer_bytes = BUFFER_BYTES, .to_device = ring_to, .from_device = ring_from};
	struct bridge_options bad[9];
	struct bridge *none = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		bad[i] = good;
	bad[0].buffer_bytes = 0;
	bad[1].buffer_bytes = 2048;
	bad[2].buffer_bytes = 4097;
	bad[3].buffer_bytes = 32u << 20;
	bad[4].buffers = BRIDGE_BUFFERS_MAX + 1;
	bad[5].fills = 9;
	bad[6].dmas = BRIDGE_BUFFERS_MAX + 1;
	bad[7].to_device = NULL;
	bad[8].from_device = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(bridge_create(&bad[i], &none), DXP_EINVAL);
	assert_null(none);
	assert_int_equal(bridge_create(&good, &none), DXP_OK);
	assert_int_equal(bridge_buffers(none), 8);
	assert_int_equal(bridge_buffer_bytes(none), BUFFER_BYTES);
	bridge_destroy(none);
	bridge_destroy(NULL);
}

static void bridge_begin__rejections(void **state)
{
	static const struct bridge_order bad[] = {
		{.path = BRIDGE_PATHS},
		{.mode = 2},
		{.piece_bytes = 4095},
		{.piece_bytes = BUFFER_BYTES + 1},
		{.path = BRIDGE_DIRECT, .piece_bytes = (16u << 20) + 1},
		{.path = BRIDGE_OUT, .fed = true},
		{.path = BRIDGE_IN, .fed = true, .mode = BRIDGE_SEQUENTIAL},
		{.path = BRIDGE_IN, .fed = true, .piece_bytes = 8192},
		{.path = BRIDGE_THROUGH, .core = true},
	};
	struct bridge_transfer *t = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(bridge_begin(b, &bad[i], now_ns, &t), DXP_EINVAL);
	bridge_with(1, 0, 0);
	struct bridge_order fed = {.fed = true, .bytes = 5};
	assert_int_equal(bridge_begin(b, &fed, now_ns, &t), DXP_EINVAL);
	assert_null(t);
}

static void bridge_begin__a_thousand_and_no_more(void **state)
{
	struct bridge_order order = {.bytes = 1};
	struct bridge_transfer *t;

	for (uint32_t i = 0; i < BRIDGE_TRANSFERS_MAX; i++)
		assert_int_equal(bridge_begin(b, &order, now_ns, &t), DXP_OK);
	assert_int_equal(bridge_begin(b, &order, now_ns, &t), DXP_EAGAIN);
	bridge_cancel_all(b, DXP_ECLOSED);
	struct bridge_end end;
	for (uint32_t i = 0; i < BRIDGE_TRANSFERS_MAX; i++)
		assert_true(bridge_ended(b, &end) && end.status == DXP_ECLOSED);
	none_ended();
}

static void bridge__in_step_by_step(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_IN, BUFFER_BYTES + 1);
	struct bridge_action one = next(BRIDGE_FILL), two = next(BRIDGE_FILL);

	nothing();
	assert_int_equal(one.at, 0);
	assert_int_equal(one.bytes, BUFFER_BYTES);
	assert_int_equal(two.at, BUFFER_BYTES);
	assert_int_equal(two.bytes, 1);
	assert_true(one.in && two.in && one.in != two.in && !one.out);
	done(two, DXP_OK); /* in any order */
	struct bridge_action dma = next(BRIDGE_DMA_IN);
	assert_ptr_equal(dma.in, two.in);
	assert_int_equal(dma.at, two.at);
	done(one, DXP_OK);
	done(dma, DXP_OK);
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	none_ended();
	done(next(BRIDGE_DMA_IN), DXP_OK);
	assert_int_equal(bridge_settled(t), DXP_OK);
	struct bridge_end end = ended(t);
	assert_int_equal(end.status, DXP_OK);
	assert_int_equal(end.bytes, BUFFER_BYTES + 1);
	assert_int_equal(bridge_counters(b)->pieces[BRIDGE_FILL], 2);
	assert_int_equal(bridge_counters(b)->bytes[BRIDGE_DMA_IN], BUFFER_BYTES + 1);
	assert_int_equal(bridge_counters(b)->transfers, 1);
}

static void bridge__counts_the_time_of_dma(void **state)
{
	const struct bridge_counters *c = bridge_counters(b);

	begin(BRIDGE_IN, 2 * BUFFER_BYTES);
	struct bridge_action one = next(BRIDGE_FILL), two = next(BRIDGE_FILL);
	now_ns += 1000; /* a FILL is not DMA time */
	done(one, DXP_OK);
	done(two, DXP_OK);
	one = next(BRIDGE_DMA_IN);
	now_ns += 10;
	two = next(BRIDGE_DMA_IN);
	now_ns += 100; /* concurrent DMAs count once */
	done(one, DXP_OK);
	now_ns += 7;
	assert_int_equal(c->to_device_ns, 110);
	done(two, DXP_OK);
	assert_int_equal(c->to_device_ns, 117);
	now_ns += 5000;
	begin(BRIDGE_THROUGH, BUFFER_BYTES);
	done(next(BRIDGE_FILL), DXP_OK);
	one = next(BRIDGE_DMA_THROUGH);
	now_ns += 50;
	done(one, DXP_OK);
	done(next(BRIDGE_DRAIN), DXP_OK);
	assert_int_equal(c->to_device_ns, 167);
	assert_int_equal(c->from_device_ns, 50);
}

static void bridge__through_holds_a_buffer_of_each_ring(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_THROUGH, 2 * BUFFER_BYTES);
	struct bridge_action one = next(BRIDGE_FILL), two = next(BRIDGE_FILL);
	uint32_t to, from;

	done(two, DXP_OK);
	nothing(); /* the core needs pieces in order */
	done(one, DXP_OK);
	struct bridge_action dma = next(BRIDGE_DMA_THROUGH);
	assert_int_equal(dma.at, 0);
	assert_true(dma.in && dma.out);
	struct bridge_action dma2 = next(BRIDGE_DMA_THROUGH);
	bridge_buffers_used(b, &to, &from);
	assert_int_equal(to + from, 4);
	done(dma, DXP_OK);
	bridge_buffers_used(b, &to, &from);
	assert_int_equal(to, 1);
	struct bridge_action drain = next(BRIDGE_DRAIN);
	assert_ptr_equal(drain.out, dma.out);
	assert_null(drain.in);
	done(dma2, DXP_OK);
	done(drain, DXP_OK);
	done(next(BRIDGE_DRAIN), DXP_OK);
	assert_int_equal(ended(t).bytes, 2 * BUFFER_BYTES);
}

static void bridge__nothing_and_everything(void **state)
{
	for (enum bridge_path path = 0; path < BRIDGE_PATHS; path++) {
		struct bridge_transfer *t = begin(path, 0);
		nothing();
		assert_int_equal(bridge_settled(t), DXP_OK);
		assert_int_equal(ended(t).status, DXP_OK);
	}
	struct bridge_transfer *t =
		begin_order((struct bridge_order){.path = BRIDGE_IN, .fed = true, .bytes = 0});
	assert_int_equal(bridge_settled(t), DXP_OK);
	ended(t);

	t = begin(BRIDGE_OUT, 1ull << 40);
	for (int i = 0; i < 100; i++) {
		done(next(BRIDGE_DMA_OUT), DXP_OK);
		done(next(BRIDGE_DRAIN), DXP_OK);
	}
	bridge_cancel(b, t, DXP_ECANCELED);
	struct bridge_end end = ended(t);
	assert_int_equal(end.status, DXP_ECANCELED);
	assert_int_equal(end.step, BRIDGE_STEPS);
	assert_int_equal(end.bytes, 100 * BUFFER_BYTES);
}

static void bridge__sequential_waits_for_each_step(void **state)
{
	struct bridge_transfer *t = begin_order((struct bridge_order){
		.path = BRIDGE_THROUGH, .mode = BRIDGE_SEQUENTIAL, .bytes = 3 * BUFFER_BYTES});

	for (int i = 0; i < 3; i++) {
		static const enum bridge_step steps[] = {BRIDGE_FILL, BRIDGE_DMA_THROUGH,
							 BRIDGE_DRAIN};
		for (size_t k = 0; k < ARRAY_COUNT(steps); k++) {
			struct bridge_action a = next(steps[k]);
			assert_int_equal(a.bytes, BUFFER_BYTES);
			nothing();
			done(a, DXP_OK);
		}
	}
	assert_int_equal(ended(t).status, DXP_OK);
}

static void bridge__limits_of_steps(void **state)
{
	bridge_with(4, 3, 1);
	struct bridge_transfer *in = begin(BRIDGE_IN, 8 * BUFFER_BYTES);
	struct bridge_action fills[3];

	for (int i = 0; i < 3; i++)
		fills[i] = next(BRIDGE_FILL);
	nothing();
	for (int i = 0; i < 3; i++)
		done(fills[i], DXP_OK);
	struct bridge_action dma = next(BRIDGE_DMA_IN);
	struct bridge_action fourth = next(BRIDGE_FILL);
	nothing();
	bridge_cancel(b, in, DXP_ECLOSED);
	nothing();
	done(dma, DXP_OK);
	none_ended();
	done(fourth, DXP_OK);
	assert_int_equal(ended(in).bytes, BUFFER_BYTES);
}

/* A slow reader holds its buffers; transfer `quick` continues with the reserved buffer. */
static void bridge__slow_reader_holds_up_no_other(void **state)
{
	struct bridge_transfer *slow = begin(BRIDGE_OUT, 1u << 30);
	struct bridge_action drains[BUFFERS];

	for (int i = 0; i < BUFFERS; i++) {
		done(next(BRIDGE_DMA_OUT), DXP_OK);
		drains[i] = next(BRIDGE_DRAIN);
	}
	struct bridge_transfer *quick = begin(BRIDGE_OUT, 5 * BUFFER_BYTES);
	nothing();
	done(drains[0], DXP_OK);
	for (int i = 0; i < 5; i++) {
		struct bridge_action a = next(BRIDGE_DMA_OUT);
		assert_ptr_equal(a.transfer, quick);
		nothing();
		done(a, DXP_OK);
		done(next(BRIDGE_DRAIN), DXP_OK);
	}
	assert_int_equal(ended(quick).status, DXP_OK);
	/* the reserve is free, as no other transfer waits */
	struct bridge_action last = next(BRIDGE_DMA_OUT);
	assert_ptr_equal(last.transfer, slow);
	bridge_cancel_all(b, DXP_ECLOSED);
	done(last, DXP_ECLOSED);
	for (int i = 1; i < BUFFERS; i++)
		done(drains[i], DXP_ECLOSED);
	ended(slow);
}

static void bridge__alternates_by_pieces(void **state)
{
	struct bridge_transfer *large = begin(BRIDGE_IN, 1u << 30);
	struct bridge_action a[BUFFERS];

	for (int i = 0; i < BUFFERS; i++) {
		a[i] = next(BRIDGE_FILL); /* a lone transfer gets all buffers */
		assert_ptr_equal(a[i].transfer, large);
	}
	struct bridge_transfer *small = begin(BRIDGE_IN, 2 * BUFFER_BYTES);
	for (int i = 0; i < BUFFERS; i++) {
		done(a[i], DXP_OK);
		done(next(BRIDGE_DMA_IN), DXP_OK);
		a[i] = next(BRIDGE_FILL);
		assert_ptr_equal(a[i].transfer, i % 2 ? small : large);
	}
	bridge_cancel_all(b, DXP_ECLOSED);
	for (int i = 0; i < BUFFERS; i++)
		done(a[i], DXP_ECLOSED);
	ended(large);
	ended(small);
}

static bool is_dma(const struct bridge_action *a)
{
	return a->step != BRIDGE_FILL && a->step != BRIDGE_DRAIN;
}

/* A stream needs both controllers at once; transfers that need one each must not starve it. The
 * network is fast and the oldest DMA completes first, so both are never idle by chance. */
static void bridge__core_is_not_starved(void **state)
{
	struct bridge_action a, dmas[8];
	uint32_t count = 0;

	bridge_with(8, 0, 1);
	begin(BRIDGE_IN, 1u << 30);
	begin(BRIDGE_OUT, 1u << 30);
	/* It gets few buffers, because it is one buffer long. */
	for (int i = 0; bridge_counters(b)->pieces[BRIDGE_DMA_THROUGH] == 0; i++) {
		assert_true(i < 10);
		if (i == 3)
			begin(BRIDGE_THROUGH, BUFFER_BYTES);
		while (bridge_next(b, now_ns, &a)) {
			if (is_dma(&a))
				dmas[count++] = a;
			else
				done(a, DXP_OK);
		}
		assert_in_range(count, 1, 2);
		done(dmas[0], DXP_OK);
		dmas[0] = dmas[1];
		count--;
	}
	bridge_cancel_all(b, DXP_ECLOSED);
	while (count > 0)
		done(dmas[--count], DXP_OK);
}

static void bridge__failure_reports_where(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_IN, 4 * BUFFER_BYTES);
	struct bridge_action a[4];

	for (int i = 0; i < 4; i++)
		a[i] = next(BRIDGE_FILL);
	done(a[0], DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	done(a[2], DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	done(a[1], DXP_EPEERLOST);
	assert_int_equal(bridge_settled(t), DXP_EPEERLOST);
	nothing();
	none_ended();
	done(a[3], DXP_EIO);
	struct bridge_end end = ended(t);
	assert_int_equal(end.status, DXP_EPEERLOST);
	assert_int_equal(end.step, BRIDGE_FILL);
	assert_int_equal(end.at, BUFFER_BYTES);
	assert_int_equal(end.bytes, BUFFER_BYTES);
	assert_int_equal(bridge_counters(b)->failed, 1);
}

static void bridge_done__reported_twice(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_IN, 2 * BUFFER_BYTES);
	struct bridge_action one = next(BRIDGE_FILL), two = next(BRIDGE_FILL);

	done(one, DXP_OK);
	bridge_done(b, one.id, DXP_OK, now_ns);
	struct bridge_action dma = next(BRIDGE_DMA_IN);
	/* The id of the FILL step is stale. */
	bridge_done(b, one.id, DXP_EIO, now_ns);
	bridge_done(b, UINT32_MAX, DXP_EIO, now_ns);
	assert_int_equal(bridge_counters(b)->stale, 3);
	done(dma, DXP_OK);
	done(two, DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	assert_int_equal(ended(t).status, DXP_OK);
}

static void bridge_later__comes_again(void **state)
{
	struct bridge_transfer *t = begin(BRIDGE_IN, 2 * BUFFER_BYTES);
	struct bridge_transfer *other = begin(BRIDGE_IN, BUFFER_BYTES);
	struct bridge_action refused = next(BRIDGE_FILL);

	bridge_later(b, refused.id);
	struct bridge_action a = next(BRIDGE_FILL);
	assert_ptr_equal(a.transfer, other);
	nothing();
	assert_int_equal(bridge_deadline(b), now_ns + BRIDGE_AGAIN_NS);
	now_ns += BRIDGE_AGAIN_NS;
	struct bridge_action again = next(BRIDGE_FILL);
	assert_ptr_equal(again.transfer, t);
	assert_int_equal(again.at, 0);
	bridge_later(b, again.id);
	nothing();
	done(a, DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	again = next(BRIDGE_FILL);
	assert_ptr_equal(again.in, refused.in);
	bridge_cancel(b, t, DXP_ECLOSED);
	/* A step of the cancelled transfer is returned for a later try. */
	bridge_later(b, again.id);
	ended(other);
	assert_int_equal(ended(t).bytes, 0);
}

static void bridge__each_allocation_fails_once(void **state)
{
	int status = DXP_ENOMEM;

	for (uint32_t n = 1; status != DXP_OK; n++) {
		struct bridge_options o = {.buffer_bytes = BUFFER_BYTES,
					   .to_device = ring_to,
					   .from_device = ring_from};
		struct bridge_order order = {.bytes = 5};
		struct bridge_transfer *t;
		struct bridge *other = NULL;
		countdown = n;
		status = bridge_create(&o, &other);
		if (status == DXP_OK)
			status = bridge_begin(other, &order, now_ns, &t);
		countdown = 0;
		assert_true(status == DXP_ENOMEM || (status == DXP_OK && n == 3));
		assert_true(!other || bridge_transfers(other) == (status == DXP_OK));
		bridge_destroy(other);
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, bridge_setup, bridge_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ring_legal__is_the_documented_table),
		CASE(bridge_create__rejections),
		CASE(bridge_begin__rejections),
		CASE(bridge_begin__a_thousand_and_no_more),
		CASE(bridge__in_step_by_step),
		CASE(bridge__counts_the_time_of_dma),
		CASE(bridge__through_holds_a_buffer_of_each_ring),
		CASE(bridge__nothing_and_everything),
		CASE(bridge__sequential_waits_for_each_step),
		CASE(bridge__limits_of_steps),
		CASE(bridge__slow_reader_holds_up_no_other),
		CASE(bridge__alternates_by_pieces),
		CASE(bridge__core_is_not_starved),
		CASE(bridge__failure_reports_where),
		CASE(bridge_done__reported_twice),
		CASE(bridge_later__comes_again),
		CASE(bridge__each_allocation_fails_once),
	};

	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
