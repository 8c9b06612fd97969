/* SPDX-License-Identifier: BSD-3-Clause */
/* GET requests have their own scheduling class (C-22): all are answered with read tables of any
 * size, both ways at once, also beside PUTs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define GETS   1000
#define BYTES  1400 /* one packet */
#define STRIDE 4096 /* bytes between GETs, in source and target */
#define QPS    NIC_QPS_PER_FUNCTION

struct side {
	uint8_t *source, *target; /* GETS operations at STRIDE */
	uint32_t source_key, target_key;
	uint32_t posted, ended;
};

struct rig {
	struct sim *sim;
	struct side sides[2];
	bool puts; /* every other operation is a PUT */
	const char *broken;
};

static uint8_t pattern(uint32_t side, uint32_t get, uint32_t i)
{
	return (uint8_t)(side * 101 + get * 13 + i * 7);
}

static void rig_open(struct rig *r, const struct sim_options *o, uint16_t reads_max)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	for (uint32_t s = 0; s < 2; s++) {
		struct side *side = &r->sides[s];
		struct nic *n = sim_nic(r->sim, s);
		side->source = malloc(GETS * STRIDE);
		side->target = calloc(GETS, STRIDE);
		assert_true(side->source && side->target);
		for (uint32_t g = 0; g < GETS; g++)
			for (uint32_t i = 0; i < STRIDE; i++)
				side->source[g * STRIDE + i] = pattern(s, g, i);
		n->options.reads_max = reads_max;
		n->options.receive_entries = 1;
		nic_region_register(n, 0, side->source, GETS * STRIDE, NIC_REMOTE_READ,
				    &side->source_key);
		nic_region_register(n, 0, side->target, GETS * STRIDE, NIC_REMOTE_WRITE,
				    &side->target_key);
	}
}

static void rig_close(struct rig *r)
{
	sim_destroy(r->sim);
	for (uint32_t s = 0; s < 2; s++) {
		free(r->sides[s].source);
		free(r->sides[s].target);
	}
}

static void gets_post(struct rig *r, uint32_t s)
{
	struct side *side = &r->sides[s];
	int status = DXP_OK;

	while (side->posted < GETS && status == DXP_OK) {
		uint8_t q = (uint8_t)(side->posted % QPS);
		uint64_t offset = (uint64_t)side->posted * STRIDE;
		struct dxp_target to = sim_target(r->sim, 1 - s, q);
		const bool put = r->puts && side->posted / QPS % 2;
		struct dxp_entry local = {offset, BYTES, put ? side->source_key : side->target_key};
		struct dxp_entry remote = {offset, BYTES,
					   put ? r->sides[1 - s].target_key
					       : r->sides[1 - s].source_key};
		struct nic_lists lists = {&local, &remote, 1, 1};
		status = put ? nic_user_put(sim_window(r->sim, s), q, &to, &lists, 0)
			     : nic_user_get(sim_window(r->sim, s), q, &to, &lists, 0);
		side->posted += status == DXP_OK;
	}
}

static bool step(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event event;

	for (uint32_t s = 0; s < 2 && !r->broken; s++) {
		while (dxp_sent_dequeue(sim_window(r->sim, s), &event)) {
			r->sides[s].ended++;
			if (event.status != DXP_OK)
				r->broken = "a GET that failed";
		}
		gets_post(r, s);
		const char *broken = invariants_broken(sim_nic(r->sim, s));
		if (broken)
			r->broken = broken;
	}
	return r->broken || (r->sides[0].ended == GETS && r->sides[1].ended == GETS);
}

/* Returns the bytes that the operations of the other side have moved, by this side's counters. */
static uint64_t received_bytes(const struct rig *r, uint32_t s)
{
	struct nic_qp_counters counters;
	uint64_t sum = 0;

	for (uint32_t q = 0; q < QPS; q++) {
		nic_qp_counters(sim_nic(r->sim, s), 0, q, &counters);
		sum += counters.received_bytes;
	}
	return sum;
}

static void all_gets_arrive(struct rig *r)
{
	bool finished = sim_run(r->sim, 1000 * S_NS, step, r);

	assert_null(r->broken);
	assert_true(finished);
	for (uint32_t s = 0; s < 2; s++)
		assert_int_equal(received_bytes(r, s), GETS * BYTES);
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t g = 0; g < GETS; g++)
			for (uint32_t i = 0; i < STRIDE; i++)
				assert_int_equal(r->sides[s].target[g * STRIDE + i],
						 i < BYTES ? pattern(1 - s, g, i) : 0);
}

/* Each NIC has space for one outstanding request, one answer, one packet. */
static void reads__with_space_for_one_of_everything(void **state)
{
	const struct sim_options o = {.seed = 1, .hosts = 2, .window_packets = 1};
	struct rig r;

	rig_open(&r, &o, 1);
	all_gets_arrive(&r);
	rig_close(&r);
}

static void reads__with_space_for_one_and_loss(void **state)
{
	const struct sim_options o = {
		.seed = 2,
		.hosts = 2,
		.window_packets = 1,
		.faults = {.loss_ppm = 50000, .duplicate_ppm = 20000, .reorder_ppm = 20000},
	};
	struct rig r;

	rig_open(&r, &o, 1);
	all_gets_arrive(&r);
	rig_close(&r);
}

/* PUTs and answers have one packet in flight each. */
static void reads__beside_puts(void **state)
{
	const struct sim_options o[] = {
		{.seed = 5, .hosts = 2, .window_packets = 1},
		{.seed = 6,
		 .hosts = 2,
		 .window_packets = 1,
		 .faults = {.loss_ppm = 50000, .duplicate_ppm = 20000, .reorder_ppm = 20000}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(o); i++) {
		struct rig r;
		rig_open(&r, &o[i], 1);
		r.puts = true;
		all_gets_arrive(&r);
		rig_close(&r);
	}
}

/* Both hosts may have NIC_READS_MAX reads outstanding. */
static void reads__as_many_as_there_may_be(void **state)
{
	const struct sim_options o = {
		.seed = 3, .hosts = 2, .rate_bps = 1000000000, .faults = {.loss_ppm = 20000}};
	struct rig r;

	rig_open(&r, &o, NIC_READS_MAX);
	all_gets_arrive(&r);
	rig_close(&r);
}

/* The responder defers requests beyond its space. */
static void reads__more_requested_than_answered(void **state)
{
	const struct sim_options o = {.seed = 4, .hosts = 2};
	struct rig r;

	rig_open(&r, &o, NIC_READS_MAX);
	sim_nic(r.sim, 1)->options.reads_max = 2;
	all_gets_arrive(&r);
	assert_true(nic_counters(sim_nic(r.sim, 1))->receiver_busy > 0);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads__with_space_for_one_of_everything),
		cmocka_unit_test(reads__with_space_for_one_and_loss),
		cmocka_unit_test(reads__beside_puts),
		cmocka_unit_test(reads__as_many_as_there_may_be),
		cmocka_unit_test(reads__more_requested_than_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
