/* SPDX-License-Identifier: BSD-3-Clause */
/* The two builds of the loops. reduce.c selects one of them; tests compare both. */
#ifndef SWITCH_REDUCE_WAYS_H
#define SWITCH_REDUCE_WAYS_H

#include "switch/reduce.h"

/* Returns the portable loop; NULL: the operator is not defined on this type. */
reduce_fn reduce_plain(enum dxp_inc_op op, enum dxp_inc_type type);

/* Returns the AVX2 loop; NULL: the operator is not defined on this type, or this processor has no
 * AVX2. */
reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
