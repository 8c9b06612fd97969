/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 headers and ICRC: Ethernet's CRC-32 over eight bytes of ones (InfiniBand's local header),
 * then IP, UDP and the rest, where TOS, TTL, checksums and BTH byte 4, which routers may change,
 * count as ones. */
#include "wire/roce.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "wire/roce6.h"

#define FIELD_ENUM(name, offset, bytes) OFF_##name = (offset),
enum field_offset { ROCE_FIELDS(FIELD_ENUM) };
#undef FIELD_ENUM

#define VERSION_MASK 0x0fu /* TVer (transport version) in BTH_FLAGS */
#define PAD_SHIFT    4
#define PAD_MASK     3u
#define PKEY_DEFAULT 0xffffu
#define ACK_REQUEST  0x80u

#define IP_BYTES  20
#define UDP_BYTES 8

static void put_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	put_be16(p + 1, (uint16_t)v);
}

static uint32_t get_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | get_be16(p + 1);
}

uint64_t roce_rnr_ns(unsigned code)
{
	/* In units of 10 us, the time doubles every two codes: 1, 2, 3, 4, 6, 8, 12 ... Code 0 is
	 * the longest time. */
	uint64_t units = code == 0   ? 65536
			 : code == 1 ? 1
			 : code % 2  ? 3ull << (code - 3) / 2
				     : 2ull << (code - 2) / 2;

	return units * 10000;
}

/* Returns whether an ACK, RNR NAK or NAK can have it. */
static bool syndrome_known(uint8_t syndrome)
{
	switch (syndrome & ROCE_AETH_KIND_MASK) {
	case ROCE_AETH_ACK:
	case ROCE_AETH_RNR: return true;
	case ROCE_AETH_NAK: return (syndrome & ROCE_AETH_CODE_MASK) < ROCE_NAKS;
	default: return false;
	}
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
		out[OFF_AETH_SYNDROME] = h->syndrome;
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
		if (!syndrome_known(data[OFF_AETH_SYNDROME]))
			return DXP_EMALFORMED;
		r.syndrome = data[OFF_AETH_SYNDROME];
		r.msn = get_be24(data + OFF_AETH_MSN);
	}
	*h = r;
	*payload_bytes = bytes - header_bytes - r.pad_bytes - ROCE_ICRC_BYTES;
	return DXP_OK;
}

/* ---- ICRC ---- */

/* Eight bytes of ones, IP, UDP, BTH; a word's first byte is in its low bits. */
struct icrc_head {
	uint64_t words[CRC32_HEAD_WORDS];
};
_Static_assert(sizeof(struct icrc_head) == 8 + IP_BYTES + UDP_BYTES + ROCE_BTH_BYTES, "no gap");

static uint64_t swap_16(size_t v)
{
	return __builtin_bswap16((uint16_t)v);
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t half_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* `bytes`: UDP payload with the ICRC. */
static void head_make(struct icrc_head *head, const struct roce_path *path, size_t bytes,
		      const uint8_t *bth)
{
	/* version and header length, TOS; total length; Identification 0; Don't Fragment */
	head->words[0] = UINT64_MAX;
	head->words[1] = 0xff45 | swap_16(IP_BYTES + UDP_BYTES + bytes) << 16 | 0x40ull << 48;
	/* TTL, protocol, checksum; source address */
	head->words[2] = 0xffff11ff | (uint64_t)__builtin_bswap32(path->from_ip) << 32;
	head->words[3] = __builtin_bswap32(path->to_ip) | swap_16(path->from_port) << 32 |
			 swap_16(path->to_port) << 48;
	/* UDP length and checksum */
	head->words[4] =
		swap_16(UDP_BYTES + bytes) | 0xffffull << 16 | (uint64_t)half_at(bth) << 32;
	head->words[5] = word_at(bth + OFF_BTH_RESERVED) | 0xff;
}

static void head_read(struct icrc_head *head, const uint8_t *ip)
{
	const uint8_t *bth = ip + IP_BYTES + UDP_BYTES;

	head->words[0] = UINT64_MAX;
	head->words[1] = word_at(ip) | 0xff00;
	head->words[2] = word_at(ip + 8) | 0xffff00ff;
	head->words[3] = word_at(ip + 16);
	head->words[4] = word_at(ip + 24) | 0xffff0000;
	head->words[5] = word_at(bth + OFF_BTH_RESERVED) | 0xff;
}

uint32_t roce_icrc(const struct roce_path *path, const struct roce_piece *pieces, size_t count)
{
	struct crc32_piece behind[ROCE_PIECES_MAX];
	size_t bytes = ROCE_ICRC_BYTES;
	struct icrc_head head;

	assert(count > 0 && count <= ROCE_PIECES_MAX && pieces[0].bytes >= ROCE_BTH_BYTES);
	for (size_t i = 0; i < count; i++) {
		bytes += pieces[i].bytes;
		behind[i] = (struct crc32_piece){pieces[i].data, pieces[i].bytes};
	}
	behind[0].data += ROCE_BTH_BYTES;
	behind[0].bytes -= ROCE_BTH_BYTES;
	head_make(&head, path, bytes, pieces[0].data);
	return crc32_of(head.words, behind, count);
}

uint32_t roce_icrc_joined(const struct roce_path *path, const struct roce_piece *front,
			  const struct crc32_shift *shift, uint32_t crc)
{
	size_t bytes = front->bytes + shift->bytes + ROCE_ICRC_BYTES;
	struct crc32_piece behind;
	struct icrc_head head;

	assert(front->bytes >= ROCE_BTH_BYTES);
	behind = (struct crc32_piece){front->data + ROCE_BTH_BYTES, front->bytes - ROCE_BTH_BYTES};
	head_make(&head, path, bytes, front->data);
	return crc32_join(shift, crc32_of(head.words, &behind, 1), crc);
}

static uint32_t icrc_get(const uint8_t *data, size_t bytes)
{
	return half_at(data + bytes - ROCE_ICRC_BYTES);
}

bool roce_icrc_right(const struct roce_path *path, const uint8_t *data, size_t bytes)
{
	if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return false;

	struct crc32_piece behind = {data + ROCE_BTH_BYTES,
				     bytes - ROCE_BTH_BYTES - ROCE_ICRC_BYTES};
	struct icrc_head head;

	head_make(&head, path, bytes, data);
	return crc32_of(head.words, &behind, 1) == icrc_get(data, bytes);
}

bool roce_icrc_right_ip(const uint8_t *ip, size_t bytes)
{
	const size_t before = IP_BYTES + UDP_BYTES + ROCE_BTH_BYTES;

	if (bytes > 0 && ip[0] >> 4 == 6)
		return roce_icrc6_right_ip(ip, bytes);
	if (bytes < before + ROCE_ICRC_BYTES || ip[0] != 0x45)
		return false;

	struct crc32_piece behind = {ip + before, bytes - before - ROCE_ICRC_BYTES};
	struct icrc_head head;

	head_read(&head, ip);
	return crc32_of(head.words, &behind, 1) == icrc_get(ip, bytes);
}
