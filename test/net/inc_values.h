/* SPDX-License-Identifier: BSD-3-Clause */
/* Members' contributions, and results computed independently. */
#ifndef TEST_NET_INC_VALUES_H
#define TEST_NET_INC_VALUES_H

#include <stdint.h>
#include <string.h>

#include <dxp/inc.h>

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct {
	enum dxp_inc_op op;
	enum dxp_inc_type type;
} kinds[] = {
	{DXP_INC_SUM, DXP_INC_DOUBLE},       {DXP_INC_SUM, DXP_INC_INT32},
	{DXP_INC_MAX, DXP_INC_FLOAT},        {DXP_INC_MIN, DXP_INC_INT64},
	{DXP_INC_SUM, DXP_INC_FLOAT},        {DXP_INC_SUM, DXP_INC_INT64},
	{DXP_INC_MIN, DXP_INC_DOUBLE},       {DXP_INC_PROD, DXP_INC_INT32},
	{DXP_INC_SUM, DXP_INC_UINT16},       {DXP_INC_LXOR, DXP_INC_INT32},
	{DXP_INC_BXOR, DXP_INC_UINT64},      {DXP_INC_LAND, DXP_INC_INT8},
	{DXP_INC_MAXLOC, DXP_INC_INT32_INT}, {DXP_INC_MINLOC, DXP_INC_FLOAT_INT},
	{DXP_INC_BOR, DXP_INC_UINT32},       {DXP_INC_LOR, DXP_INC_INT64},
	{DXP_INC_PROD, DXP_INC_DOUBLE},      {DXP_INC_BAND, DXP_INC_UINT8},
};

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/* Small, so that sums are exact in every type. */
static inline int64_t value(uint64_t seed, uint32_t rank_name, uint64_t call, size_t i,
			    enum dxp_inc_op op)
{
	uint64_t v = mix(mix(seed * 1000003 + call) + rank_name * 7919ull + i);

	if (op == DXP_INC_PROD)
		return 1 + (int64_t)(v % 2);
	if (op >= DXP_INC_LAND && op <= DXP_INC_LXOR)
		return v % 8 != 0;
	return (int64_t)(v % 100);
}

static inline int64_t combine(enum dxp_inc_op op, int64_t a, int64_t b)
{
	switch (op) {
	case DXP_INC_SUM: return a + b;
	case DXP_INC_PROD: return a * b;
	case DXP_INC_MIN: return b < a ? b : a;
	case DXP_INC_MAX: return b > a ? b : a;
	case DXP_INC_LAND: return a && b;
	case DXP_INC_LOR: return a || b;
	case DXP_INC_LXOR: return !a != !b;
	case DXP_INC_BAND: return a & b;
	case DXP_INC_BOR: return a | b;
	case DXP_INC_BXOR: return a ^ b;
	default: return 0;
	}
}

static inline void store(enum dxp_inc_type type, void *at, int64_t v, uint32_t index)
{
	const float f = (float)v;
	const double d = (double)v;
	char *to = at;

	switch (type) {
	case DXP_INC_FLOAT: memcpy(to, &f, sizeof(f)); break;
	case DXP_INC_DOUBLE: memcpy(to, &d, sizeof(d)); break;
	case DXP_INC_INT32_INT:
		memcpy(to, &v, 4);
		memcpy(to + 4, &index, sizeof(index));
		break;
	case DXP_INC_FLOAT_INT:
		memcpy(to, &f, sizeof(f));
		memcpy(to + 4, &index, sizeof(index));
		break;
	default: memcpy(to, &v, dxp_inc_type_bytes(type));
	}
}

#endif
