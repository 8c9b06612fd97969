/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a session, and protection of its packets, for this folder. */
#ifndef SEAL_INTERNAL_H
#define SEAL_INTERNAL_H

#include "seal/limits.h"
#include "crypto/symmetric.h"
#include "seal/replay.h"
#include "seal/seal.h"
#include "wire/limits.h"

/* behind the common header; a path probe of the largest size is longest */
#define SEAL_BODY_MAX (WIRE_DATA_BYTES + WIRE_PAYLOAD_MAX + WIRE_SEAL_BYTES)

/* Agreement of this side's static key with a peer's. */
struct seal_agreement {
	bool used;
	uint16_t node; /* with which it was made first */
	uint8_t peer[CRYPTO_KEY_BYTES], secret[CRYPTO_KEY_BYTES];
};

struct seal {
	struct crypto crypto;
	/* Static key pair of this side, if `keyed`; number of its changes. */
	bool keyed;
	uint32_t changes;
	uint8_t private_key[CRYPTO_KEY_BYTES], public_key[CRYPTO_KEY_BYTES];
	seal_peer_key_fn peer_key;                       /* or NULL */
	bool (*needs_key)(void *context, uint16_t node); /* or NULL */
	void *peer_context;
	struct seal_agreement agreements[SEAL_AGREEMENTS]; /* by the peer's key */
	/* pre-shared keys: the present one, and the former one while it is accepted */
	uint8_t psk[2][CRYPTO_KEY_BYTES];
	bool send_former; /* this side's HELLOs use the former one */
	bool former;      /* there is a former one */
	entropy_fn entropy;
	void *entropy_context;
	uint64_t update_packets;
	/* DATAGRAM_BATCH x SEAL_BODY_MAX bytes; pages never written take no memory */
	uint8_t *staging;
	size_t staged; /* used by this batch */
	uint8_t opened[WIRE_COMMON_BYTES + SEAL_BODY_MAX];
};

/* Waits for the peer's key. */
struct seal_handshake {
	struct symmetric noise;
	uint8_t secret[CRYPTO_KEY_BYTES]; /* ephemeral private key */
	/* responder: ephemeral public key of the HELLO */
	uint8_t peer[CRYPTO_KEY_BYTES];
	uint16_t node;                 /* of the peer, for seal_options.peer_key */
	uint8_t psk[CRYPTO_KEY_BYTES]; /* that it uses */
	bool keyed;       /* KKpsk0, with this static public key of the peer; else NNpsk0 */
	uint32_t changes; /* of the seal, when the pattern was chosen */
	uint8_t peer_static[CRYPTO_KEY_BYTES];
};

/* AES-128-GCM with one key. */
struct seal_cipher {
	EVP_CIPHER_CTX *context; /* NULL: no key */
	uint8_t iv[CRYPTO_NONCE_BYTES];
};

/* Only while the session is active. */
struct seal_active {
	struct seal_cipher tx, rx;
	struct seal_cipher previous; /* key of the previous phase, for late packets */
	/* key after the peer's update */
	struct seal_cipher next;
	struct replay replay;
	/* of the last sent frames, by counter modulo SEAL_TAGS */
	uint8_t tags[SEAL_TAGS][WIRE_SEAL_BYTES];
};

struct rltp_seal {
	struct seal *owner;
	struct seal_handshake *handshake; /* NULL: the session has its keys */
	struct seal_active *active;       /* NULL: idle */
	uint8_t tx_secret[CRYPTO_KEY_BYTES], rx_secret[CRYPTO_KEY_BYTES];
	uint64_t tx_next;  /* of the next frame */
	uint64_t tx_start; /* first of the present sending phase */
	uint64_t rx_next;  /* above the highest received */
	uint64_t rx_start; /* of the frame that began the present receiving phase */
	uint8_t mode;      /* enum wire_protect */
	bool keyed;        /* the handshake proves the key pairs of both sides */
	bool tx_phase, rx_phase;
	/* phase bit of the newest sending phase that has reached the peer */
	bool tx_seen;
};

/* keys.c: stores the secrets of both directions. */
void keys_start(struct rltp_seal *s, const uint8_t tx[CRYPTO_KEY_BYTES],
		const uint8_t rx[CRYPTO_KEY_BYTES]);
/* Allocates s->active if necessary; false: out of memory. */
bool keys_wake(struct rltp_seal *s);
void keys_rest(struct rltp_seal *s);
/* Begins the next sending phase if the present one is used up. false: that is not possible yet, and
 * the present one is at its limit. */
bool keys_tx_ready(struct rltp_seal *s);
/* Derives s->active->next if necessary; false: out of memory. */
bool keys_next_ready(struct rltp_seal *s);
/* s->active->next becomes the receiving key from this counter on. */
void keys_rx_advance(struct rltp_seal *s, uint64_t counter);

/* handshake.c, packet.c: functions of seal_ops. */
bool handshake_permits(void *context, uint16_t node);
bool handshake_keyed(const struct rltp_seal *s);
struct rltp_seal *handshake_hello(void *context, uint8_t *hello, uint16_t node);
struct rltp_seal *handshake_accept(void *context, const uint8_t *hello, uint16_t node, bool former);
bool handshake_current(const struct rltp_seal *s);
bool handshake_answer(struct rltp_seal *s, uint8_t *hello_ack);
bool handshake_finish(struct rltp_seal *s, const uint8_t *hello_ack);
void handshake_free(struct rltp_seal *s);
bool packet_seal(struct rltp_seal *s, struct datagram *d);
int packet_open(struct rltp_seal *s, const struct datagram_arrival *a,
		struct datagram_arrival *opened);

#endif
