/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/reduction.h"

enum dxp_inc_type reduction_type(enum dxp_type type)
{
	static const enum dxp_inc_type types[DXP_TYPES] = {
		[DXP_INT8] = DXP_INC_INT8,   [DXP_UINT8] = DXP_INC_UINT8,
		[DXP_INT16] = DXP_INC_INT16, [DXP_UINT16] = DXP_INC_UINT16,
		[DXP_INT32] = DXP_INC_INT32, [DXP_UINT32] = DXP_INC_UINT32,
		[DXP_INT64] = DXP_INC_INT64, [DXP_UINT64] = DXP_INC_UINT64,
		[DXP_HALF] = DXP_INC_FP16,   [DXP_BFLOAT16] = DXP_INC_BF16,
		[DXP_FLOAT] = DXP_INC_FLOAT, [DXP_DOUBLE] = DXP_INC_DOUBLE,
	};

	return (unsigned)type < DXP_TYPES ? types[type] : DXP_INC_BYTES;
}

enum dxp_inc_op reduction_op(enum dxp_reduction reduction)
{
	static const enum dxp_inc_op ops[DXP_REDUCTIONS] = {
		[DXP_SUM] = DXP_INC_SUM, [DXP_PRODUCT] = DXP_INC_PROD, [DXP_MIN] = DXP_INC_MIN,
		[DXP_MAX] = DXP_INC_MAX, [DXP_AVERAGE] = DXP_INC_NOOP,
	};

	return (unsigned)reduction < DXP_REDUCTIONS ? ops[reduction] : DXP_INC_NOOP;
}
