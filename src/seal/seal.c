/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/seal.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include <dxp/status.h>

#include "seal/internal.h"

#define STAGING_BYTES ((size_t)DATAGRAM_BATCH * SEAL_BODY_MAX)

/* Derives a key for this purpose only, so data made with the fabric key for others is not valid
 * here. */
static bool psk_derive(const struct seal *s, const uint8_t fabric_key[CRYPTO_KEY_BYTES],
		       uint8_t out[CRYPTO_KEY_BYTES])
{
	return crypto_hkdf_expand(&s->crypto, fabric_key, "dxp psk", out, CRYPTO_KEY_BYTES);
}

int seal_rekey(struct seal *s, const uint8_t *present, const uint8_t *former, bool send_former)
{
	uint8_t psk[2][CRYPTO_KEY_BYTES] = {{0}};
	const bool good =
		psk_derive(s, present, psk[0]) && (!former || psk_derive(s, former, psk[1]));

	if (good) {
		memcpy(s->psk, psk, sizeof(s->psk));
		s->former = former != NULL;
		s->send_former = former && send_former;
	}
	OPENSSL_cleanse(psk, sizeof(psk));
	return good ? DXP_OK : DXP_ENOMEM;
}

int seal_identity(struct seal *s, const uint8_t private_key[FABRIC_KEY_BYTES])
{
	uint8_t public_key[CRYPTO_KEY_BYTES];

	if (!crypto_x25519_public(private_key, public_key))
		return DXP_ENOMEM;
	memcpy(s->private_key, private_key, sizeof(s->private_key));
	memcpy(s->public_key, public_key, sizeof(s->public_key));
	OPENSSL_cleanse(s->agreements, sizeof(s->agreements));
	s->keyed = true;
	s->changes++;
	return DXP_OK;
}

void seal_peer_lost(struct seal *s, uint16_t node)
{
	for (size_t i = 0; i < SEAL_AGREEMENTS; i++)
		if (s->agreements[i].used && s->agreements[i].node == node)
			OPENSSL_cleanse(&s->agreements[i], sizeof(s->agreements[i]));
}

int seal_create(const struct seal_options *options, struct seal **out)
{
	struct seal *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->entropy = options->entropy;
	s->entropy_context = options->entropy_context;
	s->peer_key = options->peer_key;
	s->needs_key = options->needs_key;
	s->peer_context = options->peer_context;
	s->update_packets = options->update_packets ? options->update_packets : SEAL_UPDATE_PACKETS;
	s->staging = malloc(STAGING_BYTES);
	int status = s->staging ? crypto_open(&s->crypto) : DXP_ENOMEM;
	if (status == DXP_OK && options->fabric_key)
		status = seal_rekey(s, options->fabric_key, NULL, false);
	if (status != DXP_OK) {
		seal_destroy(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void seal_destroy(struct seal *s)
{
	if (!s)
		return;
	crypto_close(&s->crypto);
	free(s->staging);
	OPENSSL_cleanse(s, sizeof(*s));
	free(s);
}

static void session_free(struct rltp_seal *s)
{
	if (!s)
		return;
	handshake_free(s);
	keys_rest(s);
	OPENSSL_cleanse(s, sizeof(*s));
	free(s);
}

static void batch_begin(void *context)
{
	((struct seal *)context)->staged = 0;
}

static const uint8_t *sent_tag(const struct rltp_seal *s, uint16_t low)
{
	/* newest frame with these low bits */
	uint16_t ago = (uint16_t)((uint16_t)(s->tx_next - 1) - low);

	if (!s->active || ago >= SEAL_TAGS || ago >= s->tx_next)
		return NULL;
	return s->active->tags[(s->tx_next - 1 - ago) % SEAL_TAGS];
}

const struct rltp_seal_ops seal_ops = {
	.permits = handshake_permits,
	.keyed = handshake_keyed,
	.hello = handshake_hello,
	.accept = handshake_accept,
	.current = handshake_current,
	.answer = handshake_answer,
	.finish = handshake_finish,
	.rest = keys_rest,
	.free = session_free,
	.batch = batch_begin,
	.seal = packet_seal,
	.open = packet_open,
	.sent_tag = sent_tag,
};
