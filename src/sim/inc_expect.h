/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes expected results without the switch code: simple arithmetic, in the order of
 * docs/reference/inc.md "Segments and aggregators". */
#ifndef SIM_INC_EXPECT_H
#define SIM_INC_EXPECT_H

#include "sim/inc_sim.h"

struct inc_spec {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t elements, root;
	bool in_place;
	uint64_t seed; /* seed of its data */
};

/* Writes entry `index` of the supported operators and types; false: past the end. */
bool inc_expect_kind(uint32_t index, enum dxp_inc_op *op, enum dxp_inc_type *type);

/* Writes a member's contribution. */
void inc_expect_fill(const struct inc_spec *spec, uint32_t member, void *out);

/* Writes the result, spec->elements long. DXP_ENOMEM, DXP_EUNSUPPORTED. */
int inc_expect_result(const struct inc_job *job, const struct inc_spec *spec, void *out);

#endif
