/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICRC of RoCEv2 over IPv6. Traffic class, flow label, hop limit, UDP checksum and BTH byte 4
 * count as ones, because routers may change them. */
#ifndef WIRE_ROCE6_H
#define WIRE_ROCE6_H

#include "wire/roce.h"

/* Returns the ICRC of a packet between IPv6 addresses, as roce_icrc() does for IPv4. */
uint32_t roce_icrc6(const struct roce_ends *ends, const struct roce_piece *pieces, size_t count);

/* Checks the ICRC of an IPv6 packet without extension headers. */
bool roce_icrc6_right_ip(const uint8_t *ip, size_t bytes);

#endif
