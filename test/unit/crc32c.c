/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares this processor's implementations of CRC-32C with known answers and a bitwise model. A
 * read past the bytes faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>

#include "base/crc32c.h"
#include "base/crc32c_ways.h"
#include "base/rng.h"
#include "base/util.h"

#define LONGEST     4096
#define LONGER      65507 /* longest datagram: many steps of every inner loop */
#define PAGE_BYTES  4096
#define BYTES       (17 * PAGE_BYTES)
#define SPLIT_TRIES 2000

static uint8_t *bytes; /* the page after these BYTES bytes is not mapped */

static uint32_t bits_run(uint32_t crc, const uint8_t *p, size_t count)
{
	for (; count > 0; count--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >> 1) ^ CRC32C_POLYNOMIAL : crc >> 1;
	}
	return crc;
}

static int bytes_make(void **state)
{
	struct rng r = {5};

	bytes = mmap(NULL, BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (bytes == MAP_FAILED || mprotect(bytes + BYTES, PAGE_BYTES, PROT_NONE) != 0)
		return -1;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)rng_next(&r);
	return 0;
}

static int bytes_free(void **state)
{
	return munmap(bytes, BYTES + PAGE_BYTES);
}

/* RFC 3720, appendix B.4, and the usual check value. */
static void crc32c__known_answers(void **state)
{
	uint8_t block[32];

	for (size_t i = 0; i < crc32c_way_count; i++) {
		const struct crc32c_way *way = &crc32c_ways[i];
		if (!way->prepare())
			continue;
		memset(block, 0, sizeof(block));
		assert_int_equal(~way->run(~0u, block, sizeof(block)), 0x8a9136aa);
		memset(block, 0xff, sizeof(block));
		assert_int_equal(~way->run(~0u, block, sizeof(block)), 0x62a8ab43);
		for (size_t b = 0; b < sizeof(block); b++)
			block[b] = (uint8_t)b;
		assert_int_equal(~way->run(~0u, block, sizeof(block)), 0x46dd794e);
	}
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c_portable(0, "123456789", 9), 0xe3069283);
}

/* Pieces end where the mapping ends, so each alignment occurs. */
static void crc32c__every_length_and_alignment(void **state)
{
	for (size_t n = 0; n <= LONGEST; n++) {
		const uint8_t *p = bytes + BYTES - n;
		uint32_t want = bits_run(0x12345678, p, n);
		for (size_t i = 0; i < crc32c_way_count; i++)
			if (crc32c_ways[i].prepare())
				assert_int_equal(crc32c_ways[i].run(0x12345678, p, n), want);
		assert_int_equal(crc32c(~0x12345678u, p, n), ~want);
	}
}

/* Each piece may use another implementation. */
static void crc32c__random_splits(void **state)
{
	struct rng r = {6};

	for (int try = 0; try < SPLIT_TRIES; try++) {
		size_t whole = rng_next(&r) % (try % 10 == 0 ? LONGER : LONGEST);
		const uint8_t *p = bytes + rng_next(&r) % 64;
		uint32_t want = crc32c_portable(0, p, whole), crc = ~0u;
		for (size_t done = 0; done < whole;) {
			const struct crc32c_way *way =
				&crc32c_ways[rng_next(&r) % crc32c_way_count];
			size_t piece = min_u64(1 + rng_next(&r) % (1 + whole / 2), whole - done);
			if (!way->prepare())
				continue;
			crc = way->run(crc, p + done, piece);
			done += piece;
		}
		assert_int_equal(~crc, want);
		assert_int_equal(crc32c(0, p, whole), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c__known_answers),
		cmocka_unit_test(crc32c__every_length_and_alignment),
		cmocka_unit_test(crc32c__random_splits),
	};

	return cmocka_run_group_tests(tests, bytes_make, bytes_free);
}
