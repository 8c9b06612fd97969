/* SPDX-License-Identifier: BSD-3-Clause */
/* Seals and opens datagrams. `encrypt` authenticates the common header and encrypts the rest;
 * `integrity` authenticates all. Tags are per frame, also in a GSO batch. */
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "seal/internal.h"

/* Writes IV XOR counter, as RFC 9001, section 5.3. */
static void nonce_make(const struct seal_cipher *k, uint64_t counter,
		       uint8_t out[CRYPTO_NONCE_BYTES])
{
	memcpy(out, k->iv, CRYPTO_NONCE_BYTES);
	put_be64(out + 4, get_be64(out + 4) ^ counter);
}

static bool text_seal(EVP_CIPHER_CTX *x, const struct datagram *d, uint8_t *header, uint8_t *out,
		      size_t *bytes)
{
	size_t rest = d->header_bytes - WIRE_COMMON_BYTES;
	bool good = EVP_EncryptUpdate(x, NULL, &(int){0}, header, WIRE_COMMON_BYTES) == 1;
	size_t at = 0;
	int n;

	if (good && rest > 0)
		good = EVP_EncryptUpdate(x, header + WIRE_COMMON_BYTES, &n,
					 header + WIRE_COMMON_BYTES, (int)rest) == 1;
	for (int i = 0; i < d->slice_count && good; i++) {
		good = EVP_EncryptUpdate(x, out + at, &n, d->slices[i].base,
					 (int)d->slices[i].bytes) == 1;
		at += d->slices[i].bytes;
	}
	*bytes = at;
	return good;
}

/* Copies the payload first, because its owner may change it before the frame is sent. */
static bool text_authenticate(EVP_CIPHER_CTX *x, const struct datagram *d, const uint8_t *header,
			      uint8_t *out, size_t *bytes)
{
	size_t at = 0;
	int n;

	for (int i = 0; i < d->slice_count; i++) {
		memcpy(out + at, d->slices[i].base, d->slices[i].bytes);
		at += d->slices[i].bytes;
	}
	*bytes = at;
	return EVP_EncryptUpdate(x, NULL, &n, header, d->header_bytes) == 1 &&
	       (at == 0 || EVP_EncryptUpdate(x, NULL, &n, out, (int)at) == 1);
}

bool packet_seal(struct rltp_seal *s, struct datagram *d)
{
	struct seal *o = s->owner;
	uint8_t *out = o->staging + o->staged, nonce[CRYPTO_NONCE_BYTES];
	uint16_t phases = 0;
	size_t bytes;
	int n;

	if (!keys_wake(s) || !keys_tx_ready(s))
		return false;
	EVP_CIPHER_CTX *x = s->active->tx.context;
	uint64_t counter = s->tx_next++;
	phases |= s->tx_phase ? WIRE_FLAG_PHASE : 0;
	phases |= s->rx_phase ? WIRE_FLAG_PHASE_SEEN : 0;
	wire_seal_header(d->header, phases, (uint32_t)counter);
	nonce_make(&s->active->tx, counter, nonce);
	bool good = EVP_EncryptInit_ex(x, NULL, NULL, NULL, nonce) == 1;
	good = good &&
	       (s->mode == WIRE_PROTECT_ENCRYPT ? text_seal(x, d, d->header, out, &bytes)
						: text_authenticate(x, d, d->header, out, &bytes));
	good = good && EVP_EncryptFinal_ex(x, nonce, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, WIRE_SEAL_BYTES, out + bytes) == 1;
	if (!good)
		return false;
	memcpy(s->active->tags[counter % SEAL_TAGS], out + bytes, WIRE_SEAL_BYTES);
	d->slices[0] = (struct datagram_slice){out, bytes + WIRE_SEAL_BYTES};
	d->slice_count = 1;
	o->staged += bytes + WIRE_SEAL_BYTES;
	return true;
}

/* Returns NULL if no key fits. */
static const struct seal_cipher *cipher_choose(struct rltp_seal *s, bool phase, uint64_t counter)
{
	struct seal_active *a = s->active;

	if (phase == s->rx_phase)
		return &a->rx;
	if (counter < s->rx_start)
		return a->previous.context ? &a->previous : NULL;
	return keys_next_ready(s) ? &a->next : NULL;
}

static bool text_open(struct seal *o, EVP_CIPHER_CTX *x, const struct datagram_arrival *a,
		      uint8_t mode)
{
	size_t clear =
		mode == WIRE_PROTECT_ENCRYPT ? WIRE_COMMON_BYTES : a->bytes - WIRE_SEAL_BYTES;
	size_t secret = a->bytes - WIRE_SEAL_BYTES - clear;
	int n;

	if (EVP_DecryptUpdate(x, NULL, &n, a->data, (int)clear) != 1)
		return false;
	return secret == 0 ||
	       EVP_DecryptUpdate(x, o->opened + clear, &n, a->data + clear, (int)secret) == 1;
}

static bool frame_open(struct seal *o, const struct seal_cipher *k,
		       const struct datagram_arrival *a, uint64_t counter, uint8_t mode)
{
	uint8_t nonce[CRYPTO_NONCE_BYTES], tag[WIRE_SEAL_BYTES];
	EVP_CIPHER_CTX *x = k->context;
	int n;

	nonce_make(k, counter, nonce);
	memcpy(tag, a->data + a->bytes - WIRE_SEAL_BYTES, sizeof(tag));
	return EVP_DecryptInit_ex(x, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1 &&
	       text_open(o, x, a, mode) && EVP_DecryptFinal_ex(x, nonce, &n) == 1;
}

int packet_open(struct rltp_seal *s, const struct datagram_arrival *a,
		struct datagram_arrival *opened)
{
	struct seal *o = s->owner;
	uint16_t flags = get_be16(a->data + WIRE_OFF_FLAGS);

	/* headers permit longer frames than peers send */
	if (a->bytes > sizeof(o->opened))
		return DXP_EAUTH;
	if (!keys_wake(s))
		return DXP_ENOMEM;
	struct replay *r = &s->active->replay;
	uint64_t counter = replay_counter(r->next, get_be32(a->data + WIRE_OFF_CRC));
	if (replay_seen(r, counter))
		return DXP_EEXIST;
	const struct seal_cipher *k = cipher_choose(s, (flags & WIRE_FLAG_PHASE) != 0, counter);
	if (!k || !frame_open(o, k, a, counter, s->mode))
		return DXP_EAUTH;
	if (k == &s->active->next)
		keys_rx_advance(s, counter);
	if (counter >= r->next)
		s->tx_seen = (flags & WIRE_FLAG_PHASE_SEEN) != 0;
	replay_mark(r, counter);
	*opened = *a;
	opened->bytes -= WIRE_SEAL_BYTES;
	if (s->mode == WIRE_PROTECT_ENCRYPT) {
		memcpy(o->opened, a->data, WIRE_COMMON_BYTES);
		opened->data = o->opened;
	}
	return DXP_OK;
}
