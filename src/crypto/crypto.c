/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/crypto.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>

#include <dxp/status.h>

int crypto_open(struct crypto *c)
{
	EVP_KDF *hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);

	*c = (struct crypto){
		.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL),
		.hkdf = hkdf ? EVP_KDF_CTX_new(hkdf) : NULL,
		.aes128 = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL),
		.aes256 = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL),
		.cipher = EVP_CIPHER_CTX_new(),
	};
	EVP_KDF_free(hkdf); /* the context holds its own reference */
	if (c->sha256 && c->hkdf && c->aes128 && c->aes256 && c->cipher)
		return DXP_OK;
	crypto_close(c);
	return DXP_EIO;
}

void crypto_close(struct crypto *c)
{
	EVP_MD_free(c->sha256);
	EVP_KDF_CTX_free(c->hkdf);
	EVP_CIPHER_free(c->aes128);
	EVP_CIPHER_free(c->aes256);
	EVP_CIPHER_CTX_free(c->cipher);
	*c = (struct crypto){0};
}

bool crypto_hash(const struct crypto *c, struct crypto_bytes a, struct crypto_bytes b,
		 uint8_t out[CRYPTO_HASH_BYTES])
{
	EVP_MD_CTX *m = EVP_MD_CTX_new();
	bool good = m && EVP_DigestInit_ex2(m, c->sha256, NULL) == 1 &&
		    EVP_DigestUpdate(m, a.base, a.bytes) == 1 &&
		    EVP_DigestUpdate(m, b.base, b.bytes) == 1 &&
		    EVP_DigestFinal_ex(m, out, NULL) == 1;

	EVP_MD_CTX_free(m);
	return good;
}

static OSSL_PARAM octets(const char *name, struct crypto_bytes b)
{
	return OSSL_PARAM_construct_octet_string(name, (void *)(uintptr_t)b.base, b.bytes);
}

static bool derive(const struct crypto *c, int mode, const struct crypto_bytes in[3], uint8_t *out,
		   size_t bytes)
{
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char[]){"SHA256"}, 0),
		octets(OSSL_KDF_PARAM_SALT, in[0]),
		octets(OSSL_KDF_PARAM_KEY, in[1]),
		octets(OSSL_KDF_PARAM_INFO, in[2]),
		OSSL_PARAM_construct_end(),
	};

	EVP_KDF_CTX_reset(c->hkdf);
	bool good = EVP_KDF_derive(c->hkdf, out, bytes, parameters) == 1;
	EVP_KDF_CTX_reset(c->hkdf); /* erases the secret from the context */
	return good;
}

bool crypto_hkdf(const struct crypto *c, struct crypto_bytes salt, struct crypto_bytes secret,
		 struct crypto_bytes info, uint8_t *out, size_t bytes)
{
	const struct crypto_bytes in[3] = {salt, secret, info};

	return derive(c, EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, in, out, bytes);
}

bool crypto_hkdf_expand(const struct crypto *c, const uint8_t secret[CRYPTO_KEY_BYTES],
			const char *info, uint8_t *out, size_t bytes)
{
	const struct crypto_bytes in[3] = {
		{"", 0}, {secret, CRYPTO_KEY_BYTES}, {info, strlen(info)}};

	return derive(c, EVP_KDF_HKDF_MODE_EXPAND_ONLY, in, out, bytes);
}

bool crypto_x25519_public(const uint8_t secret[CRYPTO_KEY_BYTES], uint8_t out[CRYPTO_KEY_BYTES])
{
	EVP_PKEY *key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, CRYPTO_KEY_BYTES);
	size_t bytes = CRYPTO_KEY_BYTES;
	bool good = key && EVP_PKEY_get_raw_public_key(key, out, &bytes) == 1;

	EVP_PKEY_free(key);
	return good;
}

bool crypto_x25519(const uint8_t secret[CRYPTO_KEY_BYTES],
		   const uint8_t public_key[CRYPTO_KEY_BYTES], uint8_t out[CRYPTO_KEY_BYTES])
{
	EVP_PKEY *key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, CRYPTO_KEY_BYTES);
	EVP_PKEY *peer =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key, CRYPTO_KEY_BYTES);
	EVP_PKEY_CTX *agreement = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
	size_t bytes = CRYPTO_KEY_BYTES;
	bool good = agreement && peer && EVP_PKEY_derive_init(agreement) == 1 &&
		    EVP_PKEY_derive_set_peer(agreement, peer) == 1 &&
		    EVP_PKEY_derive(agreement, out, &bytes) == 1 && bytes == CRYPTO_KEY_BYTES;

	EVP_PKEY_CTX_free(agreement);
	EVP_PKEY_free(peer);
	EVP_PKEY_free(key);
	return good;
}

bool crypto_aead_seal(const struct crypto *c, const struct crypto_aead *a, struct crypto_bytes text,
		      uint8_t *out)
{
	EVP_CIPHER_CTX *x = c->cipher;
	int n;

	return EVP_EncryptInit_ex2(x, c->aes256, a->key, a->nonce, NULL) == 1 &&
	       EVP_EncryptUpdate(x, NULL, &n, a->aad.base, (int)a->aad.bytes) == 1 &&
	       EVP_EncryptUpdate(x, out, &n, text.base, (int)text.bytes) == 1 &&
	       EVP_EncryptFinal_ex(x, out + text.bytes, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, CRYPTO_TAG_BYTES, out + text.bytes) ==
		       1;
}

bool crypto_aead_open(const struct crypto *c, const struct crypto_aead *a, struct crypto_bytes text,
		      uint8_t *out)
{
	EVP_CIPHER_CTX *x = c->cipher;
	size_t bytes = text.bytes - CRYPTO_TAG_BYTES;
	uint8_t tag[CRYPTO_TAG_BYTES];
	int n;

	memcpy(tag, (const uint8_t *)text.base + bytes, sizeof(tag));
	bool good = EVP_DecryptInit_ex2(x, c->aes256, a->key, a->nonce, NULL) == 1 &&
		    EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1 &&
		    EVP_DecryptUpdate(x, NULL, &n, a->aad.base, (int)a->aad.bytes) == 1 &&
		    EVP_DecryptUpdate(x, out, &n, text.base, (int)bytes) == 1 &&
		    EVP_DecryptFinal_ex(x, out + bytes, &n) == 1;
	if (!good)
		OPENSSL_cleanse(out, bytes);
	return good;
}
