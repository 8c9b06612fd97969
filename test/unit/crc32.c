/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares both implementations of CRC-32 with a bitwise one. A read past the bytes faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "base/crc32.h"
#include "base/rng.h"
#include "base/util.h"

#define PAGE_BYTES 4096
#define DATA_BYTES (2 * PAGE_BYTES)

static uint8_t *data; /* the page after these DATA_BYTES bytes is not mapped */
static uint64_t head[CRC32_HEAD_WORDS];

static uint32_t bits_add(uint32_t crc, const void *from, size_t bytes)
{
	const uint8_t *p = from;

	for (size_t i = 0; i < bytes; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >> 1) ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

static void check(const struct crc32_piece *pieces, size_t count)
{
	uint32_t want = bits_add(UINT32_MAX, head, sizeof(head));

	for (size_t i = 0; i < count; i++)
		want = bits_add(want, pieces[i].data, pieces[i].bytes);
	assert_int_equal(crc32_of(head, pieces, count), ~want);
	assert_int_equal(crc32_plain(head, pieces, count), ~want);
	if (crc32_fold_can())
		assert_int_equal(crc32_fold(head, pieces, count), ~want);
}

static int fill(void **state)
{
	struct rng rng = {3};

	data = mmap(NULL, DATA_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED || mprotect(data + DATA_BYTES, PAGE_BYTES, PROT_NONE) != 0)
		return -1;
	for (size_t i = 0; i < DATA_BYTES; i++)
		data[i] = (uint8_t)rng_next(&rng);
	for (size_t i = 0; i < ARRAY_COUNT(head); i++)
		head[i] = rng_next(&rng);
	return 0;
}

static int drop(void **state)
{
	return munmap(data, DATA_BYTES + PAGE_BYTES);
}

/* A header without payload, and the standard check value. */
static void crc32__known(void **state)
{
	struct crc32_piece none = {data, 0};

	check(NULL, 0);
	check(&none, 1);
	assert_int_equal(~bits_add(UINT32_MAX, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_ieee(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_ieee(0, NULL, 0), 0);
}

/* Pieces end where the mapping ends, so each alignment occurs. */
static void crc32__every_length(void **state)
{
	for (size_t n = 0; n < DATA_BYTES; n += n < 1600 ? 1 : 509) {
		struct crc32_piece piece = {data + DATA_BYTES - n, n};
		uint32_t want = ~bits_add(~0x12345678u, piece.data, n);

		check(&piece, 1);
		assert_int_equal(crc32_ieee(0x12345678, piece.data, n), want);
		if (n >= 16 && crc32_fold_can())
			assert_int_equal(crc32_fold_ieee(0x12345678, piece.data, n), want);
	}
}

static void crc32__pieces(void **state)
{
	struct rng rng = {4};

	for (int round = 0; round < 1500; round++) {
		struct crc32_piece pieces[5];

		for (size_t i = 0; i < ARRAY_COUNT(pieces); i++) {
			size_t bytes = rng_next(&rng) % (i % 2 ? 20 : 400);

			pieces[i] = (struct crc32_piece){data + rng_next(&rng) % 4096, bytes};
		}
		check(pieces, ARRAY_COUNT(pieces));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32__known),
		cmocka_unit_test(crc32__every_length),
		cmocka_unit_test(crc32__pieces),
	};

	return cmocka_run_group_tests(tests, fill, drop);
}
