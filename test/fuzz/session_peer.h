/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostile peer of fuzz_session: frames with a right checksum and plausible numbers from the input.
 * Define FUZZ_NAME before including. */
#ifndef TEST_FUZZ_SESSION_PEER_H
#define TEST_FUZZ_SESSION_PEER_H

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/util.h"
#include "nic/internal.h"
#include "rltp/endpoint_internal.h"
#include "test/fuzz/input.h"

#define US           1
#define PEER         2
#define REGION_BYTES 8192

struct scene {
	struct input in;
	struct nic *nic;
	struct rng secrets;
	uint64_t now_ns;
	uint32_t keys[2]; /* peers may access only the first region */
	uint32_t posted, completed;
	uint32_t epoch;
	uint64_t incarnation;
};

static struct dxp_window window; /* window of the user */

static inline struct rltp_session *session_of(struct scene *s)
{
	return rltp_endpoint_session(nic_endpoint(s->nic), PEER);
}

static inline uint64_t token_of(void *context, uint32_t id)
{
	return id * 0x9e3779b97f4a7c15ull;
}

static inline void address_fill(struct udp_address *a)
{
	*a = (struct udp_address){.port = 2000,
				  .ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2}};
}

static inline void peer_introduce(struct scene *s)
{
	struct rltp_peer_info peer = {
		.node = PEER, .payload_bytes = 1408, .incarnation = s->incarnation};

	address_fill(&peer.address);
	nic_peer_set(s->nic, &peer, s->now_ns);
}

/* Seals a frame and delivers it in a block of exact size. */
static inline void frame_give(struct scene *s, struct wire_header *h, const void *body,
			      size_t bytes)
{
	uint8_t *frame = malloc(h->header_bytes + bytes);
	struct datagram_arrival arrival = {
		.data = frame, .bytes = h->header_bytes + bytes, .arrived_ns = s->now_ns};

	if (!frame)
		die("no memory");
	h->src_node = PEER;
	h->dst_node = US;
	h->flags |= WIRE_FLAG_CRCP;
	h->payload_bytes = (uint16_t)bytes;
	wire_header_encode(h, frame);
	memcpy(frame + h->header_bytes, body, bytes);
	uint32_t crc = wire_crc_begin(frame, h->header_bytes);
	wire_crc_set(frame, crc32c(crc, frame + h->header_bytes, bytes));
	address_fill(&arrival.from);
	nic_receive(s->nic, &arrival, s->now_ns);
	free(frame);
}

static inline struct wire_header header_begin_peer(struct scene *s, uint8_t type)
{
	const struct rltp_session *session = session_of(s);
	int8_t off = (int8_t)take8(&s->in);

	return (struct wire_header){
		.type = type,
		.header_bytes = wire_type_data(type) ? WIRE_DATA_BYTES : WIRE_COMMON_BYTES,
		.flags = WIRE_FLAG_ACKV,
		.dst_session = session ? session->local_id : 0,
		.tx_ts = (uint32_t)(s->now_ns / WIRE_TS_NS),
		.cum_ack = session && session->io
				   ? session->io->tx_una + (off > 0 ? (uint32_t)off : 0u)
				   : 0,
	};
}

static inline void handshake_give(struct scene *s, bool answer)
{
	const struct rltp_session *session = session_of(s);
	uint8_t body[WIRE_HELLO_BYTES], how = take8(&s->in);
	struct wire_header h = header_begin_peer(s, answer ? WIRE_HELLO_ACK : WIRE_HELLO);

	s->epoch += how & 1;
	s->incarnation += how >> 1 & 1;
	struct wire_hello hello = {
		.incarnation = s->incarnation - (how >> 2 & 1),
		.epoch = s->epoch - (how >> 3 & 1),
		.session = 0x70000 + s->epoch,
		.psn = how & 16 ? 0xfffffff0u : take32(&s->in),
		.rwnd = how & 32 ? 1 : 64,
		.payload_bytes = how & 64 ? 256 : 1408,
		.features = how & 4 ? how : WIRE_FEATURES,
		.token = 5,
		.echo_session = session ? session->local_id : 0,
		.echo_psn = session ? session->initial_psn : 0,
		.nap_credit = how & 128 ? take8(&s->in) : 4,
		.recovery = how & 128 ? take8(&s->in) % (WIRE_RECOVERY_LAST + 2) : 0,
	};
	h.flags = 0;
	wire_hello_encode(&hello, body);
	frame_give(s, &h, body, sizeof(body));
}

/* Returns a queue pair, in most cases a valid one. */
static inline uint16_t queue_pair_draw(struct scene *s)
{
	uint8_t which = take8(&s->in);

	return which < 0xf0 ? which % 4 : (uint16_t)(which << 8 | which % 8);
}

/* A small limit, one just past the wrap, or any. */
static inline uint32_t limit_draw(struct scene *s)
{
	uint8_t how = take8(&s->in);

	return how < 0xc0 ? how : how < 0xe0 ? UINT32_MAX - how : take32(&s->in);
}

static inline void ack_give(struct scene *s)
{
	uint8_t body[WIRE_ACK_BODY_BYTES + 8 * WIRE_SACK_WORDS_MAX],
		bitmap[8 * WIRE_SACK_WORDS_MAX];
	struct wire_header h = header_begin_peer(s, WIRE_ACK);
	struct wire_ack ack = {
		.echo_ts = (uint32_t)(s->now_ns / WIRE_TS_NS) - take8(&s->in) + 16,
		.echo_psn = h.cum_ack + (uint32_t)(int8_t)take8(&s->in),
		.hold = take8(&s->in),
		.sack_off = (uint16_t)(take8(&s->in) % 8 * 32),
		.sack_words = take8(&s->in) % 4,
		.dup_count = take8(&s->in),
		.bitmap = bitmap,
	};
	uint8_t how = take8(&s->in);

	for (uint32_t i = 0; i < 8u * ack.sack_words; i++)
		bitmap[i] = take8(&s->in);
	ack.rx_level = how % (WIRE_RX_LEVEL_MAX + 2);
	ack.rwnd = how & 0x40 ? how : 64;
	ack.credit = how & 0x80;
	if (ack.credit) {
		h.flags |= WIRE_FLAG_CREDIT;
		ack.credit_qp = queue_pair_draw(s);
		ack.credit_limit = limit_draw(s);
	}
	wire_ack_encode(&ack, body);
	frame_give(s, &h, body, WIRE_ACK_BODY_BYTES + 8u * ack.sack_words);
}

/* The ACK of a correct peer that received everything. */
static inline void ack_all_give(struct scene *s)
{
	const struct rltp_session *session = session_of(s);
	struct wire_header h = header_begin_peer(s, WIRE_ACK);
	uint8_t body[WIRE_ACK_BODY_BYTES];
	struct wire_ack ack = {.hold = WIRE_HOLD_NONE, .bitmap = body};

	h.cum_ack = session ? session->tx_next : 0;
	wire_ack_encode(&ack, body);
	frame_give(s, &h, body, sizeof(body));
}

static inline void nack_give(struct scene *s)
{
	struct wire_header h = header_begin_peer(s, WIRE_NACK);
	struct wire_nack_body nack = {
		.code = take8(&s->in) % 12,
		.psn = h.cum_ack + take8(&s->in) % 32,
		.retry_us = take8(&s->in),
	};
	uint8_t body[WIRE_NACK_BODY_BYTES];

	if (nack.retry_us == 255)
		nack.retry_us = UINT32_MAX;
	wire_nack_encode(&nack, body);
	frame_give(s, &h, body, sizeof(body));
}

static inline void reset_give(struct scene *s)
{
	const struct rltp_session *session = session_of(s);
	struct wire_header h = header_begin_peer(s, WIRE_RESET);
	struct wire_reset reset = {session ? session->peer_id : 0, WIRE_NACK_SESSION, 5};
	uint8_t body[WIRE_RESET_BYTES];

	wire_reset_encode(&reset, body);
	frame_give(s, &h, body, sizeof(body));
}

static inline void credit_give(struct scene *s)
{
	uint8_t body[WIRE_CREDIT_ENTRIES_MAX * WIRE_CREDIT_BYTES], how = take8(&s->in);
	struct wire_header h = header_begin_peer(s, WIRE_CREDIT);
	struct wire_credit credit = {.count = 1 + how % WIRE_CREDIT_ENTRIES_MAX};

	if (how & 0x80)
		h.flags |= WIRE_FLAG_AR;
	for (uint32_t i = 0; i < credit.count; i++) {
		credit.entries[i].qp = queue_pair_draw(s);
		credit.entries[i].limit = limit_draw(s);
	}
	wire_credit_encode(&credit, body);
	frame_give(s, &h, body, WIRE_CREDIT_BYTES * (size_t)credit.count);
}

/* Sends a control frame with a body from the input. In nearly all cases the length is right. */
static inline void control_give(struct scene *s)
{
	static const struct {
		uint8_t type, bytes;
	} kinds[] = {{WIRE_PING, WIRE_PING_BYTES},       {WIRE_PONG, WIRE_PING_BYTES},
		     {WIRE_PMTU_PROBE, WIRE_PMTU_BYTES}, {WIRE_PMTU_ACK, WIRE_PMTU_BYTES},
		     {WIRE_BYE, WIRE_BYE_BYTES},         {WIRE_COOKIE, WIRE_COOKIE_BYTES}};
	const struct rltp_session *session = session_of(s);
	uint8_t how = take8(&s->in), body[256] = {0};
	uint8_t type = kinds[how % ARRAY_COUNT(kinds)].type;
	size_t bytes = kinds[how % ARRAY_COUNT(kinds)].bytes + (how >= 0xf0);
	struct wire_header h = header_begin_peer(s, type);

	if (type == WIRE_PMTU_PROBE)
		bytes += take8(&s->in) / 2;
	for (size_t i = 0; i < 6; i++)
		body[i] = take8(&s->in);
	if (type == WIRE_PMTU_PROBE && how < 0xf0)
		put_be16(body + 4, (uint16_t)(WIRE_COMMON_BYTES + bytes));
	if (type == WIRE_COOKIE && session) {
		put_be32(body, session->local_id);
		put_be32(body + 4, session->initial_psn);
		body[8 + how % 8] = how;
	}
	if (type == WIRE_BYE && how & 0x40 && session)
		put_be64(body, token_of(NULL, session->local_id));
	frame_give(s, &h, body, bytes);
}

/* A length or offset near an edge value. */
static inline uint64_t number_draw(struct scene *s)
{
	static const uint64_t near[] = {
		0,         0,          8, 64,        256, 1408, NIC_NAP_BYTES_MAX, REGION_BYTES,
		INT32_MAX, 1ull << 32, 0, 1ull << 34};
	uint8_t which = take8(&s->in);

	return near[which % ARRAY_COUNT(near)] +
	       (uint64_t)(int64_t)(int8_t)take8(&s->in) * (which & 0x80 ? 64 : 1);
}

static inline size_t body_fill(struct scene *s, uint8_t type, uint8_t *body)
{
	static const uint16_t sizes[] = {0, 1, 4, 8, 100, 256, 640, 1024, 1408, 2100};
	size_t bytes = sizes[take8(&s->in) % ARRAY_COUNT(sizes)];
	uint8_t how = take8(&s->in);

	memset(body, how, bytes);
	if (type == WIRE_GET_REQ && how % 8 != 7) {
		struct wire_get get = {.reply_msg_id = how, .bytes = number_draw(s)};
		wire_get_encode(&get, body);
		return WIRE_GET_BYTES;
	}
	if (type == WIRE_ATOMIC && how % 8 != 7) {
		struct wire_atomic atomic = {(uint8_t)(DXP_OP_FETCH_ADD - 1 + how % 9), how, how,
					     take8(&s->in)};
		wire_atomic_encode(&atomic, body);
		return WIRE_ATOMIC_BYTES;
	}
	if (type == WIRE_CFG_RD && how % 8 != 7) {
		put_be32(body, how);
		return 4;
	}
	return bytes;
}

static inline uint32_t message_id(struct scene *s, uint32_t function, uint32_t qp, uint8_t type)
{
	const struct nic_peer *p = nic_peer_find(s->nic, PEER);
	uint8_t how = take8(&s->in);
	uint32_t index = nic_stream_index((uint8_t)function, (uint16_t)qp);

	if (!p || !p->work)
		return how;
	if (type == WIRE_GET_RSP || type == WIRE_ATOMIC_RSP || type == WIRE_CFG_RD_RSP ||
	    type == WIRE_CFG_WR_RSP)
		return p->work->reads ? p->work->reads[how % NIC_READS_MAX].id : how;
	return (index < NIC_STREAMS && p->work->rx[index] ? p->work->rx[index]->next : 0) +
	       (how & 0x80 ? how : how % 4);
}

/* Bits as on the wire; 64 adds a trailer. */
static inline void flags_set(struct wire_header *h, uint8_t flags)
{
	const uint16_t end = WIRE_FLAG_LAST | WIRE_FLAG_SOL;

	h->flags |= flags & (WIRE_FLAG_FIRST | WIRE_FLAG_LAST | WIRE_FLAG_SOL | WIRE_FLAG_AR |
			     WIRE_FLAG_IMM);
	if (h->flags & WIRE_FLAG_IMM)
		h->header_bytes += WIRE_IMM_BYTES;
	if (flags & 64 && (h->flags & end) == end && (h->type == WIRE_NAP || h->type == WIRE_PUT)) {
		h->flags |= WIRE_FLAG_TRAILER;
		h->header_bytes += WIRE_TRAILER_BYTES;
	}
}

/* `type` 0: the input selects. */
static inline void data_give(struct scene *s, uint8_t type)
{
	static const uint8_t types[] = {WIRE_NAP,        WIRE_PUT,    WIRE_GET_REQ, WIRE_CFG_RD,
					WIRE_CFG_WR,     WIRE_RESYNC, WIRE_GET_RSP, WIRE_CFG_RD_RSP,
					WIRE_CFG_WR_RSP, WIRE_NAP,    WIRE_PUT};
	uint8_t body[4096], how = take8(&s->in), flags = take8(&s->in);
	const struct rltp_session *session = session_of(s);
	struct wire_header h = header_begin_peer(s, type ? type : types[how % ARRAY_COUNT(types)]);
	size_t bytes = body_fill(s, h.type, body);

	h.psn = (session && session->io ? session->io->rx.cum : 0) +
		(uint32_t)(int8_t)take8(&s->in) % 64;
	flags_set(&h, flags);
	h.dst_qp = flags & 2 ? 1 : 0;
	h.dst_function = how & 0x80 ? take8(&s->in) : 0;
	h.qp_magic = window.qp_magic[h.dst_qp] ^ (how & 0x40 && flags & 2);
	h.msg_id = message_id(s, h.dst_function, h.dst_qp, h.type);
	h.sub = take8(&s->in) & 0x80   ? take32(&s->in)
		: s->in.at < s->in.end ? s->in.at[0] & 3u
				       : 0u;
	h.msg_bytes = how & 0x20 ? (uint32_t)number_draw(s) : (uint32_t)bytes;
	h.addr = number_draw(s);
	h.key = flags & 4 ? take32(&s->in) : s->keys[0];
	frame_give(s, &h, body, bytes);
}

#endif
