/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a root switch with two below it, by bytes with a corrected ICRC and by plausible
 * contributions, results and control packets, under loss. Sent packets are valid, groups and memory
 * stay bounded, and reported output is sent. Finally all groups expire with their leases. */
#define FUZZ_NAME "fuzz_switch"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/input.h"
#include "test/support/switch_net.h"
#include "wire/inc_compat.h"

#define ROOT       0x0a0000f0u
#define LEAF(i)    (0x0a000001u + (i))
#define GROUPS     4 /* the last uses the compatible format */
#define GROUPS_MAX 6
#define MEMORY_MAX 200000
#define STEPS_MAX  300
#define RAW_BYTES  1600

static struct switch_net net;
static struct swnet_group groups[GROUPS];
static struct input in;

/* ---- addresses ---- */

static uint32_t address_read(void)
{
	uint8_t which = take8(&in) % 12;

	if (which < 6)
		return 0x0a000100 + which; /* address of a member */
	if (which < 8)
		return LEAF(which - 6);
	return which < 11 ? ROOT : 0x0b000001;
}

static struct roce_path path_read(void)
{
	static const uint32_t switches[] = {LEAF(0), LEAF(1), ROOT};
	uint32_t from_ip = address_read();
	uint8_t how = take8(&in);

	return (struct roce_path){from_ip, switches[how % 3],
				  how & 0x80 ? ROCE_PORT : ROCE_SOURCE_PORT + (how >> 2) % 4,
				  ROCE_PORT};
}

static const struct swnet_group *group_read(void)
{
	uint8_t which = take8(&in);

	return &groups[which >= 0xc0 ? GROUPS - 1 : which % (GROUPS - 1)];
}

/* ---- input packets ---- */

/* Sends arbitrary bytes. In most cases the ICRC is right. */
static void raw_give(void)
{
	struct roce_path path = path_read();
	uint8_t data[RAW_BYTES];
	size_t bytes = 0, wanted = take8(&in) * 6u;

	while (bytes < wanted && in.at < in.end)
		data[bytes++] = *in.at++;
	bytes &= ~(size_t)3;
	if (bytes >= ROCE_BTH_BYTES + ROCE_ICRC_BYTES && take8(&in) % 8) {
		struct roce_piece piece = {data, bytes - ROCE_ICRC_BYTES};
		uint32_t icrc = roce_icrc(&path, &piece, 1);

		memcpy(data + bytes - ROCE_ICRC_BYTES, &icrc, sizeof(icrc));
	}
	swnet_raw(&net, &path, data, bytes);
}

static struct inc_header header_read(const struct swnet_group *g)
{
	uint8_t how = take8(&in), seq = take8(&in), flags = take8(&in);
	struct inc_header h = {
		.src_rank = how % 7,
		.comm_id = g->id,
		.epoch = (uint16_t)(g->epoch + (how >> 3 == 1)),
		.op = how & 0x40 ? DXP_INC_MAX : DXP_INC_SUM,
		.type = how & 0x80 ? DXP_INC_DOUBLE : DXP_INC_INT32,
		.req_id = (uint32_t)(int32_t)(int8_t)seq,
		.kind = INC_DATA,
		.flags = (flags & (INC_FLAG_RESULT | INC_FLAG_SWITCH | INC_FLAG_REPEAT)) |
			 (g->compat ? INC_FLAG_COMPAT : 0),
		.collective = INC_ALLREDUCE,
	};

	if (flags >> 6 == 1)
		h.collective = INC_ALLREDUCE + (flags >> 3) % 4;
	if (flags >> 6 == 2)
		h.status = flags >> 3 & 7;
	return h;
}

/* Sends a data packet that a member, a switch below or a parent could send. */
static void data_give(void)
{
	static uint8_t payload[1600];
	const struct swnet_group *g = group_read();
	struct swnet_send what = {.path = path_read(), .header = header_read(g)};
	struct inc_header *h = &what.header;
	uint8_t how = take8(&in);

	what.qkey = g->qkey + (how >= 250);
	what.rc = how % 16 == 15;
	what.payload = payload;
	memset(payload, how, sizeof(payload));
	if (h->collective == INC_BARRIER || (h->collective == INC_BROADCAST && how & 1)) {
		h->op = DXP_INC_NOOP;
	} else if (!h->status) {
		h->elements = how & 0x20 ? 100 + how % 4 * 25 : how % 4;
		what.bytes = h->elements * dxp_inc_type_bytes(h->type);
	}
	h->call_elements = h->elements;
	if (h->elements == 0 && h->collective == INC_BROADCAST)
		h->call_elements = 3;
	swnet_send(&net, &what);
}

/* A valid contribution, so that some segments complete. */
static void contribution_give(void)
{
	const struct swnet_group *g = group_read();
	uint8_t how = take8(&in);
	int32_t value[2] = {how, -how};
	struct inc_header h =
		swnet_call((uint32_t)(int32_t)(int8_t)take8(&in), DXP_INC_SUM, DXP_INC_INT32, 2);

	swnet_contribute(&net, g, how % g->count, &h, value, sizeof(value));
}

/* Changes one or two fields. */
static void control_change(struct inc_control *c)
{
	uint8_t value = take8(&in);

	switch (take8(&in) % 20) {
	case 0: c->hop = value % (INC_PATH_MAX + 1); break;
	case 1: c->path_count = value % (INC_PATH_MAX + 1); break;
	case 2: c->window = value; break;
	case 3: c->segment_bytes = (uint16_t)(value * 16u); break;
	case 4: c->path[0].children = value; break;
	case 5: c->path[0].index = value % 4 < c->path[0].children ? value % 4 : 0; break;
	case 6: c->path[1].ip = address_read(); break;
	case 7: c->path[0].ip = address_read(); break;
	case 8: c->true_comm_id = value; break;
	case 9: c->qkey = value; break;
	case 10: c->members = value; break;
	case 11: c->job_id = value; break;
	case 12: c->member_ip = address_read(); break;
	case 13: c->member_port = value; break;
	case 14: c->first_ip = address_read(); break;
	case 15: c->lease_ms = value; break;
	case 16: c->planes = value; break;
	case 17: c->path[0].children = (uint16_t)(value * 8); break;
	default: break; /* the packet stays valid */
	}
}

static void control_give(void)
{
	static const uint8_t kinds[] = {INC_QUERY, INC_NOTIFY, INC_KILL, INC_RENEW};
	struct swnet_group g = *group_read();
	uint8_t how = take8(&in);
	uint32_t member = how % g.count;
	struct inc_control c = swnet_control(&g, member);
	uint8_t kind = kinds[how / 8 % 4];
	struct roce_path path = {c.first_ip, c.path[c.path_count - 1].ip, c.first_port, ROCE_PORT};

	if (kind == INC_QUERY || kind == INC_RENEW)
		path = (struct roce_path){c.member_ip, c.path[0].ip, c.member_port, ROCE_PORT};
	if (kind == INC_QUERY)
		c.path_count = 0;
	g.epoch += how >> 5 == 6;
	for (unsigned changes = how >> 5 & 3; changes > 0; changes--)
		control_change(&c);
	if (how >> 5 == 5)
		path = path_read();
	for (unsigned i = 0; i < c.path_count; i++)
		if (c.path[i].index >= c.path[i].children)
			c.path[i].index = 0;
	if (g.compat && c.path_count > INC_COMPAT_PATH_MAX)
		c.path_count = INC_COMPAT_PATH_MAX;
	swnet_control_send(&net, &g, kind, member, &c, &path);
}

/* ---- reliable connections ---- */

static void rc_packet_give(const struct roce_header *h, const struct roce_path *path,
			   const void *payload, size_t bytes)
{
	const struct roce_ends ends = {address_v4(path->from_ip, path->from_port),
				       address_v4(path->to_ip, path->to_port)};
	uint8_t trailer[ROCE_TRAILER_BYTES], data[RAW_BYTES];
	struct datagram d;
	size_t at;

	roce_datagram_encode(h, &ends, payload, bytes, &d, trailer);
	at = d.header_bytes;
	memcpy(data, d.header, at);
	for (unsigned i = 0; i < d.slice_count; i++) {
		memcpy(data + at, d.slices[i].base, d.slices[i].bytes);
		at += d.slices[i].bytes;
	}
	swnet_raw(&net, path, data, at);
}

/* A member's REQ; in most cases group and key are right. */
static void request_give(const struct swnet_group *g, const struct roce_path *path, uint8_t how)
{
	const struct roce_header h = {.opcode = ROCE_UD_SEND_ONLY,
				      .dest_qp = RC_CM_QP,
				      .qkey = RC_CM_QKEY,
				      .source_qp = RC_CM_QP};
	struct inc_connect hello = {g->id + (how == 255), g->qkey + (how == 254), g->epoch};
	struct rc_cm_message m = {.kind = how == 253 ? RC_CM_RTU : RC_CM_REQ,
				  .transaction = how / 64,
				  .local_id = how / 64,
				  .remote_id = how,
				  .qp = 2 + how,
				  .mtu = 1 + how % 4,
				  .service = RC_CM_SERVICE + (how == 252)};
	uint8_t mad[RC_CM_MAD_BYTES];

	inc_connect_encode(&hello, m.private_data);
	rc_cm_encode(&m, mad);
	rc_packet_give(&h, path, mad, sizeof(mad));
}

/* A REQ, contribution or acknowledgement on one of the first queue pairs. */
static void connection_give(void)
{
	const struct swnet_group *g = group_read();
	uint8_t how = take8(&in), number = take8(&in), psn = take8(&in);
	const struct swnet_member *m = &g->members[number % g->count];
	struct roce_path path = {m->ip, m->path[0], m->port, ROCE_PORT};
	struct roce_header h = {.opcode = ROCE_RC_SEND_ONLY,
				.ack_request = how & 1,
				.dest_qp = 2 + number / 8,
				.psn = psn};
	struct inc_header inner = swnet_call(psn, DXP_INC_SUM, DXP_INC_INT32, 1);
	uint8_t message[INC_HEADER_BYTES + 4] = {0};

	if (how % 4 == 0) {
		request_give(g, &path, psn);
		return;
	}
	inner.src_rank = number % g->count;
	inner.comm_id = g->id;
	inner.epoch = g->epoch;
	inc_message_encode(&inner, message);
	if (how % 4 == 1) {
		h.opcode = ROCE_RC_ACK;
		h.syndrome = how & 0xe0 ? ROCE_AETH_NAK | (how >> 5 & 3) : ROCE_AETH_RNR;
		rc_packet_give(&h, &path, NULL, 0);
	} else {
		rc_packet_give(&h, &path, message, how == 255 ? 3 : sizeof(message));
	}
}

static void inquiry_give(void)
{
	struct inc_inquiry q = {1 + take8(&in) % 3, take8(&in) % 16};
	uint8_t payload[INC_INQUIRY_BYTES];
	struct swnet_send what = {.path = path_read(),
				  .header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY,
				  .payload = payload,
				  .bytes = inc_inquiry_encode(&q, payload)};

	swnet_send(&net, &what);
}

/* ---- checks ---- */

static void switches_check(void)
{
	for (unsigned i = 0; i < net.count; i++) {
		struct inc_answer a;
		uint64_t count;

		switch_answer(net.switches[i], &(struct inc_inquiry){INC_SECTION_SWITCH, 0},
			      net.now_ns, &a);
		count = a.self.groups;
		if (count > GROUPS_MAX || a.self.memory_bytes > MEMORY_MAX)
			die("more groups or memory than there are");
		if (count == 0 && a.self.memory_bytes != 0)
			die("memory of no group");
		switch_answer(net.switches[i], &(struct inc_inquiry){INC_SECTION_GROUPS, 0},
			      net.now_ns, &a);
		if (a.total != count)
			die("groups that are no groups");
		for (unsigned k = 0; k < a.count; k++)
			if (a.groups[k].children_here > a.groups[k].children ||
			    a.groups[k].slots_busy > a.groups[k].slots)
				die("more children or slots than there are");
	}
}

static void run(void)
{
	swnet_run(&net);
	if (net.wrong[0])
		die(net.wrong);
	swnet_forget(&net);
}

static void step(void)
{
	switch (take8(&in) % 16) {
	case 0:
	case 1: raw_give(); break;
	case 2:
	case 3:
	case 4: data_give(); break;
	case 5: control_give(); break;
	case 6: inquiry_give(); break;
	case 7: net.now_ns += (uint64_t)take8(&in) << take8(&in) % 28; break;
	case 8:
		for (unsigned i = 0; i < net.count; i++)
			switch_expire(net.switches[i], net.now_ns);
		break;
	case 9: switch_emit(net.switches[take8(&in) % 3], take8(&in) & 1); break;
	case 10: net.lose = net.carried + 1 + take8(&in) % 8; break;
	case 11: net.repeat = net.carried + 1 + take8(&in) % 8; break;
	case 12: net.batch = 1 + take8(&in) % 40; break;
	case 13: connection_give(); break;
	default: contribution_give();
	}
	if (take8(&in) & 1)
		run();
}

static void scene_open(void)
{
	struct sw_options options = {
		.ip = ROOT, .groups_max = GROUPS_MAX, .memory_max = MEMORY_MAX, .lease_ms = 5000};
	static const uint32_t leaves[] = {LEAF(0), LEAF(1)};

	swnet_open(&net);
	if (!swnet_switch(&net, &options))
		die("no memory");
	options.parents[0] = ROOT;
	options.parent_count = 1;
	for (uint32_t i = 0; i < 2; i++) {
		options.ip = LEAF(i);
		if (!swnet_switch(&net, &options))
			die("no memory");
	}
	for (uint32_t i = 0; i < GROUPS - 1; i++) {
		swnet_group_plan(&groups[i], i == 2 ? 3 : 4, i == 2 ? NULL : leaves, 2,
				 i == 2 ? LEAF(0) : ROOT);
		groups[i].id = 7 + i;
		groups[i].window = (uint16_t)(2 << i);
		groups[i].segment_bytes = 256;
		if (i < 2 && !swnet_group_make(&net, &groups[i]))
			die("no group");
	}
	if (!swnet_group_make(&net, &groups[2]))
		die("no group of one switch");
	struct swnet_group *compat = &groups[GROUPS - 1];
	swnet_group_plan(compat, 4, leaves, 2, ROOT);
	compat->id = 7 + GROUPS;
	compat->window = 1;
	compat->segment_bytes = 256;
	compat->planes = INC_PLANE_USER;
	compat->compat = true;
	if (!swnet_group_make(&net, compat))
		die("no group in the compatible format");
	swnet_forget(&net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	in = (struct input){data, data + bytes};
	scene_open();
	for (unsigned i = 0; i < STEPS_MAX && in.at < in.end; i++) {
		step();
		switches_check();
	}
	run();
	net.now_ns += 100 * S_NS;
	for (unsigned i = 0; i < net.count; i++) {
		switch_expire(net.switches[i], net.now_ns);
		if (switch_deadline(net.switches[i]) != UINT64_MAX)
			die("a group outlives its lease");
	}
	switches_check();
	swnet_close(&net);
	return 0;
}
