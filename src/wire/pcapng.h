/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams as a pcapng file, for Wireshark and its kin: pure bytes out. Each datagram gets the
 * Ethernet, IP and UDP headers that a wire would have shown. Little-endian; times in nanoseconds;
 * comments say what no header can. Format: draft-ietf-opsawg-pcapng.
 *
 * A file is one section, then one interface per node, then packets, then the statistics of each
 * interface. Each function writes one block to `out` and returns its bytes; `out` has room for
 * PCAPNG_BLOCK_MAX. */
#ifndef WIRE_PCAPNG_H
#define WIRE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/datagram.h"

#define PCAPNG_TEXT_BYTES 128 /* longer names and comments are cut */
#define PCAPNG_HEADERS    62  /* Ethernet, IPv6, UDP */
#define PCAPNG_BLOCK_MAX  (LINK_DATAGRAM_BYTES_MAX + 1 + PCAPNG_HEADERS + 512)

struct pcapng_packet {
	uint32_t interface; /* in order of pcapng_interface, from 0 */
	uint64_t time_ns;   /* since 1970; a simulator's own clock will do */
	struct wire_address from, to;
	const uint8_t *data; /* of the UDP payload, as much as was kept */
	uint32_t captured_bytes;
	uint32_t bytes; /* of the UDP payload; not below captured_bytes */
	bool outbound;
	uint8_t ecn;
	const char *comment; /* NULL or "": none */
	uint64_t dropped;    /* packets of this interface that got lost before this one */
};

/* Opens the file. */
size_t pcapng_section(uint8_t *out, const char *program);

/* `snap_bytes` of UDP payload are kept at most; 0: all. */
size_t pcapng_interface(uint8_t *out, const char *name, const char *description,
			uint32_t snap_bytes);

/* The UDP checksum is right where the whole datagram was kept, else 0, which IPv4 takes for none.
 */
size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *p);

/* One datagram on its way out, header and slices: `p` without data, sizes and `to`, which are read
 * off `d`. At most `snap_bytes` are kept, 0: all. */
size_t pcapng_datagram(uint8_t *out, const struct pcapng_packet *p, const struct link_datagram *d,
		       uint32_t snap_bytes);

/* How many packets an interface saw, and how many of them are missing. */
size_t pcapng_statistics(uint8_t *out, uint32_t interface, uint64_t time_ns, uint64_t seen,
			 uint64_t dropped);

/* The first bytes of a datagram, header and slices together, at most `room`. Returns how many;
 * *bytes is its length. */
size_t datagram_gather(const struct link_datagram *d, uint8_t *out, size_t room, uint32_t *bytes);

#endif
