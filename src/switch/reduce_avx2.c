/* SPDX-License-Identifier: BSD-3-Clause */
/* The same loops for processors with AVX2: this file is compiled for them. */
#include "switch/reduce_ways.h"

#ifdef __AVX2__

#include "switch/reduce_loops.h"

reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type)
{
	if (!__builtin_cpu_supports("avx2") || !dxp_inc_defined(op, type))
		return NULL;
	return loops[op][type];
}

#else

reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type)
{
	return NULL;
}

#endif
