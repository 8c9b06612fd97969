/* SPDX-License-Identifier: BSD-3-Clause */
/* A group: creation, destruction, dispatch of packets, order of sending, deadlines. */
#include "inc/group.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "inc/internal.h"
#include "inc/limits.h"
#include "wire/inc_compat.h"

static bool memory_allocate(struct inc_group *g, const struct inc_group_options *options)
{
	size_t window = options->window, count = options->count;
	struct inc_member *members = malloc(count * sizeof(*members));

	g->o.members = members;
	g->results = calloc(2 * window, sizeof(*g->results));
	g->flights = calloc(window, sizeof(*g->flights));
	g->peers = calloc(count, sizeof(*g->peers));
	g->suspects = calloc(1, INC_PEER_BYTES + (count + 7) / 8);
	/* calloc does not touch these pages, so a group with only short operations uses few of
	 * them. */
	g->bytes = calloc(2 * window, options->segment_bytes);
	if (!members || !g->results || !g->flights || !g->peers || !g->suspects || !g->bytes)
		return false;
	memcpy(members, options->members, count * sizeof(*members));
	return true;
}

/* Begins the connection to the switch. Its first PSN is derived from the group's key, so it is as
 * secret as the key. */
static int group_connect(struct inc_group *g, uint64_t now_ns)
{
	const struct inc_member *own = &g->o.members[g->o.member];
	const struct inc_connect hello = {g->o.id, g->o.qkey, g->o.epoch};
	struct rng rng = {(uint64_t)g->o.qkey << 32 | (uint32_t)g->o.epoch << 16 |
			  (g->o.member & 0xffff)};
	struct rc_options o = {
		.ends = {address_v4(own->ip, own->port), address_v4(g->o.switch_ip, ROCE_PORT)},
		.id = g->o.qp_number,
		.number = g->o.qp_number,
		.first_psn = (uint32_t)rng_next(&rng) & ROCE_PSN_MASK,
		.window = (uint16_t)max_u64(2u * g->o.window, INC_RING_MIN),
		.message_bytes = (uint16_t)(INC_HEADER_BYTES + g->o.segment_bytes),
	};

	inc_connect_encode(&hello, o.private_data);
	return rc_connect(&o, now_ns, &g->rc);
}

/* Returns the interval between renewals of the lease, which other members have set. */
static uint64_t renew_gap_ns(const struct inc_group *g)
{
	return max_u64(g->o.lease_ms * MS_NS / 3, INC_RENEW_MIN_NS);
}

int inc_group_create(const struct inc_group_options *options, uint64_t now_ns,
		     struct inc_group **out)
{
	struct inc_group *g = calloc(1, sizeof(*g));

	if (!g)
		return DXP_ENOMEM;
	g->o = *options;
	g->o.members = NULL;
	if (!memory_allocate(g, options)) {
		inc_group_destroy(g);
		return DXP_ENOMEM;
	}
	if (options->framing == DXP_INC_RC && group_connect(g, now_ns) != DXP_OK) {
		inc_group_destroy(g);
		return DXP_ENOMEM;
	}
	g->operations_tail = &g->operations;
	g->renew_ns = now_ns + renew_gap_ns(g);
	g->source = options->count;
	*out = g;
	return DXP_OK;
}

void inc_group_destroy(struct inc_group *g)
{
	if (!g)
		return;
	rc_close(g->rc);
	free((void *)(uintptr_t)g->o.members);
	free(g->results);
	free(g->flights);
	free(g->peers);
	free(g->suspects);
	free(g->bytes);
	free(g);
}

void inc_group_number(struct inc_group *g, uint32_t first)
{
	g->next = g->to_send = g->end = g->fence = g->highest = g->gap = first;
}

bool inc_group_accepts(const struct inc_group *g, enum dxp_inc_op op, enum dxp_inc_type type,
		       size_t elements)
{
	return dxp_inc_defined(op, type) && (g->o.sup_op >> op & 1) &&
	       (g->o.sup_type >> type & 1) && elements <= UINT32_MAX;
}

/* Handles a rejection from the switch: the group is lost. But a switch that has sent no result may
 * not have the group yet. Its rejections have no effect until INC_REJECTED_NS after the first
 * one. */
static void rejection_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	if (g->state != GROUP_LIVE || p->header.status == -DXP_EAGAIN)
		return;
	if (g->rejected_ns == 0)
		g->rejected_ns = now_ns;
	if (g->served || now_ns - g->rejected_ns >= INC_REJECTED_NS)
		lose_begin(g, p->header.status ? -(int)p->header.status : DXP_ENOENT, now_ns);
}

static void switch_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	if (p->header.kind == INC_REFUSED)
		rejection_receive(g, p, now_ns);
	else if (p->header.flags & INC_FLAG_RESULT)
		segment_result_receive(g, p, now_ns);
	else
		g->refused++;
}

static void member_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	struct inc_peer from;

	if (p->header.kind == INC_FETCHED) {
		lose_fetched(g, p, now_ns);
		return;
	}
	if (p->payload_bytes < INC_PEER_BYTES ||
	    inc_peer_decode(p->payload, INC_PEER_BYTES, &from) != DXP_OK ||
	    from.member != p->header.src_rank) {
		g->refused++;
		return;
	}
	if (p->header.kind == INC_AWAIT || p->header.kind == INC_AWAITED)
		await_receive(g, &p->header, &from);
	else
		lose_receive(g, p, &from, now_ns);
}

static bool from_member(const struct inc_group *g, const struct inc_header *h,
			const struct roce_path *path)
{
	const struct inc_member *m = &g->o.members[h->src_rank];

	return m->ip == path->from_ip && m->port == path->from_port && h->src_rank != g->o.member;
}

/* Handles a result in the compatible format. Adds the missing fields from the group's state. */
static void compat_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	struct inc_packet whole = *p;

	whole.header.epoch = g->o.epoch;
	whole.header.flags |= INC_FLAG_RESULT;
	whole.header.req_id = inc_compat_req_id(g->next, p->header.req_id);
	switch_receive(g, &whole, now_ns);
}

/* Returns true if key and incarnation of the packet are the group's. In the compatible format, data
 * and rejections of data carry no incarnation. */
static bool access_right(const struct inc_group *g, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;

	if (p->roce.opcode == ROCE_UD_SEND_ONLY && p->roce.qkey != g->o.qkey)
		return false;
	return h->epoch == g->o.epoch ||
	       (group_compat(g) && (h->kind == INC_DATA || h->kind == INC_REFUSED));
}

void inc_group_receive(struct inc_group *g, const struct inc_packet *p,
		       const struct roce_path *path, uint64_t now_ns)
{
	const struct inc_header *h = &p->header;

	if (!access_right(g, p) ||
	    (h->kind == INC_DATA && group_compat(g) != (bool)(h->flags & INC_FLAG_COMPAT))) {
		g->refused++;
		return;
	}
	switch (h->kind) {
	case INC_DATA:
	case INC_REFUSED:
		if (path->from_ip != g->o.switch_ip)
			g->refused++;
		else if (h->flags & INC_FLAG_COMPAT)
			compat_receive(g, p, now_ns);
		else
			switch_receive(g, p, now_ns);
		break;
	case INC_FREEZE:
	case INC_FROZEN:
	case INC_FETCH:
	case INC_FETCHED:
	case INC_AWAIT:
	case INC_AWAITED:
		if (h->src_rank < g->o.count && from_member(g, h, path))
			member_receive(g, p, now_ns);
		else
			g->refused++;
		break;
	default: g->refused++; break;
	}
}

bool inc_group_connection_owns(const struct inc_group *g, const uint8_t *data, size_t bytes,
			       const struct roce_path *path)
{
	return g->rc && path->from_ip == g->o.switch_ip && rc_owns(g->rc, data, bytes);
}

void inc_group_connection_receive(struct inc_group *g, const uint8_t *data, size_t bytes,
				  const struct roce_path *path, uint64_t now_ns)
{
	struct inc_packet p = {.roce = {.opcode = ROCE_RC_SEND_ONLY}};
	size_t message_bytes;
	const uint8_t *message = rc_receive(g->rc, data, bytes, true, now_ns, &message_bytes);

	if (!message)
		return;
	if (inc_message_decode(message, message_bytes, &p) == DXP_OK && p.header.kind == INC_DATA &&
	    p.header.comm_id == g->o.id)
		inc_group_receive(g, &p, path, now_ns);
	else
		g->refused++;
}

/* Renews the group's lease at the switch. */
static void renew_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	const struct inc_member *own = &g->o.members[g->o.member], *first = &g->o.members[0];
	struct inc_control c = {
		.sup_op = g->o.sup_op,
		.sup_type = g->o.sup_type,
		.segment_bytes = g->o.segment_bytes,
		.window = g->o.window,
		.planes = g->o.planes,
		.members = g->o.count,
		.true_comm_id = g->o.id,
		.qkey = g->o.qkey,
		.lease_ms = g->o.lease_ms,
		.member_ip = own->ip,
		.member_port = own->port,
		.first_ip = first->ip,
		.first_port = first->port,
	};
	struct inc_header h = {
		.src_rank = g->o.member,
		.comm_id = INC_COMM_CONTROL,
		.epoch = g->o.epoch,
		.kind = INC_RENEW,
		.flags = group_compat(g) ? INC_FLAG_COMPAT : 0,
	};
	uint8_t payload[INC_CONTROL_BYTES_MAX];

	segment_packet_add_inline(g, out, &h, g->o.switch_ip, ROCE_PORT, payload,
				  inc_packet_control_encode(&h, &c, payload));
	g->renew_ns = now_ns + renew_gap_ns(g);
}

static void connection_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (!g->rc || g->state == GROUP_LOST)
		return;
	rc_send(g->rc, out, now_ns);
	if (rc_failed(g->rc) && g->state == GROUP_LIVE)
		lose_begin(g, DXP_EPEERLOST, now_ns);
}

size_t inc_group_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	size_t before = out->count;

	if (g->state == GROUP_LIVE)
		await_check(g, now_ns);
	if (g->state != GROUP_LIVE)
		lose_check(g, now_ns);
	if (g->answers_due)
		lose_answers_send(g, out);
	if (g->state == GROUP_LIVE) {
		if (g->query_open)
			await_query(g, out, now_ns);
		repeat_send(g, out, now_ns);
		segments_send(g, out, now_ns);
		if (now_ns >= g->renew_ns && !batch_full(out))
			renew_send(g, out, now_ns);
	} else if (g->state != GROUP_LOST) {
		lose_query(g, out, now_ns);
	}
	connection_send(g, out, now_ns);
	return out->count - before;
}

static uint64_t state_deadline(const struct inc_group *g)
{
	if (g->answers_due || (g->late && g->state == GROUP_LIVE))
		return 0;
	if (g->state == GROUP_LOST)
		return UINT64_MAX;
	if (g->state != GROUP_LIVE)
		return lose_deadline(g);
	uint64_t deadline_ns = min_u64(g->renew_ns, await_deadline(g));
	return g->next == g->to_send ? deadline_ns : min_u64(deadline_ns, g->repeat_ns);
}

uint64_t inc_group_deadline(const struct inc_group *g)
{
	uint64_t at_ns = state_deadline(g);

	return g->rc && g->state != GROUP_LOST ? min_u64(at_ns, rc_deadline(g->rc)) : at_ns;
}

bool inc_group_lost(const struct inc_group *g)
{
	return g->state != GROUP_LIVE;
}

uint64_t inc_group_repeated(const struct inc_group *g)
{
	return g->segments_repeated;
}

void inc_group_view(const struct inc_group *g, struct dxp_inc_group_view *out)
{
	*out = (struct dxp_inc_group_view){
		.id = g->o.id,
		.member = g->o.member,
		.members = g->o.count,
		.epoch = g->o.epoch,
		.kernel = g->o.planes & INC_PLANE_KERNEL,
		.lost = inc_group_lost(g),
		.lost_status = g->lost_status,
		.segment_bytes = g->o.segment_bytes,
		.window = g->o.window,
		.calls = g->operations_done,
		.segments_sent = g->segments_sent,
		.segments_repeated = g->segments_repeated,
		.results = g->results_dequeued,
		.duplicates = g->duplicates,
		.refused = g->refused,
	};
}
