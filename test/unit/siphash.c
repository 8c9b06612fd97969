/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares SipHash-2-4 with the vectors of its authors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/siphash.h"

/* From vectors_sip64 of the reference implementation: key 00 .. 0f, text 00, 01, 02 ... */
static void siphash__published_vectors(void **state)
{
	static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	static const uint64_t words[3] = {0x0706050403020100, 0x0f0e0d0c0b0a0908,
					  0x1716151413121110};
	static const uint64_t expected[] = {0x726fdb47dd0e0e31, 0x93f5f5799a932462,
					    0x3f2acc7f57c29bdb};

	for (size_t i = 0; i < 3; i++)
		assert_true(siphash_words(key, words, i) == expected[i]);
}

static void siphash__depends_on_key_and_text(void **state)
{
	uint64_t key[2] = {1, 2}, words[2] = {3, 4};
	const uint64_t value = siphash_words(key, words, 2);

	for (int bit = 0; bit < 128; bit++) {
		key[bit / 64] ^= 1ull << bit % 64;
		assert_true(siphash_words(key, words, 2) != value);
		key[bit / 64] ^= 1ull << bit % 64;
		words[bit / 64] ^= 1ull << bit % 64;
		assert_true(siphash_words(key, words, 2) != value);
		words[bit / 64] ^= 1ull << bit % 64;
	}
	assert_true(siphash_words(key, words, 2) == value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash__published_vectors),
		cmocka_unit_test(siphash__depends_on_key_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
