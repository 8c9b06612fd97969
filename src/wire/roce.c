/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 headers and the invariant CRC. The CRC is Ethernet's CRC-32 over eight bytes of ones
 * (where InfiniBand has its local header), the IP and UDP headers and all behind them, with what
 * routers may change taken as ones: TOS, TTL, both checksums, and BTH byte 4. */
#include "wire/roce.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32.h"

#define FIELD_ENUM(name, offset, bytes) OFF_##name = (offset),
enum field_offset { ROCE_FIELDS(FIELD_ENUM) };
#undef FIELD_ENUM

#define VERSION_MASK  0x0fu /* TVer, of BTH_FLAGS */
#define PAD_SHIFT     4
#define PAD_MASK      3u
#define PKEY_DEFAULT  0xffffu
#define ACK_REQUEST   0x80u
#define AETH_ACK      0x1fu /* acknowledged; no end-to-end credits */
#define AETH_NAK_MASK 0xe0u /* 0: acknowledged */
#define QP_MASK       0xffffffu

/* In front of the BTH as the ICRC sees it. */
#define ONES_BYTES     8
#define IP_BYTES       20
#define UDP_BYTES      8
#define OFF_IP         ONES_BYTES
#define OFF_UDP        (OFF_IP + IP_BYTES)
#define OFF_BTH        (OFF_UDP + UDP_BYTES)
#define IP_DF          0x4000u
#define IP_UDP         17u
#define PROLOGUE_BYTES (OFF_BTH + ROCE_BTH_BYTES)
#define HEADERS_BYTES  64 /* behind the BTH, of all that we send */

static void put_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	put_be16(p + 1, (uint16_t)v);
}

static uint32_t get_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | get_be16(p + 1);
}

size_t roce_header_bytes(uint8_t opcode)
{
	switch (opcode) {
	case ROCE_RC_SEND_ONLY: return ROCE_BTH_BYTES;
	case ROCE_RC_ACK: return ROCE_BTH_BYTES + ROCE_AETH_BYTES;
	case ROCE_UD_SEND_ONLY: return ROCE_BTH_BYTES + ROCE_DETH_BYTES;
	default: return 0;
	}
}

size_t roce_header_encode(const struct roce_header *h, uint8_t *out)
{
	size_t bytes = roce_header_bytes(h->opcode);

	assert(bytes > 0 && h->pad_bytes <= PAD_MASK);
	out[OFF_BTH_OPCODE] = h->opcode;
	out[OFF_BTH_FLAGS] = (uint8_t)(h->pad_bytes << PAD_SHIFT);
	put_be16(out + OFF_BTH_PKEY, PKEY_DEFAULT);
	out[OFF_BTH_RESERVED] = 0;
	put_be24(out + OFF_BTH_DEST_QP, h->dest_qp);
	out[OFF_BTH_ACK_REQUEST] = h->ack_request ? ACK_REQUEST : 0;
	put_be24(out + OFF_BTH_PSN, h->psn);
	if (h->opcode == ROCE_UD_SEND_ONLY) {
		put_be32(out + OFF_DETH_QKEY, h->qkey);
		out[OFF_DETH_RESERVED] = 0;
		put_be24(out + OFF_DETH_SOURCE_QP, h->source_qp);
	} else if (h->opcode == ROCE_RC_ACK) {
		out[OFF_AETH_SYNDROME] = AETH_ACK;
		put_be24(out + OFF_AETH_MSN, h->msn);
	}
	return bytes;
}

int roce_header_decode(const uint8_t *data, size_t bytes, struct roce_header *h,
		       size_t *payload_bytes)
{
	if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return DXP_EMALFORMED;

	size_t header_bytes = roce_header_bytes(data[OFF_BTH_OPCODE]);
	struct roce_header r = {
		.opcode = data[OFF_BTH_OPCODE],
		.pad_bytes = data[OFF_BTH_FLAGS] >> PAD_SHIFT & PAD_MASK,
		.ack_request = data[OFF_BTH_ACK_REQUEST] & ACK_REQUEST,
		.dest_qp = get_be24(data + OFF_BTH_DEST_QP),
		.psn = get_be24(data + OFF_BTH_PSN),
	};

	if (header_bytes == 0 || data[OFF_BTH_FLAGS] & VERSION_MASK || bytes % 4 != 0 ||
	    bytes < header_bytes + r.pad_bytes + ROCE_ICRC_BYTES)
		return DXP_EMALFORMED;
	if (r.opcode == ROCE_UD_SEND_ONLY) {
		r.qkey = get_be32(data + OFF_DETH_QKEY);
		r.source_qp = get_be24(data + OFF_DETH_SOURCE_QP);
	} else if (r.opcode == ROCE_RC_ACK) {
		if (data[OFF_AETH_SYNDROME] & AETH_NAK_MASK)
			return DXP_EMALFORMED;
		r.msn = get_be24(data + OFF_AETH_MSN);
	}
	*h = r;
	*payload_bytes = bytes - header_bytes - r.pad_bytes - ROCE_ICRC_BYTES;
	return DXP_OK;
}

/* ---- ICRC ---- */

/* What comes before the BTH of a packet of `bytes`, its ICRC included. */
static void headers_put(const struct roce_path *path, size_t bytes, uint8_t out[OFF_BTH])
{
	uint8_t *ip = out + OFF_IP, *udp = out + OFF_UDP;

	memset(out, 0xff, OFF_BTH);
	ip[0] = 0x45;
	put_be16(ip + 2, (uint16_t)(IP_BYTES + UDP_BYTES + bytes));
	put_be16(ip + 4, 0);
	put_be16(ip + 6, IP_DF);
	ip[9] = IP_UDP;
	put_be32(ip + 12, path->from_ip);
	put_be32(ip + 16, path->to_ip);
	put_be16(udp, path->from_port);
	put_be16(udp + 2, path->to_port);
	put_be16(udp + 4, (uint16_t)(UDP_BYTES + bytes));
}

static void bth_put(const uint8_t *bth, uint8_t *out)
{
	memcpy(out, bth, ROCE_BTH_BYTES);
	out[OFF_BTH_RESERVED] = 0xff;
}

/* Of all in front of the payload of a packet of `bytes`: one sum for short pieces. */
static uint32_t front_sum(const struct roce_path *path, const struct roce_piece *front,
			  size_t bytes)
{
	uint8_t head[PROLOGUE_BYTES + HEADERS_BYTES];
	const uint8_t *behind = front->data + ROCE_BTH_BYTES;
	size_t rest = front->bytes - ROCE_BTH_BYTES;
	size_t joined = rest <= HEADERS_BYTES ? rest : 0;
	uint32_t crc;

	headers_put(path, bytes, head);
	bth_put(front->data, head + OFF_BTH);
	memcpy(head + PROLOGUE_BYTES, behind, joined);
	crc = crc32_ieee(0, head, PROLOGUE_BYTES + joined);
	return joined < rest ? crc32_ieee(crc, behind, rest) : crc;
}

uint32_t roce_icrc(const struct roce_path *path, const struct roce_piece *pieces, size_t count)
{
	size_t bytes = ROCE_ICRC_BYTES;
	uint32_t crc;

	assert(count > 0 && pieces[0].bytes >= ROCE_BTH_BYTES);
	for (size_t i = 0; i < count; i++)
		bytes += pieces[i].bytes;
	crc = front_sum(path, &pieces[0], bytes);
	for (size_t i = 1; i < count; i++)
		if (pieces[i].bytes > 0)
			crc = crc32_ieee(crc, pieces[i].data, pieces[i].bytes);
	return crc;
}

uint32_t roce_icrc_joined(const struct roce_path *path, const struct roce_piece *front,
			  const struct crc32_shift *shift, uint32_t crc)
{
	size_t bytes = front->bytes + shift->bytes + ROCE_ICRC_BYTES;

	assert(front->bytes >= ROCE_BTH_BYTES);
	return crc32_join(shift, front_sum(path, front, bytes), crc);
}

/* The ICRC behind a packet, as it lies there. */
static uint32_t icrc_get(const uint8_t *data, size_t bytes)
{
	return __builtin_bswap32(get_be32(data + bytes - ROCE_ICRC_BYTES));
}

bool roce_icrc_right(const struct roce_path *path, const uint8_t *data, size_t bytes)
{
	if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return false;

	struct roce_piece piece = {data, bytes - ROCE_ICRC_BYTES};

	return roce_icrc(path, &piece, 1) == icrc_get(data, bytes);
}

bool roce_icrc_right_ip(const uint8_t *ip, size_t bytes)
{
	uint8_t prologue[PROLOGUE_BYTES];
	const uint8_t *bth = ip + IP_BYTES + UDP_BYTES;
	uint32_t crc;

	if (bytes < IP_BYTES + UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES || ip[0] != 0x45)
		return false;
	memset(prologue, 0xff, OFF_IP);
	memcpy(prologue + OFF_IP, ip, IP_BYTES + UDP_BYTES);
	prologue[OFF_IP + 1] = prologue[OFF_IP + 8] = 0xff;
	put_be16(prologue + OFF_IP + 10, 0xffff);
	put_be16(prologue + OFF_UDP + 6, 0xffff);
	bth_put(bth, prologue + OFF_BTH);
	crc = crc32_ieee(0, prologue, sizeof(prologue));
	crc = crc32_ieee(crc, bth + ROCE_BTH_BYTES,
			 bytes - IP_BYTES - UDP_BYTES - ROCE_BTH_BYTES - ROCE_ICRC_BYTES);
	return crc == icrc_get(ip, bytes);
}
