/* SPDX-License-Identifier: BSD-3-Clause */
/* A reference for collectives: the inputs of tests, and the outputs that members must have. Values
 * are doubles, which hold the integers used here exactly. */
#ifndef TEST_SUPPORT_ELEMENTS_H
#define TEST_SUPPORT_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/collective.h>

#include "base/util.h"
#include "switch/reduce_half.h"

enum reference { ALLREDUCE, REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, ALL_TO_ALL };

UNUSED static double element_get(const void *at, enum dxp_type type, uint64_t i)
{
	switch (type) {
	case DXP_INT8: return ((const int8_t *)at)[i];
	case DXP_UINT8: return ((const uint8_t *)at)[i];
	case DXP_INT16: return ((const int16_t *)at)[i];
	case DXP_UINT16: return ((const uint16_t *)at)[i];
	case DXP_INT32: return ((const int32_t *)at)[i];
	case DXP_UINT32: return ((const uint32_t *)at)[i];
	case DXP_INT64: return (double)((const int64_t *)at)[i];
	case DXP_UINT64: return (double)((const uint64_t *)at)[i];
	case DXP_HALF: return (double)fp16_to_float(((const uint16_t *)at)[i]);
	case DXP_BFLOAT16: return (double)bf16_to_float(((const uint16_t *)at)[i]);
	case DXP_FLOAT: return (double)((const float *)at)[i];
	default: return ((const double *)at)[i];
	}
}

UNUSED static void element_set(void *at, enum dxp_type type, uint64_t i, double v)
{
	switch (type) {
	case DXP_INT8: ((int8_t *)at)[i] = (int8_t)v; break;
	case DXP_UINT8: ((uint8_t *)at)[i] = (uint8_t)v; break;
	case DXP_INT16: ((int16_t *)at)[i] = (int16_t)v; break;
	case DXP_UINT16: ((uint16_t *)at)[i] = (uint16_t)v; break;
	case DXP_INT32: ((int32_t *)at)[i] = (int32_t)v; break;
	case DXP_UINT32: ((uint32_t *)at)[i] = (uint32_t)v; break;
	case DXP_INT64: ((int64_t *)at)[i] = (int64_t)v; break;
	case DXP_UINT64: ((uint64_t *)at)[i] = (uint64_t)v; break;
	case DXP_HALF: ((uint16_t *)at)[i] = fp16_of_float((float)v); break;
	case DXP_BFLOAT16: ((uint16_t *)at)[i] = bf16_of_float((float)v); break;
	case DXP_FLOAT: ((float *)at)[i] = (float)v; break;
	default: ((double *)at)[i] = v; break;
	}
}

static bool is_signed(enum dxp_type type)
{
	return type != DXP_UINT8 && type != DXP_UINT16 && type != DXP_UINT32 && type != DXP_UINT64;
}

static double reduced(enum dxp_reduction reduction, double a, double b)
{
	switch (reduction) {
	case DXP_PRODUCT: return a * b;
	case DXP_MIN: return a < b ? a : b;
	case DXP_MAX: return a > b ? a : b;
	default: return a + b;
	}
}

/* Sums and products of 8 such numbers are exact in every type. */
static double input_of(enum dxp_type type, uint32_t member, uint64_t i)
{
	const uint32_t v = (uint32_t)(i * 7 + member * 3 + i / 11);

	return is_signed(type) ? (double)(v % 5) - 2 : v % 3;
}

/* Element i of member m's output. */
UNUSED static double expected(const struct dxp_collective *c, enum reference operation,
			      uint32_t members, uint32_t m, uint64_t i)
{
	uint64_t at = operation == REDUCE_SCATTER ? m * c->count + i : i;

	switch (operation) {
	case ALL_GATHER: return input_of(c->type, (uint32_t)(i / c->count), i % c->count);
	case BROADCAST: return input_of(c->type, c->root, i);
	case ALL_TO_ALL:
		return input_of(c->type, (uint32_t)(i / c->count), m * c->count + i % c->count);
	default: break;
	}
	double v = input_of(c->type, 0, at);
	for (uint32_t k = 1; k < members; k++)
		v = reduced(c->reduction, v, input_of(c->type, k, at));
	if (c->reduction != DXP_AVERAGE)
		return v;
	return c->type >= DXP_HALF && c->type != DXP_DOUBLE ? (double)((float)v / (float)members)
							    : v / members;
}

#endif
