/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the handshake with vectors of Noise_NNpsk0_25519_AESGCM_SHA256 (flynn/noise,
 * vectors.txt). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "crypto/symmetric.h"
#include "test/support/hex.h"

#define NAME "Noise_NNpsk0_25519_AESGCM_SHA256"

static const char init_key[] = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";
static const char resp_key[] = "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60";
static const char psk_text[] = "2176657279736563726574766572797365637265747665727973656372657421";

struct vector {
	const char *prologue;
	const char *payloads[2];
	const char *messages[2]; /* hexadecimal: public key, payload, tag */
};

static const struct vector vectors[] = {
	{"",
	 {"", ""},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "4833316e6c21d899aec6c5f0c6e85e13",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "d3ec4419885d86e6d7310fb1d2263afd"}},
	{"",
	 {"test_msg_0", "test_msg_1"},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "d2f8054fcaf80f34700607e4422560b0626b1bc69e65290f6437",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "e21a3177614fce09f014bde7e996fb8c8300777068e6fd2aa7c4"}},
	{"notsecret",
	 {"", ""},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "86959ba2f588031f633a6c0e54a14ae5",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "c8783e80be055a8f51e32418393af7cd"}},
	{"notsecret",
	 {"test_msg_0", "test_msg_1"},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "d2f8054fcaf80f347006e0fc25590a31fd33c4626fe59283ea40",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "e21a3177614fce09f014af55e853ed6b88b0e4628e071b23e905"}},
};

/* Transport messages and their encrypted form, in all four vectors. */
static const char *const texts[] = {"yellowsubmarine", "submarineyellow"};
static const char *const sealed[] = {
	"6a7b199c69a64cc2ea3c556cf17489fd2ae452d3f3c2a0871cebd327fc31c6",
	"e58d43e0c69d8c15df523586b2c58ca40cb0472b5b3775f1cca807fee28a71",
};

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

static struct crypto_bytes text_of(const char *text)
{
	return (struct crypto_bytes){text, strlen(text)};
}

/* Message i: public key, shared secret ("ee") if it is the second, payload. */
static void message_pass(struct symmetric *from, struct symmetric *to, const struct vector *v,
			 int i)
{
	uint8_t secrets[2][32], message[64], expected[64], shared[32], back[32];
	size_t payload = strlen(v->payloads[i]), bytes = 32 + payload + 16;
	uint8_t other[32];

	hex_read(i == 0 ? init_key : resp_key, secrets[0], 32);
	hex_read(i == 0 ? resp_key : init_key, secrets[1], 32);
	assert_true(crypto_x25519_public(secrets[0], message));
	assert_true(crypto_x25519_public(secrets[1], other));
	assert_true(symmetric_mix_public(from, &crypto, message));
	assert_true(symmetric_mix_public(to, &crypto, message));
	if (i == 1) {
		assert_true(crypto_x25519(secrets[0], other, shared));
		assert_true(symmetric_mix_secret(from, &crypto, shared));
		assert_true(crypto_x25519(secrets[1], message, shared));
		assert_true(symmetric_mix_secret(to, &crypto, shared));
	}
	assert_true(symmetric_encrypt(from, &crypto, text_of(v->payloads[i]), message + 32));
	hex_read(v->messages[i], expected, bytes);
	assert_memory_equal(message, expected, bytes);
	assert_true(symmetric_decrypt(to, &crypto,
				      (struct crypto_bytes){message + 32, payload + 16}, back));
	assert_memory_equal(back, v->payloads[i], payload);
}

static void vector_run(const struct vector *v)
{
	uint8_t psk[32], keys[2][2][32], out[32], expected[31], nonce[12] = {0};
	struct symmetric sides[2];

	hex_read(psk_text, psk, 32);
	for (int i = 0; i < 2; i++) {
		assert_true(symmetric_begin(&sides[i], &crypto, NAME, text_of(v->prologue)));
		assert_true(symmetric_mix_psk(&sides[i], &crypto, psk));
	}
	message_pass(&sides[0], &sides[1], v, 0);
	message_pass(&sides[1], &sides[0], v, 1);
	for (int i = 0; i < 2; i++)
		assert_true(symmetric_split(&sides[i], &crypto, keys[i][0], keys[i][1]));
	assert_memory_equal(keys[0], keys[1], sizeof(keys[0]));
	for (int i = 0; i < 2; i++) {
		const struct crypto_aead a = {keys[0][i], nonce, {"", 0}};
		assert_true(crypto_aead_seal(&crypto, &a, text_of(texts[i]), out));
		hex_read(sealed[i], expected, 31);
		assert_memory_equal(out, expected, 31);
	}
}

static void noise__published_vectors(void **state)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		vector_run(&vectors[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise__published_vectors),
	};

	return cmocka_run_group_tests(tests, library_open, library_close);
}
