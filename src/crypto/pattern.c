/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/pattern.h"

#include <openssl/crypto.h>

static const char nn[] = "Noise_NNpsk0_25519_AESGCM_SHA256";
static const char kk[] = "Noise_KKpsk0_25519_AESGCM_SHA256";

/* The tokens ee, es and se. */
static bool agreement_mix(struct symmetric *n, const struct crypto *c, const uint8_t *private_key,
			  const uint8_t *public_key)
{
	uint8_t shared[CRYPTO_KEY_BYTES];
	const bool good = crypto_x25519(private_key, public_key, shared) &&
			  symmetric_mix_secret(n, c, shared);

	OPENSSL_cleanse(shared, sizeof(shared));
	return good;
}

bool pattern_begin(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		   struct crypto_bytes prologue)
{
	const uint8_t *initiator = s->initiator ? s->public_key : s->peer;
	const uint8_t *responder = s->initiator ? s->peer : s->public_key;

	return symmetric_begin(n, c, s->peer ? kk : nn, prologue) &&
	       (!s->peer ||
		(symmetric_mix_known(n, c, initiator) && symmetric_mix_known(n, c, responder)));
}

bool pattern_first(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		   const uint8_t ephemeral_public[CRYPTO_KEY_BYTES])
{
	if (!symmetric_mix_psk(n, c, s->psk) || !symmetric_mix_public(n, c, ephemeral_public))
		return false;
	if (!s->peer)
		return true;
	return (s->initiator ? agreement_mix(n, c, s->ephemeral, s->peer)
			     : agreement_mix(n, c, s->private_key, ephemeral_public)) &&
	       symmetric_mix_secret(n, c, s->agreed);
}

bool pattern_second(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		    const uint8_t ephemeral_public[CRYPTO_KEY_BYTES])
{
	if (!symmetric_mix_public(n, c, ephemeral_public) ||
	    !agreement_mix(n, c, s->ephemeral, s->peer_ephemeral))
		return false;
	if (!s->peer)
		return true;
	return s->initiator ? agreement_mix(n, c, s->private_key, s->peer_ephemeral)
			    : agreement_mix(n, c, s->ephemeral, s->peer);
}
