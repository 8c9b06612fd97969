/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of types and reductions in the protocol of the switches. */
#ifndef WIRE_REDUCTION_H
#define WIRE_REDUCTION_H

#include <dxp/inc.h>
#include <dxp/reduction.h>

/* DXP_INC_BYTES: no such type. */
enum dxp_inc_type reduction_type(enum dxp_type type);
/* DXP_INC_NOOP: no such reduction, or one that switches do not have: AVERAGE. */
enum dxp_inc_op reduction_op(enum dxp_reduction reduction);

#endif
