/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model of the functions' shares: closed forms, policies, weights. */
#include <math.h>
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
#include "model/share.h"

#define SEEDS 15

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t median_settled(const struct model_parameters *p)
{
	uint64_t settled[SEEDS];
	struct model_share s;

	for (unsigned i = 0; i < SEEDS; i++) {
		assert_int_equal(model_share_run(p, i, model_share_quanta(p), NULL, NULL, &s),
				 DXP_OK);
		settled[i] = s.settled;
	}
	qsort(settled, SEEDS, sizeof(*settled), compare);
	return settled[SEEDS / 2];
}

/* The median is within a factor of two. With random arrival this needs a small tolerance: for
 * larger ones, the FIFOs let the arbiter equalise the shares. */
static void share__as_closed_form(void **state)
{
	for (int64_t arrival = 0; arrival < 2; arrival++) {
		for (int64_t bytes = 4096; bytes <= 65536; bytes *= 16) {
			struct model_parameters p;
			model_parameters_default(&p);
			p.arrival = arrival;
			p.largest_bytes = bytes;
			p.tolerance_permille = arrival == MODEL_ARRIVAL_SATURATED ? 100 : 50;
			uint64_t closed = model_share_closed(&p);
			assert_in_range(median_settled(&p), closed / 2, closed * 2);
		}
	}
}

/* F m / B x (z / e)^2 x (cv^2 + 1 - 1 / F) cycles; F: functions, m: mean message bytes, B: link
 * bytes per cycle, z: 2 standard deviations, e: tolerance, cv: relative standard deviation of
 * sizes, cv^2 nearly a third if uniform. 1 - 1 / F counts with random arrival only. */
static void share__closed_form(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	double cycles = 8 * (4097.0 / 2) / 12.8 * (2 / 0.05) * (2 / 0.05) * (4095.0 / 4097 / 3);
	p.arrival = MODEL_ARRIVAL_SATURATED;
	assert_true(fabs((double)model_share_closed(&p) / cycles - 1) < 1e-5);
	cycles += 8 * (4097.0 / 2) / 12.8 * (2 / 0.05) * (2 / 0.05) * (1 - 1.0 / 8);
	p.arrival = MODEL_ARRIVAL_RANDOM;
	assert_true(fabs((double)model_share_closed(&p) / cycles - 1) < 1e-5);
}

#define SPREAD_SEEDS    200
#define SPREAD_MESSAGES 5000 /* per function */

/* Returns the mean square of a share's relative deviation from an equal share, over all functions
 * and seeds. */
static double mean_square(const struct model_parameters *p)
{
	double sum = 0;

	for (uint64_t seed = 1; seed <= SPREAD_SEEDS; seed++) {
		struct model_share out;
		assert_int_equal(model_share_run(p, seed, 8 * SPREAD_MESSAGES, NULL, NULL, &out),
				 DXP_OK);
		for (unsigned f = 0; f < 8; f++) {
			double off = 8 * (double)out.bytes[f] / (double)out.total_bytes - 1;
			sum += off * off;
		}
	}
	return sum / (8 * SPREAD_SEEDS);
}

/* After k messages of each function, the variance is (1 - 1 / F) cv^2 / k, or (1 - 1 / F) (1 +
 * cv^2) / k with random arrival. The closed form omits the factor before cv^2. */
static void share__spread(void **state)
{
	struct model_parameters p;
	const double cv2 = 4095.0 / 4097 / 3, level = 7.0 / 8 / SPREAD_MESSAGES;

	model_parameters_default(&p);
	p.arrival = MODEL_ARRIVAL_SATURATED;
	assert_true(fabs(mean_square(&p) / (level * cv2) - 1) < 0.08);
	p.arrival = MODEL_ARRIVAL_RANDOM;
	assert_true(fabs(mean_square(&p) / (level * (1 + cv2)) - 1) < 0.08);
}

/* If the FIFOs stay full, arbitration by packets or bytes gives equal shares soon. Arbitration by
 * messages takes much longer (C-37). */
static void share__policies(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	p.arrival = MODEL_ARRIVAL_SATURATED;
	uint64_t message = median_settled(&p);
	p.policy = MODEL_SHARE_PACKET;
	uint64_t packet = median_settled(&p);
	p.policy = MODEL_SHARE_BYTES;
	uint64_t bytes = median_settled(&p);
	assert_true(packet * 20 < message);
	assert_true(bytes * 10 < message);
	assert_true(packet < bytes);
}

/* Half the tolerance: four times the cycles; twice the size: twice. */
static void share__scales(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	uint64_t base = model_share_closed(&p);
	p.tolerance_permille /= 2;
	assert_in_range(model_share_closed(&p), 4 * base - 4, 4 * base + 4);
	p.tolerance_permille *= 2;
	p.largest_bytes *= 2;
	assert_in_range(model_share_closed(&p), 2 * base * 999 / 1000, 2 * base * 1001 / 1000);
}

static void share__weights(void **state)
{
	struct model_parameters p;
	struct model_share s;

	model_parameters_default(&p);
	p.arrival = MODEL_ARRIVAL_SATURATED;
	p.policy = MODEL_SHARE_WEIGHTS;
	p.first_weight = 4;
	assert_int_equal(model_share_run(&p, 1, 50000, NULL, NULL, &s), DXP_OK);
	assert_true(s.level);
	assert_in_range(s.bytes[0] * 1000 / s.bytes[7], 3960, 4040);
	assert_in_range(s.jain_ppm, 999900, 1000000);
}

static void share__conserves_and_repeats(void **state)
{
	for (int64_t policy = 0; policy <= MODEL_SHARE_NONE; policy++) {
		struct model_parameters p;
		struct model_share a, b;
		uint64_t sum = 0;
		model_parameters_default(&p);
		p.policy = policy;
		assert_int_equal(model_share_run(&p, 9, 20000, NULL, NULL, &a), DXP_OK);
		assert_int_equal(model_share_run(&p, 9, 20000, NULL, NULL, &b), DXP_OK);
		assert_memory_equal(&a, &b, sizeof(a));
		for (int64_t i = 0; i < p.functions; i++)
			sum += a.bytes[i];
		assert_int_equal(sum, a.total_bytes);
		/* at most 12.8 bytes per cycle */
		assert_true(a.total_bytes * 10 <= a.cycles * 128);
	}
}

static void share__both_ends(void **state)
{
	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		if (strcmp(row->group, "share") != 0 || row->choices)
			continue;
		for (unsigned end = 0; end < 2; end++) {
			struct model_parameters p;
			struct model_share s;
			model_parameters_default(&p);
			p.policy = MODEL_SHARE_WEIGHTS;
			assert_int_equal(model_parameter_put(&p, row, end ? row->high : row->low),
					 DXP_OK);
			assert_int_equal(model_share_run(&p, 1, 2000, NULL, NULL, &s), DXP_OK);
			assert_true(s.total_bytes > 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share__as_closed_form),
		cmocka_unit_test(share__closed_form),
		cmocka_unit_test(share__spread),
		cmocka_unit_test(share__policies),
		cmocka_unit_test(share__scales),
		cmocka_unit_test(share__weights),
		cmocka_unit_test(share__conserves_and_repeats),
		cmocka_unit_test(share__both_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
