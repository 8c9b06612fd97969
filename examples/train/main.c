/* SPDX-License-Identifier: BSD-3-Clause */
/* cl_train: data-parallel training over the devices of an OpenCL platform. README.md explains it.
 *
 *   dxp up --xpus 4 && dxp run -- cl_train; dxp down */
#include <stdlib.h>
#include <time.h>

#include "digits.h"
#include "fail.h"
#include "network.h"
#include "options.h"
#include "random.h"
#include "report.h"
#include "sum.h"

#define SPLIT_SEED 20   /* the same samples are held out in every run */
#define RATE_STEP  0.7f /* from one epoch to the next */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns all sample numbers in random order; the last tenth is held out. */
static uint32_t *split(uint32_t count)
{
	struct random r = {SPLIT_SEED};
	uint32_t *order = allocate(count, sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	random_shuffle(&r, order, count);
	return order;
}

static void epoch_run(struct network *n, uint32_t *order, uint32_t steps, uint32_t learnable,
		      struct random *r, struct epoch *e)
{
	const uint32_t batch = n->options->batch;

	random_shuffle(r, order, learnable);
	network_order(n, order, random_bits(r) | 1, e->rate);
	const double begin = now();
	for (uint32_t step = 0; step < steps; step++)
		network_step(n, step * batch);
	e->training = network_finish(n);
	e->seconds = now() - begin;
	e->seconds_all += e->seconds;
	e->steps = steps;
	e->sums = sum_totals(n->sum);
	e->test = network_evaluate(n, learnable, e->held);
	e->weights = network_same(n);
}

static void learn(const struct options *o, const struct digits *digits)
{
	static struct network n;
	const uint32_t held = digits->count / 10, learnable = digits->count - held;
	const uint32_t steps = learnable / o->batch;
	struct epoch e = {.learned = steps * o->batch, .held = held, .rate = o->rate};
	struct random r = {o->seed + UINT64_C(1)};
	uint32_t *order = split(digits->count);

	if (steps == 0)
		fail("--batch %u is more than the %u samples to learn from", o->batch, learnable);
	FILE *json = report_open(o);
	network_open(&n, o, digits);
	printf("%u xPUs, summed by %s: %u digits to learn from, %u held out, batches of %u\n",
	       n.replica_count, o->way->name, learnable, held, o->batch);
	for (e.number = 1; e.number <= o->epochs; e.number++) {
		epoch_run(&n, order, steps, learnable, &r, &e);
		report_epoch(&n, &e, json);
		e.rate *= RATE_STEP;
	}
	network_close(&n);
	report_close(o, json);
	free(order);
}

int main(int argc, char **argv)
{
	struct options options;
	struct digits digits;

	options_parse(&options, argc, argv);
	if (options.drawn)
		digits_draw(options.drawn, options.seed, &digits);
	else
		digits_read(options.folder, &digits);
	learn(&options, &digits);
	digits_release(&digits);
	return EXIT_SUCCESS;
}
