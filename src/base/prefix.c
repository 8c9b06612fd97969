/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of addresses; IPv4 as mapped IPv6, so one comparison serves both. */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/address.h"

#define ADDRESS_BITS 128u
#define MAPPED_BITS  96u /* before the IPv4 address */

static bool bits_equal(const uint8_t a[16], const uint8_t b[16], uint32_t bits)
{
	const uint32_t bytes = bits / 8, rest = bits % 8;

	return memcmp(a, b, bytes) == 0 &&
	       (rest == 0 || ((a[bytes] ^ b[bytes]) >> (8 - rest)) == 0);
}

static bool tail_zero(const uint8_t ip[16], uint32_t bits)
{
	for (uint32_t i = bits; i < ADDRESS_BITS; i++)
		if (ip[i / 8] >> (7 - i % 8) & 1)
			return false;
	return true;
}

/* 0 .. `most`; false: other text. */
static bool length_parse(const char *text, uint32_t most, uint32_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	const unsigned long value = strtoul(text, &end, 10);
	if (*end != '\0' || value > most)
		return false;
	*out = (uint32_t)value;
	return true;
}

int address_prefix_parse(const char *text, struct address_prefix *out)
{
	const uint32_t before = *text == '[' ? 0 : MAPPED_BITS;
	const char *slash = strchr(text, '/');
	const int length = slash ? (int)(slash - text) : (int)strlen(text);
	char host[UDP_ADDRESS_TEXT_BYTES];
	uint32_t bits = ADDRESS_BITS - before;
	struct udp_address a;

	if (snprintf(host, sizeof(host), "%.*s", length, text) >= (int)sizeof(host) ||
	    address_parse(host, 0, &a) != DXP_OK || a.port != 0 ||
	    (slash && !length_parse(slash + 1, ADDRESS_BITS - before, &bits)) ||
	    !tail_zero(a.ip, before + bits))
		return DXP_EINVAL;
	memcpy(out->ip, a.ip, sizeof(out->ip));
	out->bits = (uint8_t)(before + bits);
	return DXP_OK;
}

bool address_within(const struct udp_address *a, const struct address_prefix *p)
{
	return bits_equal(a->ip, p->ip, p->bits);
}
