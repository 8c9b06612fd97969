/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/symmetric.h"

#include <assert.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/bytes.h"

static struct crypto_bytes of(const uint8_t *base)
{
	return (struct crypto_bytes){base, CRYPTO_KEY_BYTES};
}

static const struct crypto_bytes nothing = {"", 0};

static bool mix_hash(struct symmetric *n, const struct crypto *c, struct crypto_bytes data)
{
	return crypto_hash(c, of(n->hash), data, n->hash);
}

static void key_set(struct symmetric *n, const uint8_t key[CRYPTO_KEY_BYTES])
{
	memcpy(n->key, key, sizeof(n->key));
	n->nonce = 0;
}

bool symmetric_begin(struct symmetric *n, const struct crypto *c, const char *name,
		     struct crypto_bytes prologue)
{
	assert(strlen(name) <= sizeof(n->hash));
	*n = (struct symmetric){0};
	memcpy(n->hash, name, strlen(name));
	memcpy(n->chain, n->hash, sizeof(n->chain));
	return mix_hash(n, c, prologue);
}

bool symmetric_mix_psk(struct symmetric *n, const struct crypto *c,
		       const uint8_t psk[CRYPTO_KEY_BYTES])
{
	uint8_t out[3 * CRYPTO_KEY_BYTES];
	bool good = crypto_hkdf(c, of(n->chain), of(psk), nothing, out, sizeof(out)) &&
		    mix_hash(n, c, of(out + CRYPTO_KEY_BYTES));

	if (good) {
		memcpy(n->chain, out, sizeof(n->chain));
		key_set(n, out + 2 * CRYPTO_KEY_BYTES);
	}
	OPENSSL_cleanse(out, sizeof(out));
	return good;
}

bool symmetric_mix_secret(struct symmetric *n, const struct crypto *c,
			  const uint8_t secret[CRYPTO_KEY_BYTES])
{
	uint8_t out[2 * CRYPTO_KEY_BYTES];
	bool good = crypto_hkdf(c, of(n->chain), of(secret), nothing, out, sizeof(out));

	if (good) {
		memcpy(n->chain, out, sizeof(n->chain));
		key_set(n, out + CRYPTO_KEY_BYTES);
	}
	OPENSSL_cleanse(out, sizeof(out));
	return good;
}

bool symmetric_mix_public(struct symmetric *n, const struct crypto *c,
			  const uint8_t key[CRYPTO_KEY_BYTES])
{
	return mix_hash(n, c, of(key)) && symmetric_mix_secret(n, c, key);
}

bool symmetric_mix_known(struct symmetric *n, const struct crypto *c,
			 const uint8_t key[CRYPTO_KEY_BYTES])
{
	return mix_hash(n, c, of(key));
}

void symmetric_nonce(uint64_t number, uint8_t out[CRYPTO_NONCE_BYTES])
{
	put_be32(out, 0);
	put_be64(out + 4, number);
}

bool symmetric_encrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out)
{
	uint8_t nonce[CRYPTO_NONCE_BYTES];
	const struct crypto_aead a = {n->key, nonce, of(n->hash)};

	symmetric_nonce(n->nonce++, nonce);
	return crypto_aead_seal(c, &a, text, out) &&
	       mix_hash(n, c, (struct crypto_bytes){out, text.bytes + CRYPTO_TAG_BYTES});
}

bool symmetric_decrypt(struct symmetric *n, const struct crypto *c, struct crypto_bytes text,
		       uint8_t *out)
{
	uint8_t nonce[CRYPTO_NONCE_BYTES];
	const struct crypto_aead a = {n->key, nonce, of(n->hash)};

	symmetric_nonce(n->nonce++, nonce);
	return text.bytes >= CRYPTO_TAG_BYTES && crypto_aead_open(c, &a, text, out) &&
	       mix_hash(n, c, text);
}

bool symmetric_split(const struct symmetric *n, const struct crypto *c,
		     uint8_t forth[CRYPTO_KEY_BYTES], uint8_t back[CRYPTO_KEY_BYTES])
{
	uint8_t out[2 * CRYPTO_KEY_BYTES];
	bool good = crypto_hkdf(c, of(n->chain), nothing, nothing, out, sizeof(out));

	if (good) {
		memcpy(forth, out, CRYPTO_KEY_BYTES);
		memcpy(back, out + CRYPTO_KEY_BYTES, CRYPTO_KEY_BYTES);
	}
	OPENSSL_cleanse(out, sizeof(out));
	return good;
}
