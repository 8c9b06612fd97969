/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a packet of each kind of in-network computing, several types, RC framing, and a damaged
 * packet. */
#include <string.h>

#include "base/util.h"
#include "test/golden/capture.h"
#include "wire/inc.h"

#define QKEY  0x51525354
#define GROUP 0x0badcafe

#define COMPAT_GROUP 0xbeef

static const struct roce_path path = {0x0a000001, 0x0a000002, ROCE_SOURCE_PORT, ROCE_PORT};

static size_t gather(const struct datagram *d, uint8_t *out)
{
	size_t bytes = d->header_bytes;

	memcpy(out, d->header, bytes);
	for (size_t i = 0; i < d->slice_count; i++) {
		memcpy(out + bytes, d->slices[i].base, d->slices[i].bytes);
		bytes += d->slices[i].bytes;
	}
	return bytes;
}

static void packet(struct capture *c, const struct inc_header *h, uint8_t opcode,
		   const void *payload, size_t payload_bytes)
{
	uint8_t trailer[INC_TRAILER_BYTES], frame[2048];
	bool control = h->comm_id == INC_COMM_CONTROL;
	struct datagram d;

	inc_packet_encode(h, opcode, control ? INC_CONTROL_QKEY : QKEY, INC_QP, INC_QP, &path,
			  payload, payload_bytes, &d, trailer);
	capture_frame(c, frame, gather(&d, frame), ROCE_PORT);
}

static struct inc_header header_of(uint8_t kind)
{
	bool control = kind >= INC_QUERY && kind <= INC_RENEW;

	return (struct inc_header){
		.kind = kind,
		.comm_id = control || kind >= INC_INQUIRE ? INC_COMM_CONTROL : GROUP,
		.epoch = 2,
		.src_rank = 3,
		.req_id = 0x01000005,
	};
}

static void data(struct capture *c, enum dxp_inc_op op, enum dxp_inc_type type,
		 const void *elements, uint16_t count, uint8_t opcode)
{
	struct inc_header h = header_of(INC_DATA);

	h.op = op;
	h.type = type;
	h.elements = count;
	h.call_elements = count;
	h.flags = INC_FLAG_SHORT | INC_FLAG_LAST;
	h.collective = INC_ALLREDUCE;
	packet(c, &h, opcode, elements, count * dxp_inc_type_bytes(type));
}

static void segments(struct capture *c)
{
	static const double doubles[] = {0.5, -2, 1e300};
	static const float floats[] = {0.25f};
	static const int8_t bytes[] = {-1, 2, 3, 4, 5};
	static const uint64_t longs[] = {UINT64_MAX};
	static const uint16_t halves[] = {0x3c00, 0xc000};
	static const uint8_t pair[16] = {7, [8] = 9};
	struct inc_header h = header_of(INC_DATA);

	data(c, DXP_INC_SUM, DXP_INC_DOUBLE, doubles, 3, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_MAX, DXP_INC_FLOAT, floats, 1, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_PROD, DXP_INC_INT8, bytes, 5, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_BXOR, DXP_INC_UINT64, longs, 1, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_MIN, DXP_INC_FP16, halves, 2, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_MAXLOC, DXP_INC_INT64_INT, pair, 1, ROCE_UD_SEND_ONLY);
	data(c, DXP_INC_SUM, DXP_INC_FLOAT, floats, 1, ROCE_RC_SEND_ONLY);
	packet(c, &h, ROCE_RC_ACK, NULL, 0);
	/* members disagree; then a barrier's result */
	h.op = DXP_INC_SUM;
	h.type = DXP_INC_DOUBLE;
	h.elements = 3;
	h.status = 5;
	h.flags = INC_FLAG_RESULT | INC_FLAG_REPEAT;
	h.collective = INC_REDUCE;
	h.root = 1;
	packet(c, &h, ROCE_UD_SEND_ONLY, NULL, 0);
	h = header_of(INC_DATA);
	h.flags = INC_FLAG_SWITCH | INC_FLAG_SHORT | INC_FLAG_LAST;
	h.collective = INC_BARRIER;
	packet(c, &h, ROCE_UD_SEND_ONLY, NULL, 0);
	h = header_of(INC_REFUSED);
	h.status = 7;
	packet(c, &h, ROCE_UD_SEND_ONLY, NULL, 0);
	h = header_of(INC_FETCHED);
	h.op = DXP_INC_SUM;
	h.type = DXP_INC_INT32;
	h.elements = 1;
	h.flags = INC_FLAG_RESULT;
	h.collective = INC_ALLREDUCE;
	packet(c, &h, ROCE_UD_SEND_ONLY, "\x01\x02\x03", 4);
}

static void control(struct capture *c)
{
	struct inc_control control = {
		.master_num = DXP_INC_SOCKET,
		.hop = 2,
		.sup_comm_type = 0x1e,
		.fail_cause = INC_CAUSE_MEMORY,
		.sup_op = 0x1ffe,
		.sup_type = 0x1ffff,
		.segment_bytes = 1408,
		.window = 64,
		.planes = INC_PLANE_USER | INC_PLANE_KERNEL,
		.path_count = 2,
		.members = 9,
		.true_comm_id = GROUP,
		.qkey = QKEY,
		.free_groups = 255,
		.lease_ms = 30000,
		.job_id = 0x1122334455667788,
		.c_id = 4,
		.world_rank = 6,
		.member_ip = 0x0a000001,
		.first_ip = 0x0a000003,
		.member_port = ROCE_SOURCE_PORT,
		.first_port = ROCE_SOURCE_PORT + 1,
		.cause_ip = 0x0a0000f1,
		.path = {{0x0a0000f1, 3, 2}, {0x0a0000fe, 3, 0}},
	};
	uint8_t payload[INC_CONTROL_BYTES_MAX];

	for (uint8_t kind = INC_QUERY; kind <= INC_RENEW; kind++) {
		struct inc_header h = header_of(kind);

		h.status = kind == INC_NOTIFIED ? 6 : 0;
		packet(c, &h, ROCE_UD_SEND_ONLY, payload, inc_control_encode(&control, payload));
	}
}

/* Writes data and control packets in the compatible format. */
static void compatible(struct capture *c)
{
	static const double doubles[] = {0.5, -2};
	const struct inc_control control = {
		.sup_mpi_type = 7,
		.master_num = DXP_INC_SOCKET,
		.hop = 1,
		.sup_comm_type = 1 << INC_ALLREDUCE,
		.sup_op = 0x1ffe,
		.sup_type = 0xffff,
		.segment_bytes = 256,
		.window = 1,
		.planes = INC_PLANE_USER,
		.path_count = 1,
		.members = 9,
		.true_comm_id = COMPAT_GROUP,
		.qkey = QKEY,
		.free_groups = 255,
		.lease_ms = 30000,
		.member_ip = 0x0a000001,
		.first_ip = 0x0a000003,
		.member_port = ROCE_SOURCE_PORT,
		.first_port = ROCE_SOURCE_PORT + 1,
		.path = {{0x0a0000f1, 3, 2}},
	};
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	struct inc_header h = header_of(INC_DATA);

	h.comm_id = COMPAT_GROUP;
	h.op = DXP_INC_SUM;
	h.type = DXP_INC_DOUBLE;
	h.elements = 2;
	h.flags = INC_FLAG_COMPAT;
	packet(c, &h, ROCE_UD_SEND_ONLY, doubles, sizeof(doubles));
	for (uint8_t kind = INC_QUERY; kind <= INC_NOTIFY; kind++) {
		h = header_of(kind);
		h.flags = INC_FLAG_COMPAT;
		h.req_id = 0;
		packet(c, &h, ROCE_UD_SEND_ONLY, payload,
		       inc_packet_control_encode(&h, &control, payload));
	}
}

static void peers(struct capture *c)
{
	static const uint8_t kinds[] = {INC_FREEZE, INC_FROZEN, INC_FETCH, INC_AWAIT, INC_AWAITED};
	struct inc_peer peer = {3, 0x01000006};
	uint8_t payload[INC_PEER_BYTES];

	inc_peer_encode(&peer, payload);
	for (size_t i = 0; i < sizeof(kinds); i++) {
		struct inc_header h = header_of(kinds[i]);

		h.comm_id = GROUP;
		packet(c, &h, ROCE_UD_SEND_ONLY, payload, sizeof(payload));
	}
}

static void answer(struct capture *c, const struct inc_answer *a)
{
	struct inc_header h = header_of(INC_ANSWER);
	uint8_t payload[INC_ANSWER_BYTES_MAX];

	packet(c, &h, ROCE_UD_SEND_ONLY, payload, inc_answer_encode(a, payload));
}

static void answers(struct capture *c)
{
	struct inc_header h = header_of(INC_INQUIRE);
	struct inc_inquiry inquiry = {INC_SECTION_GROUPS, 13};
	struct inc_answer self = {.section = INC_SECTION_SWITCH, .total = 1, .count = 1};
	struct inc_answer groups = {.section = INC_SECTION_GROUPS, .total = 15, .first = 13};
	struct inc_answer refusals = {.section = INC_SECTION_REFUSALS, .total = 1, .count = 1};
	uint8_t payload[INC_INQUIRY_BYTES];

	packet(c, &h, ROCE_UD_SEND_ONLY, payload, inc_inquiry_encode(&inquiry, payload));
	self.self = (struct inc_switch_row){
		.name = "tor-1",
		.ip = 0x0a0000f1,
		.planes = INC_PLANE_USER,
		.parent_count = 1,
		.parents = {0x0a0000fe},
		.groups = 2,
		.groups_max = 256,
		.uptime_ms = 60000,
		.memory_bytes = 1 << 20,
		.memory_max = 256 << 20,
		.received = 1000,
		.expired = 1,
		.forwarded_queued = 7,
		.computed_queued = 8,
		.computed_first = 5,
		.forwarded_dropped = 9,
	};
	answer(c, &self);
	groups.count = 2;
	groups.groups[0] = (struct inc_group_row){
		.id = GROUP, .members = 9, .children = 3, .children_here = 3, .epoch = 2};
	groups.groups[1] = (struct inc_group_row){
		.id = 1, .members = 4, .slots = 128, .slots_busy = 5, .mismatches = 1};
	answer(c, &groups);
	refusals.refusals[0] = (struct inc_refusal_row){
		.cause = INC_CAUSE_GROUPS, .count = 4, .last_ms_ago = 12, .last_ip = 0x0a000001};
	answer(c, &refusals);
}

/* One wrong bit in the ICRC. */
static void damaged(struct capture *c)
{
	struct inc_header h = header_of(INC_REFUSED);
	uint8_t trailer[INC_TRAILER_BYTES], frame[2048];
	struct datagram d;

	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, QKEY, INC_QP, INC_QP, &path, NULL, 0, &d, trailer);
	size_t bytes = gather(&d, frame);
	frame[bytes - 1] ^= 1;
	capture_frame(c, frame, bytes, ROCE_PORT);
}

void inc_write(const char *folder)
{
	struct capture c;

	capture_open(&c, folder, "inc.pcapng");
	c.from_port = ROCE_SOURCE_PORT;
	c.dont_fragment = true;
	segments(&c);
	control(&c);
	compatible(&c);
	peers(&c);
	answers(&c);
	damaged(&c);
	capture_close(&c);
}
