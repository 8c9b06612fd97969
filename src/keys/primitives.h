/* SPDX-License-Identifier: BSD-3-Clause */
/* X25519, SHA-256 and HMAC by libcrypto, for callers without a struct crypto. A function returns
 * false if an input is invalid, or if memory is short. */
#ifndef KEYS_PRIMITIVES_H
#define KEYS_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define KEYS_BYTES     PUBLIC_KEY_BYTES /* bytes of keys and hashes */
#define KEYS_TAG_BYTES 16               /* bytes that noise_seal adds */

/* Computes the public key of a private key (RFC 7748). Any 32 bytes are a valid private key. */
bool keys_public(const uint8_t private_key[KEYS_BYTES], uint8_t out[KEYS_BYTES]);

/* Computes the secret that two key pairs share. Also returns false for a public key of small order,
 * because anyone could compute the secret. */
bool keys_agree(const uint8_t private_key[KEYS_BYTES], const uint8_t public_key[KEYS_BYTES],
		uint8_t out[KEYS_BYTES]);

/* Compute a hash and a keyed hash (RFC 2104) of `head` followed by `body`. */
bool keys_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes,
	       uint8_t out[KEYS_BYTES]);
bool keys_hmac(const uint8_t key[KEYS_BYTES], const void *head, size_t head_bytes, const void *body,
	       size_t body_bytes, uint8_t out[KEYS_BYTES]);

/* Erases a secret in a way that the compiler cannot omit. */
void keys_erase(void *secret, size_t bytes);
/* Compares two secrets in constant time. Returns true if they are equal. */
bool keys_equal(const void *a, const void *b, size_t bytes);

#endif
