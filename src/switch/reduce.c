/* SPDX-License-Identifier: BSD-3-Clause */
/* Contains the portable loops, and selects the portable build or the AVX2 build. */
#include "switch/reduce_loops.h"
#include "switch/reduce_ways.h"

reduce_fn reduce_plain(enum dxp_inc_op op, enum dxp_inc_type type)
{
	return dxp_inc_defined(op, type) ? loops[op][type] : NULL;
}

reduce_fn reduce_function(enum dxp_inc_op op, enum dxp_inc_type type)
{
	reduce_fn fast = reduce_avx2(op, type);

	return fast ? fast : reduce_plain(op, type);
}
