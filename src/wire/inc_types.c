/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of types, and types for which operators are defined. */
#include <dxp/inc.h>

size_t dxp_inc_type_bytes(enum dxp_inc_type type)
{
#define BYTES_OF(name, value, bytes, text) [value] = (bytes),
	static const uint8_t bytes[DXP_INC_TYPES] = {DXP_INC_TYPE_LIST(BYTES_OF)};
#undef BYTES_OF
	unsigned index = type;

	return index < DXP_INC_TYPES ? bytes[index] : 0;
}

#define BIT(type)       (1u << (type))
#define RANGE(from, to) (BIT((to) + 1) - BIT(from))

/* Sets of types: 1 << enum dxp_inc_type. */
#define INTEGERS RANGE(DXP_INC_INT8, DXP_INC_UINT64)
#define NUMBERS  RANGE(DXP_INC_INT8, DXP_INC_DOUBLE)
#define PAIRS    RANGE(DXP_INC_INT32_INT, DXP_INC_DOUBLE_INT)

static const uint32_t types_of[DXP_INC_OPS] = {
	[DXP_INC_SUM] = NUMBERS,
	[DXP_INC_PROD] = NUMBERS,
	[DXP_INC_MIN] = NUMBERS,
	[DXP_INC_MAX] = NUMBERS,
	[DXP_INC_LAND] = INTEGERS,
	[DXP_INC_LOR] = INTEGERS,
	[DXP_INC_LXOR] = INTEGERS,
	[DXP_INC_BAND] = INTEGERS | BIT(DXP_INC_BYTES),
	[DXP_INC_BOR] = INTEGERS | BIT(DXP_INC_BYTES),
	[DXP_INC_BXOR] = INTEGERS | BIT(DXP_INC_BYTES),
	[DXP_INC_MINLOC] = PAIRS,
	[DXP_INC_MAXLOC] = PAIRS,
};

bool dxp_inc_defined(enum dxp_inc_op op, enum dxp_inc_type type)
{
	unsigned row = op, column = type;

	return row < DXP_INC_OPS && column < DXP_INC_TYPES && types_of[row] >> column & 1;
}
