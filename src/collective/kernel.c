/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/kernel.h"

#include <stdio.h>

void kernel_options(enum dxp_type type, enum dxp_reduction reduction,
		    char out[KERNEL_OPTIONS_BYTES])
{
	static const struct {
		const char *stored, *work;
		int form;
	} types[] = {
		[DXP_INT8] = {"char", "char", 0},    [DXP_UINT8] = {"uchar", "uchar", 0},
		[DXP_INT16] = {"short", "short", 0}, [DXP_UINT16] = {"ushort", "ushort", 0},
		[DXP_INT32] = {"int", "int", 0},     [DXP_UINT32] = {"uint", "uint", 0},
		[DXP_INT64] = {"long", "long", 0},   [DXP_UINT64] = {"ulong", "ulong", 0},
		[DXP_HALF] = {"ushort", "float", 2}, [DXP_BFLOAT16] = {"ushort", "float", 3},
		[DXP_FLOAT] = {"float", "float", 1}, [DXP_DOUBLE] = {"double", "double", 1},
	};

	snprintf(out, KERNEL_OPTIONS_BYTES, "-D STORED=%s -D WORK=%s -D FORM=%d -D OPERATOR=%d",
		 types[type].stored, types[type].work, types[type].form, (int)reduction);
}
