/* SPDX-License-Identifier: BSD-3-Clause */
/* into[i] = into[i] op from[i], for each operator of include/dxp/inc.h on each type where it is
 * defined; MPI's bits where MPI defines them. Integers wrap. Logical results are 0 or 1. MINLOC and
 * MAXLOC take the lower index of equal values. fp16 and bf16 are computed as float, rounded to
 * nearest even after each operation. Floating-point MIN is into < from ? into : from (MAX: >), so
 * with a NaN, or two zeros, `from`. */
#ifndef SWITCH_REDUCE_H
#define SWITCH_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

/* Combines elements at any alignment, without overlap. The caller has checked dxp_inc_defined. */
typedef void (*reduce_fn)(void *into, const void *from, size_t elements);

/* The fastest loop on this processor; NULL: undefined on this type. */
reduce_fn reduce_function(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
