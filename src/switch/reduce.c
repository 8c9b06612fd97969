/* SPDX-License-Identifier: BSD-3-Clause */
/* The portable loops, and the choice between them and AVX2. */
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
