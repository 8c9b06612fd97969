/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up hosts with memory for atomics. Include cmocka.h first. */
#ifndef TEST_SIM_ATOMICS_H
#define TEST_SIM_ATOMICS_H

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define HOSTS  4
#define WORDS  4096 /* per host */
#define ADDS   300  /* of each host to one counter */
#define RIGHTS (NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC)

struct rig {
	struct sim *sim;
	uint64_t memory[HOSTS][WORDS];
	uint32_t key[HOSTS];
	struct dxp_nic_event event;
	uint32_t completions;
	/* operations of each host */
	uint32_t posted[HOSTS], ended[HOSTS];
	/* by previous value: completions that returned it */
	uint8_t found[HOSTS * ADDS];
	/* datagrams until `mishap` injects its fault; 0: never */
	uint64_t at_sent;
	void (*mishap)(struct rig *r);
};

static struct rig the_rig;

static inline struct rig *rig_make(const struct sim_options *o)
{
	struct rig *r = &the_rig;

	memset(r, 0, sizeof(*r));
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < o->hosts; i++)
		assert_int_equal(nic_region_register(sim_nic(r->sim, i), 0, r->memory[i],
						     sizeof(r->memory[i]), RIGHTS, &r->key[i]),
				 DXP_OK);
	return r;
}

static inline struct dxp_entry word_of(const struct rig *r, uint32_t word)
{
	return (struct dxp_entry){8ull * word, 8, r->key[1]};
}

static inline void accounts_good(struct rig *r, uint32_t hosts)
{
	for (uint32_t i = 0; i < hosts; i++) {
		const char *broken = invariants_broken(sim_nic(r->sim, i));
		if (broken)
			fail_msg("host %u: %s", i, broken);
	}
}

static inline bool completed(void *context)
{
	struct rig *r = context;

	if (r->mishap && sim_counters(r->sim)->sent >= r->at_sent) {
		r->mishap(r);
		r->mishap = NULL;
	}
	if (!dxp_sent_dequeue(sim_window(r->sim, 0), &r->event))
		return false;
	r->completions++;
	return true;
}

/* Posts one atomic as host 0 and runs until its completion. Returns the status of the
 * completion. */
static inline int atomic(struct rig *r, uint8_t op, struct dxp_entry at, uint64_t operand,
			 uint64_t swap, const struct dxp_target *to)
{
	assert_int_equal(dxp_post_atomic(sim_window(r->sim, 0), 1, to, op, &at, operand, swap, 42),
			 DXP_OK);
	assert_true(sim_run(r->sim, 20 * S_NS, completed, r));
	assert_int_equal(r->event.context, 42);
	return r->event.status;
}

#endif
