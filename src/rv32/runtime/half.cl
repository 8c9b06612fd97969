/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtime of kernels, part 4: loads and stores of halves, by integer instructions, as the device
 * has no 16-bit floats. */

enum rt_rounding { RT_NEAREST, RT_ZERO, RT_UP, RT_DOWN };

RTC float rt_half_to_float(ushort h)
{
	const uint sign = (uint)(h & 0x8000) << 16;
	const uint magnitude = h & 0x7fff;
	/* 2^112 corrects the exponent, also of subnormal halves. */
	float f = as_float(magnitude << 13) * 0x1p112f;

	if (magnitude >= 0x7c00)
		f = as_float(0x7f800000 | magnitude << 13);
	return as_float(as_uint(f) | sign);
}

/* Returns 1 to round up. `rest`: cut bits; `half_way`: the middle of their range. */
RTC uint rt_round(uint kept, uint rest, uint half_way, uint negative, enum rt_rounding rounding)
{
	if (rounding == RT_NEAREST)
		return rest > half_way || (rest == half_way && (kept & 1));
	return rest != 0 && ((rounding == RT_UP && !negative) || (rounding == RT_DOWN && negative));
}

RTC ushort rt_float_to_half(float f, enum rt_rounding rounding)
{
	const uint bits = as_uint(f) & 0x7fffffff, negative = as_uint(f) >> 31;
	const ushort sign = (ushort)(negative << 15);
	uint kept, rest, half_way;

	if (bits > 0x7f800000)
		return sign | 0x7e00;
	if (bits == 0x7f800000)
		return sign | 0x7c00;
	if (bits >= 0x47800000) { /* 65536 and more */
		const uint to_infinity = rounding == RT_NEAREST ||
					 (rounding == RT_UP && !negative) ||
					 (rounding == RT_DOWN && negative);
		return sign | (to_infinity ? 0x7c00 : 0x7bff);
	}
	if (bits >= 0x38800000) { /* normal half */
		kept = (bits - 0x38000000) >> 13;
		rest = bits & 0x1fff;
		half_way = 0x1000;
	} else {
		const uint exponent = bits >> 23;
		const uint shift = exponent > 100 ? 126 - exponent : 26;
		const uint mantissa = exponent ? (bits & 0x7fffff) | 0x800000 : bits & 0x7fffff;
		kept = shift < 25 ? mantissa >> shift : 0;
		rest = shift < 25 ? mantissa & ((1u << shift) - 1) : (mantissa != 0);
		half_way = shift < 25 ? 1u << (shift - 1) : 2;
	}
	return sign | (ushort)(kept + rt_round(kept, rest, half_way, negative, rounding));
}

#define H_LOAD(space)                                                  \
	RT float vload_half(size_t i, const space half *p)             \
	{                                                              \
		return rt_half_to_float(((const space ushort *)p)[i]); \
	}                                                              \
	RT float vloada_half(size_t i, const space half *p)            \
	{                                                              \
		return vload_half(i, p);                               \
	}
/* `step`: elements between vectors. */
#define HN_LOAD(name, n, step, space)                                          \
	RT float##n name(size_t i, const space half *p)                        \
	{                                                                      \
		const space ushort *from = (const space ushort *)p + i * step; \
		float##n v;                                                    \
		for (int k = 0; k < n; k++)                                    \
			v[k] = rt_half_to_float(from[k]);                      \
		return v;                                                      \
	}
#define H_LOADS(space)                       \
	H_LOAD(space)                        \
	HN_LOAD(vload_half2, 2, 2, space)    \
	HN_LOAD(vload_half3, 3, 3, space)    \
	HN_LOAD(vload_half4, 4, 4, space)    \
	HN_LOAD(vload_half8, 8, 8, space)    \
	HN_LOAD(vload_half16, 16, 16, space) \
	HN_LOAD(vloada_half2, 2, 2, space)   \
	HN_LOAD(vloada_half3, 3, 4, space)   \
	HN_LOAD(vloada_half4, 4, 4, space)   \
	HN_LOAD(vloada_half8, 8, 8, space)   \
	HN_LOAD(vloada_half16, 16, 16, space)

H_LOADS(global)
H_LOADS(local)
H_LOADS(constant)
H_LOADS(private)

#define H_STORE(name, rounding, space)                                  \
	RT void name(float v, size_t i, space half *p)                  \
	{                                                               \
		((space ushort *)p)[i] = rt_float_to_half(v, rounding); \
	}
#define HN_STORE(name, n, step, rounding, space)                  \
	RT void name(float##n v, size_t i, space half *p)         \
	{                                                         \
		space ushort *to = (space ushort *)p + i * step;  \
		for (int k = 0; k < n; k++)                       \
			to[k] = rt_float_to_half(v[k], rounding); \
	}
#define H_STORES(suffix, rounding, space)                        \
	H_STORE(vstore_half##suffix, rounding, space)            \
	H_STORE(vstorea_half##suffix, rounding, space)           \
	HN_STORE(vstore_half2##suffix, 2, 2, rounding, space)    \
	HN_STORE(vstore_half3##suffix, 3, 3, rounding, space)    \
	HN_STORE(vstore_half4##suffix, 4, 4, rounding, space)    \
	HN_STORE(vstore_half8##suffix, 8, 8, rounding, space)    \
	HN_STORE(vstore_half16##suffix, 16, 16, rounding, space) \
	HN_STORE(vstorea_half2##suffix, 2, 2, rounding, space)   \
	HN_STORE(vstorea_half3##suffix, 3, 4, rounding, space)   \
	HN_STORE(vstorea_half4##suffix, 4, 4, rounding, space)   \
	HN_STORE(vstorea_half8##suffix, 8, 8, rounding, space)   \
	HN_STORE(vstorea_half16##suffix, 16, 16, rounding, space)
#define H_STORES_ALL(space)               \
	H_STORES(, RT_NEAREST, space)     \
	H_STORES(_rte, RT_NEAREST, space) \
	H_STORES(_rtz, RT_ZERO, space)    \
	H_STORES(_rtp, RT_UP, space)      \
	H_STORES(_rtn, RT_DOWN, space)

H_STORES_ALL(global)
H_STORES_ALL(local)
H_STORES_ALL(private)
