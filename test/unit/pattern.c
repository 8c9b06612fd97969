/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the handshake of two key pairs with vectors of Noise_KKpsk0_25519_AESGCM_SHA256
 * (flynn/noise, vectors.txt). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "crypto/pattern.h"
#include "test/support/hex.h"

#define MESSAGE_BYTES 128

static const char init_static[] =
	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static const char resp_static[] =
	"0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
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
	 {"test_msg_0", "test_msg_1"},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "13c6b4c495bbc7b95432907247ab38b5bb507bcf4f32abbd490e",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "169cfd28ccd38213e17be5b967a6ff6de85f6949f26824243711"}},
	{"notsecret",
	 {"", ""},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "20f8e0f9c7579f754ce9b5e05f5cee81",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "b05668d3dcd247a08e099cbeb58174df"}},
	{"notsecret",
	 {"test_msg_0", "test_msg_1"},
	 {"358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254"
	  "13c6b4c495bbc7b95432535cc6716834442ddae5e177d5bfd397",
	  "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466"
	  "169cfd28ccd38213e17b518f78c70703c52b0d8d51d4479b557a"}},
};

/* Transport messages and their encrypted form, in all vectors. */
static const char *const texts[] = {"yellowsubmarine", "submarineyellow"};
static const char *const sealed[] = {
	"13f09ec7877b005731a876958cec004a7f9c2734e971828082db441ce001c1",
	"cf3a9cb9da7eb9bea19447b1f9bea60ac70124dfef886e9b82cd52f748c682",
};

static struct crypto crypto;

static size_t hex(const char *text, uint8_t *out)
{
	const size_t bytes = strlen(text) / 2;

	hex_read(text, out, bytes);
	return bytes;
}

struct party {
	struct pattern_side side;
	struct symmetric noise;
	uint8_t psk[CRYPTO_KEY_BYTES], ephemeral[CRYPTO_KEY_BYTES];
	uint8_t ephemeral_public[CRYPTO_KEY_BYTES];
	uint8_t private_key[CRYPTO_KEY_BYTES], public_key[CRYPTO_KEY_BYTES];
	uint8_t agreed[CRYPTO_KEY_BYTES];
};

static void party_make(struct party *p, bool initiator)
{
	hex(psk_text, p->psk);
	hex(initiator ? init_key : resp_key, p->ephemeral);
	hex(initiator ? init_static : resp_static, p->private_key);
	assert_true(crypto_x25519_public(p->ephemeral, p->ephemeral_public));
	assert_true(crypto_x25519_public(p->private_key, p->public_key));
	p->side = (struct pattern_side){.initiator = initiator,
					.psk = p->psk,
					.ephemeral = p->ephemeral,
					.private_key = p->private_key,
					.public_key = p->public_key,
					.agreed = p->agreed};
}

static void parties_meet(struct party *a, struct party *b)
{
	a->side.peer = b->public_key;
	b->side.peer = a->public_key;
	a->side.peer_ephemeral = b->ephemeral_public;
	b->side.peer_ephemeral = a->ephemeral_public;
	assert_true(crypto_x25519(a->private_key, b->public_key, a->agreed));
	assert_true(crypto_x25519(b->private_key, a->public_key, b->agreed));
}

/* One side writes a message, the other reads it. */
static void message_pass(struct party *from, struct party *to, const char *payload,
			 const char *expected, bool first)
{
	uint8_t want[MESSAGE_BYTES], got[MESSAGE_BYTES], text[MESSAGE_BYTES];
	const size_t bytes = hex(expected, want), length = strlen(payload);
	bool (*tokens)(struct symmetric *, const struct crypto *, const struct pattern_side *,
		       const uint8_t *) = first ? pattern_first : pattern_second;

	memcpy(got, from->ephemeral_public, CRYPTO_KEY_BYTES);
	assert_true(tokens(&from->noise, &crypto, &from->side, from->ephemeral_public));
	assert_true(symmetric_encrypt(&from->noise, &crypto, (struct crypto_bytes){payload, length},
				      got + CRYPTO_KEY_BYTES));
	assert_int_equal(bytes, CRYPTO_KEY_BYTES + length + CRYPTO_TAG_BYTES);
	assert_memory_equal(got, want, bytes);
	assert_true(tokens(&to->noise, &crypto, &to->side, want));
	assert_true(symmetric_decrypt(
		&to->noise, &crypto,
		(struct crypto_bytes){want + CRYPTO_KEY_BYTES, bytes - CRYPTO_KEY_BYTES}, text));
	assert_memory_equal(text, payload, length);
}

static void pattern__known_answers(void **state)
{
	for (size_t v = 0; v < sizeof(vectors) / sizeof(*vectors); v++) {
		const struct vector *x = &vectors[v];
		const struct crypto_bytes prologue = {x->prologue, strlen(x->prologue)};
		uint8_t keys[4][CRYPTO_KEY_BYTES], nonce[CRYPTO_NONCE_BYTES];
		struct party a, b;

		party_make(&a, true);
		party_make(&b, false);
		parties_meet(&a, &b);
		assert_true(pattern_begin(&a.noise, &crypto, &a.side, prologue));
		assert_true(pattern_begin(&b.noise, &crypto, &b.side, prologue));
		message_pass(&a, &b, x->payloads[0], x->messages[0], true);
		message_pass(&b, &a, x->payloads[1], x->messages[1], false);
		assert_true(symmetric_split(&a.noise, &crypto, keys[0], keys[1]));
		assert_true(symmetric_split(&b.noise, &crypto, keys[2], keys[3]));
		assert_memory_equal(keys[0], keys[2], 2 * CRYPTO_KEY_BYTES);
		symmetric_nonce(0, nonce);
		for (int i = 0; i < 2; i++) {
			const struct crypto_aead aead = {keys[i], nonce, {"", 0}};
			uint8_t got[MESSAGE_BYTES], want[MESSAGE_BYTES];
			const size_t bytes = hex(sealed[i], want);
			assert_true(crypto_aead_seal(
				&crypto, &aead, (struct crypto_bytes){texts[i], strlen(texts[i])},
				got));
			assert_memory_equal(got, want, bytes);
		}
	}
}

/* Without the private key of either side, the first message cannot be opened or made. */
static void pattern__each_static_key_counts(void **state)
{
	for (int which = 0; which < 3; which++) {
		const struct crypto_bytes nothing = {"", 0};
		uint8_t tag[CRYPTO_TAG_BYTES], empty[1];
		struct party a, b;

		party_make(&a, true);
		party_make(&b, false);
		parties_meet(&a, &b);
		a.agreed[0] ^= which == 0;      /* the initiator lacks its private key */
		b.private_key[1] ^= which == 1; /* the responder lacks its own */
		if (which == 2)
			b.side.peer = b.public_key; /* it expects another initiator */
		assert_true(pattern_begin(&a.noise, &crypto, &a.side, nothing));
		assert_true(pattern_begin(&b.noise, &crypto, &b.side, nothing));
		assert_true(pattern_first(&a.noise, &crypto, &a.side, a.ephemeral_public));
		assert_true(symmetric_encrypt(&a.noise, &crypto, nothing, tag));
		assert_true(pattern_first(&b.noise, &crypto, &b.side, a.ephemeral_public));
		assert_false(symmetric_decrypt(&b.noise, &crypto,
					       (struct crypto_bytes){tag, sizeof(tag)}, empty));
	}
}

static int library_open(void **state)
{
	return crypto_open(&crypto) == DXP_OK ? 0 : -1;
}

static int library_close(void **state)
{
	crypto_close(&crypto);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pattern__known_answers),
		cmocka_unit_test(pattern__each_static_key_counts),
	};

	return cmocka_run_group_tests(tests, library_open, library_close);
}
