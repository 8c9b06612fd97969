/* SPDX-License-Identifier: BSD-3-Clause */
/* The Noise handshake. Comments use the names of the Noise specification, sections 5 and 9.
 * Invariant: `hash` covers all messages so far, `chain` covers all secrets so far. */
#include "keys/noise.h"

#include <assert.h>
#include <string.h>

static const char protocol[] = "Noise_IKpsk2_25519_AESGCM_SHA256";

_Static_assert(sizeof(protocol) - 1 == KEYS_BYTES, "a longer name would be hashed");

static bool hash_mix(struct noise *n, const void *data, size_t bytes)
{
	return keys_hash(n->hash, KEYS_BYTES, data, bytes, n->hash);
}

/* HKDF with two or three outputs (section 4.3). `third` may be NULL. */
static bool expand(const uint8_t chain[KEYS_BYTES], const void *input, size_t bytes,
		   uint8_t first[KEYS_BYTES], uint8_t second[KEYS_BYTES], uint8_t *third)
{
	static const uint8_t one = 1, two = 2, three = 3;
	uint8_t key[KEYS_BYTES], a[KEYS_BYTES], b[KEYS_BYTES];
	bool good = keys_hmac(chain, input, bytes, NULL, 0, key) &&
		    keys_hmac(key, &one, 1, NULL, 0, a) &&
		    keys_hmac(key, a, sizeof(a), &two, 1, b) &&
		    (!third || keys_hmac(key, b, sizeof(b), &three, 1, third));

	if (good) {
		memcpy(first, a, sizeof(a));
		memcpy(second, b, sizeof(b));
	}
	keys_erase(key, sizeof(key));
	keys_erase(a, sizeof(a));
	keys_erase(b, sizeof(b));
	return good;
}

static bool key_mix(struct noise *n, const uint8_t input[KEYS_BYTES])
{
	n->number = 0;
	return expand(n->chain, input, KEYS_BYTES, n->chain, n->key, NULL);
}

static bool agreement_mix(struct noise *n, const uint8_t private_key[KEYS_BYTES],
			  const uint8_t public_key[KEYS_BYTES])
{
	uint8_t secret[KEYS_BYTES];
	bool good = keys_agree(private_key, public_key, secret) && key_mix(n, secret);

	keys_erase(secret, sizeof(secret));
	return good;
}

/* The specification's MixKeyAndHash(psk). */
static bool psk_mix(struct noise *n)
{
	uint8_t middle[KEYS_BYTES], key[KEYS_BYTES] = {0};
	bool good = expand(n->chain, n->psk, sizeof(n->psk), n->chain, middle, key) &&
		    hash_mix(n, middle, sizeof(middle));

	memcpy(n->key, key, sizeof(n->key));
	n->number = 0;
	keys_erase(middle, sizeof(middle));
	keys_erase(key, sizeof(key));
	return good;
}

/* The specification's EncryptAndHash. */
static bool part_seal(struct noise *n, const void *text, size_t bytes, uint8_t *out)
{
	const struct keys_seal seal = {n->key, n->number++, n->hash, sizeof(n->hash)};

	return keys_seal(&seal, text, bytes, out) && hash_mix(n, out, bytes + KEYS_TAG_BYTES);
}

/* The specification's DecryptAndHash; `bytes` includes the tag. */
static bool part_open(struct noise *n, const uint8_t *sealed, size_t bytes, uint8_t *out)
{
	const struct keys_seal seal = {n->key, n->number++, n->hash, sizeof(n->hash)};

	return keys_open(&seal, sealed, bytes, out) && hash_mix(n, sealed, bytes);
}

/* In patterns with a pre-shared key, the ephemeral key is mixed into the chain too (section
 * 9.2). */
static bool ephemeral_mix(struct noise *n, const uint8_t key[KEYS_BYTES])
{
	return hash_mix(n, key, KEYS_BYTES) && key_mix(n, key);
}

bool noise_begin(struct noise *n, const struct noise_options *options)
{
	*n = (struct noise){.initiator = options->initiator};
	memcpy(n->hash, protocol, sizeof(n->hash));
	memcpy(n->chain, protocol, sizeof(n->chain));
	memcpy(n->private_key, options->private_key, sizeof(n->private_key));
	memcpy(n->ephemeral, options->ephemeral, sizeof(n->ephemeral));
	if (options->initiator)
		memcpy(n->peer, options->peer, sizeof(n->peer));
	return keys_public(n->private_key, n->public_key) &&
	       keys_public(n->ephemeral, n->ephemeral_public) &&
	       hash_mix(n, options->prologue, options->prologue_bytes) &&
	       hash_mix(n, options->initiator ? n->peer : n->public_key, KEYS_BYTES);
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

/* The specification's Split. The initiator seals with the first key, the responder with the second
 * one. */
static bool split(struct noise *n)
{
	uint8_t *first = n->initiator ? n->send_key : n->receive_key;
	uint8_t *second = n->initiator ? n->receive_key : n->send_key;
	bool good = expand(n->chain, NULL, 0, first, second, NULL);

	keys_erase(n->chain, sizeof(n->chain));
	keys_erase(n->key, sizeof(n->key));
	keys_erase(n->ephemeral, sizeof(n->ephemeral));
	keys_erase(n->psk, sizeof(n->psk));
	return good;
}

static size_t first_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out)
{
	uint8_t *sealed_key = out + KEYS_BYTES, *sealed = sealed_key + KEYS_BYTES + KEYS_TAG_BYTES;

	memcpy(out, n->ephemeral_public, KEYS_BYTES);
	bool good = ephemeral_mix(n, out) && agreement_mix(n, n->ephemeral, n->peer) &&
		    part_seal(n, n->public_key, KEYS_BYTES, sealed_key) &&
		    agreement_mix(n, n->private_key, n->peer) &&
		    part_seal(n, payload, bytes, sealed);
	return good ? NOISE_FIRST_BYTES + bytes : 0;
}

static bool first_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload)
{
	const uint8_t *sealed_key = message + KEYS_BYTES;
	const uint8_t *sealed = sealed_key + KEYS_BYTES + KEYS_TAG_BYTES;

	memcpy(n->peer_ephemeral, message, KEYS_BYTES);
	return ephemeral_mix(n, message) && agreement_mix(n, n->private_key, n->peer_ephemeral) &&
	       part_open(n, sealed_key, KEYS_BYTES + KEYS_TAG_BYTES, n->peer) &&
	       agreement_mix(n, n->private_key, n->peer) &&
	       part_open(n, sealed, bytes - NOISE_FIRST_BYTES + KEYS_TAG_BYTES, payload);
}

static size_t second_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out)
{
	memcpy(out, n->ephemeral_public, KEYS_BYTES);
	bool good = ephemeral_mix(n, out) && agreement_mix(n, n->ephemeral, n->peer_ephemeral) &&
		    agreement_mix(n, n->ephemeral, n->peer) && psk_mix(n) &&
		    part_seal(n, payload, bytes, out + KEYS_BYTES) && split(n);
	return good ? NOISE_SECOND_BYTES + bytes : 0;
}

static bool second_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload)
{
	memcpy(n->peer_ephemeral, message, KEYS_BYTES);
	return ephemeral_mix(n, message) && agreement_mix(n, n->ephemeral, n->peer_ephemeral) &&
	       agreement_mix(n, n->private_key, n->peer_ephemeral) && psk_mix(n) &&
	       part_open(n, message + KEYS_BYTES, bytes - KEYS_BYTES, payload) && split(n);
}

size_t noise_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out)
{
	assert(n->step < 2 && n->initiator == (n->step == 0));
	return n->step++ == 0 ? first_write(n, payload, bytes, out)
			      : second_write(n, payload, bytes, out);
}

bool noise_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload)
{
	const size_t least = n->step == 0 ? NOISE_FIRST_BYTES : NOISE_SECOND_BYTES;

	assert(n->step < 2 && n->initiator == (n->step == 1));
	if (bytes < least)
		return false;
	return n->step++ == 0 ? first_read(n, message, bytes, payload)
			      : second_read(n, message, bytes, payload);
}

bool noise_seal(struct noise *n, const void *text, size_t bytes, uint8_t *out)
{
	const struct keys_seal seal = {.key = n->send_key, .number = n->sent};

	assert(n->step == 2);
	if (!keys_seal(&seal, text, bytes, out))
		return false;
	n->sent++;
	return true;
}

bool noise_open(struct noise *n, const uint8_t *sealed, size_t bytes, uint8_t *out)
{
	const struct keys_seal seal = {.key = n->receive_key, .number = n->received};

	assert(n->step == 2);
	if (!keys_open(&seal, sealed, bytes, out))
		return false;
	n->received++;
	return true;
}
