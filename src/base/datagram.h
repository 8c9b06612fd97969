/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams between the protocols and a real or simulated link. */
#ifndef BASE_DATAGRAM_H
#define BASE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/limits.h"

/* A range of memory that is sent and not changed. */
struct datagram_slice {
	const void *base;
	size_t bytes;
};

/* Reason why a packet is sent again. */
enum datagram_cause {
	DATAGRAM_CAUSE_NONE, /* no retransmission, or the message was rejected */
	DATAGRAM_CAUSE_GAP,  /* a later packet was acknowledged */
	/* the newest packet was not acknowledged, so it is sent again as a probe */
	DATAGRAM_CAUSE_PROBE,
	DATAGRAM_CAUSE_TIMEOUT, /* no packet was acknowledged within the timeout */
	DATAGRAM_CAUSE_BUSY,    /* the receiver had no buffer */
	DATAGRAM_CAUSE_HELD,    /* the receiver holds the packet and has not answered */
	DATAGRAM_CAUSES
};

/* A datagram to send: `header`, then the slices in order. The slices' memory must not change until
 * link_send() returns. */
struct datagram {
	struct udp_address to;
	uint16_t header_bytes;
	uint8_t slice_count;
	uint8_t ecn; /* ECN bits of the IP header; 0: not ECN-capable */
	uint8_t header[DATAGRAM_HEADER_BYTES_MAX];
	uint8_t cause; /* enum datagram_cause, for observers; valid only for packets with RTX */
	struct datagram_slice slices[DATAGRAM_SLICES_MAX];
};

/* A received datagram. `data` is valid until the next link_receive() or link_wait() on this
 * endpoint, because a wait that spins receives into the same buffers. */
struct datagram_arrival {
	struct udp_address from;
	const uint8_t *data;
	size_t bytes;
	/* receive time on the clock of clock_now_ns(): the kernel's time if `stamped`, otherwise
	 * the later time of the read */
	uint64_t arrived_ns;
	uint8_t ecn;
	bool stamped;
};

#endif
