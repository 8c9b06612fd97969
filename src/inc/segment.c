/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends contributions to the switch and receives its results. */
#include <string.h>

#include <dxp/status.h>

#include "inc/internal.h"

void segment_packet_add(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
			uint32_t to_ip, uint16_t to_port, const void *payload, size_t payload_bytes)
{
	const struct inc_member *own = &g->o.members[g->o.member];
	struct roce_path path = {own->ip, to_ip, own->port, to_port};
	uint32_t qkey = h->comm_id == INC_COMM_CONTROL ? INC_CONTROL_QKEY : g->o.qkey;

	inc_packet_encode(h, ROCE_UD_SEND_ONLY, qkey, INC_QP, INC_QP, &path, payload, payload_bytes,
			  &out->datagrams[out->count], out->trailers[out->count]);
	out->from_ports[out->count++] = own->port;
}

_Static_assert(INC_UD_BYTES + INC_CONTROL_BYTES_MAX <= DATAGRAM_HEADER_BYTES_MAX,
	       "a header holds both");

void segment_batch_inline(struct inc_batch *out)
{
	struct datagram *d = &out->datagrams[out->count - 1];

	if (d->slice_count < 2)
		return;
	memcpy(d->header + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	d->header_bytes = (uint16_t)(d->header_bytes + d->slices[0].bytes);
	d->slices[0] = d->slices[1];
	d->slice_count = 1;
}

void segment_packet_add_inline(struct inc_group *g, struct inc_batch *out,
			       const struct inc_header *h, uint32_t to_ip, uint16_t to_port,
			       const void *payload, size_t payload_bytes)
{
	segment_packet_add(g, out, h, to_ip, to_port, payload, payload_bytes);
	segment_batch_inline(out);
}

/* Returns the number of elements that this member sends. In a broadcast only the root sends
 * elements. */
static size_t elements_announced(const struct inc_group *g, const struct inc_operation *c,
				 size_t elements)
{
	return c->collective == INC_BROADCAST && c->root != g->o.member ? 0 : elements;
}

/* Posts a segment on the connection. If the connection has no space, the segment is retransmitted
 * later. */
static void segment_post(struct inc_group *g, const struct inc_header *h, const void *payload,
			 size_t payload_bytes)
{
	uint8_t front[INC_HEADER_BYTES];

	inc_message_encode(h, front);
	(void)rc_post(g->rc, front, sizeof(front), payload, payload_bytes);
}

void segment_add(struct inc_group *g, struct inc_batch *out, const struct inc_operation *c,
		 uint32_t segment, bool repeat, uint64_t now_ns)
{
	uint32_t index = segment - c->first_segment;
	size_t before = operation_elements_before(g, c, index);
	size_t elements =
		elements_announced(g, c, operation_elements_before(g, c, index + 1) - before);
	size_t type_bytes = dxp_inc_type_bytes(c->type);
	const uint8_t *data = c->send ? c->send : c->receive;
	bool is_short = operation_short(c);
	struct inc_header h = {
		.src_rank = g->o.member,
		.comm_id = g->o.id,
		.epoch = g->o.epoch,
		.op = (uint8_t)c->op,
		.type = (uint8_t)c->type,
		.req_id = segment,
		.call_elements = (uint32_t)c->elements,
		.elements = (uint16_t)elements,
		.root = (uint16_t)c->root,
		.kind = INC_DATA,
		.flags =
			(uint8_t)((repeat ? INC_FLAG_REPEAT : 0) | (is_short ? INC_FLAG_SHORT : 0) |
				  (g->o.batches && !is_short ? INC_FLAG_TRAIN : 0) |
				  (index + 1 == c->segments ? INC_FLAG_LAST : 0) |
				  (group_compat(g) ? INC_FLAG_COMPAT : 0)),
		.collective = c->collective,
	};

	const void *payload = elements ? data + before * type_bytes : NULL;

	if (g->rc)
		segment_post(g, &h, payload, elements * type_bytes);
	else
		segment_packet_add(g, out, &h, g->o.switch_ip, ROCE_PORT, payload,
				   elements * type_bytes);
	flight_of(g, segment)->sent_ns = now_ns;
	if (repeat)
		g->segments_repeated++;
	else
		g->segments_sent++;
}

/* Returns true if the next segment may be sent. It must be within a window of results. A short
 * operation also waits for all earlier results. docs/reference/inc.md "Segments and
 * aggregators". */
static bool may_send(const struct inc_group *g, const struct inc_operation *c)
{
	uint32_t s = g->to_send;

	if (s - g->next >= g->o.window || seq_before(g->next, g->fence))
		return false;
	return s == g->next || !operation_short(c);
}

bool inc_group_ready(const struct inc_group *g)
{
	return g->state == GROUP_LIVE && g->sending && may_send(g, g->sending);
}

void segments_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	while (g->sending && !batch_full(out) && may_send(g, g->sending)) {
		struct inc_operation *c = g->sending;
		uint32_t s = g->to_send++;
		bool is_short = operation_short(c);

		if (is_short)
			g->fence = s + 1;
		segment_add(g, out, c, s, false, now_ns);
		repeat_arm(g, s, operation_pace(g, c), now_ns);
		if (s == g->next)
			g->progress_ns = now_ns;
		if (++c->sent == c->segments)
			g->sending = c->next;
	}
}

bool segment_result_fits(const struct inc_group *g, const struct inc_header *h)
{
	const struct inc_operation *c = operation_of(g, h->req_id);

	if (!c)
		return false;
	if (h->status != 0)
		return true;
	uint32_t index = h->req_id - c->first_segment;
	size_t elements =
		operation_elements_before(g, c, index + 1) - operation_elements_before(g, c, index);
	return h->op == c->op && h->type == c->type && h->collective == c->collective &&
	       h->call_elements == c->elements && h->elements == elements;
}

void segment_result_keep(struct inc_group *g, const struct inc_packet *p)
{
	uint32_t s = p->header.req_id;
	struct result *r = result_address(g, s);

	r->segment = s;
	r->header = p->header;
	r->here = true;
	if (p->header.status == 0 && p->payload_bytes > 0)
		memcpy(result_bytes(g, s), p->payload, p->payload_bytes);
	g->results_dequeued++;
}

void segment_result_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	uint32_t s = p->header.req_id;

	if (g->state != GROUP_LIVE)
		return;
	if (seq_before(s, g->next) || (seq_before(s, g->to_send) && result_here(g, s))) {
		g->duplicates++;
		return;
	}
	if (!seq_before(s, g->to_send) || !segment_result_fits(g, &p->header)) {
		g->refused++;
		return;
	}
	segment_result_keep(g, p);
	repeat_result(g, s, operation_pace(g, operation_of(g, s)), now_ns);
	g->served = true;
	g->rejected_ns = 0;
	if (s == g->next)
		operations_deliver(g, now_ns);
}
