/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that generated code calls on rv32imaf without a library: memory, rounding, 64-bit
 * division and conversions, printf. Compiled as C, linked on demand. */

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

/* ---- memory ---- */

/* Otherwise the compiler makes memcpy() call memcpy(). */
#define NO_IDIOM __attribute__((no_builtin("memcpy", "memset", "memmove")))

NO_IDIOM void *memcpy(void *to, const void *from, u32 bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((((u32)t | (u32)f) & 3) == 0)
		for (; bytes >= 4; bytes -= 4, t += 4, f += 4)
			*(u32 *)t = *(const u32 *)f;
	while (bytes-- > 0)
		*t++ = *f++;
	return to;
}

NO_IDIOM void *memmove(void *to, const void *from, u32 bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((u32)t - (u32)f >= bytes)
		return memcpy(to, from, bytes);
	while (bytes-- > 0)
		t[bytes] = f[bytes];
	return to;
}

NO_IDIOM void *memset(void *to, int value, u32 bytes)
{
	unsigned char *t = to;
	const u32 word = (unsigned char)value * 0x01010101u;

	if (((u32)t & 3) == 0)
		for (; bytes >= 4; bytes -= 4, t += 4)
			*(u32 *)t = word;
	while (bytes-- > 0)
		*t++ = (unsigned char)value;
	return to;
}

/* ---- rounding to whole numbers ---- */

/* Floats from 2^23 on are whole; NaN and infinity stay. */
#define ROUND_FUNCTION(name, mode)                                            \
	float name(float x)                                                   \
	{                                                                     \
		float whole = x;                                              \
		int i;                                                        \
                                                                              \
		if (__builtin_fabsf(x) < 0x1p23f) {                           \
			__asm__("fcvt.w.s %0, %1, " mode : "=r"(i) : "f"(x)); \
			whole = __builtin_copysignf((float)i, x);             \
		}                                                             \
		return whole;                                                 \
	}

ROUND_FUNCTION(rintf, "rne")
ROUND_FUNCTION(roundf, "rmm")
ROUND_FUNCTION(truncf, "rtz")
ROUND_FUNCTION(floorf, "rdn")
ROUND_FUNCTION(ceilf, "rup")
ROUND_FUNCTION(nearbyintf, "rne")
ROUND_FUNCTION(roundevenf, "rne")

/* ---- 64-bit division ---- */

/* Divides with shifts; `d` must not be 0. */
static u64 divide(u64 n, u64 d, u64 *rest)
{
	u64 q = 0;

	if (((u32)(n >> 32) | (u32)(d >> 32)) == 0) {
		*rest = (u32)n % (u32)d;
		return (u32)n / (u32)d;
	}
	if (n < d) {
		*rest = n;
		return 0;
	}
	u64 r = 0;
	i32 bits = 63;
	/* one instruction divides the upper word by 32 bits */
	if ((u32)(d >> 32) == 0) {
		const u32 upper = (u32)(n >> 32);
		q = (u64)(upper / (u32)d) << 32;
		r = upper % (u32)d;
		bits = 31;
	} else { /* a larger divisor: a quotient of at most 32 bits */
		r = n >> 32;
		bits = 31;
	}
	for (; bits >= 0; bits--) {
		r = r << 1 | (n >> bits & 1);
		if (r >= d) {
			r -= d;
			q |= 1ull << bits;
		}
	}
	*rest = r;
	return q;
}

/* Divides; for divisor 0 the result is all ones and the rest `n`, as of the 32-bit instruction. */
static u64 divide_any(u64 n, u64 d, u64 *rest)
{
	if (d != 0)
		return divide(n, d, rest);
	*rest = n;
	return ~0ull;
}

static u64 magnitude(i64 a)
{
	return a < 0 ? 0 - (u64)a : (u64)a;
}

u64 __udivdi3(u64 n, u64 d)
{
	u64 rest;

	return divide_any(n, d, &rest);
}

u64 __umoddi3(u64 n, u64 d)
{
	u64 rest;

	divide_any(n, d, &rest);
	return rest;
}

i64 __divdi3(i64 n, i64 d)
{
	u64 rest, q = divide_any(magnitude(n), magnitude(d), &rest);

	return (i64)(((n ^ d) < 0 && d != 0) ? 0 - q : q);
}

i64 __moddi3(i64 n, i64 d)
{
	u64 rest;

	divide_any(magnitude(n), magnitude(d), &rest);
	return (i64)(n < 0 ? 0 - rest : rest);
}

/* ---- 64-bit integers and floats ---- */

static float float_of_bits(u32 bits)
{
	float f;

	__builtin_memcpy(&f, &bits, sizeof(f));
	return f;
}

static u32 bits_of_float(float f)
{
	u32 bits;

	__builtin_memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* Converts to nearest even: the lowest kept bit stands for cut ones, so the 32-bit conversion
 * rounds right. */
float __floatundisf(u64 a)
{
	u32 upper = (u32)(a >> 32), shift = 0;

	while (shift < 32 && upper >> shift != 0)
		shift++;
	const u32 kept = (u32)(a >> shift) | ((a & ((1ull << shift) - 1)) != 0);
	return (float)kept * float_of_bits((127 + shift) << 23);
}

float __floatdisf(i64 a)
{
	float f = __floatundisf(magnitude(a));

	return a < 0 ? -f : f;
}

/* Converts; out of range gives the nearest limit, as of the 32-bit instruction. */
u64 __fixunssfdi(float f)
{
	const u32 bits = bits_of_float(f);
	const i32 exponent = (i32)(bits >> 23 & 0xff) - 150;
	const u64 mantissa = (bits & 0x7fffff) | 0x800000;

	if (f != f)
		return ~0ull;
	if (bits >> 31 || exponent < -23)
		return 0;
	if (exponent > 40)
		return ~0ull;
	return exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
}

i64 __fixsfdi(float f)
{
	if (f != f || f >= 0x1p63f)
		return 0x7fffffffffffffffll;
	if (f <= -0x1p63f)
		return -0x7fffffffffffffffll - 1;
	const u64 size = __fixunssfdi(f < 0 ? -f : f);
	return (i64)(f < 0 ? 0 - size : size);
}

/* ---- printf ---- */

/* Calls the engine by an ecall. The engine reads the format and the arguments from a0 to a7 and
 * from the stack. */
__asm__(".section .text.printf, \"ax\", @progbits\n"
	".globl printf\n"
	".type printf, @function\n"
	"printf:\n"
	"\tli t0, 1\n"
	"\tecall\n"
	"\tret\n"
	".size printf, . - printf\n");
