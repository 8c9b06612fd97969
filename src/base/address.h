/* SPDX-License-Identifier: BSD-3-Clause */
/* IP address and UDP port of a NIC. IPv4 is stored as mapped IPv6 (::ffff:a.b.c.d), so one
 * comparison serves both. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UDP_ADDRESS_TEXT_BYTES 64 /* with the final zero */

struct udp_address {
	uint8_t ip[16];
	uint16_t port; /* host order; 0: unknown */
};

static inline bool address_equal(const struct udp_address *a, const struct udp_address *b)
{
	return a->port == b->port && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

/* fe80::/10. Two nodes may have the same such address, so it identifies none. */
static inline bool address_link_local(const struct udp_address *a)
{
	return a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

/* 127.0.0.0/8 or ::1 */
static inline bool address_loopback(const struct udp_address *a)
{
	static const uint8_t v4[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
	static const uint8_t v6[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

	return memcmp(a->ip, v4, sizeof(v4)) == 0 || memcmp(a->ip, v6, sizeof(v6)) == 0;
}

static inline bool address_ipv4(const struct udp_address *a)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(a->ip, mapped, sizeof(mapped)) == 0;
}

/* NULL: other nodes can send to it; else what it is, such as "a multicast address". Ignores the
 * port. */
const char *address_unreachable(const struct udp_address *a);

/* `ip` in host order: 0x0a000001 is 10.0.0.1. */
struct udp_address address_v4(uint32_t ip, uint16_t port);

/* "10.0.0.2:4795" or "[fe80::1]:4795". Returns `out`. */
const char *address_format(const struct udp_address *a, char out[UDP_ADDRESS_TEXT_BYTES]);

/* "a.b.c.d[:port]" or "[v6][:port]", no names; `port` if the text has none. DXP_EINVAL: other
 * text. */
int address_parse(const char *text, uint16_t port, struct udp_address *a);

/* All addresses that begin with the first `bits` bits of `ip`. */
struct address_prefix {
	uint8_t ip[16];
	uint8_t bits; /* 0 .. 128; of IPv4, plus 96 */
};

/* "10.1.0.0/16", "[fd00::]/8", or a single address. DXP_EINVAL: other text, or a bit after the
 * prefix is not 0. */
int address_prefix_parse(const char *text, struct address_prefix *out);
bool address_within(const struct udp_address *a, const struct address_prefix *p);

#endif
