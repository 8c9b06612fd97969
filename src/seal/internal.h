/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and packets of a session, for the files of this folder. */
#ifndef SEAL_INTERNAL_H
#define SEAL_INTERNAL_H

#include "seal/limits.h"
#include "crypto/symmetric.h"
#include "seal/replay.h"
#include "seal/seal.h"
#include "wire/limits.h"

/* bytes of a sealed frame behind its common header: the longest is a probe of the largest size */
#define SEAL_BODY_MAX (WIRE_DATA_BYTES + WIRE_PAYLOAD_MAX + WIRE_SEAL_BYTES)

struct seal {
	struct crypto crypto;
	uint8_t psk[CRYPTO_KEY_BYTES];
	entropy_fn entropy;
	void *entropy_context;
	uint64_t update_packets;
	uint8_t *staging; /* DATAGRAM_BATCH times SEAL_BODY_MAX bytes; pages that are not used cost
			     nothing */
	size_t staged;    /* bytes of this batch */
	uint8_t opened[WIRE_COMMON_BYTES + SEAL_BODY_MAX];
};

/* A handshake that waits for the peer's key. */
struct seal_handshake {
	struct symmetric noise;
	uint8_t secret[CRYPTO_KEY_BYTES]; /* own ephemeral key */
	uint8_t peer[CRYPTO_KEY_BYTES];   /* responder: key of the HELLO */
};

/* AES-128-GCM with one key. */
struct seal_cipher {
	EVP_CIPHER_CTX *context; /* NULL: none */
	uint8_t iv[CRYPTO_NONCE_BYTES];
};

/* State of an active session. */
struct seal_active {
	struct seal_cipher tx, rx;
	struct seal_cipher previous; /* receives packets of the phase before */
	struct seal_cipher next;     /* tries packets of the phase after */
	struct replay replay;
	uint8_t tags[SEAL_TAGS][WIRE_SEAL_BYTES]; /* of sent frames, by counter */
};

struct rltp_seal {
	struct seal *owner;
	struct seal_handshake *handshake; /* NULL: the session has its keys */
	struct seal_active *active;       /* NULL: at rest */
	uint8_t tx_secret[CRYPTO_KEY_BYTES], rx_secret[CRYPTO_KEY_BYTES];
	uint64_t tx_next;  /* counter of the next frame */
	uint64_t tx_start; /* first counter of this phase */
	uint64_t rx_next;  /* as in struct replay */
	uint64_t rx_start; /* counter of the frame that began this phase */
	uint8_t mode;      /* enum wire_protect */
	bool tx_phase, rx_phase;
	bool tx_seen; /* parity of the newest own phase that the peer has received */
};

/* keys.c. keys_start: takes the secrets of both directions. */
void keys_start(struct rltp_seal *s, const uint8_t tx[CRYPTO_KEY_BYTES],
		const uint8_t rx[CRYPTO_KEY_BYTES]);
/* Ensures `active`. False: no memory. */
bool keys_wake(struct rltp_seal *s);
void keys_rest(struct rltp_seal *s);
/* Moves to the next phase of sending if this one is used up. False: it must not send. */
bool keys_tx_ready(struct rltp_seal *s);
/* Ensures `next` of `active`. */
bool keys_next_ready(struct rltp_seal *s);
/* Makes `next` the present phase of receiving, from this counter on. */
void keys_rx_advance(struct rltp_seal *s, uint64_t counter);

/* handshake.c, packet.c: functions of seal_ops */
struct rltp_seal *handshake_hello(void *context, uint8_t *hello);
struct rltp_seal *handshake_accept(void *context, const uint8_t *hello);
bool handshake_answer(struct rltp_seal *s, uint8_t *hello_ack);
bool handshake_finish(struct rltp_seal *s, const uint8_t *hello_ack);
void handshake_free(struct rltp_seal *s);
bool packet_seal(struct rltp_seal *s, struct datagram *d);
int packet_open(struct rltp_seal *s, const struct datagram_arrival *a,
		struct datagram_arrival *opened);

#endif
