/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/roce6.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

/* ones, for InfiniBand's local header */
#define ONES_BYTES 8
#define IP_BYTES   40
#define UDP_BYTES  8
#define HEAD_BYTES (ONES_BYTES + IP_BYTES + UDP_BYTES + ROCE_BTH_BYTES)

#define PROTOCOL_UDP 17

/* IP and UDP: X(field, offset, bytes), from the IP header's start. */
#define IP6_FIELDS(X)        \
	X(VERSION, 0, 4)     \
	X(LENGTH, 4, 2)      \
	X(NEXT, 6, 1)        \
	X(HOP_LIMIT, 7, 1)   \
	X(FROM, 8, 16)       \
	X(TO, 24, 16)        \
	X(FROM_PORT, 40, 2)  \
	X(TO_PORT, 42, 2)    \
	X(UDP_LENGTH, 44, 2) \
	X(UDP_CHECKSUM, 46, 2)

#define FIELD_ENUM(name, offset, bytes) OFF_##name = (offset),
enum ip6_offset { IP6_FIELDS(FIELD_ENUM) };
#undef FIELD_ENUM

/* Ones where routers change. `head`: eight bytes of ones, IP, UDP, BTH. */
static void variant_mask(uint8_t head[HEAD_BYTES])
{
	uint8_t *ip = head + ONES_BYTES;

	memset(head, 0xff, ONES_BYTES);
	put_be32(ip + OFF_VERSION, 0x6fffffff);
	ip[OFF_HOP_LIMIT] = 0xff;
	put_be16(ip + OFF_UDP_CHECKSUM, 0xffff);
	ip[IP_BYTES + UDP_BYTES + 4] = 0xff; /* FECN, BECN, reserved bits */
}

uint32_t roce_icrc6(const struct roce_ends *ends, const struct roce_piece *pieces, size_t count)
{
	uint8_t head[HEAD_BYTES], *ip = head + ONES_BYTES;
	size_t bytes = UDP_BYTES + ROCE_ICRC_BYTES;
	uint32_t crc;

	assert(count > 0 && pieces[0].bytes >= ROCE_BTH_BYTES);
	for (size_t i = 0; i < count; i++)
		bytes += pieces[i].bytes;
	put_be16(ip + OFF_LENGTH, (uint16_t)bytes);
	ip[OFF_NEXT] = PROTOCOL_UDP;
	memcpy(ip + OFF_FROM, ends->from.ip, sizeof(ends->from.ip));
	memcpy(ip + OFF_TO, ends->to.ip, sizeof(ends->to.ip));
	put_be16(ip + OFF_FROM_PORT, ends->from.port);
	put_be16(ip + OFF_TO_PORT, ends->to.port);
	put_be16(ip + OFF_UDP_LENGTH, (uint16_t)bytes);
	memcpy(ip + IP_BYTES + UDP_BYTES, pieces[0].data, ROCE_BTH_BYTES);
	variant_mask(head);
	crc = crc32_ieee(0, head, sizeof(head));
	crc = crc32_ieee(crc, pieces[0].data + ROCE_BTH_BYTES, pieces[0].bytes - ROCE_BTH_BYTES);
	for (size_t i = 1; i < count; i++)
		if (pieces[i].bytes > 0) /* at NULL, libdeflate starts a new CRC */
			crc = crc32_ieee(crc, pieces[i].data, pieces[i].bytes);
	return crc;
}

bool roce_icrc6_right_ip(const uint8_t *ip, size_t bytes)
{
	const size_t before = HEAD_BYTES - ONES_BYTES;
	uint8_t head[HEAD_BYTES];
	uint32_t crc;

	if (bytes < before + ROCE_ICRC_BYTES || ip[OFF_NEXT] != PROTOCOL_UDP)
		return false;
	memcpy(head + ONES_BYTES, ip, before);
	variant_mask(head);
	crc = crc32_ieee(0, head, sizeof(head));
	crc = crc32_ieee(crc, ip + before, bytes - before - ROCE_ICRC_BYTES);
	return crc == __builtin_bswap32(get_be32(ip + bytes - ROCE_ICRC_BYTES));
}
