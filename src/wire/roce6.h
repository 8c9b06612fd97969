/* SPDX-License-Identifier: BSD-3-Clause */
/* ICRC of RoCEv2 over IPv6: traffic class, flow label, hop limit, UDP checksum and BTH byte 4,
 * which routers may change, count as ones. */
#ifndef WIRE_ROCE6_H
#define WIRE_ROCE6_H

#include "wire/roce.h"

/* roce_icrc() for IPv6. */
uint32_t roce_icrc6(const struct roce_ends *ends, const struct roce_piece *pieces, size_t count);

/* Checks a packet without extension headers. */
bool roce_icrc6_right_ip(const uint8_t *ip, size_t bytes);

#endif
