/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake Noise_NNpsk0_25519_AESGCM_SHA256 inside HELLO and HELLO_ACK:
 *
 *   -> psk, e     HELLO_KEY and HELLO_KEY_TAG; prologue: the fields of the HELLO before them
 *   <- e, ee      the same fields of the HELLO_ACK
 *
 * The secrets of the session also depend on the other fields of the HELLO_ACK, which Noise does not
 * cover. */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "seal/internal.h"

static const char pattern[] = "Noise_NNpsk0_25519_AESGCM_SHA256";
static const struct crypto_bytes nothing = {"", 0};

static bool prologue_begin(const struct seal *o, struct symmetric *n, const uint8_t *hello,
			   bool former)
{
	uint8_t fields[WIRE_OFF_HELLO_KEY];

	wire_hello_constant(hello, sizeof(fields), fields);
	return symmetric_begin(n, &o->crypto, pattern,
			       (struct crypto_bytes){fields, sizeof(fields)}) &&
	       symmetric_mix_psk(n, &o->crypto, o->psk[former]);
}

static struct rltp_seal *session_create(struct seal *o, const uint8_t *hello, bool former)
{
	struct rltp_seal *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->owner = o;
	s->mode = hello[WIRE_OFF_HELLO_PROTECT];
	s->handshake = calloc(1, sizeof(*s->handshake));
	if (s->handshake && prologue_begin(o, &s->handshake->noise, hello, former))
		return s;
	handshake_free(s);
	free(s);
	return NULL;
}

void handshake_free(struct rltp_seal *s)
{
	if (!s->handshake)
		return;
	OPENSSL_cleanse(s->handshake, sizeof(*s->handshake));
	free(s->handshake);
	s->handshake = NULL;
}

/* Noise's token "e": draws an ephemeral key, whose public key goes into the frame. */
static bool key_draw(const struct seal *o, struct seal_handshake *g, uint8_t *frame)
{
	o->entropy(o->entropy_context, g->secret, sizeof(g->secret));
	return crypto_x25519_public(g->secret, frame + WIRE_OFF_HELLO_KEY) &&
	       symmetric_mix_public(&g->noise, &o->crypto, frame + WIRE_OFF_HELLO_KEY);
}

struct rltp_seal *handshake_hello(void *context, uint8_t *hello)
{
	struct seal *o = context;
	struct rltp_seal *s = session_create(o, hello, o->send_former);

	if (!s)
		return NULL;
	if (key_draw(o, s->handshake, hello) &&
	    symmetric_encrypt(&s->handshake->noise, &o->crypto, nothing,
			      hello + WIRE_OFF_HELLO_KEY_TAG))
		return s;
	seal_ops.free(s);
	return NULL;
}

struct rltp_seal *handshake_accept(void *context, const uint8_t *hello, bool former)
{
	const struct crypto_bytes tag = {hello + WIRE_OFF_HELLO_KEY_TAG, CRYPTO_TAG_BYTES};
	struct seal *o = context;
	struct rltp_seal *s = former && !o->former ? NULL : session_create(o, hello, former);
	uint8_t empty[1];

	if (!s)
		return NULL;
	memcpy(s->handshake->peer, hello + WIRE_OFF_HELLO_KEY, sizeof(s->handshake->peer));
	if (symmetric_mix_public(&s->handshake->noise, &o->crypto, s->handshake->peer) &&
	    symmetric_decrypt(&s->handshake->noise, &o->crypto, tag, empty))
		return s;
	seal_ops.free(s);
	return NULL;
}

/* Noise's token "ee": mixes in the secret of both ephemeral keys. */
static bool keys_agree(const struct seal *o, struct symmetric *n, const uint8_t *secret,
		       const uint8_t *peer)
{
	uint8_t shared[CRYPTO_KEY_BYTES];
	bool good =
		crypto_x25519(secret, peer, shared) && symmetric_mix_secret(n, &o->crypto, shared);

	OPENSSL_cleanse(shared, sizeof(shared));
	return good;
}

/* Derives the secrets of both directions, and erases the handshake. */
static bool secrets_derive(struct rltp_seal *s, const struct symmetric *n, const uint8_t *hello_ack,
			   bool initiator)
{
	const struct crypto *c = &s->owner->crypto;
	const struct crypto_bytes info = {"dxp session", 11};
	uint8_t fields[WIRE_OFF_HELLO_KEY], keys[2][CRYPTO_KEY_BYTES];
	const struct crypto_bytes salt = {fields, sizeof(fields)};
	bool good = symmetric_split(n, c, keys[0], keys[1]);

	wire_hello_constant(hello_ack, sizeof(fields), fields);
	for (int i = 0; i < 2 && good; i++) {
		const struct crypto_bytes secret = {keys[i], CRYPTO_KEY_BYTES};
		good = crypto_hkdf(c, salt, secret, info, keys[i], CRYPTO_KEY_BYTES);
	}
	if (good) {
		keys_start(s, keys[!initiator], keys[initiator]);
		handshake_free(s);
	}
	OPENSSL_cleanse(keys, sizeof(keys));
	return good;
}

bool handshake_answer(struct rltp_seal *s, uint8_t *hello_ack)
{
	struct seal_handshake *g = s->handshake;
	const struct seal *o = s->owner;

	return key_draw(o, g, hello_ack) && keys_agree(o, &g->noise, g->secret, g->peer) &&
	       symmetric_encrypt(&g->noise, &o->crypto, nothing,
				 hello_ack + WIRE_OFF_HELLO_KEY_TAG) &&
	       secrets_derive(s, &g->noise, hello_ack, false);
}

bool handshake_finish(struct rltp_seal *s, const uint8_t *hello_ack)
{
	const struct crypto_bytes tag = {hello_ack + WIRE_OFF_HELLO_KEY_TAG, CRYPTO_TAG_BYTES};
	const uint8_t *peer = hello_ack + WIRE_OFF_HELLO_KEY;
	const struct seal *o = s->owner;
	struct symmetric n;
	uint8_t empty[1];

	if (!s->handshake)
		return false;
	n = s->handshake->noise;
	bool good = symmetric_mix_public(&n, &o->crypto, peer) &&
		    keys_agree(o, &n, s->handshake->secret, peer) &&
		    symmetric_decrypt(&n, &o->crypto, tag, empty) &&
		    secrets_derive(s, &n, hello_ack, true);
	OPENSSL_cleanse(&n, sizeof(n));
	return good;
}
