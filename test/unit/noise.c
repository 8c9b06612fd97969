/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests X25519 (RFC 7748), HMAC (RFC 4231) and the handshake with vectors, and with each byte
 * changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "keys/noise.h"

#define MESSAGE_BYTES 256

static size_t hex(const char *text, uint8_t *out)
{
	size_t bytes = strlen(text) / 2;

	for (size_t i = 0; i < bytes; i++) {
		unsigned value;
		assert_int_equal(sscanf(text + 2 * i, "%2x", &value), 1);
		out[i] = (uint8_t)value;
	}
	return bytes;
}

static void assert_hex(const uint8_t *got, size_t bytes, const char *expected)
{
	uint8_t want[MESSAGE_BYTES];

	assert_int_equal(bytes, hex(expected, want));
	assert_memory_equal(got, want, bytes);
}

/* RFC 7748, section 5.2, with its first iteration. */
static void keys_agree__known_answers(void **state)
{
	static const char *const rows[][3] = {
		{"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
		 "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
		 "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
		{"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
		 "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
		 "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"},
		{"0900000000000000000000000000000000000000000000000000000000000000",
		 "0900000000000000000000000000000000000000000000000000000000000000",
		 "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
	};
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES], out[KEYS_BYTES];

	for (size_t i = 0; i < 3; i++) {
		hex(rows[i][0], private_key);
		hex(rows[i][1], public_key);
		assert_true(keys_agree(private_key, public_key, out));
		assert_hex(out, sizeof(out), rows[i][2]);
	}
}

/* RFC 7748, section 6.1. */
static void keys_public__known_answers(void **state)
{
	uint8_t key[KEYS_BYTES], out[KEYS_BYTES];

	hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb", key);
	assert_true(keys_public(key, out));
	assert_hex(out, sizeof(out),
		   "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
}

/* The shared secret would always be zero. */
static void keys_agree__rejects_points_of_small_order(void **state)
{
	static const char *const points[] = {
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	};
	uint8_t private_key[KEYS_BYTES] = {7}, point[KEYS_BYTES], out[KEYS_BYTES];

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		hex(points[i], point);
		assert_false(keys_agree(private_key, point, out));
	}
}

struct vector {
	const char *payload[2], *message[2], *sealed[2];
};

/* Noise_IKpsk2_25519_AESGCM_SHA256 in vectors.txt of github.com/flynn/noise. */
static const struct vector vectors[] = {
	{{"", ""},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd1662540322be5210eec7e84567f5b4"
	  "ad376b908b7c38a587eb71776e0661a6ca9f3ef251962835db06e694781bcf163d3cb38dfe6ffdada1fcf404"
	  "92123fd5eae6c0c9",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466f9d3c922ccf0a76efc90a08b"
	  "4d23df61"},
	 {"c033f4a3312af700a5a655f6992bcad095ceb5af11b02027cecd87ef65738c",
	  "3363987af8578ae96cb358858a859ef8060129a05d85700d8a9c4955c599c1"}},
	{{"746573745f6d73675f30", "746573745f6d73675f31"},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd1662540322be5210eec7e84567f5b4"
	  "ad376b908b7c38a587eb71776e0661a6ca9f3ef251962835db06e694781bcf163d3cb38d2dbe7ee0a408573e"
	  "5466e702c802dce4b432bd175dff1a5caae4",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466574ad0a465f5fa10665727be"
	  "848a181ffd21211d5aa7d5be8e28"},
	 {"c033f4a3312af700a5a655f6992bcad095ceb5af11b02027cecd87ef65738c",
	  "3363987af8578ae96cb358858a859ef8060129a05d85700d8a9c4955c599c1"}},
};

struct pair {
	struct noise initiator, responder;
};

static void pair_begin(struct pair *p, const char *psk)
{
	uint8_t initiator[KEYS_BYTES], responder[KEYS_BYTES], peer[KEYS_BYTES], key[KEYS_BYTES];
	uint8_t first[KEYS_BYTES], second[KEYS_BYTES];

	hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", initiator);
	hex("0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20", responder);
	hex("202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f", first);
	hex("4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60", second);
	hex(psk, key);
	assert_true(keys_public(responder, peer));
	const struct noise_options a = {
		.initiator = true, .private_key = initiator, .peer = peer, .ephemeral = first};
	const struct noise_options b = {.private_key = responder, .ephemeral = second};
	assert_true(noise_begin(&p->initiator, &a));
	assert_true(noise_begin(&p->responder, &b));
	noise_psk(&p->initiator, key);
	noise_psk(&p->responder, key);
}

#define PSK "2176657279736563726574766572797365637265747665727973656372657421"

static void noise__known_answers(void **state)
{
	static const char *const texts[] = {"yellowsubmarine", "submarineyellow"};
	uint8_t payload[MESSAGE_BYTES], message[MESSAGE_BYTES], got[MESSAGE_BYTES];
	struct pair p;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];
		pair_begin(&p, PSK);
		for (int step = 0; step < 2; step++) {
			struct noise *from = step ? &p.responder : &p.initiator;
			struct noise *to = step ? &p.initiator : &p.responder;
			size_t bytes = hex(v->payload[step], payload);
			size_t length = noise_write(from, payload, bytes, message);
			assert_hex(message, length, v->message[step]);
			assert_true(noise_read(to, message, length, got));
			assert_memory_equal(got, payload, bytes);
		}
		assert_memory_equal(p.responder.peer, p.initiator.public_key, KEYS_BYTES);
		for (int step = 0; step < 2; step++) {
			struct noise *from = step ? &p.responder : &p.initiator;
			struct noise *to = step ? &p.initiator : &p.responder;
			size_t bytes = strlen(texts[step]);
			assert_true(noise_seal(from, texts[step], bytes, message));
			assert_hex(message, bytes + KEYS_TAG_BYTES, v->sealed[step]);
			assert_true(noise_open(to, message, bytes + KEYS_TAG_BYTES, got));
			assert_memory_equal(got, texts[step], bytes);
		}
	}
}

/* Any byte changed, or truncated. */
static void noise__rejects_every_change(void **state)
{
	uint8_t message[MESSAGE_BYTES], got[MESSAGE_BYTES];
	struct pair p, copy;

	pair_begin(&p, PSK);
	for (int step = 0; step < 2; step++) {
		struct noise *from = step ? &p.responder : &p.initiator;
		struct noise *to = step ? &p.initiator : &p.responder;
		size_t length = noise_write(from, "abc", 3, message);
		for (size_t at = 0; at < length; at++) {
			copy.initiator = *to;
			message[at] ^= 1;
			assert_false(noise_read(&copy.initiator, message, length, got));
			message[at] ^= 1;
		}
		for (size_t cut = 0; cut < length; cut++) {
			copy.initiator = *to;
			assert_false(noise_read(&copy.initiator, message, cut, got));
		}
		assert_true(noise_read(to, message, length, got));
	}
}

/* The initiator can read the second message only with the same pre-shared key. */
static void noise__needs_the_same_psk(void **state)
{
	uint8_t message[MESSAGE_BYTES], got[MESSAGE_BYTES], psk[KEYS_BYTES] = {1};
	struct pair p;

	pair_begin(&p, PSK);
	size_t length = noise_write(&p.initiator, NULL, 0, message);
	assert_true(noise_read(&p.responder, message, length, got));
	struct noise wrong = p.initiator;
	noise_psk(&wrong, psk);
	length = noise_write(&p.responder, NULL, 0, message);
	assert_false(noise_read(&wrong, message, length, got));
	assert_true(noise_read(&p.initiator, message, length, got));
}

/* Each only once, and in order. */
static void noise_open__rejects_repeats(void **state)
{
	uint8_t first[MESSAGE_BYTES], second[MESSAGE_BYTES], got[MESSAGE_BYTES];
	struct pair p;

	pair_begin(&p, PSK);
	size_t length = noise_write(&p.initiator, NULL, 0, first);
	assert_true(noise_read(&p.responder, first, length, got));
	length = noise_write(&p.responder, NULL, 0, first);
	assert_true(noise_read(&p.initiator, first, length, got));
	assert_true(noise_seal(&p.initiator, "a", 1, first));
	assert_true(noise_seal(&p.initiator, "b", 1, second));
	assert_false(noise_open(&p.responder, second, 1 + KEYS_TAG_BYTES, got));
	assert_true(noise_open(&p.responder, first, 1 + KEYS_TAG_BYTES, got));
	assert_false(noise_open(&p.responder, first, 1 + KEYS_TAG_BYTES, got));
	assert_true(noise_open(&p.responder, second, 1 + KEYS_TAG_BYTES, got));
	assert_false(noise_open(&p.initiator, first, 1 + KEYS_TAG_BYTES, got));
}

/* RFC 4231, case 1: HMAC pads the 20-byte key with zeros. */
static void keys_hmac__known_answer(void **state)
{
	uint8_t key[KEYS_BYTES] = {0}, out[KEYS_BYTES];

	memset(key, 0x0b, 20);
	assert_true(keys_hmac(key, "Hi ", 3, "There", 5, out));
	assert_hex(out, sizeof(out),
		   "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_agree__known_answers),
		cmocka_unit_test(keys_public__known_answers),
		cmocka_unit_test(keys_agree__rejects_points_of_small_order),
		cmocka_unit_test(keys_hmac__known_answer),
		cmocka_unit_test(noise__known_answers),
		cmocka_unit_test(noise__rejects_every_change),
		cmocka_unit_test(noise__needs_the_same_psk),
		cmocka_unit_test(noise_open__rejects_repeats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
