/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call must give, computed apart from switches: naive arithmetic, folded in the order that
 * docs/inc.md "Order" promises for a tree. */
#ifndef SIM_INC_EXPECT_H
#define SIM_INC_EXPECT_H

#include "sim/inc_sim.h"

struct inc_spec {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t elements, root;
	bool in_place;
	uint64_t seed; /* of its data */
};

/* The operations and types that can be computed here: entry `index`; false: there is none. */
bool inc_expect_kind(uint32_t index, enum dxp_inc_op *op, enum dxp_inc_type *type);

/* What a member contributes. */
void inc_expect_fill(const struct inc_spec *spec, uint32_t member, void *out);

/* The result, for all who get one. `out` has room for spec->elements. DXP_ENOMEM. */
int inc_expect_result(const struct inc_job *job, const struct inc_spec *spec, void *out);

#endif
