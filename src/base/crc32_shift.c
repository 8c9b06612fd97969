/* SPDX-License-Identifier: BSD-3-Clause */
/* Advances a CRC over zero bytes, each a multiplication by x^8. CRCs are linear, so four tables, by
 * byte of the CRC, give the product. Reflected: bit 31 is x^0. */
#include "base/crc32.h"

#define POLYNOMIAL 0xedb88320u
#define X_0        (1u << 31)
#define X_8        (1u << 23)

/* Multiplies modulo the polynomial. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a & X_0)
			product ^= b;
		b = b & 1 ? (b >> 1) ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

void crc32_shift_make(struct crc32_shift *s, size_t bytes)
{
	uint32_t power = X_0, square = X_8;

	for (size_t rest = bytes; rest > 0; rest >>= 1) {
		if (rest & 1)
			power = multiply(power, square);
		square = multiply(square, square);
	}
	s->bytes = bytes;
	for (unsigned k = 0; k < 4; k++)
		for (uint32_t v = 0; v < 256; v++)
			s->table[k][v] = multiply(v << 8 * k, power);
}
