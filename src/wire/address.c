/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/address.h"

#include "base/bytes.h"

void wire_address_encode(const struct udp_address *a, uint8_t out[WIRE_ADDRESS_BYTES])
{
	memcpy(out, a->ip, 16);
	put_be16(out + 16, a->port);
}

void wire_address_decode(const uint8_t in[WIRE_ADDRESS_BYTES], struct udp_address *a)
{
	memcpy(a->ip, in, 16);
	a->port = get_be16(in + 16);
}
