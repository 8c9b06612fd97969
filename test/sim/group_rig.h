/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws simulated groups (test/support/group_sim.h) from seeds. Include cmocka.h first. */
#ifndef TEST_SIM_GROUP_RIG_H
#define TEST_SIM_GROUP_RIG_H

#include <stdlib.h>

#include "base/util.h"
#include "test/support/group_sim.h"

enum group_faults {
	GROUP_SOUND,
	GROUP_MEMBER_DIES,
	GROUP_SWITCH_DIES,
	GROUP_BOTH_DIE,
	GROUP_REVOKED,
	GROUP_FAULTS
};

static inline uint32_t group_members(struct rng *r)
{
	switch (rng_below(r, 16)) {
	case 0: return 17 + (uint32_t)rng_below(r, 16);
	case 1: return 2 + (uint32_t)rng_below(r, 6);
	default: return 8 + (uint32_t)rng_below(r, 5);
	}
}

static inline struct gsim_options group_draw(uint64_t seed, enum group_faults faults)
{
	struct rng r = {seed * 7919 + faults};
	struct gsim_options o = {.seed = seed,
				 .net_seed = seed + 1000000,
				 .members = group_members(&r),
				 .calls = 4 + (uint32_t)rng_below(&r, 8),
				 .outstanding = 1 + (uint32_t)rng_below(&r, GSIM_SLOTS),
				 .way = (enum dxp_way)rng_below(&r, DXP_WAYS)};

	o.switches = o.way == DXP_WAY_AUTO || o.way == DXP_WAY_SWITCH;
	o.scratch_bytes = 16384u << rng_below(&r, 3);
	o.loss_ppm = rng_below(&r, 3) ? (uint32_t)rng_below(&r, 50001) : 0;
	o.slow = rng_below(&r, 2) ? (uint32_t)rng_below(&r, o.members / 2 + 1) : 0;
	o.victim = (uint32_t)rng_below(&r, o.members);
	o.victim_switch = (uint32_t)rng_below(&r, 64);
	const uint64_t spread_ns = (uint64_t)(10 * US_NS) << rng_below(&r, 11);
	if (faults == GROUP_SWITCH_DIES || faults == GROUP_BOTH_DIE) {
		o.way = rng_below(&r, 2) ? DXP_WAY_SWITCH : DXP_WAY_AUTO;
		o.switches = true;
		o.switch_dies_ns = 1 + rng_below(&r, spread_ns);
	}
	if (faults == GROUP_MEMBER_DIES || faults == GROUP_BOTH_DIE)
		o.member_dies_ns = 1 + rng_below(&r, spread_ns);
	if (faults == GROUP_REVOKED)
		o.revoked_call = 1 + (uint32_t)rng_below(&r, o.calls);
	return o;
}

/* Returns the number of seeds to run: that of DXP_SEEDS, or `few`. */
static inline uint64_t group_seeds(uint64_t few)
{
	const char *text = getenv("DXP_SEEDS");

	return text ? strtoull(text, NULL, 0) : few;
}

/* Returns true for all seeds, or only DXP_SEED if it is set. */
static inline bool group_wanted(uint64_t seed)
{
	const char *text = getenv("DXP_SEED");

	return !text || strtoull(text, NULL, 0) == seed;
}

#endif
