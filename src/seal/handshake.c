/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshakes NNpsk0 and KKpsk0 of Noise (crypto/pattern.h) inside HELLO and HELLO_ACK:
 *
 *   HELLO       first message: HELLO_KEY and HELLO_KEY_TAG; prologue: the fields before them
 *   HELLO_ACK   second message: the same fields of the HELLO_ACK
 *
 * If the owner knows a public key of the peer, KKpsk0 proves the key pairs of both sides. Otherwise
 * NNpsk0 proves the pre-shared key only. The secrets of the session also depend on the other fields
 * of the HELLO_ACK, which Noise does not cover. */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "crypto/pattern.h"
#include "seal/internal.h"

static const struct crypto_bytes nothing = {"", 0};

/* Returns the agreement of this side's static key with the peer's. It costs 35 us, so it is kept.
 * NULL: the peer's key is degenerate. */
static const uint8_t *agreement_get(struct seal *o, uint16_t node,
				    const uint8_t peer[CRYPTO_KEY_BYTES])
{
	struct seal_agreement *a = &o->agreements[peer[0] % SEAL_AGREEMENTS];

	if (!a->used || memcmp(a->peer, peer, sizeof(a->peer)) != 0) {
		a->used = crypto_x25519(o->private_key, peer, a->secret);
		memcpy(a->peer, peer, sizeof(a->peer));
		a->node = node;
	}
	return a->used ? a->secret : NULL;
}

/* Describes this side of a handshake to crypto/pattern.h. False: the peer's key is degenerate. */
static bool side_of(struct seal *o, const struct seal_handshake *g, bool initiator,
		    const uint8_t *peer_ephemeral, struct pattern_side *out)
{
	*out = (struct pattern_side){.initiator = initiator,
				     .psk = g->psk,
				     .ephemeral = g->secret,
				     .peer_ephemeral = peer_ephemeral};
	if (!g->keyed)
		return true;
	out->private_key = o->private_key;
	out->public_key = o->public_key;
	out->peer = g->peer_static;
	out->agreed = agreement_get(o, g->node, g->peer_static);
	return out->agreed != NULL;
}

/* Returns the peer's public key, or NULL: NNpsk0. */
static const uint8_t *key_get(const struct seal *o, uint16_t node)
{
	return o->keyed && o->peer_key ? o->peer_key(o->peer_context, node) : NULL;
}

bool handshake_permits(void *context, uint16_t node)
{
	const struct seal *o = context;

	return !o->needs_key || key_get(o, node) || !o->needs_key(o->peer_context, node);
}

bool handshake_keyed(const struct rltp_seal *s)
{
	return s->keyed;
}

/* Chooses the pattern: the peer's public key, if the owner states one. */
static void pattern_choose(const struct seal *o, struct seal_handshake *g)
{
	const uint8_t *key = key_get(o, g->node);

	g->keyed = key != NULL;
	if (key)
		memcpy(g->peer_static, key, sizeof(g->peer_static));
	g->changes = o->changes;
}

static bool prologue_begin(struct seal *o, struct seal_handshake *g, const uint8_t *hello,
			   bool initiator)
{
	uint8_t fields[WIRE_OFF_HELLO_KEY];
	struct pattern_side side;

	wire_hello_constant(hello, sizeof(fields), fields);
	return side_of(o, g, initiator, NULL, &side) &&
	       pattern_begin(&g->noise, &o->crypto, &side,
			     (struct crypto_bytes){fields, sizeof(fields)});
}

/* `node`: the peer's id for seal_options.peer_key. */
static struct rltp_seal *session_create(struct seal *o, const uint8_t *hello, uint16_t node,
					bool initiator, bool former)
{
	struct rltp_seal *s = handshake_permits(o, node) ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->owner = o;
	s->mode = hello[WIRE_OFF_HELLO_PROTECT];
	s->handshake = calloc(1, sizeof(*s->handshake));
	if (s->handshake) {
		s->handshake->node = node;
		memcpy(s->handshake->psk, o->psk[former], sizeof(s->handshake->psk));
		pattern_choose(o, s->handshake);
		s->keyed = s->handshake->keyed;
		if (prologue_begin(o, s->handshake, hello, initiator))
			return s;
	}
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

struct rltp_seal *handshake_hello(void *context, uint8_t *hello, uint16_t node)
{
	struct seal *o = context;
	struct rltp_seal *s = session_create(o, hello, node, true, o->send_former);
	struct pattern_side side;

	if (!s)
		return NULL;
	struct seal_handshake *g = s->handshake;
	o->entropy(o->entropy_context, g->secret, sizeof(g->secret));
	if (crypto_x25519_public(g->secret, hello + WIRE_OFF_HELLO_KEY) &&
	    side_of(o, g, true, NULL, &side) &&
	    pattern_first(&g->noise, &o->crypto, &side, hello + WIRE_OFF_HELLO_KEY) &&
	    symmetric_encrypt(&g->noise, &o->crypto, nothing, hello + WIRE_OFF_HELLO_KEY_TAG))
		return s;
	seal_ops.free(s);
	return NULL;
}

struct rltp_seal *handshake_accept(void *context, const uint8_t *hello, uint16_t node, bool former)
{
	const struct crypto_bytes tag = {hello + WIRE_OFF_HELLO_KEY_TAG, CRYPTO_TAG_BYTES};
	struct seal *o = context;
	struct rltp_seal *s =
		former && !o->former ? NULL : session_create(o, hello, node, false, former);
	struct pattern_side side;
	uint8_t empty[1];

	if (!s)
		return NULL;
	struct seal_handshake *g = s->handshake;
	memcpy(g->peer, hello + WIRE_OFF_HELLO_KEY, sizeof(g->peer));
	if (side_of(o, g, false, g->peer, &side) &&
	    pattern_first(&g->noise, &o->crypto, &side, g->peer) &&
	    symmetric_decrypt(&g->noise, &o->crypto, tag, empty))
		return s;
	seal_ops.free(s);
	return NULL;
}

bool handshake_current(const struct rltp_seal *s)
{
	const struct seal *o = s->owner;
	struct seal_handshake now = {0};

	if (!s->handshake)
		return true;
	const uint8_t *psk = s->handshake->psk;
	if (memcmp(psk, o->psk[0], CRYPTO_KEY_BYTES) != 0 &&
	    (!o->former || memcmp(psk, o->psk[1], CRYPTO_KEY_BYTES) != 0))
		return false;
	now.node = s->handshake->node;
	pattern_choose(o, &now);
	return now.changes == s->handshake->changes && now.keyed == s->handshake->keyed &&
	       (!now.keyed ||
		memcmp(now.peer_static, s->handshake->peer_static, sizeof(now.peer_static)) == 0);
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
	uint8_t *key = hello_ack + WIRE_OFF_HELLO_KEY;
	struct seal *o = s->owner;
	struct pattern_side side;

	o->entropy(o->entropy_context, g->secret, sizeof(g->secret));
	return crypto_x25519_public(g->secret, key) && side_of(o, g, false, g->peer, &side) &&
	       pattern_second(&g->noise, &o->crypto, &side, key) &&
	       symmetric_encrypt(&g->noise, &o->crypto, nothing,
				 hello_ack + WIRE_OFF_HELLO_KEY_TAG) &&
	       secrets_derive(s, &g->noise, hello_ack, false);
}

bool handshake_finish(struct rltp_seal *s, const uint8_t *hello_ack)
{
	const struct crypto_bytes tag = {hello_ack + WIRE_OFF_HELLO_KEY_TAG, CRYPTO_TAG_BYTES};
	const uint8_t *peer = hello_ack + WIRE_OFF_HELLO_KEY;
	struct seal *o = s->owner;
	struct pattern_side side;
	struct symmetric n;
	uint8_t empty[1];

	if (!s->handshake || !side_of(o, s->handshake, true, peer, &side))
		return false;
	n = s->handshake->noise;
	bool good = pattern_second(&n, &o->crypto, &side, peer) &&
		    symmetric_decrypt(&n, &o->crypto, tag, empty) &&
		    secrets_derive(s, &n, hello_ack, true);
	OPENSSL_cleanse(&n, sizeof(n));
	return good;
}
