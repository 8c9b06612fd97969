/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between RLTP and the protection of its packets (src/seal). RLTP decides when a
 * session gets keys and which packets it believes; the implementation has the keys and the
 * counters. */
#ifndef RLTP_PROTECT_H
#define RLTP_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "wire/frame.h"

struct rltp_seal; /* keys of one session */

/* `context` is that of the endpoint's options. Handshake frames have WIRE_HELLO_SEALED_FRAME bytes;
 * everything before WIRE_OFF_HELLO_KEY has its final value, except for the fields that
 * wire_hello_constant clears. The caller computes and checks the tag at the end. */
struct rltp_seal_ops {
	/* Starts a handshake: draws a key and writes HELLO_KEY and HELLO_KEY_TAG. NULL: no
	 * memory. */
	struct rltp_seal *(*hello)(void *context, uint8_t *hello);
	/* Checks the HELLO of a peer; `answer` must follow. NULL: not authentic, or no memory. */
	struct rltp_seal *(*accept)(void *context, const uint8_t *hello);
	/* Draws a key and writes HELLO_KEY and HELLO_KEY_TAG of the HELLO_ACK; now the session has
	 * its keys. False: no memory, or the peer's key is degenerate. */
	bool (*answer)(struct rltp_seal *s, uint8_t *hello_ack);
	/* Checks the answer to `hello`; if true, the session has its keys. If false, nothing
	 * changed, and another answer may follow. */
	bool (*finish)(struct rltp_seal *s, const uint8_t *hello_ack);
	/* Frees everything but secrets and counters; the next packet restores it. */
	void (*rest)(struct rltp_seal *s);
	void (*free)(struct rltp_seal *s); /* accepts NULL */
	/* Begins a batch: the datagrams that were sealed before are not used any more. A batch has
	 * at most DATAGRAM_BATCH datagrams. */
	void (*batch)(void *context);
	/* Seals a datagram; its slices then are memory of `context`. False: do not send it, for
	 * lack of memory or because the keys are used up. */
	bool (*seal)(struct rltp_seal *s, struct datagram *d);
	/* Opens a frame that wire_sealed_decode accepted. *opened has the frame without its tag,
	 * valid until the next call. DXP_EAUTH: the tag is wrong; DXP_EEXIST: a replay, or too old;
	 * DXP_ENOMEM. If it fails, nothing changed. */
	int (*open)(struct rltp_seal *s, const struct datagram_arrival *a,
		    struct datagram_arrival *opened);
	/* Returns the tag of a frame that was sealed recently, by the low bits of its counter;
	 * NULL: none of the last ones. */
	const uint8_t *(*sent_tag)(const struct rltp_seal *s, uint16_t counter);
};

#endif
