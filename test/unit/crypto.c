/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests known answers: X25519 (RFC 7748), HKDF (RFC 5869), AES-GCM (NIST). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "crypto/crypto.h"
#include "test/support/hex.h"

static struct crypto crypto;

static int library_open(void **state)
{
	return crypto_open(&crypto) == DXP_OK ? 0 : -1;
}

static int library_close(void **state)
{
	crypto_close(&crypto);
	return 0;
}

static void x25519__rfc_7748_section_6_1(void **state)
{
	uint8_t a[32], b[32], expected[32], out[32], pa[32], pb[32];

	hex_read("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a", a, 32);
	hex_read("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb", b, 32);
	hex_read("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a", expected, 32);
	assert_true(crypto_x25519_public(a, pa));
	assert_memory_equal(pa, expected, 32);
	hex_read("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f", expected, 32);
	assert_true(crypto_x25519_public(b, pb));
	assert_memory_equal(pb, expected, 32);
	hex_read("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742", expected, 32);
	assert_true(crypto_x25519(a, pb, out));
	assert_memory_equal(out, expected, 32);
	assert_true(crypto_x25519(b, pa, out));
	assert_memory_equal(out, expected, 32);
}

/* RFC 7748, section 5.2: the result becomes k, the old k becomes u. */
static void x25519__rfc_7748_iterated(void **state)
{
	uint8_t k[32] = {9}, u[32] = {9}, out[32], expected[32];

	for (int i = 1; i <= 1000; i++) {
		assert_true(crypto_x25519(k, u, out));
		memcpy(u, k, 32);
		memcpy(k, out, 32);
		if (i > 1)
			continue;
		hex_read("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
			 expected, 32);
		assert_memory_equal(k, expected, 32);
	}
	hex_read("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51", expected, 32);
	assert_memory_equal(k, expected, 32);
}

static void x25519__keys_of_low_order_are_refused(void **state)
{
	static const char *const low[] = {
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	};
	uint8_t secret[32] = {1, 2, 3}, peer[32], out[32];

	for (size_t i = 0; i < sizeof(low) / sizeof(low[0]); i++) {
		hex_read(low[i], peer, 32);
		assert_false(crypto_x25519(secret, peer, out));
	}
}

static void hkdf__rfc_5869_case_1(void **state)
{
	uint8_t secret[22], salt[13], info[10], out[42], expected[42];

	memset(secret, 0x0b, sizeof(secret));
	for (uint8_t i = 0; i < sizeof(salt); i++)
		salt[i] = i;
	for (uint8_t i = 0; i < sizeof(info); i++)
		info[i] = (uint8_t)(0xf0 + i);
	assert_true(crypto_hkdf(&crypto, (struct crypto_bytes){salt, sizeof(salt)},
				(struct crypto_bytes){secret, sizeof(secret)},
				(struct crypto_bytes){info, sizeof(info)}, out, sizeof(out)));
	hex_read("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
		 "34007208d5b887185865",
		 expected, sizeof(expected));
	assert_memory_equal(out, expected, sizeof(expected));
}

static void hkdf__rfc_5869_case_3(void **state)
{
	uint8_t secret[22], out[42], expected[42];

	memset(secret, 0x0b, sizeof(secret));
	assert_true(crypto_hkdf(&crypto, (struct crypto_bytes){"", 0},
				(struct crypto_bytes){secret, sizeof(secret)},
				(struct crypto_bytes){"", 0}, out, sizeof(out)));
	hex_read("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
		 "9d201395faa4b61a96c8",
		 expected, sizeof(expected));
	assert_memory_equal(out, expected, sizeof(expected));
}

/* Case 1, without the extract step. */
static void hkdf_expand__rfc_5869(void **state)
{
	uint8_t prk[32], out[42], whole[42];

	hex_read("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", prk, 32);
	assert_true(crypto_hkdf_expand(&crypto, prk, "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9",
				       out, sizeof(out)));
	hex_read("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
		 "34007208d5b887185865",
		 whole, sizeof(whole));
	assert_memory_equal(out, whole, sizeof(whole));
}

static void hash__of_two_parts(void **state)
{
	uint8_t out[32], expected[32];

	hex_read("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", expected, 32);
	assert_true(crypto_hash(&crypto, (struct crypto_bytes){"a", 1},
				(struct crypto_bytes){"bc", 2}, out));
	assert_memory_equal(out, expected, 32);
}

/* GCM submission, AES-256. */
static void aead__gcm_case_16(void **state)
{
	static const uint8_t cleared[60];
	uint8_t key[32], nonce[12], aad[20], text[60], expected[76], out[76], back[60];
	const struct crypto_aead a = {key, nonce, {aad, sizeof(aad)}};

	hex_read("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", key, 32);
	hex_read("cafebabefacedbaddecaf888", nonce, 12);
	hex_read("feedfacedeadbeeffeedfacedeadbeefabaddad2", aad, 20);
	hex_read("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		 text, 60);
	hex_read("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
		 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
		 "76fc6ece0f4e1768cddf8853bb2d551b",
		 expected, 76);
	assert_true(crypto_aead_seal(&crypto, &a, (struct crypto_bytes){text, 60}, out));
	assert_memory_equal(out, expected, 76);
	assert_true(crypto_aead_open(&crypto, &a, (struct crypto_bytes){out, 76}, back));
	assert_memory_equal(back, text, 60);
	for (uint32_t bit = 0; bit < 8 * sizeof(out); bit++) {
		out[bit / 8] ^= (uint8_t)(1u << bit % 8);
		memset(back, 1, sizeof(back));
		assert_false(crypto_aead_open(&crypto, &a, (struct crypto_bytes){out, 76}, back));
		assert_memory_equal(back, cleared, sizeof(back));
		out[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* GCM submission, AES-128, which packets use. */
static void aes_128__gcm_case_4(void **state)
{
	uint8_t key[16], nonce[12], aad[20], text[60], expected[76], out[76];
	EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
	int n;

	hex_read("feffe9928665731c6d6a8f9467308308", key, 16);
	hex_read("cafebabefacedbaddecaf888", nonce, 12);
	hex_read("feedfacedeadbeeffeedfacedeadbeefabaddad2", aad, 20);
	hex_read("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		 text, 60);
	hex_read("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
		 "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
		 "5bc94fbc3221a5db94fae95ae7121a47",
		 expected, 76);
	assert_int_equal(EVP_EncryptInit_ex2(x, crypto.aes128, key, nonce, NULL), 1);
	assert_int_equal(EVP_EncryptUpdate(x, NULL, &n, aad, sizeof(aad)), 1);
	assert_int_equal(EVP_EncryptUpdate(x, out, &n, text, sizeof(text)), 1);
	assert_int_equal(EVP_EncryptFinal_ex(x, out + 60, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, 16, out + 60), 1);
	assert_memory_equal(out, expected, 76);
	EVP_CIPHER_CTX_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x25519__rfc_7748_section_6_1),
		cmocka_unit_test(x25519__rfc_7748_iterated),
		cmocka_unit_test(x25519__keys_of_low_order_are_refused),
		cmocka_unit_test(hkdf__rfc_5869_case_1),
		cmocka_unit_test(hkdf__rfc_5869_case_3),
		cmocka_unit_test(hkdf_expand__rfc_5869),
		cmocka_unit_test(hash__of_two_parts),
		cmocka_unit_test(aead__gcm_case_16),
		cmocka_unit_test(aes_128__gcm_case_4),
	};

	return cmocka_run_group_tests(tests, library_open, library_close);
}
