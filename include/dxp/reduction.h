/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and reductions of collectives, for hosts (dxp/collective.h) and kernels (dxp/device.h). */
#ifndef DXP_REDUCTION_H
#define DXP_REDUCTION_H

/* X(name, bytes of an element, text). HALF is IEEE binary16. HALF and BFLOAT16 are combined as
 * float and rounded to nearest even when stored. */
#define DXP_TYPE_LIST(X)               \
	X(DXP_INT8, 1, "int8")         \
	X(DXP_UINT8, 1, "uint8")       \
	X(DXP_INT16, 2, "int16")       \
	X(DXP_UINT16, 2, "uint16")     \
	X(DXP_INT32, 4, "int32")       \
	X(DXP_UINT32, 4, "uint32")     \
	X(DXP_INT64, 8, "int64")       \
	X(DXP_UINT64, 8, "uint64")     \
	X(DXP_HALF, 2, "half")         \
	X(DXP_BFLOAT16, 2, "bfloat16") \
	X(DXP_FLOAT, 4, "float")       \
	X(DXP_DOUBLE, 8, "double")

/* X(name, text). Sums and products of integers wrap. AVERAGE divides the sum by the number of
 * members, for integers towards zero. MIN and MAX are NaN if a contribution is NaN. */
#define DXP_REDUCTION_LIST(X)     \
	X(DXP_SUM, "sum")         \
	X(DXP_PRODUCT, "product") \
	X(DXP_MIN, "min")         \
	X(DXP_MAX, "max")         \
	X(DXP_AVERAGE, "average")

#define DXP_TYPE_ENUM(name, bytes, text) name,
#define DXP_REDUCTION_ENUM(name, text)   name,
enum dxp_type { DXP_TYPE_LIST(DXP_TYPE_ENUM) DXP_TYPES };
enum dxp_reduction { DXP_REDUCTION_LIST(DXP_REDUCTION_ENUM) DXP_REDUCTIONS };
#undef DXP_TYPE_ENUM
#undef DXP_REDUCTION_ENUM

#endif
