/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fed transfers: bytes in any order, scarce buffers, and several senders. */
#include "test/unit/bridge_rig.h"

static uint8_t data[1u << 20];

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	return bridge_setup(state);
}

static struct bridge_transfer *begin_fed(uint64_t bytes)
{
	return begin_order(
		(struct bridge_order){.fed = true, .bytes = bytes, .piece_bytes = BUFFER_BYTES});
}

static int feed(struct bridge_transfer *t, uint64_t at, uint32_t bytes, bool first)
{
	return bridge_feed(b, t, at, data + at % (sizeof(data) / 2), bytes, first, now_ns);
}

/* Returns the number of DMAs. */
static uint32_t drain_all(void)
{
	struct bridge_action a;
	uint32_t count = 0;

	while (bridge_next(b, now_ns, &a)) {
		assert_int_equal(a.step, BRIDGE_DMA_IN);
		assert_memory_equal(a.in, data + a.at % (sizeof(data) / 2), a.bytes);
		done(a, DXP_OK);
		count++;
	}
	return count;
}

static void bridge_feed__any_order_and_across_borders(void **state)
{
	struct bridge_transfer *t = begin_fed(2 * BUFFER_BYTES + 100);

	assert_int_equal(feed(t, BUFFER_BYTES - 10, 20, false), DXP_OK); /* spans two blocks */
	assert_int_equal(drain_all(), 0);
	assert_int_equal(feed(t, BUFFER_BYTES + 10, BUFFER_BYTES - 10, false), DXP_OK);
	assert_int_equal(drain_all(), 1); /* the second block is complete, the first is not */
	assert_int_equal(feed(t, 0, 0, false), DXP_OK);
	assert_int_equal(feed(t, 2 * BUFFER_BYTES, 100, false), DXP_OK);
	assert_int_equal(feed(t, 0, BUFFER_BYTES - 10, true), DXP_OK);
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	assert_int_equal(drain_all(), 2);
	assert_int_equal(bridge_settled(t), DXP_OK);
	assert_int_equal(ended(t).bytes, 2 * BUFFER_BYTES + 100);
	assert_int_equal(bridge_counters(b)->bytes[BRIDGE_FILL], 2 * BUFFER_BYTES + 100);
}

static void bridge_feed__outside(void **state)
{
	struct bridge_transfer *t = begin_fed(1000);

	assert_int_equal(feed(t, 1000, 1, true), DXP_ERANGE);
	assert_int_equal(feed(t, 0, 1001, true), DXP_ERANGE);
	assert_int_equal(feed(t, UINT64_MAX, 2, true), DXP_ERANGE);
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	assert_int_equal(feed(t, 0, 1000, true), DXP_OK);
	drain_all();
	assert_int_equal(ended(t).status, DXP_OK);
}

static void bridge_feed__twice_fails(void **state)
{
	static const struct {
		uint64_t at;
		uint32_t bytes;
		bool in_place; /* after the first block was drained */
	} rows[] = {{0, 1, false}, {0, 1, true}, {BUFFER_BYTES - 1, 2, true}, {20000, 1001, true}};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct bridge_transfer *t = begin_fed(BUFFER_BYTES * 2);
		assert_int_equal(feed(t, 0, BUFFER_BYTES, true), DXP_OK);
		assert_int_equal(feed(t, BUFFER_BYTES, BUFFER_BYTES - 1000, true), DXP_OK);
		if (rows[i].in_place)
			drain_all();
		assert_int_equal(feed(t, rows[i].at, rows[i].bytes, false), DXP_EMALFORMED);
		assert_int_equal(bridge_settled(t), DXP_EMALFORMED);
		assert_int_equal(feed(t, 0, 1, true), DXP_EMALFORMED);
		struct bridge_end end = ended(t);
		assert_int_equal(end.status, DXP_EMALFORMED);
		assert_int_equal(end.bytes, rows[i].in_place ? BUFFER_BYTES : 0);
	}
}

static void bridge_feed__last_buffers_are_for_the_first(void **state)
{
	struct bridge_transfer *one = begin_fed(8 * BUFFER_BYTES);
	struct bridge_transfer *two = begin_fed(8 * BUFFER_BYTES);

	/* Occupies all but the reserve of two buffers. */
	assert_int_equal(feed(one, 4 * BUFFER_BYTES, 10, false), DXP_OK);
	assert_int_equal(feed(two, 4 * BUFFER_BYTES, 10, false), DXP_OK);
	assert_int_equal(feed(one, 5 * BUFFER_BYTES, 10, false), DXP_EAGAIN);
	/* this block has a buffer */
	assert_int_equal(feed(one, 4 * BUFFER_BYTES + 10, 10, false), DXP_OK);
	assert_int_equal(feed(one, 0, BUFFER_BYTES - 5, true), DXP_OK);
	/* Transfer `one` owns the reserve, because it needs a second buffer. */
	assert_int_equal(feed(two, 0, 100, true), DXP_EAGAIN);
	assert_int_equal(feed(one, BUFFER_BYTES - 5, 10, true), DXP_OK);
	assert_int_equal(drain_all(), 1);
	assert_int_equal(feed(two, 0, 100, true), DXP_EAGAIN);
	assert_int_equal(feed(one, BUFFER_BYTES + 5, BUFFER_BYTES - 5, true), DXP_OK);
	assert_int_equal(drain_all(), 1);
	assert_int_equal(feed(two, 0, 100, true), DXP_OK);
	assert_int_equal(bridge_counters(b)->no_buffer, 3);
	bridge_cancel_all(b, DXP_ECLOSED);
	ended(one);
	ended(two);
}

static void bridge_feed__token_ends_with_its_transfer(void **state)
{
	struct bridge_transfer *one = begin_fed(8 * BUFFER_BYTES);
	struct bridge_transfer *two = begin_fed(8 * BUFFER_BYTES);

	assert_int_equal(feed(one, 4 * BUFFER_BYTES, 10, false), DXP_OK);
	assert_int_equal(feed(two, 4 * BUFFER_BYTES, 10, false), DXP_OK);
	assert_int_equal(feed(one, 0, 10, true), DXP_OK);
	assert_int_equal(feed(two, 0, 10, true), DXP_EAGAIN);
	bridge_cancel(b, one, DXP_EPEERLOST);
	ended(one);
	assert_int_equal(feed(two, 0, 10, true), DXP_OK);
	bridge_cancel(b, two, DXP_EPEERLOST);
	ended(two);
}

static void bridge_feed__far_ahead_waits(void **state)
{
	struct bridge_transfer *t = begin_fed(1ull << 40);

	assert_int_equal(feed(t, BRIDGE_FED_BLOCKS * (uint64_t)BUFFER_BYTES, 1, false), DXP_EAGAIN);
	assert_int_equal(feed(t, 0, BUFFER_BYTES, true), DXP_OK);
	assert_int_equal(drain_all(), 1);
	assert_int_equal(feed(t, BRIDGE_FED_BLOCKS * (uint64_t)BUFFER_BYTES, 1, false), DXP_OK);
	/* The ring that tracks blocks wraps in this loop. Block BRIDGE_FED_BLOCKS stays incomplete,
	 * so the ring is full from block 2 * BRIDGE_FED_BLOCKS on. */
	for (uint64_t block = 1; block < 3000; block++) {
		if (block == BRIDGE_FED_BLOCKS)
			continue;
		assert_int_equal(feed(t, block * BUFFER_BYTES, BUFFER_BYTES, false),
				 block < 2 * BRIDGE_FED_BLOCKS ? DXP_OK : DXP_EAGAIN);
		drain_all();
	}
	bridge_cancel(b, t, DXP_ECLOSED);
	assert_int_equal(ended(t).bytes, BRIDGE_FED_BLOCKS * (uint64_t)BUFFER_BYTES);
}

static void bridge_feed__pulled_ones_leave_some(void **state)
{
	struct bridge_transfer *pulled = begin(BRIDGE_IN, 1u << 30);
	struct bridge_transfer *fed = begin_fed(1u << 19);
	struct bridge_action a[BUFFERS];
	uint32_t accepted = 0;

	for (int i = 0; i < BUFFERS; i++)
		a[i] = next(BRIDGE_FILL);
	for (int i = 0; i < 200 && accepted < 16; i++) {
		int k = i % BUFFERS;
		if (feed(fed, accepted * BUFFER_BYTES, BUFFER_BYTES, true) == DXP_OK) {
			accepted++;
			done(next(BRIDGE_DMA_IN), DXP_OK);
		}
		if (a[k].in) {
			done(a[k], DXP_OK);
			done(next(BRIDGE_DMA_IN), DXP_OK);
		}
		if (!bridge_next(b, now_ns, &a[k]))
			a[k].in = NULL;
	}
	assert_int_equal(accepted, 16);
	assert_true(bridge_counters(b)->pieces[BRIDGE_FILL] >=
		    16 + 12); /* shares of the fed and the pulled transfer */
	bridge_cancel_all(b, DXP_ECLOSED);
	for (int i = 0; i < BUFFERS; i++) {
		if (a[i].in)
			done(a[i], DXP_ECLOSED);
	}
	ended(fed);
	ended(pulled);
}

static void bridge_feed__fed_ones_leave_some(void **state)
{
	bridge_with(2, 0, 0);
	struct bridge_transfer *pulled = begin(BRIDGE_IN, 1u << 30);
	struct bridge_transfer *fed = begin_fed(1u << 19);
	struct bridge_action a = next(BRIDGE_FILL), other = next(BRIDGE_FILL);

	assert_int_equal(feed(fed, 0, BUFFER_BYTES, true), DXP_EAGAIN);
	done(a, DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	nothing();
	assert_int_equal(feed(fed, 0, BUFFER_BYTES, true), DXP_OK);
	assert_int_equal(feed(fed, BUFFER_BYTES, BUFFER_BYTES, true), DXP_EAGAIN);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	/* The pulled transfer gets its share although the fed one requests buffers. */
	a = next(BRIDGE_FILL);
	assert_ptr_equal(a.transfer, pulled);
	bridge_cancel_all(b, DXP_ECLOSED);
	done(a, DXP_OK);
	done(other, DXP_OK);
	ended(fed);
	ended(pulled);
}

static void bridge_feed__hunger_ends(void **state)
{
	bridge_with(2, 0, 0);
	struct bridge_transfer *pulled = begin(BRIDGE_IN, 1u << 30);
	struct bridge_transfer *fed = begin_fed(1u << 19);
	struct bridge_action a = next(BRIDGE_FILL), other = next(BRIDGE_FILL);

	assert_int_equal(feed(fed, 0, 10, true), DXP_EAGAIN);
	done(a, DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	nothing(); /* reserved for the fed transfer, which sends nothing */
	now_ns += BRIDGE_HUNGER_NS;
	assert_true(bridge_deadline(b) <= now_ns);
	a = next(BRIDGE_FILL);
	bridge_cancel_all(b, DXP_ECLOSED);
	done(a, DXP_OK);
	done(other, DXP_OK);
	ended(fed);
	ended(pulled);
}

static void bridge_feed__half_a_block_stalls(void **state)
{
	struct bridge_transfer *t = begin_fed(2 * BUFFER_BYTES);

	assert_int_equal(feed(t, 0, 10, true), DXP_OK);
	now_ns += MS_NS / 2;
	assert_int_equal(feed(t, 10, BUFFER_BYTES / BRIDGE_FED_STEPS, true), DXP_OK);
	now_ns += MS_NS / 2;
	assert_false(bridge_expire(b, now_ns)); /* the limit starts anew when bytes arrive */
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	now_ns += MS_NS / 2;
	assert_int_equal(bridge_deadline(b), now_ns);
	assert_false(bridge_expire(b, now_ns));
	assert_int_equal(ended(t).status, DXP_ETIMEDOUT);
}

/* A block expires after at most BRIDGE_FED_STEPS stall times, however slowly its bytes arrive. */
static void bridge_feed__dribbled_block_stalls(void **state)
{
	struct bridge_transfer *t = begin_fed(2 * BUFFER_BYTES);
	uint32_t at = 0;

	while (bridge_settled(t) == DXP_EAGAIN) {
		assert_int_equal(feed(t, at++, 1, true), DXP_OK);
		now_ns += MS_NS / 4;
		assert_false(bridge_expire(b, now_ns));
		assert_true(at <= 4);
	}
	assert_int_equal(ended(t).status, DXP_ETIMEDOUT);
	t = begin_fed(BUFFER_BYTES);
	uint64_t begun_ns = now_ns;
	const uint32_t share = BUFFER_BYTES / BRIDGE_FED_STEPS;
	for (at = 0; at + share < BUFFER_BYTES; at += share) {
		assert_int_equal(feed(t, at, share, true), DXP_OK);
		now_ns += MS_NS - 1;
		assert_false(bridge_expire(b, now_ns));
	}
	assert_int_equal(bridge_settled(t), DXP_EAGAIN);
	assert_true(now_ns - begun_ns < BRIDGE_FED_STEPS * MS_NS);
	assert_int_equal(feed(t, at, share, true), DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_OK);
	assert_int_equal(ended(t).status, DXP_OK);
}

static void bridge_feed__failed_dma_is_reported(void **state)
{
	struct bridge_transfer *t = begin_fed(2 * BUFFER_BYTES);

	assert_int_equal(feed(t, 0, BUFFER_BYTES, true), DXP_OK);
	assert_int_equal(feed(t, BUFFER_BYTES, 5, true), DXP_OK);
	done(next(BRIDGE_DMA_IN), DXP_EDEVICE);
	assert_int_equal(bridge_settled(t), DXP_EDEVICE);
	assert_int_equal(feed(t, BUFFER_BYTES + 5, 5, true), DXP_EDEVICE);
	assert_int_equal(ended(t).bytes, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, bridge_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(bridge_feed__any_order_and_across_borders),
		CASE(bridge_feed__outside),
		CASE(bridge_feed__twice_fails),
		CASE(bridge_feed__last_buffers_are_for_the_first),
		CASE(bridge_feed__token_ends_with_its_transfer),
		CASE(bridge_feed__far_ahead_waits),
		CASE(bridge_feed__pulled_ones_leave_some),
		CASE(bridge_feed__fed_ones_leave_some),
		CASE(bridge_feed__hunger_ends),
		CASE(bridge_feed__half_a_block_stalls),
		CASE(bridge_feed__dribbled_block_stalls),
		CASE(bridge_feed__failed_dma_is_reported),
	};

	return cmocka_run_group_tests_name("bridge_feed", tests, NULL, NULL);
}
