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

/* bytes of the first and the second message without their payload */
#define NOISE_FIRST_BYTES  (2 * KEYS_BYTES + 2 * KEYS_TAG_BYTES)
#define NOISE_SECOND_BYTES (KEYS_BYTES + KEYS_TAG_BYTES)

struct noise_options {
	bool initiator;
	const void *prologue; /* equal on both sides */
	size_t prologue_bytes;
	const uint8_t *private_key; /* static private key of this side */
	const uint8_t *peer;        /* initiator: the responder's public key */
	const uint8_t *ephemeral;   /* KEYS_BYTES random bytes, never used twice */
};

/* One side of a handshake. A copy of this struct continues independently of the original. */
struct noise {
	bool initiator;
	unsigned step; /* number of handshake messages written or read */
	struct symmetric state;
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	uint8_t ephemeral[KEYS_BYTES], ephemeral_public[KEYS_BYTES];
	/* public keys of the peer; the responder knows `peer` after step 1 */
	uint8_t peer[KEYS_BYTES], peer_ephemeral[KEYS_BYTES];
	uint8_t psk[KEYS_BYTES];
	uint8_t send_key[KEYS_BYTES], receive_key[KEYS_BYTES]; /* valid after step 2 */
	uint64_t sent, received;
};

/* Begins a handshake; the pre-shared key is zero until noise_psk. Returns false if a key is
 * unusable. */
bool noise_begin(struct noise *n, const struct noise_options *options);
/* Sets the pre-shared key. Call it before the second message. */
void noise_psk(struct noise *n, const uint8_t psk[KEYS_BYTES]);
void noise_end(struct noise *n); /* erases all secrets */

/* Writes the next message. Returns its length in bytes; 0: the peer's key is unusable. */
size_t noise_write(struct noise *n, const void *payload, size_t bytes, uint8_t *out);

/* Reads a message and writes its payload, which is NOISE_FIRST_BYTES or NOISE_SECOND_BYTES shorter.
 * Returns false if the message cannot be opened; then call noise_end. */
bool noise_read(struct noise *n, const uint8_t *message, size_t bytes, uint8_t *payload);

/* Seal and open data after the handshake. Data is opened in the order in which it was sealed.
 * Sealed data is KEYS_TAG_BYTES longer. Return false if that fails. */
bool noise_seal(struct noise *n, const void *text, size_t bytes, uint8_t *out);
bool noise_open(struct noise *n, const uint8_t *sealed, size_t bytes, uint8_t *out);

#endif
