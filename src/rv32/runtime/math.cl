/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtime of kernels, part 5: math functions with a result by pointer, which libclc has for other
 * address spaces only, and native_*, which it leaves to the hardware. */

/* libclc's, for private memory; here they work for all pointers. */
float rt_lgamma_r(float x, private int *sign) __asm__("_Z8lgamma_rfPi");
float rt_remquo(float x, float y, private int *quotient) __asm__("_Z6remquoffPi");
float rt_frexp(float x, private int *exponent) __asm__("_Z5frexpfPi");

#define PER_COMPONENT_INT(name, n, space)               \
	RT float##n name(float##n x, space int##n *out) \
	{                                               \
		float##n r;                             \
		int##n whole;                           \
		for (int k = 0; k < n; k++) {           \
		      private                           \
			int one;                        \
			r[k] = rt_##name(x[k], &one);   \
			whole[k] = one;                 \
		}                                       \
		*out = whole;                           \
		return r;                               \
	}
#define PER_COMPONENT_REMQUO(n, space)                                \
	RT float##n remquo(float##n x, float##n y, space int##n *out) \
	{                                                             \
		float##n r;                                           \
		int##n whole;                                         \
		for (int k = 0; k < n; k++) {                         \
		      private                                         \
			int one;                                      \
			r[k] = rt_remquo(x[k], y[k], &one);           \
			whole[k] = one;                               \
		}                                                     \
		*out = whole;                                         \
		return r;                                             \
	}
#define INT_RESULTS(n, space)                 \
	PER_COMPONENT_INT(lgamma_r, n, space) \
	PER_COMPONENT_INT(frexp, n, space)    \
	PER_COMPONENT_REMQUO(n, space)
#define INT_RESULTS_SCALAR(space)                         \
	RT float lgamma_r(float x, space int *out)        \
	{                                                 \
	      private                                     \
		int one;                                  \
		float r = rt_lgamma_r(x, &one);           \
		*out = one;                               \
		return r;                                 \
	}                                                 \
	RT float frexp(float x, space int *out)           \
	{                                                 \
	      private                                     \
		int one;                                  \
		float r = rt_frexp(x, &one);              \
		*out = one;                               \
		return r;                                 \
	}                                                 \
	RT float remquo(float x, float y, space int *out) \
	{                                                 \
	      private                                     \
		int one;                                  \
		float r = rt_remquo(x, y, &one);          \
		*out = one;                               \
		return r;                                 \
	}

#define SINCOS(n, space)                                       \
	RT float##n sincos(float##n x, space float##n *cosine) \
	{                                                      \
		*cosine = cos(x);                              \
		return sin(x);                                 \
	}
#define MODF(n, space)                                                \
	RT float##n modf(float##n x, space float##n *whole)           \
	{                                                             \
		const float##n t = trunc(x);                          \
		*whole = t;                                           \
		return copysign(isinf(x) ? (float##n)(0) : x - t, x); \
	}
/* The result is at most the largest float below 1 (OpenCL C 6.12.2). */
#define FRACT(n, space)                                                          \
	RT float##n fract(float##n x, space float##n *whole)                     \
	{                                                                        \
		const float##n t = floor(x);                                     \
		const float##n r = fmin(x - t, (float##n)(0x1.fffffep-1f));      \
		*whole = t;                                                      \
		return isnan(x) ? x : isinf(x) ? copysign((float##n)(0), x) : r; \
	}
#define FLOAT_RESULTS(n, space) \
	SINCOS(n, space)        \
	MODF(n, space)          \
	FRACT(n, space)

#define RESULTS(space)            \
	INT_RESULTS_SCALAR(space) \
	INT_RESULTS(2, space)     \
	INT_RESULTS(3, space)     \
	INT_RESULTS(4, space)     \
	INT_RESULTS(8, space)     \
	INT_RESULTS(16, space)    \
	FLOAT_RESULTS(, space)    \
	FLOAT_RESULTS(2, space)   \
	FLOAT_RESULTS(3, space)   \
	FLOAT_RESULTS(4, space)   \
	FLOAT_RESULTS(8, space)   \
	FLOAT_RESULTS(16, space)

RESULTS(global)
RESULTS(local)
RESULTS(private)

#define NATIVE_1(name, n)                      \
	RTC float##n native_##name(float##n x) \
	{                                      \
		return name(x);                \
	}
#define NATIVES(n)                                       \
	NATIVE_1(cos, n)                                 \
	NATIVE_1(exp, n)                                 \
	NATIVE_1(exp2, n)                                \
	NATIVE_1(exp10, n)                               \
	NATIVE_1(log, n)                                 \
	NATIVE_1(log2, n)                                \
	NATIVE_1(log10, n)                               \
	NATIVE_1(rsqrt, n)                               \
	NATIVE_1(sin, n)                                 \
	NATIVE_1(sqrt, n)                                \
	NATIVE_1(tan, n)                                 \
	RTC float##n native_powr(float##n x, float##n y) \
	{                                                \
		return powr(x, y);                       \
	}

NATIVES()
NATIVES(2)
NATIVES(3)
NATIVES(4)
NATIVES(8)
NATIVES(16)

#define MAD_HI(type)                            \
	RTC type mad_hi(type a, type b, type c) \
	{                                       \
		return mul_hi(a, b) + c;        \
	}
#define MAD_HI_ALL(type) \
	MAD_HI(type)     \
	MAD_HI(type##2)  \
	MAD_HI(type##3)  \
	MAD_HI(type##4)  \
	MAD_HI(type##8)  \
	MAD_HI(type##16)

MAD_HI_ALL(char)
MAD_HI_ALL(uchar)
MAD_HI_ALL(short)
MAD_HI_ALL(ushort)
MAD_HI_ALL(int)
MAD_HI_ALL(uint)
MAD_HI_ALL(long)
MAD_HI_ALL(ulong)
