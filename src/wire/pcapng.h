/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes datagrams as pcapng (draft-ietf-opsawg-pcapng) with Ethernet, IP and UDP headers, into
 * memory. Little-endian, times in ns; comments hold what headers cannot.
 *
 * A file is one section, an interface per node, packets, statistics per interface. Each function
 * writes a block to `out`, of PCAPNG_BLOCK_MAX, and returns its length. */
#ifndef WIRE_PCAPNG_H
#define WIRE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

#define PCAPNG_TEXT_BYTES 128 /* longest name or comment; longer ones are cut */
#define PCAPNG_HEADERS    62  /* Ethernet, IPv6, UDP */
#define PCAPNG_BLOCK_MAX  (DATAGRAM_BYTES_MAX + 1 + PCAPNG_HEADERS + 512)

struct pcapng_packet {
	uint32_t interface; /* by pcapng_interface() call, from 0 */
	uint64_t time_ns;   /* since 1970, or of a simulator */
	struct udp_address from, to;
	const uint8_t *data; /* captured part of the UDP payload */
	uint32_t captured_bytes;
	uint32_t bytes; /* whole UDP payload, >= captured_bytes */
	bool outbound;
	uint8_t ecn;
	const char *comment; /* NULL or "": none */
	/* lost by this interface since the packet before */
	uint64_t dropped;
};

size_t pcapng_section(uint8_t *out, const char *program);

/* `snap_bytes`: longest captured UDP payload; 0: unlimited. */
size_t pcapng_interface(uint8_t *out, const char *name, const char *description,
			uint32_t snap_bytes);

/* The UDP checksum is valid if all was captured, else 0. */
size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *p);

/* Writes an outgoing datagram; data, sizes and `to` come from `d`, not `p`. Captures at most
 * `snap_bytes` of payload; 0: all. */
size_t pcapng_datagram(uint8_t *out, const struct pcapng_packet *p, const struct datagram *d,
		       uint32_t snap_bytes);

/* Packets that an interface's capture saw, and lost. */
size_t pcapng_statistics(uint8_t *out, uint32_t interface, uint64_t time_ns, uint64_t seen,
			 uint64_t dropped);

/* Copies at most `space` bytes and returns the number; *bytes: whole length. */
size_t pcapng_datagram_gather(const struct datagram *d, uint8_t *out, size_t space,
			      uint32_t *bytes);

#endif
