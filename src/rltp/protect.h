/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between RLTP and the protection of its packets (src/seal). RLTP decides when a session
 * gets keys and which packets it accepts. The implementation has the keys and the packet
 * counters. */
#ifndef RLTP_PROTECT_H
#define RLTP_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "wire/frame.h"

struct rltp_seal; /* keys of one session, as the implementation defines them */

/* `context` comes from the endpoint's options. Handshake frames have WIRE_HELLO_SEALED_FRAME bytes.
 * All bytes before WIRE_OFF_HELLO_KEY have their final value, except the fields that
 * wire_hello_constant clears. The caller computes and checks the tag at the end of the frame. */
struct rltp_seal_ops {
	/* Starts a handshake: draws a key and writes the fields HELLO_KEY and HELLO_KEY_TAG.
	 * Returns NULL if memory is short. */
	struct rltp_seal *(*hello)(void *context, uint8_t *hello);
	/* Checks the HELLO of a peer; the next call must be `answer`. Returns NULL if the HELLO is
	 * not authentic or memory is short. */
	struct rltp_seal *(*accept)(void *context, const uint8_t *hello);
	/* Draws a key and writes the fields HELLO_KEY and HELLO_KEY_TAG of the HELLO_ACK. The
	 * session then has its keys. Returns false if memory is short or the peer's key is
	 * degenerate. */
	bool (*answer)(struct rltp_seal *s, uint8_t *hello_ack);
	/* Checks the HELLO_ACK that answers `hello`. Returns true if the session has its keys.
	 * Returns false if nothing changed; then another answer may follow. */
	bool (*finish)(struct rltp_seal *s, const uint8_t *hello_ack);
	/* Frees everything except secrets and counters. The next packet restores the rest. */
	void (*rest)(struct rltp_seal *s);
	void (*free)(struct rltp_seal *s); /* accepts NULL */
	/* Begins a batch of at most DATAGRAM_BATCH datagrams. The caller has finished with
	 * datagrams that were sealed before. */
	void (*batch)(void *context);
	/* Seals a datagram. Its slices then point into memory of `context`. Returns false if memory
	 * is short or the keys are used up; then do not send the datagram. */
	bool (*seal)(struct rltp_seal *s, struct datagram *d);
	/* Opens a frame that wire_sealed_decode accepted. *opened is the frame without its tag; it
	 * is valid until the next call. DXP_EAUTH: the tag is wrong; DXP_EEXIST: a replay, or too
	 * old; DXP_ENOMEM. If it fails, nothing changes. */
	int (*open)(struct rltp_seal *s, const struct datagram_arrival *a,
		    struct datagram_arrival *opened);
	/* Returns the tag of a frame that was sealed recently. `counter`: the low bits of the
	 * frame's counter. Returns NULL if the frame is not one of the last ones. */
	const uint8_t *(*sent_tag)(const struct rltp_seal *s, uint16_t counter);
};

#endif
