/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes datagrams in pcapng format (draft-ietf-opsawg-pcapng), with the Ethernet, IP and UDP
 * headers that they have on a wire. The functions only write bytes into memory. Numbers are
 * little-endian, times are in ns. Comments of packets hold facts that headers cannot express.
 *
 * A file is one section, one interface per node, packets, then statistics per interface. Each
 * function writes one block to `out`, of PCAPNG_BLOCK_MAX bytes, and returns its length. */
#ifndef WIRE_PCAPNG_H
#define WIRE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

#define PCAPNG_TEXT_BYTES 128 /* bytes of the longest name or comment; longer texts are cut */
#define PCAPNG_HEADERS    62  /* bytes of the headers: Ethernet, IPv6, UDP */
#define PCAPNG_BLOCK_MAX  (DATAGRAM_BYTES_MAX + 1 + PCAPNG_HEADERS + 512)

struct pcapng_packet {
	uint32_t interface; /* number of the interface: pcapng_interface() calls count from 0 */
	uint64_t time_ns;   /* time since 1970, or on a simulator's clock */
	struct udp_address from, to;
	const uint8_t *data; /* captured part of the UDP payload */
	uint32_t captured_bytes;
	uint32_t bytes; /* length of the UDP payload, >= captured_bytes */
	bool outbound;
	uint8_t ecn;
	const char *comment; /* NULL or "": no comment */
	/* packets of this interface that were lost between the packet before and this one */
	uint64_t dropped;
};

size_t pcapng_section(uint8_t *out, const char *program);

/* Writes an interface. `snap_bytes`: longest captured UDP payload; 0: unlimited. */
size_t pcapng_interface(uint8_t *out, const char *name, const char *description,
			uint32_t snap_bytes);

/* Writes a packet. The UDP checksum is valid if the whole datagram was captured, otherwise 0. */
size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *p);

/* Writes an outgoing datagram `d`. Data, sizes and `to` come from `d`, not from `p`. Captures at
 * most `snap_bytes` bytes of payload; 0: all. */
size_t pcapng_datagram(uint8_t *out, const struct pcapng_packet *p, const struct datagram *d,
		       uint32_t snap_bytes);

/* Writes how many packets the capture of an interface saw, and how many of them it lost. */
size_t pcapng_statistics(uint8_t *out, uint32_t interface, uint64_t time_ns, uint64_t seen,
			 uint64_t dropped);

/* Copies the start of a datagram to `out`, at most `space` bytes. Returns the copied length; *bytes
 * is the length of the whole datagram. */
size_t pcapng_datagram_gather(const struct datagram *d, uint8_t *out, size_t space,
			      uint32_t *bytes);

#endif
