/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams between protocols and a real or simulated link. */
#ifndef BASE_DATAGRAM_H
#define BASE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/limits.h"

/* Sent and not changed. */
struct datagram_slice {
	const void *base;
	size_t bytes;
};

/* Why a packet is sent again. */
enum datagram_cause {
	DATAGRAM_CAUSE_NONE, /* first transmission, or the message was rejected */
	DATAGRAM_CAUSE_GAP,  /* a later packet was acknowledged */
	/* probe: the newest packet was not acknowledged */
	DATAGRAM_CAUSE_PROBE,
	DATAGRAM_CAUSE_TIMEOUT, /* no acknowledgement within the timeout */
	DATAGRAM_CAUSE_BUSY,    /* no buffer at the receiver */
	DATAGRAM_CAUSE_HELD,    /* held by the receiver without an answer */
	DATAGRAM_CAUSES
};

/* `header`, then the slices, whose memory must not change until link_send() returns. */
struct datagram {
	struct udp_address to;
	uint16_t header_bytes;
	uint8_t slice_count;
	uint8_t ecn; /* 0: not ECN-capable */
	/* Not 0: a long frame, which leaves as a GSO batch of datagrams of this length. */
	uint16_t segment_bytes;
	uint8_t header[DATAGRAM_HEADER_BYTES_MAX];
	uint8_t cause; /* enum datagram_cause, for observers; only with RTX */
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
};

/* `data` is valid until the next link_receive() or link_wait() of this endpoint, as a spinning wait
 * receives into the same buffers. */
struct datagram_arrival {
	struct udp_address from;
	const uint8_t *data;
	size_t bytes;
	/* of clock_now_ns(): the kernel's time if `stamped`, else of the later read */
	uint64_t arrived_ns;
	uint8_t ecn;
	bool stamped;
};

#endif
