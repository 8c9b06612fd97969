/* SPDX-License-Identifier: BSD-3-Clause */
/* A datagram on its way out and on its way in, as the protocol hands it to whatever carries it: a
 * real link or a simulated one. */
#ifndef WIRE_DATAGRAM_H
#define WIRE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "wire/address.h"

/* One piece of memory to be sent; only read. */
struct link_slice {
	const void *base;
	size_t bytes;
};

/* Why a packet is sent again. */
enum datagram_cause {
	DATAGRAM_CAUSE_NONE,    /* the receiver refused its message; or not a repeat */
	DATAGRAM_CAUSE_GAP,     /* a later packet was acknowledged */
	DATAGRAM_CAUSE_PROBE,   /* nothing was heard of the newest one */
	DATAGRAM_CAUSE_TIMEOUT, /* nothing was heard of any */
	DATAGRAM_CAUSE_BUSY,    /* the receiver had no buffer */
	DATAGRAM_CAUSE_HELD,    /* the receiver holds it, and has said no more for a while */
	DATAGRAM_CAUSES
};

/* One datagram to send: `header` then the slices, in order. The slices' memory must stay unchanged
 * until link_send returns; header bytes are copied by the kernel too. */
struct link_datagram {
	struct wire_address to;
	uint16_t header_bytes;
	uint8_t slice_count;
	uint8_t ecn; /* the two ECN bits to send with; 0 = not capable */
	uint8_t header[LINK_HEADER_BYTES_MAX];
	uint8_t cause; /* enum datagram_cause; for observers, and only where the header says RTX */
	struct link_slice slices[LINK_SLICES_MAX];
};

/* One datagram that arrived. `data` is valid until the next link_receive or link_wait on this
 * endpoint: a wait that spins receives into the same buffers. */
struct link_arrival {
	struct wire_address from;
	const uint8_t *data;
	size_t bytes;
	uint64_t arrived_ns; /* when the kernel had it, on the clock of link_now_ns; or, if not
			      * `stamped`, when it was read, which is later */
	uint8_t ecn;         /* the two ECN bits it came with */
	bool stamped;
};

#endif
