/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the kernel that combines contributions of a collective (collective/kernel.h). */
#ifndef HOST_COMBINE_H
#define HOST_COMBINE_H

#include <dxp/collective.h>

struct combine {
	struct dxp_program *program; /* of the xPU, for the type and reduction */
	uint32_t element_bytes;
	uint64_t own, inputs, result; /* addresses in device memory */
	uint64_t bytes;               /* length of each array */
	uint64_t input_pitch;         /* bytes from one input to the next */
	uint32_t input_count, divisor;
};

/* The command is lazy. Statuses of dxp_run(). */
int combine_start(struct dxp_xpu *x, const struct combine *c, const dxp_event *waits,
		  uint32_t wait_count, dxp_event *event);

/* Builds the program. DXP_EUNSUPPORTED: the xPU has no doubles; other statuses of
 * dxp_program_build(). */
int combine_build(struct dxp_xpu *x, enum dxp_type type, enum dxp_reduction reduction,
		  struct dxp_program **out);

#endif
