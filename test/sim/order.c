/* SPDX-License-Identifier: BSD-3-Clause */
/* Under every fault, a NAP arrives behind all data of the PUTs before it on its queue pair, so a
 * program need not wait in between. Between queue pairs early NAPs do occur, which shows that the
 * test detects them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define SEEDS      1000
#define QPS        4
#define WRITES     24 /* per seed */
#define MOST_BYTES 20000

struct rig {
	struct sim *sim;
	uint8_t from[WRITES][MOST_BYTES], to[WRITES][MOST_BYTES];
	uint32_t bytes[WRITES];
	uint32_t from_key, to_key;
	/* two per write: data, then NAP */
	uint32_t posted;
	/* NAPs completed, received, and received before their data */
	uint32_t ended, received, early;
	/* distance of the NAP's queue pair; 0: the data's */
	uint32_t apart;
};

static struct rig rig;

static void rig_make(struct rig *r, const struct sim_options *o, uint32_t apart)
{
	struct rng rng = {o->seed};

	memset(r, 0, sizeof(*r));
	r->apart = apart;
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < WRITES; i++) {
		/* a short PUT shares a batch with its NAP */
		r->bytes[i] = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 2) ? MOST_BYTES : 300);
		for (uint32_t k = 0; k < r->bytes[i]; k++)
			/* never 0, to show missing bytes */
			r->from[i][k] = (uint8_t)(1 + (k * 31 + i) % 255);
	}
	assert_int_equal(nic_region_register(sim_nic(r->sim, 0), 0, r->from, sizeof(r->from),
					     NIC_LOCAL, &r->from_key),
			 DXP_OK);
	assert_int_equal(nic_region_register(sim_nic(r->sim, 1), 0, r->to, sizeof(r->to),
					     NIC_REMOTE_WRITE, &r->to_key),
			 DXP_OK);
}

/* Posts half of a write: even k posts the data of write k / 2, odd k its NAP. */
static int half_post(struct rig *r, uint32_t k)
{
	struct dxp_window *w = sim_window(r->sim, 0);
	uint32_t i = k / 2, qp = i % QPS;

	if (k % 2) {
		qp = (qp + r->apart) % QPS;
		const struct dxp_target to = sim_target(r->sim, 1, (uint16_t)qp);
		return dxp_post_nap(w, qp, &to, "there", 5, i, 0);
	}
	const struct dxp_target to = sim_target(r->sim, 1, (uint16_t)qp);
	const uint64_t at = (uint64_t)i * MOST_BYTES;
	struct dxp_entry local = {at, r->bytes[i], r->from_key},
			 remote = {at, r->bytes[i], r->to_key};
	struct nic_lists lists = {&local, &remote, 1, 1};
	return nic_user_put(w, qp, &to, &lists, 0);
}

static bool all_received(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event sent;
	const struct dxp_nic_event *e;
	const uint8_t *data;

	while (dxp_sent_dequeue(sim_window(r->sim, 0), &sent)) {
		assert_int_equal(sent.status, DXP_OK);
		r->ended++;
	}
	while ((e = nic_user_received_peek(sim_window(r->sim, 1), &data)) != NULL) {
		assert_int_equal(e->type, DXP_EVENT_NAP);
		assert_true(e->imm < WRITES);
		r->early += memcmp(r->from[e->imm], r->to[e->imm], r->bytes[e->imm]) != 0;
		r->received++;
		dxp_received_release(sim_window(r->sim, 1));
	}
	while (r->posted < 2 * WRITES && half_post(r, r->posted) == DXP_OK)
		r->posted++;
	return r->received == WRITES && r->ended == 2 * WRITES;
}

/* Returns the NAPs that came before their data. */
static uint32_t early_words(uint64_t seed, uint32_t apart)
{
	struct rng rng = {~seed};
	const struct sim_options o = {
		.seed = seed,
		.hosts = 2,
		.delay_ns = 1000 + rng_below(&rng, 50 * US_NS),
		.rate_bps = rng_below(&rng, 2) ? 10000000000ull : 0,
		.window_packets = rng_below(&rng, 3) ? 0 : 4 + (uint32_t)rng_below(&rng, 30),
		.faults = {.loss_ppm = (uint32_t)rng_below(&rng, 150000),
			   .duplicate_ppm = (uint32_t)rng_below(&rng, 100000),
			   .reorder_ppm = (uint32_t)rng_below(&rng, 200000),
			   .reorder_ns = rng_below(&rng, 500 * US_NS),
			   .jitter_ns = rng_below(&rng, 20 * US_NS)}};

	rig_make(&rig, &o, apart);
	if (!sim_run(rig.sim, 1000 * S_NS, all_received, &rig))
		fail_msg("seed %llu: %u of %u heard", (unsigned long long)seed, rig.received,
			 WRITES);
	const char *broken = invariants_broken(sim_nic(rig.sim, 1));
	if (broken)
		fail_msg("seed %llu: %s", (unsigned long long)seed, broken);
	sim_destroy(rig.sim);
	return rig.early;
}

static void order__data_is_there_when_its_word_is(void **state)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1, count = one ? 1 : SEEDS;

	for (uint64_t seed = first; seed < first + count; seed++)
		if (early_words(seed, 0))
			fail_msg("replay with DXP_SEED=%llu: %u words came before their data",
				 (unsigned long long)seed, rig.early);
}

static void order__none_between_queue_pairs(void **state)
{
	uint32_t early = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		early += early_words(seed, 1);
	assert_true(early > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order__data_is_there_when_its_word_is),
		cmocka_unit_test(order__none_between_queue_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
