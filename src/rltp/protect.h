/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface to the protection of packets (src/seal). RLTP decides when a session gets keys; the
 * implementation has them and the packet counters. */
#ifndef RLTP_PROTECT_H
#define RLTP_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "wire/frame.h"

struct rltp_seal;

/* `context` comes from the endpoint's options. Handshake frames have WIRE_HELLO_SEALED_FRAME bytes;
 * those before WIRE_OFF_HELLO_KEY are final, except what wire_hello_constant clears. The caller
 * handles the tag at the end. */
struct rltp_seal_ops {
	/* Draws a key and writes HELLO_KEY and HELLO_KEY_TAG. `node`: the peer; WIRE_NODE_NONE if
	 * not in the node table. NULL: out of memory. */
	struct rltp_seal *(*hello)(void *context, uint8_t *hello, uint16_t node);
	/* Checks a peer's HELLO; then call `answer`. `former`: the peer used the former key. NULL:
	 * not authentic, or out of memory. */
	struct rltp_seal *(*accept)(void *context, const uint8_t *hello, uint16_t node,
				    bool former);
	/* False: the HELLO uses keys that expired, so the peer cannot answer it. */
	bool (*current)(const struct rltp_seal *s);
	/* Draws a key and writes HELLO_KEY and HELLO_KEY_TAG of the HELLO_ACK; the session has its
	 * keys. False: out of memory, or the peer's key is degenerate. */
	bool (*answer)(struct rltp_seal *s, uint8_t *hello_ack);
	/* Checks the HELLO_ACK. True: the session has its keys. False: nothing changed; another
	 * answer may follow. */
	bool (*finish)(struct rltp_seal *s, const uint8_t *hello_ack);
	/* Frees everything but secrets and counters; the next packet restores it. */
	void (*rest)(struct rltp_seal *s);
	void (*free)(struct rltp_seal *s);
	/* Begins a batch of at most DATAGRAM_BATCH datagrams; earlier ones become invalid. */
	void (*batch)(void *context);
	/* Seals a datagram, whose slices then point into memory of `context`. False: out of memory
	 * or keys used up; do not send it. */
	bool (*seal)(struct rltp_seal *s, struct datagram *d);
	/* Opens a frame that wire_sealed_decode accepted. *opened has no tag and is valid until the
	 * next call. Errors change nothing. DXP_EAUTH: wrong tag; DXP_EEXIST: a replay, or too old;
	 * DXP_ENOMEM. */
	int (*open)(struct rltp_seal *s, const struct datagram_arrival *a,
		    struct datagram_arrival *opened);
	/* Returns the tag of a recently sealed frame. `counter`: low bits of its counter. NULL: too
	 * old. */
	const uint8_t *(*sent_tag)(const struct rltp_seal *s, uint16_t counter);
};

#endif
