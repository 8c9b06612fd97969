/* SPDX-License-Identifier: BSD-3-Clause */
/* Length of an address in packets. */
#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include "base/address.h"

#define WIRE_ADDRESS_BYTES 18 /* 16 of IP address, 2 of port */

void wire_address_encode(const struct udp_address *a, uint8_t out[WIRE_ADDRESS_BYTES]);
void wire_address_decode(const uint8_t in[WIRE_ADDRESS_BYTES], struct udp_address *a);

#endif
