/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic: into[i] = into[i] op from[i], for every operator of include/dxp/inc.h on every
 * type that it is defined on. Results equal MPI's bit for bit where MPI defines them. Integers
 * wrap; logical results are 0 or 1; MINLOC and MAXLOC choose the lower index of equal values. fp16
 * and bf16 are computed in float and rounded to nearest even each time.
 * Floating-point MIN is into < from ? into : from, MAX the same with >: with a NaN, or two zeros,
 * the result is `from`. */
#ifndef SWITCH_REDUCE_H
#define SWITCH_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

/* Any alignment; the buffers do not overlap. The caller has checked dxp_inc_defined. */
typedef void (*reduce_fn)(void *into, const void *from, size_t elements);

/* Returns the fastest loop for this processor; NULL: not defined on this type. */
reduce_fn reduce_function(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
