/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rules of single congestion modules, and every module with arbitrary input; cc_loop.c tests
 * them with a bottleneck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rltp/limits.h"
#include "base/rng.h"
#include "base/util.h"
#include "rltp/cc.h"
#include "wire/limits.h"

static uint64_t seed_first(void)
{
	return getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
}

static uint64_t seed_last(uint64_t default_last)
{
	return getenv("DXP_SEED") ? seed_first() : default_last;
}

static void cc__names(void **state)
{
	enum cc_kind kind = CC_RENO;

	for (int i = 0; i < CC_KINDS; i++) {
		assert_true(cc_parse(cc_name((enum cc_kind)i), &kind));
		assert_int_equal(kind, i);
	}
	assert_false(cc_parse("", &kind));
	assert_false(cc_parse("Swift", &kind));
	assert_false(cc_parse("swift ", &kind));
	assert_int_equal(kind, CC_KINDS - 1);
	assert_null(cc_name(CC_KINDS));
	assert_true(cc_wants_ecn(CC_DCTCP));
	assert_false(cc_wants_ecn(CC_SWIFT));
	assert_false(cc_wants_ecn(CC_NONE));
	assert_false(cc_wants_ecn(CC_RENO));
}

static void cc__resume_halves_for_each_10_ms(void **state)
{
	struct cc c;

	for (uint64_t ms = 0; ms < 100; ms++) {
		cc_init(&c, CC_SWIFT, 1024, S_NS);
		c.window = 800 * CC_ONE;
		c.starting = false;
		cc_resume(&c, S_NS + ms * MS_NS);
		uint32_t expected = (uint32_t)max_u64(800u >> (ms / 10), RLTP_CC_INITIAL);
		assert_int_equal(cc_window(&c), expected);
		assert_int_equal(c.starting, expected < 800);
	}
	/* A pause does not raise a small window. A clock that does not advance is no pause. */
	c.window = CC_ONE / 2;
	cc_resume(&c, 2 * S_NS);
	assert_int_equal(c.window, CC_ONE / 2);
	cc_resume(&c, 1);
	assert_int_equal(c.window, CC_ONE / 2);
	cc_init(&c, CC_NONE, 1024, 0);
	cc_resume(&c, S_NS);
	assert_int_equal(cc_window(&c), 1024);
	assert_true(cc_window_fine(&c) == CC_UNPACED);
}

static struct cc_ack ack_at(uint64_t now_ns, uint32_t delay_ns)
{
	return (struct cc_ack){.now_ns = now_ns,
			       .acked = 16,
			       .inflight = 100,
			       .delay_ns = delay_ns,
			       .rtt_ns = delay_ns,
			       .limited = true};
}

/* Passes round trips of 100 us; returns the time after them. */
static uint64_t rounds(struct cc *c, uint64_t now_ns, int count, uint32_t delay_ns)
{
	for (int i = 0; i < 4 * count; i++) {
		now_ns += 25000;
		struct cc_ack a = ack_at(now_ns, delay_ns);
		a.rtt_ns = 100000;
		cc_acked(c, &a);
	}
	return now_ns;
}

/* `swift` treats a loss as congestion only after a long delay, a mark or many losses. */
static void cc__swift_gates_losses(void **state)
{
	struct cc c;

	cc_init(&c, CC_SWIFT, 1024, 0);
	uint64_t now_ns = rounds(&c, 0, 30, 20000);
	uint32_t before = c.window;
	cc_lost(&c, 1, 100, now_ns + 1);
	assert_int_equal(c.window, before);

	now_ns = rounds(&c, now_ns, 3, 60000);
	now_ns += 25000;
	struct cc_ack queued = ack_at(now_ns, 60000);
	cc_acked(&c, &queued);
	before = c.window;
	cc_lost(&c, 1, 100, now_ns + 1);
	assert_true(c.window < before);
	before = c.window;
	cc_lost(&c, 1, 100, now_ns + 2); /* at most once per round trip */
	assert_int_equal(c.window, before);

	cc_init(&c, CC_SWIFT, 1024, 0);
	now_ns = rounds(&c, 0, 30, 20000) + 1000;
	struct cc_ack marked = ack_at(now_ns, 20000);
	marked.marked = 1;
	cc_acked(&c, &marked);
	before = c.window;
	cc_lost(&c, 1, 100, now_ns);
	assert_int_equal(c.window, before * 7 / 10);

	cc_init(&c, CC_SWIFT, 1024, 0);
	now_ns = rounds(&c, 0, 30, 20000) + 1000;
	before = c.window;
	cc_lost(&c, 60, 100, now_ns);
	assert_int_equal(c.window, before / 2);
	assert_int_equal(cc_window(&c), c.window / CC_ONE);
}

/* The delay of the path becomes longer than the target delay. The window falls to its minimum; then
 * `swift` learns the new delay. */
static void cc__swift_learns_a_longer_path(void **state)
{
	struct cc c;

	cc_init(&c, CC_SWIFT, 1024, 0);
	uint64_t now_ns = rounds(&c, 0, 100, 20000);
	assert_true(c.window > 100 * CC_ONE);
	now_ns = rounds(&c, now_ns, 100, 400000);
	assert_int_equal(c.window, RLTP_CC_WINDOW_MIN);
	assert_int_equal(cc_window(&c), 1);
	assert_int_equal(cc_window_fine(&c), RLTP_CC_WINDOW_MIN);
	now_ns = rounds(&c, now_ns, 1200, 400000);
	assert_int_equal(c.min_delay_ns, 400000);
	assert_true(c.window > 10 * CC_ONE);
}

/* First samples include the queue of sessions that start together, so `swift` learns a long path
 * slowly. It uses a delay that the handshake measured at once. */
static void cc__swift_believes_a_long_path_slowly(void **state)
{
	struct cc c;

	cc_init(&c, CC_SWIFT, 1024, 0);
	uint64_t now_ns = rounds(&c, 0, 3, 200000);
	assert_true(c.window < RLTP_CC_INITIAL * CC_ONE / 2);
	assert_true(c.path_ns < 120000);
	rounds(&c, now_ns, 60, 200000);
	assert_int_equal(c.path_ns, 200000);
	assert_true(c.window > RLTP_CC_INITIAL * CC_ONE);

	cc_init(&c, CC_SWIFT, 1024, 0);
	cc_handshake_done(&c, 200000);
	rounds(&c, 0, 3, 200000);
	assert_true(c.window > RLTP_CC_INITIAL * CC_ONE);
	cc_handshake_done(&c, 0);
	assert_int_equal(c.min_delay_ns, 1);
	cc_handshake_done(&c, UINT64_MAX);
	assert_true(c.min_delay_ns == RLTP_DEAD_NS);
}

static void cc__appetite_does_not_raise_the_window(void **state)
{
	static const enum cc_kind kinds[] = {CC_SWIFT, CC_DCTCP, CC_RENO};

	for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
		struct cc c;
		cc_init(&c, kinds[k], 1024, 0);
		for (int starting = 1; starting >= 0; starting--) {
			c.starting = starting;
			uint32_t before = c.window;
			for (uint64_t t = 1; t <= 100; t++) {
				struct cc_ack a = ack_at(t * 20000 + (starting ? 0 : S_NS), 20000);
				a.limited = false;
				cc_acked(&c, &a);
			}
			assert_int_equal(c.window, before);
		}
	}
}

static void cc__full_receive_buffer(void **state)
{
	struct cc c;
	uint64_t now_ns = 0;

	cc_init(&c, CC_SWIFT, 1024, 0);
	now_ns = rounds(&c, now_ns, 100, 20000);
	uint32_t before = cc_window(&c);
	for (int i = 0; i < 8; i++) {
		now_ns += 200000;
		struct cc_ack a = ack_at(now_ns, 20000);
		a.rx_level = 31;
		cc_acked(&c, &a);
	}
	assert_true(cc_window(&c) < before / 20);
	/* The full receive buffer limits cc_window(); c.window stays. */
	assert_true(c.window >= before * CC_ONE);
	rounds(&c, now_ns, 100, 20000);
	assert_true(cc_window(&c) >= before);
}

static void cc__timeouts(void **state)
{
	struct cc c;

	cc_init(&c, CC_SWIFT, 1024, 0);
	uint64_t now_ns = rounds(&c, 0, 200, 20000);
	cc_timeout(&c, now_ns);
	assert_int_equal(cc_window(&c), RLTP_CC_INITIAL);
	assert_true(c.starting);
	for (int i = 0; i < 10; i++)
		cc_timeout(&c, now_ns);
	assert_int_equal(cc_window(&c), 1);
	assert_true(c.window >= CC_ONE);
	cc_init(&c, CC_RENO, 1024, 0);
	c.window = 100 * CC_ONE;
	cc_timeout(&c, 1);
	assert_int_equal(cc_window(&c), 1);
	assert_int_equal(c.threshold, 50 * CC_ONE);
	cc_init(&c, CC_NONE, 77, 0);
	cc_timeout(&c, 1);
	cc_lost(&c, 70, 77, 2);
	assert_int_equal(cc_window(&c), 77);
}

/* Draws a value, mostly below `usual`, otherwise 0, the maximum or any value. */
static uint32_t value(struct rng *r, uint32_t usual)
{
	switch (rng_below(r, 8)) {
	case 0: return 0;
	case 1: return (uint32_t)rng_next(r);
	case 2: return UINT32_MAX;
	default: return (uint32_t)rng_below(r, usual);
	}
}

static void check(const struct cc *c, uint32_t most, uint64_t seed)
{
	if (cc_window(c) < 1 || cc_window(c) > most || c->window < RLTP_CC_WINDOW_MIN ||
	    c->window > most * CC_ONE || c->host_window < RLTP_CC_WINDOW_MIN ||
	    c->host_window > most * CC_ONE || cc_window_fine(c) < RLTP_CC_WINDOW_MIN ||
	    (cc_window_fine(c) > most * CC_ONE && cc_window_fine(c) != CC_UNPACED))
		fail_msg("%s: window %u, %u of %u; replay with DXP_SEED=%llu",
			 cc_name((enum cc_kind)c->kind), c->window, c->host_window, most,
			 (unsigned long long)seed);
}

static void cc__no_input_leaves_the_bounds(void **state)
{
	for (uint64_t seed = seed_first(); seed <= seed_last(400); seed++) {
		struct rng r = {seed};
		uint32_t most = 1 + (uint32_t)rng_below(&r, WIRE_WINDOW_MAX);
		uint64_t now_ns = rng_below(&r, 2) ? rng_next(&r) >> 2 : 0;
		struct cc c;
		cc_init(&c, (enum cc_kind)(seed % CC_KINDS), most, now_ns);
		if (rng_below(&r, 2))
			cc_handshake_done(&c, value(&r, 1000000));
		for (int i = 0; i < 1000; i++) {
			struct cc_ack a = {.now_ns = now_ns,
					   .acked = value(&r, 64),
					   .inflight = value(&r, 2048),
					   .delay_ns = value(&r, 300000),
					   .rtt_ns = value(&r, 500000),
					   .marked = (uint16_t)value(&r, 16),
					   .rx_level = (uint8_t)value(&r, 32),
					   .limited = rng_below(&r, 2)};
			now_ns += rng_below(&r, 16) ? rng_below(&r, 100000) : rng_next(&r) >> 30;
			switch (rng_below(&r, 8)) {
			case 0: cc_lost(&c, value(&r, 8), value(&r, 2048), now_ns); break;
			case 1: cc_resume(&c, now_ns); break;
			case 2:
				if (rng_below(&r, 8) == 0)
					cc_timeout(&c, now_ns);
				break;
			default: cc_acked(&c, &a);
			}
			check(&c, most, seed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cc__names),
		cmocka_unit_test(cc__resume_halves_for_each_10_ms),
		cmocka_unit_test(cc__swift_gates_losses),
		cmocka_unit_test(cc__swift_learns_a_longer_path),
		cmocka_unit_test(cc__swift_believes_a_long_path_slowly),
		cmocka_unit_test(cc__appetite_does_not_raise_the_window),
		cmocka_unit_test(cc__full_receive_buffer),
		cmocka_unit_test(cc__timeouts),
		cmocka_unit_test(cc__no_input_leaves_the_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
