/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshakes NNpsk0 and KKpsk0 of Noise (revision 34, sections 7.4 and 9) with AESGCM and
 * SHA256, as tokens of a symmetric state. The caller encrypts the payloads.
 *
 *            NNpsk0    KKpsk0
 *   before             -> s, <- s
 *   first    psk, e    psk, e, es, ss
 *   second   e, ee     e, ee, se */
#ifndef CRYPTO_PATTERN_H
#define CRYPTO_PATTERN_H

#include "crypto/symmetric.h"

/* All keys have CRYPTO_KEY_BYTES. */
struct pattern_side {
	bool initiator;
	const uint8_t *psk;
	const uint8_t *ephemeral;      /* private key of this side */
	const uint8_t *peer_ephemeral; /* public key; the initiator has it for the second message */
	/* Static keys: own private and public one, the peer's public one, and the agreement of both
	 * (crypto_x25519), which may be kept. NULL: NNpsk0. */
	const uint8_t *private_key, *public_key, *peer, *agreed;
};

/* Begins with the protocol's name, the prologue and the static keys. Return false without memory,
 * or if a key is degenerate. */
bool pattern_begin(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		   struct crypto_bytes prologue);
/* Processes the tokens of a message; `ephemeral_public` is that of its sender. */
bool pattern_first(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		   const uint8_t ephemeral_public[CRYPTO_KEY_BYTES]);
bool pattern_second(struct symmetric *n, const struct crypto *c, const struct pattern_side *s,
		    const uint8_t ephemeral_public[CRYPTO_KEY_BYTES]);

#endif
