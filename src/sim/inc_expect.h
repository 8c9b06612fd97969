/* SPDX-License-Identifier: BSD-3-Clause */
/* Expected results of collectives without the switch's code, in the order of docs/reference/inc.md
 * "Segments and aggregators". */
#ifndef SIM_INC_EXPECT_H
#define SIM_INC_EXPECT_H

#include "sim/inc_sim.h"

struct inc_spec {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t elements, root;
	bool in_place;
	uint64_t seed; /* of the members' data */
};

/* Writes entry `index` of the supported pairs; returns false past the end. */
bool inc_expect_kind(uint32_t index, enum dxp_inc_op *op, enum dxp_inc_type *type);

void inc_expect_fill(const struct inc_spec *spec, uint32_t member, void *out);

/* Writes spec->elements elements. DXP_ENOMEM, DXP_EUNSUPPORTED. */
int inc_expect_result(const struct inc_job *job, const struct inc_spec *spec, void *out);

#endif
