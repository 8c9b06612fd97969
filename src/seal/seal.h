/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements rltp/protect.h.
 *
 * Handshake: Noise_KKpsk0_25519_AESGCM_SHA256 if both sides have key pairs, otherwise NNpsk0, with
 * the HELLO as prologue and a pre-shared key from the fabric key.
 * Packets: AES-128-GCM, number of sent frames as nonce, a replay window, key updates by a phase bit
 * (docs/reference/wire.md "Sealed frames", docs/design/sessions.md). */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include "base/rng.h"
#include "rltp/protect.h"

struct seal;

/* Returns the public key of a peer, with which handshakes must then be made; NULL: it has none, or
 * cannot use it. Valid until the next call. */
typedef const uint8_t *(*seal_peer_key_fn)(void *context, uint16_t node);

struct seal_options {
	const uint8_t *fabric_key; /* FABRIC_KEY_BYTES; NULL: none */
	entropy_fn entropy;        /* for ephemeral keys */
	void *entropy_context;
	uint64_t update_packets;   /* per key; 0: SEAL_UPDATE_PACKETS */
	seal_peer_key_fn peer_key; /* asked only after seal_identity; NULL: no peer has a key */
	/* Returns true if a handshake without the peer's key pair must fail; WIRE_NODE_NONE: a peer
	 * outside of the node table. NULL: false. */
	bool (*needs_key)(void *context, uint16_t node);
	void *peer_context; /* of peer_key and needs_key */
};

/* Creates the context of seal_ops, which must outlive all sessions. DXP_ENOMEM; DXP_EIO: libcrypto
 * lacks an algorithm. */
int seal_create(const struct seal_options *options, struct seal **out);
void seal_destroy(struct seal *s);

/* Sets or replaces the key pair of this side. Sessions stay. DXP_ENOMEM. */
int seal_identity(struct seal *s, const uint8_t private_key[FABRIC_KEY_BYTES]);

/* Erases secrets that belong to a peer and to no session. */
void seal_peer_lost(struct seal *s, uint16_t node);

/* Replaces the fabric key, of FABRIC_KEY_BYTES. `former`: accepted from peers too, NULL: none;
 * `send_former`: this side's handshakes use that one. Sessions stay. DXP_ENOMEM: nothing has
 * changed. */
int seal_rekey(struct seal *s, const uint8_t *present, const uint8_t *former, bool send_former);

extern const struct rltp_seal_ops seal_ops;

#endif
