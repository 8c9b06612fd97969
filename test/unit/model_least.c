/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the least of repeated measurements, and whether the two least agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>

#include <cmocka.h>

#include "base/util.h"
#include "model/least.h"

static const struct {
	double values[5];
	unsigned count;
	double best, spread; /* percent */
	bool agrees;         /* spread of at most 25 % */
} cases[] = {
	{{100}, 1, 100, INFINITY, false},
	{{100, 100}, 2, 100, 0, true},
	{{125, 100}, 2, 100, 25, true},
	{{100, 126}, 2, 100, 26, false},
	{{100, 900, 110}, 3, 100, 10, true},
	{{900, 100, 110}, 3, 100, 10, true},
	{{110, 900, 100}, 3, 100, 10, true},
	{{110, 105, 60}, 3, 60, 75, false},
	{{900, 800, 110, 700, 100}, 5, 100, 10, true},
	{{0, 0}, 2, 0, INFINITY, false},
	{{-5, 100}, 2, -5, INFINITY, false},
};

static void least__of_values(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct model_least l = {0};
		for (unsigned k = 0; k < cases[i].count; k++)
			model_least_add(&l, cases[i].values[k]);
		assert_true(l.best == cases[i].best);
		assert_true(l.count == cases[i].count);
		if (isinf(cases[i].spread))
			assert_true(isinf(model_least_spread(&l)));
		else
			assert_true(fabs(model_least_spread(&l) - cases[i].spread) < 1e-9);
		if (model_least_agrees(&l, 25) != cases[i].agrees)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least__of_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
