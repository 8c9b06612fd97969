/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/primitives.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/bytes.h"

#define NONCE_BYTES 12

bool keys_public(const uint8_t private_key[KEYS_BYTES], uint8_t out[KEYS_BYTES])
{
	EVP_PKEY *key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key, KEYS_BYTES);
	uint8_t public_key[KEYS_BYTES];
	size_t bytes = sizeof(public_key);
	bool good = key && EVP_PKEY_get_raw_public_key(key, public_key, &bytes) == 1;

	EVP_PKEY_free(key);
	if (good)
		memcpy(out, public_key, KEYS_BYTES);
	return good;
}

bool keys_agree(const uint8_t private_key[KEYS_BYTES], const uint8_t public_key[KEYS_BYTES],
		uint8_t out[KEYS_BYTES])
{
	EVP_PKEY *own =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key, KEYS_BYTES);
	EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key, KEYS_BYTES);
	EVP_PKEY_CTX *context = own && peer ? EVP_PKEY_CTX_new(own, NULL) : NULL;
	uint8_t secret[KEYS_BYTES];
	size_t bytes = sizeof(secret);
	bool good = context && EVP_PKEY_derive_init(context) == 1 &&
		    EVP_PKEY_derive_set_peer(context, peer) == 1 &&
		    EVP_PKEY_derive(context, secret, &bytes) == 1 && bytes == sizeof(secret);

	EVP_PKEY_CTX_free(context);
	EVP_PKEY_free(peer);
	EVP_PKEY_free(own);
	if (good)
		memcpy(out, secret, KEYS_BYTES);
	keys_erase(secret, sizeof(secret));
	return good;
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

/* Prepares a cipher: key, nonce and associated data. */
static EVP_CIPHER_CTX *cipher_begin(const struct keys_seal *s, bool seal)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	uint8_t nonce[NONCE_BYTES] = {0};
	int bytes;

	/* the nonce for AESGCM: 32 zero bits, then the number (Noise, revision 34, section 12.4) */
	put_be64(nonce + 4, s->number);
	if (context &&
	    EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, s->key, nonce, seal) == 1 &&
	    (s->associated_bytes == 0 ||
	     EVP_CipherUpdate(context, NULL, &bytes, s->associated, (int)s->associated_bytes) == 1))
		return context;
	EVP_CIPHER_CTX_free(context);
	return NULL;
}

bool keys_seal(const struct keys_seal *s, const void *text, size_t bytes, uint8_t *out)
{
	EVP_CIPHER_CTX *context = cipher_begin(s, true);
	int done;
	bool good = context &&
		    (bytes == 0 || EVP_CipherUpdate(context, out, &done, text, (int)bytes) == 1) &&
		    EVP_CipherFinal_ex(context, out + bytes, &done) == 1 &&
		    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, KEYS_TAG_BYTES,
					out + bytes) == 1;

	EVP_CIPHER_CTX_free(context);
	return good;
}

bool keys_open(const struct keys_seal *s, const void *sealed, size_t bytes, uint8_t *out)
{
	uint8_t tag[KEYS_TAG_BYTES], end[KEYS_TAG_BYTES];
	int done;

	if (bytes < KEYS_TAG_BYTES)
		return false;
	bytes -= KEYS_TAG_BYTES;
	memcpy(tag, (const uint8_t *)sealed + bytes, sizeof(tag));
	EVP_CIPHER_CTX *context = cipher_begin(s, false);
	bool good =
		context &&
		(bytes == 0 || EVP_CipherUpdate(context, out, &done, sealed, (int)bytes) == 1) &&
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1 &&
		EVP_CipherFinal_ex(context, end, &done) == 1;
	EVP_CIPHER_CTX_free(context);
	if (!good)
		keys_erase(out, bytes);
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
