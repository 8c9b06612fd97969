/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric state of a Noise handshake (noiseprotocol.org, revision 34, section 5.2) with AESGCM
 * and SHA256. The caller processes its pattern's tokens in order: symmetric_mix_psk "psk",
 * symmetric_mix_public "e" (with a psk), symmetric_mix_secret "ee", "es", "se", "ss". */
#ifndef CRYPTO_SYMMETRIC_H
#define CRYPTO_SYMMETRIC_H

#include "crypto/crypto.h"

struct symmetric {
	uint8_t hash[CRYPTO_HASH_BYTES]; /* Noise's h */
	uint8_t chain[CRYPTO_KEY_BYTES]; /* Noise's ck */
	uint8_t key[CRYPTO_KEY_BYTES];   /* Noise's k */
	uint64_t nonce;                  /* Noise's n: next nonce */
};

/* Begins a handshake. `name` is the protocol's, at most CRYPTO_HASH_BYTES characters, so patterns
 * of up to 6 fit. All functions return false without memory. */
bool symmetric_begin(struct symmetric *n, const struct crypto *c, const char *name,
		     struct crypto_bytes prologue);
bool symmetric_mix_psk(struct symmetric *n, const struct crypto *c,
		       const uint8_t psk[CRYPTO_KEY_BYTES]);
bool symmetric_mix_public(struct symmetric *n, const struct crypto *c,
			  const uint8_t key[CRYPTO_KEY_BYTES]);
bool symmetric_mix_secret(struct symmetric *n, const struct crypto *c,
			  const uint8_t secret[CRYPTO_KEY_BYTES]);

/* Hashes a public key known to both sides in advance (pre-message). */
bool symmetric_mix_known(struct symmetric *n, const struct crypto *c,
			 const uint8_t key[CRYPTO_KEY_BYTES]);

/* Writes AESGCM's nonce: 32 zero bits, then the message's number. */
void symmetric_nonce(uint64_t number, uint8_t out[CRYPTO_NONCE_BYTES]);

/* Writes text and tag. */
bool symmetric_encrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out);
/* Decrypts `text`, which ends with the tag; returns false also if that is wrong. */
bool symmetric_decrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out);

/* Returns the keys; `forth`: from the initiator to the responder. */
bool symmetric_split(const struct symmetric *n, const struct crypto *c,
		     uint8_t forth[CRYPTO_KEY_BYTES], uint8_t back[CRYPTO_KEY_BYTES]);

#endif
