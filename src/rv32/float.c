/* SPDX-License-Identifier: BSD-3-Clause */
/* Software floats: sign and m * 2^e. An operation is exact, or sets the lowest bit of m for a lost
 * bit, and rounds once. */
#include "rv32/float.h"

#include <stdbool.h>

#define SIGN     0x80000000u
#define INFINITE 0x7f800000u
#define QUIET    0x00400000u
#define BIAS     127
#define TOP      62         /* bit of m's leading one before rounding */
#define DROPPED  (TOP - 23) /* bits of m below a normal number's 24 */

struct number {
	uint32_t sign; /* SIGN or 0 */
	int32_t e;
	uint64_t m;
};

static bool is_nan(uint32_t v)
{
	return (v & ~SIGN) > INFINITE;
}

static bool is_signaling(uint32_t v)
{
	return is_nan(v) && !(v & QUIET);
}

static bool is_infinite(uint32_t v)
{
	return (v & ~SIGN) == INFINITE;
}

static bool is_zero(uint32_t v)
{
	return (v & ~SIGN) == 0;
}

static uint32_t not_a_number(struct rv32_rounder *r)
{
	r->flags |= RV32_INVALID;
	return RV32_NAN;
}

/* Returns the result with a NaN operand. */
static uint32_t of_nans(bool signaling, struct rv32_rounder *r)
{
	if (signaling)
		r->flags |= RV32_INVALID;
	return RV32_NAN;
}

/* Unpacks; m has 24 bits, or is 0 for zero. */
static struct number unpack(uint32_t v)
{
	struct number n = {v & SIGN, (int32_t)(v >> 23 & 255), v & 0x7fffff};

	if (n.e == 0) {
		n.e = 1;
		for (; n.m && n.m < 1u << 23; n.e--)
			n.m <<= 1;
	} else {
		n.m |= 1u << 23;
	}
	n.e -= BIAS + 23;
	return n;
}

/* Sets the lowest bit for lost 1 bits. */
static uint64_t shift_right(uint64_t m, int32_t count)
{
	if (count <= 0)
		return m;
	if (count > 63)
		return m != 0;
	return m >> count | ((m & ((1ull << count) - 1)) != 0);
}

/* Returns whether to round up when the low `count` bits of m are dropped. */
static bool rounds_up(uint64_t m, int32_t count, uint32_t sign, unsigned rounding)
{
	const uint64_t rest = m & ((1ull << count) - 1), half = 1ull << (count - 1);

	switch (rounding) {
	case RV32_RNE: return rest > half || (rest == half && (m >> count & 1));
	case RV32_RMM: return rest >= half;
	case RV32_RDN: return rest && sign;
	case RV32_RUP: return rest && !sign;
	default: return false;
	}
}

static uint32_t overflowed(uint32_t sign, struct rv32_rounder *r)
{
	const bool to_infinity = r->rounding == RV32_RNE || r->rounding == RV32_RMM ||
				 r->rounding == (sign ? RV32_RDN : RV32_RUP);

	r->flags |= RV32_OVERFLOW | RV32_INEXACT;
	return sign | (to_infinity ? INFINITE : INFINITE - 1);
}

/* Rounds and packs; n.m must not be 0. Tininess is detected after rounding (IEEE 754). */
static uint32_t pack(struct number n, struct rv32_rounder *r)
{
	int32_t drop = DROPPED, biased;
	bool tiny;
	uint64_t kept;

	while (n.m >> TOP == 0) {
		n.m <<= 1;
		n.e--;
	}
	n.e += (n.m >> TOP) > 1;
	n.m = shift_right(n.m, (n.m >> TOP) > 1);
	biased = n.e + TOP + BIAS;
	tiny = biased < 0 || (biased == 0 &&
			      (n.m >> drop) + rounds_up(n.m, drop, n.sign, r->rounding) < 1u << 24);
	if (biased < 1) {
		n.m = shift_right(n.m, 1 - biased);
		biased = 1;
	}
	kept = (n.m >> drop) + rounds_up(n.m, drop, n.sign, r->rounding);
	if (n.m & ((1ull << drop) - 1))
		r->flags |= tiny ? RV32_INEXACT | RV32_UNDERFLOW : RV32_INEXACT;
	/* The leading one of `kept`, or a carry of the rounding, adds 1 to the exponent. */
	if (biased > 254 || (biased == 254 && kept == 1u << 24))
		return overflowed(n.sign, r);
	return n.sign | (((uint32_t)(biased - 1) << 23) + (uint32_t)kept);
}

/* Adds; one number is not 0, and both m have at most 62 bits. */
static uint32_t add_numbers(struct number a, struct number b, struct rv32_rounder *r)
{
	if (a.m == 0 || (b.m && a.e < b.e)) {
		struct number swap = a;

		a = b;
		b = swap;
	}
	if (b.m)
		b.m = shift_right(b.m, a.e - b.e);
	if (a.sign == b.sign) {
		a.m += b.m;
	} else if (a.m >= b.m) {
		a.m -= b.m;
	} else {
		a.m = b.m - a.m;
		a.sign = b.sign;
	}
	if (a.m == 0)
		return r->rounding == RV32_RDN ? SIGN : 0;
	return pack(a, r);
}

/* Shifts 24 or 48 bits so that the leading one is at bit 61. */
static struct number raise(struct number n)
{
	while (n.m && n.m >> 61 == 0) {
		n.m <<= 1;
		n.e--;
	}
	return n;
}

static uint32_t add(uint32_t a, uint32_t b, struct rv32_rounder *r)
{
	if (is_nan(a) || is_nan(b))
		return of_nans(is_signaling(a) || is_signaling(b), r);
	if (is_infinite(a))
		return is_infinite(b) && a != b ? not_a_number(r) : a;
	if (is_infinite(b))
		return b;
	if (is_zero(a) && is_zero(b))
		return a == b ? a : r->rounding == RV32_RDN ? SIGN : 0;
	return add_numbers(raise(unpack(a)), raise(unpack(b)), r);
}

static struct number product(uint32_t a, uint32_t b)
{
	struct number x = unpack(a), y = unpack(b);

	return (struct number){x.sign ^ y.sign, x.e + y.e, x.m * y.m};
}

static uint32_t multiply(uint32_t a, uint32_t b, struct rv32_rounder *r)
{
	if (is_nan(a) || is_nan(b))
		return of_nans(is_signaling(a) || is_signaling(b), r);
	if (is_infinite(a) || is_infinite(b))
		return is_zero(a) || is_zero(b) ? not_a_number(r) : ((a ^ b) & SIGN) | INFINITE;
	if (is_zero(a) || is_zero(b))
		return (a ^ b) & SIGN;
	return pack(product(a, b), r);
}

static uint32_t divide(uint32_t a, uint32_t b, struct rv32_rounder *r)
{
	const uint32_t sign = (a ^ b) & SIGN;

	if (is_nan(a) || is_nan(b))
		return of_nans(is_signaling(a) || is_signaling(b), r);
	if (is_infinite(a))
		return is_infinite(b) ? not_a_number(r) : sign | INFINITE;
	if (is_infinite(b))
		return sign;
	if (is_zero(b)) {
		if (is_zero(a))
			return not_a_number(r);
		r->flags |= RV32_DIVZERO;
		return sign | INFINITE;
	}
	if (is_zero(a))
		return sign;
	struct number x = unpack(a), y = unpack(b);
	uint64_t dividend = x.m << 38;

	return pack((struct number){sign, x.e - y.e - 38, dividend / y.m | (dividend % y.m != 0)},
		    r);
}

static uint32_t square_root(uint32_t a, struct rv32_rounder *r)
{
	uint64_t root = 0, rest;

	if (is_nan(a))
		return of_nans(is_signaling(a), r);
	if (is_zero(a))
		return a;
	if (a & SIGN)
		return not_a_number(r);
	if (is_infinite(a))
		return a;
	struct number n = unpack(a);
	/* Even exponent, m of 54 or 55 bits: a square root of 27 or 28. */
	rest = n.m << (n.e & 1 ? 31 : 30);
	n.e -= n.e & 1 ? 31 : 30;
	for (uint64_t bit = 1ull << 54; bit; bit >>= 2) {
		if (rest >= root + bit) {
			rest -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return pack((struct number){0, n.e / 2 - 1, root << 1 | (rest != 0)}, r);
}

static uint32_t minimum(uint32_t a, uint32_t b, bool maximum, struct rv32_rounder *r)
{
	if (is_signaling(a) || is_signaling(b))
		r->flags |= RV32_INVALID;
	if (is_nan(a))
		return is_nan(b) ? RV32_NAN : b;
	if (is_nan(b))
		return a;
	/* Signed integers with the floats' order; -0 is below +0. */
	const int32_t x = (int32_t)(a & SIGN ? ~a ^ SIGN : a);
	const int32_t y = (int32_t)(b & SIGN ? ~b ^ SIGN : b);

	return (x < y) != maximum ? a : b;
}

/* FEQ, FLT or FLE. */
static uint32_t compare(enum rv32_opcode code, uint32_t a, uint32_t b, struct rv32_rounder *r)
{
	if (is_nan(a) || is_nan(b)) {
		if (code != RV32_FEQ_S || is_signaling(a) || is_signaling(b))
			r->flags |= RV32_INVALID;
		return 0;
	}
	if (is_zero(a) && is_zero(b))
		return code != RV32_FLT_S;
	if (code == RV32_FEQ_S || a == b)
		return a == b && code != RV32_FLT_S;
	return minimum(a, b, false, r) == a;
}

static uint32_t class_of(uint32_t a)
{
	const bool negative = (a & SIGN) != 0;
	const uint32_t e = a >> 23 & 255;

	if (is_nan(a))
		return is_signaling(a) ? 1u << 8 : 1u << 9;
	if (is_infinite(a))
		return negative ? 1u << 0 : 1u << 7;
	if (is_zero(a))
		return negative ? 1u << 3 : 1u << 4;
	if (e == 0)
		return negative ? 1u << 2 : 1u << 5;
	return negative ? 1u << 1 : 1u << 6;
}

/* Rounds to an integer below 2^40; UINT64_MAX: larger. */
static uint64_t to_integer(struct number n, struct rv32_rounder *r, bool *inexact)
{
	*inexact = false;
	if (n.m == 0)
		return 0;
	if (n.e >= 0)
		return n.e > 16 ? UINT64_MAX : n.m << n.e;
	/* Two bits below the point: the half, and one for any lower bit. */
	uint64_t m = shift_right(n.m << 2, -n.e);

	*inexact = (m & 3) != 0;
	return (m >> 2) + rounds_up(m, 2, n.sign, r->rounding);
}

static uint32_t to_signed(uint32_t a, struct rv32_rounder *r)
{
	bool inexact, negative = (a & SIGN) != 0;
	uint64_t m;

	if (is_nan(a) || is_infinite(a)) {
		r->flags |= RV32_INVALID;
		return negative && !is_nan(a) ? 0x80000000u : 0x7fffffffu;
	}
	m = to_integer(unpack(a), r, &inexact);
	if (m > 0x7fffffffu + (uint64_t)negative) {
		r->flags |= RV32_INVALID;
		return negative ? 0x80000000u : 0x7fffffffu;
	}
	if (inexact)
		r->flags |= RV32_INEXACT;
	return negative ? 0u - (uint32_t)m : (uint32_t)m;
}

static uint32_t to_unsigned(uint32_t a, struct rv32_rounder *r)
{
	bool inexact, negative = (a & SIGN) != 0;
	uint64_t m;

	if (is_nan(a) || is_infinite(a)) {
		r->flags |= RV32_INVALID;
		return negative && !is_nan(a) ? 0 : 0xffffffffu;
	}
	m = to_integer(unpack(a), r, &inexact);
	if (negative ? m != 0 : m > 0xffffffffu) {
		r->flags |= RV32_INVALID;
		return negative ? 0 : 0xffffffffu;
	}
	if (inexact)
		r->flags |= RV32_INEXACT;
	return (uint32_t)m;
}

static uint32_t from_integer(uint32_t magnitude, uint32_t sign, struct rv32_rounder *r)
{
	return magnitude ? pack((struct number){sign, 0, magnitude}, r) : 0;
}

uint32_t rv32_float(enum rv32_opcode code, uint32_t a, uint32_t b, struct rv32_rounder *r)
{
	switch (code) {
	case RV32_FADD_S: return add(a, b, r);
	case RV32_FSUB_S: return add(a, is_nan(b) ? b : b ^ SIGN, r);
	case RV32_FMUL_S: return multiply(a, b, r);
	case RV32_FDIV_S: return divide(a, b, r);
	case RV32_FSQRT_S: return square_root(a, r);
	case RV32_FSGNJ_S: return (a & ~SIGN) | (b & SIGN);
	case RV32_FSGNJN_S: return (a & ~SIGN) | (~b & SIGN);
	case RV32_FSGNJX_S: return a ^ (b & SIGN);
	case RV32_FMIN_S:
	case RV32_FMAX_S: return minimum(a, b, code == RV32_FMAX_S, r);
	case RV32_FCVT_W_S: return to_signed(a, r);
	case RV32_FCVT_WU_S: return to_unsigned(a, r);
	case RV32_FEQ_S:
	case RV32_FLT_S:
	case RV32_FLE_S: return compare(code, a, b, r);
	case RV32_FCLASS_S: return class_of(a);
	case RV32_FCVT_S_W: return from_integer(a & SIGN ? 0u - a : a, a & SIGN, r);
	case RV32_FCVT_S_WU: return from_integer(a, 0, r);
	default: /* FMV_X_W, FMV_W_X */ return a;
	}
}

/* Computes a * b + c. */
static uint32_t fused(uint32_t a, uint32_t b, uint32_t c, struct rv32_rounder *r)
{
	const uint32_t sign = (a ^ b) & SIGN;
	const bool invalid = (is_infinite(a) && is_zero(b)) || (is_zero(a) && is_infinite(b));

	if (invalid)
		return not_a_number(r);
	if (is_nan(a) || is_nan(b) || is_nan(c))
		return of_nans(is_signaling(a) || is_signaling(b) || is_signaling(c), r);
	if (is_infinite(a) || is_infinite(b))
		return is_infinite(c) && (c & SIGN) != sign ? not_a_number(r) : sign | INFINITE;
	if (is_infinite(c))
		return c;
	if (is_zero(a) || is_zero(b)) {
		if (!is_zero(c) || c == sign)
			return c;
		return r->rounding == RV32_RDN ? SIGN : 0;
	}
	return add_numbers(raise(product(a, b)), raise(unpack(c)), r);
}

static uint32_t negated(uint32_t v)
{
	return is_nan(v) ? v : v ^ SIGN;
}

uint32_t rv32_float_fused(enum rv32_opcode code, uint32_t a, uint32_t b, uint32_t c,
			  struct rv32_rounder *r)
{
	if (code == RV32_FNMSUB_S || code == RV32_FNMADD_S)
		a = negated(a);
	if (code == RV32_FMSUB_S || code == RV32_FNMADD_S)
		c = negated(c);
	return fused(a, b, c, r);
}
