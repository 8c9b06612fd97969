/* SPDX-License-Identifier: BSD-3-Clause */
/* Section 7 of the specification defines the patterns. Public functions have their own struct
 * crypto, so a struct noise can be copied and erased. */
#include "keys/noise.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

static const char protocol[] = "Noise_IKpsk2_25519_AESGCM_SHA256";

/* Processes the tokens ee, es, se and ss. */
static bool agreement_mix(struct noise *n, const struct crypto *c,
			  const uint8_t private_key[KEYS_BYTES],
			  const uint8_t public_key[KEYS_BYTES])
{
	uint8_t secret[KEYS_BYTES];
	bool good = crypto_x25519(private_key, public_key, secret) &&
		    symmetric_mix_secret(&n->state, c, secret);

	keys_erase(secret, sizeof(secret));
	return good;
}

static bool part_seal(struct noise *n, const struct crypto *c, const void *text, size_t bytes,
		      uint8_t *out)
{
	return symmetric_encrypt(&n->state, c, (struct crypto_bytes){text, bytes}, out);
}

/* Opens a part of a message; `bytes` includes the tag. */
static bool part_open(struct noise *n, const struct crypto *c, const uint8_t *sealed, size_t bytes,
		      uint8_t *out)
{
	return symmetric_decrypt(&n->state, c, (struct crypto_bytes){sealed, bytes}, out);
}

bool noise_begin(struct noise *n, const struct noise_options *options)
{
	const struct crypto_bytes prologue = {options->prologue, options->prologue_bytes};
	struct crypto c;

	*n = (struct noise){.initiator = options->initiator};
	memcpy(n->private_key, options->private_key, sizeof(n->private_key));
	memcpy(n->ephemeral, options->ephemeral, sizeof(n->ephemeral));
	if (options->initiator)
		memcpy(n->peer, options->peer, sizeof(n->peer));
	if (crypto_open(&c) != DXP_OK)
		return false;
	bool good =
		keys_public(n->private_key, n->public_key) &&
		keys_public(n->ephemeral, n->ephemeral_public) &&
		symmetric_begin(&n->state, &c, protocol, prologue) &&
		symmetric_mix_known(&n->state, &c, options->initiator ? n->peer : n->public_key);
	crypto_close(&c);
	return good;
}

void noise_psk(struct noise *n, const uint8_t psk[KEYS_BYTES])
{
	assert(n->step < 2);
	memcpy(n->psk, psk, sizeof(n->psk));
}

void noise_end(struct noise *n)
{
	keys_erase(n, sizeof(*n));
}

/* Derives one key for each direction. The first one is for data that the initiator sends. */
static bool split(struct noise *n, const struct crypto *c)
{
	uint8_t *first = n->initiator ? n->send_key : n->receive_key;
	uint8_t *second = n->initiator ? n->receive_key : n->send_key;
	bool good = symmetric_split(&n->state, c, first, second);

	keys_erase(&n->state, sizeof(n->state));
	keys_erase(n->ephemeral, sizeof(n->ephemeral));
	keys_erase(n->psk, sizeof(n->psk));
	return good;
}

static size_t first_write(struct noise *n, const struct crypto *c, const void *payload,
			  size_t bytes, uint8_t *out)
{
	uint8_t *sealed_key = out + KEYS_BYTES, *sealed = sealed_key + KEYS_BYTES + KEYS_TAG_BYTES;

	memcpy(out, n->ephemeral_public, KEYS_BYTES);
	bool good = symmetric_mix_public(&n->state, c, out) &&
		    agreement_mix(n, c, n->ephemeral, n->peer) &&
		    part_seal(n, c, n->public_key, KEYS_BYTES, sealed_key) &&
		    agreement_mix(n, c, n->private_key, n->peer) &&
		    part_seal(n, c, payload, bytes, sealed);
	return good ? NOISE_FIRST_BYTES + bytes : 0;
}

static bool first_read(struct noise *n, const struct crypto *c, const uint8_t *message,
		       size_t bytes, uint8_t *payload)
{
	const uint8_t *sealed_key = message + KEYS_BYTES;
	const uint8_t *sealed = sealed_key + KEYS_BYTES + KEYS_TAG_BYTES;

	memcpy(n->peer_ephemeral, message, KEYS_BYTES);
	return symmetric_mix_public(&n->state, c, message) &&
	       agreement_mix(n, c, n->private_key, n->peer_ephemeral) &&
	       part_open(n, c, sealed_key, KEYS_BYTES + KEYS_TAG_BYTES, n->peer) &&
	       agreement_mix(n, c, n->private_key, n->peer) &&
	       part_open(n, c, sealed, bytes - NOISE_FIRST_BYTES + KEYS_TAG_BYTES, payload);
}

static size_t second_write(struct noise *n, const struct crypto *c, const void *payload,
			   size_t bytes, uint8_t *out)
{
	memcpy(out, n->ephemeral_public, KEYS_BYTES);
	bool good = symmetric_mix_public(&n->state, c, out) &&
		    agreement_mix(n, c, n->ephemeral, n->peer_ephemeral) &&
		    agreement_mix(n, c, n->ephemeral, n->peer) &&
		    symmetric_mix_psk(&n->state, c, n->psk) &&
		    part_seal(n, c, payload, bytes, out + KEYS_BYTES) && split(n, c);
	return good ? NOISE_SECOND_BYTES + bytes : 0;
}

static bool second_read(struct noise *n, const struct crypto *c, const uint8_t *message,
			size_t bytes, uint8_t *payload)
{
	memcpy(n->peer_ephemeral, message, KEYS_BYTES);
	return symmetric_mix_public(&n->state, c, message) &&
	       agreement_mix(n, c, n->ephemeral, n->peer_ephemeral) &&
	       agreement_mix(n, c, n->private_key, n->peer_ephemeral) &&
	       symmetric_mix_psk(&n->state, c, n->psk) &&
	       part_open(n, c, message + KEYS_BYTES, bytes - KEYS_BYTES, payload) && split(n, c);
}

size_t noise_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out)
{
	struct crypto c;

	assert(n->step < 2 && n->initiator == (n->step == 0));
	if (crypto_open(&c) != DXP_OK)
		return 0;
	const size_t written = n->step++ == 0 ? first_write(n, &c, payload, bytes, out)
					      : second_write(n, &c, payload, bytes, out);
	crypto_close(&c);
	return written;
}

bool noise_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload)
{
	const size_t least = n->step == 0 ? NOISE_FIRST_BYTES : NOISE_SECOND_BYTES;
	struct crypto c;

	assert(n->step < 2 && n->initiator == (n->step == 1));
	if (bytes < least || crypto_open(&c) != DXP_OK)
		return false;
	const bool good = n->step++ == 0 ? first_read(n, &c, message, bytes, payload)
					 : second_read(n, &c, message, bytes, payload);
	crypto_close(&c);
	return good;
}

bool noise_seal(struct noise *n, const void *text, size_t bytes, uint8_t *out)
{
	uint8_t nonce[CRYPTO_NONCE_BYTES];
	const struct crypto_aead a = {n->send_key, nonce, {"", 0}};
	struct crypto c;

	assert(n->step == 2);
	if (crypto_open(&c) != DXP_OK)
		return false;
	symmetric_nonce(n->sent, nonce);
	const bool good = crypto_aead_seal(&c, &a, (struct crypto_bytes){text, bytes}, out);
	crypto_close(&c);
	n->sent += good;
	return good;
}

bool noise_open(struct noise *n, const uint8_t *sealed, size_t bytes, uint8_t *out)
{
	uint8_t nonce[CRYPTO_NONCE_BYTES];
	const struct crypto_aead a = {n->receive_key, nonce, {"", 0}};
	struct crypto c;

	assert(n->step == 2);
	if (bytes < CRYPTO_TAG_BYTES || crypto_open(&c) != DXP_OK)
		return false;
	symmetric_nonce(n->received, nonce);
	const bool good = crypto_aead_open(&c, &a, (struct crypto_bytes){sealed, bytes}, out);
	crypto_close(&c);
	n->received += good;
	return good;
}
