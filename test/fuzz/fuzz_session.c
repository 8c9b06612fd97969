/* SPDX-License-Identifier: BSD-3-Clause */
/* One NIC against a hostile peer that holds an open session: the input says what the peer sends
 * (frames with a right checksum and numbers that are plausible, so that they are looked at), what
 * the user posts and how time goes by. After every step the accounts must agree and nothing outside
 * the regions may have changed; at the end the peer falls silent, and every operation must have
 * ended exactly once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "nic/internal.h"
#include "nic/user.h"
#include "rltp/endpoint_internal.h"
#include "test/fuzz/fuzz.h"
#include "test/support/invariants.h"

#define US             1
#define PEER           2
#define CANARY         0xC7
#define GUARD          9000 /* bytes around each region: more than one packet carries */
#define REGION_BYTES   8192
#define WINDOW_PACKETS 32
#define STEPS_MAX      400
#define BATCH          16
#define SILENCE_NS     (600 * S_NS)
#define TURNS_MAX      40000 /* of the loop while the peer is silent; one that spins takes more */

struct input {
	const uint8_t *at, *end;
};

struct scene {
	struct input in;
	struct nic *nic;
	struct rng secrets;
	uint64_t now_ns;
	uint32_t keys[2]; /* writable and readable; local only */
	uint32_t posted, completed;
	uint32_t epoch;
	uint64_t incarnation;
};

static struct dxp_window window;
static _Alignas(8) uint8_t memory[2][GUARD + REGION_BYTES + GUARD];

static uint8_t take8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint32_t take32(struct input *in)
{
	uint32_t value = take8(in);

	for (int i = 0; i < 3; i++)
		value = value << 8 | take8(in);
	return value;
}

static void die(const char *what)
{
	fprintf(stderr, "fuzz_session: %s\n", what);
	abort();
}

static struct rltp_session *session_of(struct scene *s)
{
	return rltp_endpoint_session(nic_endpoint(s->nic), PEER);
}

static uint64_t token_of(void *context, uint32_t id)
{
	return id * 0x9e3779b97f4a7c15ull;
}

static uint8_t cfg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	memset(values, 0x11, 4 * count);
	return first > 1000 ? WIRE_NACK_BOUNDS : 0;
}

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	return first > 1000 ? WIRE_NACK_BOUNDS : 0;
}

/* ---- what the peer sends ---- */

static void address_fill(struct wire_address *a)
{
	*a = (struct wire_address){.port = 2000,
				   .ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2}};
}

static void peer_introduce(struct scene *s)
{
	struct rltp_peer_info peer = {
		.node = PEER, .payload_bytes = 1408, .incarnation = s->incarnation};

	address_fill(&peer.address);
	nic_peer_set(s->nic, &peer, s->now_ns);
}

/* Seals header and body and hands them over in a block of exactly their size. */
static void frame_give(struct scene *s, struct wire_header *h, const void *body, size_t bytes)
{
	uint8_t *frame = malloc(h->header_bytes + bytes);
	struct link_arrival arrival = {
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

static struct wire_header header_begin_peer(struct scene *s, uint8_t type)
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

static void greeting_give(struct scene *s, bool answer)
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

/* Mostly one that is; sometimes one that cannot be. */
static uint16_t queue_pair_take(struct scene *s)
{
	uint8_t which = take8(&s->in);

	return which < 0xf0 ? which % 4 : (uint16_t)(which << 8 | which % 8);
}

/* Small limits, those just behind the wrap, and any. */
static uint32_t limit_take(struct scene *s)
{
	uint8_t how = take8(&s->in);

	return how < 0xc0 ? how : how < 0xe0 ? UINT32_MAX - how : take32(&s->in);
}

static void ack_give(struct scene *s)
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
		ack.credit_qp = queue_pair_take(s);
		ack.credit_limit = limit_take(s);
	}
	wire_ack_encode(&ack, body);
	frame_give(s, &h, body, WIRE_ACK_BODY_BYTES + 8u * ack.sack_words);
}

/* What an honest peer says when all has arrived. */
static void ack_all_give(struct scene *s)
{
	const struct rltp_session *session = session_of(s);
	struct wire_header h = header_begin_peer(s, WIRE_ACK);
	uint8_t body[WIRE_ACK_BODY_BYTES];
	struct wire_ack ack = {.hold = WIRE_HOLD_NONE, .bitmap = body};

	h.cum_ack = session ? session->tx_next : 0;
	wire_ack_encode(&ack, body);
	frame_give(s, &h, body, sizeof(body));
}

static void nack_give(struct scene *s)
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

static void reset_give(struct scene *s)
{
	const struct rltp_session *session = session_of(s);
	struct wire_header h = header_begin_peer(s, WIRE_RESET);
	struct wire_reset reset = {session ? session->peer_id : 0, WIRE_NACK_SESSION, 5};
	uint8_t body[WIRE_RESET_BYTES];

	wire_reset_encode(&reset, body);
	frame_give(s, &h, body, sizeof(body));
}

static void credit_give(struct scene *s)
{
	uint8_t body[WIRE_CREDIT_ENTRIES_MAX * WIRE_CREDIT_BYTES], how = take8(&s->in);
	struct wire_header h = header_begin_peer(s, WIRE_CREDIT);
	struct wire_credit credit = {.count = 1 + how % WIRE_CREDIT_ENTRIES_MAX};

	if (how & 0x80)
		h.flags |= WIRE_FLAG_AR;
	for (uint32_t i = 0; i < credit.count; i++) {
		credit.entries[i].qp = queue_pair_take(s);
		credit.entries[i].limit = limit_take(s);
	}
	wire_credit_encode(&credit, body);
	frame_give(s, &h, body, WIRE_CREDIT_BYTES * (size_t)credit.count);
}

/* Control frames of a body that the input gives; nearly always the right length. */
static void control_give(struct scene *s)
{
	static const struct {
		uint8_t type, bytes;
	} kinds[] = {{WIRE_PING, WIRE_PING_BYTES},
		     {WIRE_PONG, WIRE_PING_BYTES},
		     {WIRE_PMTU_PROBE, WIRE_PMTU_BYTES},
		     {WIRE_PMTU_ACK, WIRE_PMTU_BYTES},
		     {WIRE_BYE, WIRE_BYE_BYTES}};
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
	if (type == WIRE_BYE && how & 0x40 && session)
		put_be64(body, token_of(NULL, session->local_id));
	frame_give(s, &h, body, bytes);
}

/* A length or an offset in one of its interesting neighbourhoods. */
static uint64_t number_take(struct scene *s)
{
	static const uint64_t near[] = {
		0,         0,          8, 64,        256, 1408, NIC_NAP_BYTES_MAX, REGION_BYTES,
		INT32_MAX, 1ull << 32, 0, 1ull << 34};
	uint8_t which = take8(&s->in);

	return near[which % ARRAY_COUNT(near)] +
	       (uint64_t)(int64_t)(int8_t)take8(&s->in) * (which & 0x80 ? 64 : 1);
}

static size_t body_fill(struct scene *s, uint8_t type, uint8_t *body)
{
	static const uint16_t sizes[] = {0, 1, 4, 8, 100, 256, 640, 1024, 1408, 2100};
	size_t bytes = sizes[take8(&s->in) % ARRAY_COUNT(sizes)];
	uint8_t how = take8(&s->in);

	memset(body, how, bytes);
	if (type == WIRE_GET_REQ && how % 8 != 7) {
		struct wire_get get = {.reply_msg_id = how, .bytes = number_take(s)};
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

static uint32_t message_id(struct scene *s, uint32_t function, uint32_t qp, uint8_t type)
{
	const struct nic_peer *p = peer_find(s->nic, PEER);
	uint8_t how = take8(&s->in);
	uint32_t index = stream_index((uint8_t)function, (uint16_t)qp);

	if (!p || !p->work)
		return how;
	if (type == WIRE_GET_RSP || type == WIRE_ATOMIC_RSP || type == WIRE_CFG_RD_RSP ||
	    type == WIRE_CFG_WR_RSP)
		return p->work->reads ? p->work->reads[how % NIC_READS_MAX].id : how;
	return (index < NIC_STREAMS && p->work->rx[index] ? p->work->rx[index]->next : 0) +
	       (how & 0x80 ? how : how % 4);
}

/* The bits of the wire, and 64 for a trailer. */
static void flags_set(struct wire_header *h, uint8_t flags)
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

/* A `type` of 0: the input says which. */
static void data_give(struct scene *s, uint8_t type)
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
	h.msg_bytes = how & 0x20 ? (uint32_t)number_take(s) : (uint32_t)bytes;
	h.addr = number_take(s);
	h.key = flags & 4 ? take32(&s->in) : s->keys[0];
	frame_give(s, &h, body, bytes);
}

/* ---- what the user does ---- */

static void entry_take(struct scene *s, struct dxp_entry *e, uint32_t key)
{
	*e = (struct dxp_entry){take8(&s->in), 1 + take8(&s->in) * 16u, key};
}

static void lists_post(struct scene *s, bool put, uint8_t qp, const struct dxp_target *to)
{
	struct dxp_entry local[3], remote[3];
	uint16_t count = 1 + take8(&s->in) % 3;

	for (uint16_t i = 0; i < count; i++) {
		entry_take(s, &local[i], s->keys[1]);
		remote[i] = local[i];
	}
	struct nic_lists lists = {local, remote, count, count};
	int status = put ? nic_user_put(&window, qp, to, &lists, s->posted)
			 : nic_user_get(&window, qp, to, &lists, s->posted);
	s->posted += status == DXP_OK;
}

static void user_posts(struct scene *s)
{
	uint8_t how = take8(&s->in), qp = how >> 6, data[300] = {how};
	struct dxp_target to = {.node = PEER, .magic = 1, .qp = how >> 4 & 3};
	struct dxp_entry local = {0, 4u + 4u * (how & 15), s->keys[1]};
	uint32_t values[16] = {how};
	int status = DXP_EAGAIN;

	switch (take8(&s->in) % 5) {
	case 0: status = dxp_post_nap(&window, qp, &to, data, sizeof(data), how, s->posted); break;
	case 1: lists_post(s, true, qp, &to); break;
	case 2: lists_post(s, false, qp, &to); break;
	case 3: status = nic_user_cfg_read(&window, qp, &to, how, &local, s->posted); break;
	default:
		status = nic_user_cfg_write(&window, qp, &to, how, values, 1 + how % 16, s->posted);
	}
	s->posted += status == DXP_OK;
}

static void user_posts_atomic(struct scene *s)
{
	uint8_t how = take8(&s->in);
	struct dxp_target to = {.node = PEER, .magic = 1, .qp = how >> 4 & 3};
	struct dxp_descriptor d =
		dxp_head((uint8_t)(DXP_OP_FETCH_ADD + how % 8), how >> 6, &to, s->posted);
	struct dxp_entry entries[2] = {{how, 8, s->keys[1]}, {8u * how, 8, s->keys[0]}};

	d.dst_count = 1;
	d.src_count = how & 1;
	d.imm = how;
	int status = dxp_post(&window, &d, d.src_count ? entries : entries + 1, NULL);
	s->posted += status == DXP_OK;
}

static void user_takes(struct scene *s)
{
	struct dxp_nic_event event;
	const uint8_t *data;

	while (dxp_sent_take(&window, &event)) {
		s->completed++;
		if (s->completed > s->posted)
			die("more completions than operations");
	}
	while (nic_user_received_peek(&window, &data))
		dxp_received_release(&window);
}

/* ---- time ---- */

static void datagrams_touch(const struct link_datagram *d, size_t count)
{
	volatile uint8_t sum = 0;

	for (; count > 0; d++, count--)
		for (int i = 0; i < d->slice_count; i++)
			sum = (uint8_t)(sum + crc32c(0, d->slices[i].base, d->slices[i].bytes));
}

/* As a node does: turn until nothing is sent. */
static void turn(struct scene *s)
{
	static struct link_datagram batch[BATCH];
	size_t count, rounds = 0;

	do {
		nic_doorbells(s->nic, s->now_ns);
		count = nic_send(s->nic, batch, BATCH, s->now_ns);
		datagrams_touch(batch, count);
		if (rounds++ > 1000)
			die("sends for ever at one instant");
	} while (count > 0);
}

static void step(struct scene *s)
{
	switch (take8(&s->in) % 20) {
	case 0: greeting_give(s, false); break;
	case 1: greeting_give(s, true); break;
	case 2: ack_give(s); break;
	case 3: ack_all_give(s); break;
	case 4: nack_give(s); break;
	case 5: reset_give(s); break;
	case 6:
	case 7:
	case 8:
	case 9: data_give(s, 0); break;
	case 10:
	case 11: user_posts(s); break;
	case 12: user_takes(s); break;
	case 13: s->now_ns += (uint64_t)take8(&s->in) << take8(&s->in) % 24; break;
	case 14:
		if (take8(&s->in) % 4 == 0)
			nic_peer_lost(s->nic, PEER, DXP_EPEERLOST);
		peer_introduce(s);
		break;
	case 16: credit_give(s); break;
	case 17: control_give(s); break;
	case 18: data_give(s, take8(&s->in) & 1 ? WIRE_ATOMIC : WIRE_ATOMIC_RSP); break;
	case 19: user_posts_atomic(s); break;
	default: turn(s);
	}
}

static void guards_check(void)
{
	for (int r = 0; r < 2; r++)
		for (int i = 0; i < GUARD; i++)
			if (memory[r][i] != CANARY || memory[r][GUARD + REGION_BYTES + i] != CANARY)
				die("a byte outside the regions was written");
}

static void scene_open(struct scene *s, const uint8_t *data, size_t bytes)
{
	static const struct nic_cfg_ops cfg = {cfg_read, cfg_write};
	struct nic_options options = {
		.node = US,
		.incarnation = 1,
		.window_packets = WINDOW_PACKETS,
		.entropy = entropy_rng,
		.entropy_context = &s->secrets,
		.token = token_of,
		.cfg = &cfg,
	};

	*s = (struct scene){
		.in = {data, data + bytes}, .now_ns = S_NS, .incarnation = 3, .epoch = 1};
	s->secrets.state = take8(&s->in);
	memset(&window, 0, offsetof(struct dxp_window, nap));
	for (int i = 0; i < DXP_DOORBELLS; i++)
		window.slots[i].head.lap = 0;
	memset(memory, CANARY, sizeof(memory));
	if (nic_create(&options, &s->nic) != DXP_OK ||
	    nic_function_open(s->nic, 0, &window) != DXP_OK)
		die("no memory");
	nic_region_register(s->nic, 0, memory[0] + GUARD, REGION_BYTES,
			    NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &s->keys[0]);
	nic_region_register(s->nic, 0, memory[1] + GUARD, REGION_BYTES, NIC_LOCAL, &s->keys[1]);
	peer_introduce(s);
}

/* The peer says no more: whatever was asked of it must end by itself, and the loop must not spin
 * meanwhile. */
static void silence(struct scene *s)
{
	uint64_t end_ns = s->now_ns + SILENCE_NS, deadline_ns;
	uint32_t turns = 0;

	do {
		turn(s);
		user_takes(s);
		deadline_ns = nic_deadline(s->nic);
		if (deadline_ns != UINT64_MAX)
			s->now_ns = max_u64(s->now_ns, deadline_ns);
		if (turns++ > TURNS_MAX)
			die("the deadline is now for ever");
	} while (deadline_ns < end_ns || nic_doorbell_ready(s->nic));
	if (s->completed != s->posted)
		die("an operation never ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct scene s;

	scene_open(&s, data, bytes);
	for (int i = 0; i < STEPS_MAX && s.in.at < s.in.end; i++) {
		step(&s);
		const char *broken = invariants_broken(s.nic);
		if (broken)
			die(broken);
	}
	silence(&s);
	guards_check();
	nic_peer_lost(s.nic, PEER, DXP_EPEERLOST);
	if (nic_region_deregister(s.nic, s.keys[0]) != DXP_OK ||
	    nic_region_deregister(s.nic, s.keys[1]) != DXP_OK)
		die("a region stays in use");
	nic_destroy(s.nic);
	return 0;
}
