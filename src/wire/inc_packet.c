/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of in-network computing: MPI header inside RoCEv2. */
#include "wire/inc.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

const char *inc_kind_text(unsigned kind)
{
#define TEXT_OF(name, value, text) [value] = (text),
	static const char *const texts[] = {INC_KIND_LIST(TEXT_OF)};
#undef TEXT_OF

	return kind < sizeof(texts) / sizeof(texts[0]) && texts[kind] ? texts[kind] : "unknown";
}

void inc_message_encode(const struct inc_header *h, uint8_t out[INC_HEADER_BYTES])
{
	put_be32(out + INC_OFF_TAG, INC_TAG);
	put_be32(out + INC_OFF_SRC_RANK, h->src_rank);
	put_be32(out + INC_OFF_COMM_ID, h->comm_id);
	put_be16(out + INC_OFF_EPOCH, h->epoch);
	out[INC_OFF_OP_CODE] = h->op;
	out[INC_OFF_OPER_AND_TYPE] = h->type;
	put_be32(out + INC_OFF_REQ_ID, h->req_id);
	put_be32(out + INC_OFF_CALL_ELEMENTS, h->call_elements);
	put_be16(out + INC_OFF_PKT_PARA_NUM, h->elements);
	put_be16(out + INC_OFF_ROOT, h->root);
	out[INC_OFF_KIND] = h->kind;
	out[INC_OFF_FLAGS] = h->flags & ~INC_FLAG_COMPAT & 0xff;
	out[INC_OFF_STATUS] = h->status;
	out[INC_OFF_COLLECTIVE] = h->collective;
}

static struct inc_header header_get(const uint8_t *in)
{
	return (struct inc_header){
		.src_rank = get_be32(in + INC_OFF_SRC_RANK),
		.comm_id = get_be32(in + INC_OFF_COMM_ID),
		.epoch = get_be16(in + INC_OFF_EPOCH),
		.op = in[INC_OFF_OP_CODE],
		.type = in[INC_OFF_OPER_AND_TYPE],
		.req_id = get_be32(in + INC_OFF_REQ_ID),
		.call_elements = get_be32(in + INC_OFF_CALL_ELEMENTS),
		.elements = get_be16(in + INC_OFF_PKT_PARA_NUM),
		.root = get_be16(in + INC_OFF_ROOT),
		.kind = in[INC_OFF_KIND],
		.flags = in[INC_OFF_FLAGS],
		.status = in[INC_OFF_STATUS],
		.collective = in[INC_OFF_COLLECTIVE],
	};
}

/* A packet with a status, or a contribution to a broadcast, may lack data. */
static bool data_sound(const struct inc_header *h, size_t payload_bytes)
{
	bool computes = h->collective == INC_ALLREDUCE || h->collective == INC_REDUCE;
	bool may_be_empty =
		h->status || (h->collective == INC_BROADCAST && !(h->flags & INC_FLAG_RESULT));

	if (h->collective < INC_ALLREDUCE || h->collective > INC_BARRIER ||
	    (computes && !dxp_inc_defined(h->op, h->type)))
		return false;
	if (h->flags & INC_FLAG_SHORT && payload_bytes > INC_SHORT_BYTES)
		return false;
	return payload_bytes == h->elements * dxp_inc_type_bytes(h->type) ||
	       (payload_bytes == 0 && may_be_empty);
}

static bool header_sound(const struct inc_header *h, size_t payload_bytes)
{
	bool control = h->comm_id == INC_COMM_CONTROL;

	if (h->flags & ~INC_FLAGS_KNOWN || h->op >= DXP_INC_OPS || h->type >= DXP_INC_TYPES)
		return false;
	switch (h->kind) {
	case INC_DATA:
	case INC_FETCHED: return !control && data_sound(h, payload_bytes);
	case INC_QUERY:
	case INC_NOTIFY:
	case INC_NOTIFIED:
	case INC_KILL:
	case INC_RENEW: return control;
	case INC_FREEZE:
	case INC_FROZEN:
		return !control && payload_bytes >= INC_PEER_BYTES &&
		       payload_bytes <= INC_PEER_BYTES_MAX;
	case INC_FETCH:
	case INC_AWAIT:
	case INC_AWAITED: return !control && payload_bytes == INC_PEER_BYTES;
	case INC_REFUSED: return payload_bytes == 0;
	case INC_INQUIRE:
	case INC_ANSWER: return true;
	default: return false;
	}
}

int inc_message_decode(const uint8_t *message, size_t bytes, struct inc_packet *out)
{
	struct inc_packet p = {.roce = out->roce};

	if (bytes < 4 || get_be32(message + INC_OFF_TAG) != INC_TAG)
		return DXP_ENOENT;
	if (bytes < INC_HEADER_BYTES)
		return DXP_EMALFORMED;
	p.header = header_get(message);
	p.payload = message + INC_HEADER_BYTES;
	p.payload_bytes = bytes - INC_HEADER_BYTES;
	if (!header_sound(&p.header, p.payload_bytes))
		return DXP_EMALFORMED;
	*out = p;
	return DXP_OK;
}

#define FIELD_ENUM(name, offset, bytes) OFF_CONNECT_##name = (offset),
enum inc_connect_offset { INC_CONNECT_FIELDS(FIELD_ENUM) };
#undef FIELD_ENUM

void inc_connect_encode(const struct inc_connect *c, uint8_t out[RC_CM_PRIVATE_BYTES])
{
	memset(out, 0, RC_CM_PRIVATE_BYTES);
	put_be32(out + OFF_CONNECT_TAG, INC_TAG);
	put_be32(out + OFF_CONNECT_COMM_ID, c->comm_id);
	put_be32(out + OFF_CONNECT_QKEY, c->qkey);
	put_be16(out + OFF_CONNECT_EPOCH, c->epoch);
}

int inc_connect_decode(const uint8_t in[RC_CM_PRIVATE_BYTES], struct inc_connect *out)
{
	if (get_be32(in + OFF_CONNECT_TAG) != INC_TAG)
		return DXP_EMALFORMED;
	*out = (struct inc_connect){get_be32(in + OFF_CONNECT_COMM_ID),
				    get_be32(in + OFF_CONNECT_QKEY),
				    get_be16(in + OFF_CONNECT_EPOCH)};
	return DXP_OK;
}

int inc_packet_decode(const uint8_t *data, size_t bytes, struct inc_packet *out)
{
	struct inc_packet p = {0};
	size_t inner_bytes;

	if (roce_header_decode(data, bytes, &p.roce, &inner_bytes) != DXP_OK)
		return DXP_ENOENT;
	if (p.roce.opcode == ROCE_RC_ACK) {
		if (p.roce.dest_qp != INC_QP || inner_bytes > 0)
			return DXP_ENOENT;
		*out = p;
		return DXP_OK;
	}

	const uint8_t *inner = data + roce_header_bytes(p.roce.opcode);

	if (inner_bytes >= 4 && get_be32(inner) == INC_COMPAT_TAG) {
		int status = inc_compat_decode(inner, inner_bytes, &p);

		if (status == DXP_OK)
			*out = p;
		return status;
	}
	int status = inc_message_decode(inner, inner_bytes, &p);
	if (status == DXP_OK)
		*out = p;
	return status;
}

static void trailer_put(struct datagram *d, unsigned pad_bytes, uint32_t icrc,
			uint8_t trailer[INC_TRAILER_BYTES])
{
	put_be32(trailer + pad_bytes, __builtin_bswap32(icrc));
	d->slices[d->slice_count++] =
		(struct datagram_slice){trailer, pad_bytes + (size_t)ROCE_ICRC_BYTES};
}

/* Appends pad and ICRC. */
static void seal(struct datagram *d, const struct roce_path *path, unsigned pad_bytes,
		 uint8_t trailer[INC_TRAILER_BYTES])
{
	struct roce_piece pieces[3] = {{d->header, d->header_bytes}};
	size_t count = 1;

	for (size_t i = 0; i < d->slice_count; i++)
		pieces[count++] = (struct roce_piece){d->slices[i].base, d->slices[i].bytes};
	memset(trailer, 0, pad_bytes);
	pieces[count++] = (struct roce_piece){trailer, pad_bytes};
	trailer_put(d, pad_bytes, roce_icrc(path, pieces, count), trailer);
}

/* Builds a packet without its trailer. Returns the length of the pad. */
static unsigned packet_begin(const struct inc_header *h, const struct roce_header *roce,
			     const struct roce_path *path, const void *payload,
			     size_t payload_bytes, struct datagram *d)
{
	d->to = address_v4(path->to_ip, path->to_port);
	d->ecn = 0;
	d->segment_bytes = 0;
	d->cause = DATAGRAM_CAUSE_NONE;
	d->slice_count = 0;
	d->header_bytes = (uint16_t)roce_header_encode(roce, d->header);
	if (roce->opcode == ROCE_RC_ACK) {
		assert(payload_bytes == 0);
	} else if (inc_compat_is(h)) {
		inc_compat_header_put(h, d->header + d->header_bytes);
		d->header_bytes += INC_COMPAT_HEADER_BYTES;
	} else {
		inc_message_encode(h, d->header + d->header_bytes);
		d->header_bytes += INC_HEADER_BYTES;
	}
	if (payload_bytes > 0)
		d->slices[d->slice_count++] = (struct datagram_slice){payload, payload_bytes};
	return roce->pad_bytes;
}

static struct roce_header roce_of(const struct inc_header *h, uint8_t opcode, uint32_t qkey,
				  uint32_t dest_qp, uint32_t source_qp, size_t payload_bytes)
{
	/* The packet's length is a multiple of 4, as is INC_HEADER_BYTES, so only the compatible
	 * header counts. */
	size_t bytes = payload_bytes + (inc_compat_is(h) ? INC_COMPAT_HEADER_BYTES : 0);

	return (struct roce_header){
		.opcode = opcode,
		.pad_bytes = -bytes & 3,
		.ack_request = opcode == ROCE_RC_SEND_ONLY,
		.dest_qp = dest_qp,
		.psn = h->req_id & 0xffffff,
		.qkey = qkey,
		.source_qp = source_qp,
		.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS,
		.msn = h->req_id & 0xffffff,
	};
}

void inc_packet_encode(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
		       uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
		       const void *payload, size_t payload_bytes, struct datagram *d,
		       uint8_t trailer[INC_TRAILER_BYTES])
{
	struct roce_header roce = roce_of(h, roce_opcode, qkey, dest_qp, source_qp, payload_bytes);
	unsigned pad_bytes = packet_begin(h, &roce, path, payload, payload_bytes, d);

	seal(d, path, pad_bytes, trailer);
}

bool inc_packet_alone(const struct datagram *d)
{
	size_t at = d->header[0] == ROCE_RC_SEND_ONLY ? ROCE_BTH_BYTES
						      : ROCE_BTH_BYTES + ROCE_DETH_BYTES;

	return d->header_bytes < at + INC_HEADER_BYTES ||
	       get_be32(d->header + at + INC_OFF_TAG) != INC_TAG ||
	       !(d->header[at + INC_OFF_FLAGS] & INC_FLAG_TRAIN);
}

void inc_packet_encode_summed(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
			      uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
			      const void *payload, const struct inc_sum *sum, struct datagram *d,
			      uint8_t trailer[INC_TRAILER_BYTES])
{
	size_t bytes = sum->shift->bytes;
	struct roce_header roce = roce_of(h, roce_opcode, qkey, dest_qp, source_qp, bytes);
	struct roce_piece front;

	assert(bytes > 0 && bytes % 4 == 0 && !inc_compat_is(h));
	packet_begin(h, &roce, path, payload, bytes, d);
	front = (struct roce_piece){d->header, d->header_bytes};
	trailer_put(d, 0, roce_icrc_joined(path, &front, sum->shift, sum->crc), trailer);
}
