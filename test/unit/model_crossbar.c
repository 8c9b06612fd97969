/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model of the crossbar: head-of-line limits, Little's law, monotonicity, deadlock, no
 * lost packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/crossbar.h"

#define CYCLES 200000

static struct model_parameters setting(int64_t ports, int64_t channels)
{
	struct model_parameters p;

	model_parameters_default(&p);
	p.ports = ports;
	p.channels = channels;
	return p;
}

static uint64_t saturation(const struct model_parameters *p)
{
	uint64_t ppm;

	assert_int_equal(model_crossbar_saturation(p, 1, &ppm), DXP_OK);
	return ppm;
}

/* One deep queue per input, load 1: the known limits, as shares of the 0.8 that header and
 * processing leave. */
static void crossbar__head_of_line(void **state)
{
	static const unsigned limits[] = {0, 0, 7500, 6825, 6553, 6399, 6302, 6234, 6184};

	for (int64_t n = 2; n <= 8; n++) {
		struct model_parameters p = setting(n, 1);
		p.own_port = 1;
		p.depth = 1024;
		uint64_t share = saturation(&p) * 10 / 8;
		if (share < limits[n] * 99 || share > limits[n] * 101)
			fail_msg("%d ports: %llu ppm, not %u", (int)n, (unsigned long long)share,
				 limits[n] * 100);
	}
	struct model_parameters p = setting(64, 1);
	p.own_port = 1;
	p.depth = 1024;
	/* the limit for very many ports is 0.586 */
	assert_in_range(saturation(&p) * 10 / 8, 580000, 600000);
}

/* Each input has one deep queue for each output, and sources continue while one queue is full. Then
 * nothing blocks. */
static void crossbar__all_causes_off(void **state)
{
	struct model_parameters p = setting(4, 4);

	p.depth = 1024;
	p.allocator = MODEL_ALLOCATE_MAXIMAL;
	p.source = MODEL_SOURCE_ANY_ORDER;
	assert_in_range(saturation(&p), 795000, 800001);
	/* Without processing, a packet takes 9 cycles: one for its header, 8 for its payload. The
	 * limit is 8 / 9. */
	p.process_cycles = 0;
	assert_in_range(saturation(&p), 880000, 888900);
}

/* No packet waits: three transfers. */
static void crossbar__idle(void **state)
{
	struct model_parameters p = setting(4, 2);

	p.load_permille = 1;
	struct model_crossbar *x = model_crossbar_create(&p, 3);
	assert_non_null(x);
	model_crossbar_reset(x);
	model_crossbar_run(x, CYCLES);
	const struct model_crossbar_sums *s = model_crossbar_sums(x);
	assert_true(s->delivered > 50);
	assert_int_equal(s->least_time, 3 * model_crossbar_cycles(&p));
	assert_true(s->time < s->delivered * 31);
	model_crossbar_destroy(x);
}

static void crossbar__conserves(void **state)
{
	for (int64_t allocator = 0; allocator <= MODEL_ALLOCATE_MAXIMAL; allocator++) {
		for (int64_t depth = 1; depth <= 16; depth *= 4) {
			struct model_parameters p = setting(8, 4);
			p.allocator = allocator;
			p.depth = depth;
			p.load_permille = 300;
			p.message_packets = 3;
			struct model_crossbar *x = model_crossbar_create(&p, 5);
			assert_non_null(x);
			model_crossbar_run(x, CYCLES);
			assert_true(model_crossbar_drain(x, CYCLES));
			const struct model_crossbar_sums *s = model_crossbar_sums(x);
			assert_true(s->generated > 10000);
			assert_int_equal(s->generated, s->delivered);
			model_crossbar_destroy(x);
		}
	}
}

/* Mean number inside = rate * mean time. */
static void crossbar__little(void **state)
{
	for (int64_t load = 100; load <= 500; load += 200) {
		struct model_parameters p = setting(8, 2);
		p.load_permille = load;
		struct model_crossbar *x = model_crossbar_create(&p, 7);
		assert_non_null(x);
		model_crossbar_run(x, CYCLES);
		model_crossbar_reset(x);
		model_crossbar_run(x, CYCLES);
		const struct model_crossbar_sums *s = model_crossbar_sums(x);
		assert_in_range(s->inside, s->time * 99 / 100, s->time * 101 / 100);
		model_crossbar_destroy(x);
	}
}

static void crossbar__carries_the_load(void **state)
{
	struct model_crossbar_point point;
	struct model_parameters p = setting(4, 4);

	p.load_permille = 500;
	assert_int_equal(model_crossbar_measure(&p, 1, 1000000, &point), DXP_OK);
	assert_false(point.saturated);
	assert_in_range(point.throughput_ppm, 495000, 505000);
	p.load_permille = 900;
	assert_int_equal(model_crossbar_measure(&p, 1, 1000000, &point), DXP_OK);
	assert_true(point.saturated);
}

/* More virtual channels or deeper queues never reduce throughput; more ports never raise it
 * (C-44). */
static void crossbar__more_is_never_slower(void **state)
{
	uint64_t last = 0;

	for (int64_t channels = 1; channels <= 8; channels *= 2) {
		struct model_parameters p = setting(8, channels);
		uint64_t now = saturation(&p);
		assert_true(now * 1005 > last * 1000);
		last = now;
	}
	last = 0;
	for (int64_t depth = 1; depth <= 64; depth *= 4) {
		struct model_parameters p = setting(4, 4);
		p.depth = depth;
		uint64_t now = saturation(&p);
		assert_true(now * 1005 > last * 1000);
		last = now;
	}
	last = UINT64_MAX / 2000;
	for (int64_t ports = 4; ports <= 16; ports *= 2) {
		struct model_parameters p = setting(ports, 4);
		uint64_t now = saturation(&p);
		assert_true(now * 1000 < last * 1005);
		last = now;
	}
}

static void crossbar__knee(void **state)
{
	struct model_parameters p = setting(4, 2);
	uint64_t knee, again, full = saturation(&p);

	assert_int_equal(model_crossbar_knee(&p, 1, &knee), DXP_OK);
	assert_in_range(knee, full * 90 / 100, full * 102 / 100);
	assert_int_equal(model_crossbar_knee(&p, 1, &again), DXP_OK);
	assert_int_equal(knee, again);
	/* Another seed changes little. */
	assert_int_equal(model_crossbar_knee(&p, 99, &again), DXP_OK);
	assert_in_range(again, knee * 98 / 100, knee * 102 / 100);
}

/* Those that model-hardware.md lists as open. */
static void crossbar__settings(void **state)
{
	static const struct {
		int64_t depth, packets, own_port, allocator, source;
	} settings[] = {
		{1, 1, 0, 0, 0},   {8, 1, 0, 0, 0},  {64, 1, 0, 0, 0}, {32, 4, 0, 0, 0},
		{32, 16, 0, 0, 0}, {32, 1, 1, 0, 0}, {32, 1, 0, 1, 0}, {32, 1, 0, 2, 0},
		{32, 1, 0, 0, 1},  {1, 16, 0, 0, 0},
	};
	struct model_parameters p;

	for (unsigned i = 0; i < ARRAY_COUNT(settings); i++) {
		struct model_parameters expected = setting(4, 2);
		p = expected;
		expected.depth = settings[i].depth;
		expected.message_packets = settings[i].packets;
		expected.own_port = settings[i].own_port;
		expected.allocator = settings[i].allocator;
		expected.source = settings[i].source;
		assert_true(model_crossbar_setting(&p, i));
		assert_memory_equal(&p, &expected, sizeof(p));
	}
	assert_false(model_crossbar_setting(&p, ARRAY_COUNT(settings)));
}

static void interval_row(void *context, const struct model_row *row)
{
	struct model_row *rows = context;

	if (strcmp(row->quantity, "knee") == 0)
		rows[0] = *row;
	if (strcmp(row->quantity, "saturation") == 0)
		rows[1] = *row;
}

/* The intervals of knee and saturation range from the least to the largest value over all
 * settings. */
static void crossbar__intervals(void **state)
{
	struct model_parameters p = setting(3, 2);
	struct model_row rows[2] = {{.value = 0}, {.value = 0}};
	const struct model_sink sink = {interval_row, rows};
	uint64_t knee[3], full[3]; /* ppm: named prediction, least, largest */

	assert_int_equal(model_crossbar_knee(&p, 1, &knee[0]), DXP_OK);
	full[0] = full[1] = full[2] = saturation(&p);
	knee[1] = knee[2] = knee[0];
	for (unsigned i = 0;; i++) {
		struct model_parameters s = p;
		uint64_t ppm;
		if (!model_crossbar_setting(&s, i))
			break;
		assert_int_equal(model_crossbar_knee(&s, 1, &ppm), DXP_OK);
		knee[1] = min_u64(knee[1], ppm);
		knee[2] = max_u64(knee[2], ppm);
		full[1] = min_u64(full[1], saturation(&s));
		full[2] = max_u64(full[2], saturation(&s));
	}
	assert_true(knee[1] < knee[0] && knee[0] < knee[2]);
	assert_true(full[1] < full[0] && full[0] < full[2]);
	assert_int_equal(model_crossbar_knee_rows(&p, 1, true, &sink), DXP_OK);
	const uint64_t *const expected[] = {knee, full};
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rows[i].value * 1e6 + 0.5, expected[i][0]);
		assert_int_equal(rows[i].low * 1e6 + 0.5, expected[i][1]);
		assert_int_equal(rows[i].high * 1e6 + 0.5, expected[i][2]);
	}
	/* low and high equal the value */
	assert_int_equal(model_crossbar_knee_rows(&p, 1, false, &sink), DXP_OK);
	for (unsigned i = 0; i < 2; i++)
		assert_true(rows[i].low == rows[i].value && rows[i].high == rows[i].value);
}

static void crossbar__get_deadlock(void **state)
{
	char cycle[256];
	unsigned deadlocks = 0;

	for (int64_t depth = 1; depth <= 8; depth *= 2) {
		for (int64_t packets = 1; packets <= 8; packets *= 2) {
			for (uint32_t gets = 1; gets <= 64; gets *= 2) {
				struct model_parameters p = setting(2, 1);
				p.depth = depth;
				p.message_packets = packets;
				assert_int_equal(
					model_crossbar_deadlock(&p, gets, cycle, sizeof(cycle)), 0);
				p.get_channel = 1;
				int found = model_crossbar_deadlock(&p, gets, cycle, sizeof(cycle));
				assert_true(found >= 0);
				deadlocks += (unsigned)found;
				if (gets == 64)
					assert_int_equal(found, 1);
			}
		}
	}
	assert_true(deadlocks > 50);
	assert_string_equal(cycle,
			    "send engine 0 -> queue 0 -> receive engine 1 -> send engine 1 -> "
			    "queue 1 -> receive engine 0 -> send engine 0");
}

static void crossbar__both_ends(void **state)
{
	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		if (strcmp(row->group, "crossbar") != 0 || row->choices)
			continue;
		for (unsigned end = 0; end < 2; end++) {
			struct model_parameters p = setting(4, 2);
			assert_int_equal(model_parameter_put(&p, row, end ? row->high : row->low),
					 DXP_OK);
			if (model_parameters_check(&p)) {
				assert_non_null(strstr(error_text(), "llowed"));
				continue;
			}
			struct model_crossbar *x = model_crossbar_create(&p, 1);
			assert_non_null(x);
			model_crossbar_run(x, 20000);
			assert_true(p.load_permille == 1 || model_crossbar_sums(x)->delivered > 0);
			model_crossbar_destroy(x);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crossbar__head_of_line),
		cmocka_unit_test(crossbar__all_causes_off),
		cmocka_unit_test(crossbar__idle),
		cmocka_unit_test(crossbar__conserves),
		cmocka_unit_test(crossbar__little),
		cmocka_unit_test(crossbar__carries_the_load),
		cmocka_unit_test(crossbar__more_is_never_slower),
		cmocka_unit_test(crossbar__knee),
		cmocka_unit_test(crossbar__settings),
		cmocka_unit_test(crossbar__intervals),
		cmocka_unit_test(crossbar__get_deadlock),
		cmocka_unit_test(crossbar__both_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
