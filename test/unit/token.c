/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "keys/token.h"

static const struct token sample = {.id = {0x66, 0x6f, 0x6f, 0x62, 0x61},
				    .secret = "0123456789abcde",
				    .manager = {0xff, [31] = 0x81}};

/* RFC 4648, section 10: "fooba" is MZXW6YTB. */
static void token_format__is_base32(void **state)
{
	char text[TOKEN_TEXT_BYTES], id[TOKEN_ID_TEXT];
	struct token back;

	assert_string_equal(token_id_format(sample.id, id), "mzxw6ytb");
	token_format(&sample, text);
	assert_memory_equal(text, "dxp1.mzxw6ytb.", 14);
	assert_true(token_parse(text, &back));
	assert_memory_equal(&back, &sample, sizeof(back));
	for (char *c = text + 5; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	assert_true(token_parse(text, &back));
	assert_memory_equal(&back, &sample, sizeof(back));
}

static void key_format__comes_back(void **state)
{
	uint8_t key[KEYS_BYTES], back[KEYS_BYTES];
	char text[KEY_TEXT_BYTES];

	for (unsigned i = 0; i < 256; i++) {
		memset(key, (int)i, sizeof(key));
		key[i % KEYS_BYTES] ^= 0x5a;
		assert_int_equal(strlen(key_format(key, text)), KEY_TEXT_BYTES - 1);
		assert_true(key_parse(text, back));
		assert_memory_equal(key, back, sizeof(key));
	}
}

/* Shorter, one letter longer, or with a letter outside base32. */
static void token_parse__rejects_other_text(void **state)
{
	char text[TOKEN_TEXT_BYTES + 1], changed[TOKEN_TEXT_BYTES + 1];
	struct token back;

	token_format(&sample, text);
	const size_t length = strlen(text);
	for (size_t cut = 0; cut < length; cut++) {
		memcpy(changed, text, cut);
		changed[cut] = '\0';
		assert_false(token_parse(changed, &back));
		memcpy(changed, text, length + 1);
		changed[cut] = '1';
		assert_true(changed[cut] == text[cut] || !token_parse(changed, &back));
	}
	memcpy(changed, text, length);
	memcpy(changed + length, "a", 2);
	assert_false(token_parse(changed, &back));
	/* two bits of the last letter must be 0 */
	memcpy(changed, text, length + 1);
	changed[5 + 8 + 1 + 25] = 'b';
	assert_false(token_parse(changed, &back));
}

/* Both sides of a pair compute the same key. With another node or manager the key is different. */
static void keys_pair__is_the_pairs(void **state)
{
	uint8_t private_keys[3][KEYS_BYTES] = {{0, 1}, {0, 2}, {0, 3}}, public_keys[3][KEYS_BYTES];
	uint8_t a[KEYS_BYTES], b[KEYS_BYTES];

	for (int i = 0; i < 3; i++)
		assert_true(keys_public(private_keys[i], public_keys[i]));
	assert_true(keys_pair(private_keys[0], public_keys[0], public_keys[1], a));
	assert_true(keys_pair(private_keys[1], public_keys[0], public_keys[1], b));
	assert_memory_equal(a, b, sizeof(a));
	assert_true(keys_pair(private_keys[0], public_keys[0], public_keys[2], b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_true(keys_pair(private_keys[0], public_keys[1], public_keys[0], b));
	assert_memory_not_equal(a, b, sizeof(a));
}

static void token_psk__depends_on_id_and_secret(void **state)
{
	struct token other = sample;
	uint8_t a[KEYS_BYTES], b[KEYS_BYTES];

	assert_true(token_psk(&sample, a));
	other.secret[0] ^= 1;
	assert_true(token_psk(&other, b));
	assert_memory_not_equal(a, b, sizeof(a));
	other = sample;
	other.id[0] ^= 1;
	assert_true(token_psk(&other, b));
	assert_memory_not_equal(a, b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(token_format__is_base32),
		cmocka_unit_test(key_format__comes_back),
		cmocka_unit_test(token_parse__rejects_other_text),
		cmocka_unit_test(keys_pair__is_the_pairs),
		cmocka_unit_test(token_psk__depends_on_id_and_secret),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
