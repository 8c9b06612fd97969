/* SPDX-License-Identifier: BSD-3-Clause */
/* Network address of a node's NIC: an IPv4 or IPv6 address and a UDP port. IPv4 is stored mapped
 * (::ffff:a.b.c.d), so one comparison serves both. */
#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_ADDRESS_BYTES      18 /* on the wire: 16 of address, 2 of port */
#define WIRE_ADDRESS_TEXT_BYTES 64 /* text bytes: "[v6]:port" and its zero */

struct wire_address {
	uint8_t ip[16];
	uint16_t port; /* host order; 0: unknown */
};

static inline bool wire_address_equal(const struct wire_address *a, const struct wire_address *b)
{
	return a->port == b->port && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

/* Returns true for fe80::/10. Every interface may have the same such address, so it cannot identify
 * a node. */
static inline bool wire_address_link_local(const struct wire_address *a)
{
	return a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

/* Returns an IPv4 address; 10.0.0.1 is 0x0a000001. */
struct wire_address wire_address_v4(uint32_t ip, uint16_t port);

void wire_address_encode(const struct wire_address *a, uint8_t out[WIRE_ADDRESS_BYTES]);
void wire_address_decode(const uint8_t in[WIRE_ADDRESS_BYTES], struct wire_address *a);

/* Formats as "10.0.0.2:4795" or "[fe80::1]:4795". Returns `out`. */
const char *wire_address_format(const struct wire_address *a, char out[WIRE_ADDRESS_TEXT_BYTES]);

/* Parses "a.b.c.d[:port]" or "[v6][:port]". `port` is the default port. No name lookup. Returns
 * DXP_EINVAL for any other text. */
int wire_address_parse(const char *text, uint16_t port, struct wire_address *a);

#endif
