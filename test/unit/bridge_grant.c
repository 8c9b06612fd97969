/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests grants for fed transfers without a buffer: fair order, reserved buffers, and expiry. */
#include "test/unit/bridge_rig.h"

#define UNIT      4096u
#define PACKETS   (BUFFER_BYTES / UNIT)
#define RESERVE   2
#define TRANSFERS 6

static uint8_t data[BUFFER_BYTES];

static struct bridge_transfer *begin_from(uint32_t source, uint64_t bytes)
{
	return begin_order((struct bridge_order){.fed = true,
						 .bytes = bytes,
						 .piece_bytes = BUFFER_BYTES,
						 .unit = UNIT,
						 .source = source});
}

static int feed(struct bridge_transfer *t, uint64_t at)
{
	return bridge_feed(b, t, at, data, UNIT, false, now_ns);
}

static void feed_block(struct bridge_transfer *t, uint64_t block)
{
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(feed(t, block * BUFFER_BYTES + i * UNIT), DXP_OK);
}

static void granted(const struct bridge_transfer *t, uint64_t bytes)
{
	struct bridge_grant grant = {0};

	assert_int_equal(bridge_deadline(b) <= now_ns, true);
	assert_true(bridge_granted(b, now_ns, &grant));
	assert_ptr_equal(grant.transfer, t);
	assert_int_equal(grant.bytes, bytes);
}

static void none_granted(void)
{
	struct bridge_grant grant;

	assert_false(bridge_granted(b, now_ns, &grant));
}

static void drain(void)
{
	done(next(BRIDGE_DMA_IN), DXP_OK);
}

static void drain_all(void)
{
	struct bridge_action a;

	while (bridge_next(b, now_ns, &a))
		done(a, DXP_OK);
}

/* Fills all buffers except the reserve; the test drains block by block. */
static struct bridge_transfer *buffers_fill(void)
{
	struct bridge_transfer *t = begin_from(99, (BUFFERS - RESERVE) * BUFFER_BYTES);

	for (uint32_t i = 0; i < BUFFERS - RESERVE; i++)
		feed_block(t, i);
	return t;
}

static void all_end(uint32_t count)
{
	struct bridge_end end;

	for (uint32_t i = 0; i < count; i++)
		assert_true(bridge_ended(b, &end));
	none_ended();
}

static void bridge_grant__in_order_of_arrival(void **state)
{
	struct bridge_transfer *t[TRANSFERS];

	buffers_fill();
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		t[i] = begin_from(i, BUFFER_BYTES);
		assert_int_equal(feed(t[i], 0), DXP_EBUSY);
	}
	/* The grant may use the reserve, because no block is partly filled. */
	granted(t[0], BUFFER_BYTES);
	none_granted();
	drain();
	none_granted(); /* the reserve lacks one buffer */
	drain();
	granted(t[1], BUFFER_BYTES);
	none_granted();
	/* Free buffers are reserved for t[0] and t[1]. */
	assert_int_equal(feed(t[2], 0), DXP_EBUSY);
	feed_block(t[1], 0);
	feed_block(t[0], 0);
	drain_all();
	for (uint32_t i = 2; i < TRANSFERS; i += 2) {
		granted(t[i], BUFFER_BYTES);
		granted(t[i + 1], BUFFER_BYTES);
		none_granted();
		feed_block(t[i], 0);
		feed_block(t[i + 1], 0);
		drain_all();
	}
	none_granted();
	assert_int_equal(bridge_deadline(b), UINT64_MAX);
	all_end(TRANSFERS + 1);
}

/* A source with four transfers gets no more grants than a source with one. */
static void bridge_grant__sources_alternate(void **state)
{
	struct bridge_transfer *many[4], *one;

	buffers_fill();
	for (uint32_t i = 0; i < 4; i++) {
		many[i] = begin_from(1, BUFFER_BYTES);
		assert_int_equal(feed(many[i], 0), DXP_EBUSY);
	}
	one = begin_from(2, 4 * BUFFER_BYTES);
	assert_int_equal(feed(one, 0), DXP_EBUSY);
	drain_all();
	for (uint32_t i = 0; i < 4; i++) {
		granted(many[i], BUFFER_BYTES);
		granted(one, (i + 1) * BUFFER_BYTES);
		feed_block(many[i], 0);
		feed_block(one, i);
		drain_all();
	}
	none_granted();
	all_end(6);
}

/* Transfer `t` waits for a grant. Transfers that start later, fed or pulled, do not overtake it,
 * even if buffers are free. */
static void bridge_grant__none_is_overtaken(void **state)
{
	struct bridge_transfer *t, *late, *pulled;

	buffers_fill();
	t = begin_from(1, 2 * BUFFER_BYTES);
	assert_int_equal(feed(t, 0), DXP_EBUSY);
	drain_all();
	pulled = begin(BRIDGE_IN, 8 * BUFFER_BYTES);
	struct bridge_action fill = next(BRIDGE_FILL); /* its share */
	nothing();
	granted(t, BUFFER_BYTES);
	late = begin_from(2, BUFFER_BYTES);
	assert_int_equal(feed(late, 0), DXP_EBUSY);
	feed_block(t, 0);
	bridge_cancel(b, pulled, DXP_ECANCELED);
	done(fill, DXP_OK);
	drain_all();
	granted(late, BUFFER_BYTES);
	granted(t, 2 * BUFFER_BYTES);
	feed_block(late, 0);
	feed_block(t, 1);
	drain_all();
	all_end(4);
}

/* After a grant expires unused, the transfer gets grants of one packet, at growing intervals. Once
 * that packet arrives, it is granted whole blocks again. */
static void bridge_grant__in_vain(void **state)
{
	struct bridge_transfer *t, *other;
	uint64_t patience_ns = BRIDGE_GRANT_NS;

	buffers_fill();
	t = begin_from(1, BUFFER_BYTES);
	other = begin_from(2, BUFFER_BYTES);
	assert_int_equal(feed(t, 0), DXP_EBUSY);
	drain_all();
	granted(t, BUFFER_BYTES);
	assert_int_equal(feed(other, 0), DXP_OK); /* no transfer waits for a grant */
	for (uint32_t i = 1; i < PACKETS; i++)
		assert_int_equal(feed(other, i * UNIT), DXP_OK);
	drain_all();
	for (int i = 0; i < 4; i++) {
		now_ns += patience_ns - 1;
		none_granted();
		assert_int_equal(bridge_deadline(b), now_ns + 1);
		now_ns++;
		granted(t, UNIT);
		none_granted();
		patience_ns *= 2;
	}
	assert_int_equal(bridge_counters(b)->withdrawn, 1);
	/* no buffer is reserved now */
	struct bridge_transfer *again = buffers_fill();
	assert_int_equal(feed(t, 0), DXP_EBUSY);
	drain_all();
	granted(t, BUFFER_BYTES);
	feed_block(t, 0);
	drain_all();
	assert_ptr_not_equal(again, NULL);
	all_end(4);
}

/* A block that begins in a reserved buffer is granted its rest, and the next block gets its own
 * grant. */
static void bridge_grant__the_rest_of_a_block(void **state)
{
	struct bridge_transfer *t;

	buffers_fill();
	t = begin_from(1, 2 * BUFFER_BYTES);
	assert_int_equal(feed(t, BUFFER_BYTES), DXP_EBUSY);
	assert_int_equal(bridge_feed(b, t, 0, data, UNIT, true, now_ns), DXP_OK);
	granted(t, BUFFER_BYTES);
	now_ns += BRIDGE_GRANT_NS / 4;
	assert_int_equal(feed(t, UNIT), DXP_OK);
	drain_all();
	granted(t, 2 * BUFFER_BYTES);
	for (uint32_t i = 2; i < PACKETS; i++)
		assert_int_equal(feed(t, i * UNIT), DXP_OK);
	feed_block(t, 1);
	drain_all();
	all_end(2);
}

static void bridge_grant__is_withdrawn_with_its_transfer(void **state)
{
	struct bridge_transfer *t, *other;

	buffers_fill();
	t = begin_from(1, BUFFER_BYTES);
	other = begin_from(2, BUFFER_BYTES);
	assert_int_equal(feed(t, 0), DXP_EBUSY);
	assert_int_equal(feed(other, 0), DXP_EBUSY);
	drain_all();
	granted(t, BUFFER_BYTES);
	bridge_cancel(b, t, DXP_ECANCELED);
	bridge_cancel(b, other, DXP_ECANCELED);
	none_granted();
	/* including the one reserved for `t` */
	struct bridge_transfer *free = buffers_fill();
	drain_all();
	assert_int_equal(bridge_settled(free), DXP_OK);
	all_end(4);
}

/* Packets larger than a buffer, or of no fixed length, get no grants. */
static void bridge_grant__not_without_a_unit(void **state)
{
	static const uint32_t units[] = {0, BUFFER_BYTES + 64};

	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		buffers_fill();
		struct bridge_transfer *t = begin_order((struct bridge_order){
			.fed = true, .bytes = 3 * BUFFER_BYTES, .unit = units[i]});
		assert_int_equal(bridge_block_bytes(t), 0);
		assert_int_equal(feed(t, 0), DXP_EAGAIN);
		drain_all();
		none_granted();
		bridge_cancel(b, t, DXP_ECANCELED);
		all_end(2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bridge_grant__in_order_of_arrival, bridge_setup,
						bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__sources_alternate, bridge_setup,
						bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__none_is_overtaken, bridge_setup,
						bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__in_vain, bridge_setup,
						bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__the_rest_of_a_block, bridge_setup,
						bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__is_withdrawn_with_its_transfer,
						bridge_setup, bridge_teardown),
		cmocka_unit_test_setup_teardown(bridge_grant__not_without_a_unit, bridge_setup,
						bridge_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
