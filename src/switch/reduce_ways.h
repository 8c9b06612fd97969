/* SPDX-License-Identifier: BSD-3-Clause */
/* Two builds of the loops, for reduce.c and the tests. */
#ifndef SWITCH_REDUCE_WAYS_H
#define SWITCH_REDUCE_WAYS_H

#include "switch/reduce.h"

/* NULL: undefined on this type. */
reduce_fn reduce_plain(enum dxp_inc_op op, enum dxp_inc_type type);

/* NULL: undefined on this type, or no AVX2. */
reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type);

#endif
