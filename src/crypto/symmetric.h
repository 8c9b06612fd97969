/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric state of a Noise handshake (noiseprotocol.org, revision 34, section 5.2), for
 * patterns with AESGCM and SHA256. The caller processes the tokens of its pattern in order.
 * symmetric_mix_psk processes "psk". symmetric_mix_public processes "e", in patterns with a psk.
 * symmetric_mix_secret processes the key agreements "ee", "es", "se" and "ss". */
#ifndef CRYPTO_SYMMETRIC_H
#define CRYPTO_SYMMETRIC_H

#include "crypto/crypto.h"

struct symmetric {
	uint8_t hash[CRYPTO_HASH_BYTES]; /* Noise's variable h */
	uint8_t chain[CRYPTO_KEY_BYTES]; /* Noise's variable ck */
	uint8_t key[CRYPTO_KEY_BYTES];   /* Noise's variable k */
	uint64_t nonce;                  /* Noise's variable n: number of the next nonce */
};

/* Begins a handshake. `name` is the protocol's name, at most CRYPTO_HASH_BYTES characters; a
 * pattern's name of up to 6 characters with AESGCM and SHA256 fits. All functions return false if
 * libcrypto has no memory. */
bool symmetric_begin(struct symmetric *n, const struct crypto *c, const char *name,
		     struct crypto_bytes prologue);
bool symmetric_mix_psk(struct symmetric *n, const struct crypto *c,
		       const uint8_t psk[CRYPTO_KEY_BYTES]);
bool symmetric_mix_public(struct symmetric *n, const struct crypto *c,
			  const uint8_t key[CRYPTO_KEY_BYTES]);
bool symmetric_mix_secret(struct symmetric *n, const struct crypto *c,
			  const uint8_t secret[CRYPTO_KEY_BYTES]);

/* Hashes a public key that both sides know in advance (a pre-message). */
bool symmetric_mix_known(struct symmetric *n, const struct crypto *c,
			 const uint8_t key[CRYPTO_KEY_BYTES]);

/* Writes the nonce of AESGCM: 32 zero bits, then the number of the message. */
void symmetric_nonce(uint64_t number, uint8_t out[CRYPTO_NONCE_BYTES]);

/* Writes text and tag. */
bool symmetric_encrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out);
/* Decrypts `text`, which ends with the tag. Also returns false if the tag is wrong. */
bool symmetric_decrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out);

/* Returns the keys for both directions: `forth` from the initiator to the responder, `back` for the
 * other direction. */
bool symmetric_split(const struct symmetric *n, const struct crypto *c,
		     uint8_t forth[CRYPTO_KEY_BYTES], uint8_t back[CRYPTO_KEY_BYTES]);

#endif
