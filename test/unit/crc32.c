/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 against its check value and a sum made bit by bit. The bytes end where memory ends, so
 * reading one too many is a fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "base/crc32.h"
#include "base/rng.h"
#include "base/util.h"

#define LONGEST     4096
#define LONGER      65507 /* the longest datagram */
#define PAGE_BYTES  4096
#define BYTES       (17 * PAGE_BYTES)
#define SPLIT_TRIES 2000

static uint8_t *bytes; /* BYTES of them, then no memory */

static uint32_t bits_run(uint32_t crc, const uint8_t *p, size_t count)
{
	for (crc = ~crc; count > 0; count--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static int bytes_make(void **state)
{
	struct rng r = {7};

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

static void crc32__known_answers(void **state)
{
	assert_int_equal(crc32_ieee(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_ieee(0, NULL, 0), 0);
}

/* Every length, and every alignment too, since all end at the end of memory. */
static void crc32__every_length_and_alignment(void **state)
{
	for (size_t n = 1; n <= LONGEST; n++) {
		const uint8_t *p = bytes + BYTES - n;
		assert_int_equal(crc32_ieee(0x12345678, p, n), bits_run(0x12345678, p, n));
	}
}

static void crc32__random_splits(void **state)
{
	struct rng r = {8};

	for (int try = 0; try < SPLIT_TRIES; try++) {
		size_t whole = 1 + rng_next(&r) % (try % 10 == 0 ? LONGER : LONGEST);
		const uint8_t *p = bytes + rng_next(&r) % 64;
		uint32_t crc = 0;
		for (size_t done = 0, piece; done < whole; done += piece) {
			piece = min_u64(1 + rng_next(&r) % (1 + whole / 2), whole - done);
			crc = crc32_ieee(crc, p + done, piece);
		}
		assert_int_equal(crc, crc32_ieee(0, p, whole));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32__known_answers),
		cmocka_unit_test(crc32__every_length_and_alignment),
		cmocka_unit_test(crc32__random_splits),
	};

	return cmocka_run_group_tests(tests, bytes_make, bytes_free);
}
