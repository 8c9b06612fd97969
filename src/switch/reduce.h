/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on elements: into[i] = into[i] op from[i], for each operator of include/dxp/inc.h and
 * each type on which it is defined. Results equal MPI's in every bit where MPI defines them.
 * Integers wrap. Logical results are 0 or 1. MINLOC and MAXLOC choose the lower index of equal
 * values. fp16 and bf16 are computed as float, and rounded to nearest even after each operation.
 * Floating-point MIN is into < from ? into : from (MAX: with >). So with a NaN, or with two zeros,
 * the result is `from`. */
#ifndef SWITCH_REDUCE_H
#define SWITCH_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

/* Combines `elements` elements. Buffers may have any alignment, and must not overlap. The caller
 * has checked dxp_inc_defined. */
typedef void (*reduce_fn)(void *into, const void *from, size_t elements);

/* Returns the fastest loop on this processor; NULL: the operator is not defined on this type. */
reduce_fn reduce_function(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
