/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ways to the same sum. The instruction takes 8 bytes but has a latency of 3 cycles, so three
 * independent lanes run side by side; lanes are joined by multiplying with x^(8 * LANE_BYTES)
 * modulo the polynomial, done with a table of four times 256 words because that multiplication is
 * linear in each byte of the sum. Tables are made once, at first use. */
#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>
#include <pthread.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define LANE_BYTES 448         /* three lanes of it fill a 1408-byte payload but for 64 bytes */

static uint32_t byte_table[8][256];
static uint32_t lane_table[4][256];
static bool have_instruction;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t table_step(uint32_t crc, uint8_t byte)
{
	return byte_table[0][(crc ^ byte) & 0xff] ^ (crc >> 8);
}

/* What `crc` becomes when `bytes` zero bytes follow. */
static uint32_t zeros_append(uint32_t crc, size_t bytes)
{
	while (bytes-- > 0)
		crc = table_step(crc, 0);
	return crc;
}

static void tables_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
		byte_table[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int slice = 1; slice < 8; slice++)
			byte_table[slice][i] = table_step(byte_table[slice - 1][i], 0);
	for (uint32_t i = 0; i < 256; i++)
		for (int byte = 0; byte < 4; byte++)
			lane_table[byte][i] = zeros_append(i << (8 * byte), LANE_BYTES);
#ifdef __x86_64__
	have_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

static uint32_t slices_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	for (; bytes >= 8; bytes -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, sizeof(word));
		word ^= crc;
		crc = 0;
		for (int i = 0; i < 8; i++)
			crc ^= byte_table[7 - i][(word >> (8 * i)) & 0xff];
	}
	for (; bytes > 0; bytes--)
		crc = table_step(crc, *p++);
	return crc;
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
	pthread_once(&once, tables_make);
	return ~slices_run(~crc, data, bytes);
}

#ifdef __x86_64__
static uint32_t lane_shift(uint32_t crc)
{
	return lane_table[0][crc & 0xff] ^ lane_table[1][(crc >> 8) & 0xff] ^
	       lane_table[2][(crc >> 16) & 0xff] ^ lane_table[3][crc >> 24];
}

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof(word));
	return word;
}

__attribute__((target("sse4.2"))) static uint32_t instruction_run(uint32_t crc, const uint8_t *p,
								  size_t bytes)
{
	uint64_t a = crc;

	for (; bytes >= 3 * LANE_BYTES; bytes -= 3 * LANE_BYTES, p += 3 * LANE_BYTES) {
		uint64_t b = 0, c = 0;
		for (size_t i = 0; i < LANE_BYTES; i += 8) {
			a = __builtin_ia32_crc32di(a, word_at(p + i));
			b = __builtin_ia32_crc32di(b, word_at(p + LANE_BYTES + i));
			c = __builtin_ia32_crc32di(c, word_at(p + 2 * LANE_BYTES + i));
		}
		a = lane_shift(lane_shift((uint32_t)a) ^ (uint32_t)b) ^ c;
	}
	for (; bytes >= 8; bytes -= 8, p += 8)
		a = __builtin_ia32_crc32di(a, word_at(p));
	for (; bytes > 0; bytes--)
		a = __builtin_ia32_crc32qi((uint32_t)a, *p++);
	return (uint32_t)a;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	pthread_once(&once, tables_make);
#ifdef __x86_64__
	if (have_instruction)
		return ~instruction_run(~crc, data, bytes);
#endif
	return ~slices_run(~crc, data, bytes);
}
