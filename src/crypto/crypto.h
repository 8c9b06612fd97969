/* SPDX-License-Identifier: BSD-3-Clause */
/* libcrypto's SHA-256, HKDF (RFC 5869), X25519 (RFC 7748), AES-256-GCM and AES-128-GCM (NIST SP
 * 800-38D). Functions return false without memory. Not thread-safe. */
#ifndef CRYPTO_CRYPTO_H
#define CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#define CRYPTO_HASH_BYTES  32
#define CRYPTO_KEY_BYTES   32 /* X25519, AES-256, HKDF secrets */
#define CRYPTO_NONCE_BYTES 12
#define CRYPTO_TAG_BYTES   16
#define CRYPTO_AES_BYTES   16 /* AES-128 */

struct crypto {
	EVP_MD *sha256;
	EVP_KDF_CTX *hkdf;
	EVP_CIPHER *aes128, *aes256;
	EVP_CIPHER_CTX *cipher; /* of crypto_aead_seal and crypto_aead_open */
};

/* DXP_ENOMEM; DXP_EIO: libcrypto lacks an algorithm. */
int crypto_open(struct crypto *c);
void crypto_close(struct crypto *c);

struct crypto_bytes {
	const void *base;
	size_t bytes;
};

/* Hashes `a`, then `b`; `out` may overlap them. */
bool crypto_hash(const struct crypto *c, struct crypto_bytes a, struct crypto_bytes b,
		 uint8_t out[CRYPTO_HASH_BYTES]);

/* Extracts a key from `secret` with `salt`, then expands it with `info`. */
bool crypto_hkdf(const struct crypto *c, struct crypto_bytes salt, struct crypto_bytes secret,
		 struct crypto_bytes info, uint8_t *out, size_t bytes);
/* Expands a secret that is uniformly random. */
bool crypto_hkdf_expand(const struct crypto *c, const uint8_t secret[CRYPTO_KEY_BYTES],
			const char *info, uint8_t *out, size_t bytes);

bool crypto_x25519_public(const uint8_t secret[CRYPTO_KEY_BYTES], uint8_t out[CRYPTO_KEY_BYTES]);
/* Returns false also for a public key of low order. */
bool crypto_x25519(const uint8_t secret[CRYPTO_KEY_BYTES],
		   const uint8_t public_key[CRYPTO_KEY_BYTES], uint8_t out[CRYPTO_KEY_BYTES]);

/* crypto_aead_seal writes text and tag to `out`. */
struct crypto_aead {
	const uint8_t *key;   /* CRYPTO_KEY_BYTES */
	const uint8_t *nonce; /* CRYPTO_NONCE_BYTES */
	struct crypto_bytes aad;
};
bool crypto_aead_seal(const struct crypto *c, const struct crypto_aead *a, struct crypto_bytes text,
		      uint8_t *out);
/* Decrypts `text`, which ends with the tag; if that is wrong, clears `out` and returns false. */
bool crypto_aead_open(const struct crypto *c, const struct crypto_aead *a, struct crypto_bytes text,
		      uint8_t *out);

#endif
