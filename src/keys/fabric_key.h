/* SPDX-License-Identifier: BSD-3-Clause */
/* Seals the fabric key for its way from the manager to a node, by AES-256-GCM with a key that only
 * these two have. */
#ifndef KEYS_FABRIC_KEY_H
#define KEYS_FABRIC_KEY_H

#include "keys/primitives.h"

#define FABRIC_NONCE_BYTES  12
#define FABRIC_SEALED_BYTES (FABRIC_NONCE_BYTES + FABRIC_KEY_BYTES + KEYS_TAG_BYTES)
#define FABRIC_PRINT_TEXT   17 /* with the final zero */

/* Seals a fabric key for the node that shares `pair` (keys_pair) with the manager. The nonce is
 * random. */
bool fabric_key_seal(const uint8_t pair[KEYS_BYTES], uint32_t generation,
		     const uint8_t nonce[FABRIC_NONCE_BYTES], const uint8_t key[FABRIC_KEY_BYTES],
		     uint8_t out[FABRIC_SEALED_BYTES]);
/* Opens a sealed fabric key. Returns false if another sender sealed it, or for another generation;
 * `key` is then unchanged. */
bool fabric_key_open(const uint8_t pair[KEYS_BYTES], uint32_t generation,
		     const uint8_t sealed[FABRIC_SEALED_BYTES], uint8_t key[FABRIC_KEY_BYTES]);

/* Writes the fingerprint of a fabric key: a keyed hash, in hexadecimal digits. Returns `out`. */
const char *fabric_key_fingerprint(const uint8_t key[FABRIC_KEY_BYTES],
				   char out[FABRIC_PRINT_TEXT]);

#endif
