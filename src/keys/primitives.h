/* SPDX-License-Identifier: BSD-3-Clause */
/* X25519, SHA-256 and HMAC by libcrypto, for callers without a struct crypto. These functions
 * return false if an input is invalid or memory is short. */
#ifndef KEYS_PRIMITIVES_H
#define KEYS_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define KEYS_BYTES     PUBLIC_KEY_BYTES /* bytes of keys and hashes */
#define KEYS_TAG_BYTES 16               /* bytes of the tag that noise_seal adds */

/* Computes the public key (RFC 7748); any 32 bytes are a private key. */
bool keys_public(const uint8_t private_key[KEYS_BYTES], uint8_t out[KEYS_BYTES]);

/* Computes the shared secret. Returns false also for a public key of small order, with which anyone
 * could compute it. */
bool keys_agree(const uint8_t private_key[KEYS_BYTES], const uint8_t public_key[KEYS_BYTES],
		uint8_t out[KEYS_BYTES]);

/* Compute a hash, and a keyed hash (RFC 2104), of `head`, then `body`. */
bool keys_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes,
	       uint8_t out[KEYS_BYTES]);
bool keys_hmac(const uint8_t key[KEYS_BYTES], const void *head, size_t head_bytes, const void *body,
	       size_t body_bytes, uint8_t out[KEYS_BYTES]);

/* Erases a secret. The compiler cannot remove this call. */
void keys_erase(void *secret, size_t bytes);
/* Compares in constant time. */
bool keys_equal(const void *a, const void *b, size_t bytes);

#endif
