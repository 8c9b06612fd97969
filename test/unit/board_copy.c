/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests copies that bypass the caches, at every alignment of source and destination. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/board_copy.h"

#define BYTES 5000
#define ALIGN 64

static uint8_t from[BYTES + ALIGN], to[BYTES + 3 * ALIGN];

static void copied(void (*copy)(uint8_t *to, const uint8_t *from, uint64_t bytes), uint32_t a,
		   uint32_t b, uint32_t bytes)
{
	memset(to, 0xee, sizeof(to));
	copy(to + ALIGN + a, from + b, bytes);
	assert_memory_equal(to + ALIGN + a, from + b, bytes);
	for (uint32_t i = 0; i < ALIGN; i++)
		assert_int_equal(to[i + a], 0xee);
	for (uint32_t i = ALIGN + a + bytes; i < sizeof(to); i++)
		assert_int_equal(to[i], 0xee);
}

static void board_copy__all_alignments(void **state)
{
	static const uint32_t sizes[] = {0, 1, 63, 64, 4095, 4096, 4097, 4160, 4223, BYTES};

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 31 + i / 256);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (uint32_t a = 0; a < ALIGN; a++) {
			copied(board_copy_in, a, a * 7 % 64, sizes[s]);
			copied(board_copy_out, a, a * 7 % 64, sizes[s]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(board_copy__all_alignments)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
