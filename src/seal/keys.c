/* SPDX-License-Identifier: BSD-3-Clause */
/* Secrets, keys and phases. A phase's secret gives its key and IV, and the next secret, so a leaked
 * key does not open earlier phases. */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "seal/internal.h"

static void cipher_free(struct seal_cipher *k)
{
	EVP_CIPHER_CTX_free(k->context);
	OPENSSL_cleanse(k, sizeof(*k));
}

static bool cipher_start(const struct crypto *c, const uint8_t secret[CRYPTO_KEY_BYTES], bool seals,
			 struct seal_cipher *out)
{
	uint8_t keys[CRYPTO_AES_BYTES + CRYPTO_NONCE_BYTES];
	EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
	bool good = x && crypto_hkdf_expand(c, secret, "dxp packets", keys, sizeof(keys)) &&
		    EVP_CipherInit_ex2(x, c->aes128, keys, NULL, seals, NULL) == 1;

	if (good) {
		out->context = x;
		memcpy(out->iv, keys + CRYPTO_AES_BYTES, sizeof(out->iv));
	} else {
		EVP_CIPHER_CTX_free(x);
	}
	OPENSSL_cleanse(keys, sizeof(keys));
	return good;
}

static bool secret_next(const struct crypto *c, const uint8_t secret[CRYPTO_KEY_BYTES],
			uint8_t out[CRYPTO_KEY_BYTES])
{
	return crypto_hkdf_expand(c, secret, "dxp update", out, CRYPTO_KEY_BYTES);
}

void keys_start(struct rltp_seal *s, const uint8_t tx[CRYPTO_KEY_BYTES],
		const uint8_t rx[CRYPTO_KEY_BYTES])
{
	memcpy(s->tx_secret, tx, sizeof(s->tx_secret));
	memcpy(s->rx_secret, rx, sizeof(s->rx_secret));
}

bool keys_wake(struct rltp_seal *s)
{
	const struct crypto *c = &s->owner->crypto;

	if (s->active)
		return true;
	struct seal_active *a = calloc(1, sizeof(*a));
	if (!a)
		return false;
	s->active = a;
	replay_init(&a->replay, s->rx_next);
	if (cipher_start(c, s->tx_secret, true, &a->tx) &&
	    cipher_start(c, s->rx_secret, false, &a->rx))
		return true;
	keys_rest(s);
	return false;
}

void keys_rest(struct rltp_seal *s)
{
	struct seal_active *a = s->active;

	if (!a)
		return;
	s->rx_next = a->replay.next;
	cipher_free(&a->tx);
	cipher_free(&a->rx);
	cipher_free(&a->previous);
	cipher_free(&a->next);
	free(a);
	s->active = NULL;
}

/* Begins a phase only after the peer has received a frame of the present one, so that it never
 * chooses among more than three keys. */
bool keys_tx_ready(struct rltp_seal *s)
{
	const struct crypto *c = &s->owner->crypto;
	uint64_t limit = s->owner->update_packets, used = s->tx_next - s->tx_start;
	struct seal_cipher fresh;
	uint8_t secret[CRYPTO_KEY_BYTES];

	if (used < limit)
		return true;
	if (s->tx_seen == s->tx_phase && secret_next(c, s->tx_secret, secret) &&
	    cipher_start(c, secret, true, &fresh)) {
		cipher_free(&s->active->tx);
		s->active->tx = fresh;
		memcpy(s->tx_secret, secret, sizeof(secret));
		s->tx_phase = !s->tx_phase;
		s->tx_start = s->tx_next;
		used = 0;
	}
	OPENSSL_cleanse(secret, sizeof(secret));
	return used < SEAL_UPDATE_LATE * limit;
}

bool keys_next_ready(struct rltp_seal *s)
{
	const struct crypto *c = &s->owner->crypto;
	uint8_t secret[CRYPTO_KEY_BYTES];

	if (s->active->next.context)
		return true;
	bool good = secret_next(c, s->rx_secret, secret) &&
		    cipher_start(c, secret, false, &s->active->next);
	OPENSSL_cleanse(secret, sizeof(secret));
	return good;
}

void keys_rx_advance(struct rltp_seal *s, uint64_t counter)
{
	struct seal_active *a = s->active;
	uint8_t secret[CRYPTO_KEY_BYTES];

	/* without memory, the key stays in `next`, where packets find it */
	if (!secret_next(&s->owner->crypto, s->rx_secret, secret))
		return;
	cipher_free(&a->previous);
	a->previous = a->rx;
	a->rx = a->next;
	a->next = (struct seal_cipher){0};
	memcpy(s->rx_secret, secret, sizeof(secret));
	OPENSSL_cleanse(secret, sizeof(secret));
	s->rx_phase = !s->rx_phase;
	s->rx_start = counter;
}
