/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic: into[i] = into[i] op from[i], for every operation of include/dxp/inc.h on every
 * type it is defined on. Bitwise what MPI's own operations give where MPI defines it: integers
 * wrap, logical results are 0 or 1, MINLOC and MAXLOC take the lower index of equal values, fp16
 * and bf16 are computed in float and rounded to nearest even each time. MIN of floating point is
 * into < from ? into : from, MAX with >: with a NaN, or two zeros, `from` stays. */
#ifndef SWITCH_REDUCE_H
#define SWITCH_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

/* Any alignment; the two do not overlap. The caller has checked dxp_inc_defined. */
typedef void (*reduce_fn)(void *into, const void *from, size_t elements);

/* NULL: not defined on this type. */
reduce_fn reduce_function(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
