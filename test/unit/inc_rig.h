/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs members and switches on a virtual clock. Unless the hook decides otherwise, all packets
 * arrive in order. Member i is 10.0.0.(i + 1), switch i is 10.0.1.(i + 1). */
#ifndef TEST_INC_RIG_H
#define TEST_INC_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "inc/create.h"
#include "rc/connection.h"
#include "switch/switch.h"

#define RIG_MEMBERS  16
#define RIG_SWITCHES 8
#define RIG_BATCH    64
#define RIG_QUEUE    65536
#define RIG_PACKET   1600
#define RIG_GROUP    0x1234567u
#define RIG_QP       0x445850u

struct rig_packet {
	struct roce_path path;
	uint16_t bytes;
	uint8_t data[RIG_PACKET];
};

struct rig_host {
	struct inc_create *create;
	struct inc_group *group;
	bool dead;
};

struct rig {
	uint64_t now_ns;
	unsigned members, switches;
	struct rig_host hosts[RIG_MEMBERS];
	struct sw *sw[RIG_SWITCHES]; /* NULL: dead */
	struct sw_options sw_options[RIG_SWITCHES];
	uint32_t leaf[RIG_MEMBERS];
	struct rig_packet *queue;
	unsigned head, tail;
	/* Copies that arrive; without a hook, one. */
	unsigned (*hook)(struct rig *r, const struct rig_packet *p);
	/* per arriving packet; may be NULL */
	void (*arrives)(struct rig *r, const struct rig_packet *p);
	uint64_t count; /* sent */
	uint64_t drop;  /* each test's own, such as a packet to drop */
	struct rng rng;
	struct datagram datagrams[RIG_BATCH];
	uint8_t trailers[RIG_BATCH][INC_TRAILER_BYTES];
	uint16_t ports[RIG_BATCH];
	uint64_t deadline_ns;
	uint32_t qkey;
	uint16_t window, segment_bytes;
	enum dxp_inc_framing framing;
	enum dxp_inc_mode mode;
};

static inline uint32_t rig_host_ip(unsigned i)
{
	return 0x0a000001u + i;
}

static inline uint32_t rig_switch_ip(unsigned i)
{
	return 0x0a000101u + i;
}

static inline uint32_t rig_ip(const struct udp_address *a)
{
	return (uint32_t)a->ip[12] << 24 | (uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 |
	       a->ip[15];
}

static inline void rig_put(struct rig *r, uint32_t from_ip, const struct inc_batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct datagram *d = &b->datagrams[i];
		struct rig_packet p = {.bytes = d->header_bytes};
		p.path = (struct roce_path){from_ip, rig_ip(&d->to), b->from_ports[i], d->to.port};
		memcpy(p.data, d->header, d->header_bytes);
		for (unsigned s = 0; s < d->slice_count; s++) {
			assert_true(p.bytes + d->slices[s].bytes <= RIG_PACKET);
			if (d->slices[s].bytes)
				memcpy(p.data + p.bytes, d->slices[s].base, d->slices[s].bytes);
			p.bytes = (uint16_t)(p.bytes + d->slices[s].bytes);
		}
		assert_true(roce_icrc_right(&p.path, p.data, p.bytes));
		r->count++;
		unsigned copies = r->hook ? r->hook(r, &p) : 1;
		for (; copies > 0; copies--) {
			assert_true(r->tail - r->head < RIG_QUEUE);
			r->queue[r->tail++ % RIG_QUEUE] = p;
		}
	}
}

static inline struct inc_batch rig_batch(struct rig *r)
{
	return (struct inc_batch){r->datagrams, r->trailers, r->ports, 0, RIG_BATCH};
}

static inline void rig_host_send(struct rig *r, unsigned i)
{
	struct rig_host *h = &r->hosts[i];
	size_t n = 1;

	while (n > 0 && !h->dead) {
		struct inc_batch b = rig_batch(r);
		n = h->create ? inc_create_send(h->create, &b, r->now_ns) : 0;
		if (h->group)
			n += inc_group_send(h->group, &b, r->now_ns);
		rig_put(r, rig_host_ip(i), &b);
	}
}

static inline void rig_switch_send(struct rig *r, unsigned i)
{
	size_t n = 1;

	while (n > 0 && r->sw[i]) {
		struct inc_batch b = rig_batch(r);
		n = switch_send(r->sw[i], &b, r->now_ns);
		rig_put(r, rig_switch_ip(i), &b);
	}
}

static inline void rig_host_receive(struct rig *r, unsigned i, const struct rig_packet *p)
{
	struct rig_host *h = &r->hosts[i];
	struct inc_packet packet;

	if (h->dead)
		return;
	/* Filters of real sockets: docs/reference/inc.md "Endpoints and sockets". */
	if (p->path.to_port == ROCE_PORT)
		assert_true(p->path.from_ip == r->leaf[i] && p->path.from_port == ROCE_SOURCE_PORT);
	else
		assert_int_equal(p->path.to_port, ROCE_SOURCE_PORT);
	if (rc_packet(p->data, p->bytes)) {
		if (h->group && inc_group_connection_owns(h->group, p->data, p->bytes, &p->path))
			inc_group_connection_receive(h->group, p->data, p->bytes, &p->path,
						     r->now_ns);
		rig_host_send(r, i);
		return;
	}
	assert_int_equal(inc_packet_decode(p->data, p->bytes, &packet), DXP_OK);
	if (packet.header.comm_id != INC_COMM_CONTROL && h->group)
		inc_group_receive(h->group, &packet, &p->path, r->now_ns);
	else if (packet.header.comm_id == INC_COMM_CONTROL && h->create)
		inc_create_receive(h->create, &packet, &p->path, r->now_ns);
	rig_host_send(r, i);
}

static inline void rig_deliver(struct rig *r)
{
	struct rig_packet p = r->queue[r->head++ % RIG_QUEUE];
	unsigned i = p.path.to_ip - rig_host_ip(0), s = p.path.to_ip - rig_switch_ip(0);

	r->now_ns += 500;
	if (r->arrives)
		r->arrives(r, &p);
	if (i < r->members) {
		rig_host_receive(r, i, &p);
	} else if (s < r->switches && r->sw[s]) {
		switch_receive(r->sw[s], p.data, p.bytes, &p.path, r->now_ns);
		rig_switch_send(r, s);
	}
}

static inline uint64_t rig_deadline(struct rig *r)
{
	uint64_t at_ns = UINT64_MAX;

	for (unsigned i = 0; i < r->members; i++) {
		struct rig_host *h = &r->hosts[i];
		if (h->dead)
			continue;
		if (h->create)
			at_ns = min_u64(at_ns, inc_create_deadline(h->create));
		if (h->group)
			at_ns = min_u64(at_ns, inc_group_deadline(h->group));
	}
	for (unsigned i = 0; i < r->switches; i++)
		if (r->sw[i])
			at_ns = min_u64(at_ns, switch_deadline(r->sw[i]));
	return at_ns;
}

/* Delivers all that is due, and all that results. */
static inline void rig_settle(struct rig *r)
{
	for (unsigned i = 0; i < r->members; i++)
		rig_host_send(r, i);
	for (unsigned i = 0; i < r->switches; i++)
		if (r->sw[i]) {
			switch_expire(r->sw[i], r->now_ns);
			rig_switch_send(r, i);
		}
	while (r->head != r->tail)
		rig_deliver(r);
}

/* Delivers all packets, then advances to the next deadline before `end_ns`; false: there is none.
 */
static inline bool rig_step(struct rig *r, uint64_t end_ns)
{
	rig_settle(r);
	uint64_t at_ns = rig_deadline(r);
	if (at_ns > end_ns) {
		r->now_ns = max_u64(r->now_ns, end_ns);
		return false;
	}
	r->now_ns = max_u64(r->now_ns + 1000, at_ns);
	return true;
}

static inline void rig_run(struct rig *r, uint64_t for_ns)
{
	uint64_t end_ns = r->now_ns + for_ns;

	while (r->now_ns < end_ns && rig_step(r, end_ns))
		;
	rig_settle(r);
}

/* `parents[i]`: mask of the switches above i; `leaves[m]`: leaf of member m. */
static inline void rig_open(struct rig *r, unsigned members, const uint8_t *leaves,
			    unsigned switches, const uint8_t *parents)
{
	memset(r, 0, sizeof(*r));
	r->queue = malloc(RIG_QUEUE * sizeof(*r->queue));
	assert_non_null(r->queue);
	r->now_ns = 1000 * S_NS;
	r->members = members;
	r->switches = switches;
	r->deadline_ns = 2 * S_NS;
	r->qkey = 0xbeef;
	r->window = 1024;
	r->segment_bytes = 1408;
	for (unsigned i = 0; i < switches; i++) {
		struct sw_options *o = &r->sw_options[i];
		*o = (struct sw_options){.name = "rig", .ip = rig_switch_ip(i), .window = 8};
		for (unsigned p = 0; p < switches; p++)
			if (parents && parents[i] >> p & 1)
				o->parents[o->parent_count++] = rig_switch_ip(p);
		assert_int_equal(switch_create(o, r->now_ns, &r->sw[i]), DXP_OK);
	}
	for (unsigned i = 0; i < members; i++)
		r->leaf[i] = rig_switch_ip(leaves ? leaves[i] : 0);
}

static inline void rig_close(struct rig *r)
{
	for (unsigned i = 0; i < r->members; i++) {
		inc_create_end(r->hosts[i].create);
		inc_group_destroy(r->hosts[i].group);
	}
	for (unsigned i = 0; i < r->switches; i++)
		switch_destroy(r->sw[i]);
	free(r->queue);
}

static inline void rig_members(const struct rig *r, struct inc_member *members)
{
	for (unsigned i = 0; i < r->members; i++)
		members[i] = (struct inc_member){rig_host_ip(i), ROCE_SOURCE_PORT};
}

static inline void rig_create_begin(struct rig *r, uint32_t id)
{
	struct inc_member members[RIG_MEMBERS];

	rig_members(r, members);
	for (unsigned i = 0; i < r->members; i++) {
		struct inc_create_options o = {
			.first = {.master_num = (uint8_t)r->mode,
				  .sup_comm_type = 0x1e,
				  .sup_op = (1u << DXP_INC_OPS) - 2,
				  .sup_type = (1u << DXP_INC_TYPES) - 1,
				  .segment_bytes = r->segment_bytes,
				  .window = r->window,
				  .planes = INC_PLANE_USER,
				  .members = r->members,
				  .true_comm_id = id,
				  .qkey = r->qkey,
				  .free_groups = UINT32_MAX,
				  .lease_ms = UINT32_MAX,
				  .member_ip = members[i].ip,
				  .member_port = members[i].port,
				  .first_ip = members[0].ip,
				  .first_port = members[0].port},
			.member = i,
			.count = r->members,
			.members = members,
			.switches = r->leaf,
			.epoch = 7,
			.limit_ns = S_NS,
			.framing = r->framing,
		};
		assert_int_equal(inc_create_begin(&o, r->now_ns, &r->hosts[i].create), DXP_OK);
	}
}

static inline void rig_group(struct rig *r, unsigned i, const struct inc_control *n)
{
	struct inc_member members[RIG_MEMBERS];
	struct inc_group_options o = {.id = n->true_comm_id,
				      .qkey = n->qkey,
				      .epoch = 7,
				      .member = i,
				      .count = r->members,
				      .members = members,
				      .switch_ip = r->leaf[i],
				      .segment_bytes = n->segment_bytes,
				      .window = n->window,
				      .sup_op = n->sup_op,
				      .sup_type = n->sup_type,
				      .planes = n->planes,
				      .lease_ms = n->lease_ms,
				      .deadline_ns = r->deadline_ns,
				      .framing = r->framing,
				      .qp_number = RIG_QP};

	rig_members(r, members);
	assert_int_equal(inc_group_create(&o, r->now_ns, &r->hosts[i].group), DXP_OK);
}

static inline void rig_ready(struct rig *r)
{
	struct inc_control n;
	uint32_t silent;
	uint64_t end_ns = r->now_ns + S_NS;

	rig_create_begin(r, RIG_GROUP);
	while (inc_create_outcome(r->hosts[0].create, &n, &silent) == DXP_EAGAIN &&
	       rig_step(r, end_ns))
		;
	for (unsigned i = 0; i < r->members; i++) {
		assert_int_equal(inc_create_outcome(r->hosts[i].create, &n, &silent), DXP_OK);
		rig_group(r, i, &n);
	}
}

#endif
