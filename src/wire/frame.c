/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the common header and the data extension. */
#include "wire/frame.h"

#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"

enum type_kind { KIND_UNKNOWN, KIND_C, KIND_R, KIND_M };

static const uint8_t kinds[256] = {
#define KIND(name, value, kind) [value] = KIND_##kind,
	WIRE_TYPE_LIST(KIND)
#undef KIND
};

static const char *const type_names[256] = {
#define NAME(name, value, kind) [value] = #name,
	WIRE_TYPE_LIST(NAME)
#undef NAME
};

bool wire_type_known(uint8_t type)
{
	return kinds[type] != KIND_UNKNOWN;
}

bool wire_type_reliable(uint8_t type)
{
	return kinds[type] == KIND_R;
}

bool wire_type_data(uint8_t type)
{
	return wire_type_reliable(type);
}

bool wire_type_management(uint8_t type)
{
	return kinds[type] == KIND_M;
}

const char *wire_type_name(uint8_t type)
{
	return type_names[type] ? type_names[type] : "?";
}

const char *wire_nack_name(uint8_t code)
{
	static const char *const names[] = {
		[WIRE_NACK_RNR] = "receiver not ready",
		[WIRE_NACK_WINDOW] = "outside the window",
		[WIRE_NACK_SESSION] = "unknown session",
		[WIRE_NACK_KEY] = "bad key",
		[WIRE_NACK_MAGIC] = "bad magic",
		[WIRE_NACK_BOUNDS] = "out of bounds",
		[WIRE_NACK_RIGHTS] = "not permitted",
		[WIRE_NACK_RESOURCE] = "limit exceeded",
		[WIRE_NACK_CLOSING] = "closing",
		[WIRE_NACK_VERSION] = "bad version",
		[WIRE_NACK_UNSUPPORTED] = "unsupported",
		[WIRE_NACK_HELD] = "held for the device",
		[WIRE_NACK_DEVICE] = "device failed",
		[WIRE_NACK_WAIT] = "wait for a grant",
		[WIRE_NACK_PROTECTION] = "other protection",
	};

	if (code >= sizeof(names) / sizeof(names[0]) || !names[code])
		return "?";
	return names[code];
}

static const char *const protect_names[] = {"none", "integrity", "encrypt"};

const char *wire_protect_name(uint8_t protect)
{
	return protect <= WIRE_PROTECT_LAST ? protect_names[protect] : "?";
}

bool wire_protect_parse(const char *text, uint8_t *out)
{
	for (uint8_t i = 0; i <= WIRE_PROTECT_LAST; i++) {
		if (strcmp(text, protect_names[i]) != 0)
			continue;
		*out = i;
		return true;
	}
	return false;
}

static void extension_encode(const struct wire_header *h, uint8_t *out)
{
	put_be16(out + WIRE_OFF_DST_QP, h->dst_qp);
	out[WIRE_OFF_DST_FUNCTION] = h->dst_function;
	out[WIRE_OFF_VC_TC] = h->vc_tc;
	put_be32(out + WIRE_OFF_QP_MAGIC, h->qp_magic);
	put_be32(out + WIRE_OFF_MSG_ID, h->msg_id);
	put_be32(out + WIRE_OFF_SUB, h->sub);
	put_be64(out + WIRE_OFF_ADDR, h->addr);
	put_be32(out + WIRE_OFF_KEY, h->key);
	put_be32(out + WIRE_OFF_MSG_LEN, h->msg_bytes);
	out += WIRE_DATA_BYTES;
	if (h->flags & WIRE_FLAG_IMM) {
		put_be64(out, h->imm);
		out += WIRE_IMM_BYTES;
	}
	if (h->flags & WIRE_FLAG_TRAILER)
		put_be64(out, h->trailer);
}

void wire_header_encode(const struct wire_header *h, uint8_t *out)
{
	out[WIRE_OFF_VERSION_HEADER] = (uint8_t)(WIRE_VERSION << 4 | h->header_bytes / 8);
	out[WIRE_OFF_TYPE] = h->type;
	put_be16(out + WIRE_OFF_FLAGS, h->flags);
	put_be32(out + WIRE_OFF_DST_SESSION, h->dst_session);
	put_be16(out + WIRE_OFF_SRC_NODE, h->src_node);
	put_be16(out + WIRE_OFF_DST_NODE, h->dst_node);
	put_be32(out + WIRE_OFF_PSN, h->psn);
	put_be32(out + WIRE_OFF_TX_TS, h->tx_ts);
	put_be32(out + WIRE_OFF_CUM_ACK, h->cum_ack);
	put_be16(out + WIRE_OFF_LEN, h->payload_bytes);
	put_be16(out + WIRE_OFF_CE_COUNT, h->ce_count);
	put_be32(out + WIRE_OFF_CRC, 0);
	if (h->header_bytes >= WIRE_DATA_BYTES)
		extension_encode(h, out);
}

uint32_t wire_crc_begin(const uint8_t *header, size_t header_bytes)
{
	static const uint8_t zero[4];
	uint32_t crc = crc32c(0, header, WIRE_OFF_CRC);

	crc = crc32c(crc, zero, sizeof(zero));
	return crc32c(crc, header + WIRE_COMMON_BYTES, header_bytes - WIRE_COMMON_BYTES);
}

void wire_crc_set(uint8_t *header, uint32_t crc)
{
	put_be32(header + WIRE_OFF_CRC, crc);
}

void wire_control_seal_tail(uint8_t *frame, size_t frame_bytes, const void *tail, size_t tail_bytes)
{
	size_t body_bytes = frame_bytes - WIRE_COMMON_BYTES;

	put_be16(frame + WIRE_OFF_FLAGS, get_be16(frame + WIRE_OFF_FLAGS) | WIRE_FLAG_CRCP);
	put_be16(frame + WIRE_OFF_LEN, (uint16_t)(body_bytes + tail_bytes));
	uint32_t crc = wire_crc_begin(frame, WIRE_COMMON_BYTES);
	crc = crc32c(crc, frame + WIRE_COMMON_BYTES, body_bytes);
	wire_crc_set(frame, crc32c(crc, tail, tail_bytes));
}

void wire_control_seal(uint8_t *frame, size_t frame_bytes)
{
	wire_control_seal_tail(frame, frame_bytes, "", 0);
}

static void common_decode(const uint8_t *p, struct wire_header *h)
{
	h->type = p[WIRE_OFF_TYPE];
	h->flags = get_be16(p + WIRE_OFF_FLAGS);
	h->dst_session = get_be32(p + WIRE_OFF_DST_SESSION);
	h->src_node = get_be16(p + WIRE_OFF_SRC_NODE);
	h->dst_node = get_be16(p + WIRE_OFF_DST_NODE);
	h->psn = get_be32(p + WIRE_OFF_PSN);
	h->tx_ts = get_be32(p + WIRE_OFF_TX_TS);
	h->cum_ack = get_be32(p + WIRE_OFF_CUM_ACK);
	h->payload_bytes = get_be16(p + WIRE_OFF_LEN);
	h->ce_count = get_be16(p + WIRE_OFF_CE_COUNT);
}

static void extension_decode(const uint8_t *p, struct wire_header *h)
{
	h->dst_qp = get_be16(p + WIRE_OFF_DST_QP);
	h->dst_function = p[WIRE_OFF_DST_FUNCTION];
	h->vc_tc = p[WIRE_OFF_VC_TC];
	h->qp_magic = get_be32(p + WIRE_OFF_QP_MAGIC);
	h->msg_id = get_be32(p + WIRE_OFF_MSG_ID);
	h->sub = get_be32(p + WIRE_OFF_SUB);
	h->addr = get_be64(p + WIRE_OFF_ADDR);
	h->key = get_be32(p + WIRE_OFF_KEY);
	h->msg_bytes = get_be32(p + WIRE_OFF_MSG_LEN);
	p += WIRE_DATA_BYTES;
	if (h->flags & WIRE_FLAG_IMM) {
		h->imm = get_be64(p);
		p += WIRE_IMM_BYTES;
	}
	if (h->flags & WIRE_FLAG_TRAILER)
		h->trailer = get_be64(p);
}

/* The last packet of a NAP, or of a PUT that makes an event. */
static bool trailer_allowed(uint8_t type, uint16_t flags)
{
	const uint16_t end = WIRE_FLAG_LAST | WIRE_FLAG_SOL;

	return (type == WIRE_NAP && flags & WIRE_FLAG_LAST) ||
	       (type == WIRE_PUT && (flags & end) == end);
}

/* 0: an invalid combination. */
static size_t header_bytes_expected(uint8_t type, uint16_t flags)
{
	size_t bytes = WIRE_DATA_BYTES;

	if (!wire_type_data(type))
		return flags & (WIRE_FLAG_IMM | WIRE_FLAG_TRAILER) ? 0 : WIRE_COMMON_BYTES;
	if (flags & WIRE_FLAG_IMM)
		bytes += WIRE_IMM_BYTES;
	if (flags & WIRE_FLAG_TRAILER)
		bytes = trailer_allowed(type, flags) ? bytes + WIRE_TRAILER_BYTES : 0;
	return bytes;
}

static bool crc_good(const uint8_t *data, const struct wire_header *h)
{
	uint32_t crc = wire_crc_begin(data, h->header_bytes);

	if (h->flags & WIRE_FLAG_CRCP)
		crc = crc32c(crc, data + h->header_bytes, h->payload_bytes);
	return crc == get_be32(data + WIRE_OFF_CRC);
}

/* Returns true for types that sessions with protection seal. */
static bool type_sealed(uint8_t type)
{
	return kinds[type] == KIND_R ||
	       (kinds[type] == KIND_C && type != WIRE_HELLO && type != WIRE_HELLO_ACK &&
		type != WIRE_RESET && type != WIRE_REJECT && type != WIRE_COOKIE);
}

void wire_seal_header(uint8_t *frame, uint16_t phases, uint32_t counter)
{
	uint16_t flags = get_be16(frame + WIRE_OFF_FLAGS) & (uint16_t)~WIRE_FLAG_CRCP;
	uint8_t words = frame[WIRE_OFF_VERSION_HEADER] & 0xf;

	frame[WIRE_OFF_VERSION_HEADER] = (uint8_t)(WIRE_VERSION_SEALED << 4 | words);
	put_be16(frame + WIRE_OFF_FLAGS, flags | phases);
	put_be16(frame + WIRE_OFF_LEN,
		 (uint16_t)(get_be16(frame + WIRE_OFF_LEN) + WIRE_SEAL_BYTES));
	put_be32(frame + WIRE_OFF_CRC, counter);
}

int wire_sealed_decode(const uint8_t *data, size_t bytes, struct wire_header *header)
{
	struct wire_header h = {0};

	if (bytes < WIRE_COMMON_BYTES + WIRE_SEAL_BYTES || !wire_is_sealed(data, bytes))
		return DXP_EMALFORMED;
	common_decode(data, &h);
	h.header_bytes = (uint8_t)((data[WIRE_OFF_VERSION_HEADER] & 0xf) * 8);
	h.flags &= (uint16_t) ~(WIRE_FLAG_PHASE | WIRE_FLAG_PHASE_SEEN);
	if (!type_sealed(h.type) || h.flags & WIRE_FLAG_CRCP ||
	    h.header_bytes < WIRE_COMMON_BYTES ||
	    h.header_bytes != header_bytes_expected(h.type, h.flags) ||
	    h.payload_bytes < WIRE_SEAL_BYTES ||
	    h.payload_bytes > WIRE_PAYLOAD_MAX + WIRE_DATA_BYTES ||
	    bytes != (size_t)h.header_bytes + h.payload_bytes)
		return DXP_EMALFORMED;
	h.payload_bytes = (uint16_t)(h.payload_bytes - WIRE_SEAL_BYTES);
	*header = h;
	return DXP_OK;
}

void wire_opened_decode(const uint8_t *opened, struct wire_header *header)
{
	if (header->header_bytes >= WIRE_DATA_BYTES)
		extension_decode(opened, header);
}

size_t wire_frame_bytes(const uint8_t *data, size_t bytes)
{
	if (bytes < WIRE_COMMON_BYTES || wire_other_version(data, bytes) != 0)
		return 0;
	return (data[WIRE_OFF_VERSION_HEADER] & 0xfu) * 8u + get_be16(data + WIRE_OFF_LEN);
}

uint8_t wire_other_version(const uint8_t *data, size_t bytes)
{
	const uint8_t version = bytes < WIRE_COMMON_BYTES ? 0 : data[WIRE_OFF_VERSION_HEADER] >> 4;

	return version == WIRE_VERSION || version == WIRE_VERSION_SEALED ? 0 : version;
}

int wire_header_decode(const uint8_t *data, size_t bytes, struct wire_header *header)
{
	struct wire_header h = {0};

	if (bytes < WIRE_COMMON_BYTES || data[WIRE_OFF_VERSION_HEADER] >> 4 != WIRE_VERSION)
		return DXP_EMALFORMED;
	common_decode(data, &h);
	h.header_bytes = (uint8_t)((data[WIRE_OFF_VERSION_HEADER] & 0xf) * 8);
	if (!wire_type_known(h.type) || (h.flags & ~WIRE_FLAGS_KNOWN) ||
	    h.header_bytes < WIRE_COMMON_BYTES ||
	    h.header_bytes != header_bytes_expected(h.type, h.flags) ||
	    bytes != (size_t)h.header_bytes + h.payload_bytes)
		return DXP_EMALFORMED;
	if (h.header_bytes >= WIRE_DATA_BYTES)
		extension_decode(data, &h);
	if (!crc_good(data, &h))
		return DXP_EIO;
	*header = h;
	return DXP_OK;
}
