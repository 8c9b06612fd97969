/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the model's event queue with a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "model/queue.h"

#define EVENTS 400
#define ROUNDS 20000

/* An event of the plain list, which is in the order of adding. Cancelled and past events are not
 * live. */
struct listed {
	uint64_t at_ps, id;
	bool live;
};

static void queue__keeps_time_then_order(void **state)
{
	struct model_queue q;
	struct model_event e;
	static const uint64_t times[] = {5, 3, 5, 3, 0, 5};
	static const uint32_t order[] = {4, 1, 3, 0, 2, 5};

	assert_int_equal(model_queue_create(&q, 1), DXP_OK);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(model_queue_add(&q, times[i], 7, i) != 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_true(model_queue_next(&q, &e));
		assert_int_equal(e.subject, order[i]);
		assert_int_equal(e.at_ps, times[order[i]]);
		assert_int_equal(e.kind, 7);
		assert_int_equal(q.now_ps, e.at_ps);
	}
	assert_false(model_queue_next(&q, &e));
	model_queue_destroy(&q);
}

static void queue__cancels_once(void **state)
{
	struct model_queue q;
	struct model_event e;

	assert_int_equal(model_queue_create(&q, 4), DXP_OK);
	uint64_t a = model_queue_add(&q, 1, 0, 1), b = model_queue_add(&q, 2, 0, 2);
	assert_true(model_queue_cancel(&q, a));
	assert_false(model_queue_cancel(&q, a));
	/* The entry of `a` is reused, but its id stays invalid. */
	uint64_t c = model_queue_add(&q, 3, 0, 3);
	assert_false(model_queue_cancel(&q, a));
	assert_int_equal(q.live, 2);
	assert_true(model_queue_next(&q, &e));
	assert_int_equal(e.subject, 2);
	assert_false(model_queue_cancel(&q, b));
	assert_true(model_queue_cancel(&q, c));
	assert_false(model_queue_next(&q, &e));
	assert_false(model_queue_cancel(&q, 0));
	assert_false(model_queue_cancel(&q, UINT64_MAX));
	model_queue_destroy(&q);
}

/* EVENTS: none is live. */
static uint32_t listed_next(const struct listed *list, uint32_t count)
{
	uint32_t best = EVENTS;

	for (uint32_t i = 0; i < count; i++)
		if (list[i].live && (best == EVENTS || list[i].at_ps < list[best].at_ps))
			best = i;
	return best;
}

static void random_round(struct rng *rng)
{
	struct listed list[EVENTS];
	struct model_queue q;
	struct model_event e;
	uint32_t count = 0;

	assert_int_equal(model_queue_create(&q, 1), DXP_OK);
	while (count < EVENTS) {
		uint32_t best = listed_next(list, count);
		switch (rng_below(rng, 4)) {
		case 0:
			assert_int_equal(model_queue_next(&q, &e), best < EVENTS);
			if (best < EVENTS) {
				assert_int_equal(e.subject, best);
				list[best].live = false;
			}
			break;
		case 1:
			if (count > 0) {
				struct listed *l = &list[rng_below(rng, count)];
				assert_int_equal(model_queue_cancel(&q, l->id), l->live);
				l->live = false;
			}
			break;
		default:
			/* all magnitudes up to 2^49 ps */
			list[count].at_ps = q.now_ps + rng_below(rng, 1ull << rng_below(rng, 50));
			list[count].live = true;
			list[count].id = model_queue_add(&q, list[count].at_ps, 0, count);
			assert_true(list[count].id != 0);
			count++;
		}
	}
	model_queue_destroy(&q);
}

static void queue__as_a_list(void **state)
{
	struct rng rng = {.state = 11};

	for (unsigned i = 0; i < ROUNDS / EVENTS; i++)
		random_round(&rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue__keeps_time_then_order),
		cmocka_unit_test(queue__cancels_once),
		cmocka_unit_test(queue__as_a_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
