/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/primitives.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "crypto/crypto.h"

bool keys_public(const uint8_t private_key[KEYS_BYTES], uint8_t out[KEYS_BYTES])
{
	return crypto_x25519_public(private_key, out);
}

bool keys_agree(const uint8_t private_key[KEYS_BYTES], const uint8_t public_key[KEYS_BYTES],
		uint8_t out[KEYS_BYTES])
{
	return crypto_x25519(private_key, public_key, out);
}

bool keys_hash(const void *head, size_t head_bytes, const void *body, size_t body_bytes,
	       uint8_t out[KEYS_BYTES])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	uint8_t hash[KEYS_BYTES];
	bool good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
		    EVP_DigestUpdate(context, head, head_bytes) == 1 &&
		    EVP_DigestUpdate(context, body, body_bytes) == 1 &&
		    EVP_DigestFinal_ex(context, hash, NULL) == 1;

	EVP_MD_CTX_free(context);
	if (good)
		memcpy(out, hash, KEYS_BYTES);
	return good;
}

bool keys_hmac(const uint8_t key[KEYS_BYTES], const void *head, size_t head_bytes, const void *body,
	       size_t body_bytes, uint8_t out[KEYS_BYTES])
{
	char digest[] = "SHA256";
	const OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end()};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
	uint8_t tag[KEYS_BYTES];
	size_t bytes = 0;
	bool good = context && EVP_MAC_init(context, key, KEYS_BYTES, parameters) == 1 &&
		    EVP_MAC_update(context, head, head_bytes) == 1 &&
		    EVP_MAC_update(context, body, body_bytes) == 1 &&
		    EVP_MAC_final(context, tag, &bytes, sizeof(tag)) == 1;

	EVP_MAC_CTX_free(context);
	EVP_MAC_free(mac);
	if (good)
		memcpy(out, tag, KEYS_BYTES);
	keys_erase(tag, sizeof(tag));
	return good;
}

void keys_erase(void *secret, size_t bytes)
{
	OPENSSL_cleanse(secret, bytes);
}

bool keys_equal(const void *a, const void *b, size_t bytes)
{
	return CRYPTO_memcmp(a, b, bytes) == 0;
}
