/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up bare endpoints without NICs. DXP_SEED=n changes the network's faults. Include cmocka.h
 * first. */
#ifndef TEST_SIM_RIG_H
#define TEST_SIM_RIG_H

#include <stdlib.h>

#include "base/util.h"
#include "rltp/internal.h"
#include "test/support/endpoints.h"

#define SHORT_NS (50 * MS_NS)

static const struct sim_faults good;

static inline uint64_t seed(void)
{
	const char *text = getenv("DXP_SEED");

	return text ? strtoull(text, NULL, 0) : 11;
}

static inline struct rig *rig_make(uint32_t count, uint16_t path)
{
	struct rig *r = rig_create(count, seed(), &good, path);

	assert_non_null(r);
	return r;
}

/* Opens a session between nodes a and b by one message in each direction. */
static inline void rig_open(struct rig *r, uint32_t a, uint32_t b)
{
	rig_post(r, a, b, 100);
	rig_post(r, b, a, 100);
	assert_true(rig_finish(r, a, S_NS) && rig_finish(r, b, S_NS));
	assert_int_equal(rig_session(r, a, b)->state, RLTP_OPEN);
	assert_int_equal(rig_session(r, b, a)->state, RLTP_OPEN);
}

static inline void once_check(const struct rig *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t k = 0; k < RIG_NODES * RIG_MESSAGES; k++)
			assert_true(r->nodes[i].seen[k] <= 1);
}

static inline void messages_work(struct rig *r, uint32_t a, uint32_t b)
{
	uint32_t ok = r->nodes[a].ok;

	rig_post(r, a, b, 5000);
	assert_true(rig_finish(r, a, 5 * S_NS));
	assert_int_equal(r->nodes[a].ok, ok + 1);
}

#endif
