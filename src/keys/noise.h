/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake Noise_IKpsk2_25519_AESGCM_SHA256 (The Noise Protocol Framework, revision 34), as a
 * state machine without system calls. The initiator knows the responder's public key in advance.
 *
 *   initiator -> responder  e, es, s, ss   noise_write, noise_read
 *   responder -> initiator  e, ee, se, psk noise_write, noise_read
 *   both directions         data           noise_seal, noise_open
 *
 * The first message proves the initiator's key, and only the responder can read it, but it can be
 * replayed. The second message can be opened only with the same pre-shared key. The data that the
 * initiator seals afterwards proves to the responder that the initiator has the pre-shared key, and
 * that the handshake is no replay. Random bytes are inputs. */
#ifndef KEYS_NOISE_H
#define KEYS_NOISE_H

#include "crypto/symmetric.h"
#include "keys/primitives.h"

/* bytes of the first message without its payload */
#define NOISE_FIRST_BYTES  (2 * KEYS_BYTES + 2 * KEYS_TAG_BYTES)
#define NOISE_SECOND_BYTES (KEYS_BYTES + KEYS_TAG_BYTES)

struct noise_options {
	bool initiator;
	const void *prologue; /* data that both sides must agree on */
	size_t prologue_bytes;
	const uint8_t *private_key; /* this side's static private key */
	const uint8_t *peer;        /* for the initiator: public key of the responder */
	const uint8_t *ephemeral;   /* KEYS_BYTES random bytes; never use the same bytes twice */
};

/* One handshake. A copy is independent of the original. */
struct noise {
	bool initiator;
	unsigned step; /* messages of the handshake that were written or read */
	struct symmetric state;
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	uint8_t ephemeral[KEYS_BYTES], ephemeral_public[KEYS_BYTES];
	/* public keys of the peer; the responder knows `peer` after step 1 */
	uint8_t peer[KEYS_BYTES], peer_ephemeral[KEYS_BYTES];
	uint8_t psk[KEYS_BYTES];
	uint8_t send_key[KEYS_BYTES], receive_key[KEYS_BYTES]; /* valid after step 2 */
	uint64_t sent, received;
};

/* Begins a handshake. The pre-shared key is zero until noise_psk sets it. Returns false if a key is
 * unusable. */
bool noise_begin(struct noise *n, const struct noise_options *options);
/* Sets the pre-shared key. Call it before the second message. */
void noise_psk(struct noise *n, const uint8_t psk[KEYS_BYTES]);
void noise_end(struct noise *n); /* erases all secrets */

/* Writes the next message of the handshake, with a payload. Returns the message's length in bytes;
 * 0: the peer's key is unusable. */
size_t noise_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out);

/* Reads the next message of the handshake. `payload` gets the length of the message less
 * NOISE_FIRST_BYTES or NOISE_SECOND_BYTES. Returns false if the message cannot be opened; then call
 * noise_end. */
bool noise_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload);

/* Seal and open data after the handshake, in the order of sending. Sealed data is KEYS_TAG_BYTES
 * longer than its text. */
bool noise_seal(struct noise *n, const void *text, size_t bytes, uint8_t *out);
bool noise_open(struct noise *n, const uint8_t *sealed, size_t bytes, uint8_t *out);

#endif
