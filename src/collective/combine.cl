/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines contributions of a collective, element by element. Built once for each type and operator
 * with these macros:
 *
 *   STORED      type of an element in memory
 *   WORK        type in which elements are combined
 *   FORM        format of an element: 0: integer; 1: float or double; 2: IEEE half; 3: bfloat16
 *   OPERATOR    index of the operator in DXP_REDUCTION_LIST */
#if FORM == 2
#define LOAD(p, i)     vload_half(i, (global const half *)(p))
#define STORE(p, i, v) vstore_half_rte(v, i, (global half *)(p))
#elif FORM == 3
#define LOAD(p, i)     as_float((uint)(p)[i] << 16)
#define STORE(p, i, v) (p)[i] = bfloat16_of(v)

/* Rounds to nearest even. A NaN becomes a quiet NaN and keeps its upper bits. */
static ushort bfloat16_of(float v)
{
	const uint bits = as_uint(v);
	const uint rounded = bits + 0x7fff + (bits >> 16 & 1);

	return (ushort)((v != v ? bits | 0x400000 : rounded) >> 16);
}
#else
#define LOAD(p, i)     (p)[i]
#define STORE(p, i, v) (p)[i] = v
#endif

#if FORM == 0
#define IS_NAN(v) false
#else
#define IS_NAN(v) ((v) != (v))
#endif

static WORK combined(WORK a, WORK b)
{
#if OPERATOR == 1
	return (WORK)(a * b);
#elif OPERATOR == 2
	return IS_NAN(a) ? a : IS_NAN(b) || b < a ? b : a;
#elif OPERATOR == 3
	return IS_NAN(a) ? a : IS_NAN(b) || b > a ? b : a;
#else
	return (WORK)(a + b);
#endif
}

/* Sets result[i] to own[i] combined with input i of each of `input_count` arrays, which lie
 * `stride` elements apart in `inputs`. Then divides it by `divisor`, unless that is 1. `result` may
 * be equal to `own` or to one of the arrays. Element 0 of `own` is at index own_first, and so on,
 * because devices accept only aligned pointers. */
kernel void combine(global const STORED *own, global const STORED *inputs, global STORED *result,
		    ulong count, ulong stride, uint input_count, uint divisor, ulong own_first,
		    ulong inputs_first, ulong result_first)
{
	const size_t i = get_global_id(0);

	if (i >= count)
		return;
	WORK value = LOAD(own, own_first + i);
	for (uint k = 0; k < input_count; k++)
		value = combined(value, LOAD(inputs, inputs_first + k * stride + i));
	if (divisor != 1)
		value = (WORK)(value / (WORK)divisor);
	STORE(result, result_first + i, value);
}
