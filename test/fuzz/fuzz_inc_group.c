/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a group's creation by two members, and an active group, with arbitrary bytes and plausible
 * packets of switch, members and unknown peers. Sending stops at some time, sent packets are valid,
 * and no result exceeds an operation's elements. Finally all operations complete, both creations
 * have a status, and a created group has values that the QUERYs allow. */
#define FUZZ_NAME "fuzz_inc_group"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "inc/create.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/input.h"

#define MEMBERS    3
#define SWITCH     0x0a000101u
#define GROUP      7
#define QKEY       9
#define EPOCH      5
#define CALLS      12
#define ELEMENTS   600
#define STEPS_MAX  300
#define BATCH      16
#define ROUNDS_MAX 2000
#define RAW_BYTES  1600
#define GUARD      0x5a

static const struct inc_member members[MEMBERS] = {
	{0x0a000001, ROCE_SOURCE_PORT}, {0x0a000002, 0xc001}, {0x0a000001, 0xc002}};

struct job {
	struct inc_operation call;
	int64_t in[ELEMENTS], out[ELEMENTS + 1];
	bool started;
};

static struct input in;
static struct inc_group *group;
static struct inc_create *creates[2]; /* by member */
static struct job jobs[CALLS];
static unsigned job_count;
static uint64_t now_ns;

/* ---- output ---- */

static void batch_check(const struct inc_batch *b)
{
	uint8_t data[9200];

	for (size_t i = 0; i < b->count; i++) {
		const struct datagram *d = &b->datagrams[i];
		struct inc_packet p;
		size_t bytes = d->header_bytes;

		memcpy(data, d->header, bytes);
		for (unsigned s = 0; s < d->slice_count; s++) {
			memcpy(data + bytes, d->slices[s].base, d->slices[s].bytes);
			bytes += d->slices[s].bytes;
		}
		if (inc_packet_decode(data, bytes, &p) != DXP_OK)
			die("a packet that does not parse leaves");
	}
}

static void all_send(void)
{
	static struct datagram datagrams[BATCH];
	static uint8_t trailers[BATCH][INC_TRAILER_BYTES];
	static uint16_t ports[BATCH];
	size_t n = 1;

	for (unsigned rounds = 0; n > 0; rounds++) {
		struct inc_batch b = {datagrams, trailers, ports, 0, BATCH};

		n = inc_group_send(group, &b, now_ns);
		for (unsigned i = 0; i < ARRAY_COUNT(creates); i++)
			n += inc_create_send(creates[i], &b, now_ns);
		batch_check(&b);
		if (rounds == ROUNDS_MAX)
			die("sending does not end");
	}
	if (inc_group_ready(group))
		die("what may leave stays");
}

/* ---- input packets ---- */

static struct roce_path path_read(void)
{
	static const uint32_t ips[] = {SWITCH, SWITCH, 0x0a000001, 0x0a000002, 0x0b000001};
	uint8_t how = take8(&in);
	uint32_t ip = ips[how % 5];
	uint16_t port = ROCE_SOURCE_PORT;

	for (unsigned i = 0; i < MEMBERS; i++)
		if (how / 5 % 4 == i && members[i].ip == ip)
			port = members[i].port;
	if (ip == SWITCH && how / 5 % 4 == MEMBERS)
		port = ROCE_PORT;
	return (struct roce_path){ip, members[1].ip, port, members[1].port};
}

static void packet_give(const uint8_t *data, size_t bytes, const struct roce_path *path)
{
	uint8_t *copy =
		/* of exact size, to detect reads past its end */
		malloc(bytes ? bytes : 1);
	struct inc_packet p;

	if (!copy)
		die("no memory");
	memcpy(copy, data, bytes);
	if (inc_packet_decode(copy, bytes, &p) == DXP_OK) {
		inc_group_receive(group, &p, path, now_ns);
		for (unsigned i = 0; i < ARRAY_COUNT(creates); i++)
			inc_create_receive(creates[i], &p, path, now_ns);
	}
	free(copy);
}

static void header_give(const struct inc_header *h, uint32_t qkey, const void *payload,
			size_t payload_bytes, const struct roce_path *path)
{
	struct datagram d;
	uint8_t trailer[INC_TRAILER_BYTES], data[9200];
	size_t bytes;

	inc_packet_encode(h, ROCE_UD_SEND_ONLY, qkey, INC_QP, INC_QP, path, payload, payload_bytes,
			  &d, trailer);
	bytes = d.header_bytes;
	memcpy(data, d.header, bytes);
	for (unsigned s = 0; s < d.slice_count; s++) {
		memcpy(data + bytes, d.slices[s].base, d.slices[s].bytes);
		bytes += d.slices[s].bytes;
	}
	packet_give(data, bytes, path);
}

static void raw_give(void)
{
	struct roce_path path = path_read();
	uint8_t data[RAW_BYTES];
	size_t bytes = 0, wanted = take8(&in) * 6u;

	while (bytes < wanted && in.at < in.end)
		data[bytes++] = *in.at++;
	packet_give(data, bytes, &path);
}

/* Delivers a result that an operation usually expects. */
static void result_give(void)
{
	static const uint8_t zeros[8192];
	struct roce_path path = path_read();
	const struct job *j = &jobs[take8(&in) % CALLS];
	uint8_t how = take8(&in);
	struct inc_header h = {
		.comm_id = GROUP,
		.epoch = (uint16_t)(EPOCH + (how >> 3 == 3)),
		.op = (uint8_t)j->call.op,
		.type = (uint8_t)j->call.type,
		.req_id = (uint32_t)(int32_t)(int8_t)take8(&in),
		.call_elements = (uint32_t)j->call.elements,
		.kind = how >> 3 == 1 ? INC_FETCHED : INC_DATA,
		.src_rank = how >> 3 == 1 ? how % 4 : 0,
		.flags = INC_FLAG_RESULT | (how & 1 ? INC_FLAG_SHORT : 0),
		.status = how >> 3 == 2 ? take8(&in) % 40 : 0,
		.root = (uint16_t)j->call.root,
		.collective = j->call.collective,
	};
	size_t size = dxp_inc_type_bytes(j->call.type);

	if (!j->started)
		h.collective = INC_BARRIER;
	if (h.collective != INC_BARRIER && h.status == 0)
		h.elements = (uint16_t)(how >= 200 ? take8(&in) * 4u
						   : min_u64(j->call.elements, 256 / size));
	header_give(&h, QKEY + (how == 255), zeros, h.elements * size, &path);
}

/* Delivers a member's message or a switch's rejection. */
static void peer_give(void)
{
	static const uint8_t kinds[] = {INC_FREEZE, INC_FROZEN,  INC_FETCH,
					INC_AWAIT,  INC_AWAITED, INC_REFUSED};
	struct roce_path path = path_read();
	uint8_t how = take8(&in), payload[INC_PEER_BYTES];
	struct inc_peer peer = {.member = how % 4, .next = (uint32_t)(int32_t)(int8_t)take8(&in)};
	struct inc_header h = {.src_rank = how >> 6 == 3 ? take8(&in) : how % 4,
			       .comm_id = GROUP,
			       .epoch = EPOCH,
			       .req_id = peer.next,
			       .kind = kinds[(how >> 2) % 6]};
	size_t bytes = inc_peer_encode(&peer, payload);

	if (h.kind == INC_REFUSED) {
		h.flags = INC_FLAG_RESULT;
		h.status = take8(&in) % 40;
		bytes = 0;
	}
	header_give(&h, QKEY, payload, bytes, &path);
}

static struct inc_control query_of(uint32_t member)
{
	return (struct inc_control){.sup_comm_type = 0x1e,
				    .sup_op = (1u << DXP_INC_OPS) - 2,
				    .sup_type = (1u << DXP_INC_TYPES) - 1,
				    .segment_bytes = 1408,
				    .window = 64,
				    .planes = INC_PLANE_USER,
				    .members = MEMBERS,
				    .true_comm_id = GROUP,
				    .qkey = QKEY,
				    .free_groups = 100,
				    .lease_ms = 10000,
				    .member_ip = members[member].ip,
				    .member_port = members[member].port,
				    .first_ip = members[0].ip,
				    .first_port = members[0].port};
}

/* Changes one or two fields. */
static void control_change(struct inc_control *c)
{
	uint8_t value = take8(&in);

	switch (take8(&in) % 18) {
	case 0: c->window = value; break;
	case 1: c->segment_bytes = (uint16_t)(value * 16u); break;
	case 2: c->members = value; break;
	case 3: c->member_port = value; break;
	case 4: c->member_ip = value; break;
	case 5: c->fail_cause = value % INC_CAUSES; break;
	case 6: c->cause_ip = SWITCH + value % 4; break;
	case 7: c->path[value % INC_PATH_MAX].children = value; break;
	case 8: c->sup_op = value; break;
	case 9: c->lease_ms = value; break;
	case 10: c->qkey = value; break;
	case 11: c->hop = value % (INC_PATH_MAX + 1); break;
	case 12: c->planes = value; break;
	case 13: c->path[value % INC_PATH_MAX].ip = value & 16 ? 0 : SWITCH; break;
	case 14: c->window = (uint16_t)(1u << value % 16); break;
	case 15: c->sup_type = (uint32_t)value << 24; break;
	default: break;
	}
}

static void control_give(void)
{
	static const uint8_t kinds[] = {INC_QUERY, INC_NOTIFY, INC_NOTIFIED, INC_KILL};
	struct roce_path path = path_read();
	uint8_t how = take8(&in), payload[INC_CONTROL_BYTES_MAX], ways = take8(&in);
	uint32_t member = how % MEMBERS;
	struct inc_control c = query_of(member);
	struct inc_header h = {.src_rank = how >> 6 == 3 ? take8(&in) : member,
			       .comm_id = INC_COMM_CONTROL,
			       .epoch = EPOCH,
			       .status = how >> 4 == 1 ? take8(&in) % 40 : 0,
			       .kind = kinds[(how >> 2) % 4]};

	c.path_count = (uint8_t)(ways % (INC_PATH_MAX + 1));
	for (unsigned i = 0; i < c.path_count; i++)
		c.path[i] = (struct inc_hop){.ip = SWITCH + (i ? (ways >> 3) % 8 + i : 0),
					     .children = (uint16_t)(1 + how % 5)};
	for (unsigned changes = ways >> 6; changes > 0; changes--)
		control_change(&c);
	header_give(&h, INC_CONTROL_QKEY, payload, inc_control_encode(&c, payload), &path);
}

/* ---- steps of the caller ---- */

static void call_begin(void)
{
	static const enum dxp_inc_type types[] = {DXP_INC_INT64, DXP_INC_DOUBLE, DXP_INC_INT32};
	uint8_t how = take8(&in);

	if (job_count == CALLS)
		return;
	struct job *j = &jobs[job_count];
	j->call = (struct inc_operation){.collective = (uint8_t)(INC_ALLREDUCE + how % 4),
					 .root = how >> 2 & 1,
					 .send = j->in,
					 .receive = j->out,
					 .elements = (how >> 3) * 18u};
	if (j->call.collective <= INC_REDUCE) {
		j->call.op = how & 4 ? DXP_INC_SUM : DXP_INC_MAX;
		j->call.type = types[how % 3];
	}
	if (j->call.collective == INC_BARRIER)
		j->call.elements = 0;
	j->started = inc_group_start(group, &j->call, now_ns) == DXP_OK;
	job_count += j->started;
}

static void jobs_check(bool end)
{
	for (unsigned i = 0; i < job_count; i++) {
		const struct job *j = &jobs[i];
		const uint8_t *out = (const uint8_t *)j->out;
		size_t bytes = j->call.elements * dxp_inc_type_bytes(j->call.type);

		for (size_t k = bytes; k < sizeof(j->out); k++)
			if (out[k] != GUARD)
				die("a result is longer than its call");
		if (j->call.done && j->call.done_elements > j->call.elements)
			die("more is done than there is");
		if (end && !j->call.done)
			die("a call outlives its deadline");
	}
}

static void step(void)
{
	switch (take8(&in) % 12) {
	case 0: raw_give(); break;
	case 1:
	case 2: call_begin(); break;
	case 3:
	case 4:
	case 5: result_give(); break;
	case 6:
	case 7: peer_give(); break;
	case 8:
	case 9: control_give(); break;
	default: now_ns += (uint64_t)take8(&in) << take8(&in) % 24; break;
	}
	if (take8(&in) & 1)
		all_send();
}

static void scene_open(void)
{
	static const uint32_t switches[MEMBERS] = {SWITCH, SWITCH, SWITCH};
	const struct inc_group_options o = {.id = GROUP,
					    .qkey = QKEY,
					    .epoch = EPOCH,
					    .member = 1,
					    .count = MEMBERS,
					    .members = members,
					    .switch_ip = SWITCH,
					    .segment_bytes = 256,
					    .window = 4,
					    .sup_op = (1u << DXP_INC_OPS) - 2,
					    .sup_type = (1u << DXP_INC_TYPES) - 1,
					    .lease_ms = 10000,
					    .deadline_ns = S_NS};

	now_ns = S_NS;
	job_count = 0;
	memset(jobs, 0, sizeof(jobs));
	for (unsigned i = 0; i < CALLS; i++)
		memset(jobs[i].out, GUARD, sizeof(jobs[i].out));
	if (inc_group_create(&o, now_ns, &group) != DXP_OK)
		die("no memory");
	for (uint32_t i = 0; i < ARRAY_COUNT(creates); i++) {
		const struct inc_create_options c = {.first = query_of(i),
						     .member = i,
						     .count = MEMBERS,
						     .members = members,
						     .switches = switches,
						     .epoch = EPOCH,
						     .limit_ns = S_NS};
		if (inc_create_begin(&c, now_ns, &creates[i]) != DXP_OK)
			die("no memory");
	}
}

static void notice_check(const struct inc_control *n)
{
	const struct inc_control q = query_of(0);

	if (n->window == 0 || n->window > q.window || n->window & (n->window - 1) ||
	    n->segment_bytes < 256 || n->segment_bytes > q.segment_bytes || n->lease_ms == 0 ||
	    n->planes != q.planes || n->sup_op & ~q.sup_op || n->sup_type & ~q.sup_type ||
	    n->path_count == 0 || n->path[0].ip != SWITCH)
		die("a group has values that no QUERY allows");
}

static void scene_close(void)
{
	struct inc_control notice;
	uint32_t silent;

	for (unsigned i = 0; i < 400; i++) {
		now_ns += 10 * MS_NS;
		all_send();
	}
	jobs_check(true);
	for (unsigned i = 0; i < ARRAY_COUNT(creates); i++) {
		int status = inc_create_outcome(creates[i], &notice, &silent);
		if (status == DXP_EAGAIN)
			die("a creation does not end");
		if (status == DXP_OK)
			notice_check(&notice);
		inc_create_end(creates[i]);
	}
	inc_group_destroy(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	in = (struct input){data, data + bytes};
	scene_open();
	for (unsigned i = 0; i < STEPS_MAX && in.at < in.end; i++) {
		step();
		jobs_check(false);
	}
	scene_close();
	return 0;
}
