/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/fabric_key.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "crypto/crypto.h"

/* The labels start with a letter, so no frame and no other use of the keys has the same text. */
static const char seal_label[] = "dxp fabric key 1";
static const char print_label[] = "dxp fingerprint 1";

/* Derives the sealing key, so that the key of MACs encrypts nothing. */
static bool sealing_key(const uint8_t pair[KEYS_BYTES], uint8_t out[KEYS_BYTES])
{
	return keys_hmac(pair, seal_label, sizeof(seal_label), "", 0, out);
}

bool fabric_key_seal(const uint8_t pair[KEYS_BYTES], uint32_t generation,
		     const uint8_t nonce[FABRIC_NONCE_BYTES], const uint8_t key[FABRIC_KEY_BYTES],
		     uint8_t out[FABRIC_SEALED_BYTES])
{
	uint8_t secret[KEYS_BYTES], bound[4];
	const struct crypto_aead a = {secret, nonce, {bound, sizeof(bound)}};
	struct crypto c;

	put_be32(bound, generation);
	if (!sealing_key(pair, secret) || crypto_open(&c) != DXP_OK)
		return false;
	memcpy(out, nonce, FABRIC_NONCE_BYTES);
	const bool good = crypto_aead_seal(&c, &a, (struct crypto_bytes){key, FABRIC_KEY_BYTES},
					   out + FABRIC_NONCE_BYTES);
	crypto_close(&c);
	keys_erase(secret, sizeof(secret));
	return good;
}

bool fabric_key_open(const uint8_t pair[KEYS_BYTES], uint32_t generation,
		     const uint8_t sealed[FABRIC_SEALED_BYTES], uint8_t key[FABRIC_KEY_BYTES])
{
	uint8_t secret[KEYS_BYTES], bound[4], opened[FABRIC_KEY_BYTES];
	const struct crypto_aead a = {secret, sealed, {bound, sizeof(bound)}};
	const struct crypto_bytes text = {sealed + FABRIC_NONCE_BYTES,
					  FABRIC_SEALED_BYTES - FABRIC_NONCE_BYTES};
	struct crypto c;

	put_be32(bound, generation);
	if (!sealing_key(pair, secret) || crypto_open(&c) != DXP_OK)
		return false;
	const bool good = crypto_aead_open(&c, &a, text, opened);
	if (good)
		memcpy(key, opened, sizeof(opened));
	crypto_close(&c);
	keys_erase(secret, sizeof(secret));
	keys_erase(opened, sizeof(opened));
	return good;
}

const char *fabric_key_fingerprint(const uint8_t key[FABRIC_KEY_BYTES], char out[FABRIC_PRINT_TEXT])
{
	uint8_t hash[KEYS_BYTES] = {0};

	keys_hmac(key, print_label, sizeof(print_label), "", 0, hash);
	snprintf(out, FABRIC_PRINT_TEXT, "%016llx", (unsigned long long)get_be64(hash));
	return out;
}
