/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregators collect contributions in any order, fold (combine) them in that of the children, and
 * schedule partial results for the parent and results for the children. docs/reference/inc.md
 * "Segments and aggregators". */
#include "switch/core.h"

#include <string.h>

#include <dxp/status.h>

#include "wire/inc_compat.h"

/* ---- packets that are due ---- */

static void aggregator_queue(struct sw *s, struct sw_group *g, struct aggregator *aggregator)
{
	if (!aggregator->queued) {
		aggregator->queued = true;
		g->queue[g->queue_count++] = (uint16_t)(aggregator - g->aggregators);
	}
	group_output_enqueue(s, g);
}

static void result_due_all(struct sw *s, struct sw_group *g, struct aggregator *aggregator)
{
	aggregator->state = AGGREGATOR_DONE;
	aggregator->due = aggregator->there;
	aggregator->due_count = g->child_count;
	aggregator->up_due = false;
	g->results++;
	s->counters.results++;
	aggregator_queue(s, g, aggregator);
}

static void result_due_again(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
			     unsigned child)
{
	if (child_set_has(&aggregator->due, child))
		return;
	child_set_add(&aggregator->due, child);
	aggregator->due_count++;
	g->repeats++;
	s->counters.repeats++;
	aggregator_queue(s, g, aggregator);
}

static void partial_due(struct sw *s, struct sw_group *g, struct aggregator *aggregator, bool again,
			uint64_t now_ns)
{
	aggregator->state = AGGREGATOR_WAITING;
	aggregator->up_due = true;
	aggregator->up_again = again;
	aggregator->up_ns = now_ns;
	aggregator_queue(s, g, aggregator);
}

/* ---- contributions ---- */

static bool collective_computes(uint8_t collective)
{
	return collective == INC_ALLREDUCE || collective == INC_REDUCE;
}

static void aggregator_open(struct aggregator *aggregator, const struct inc_header *h)
{
	struct aggregator fresh = {
		.seq = h->req_id,
		.state = AGGREGATOR_COLLECTING,
		.op = h->op,
		.type = h->type,
		.collective = h->collective,
		.flags = h->flags & (INC_FLAG_SHORT | INC_FLAG_LAST),
		.root = h->root,
		.elements = h->collective == INC_BROADCAST ? 0 : h->elements,
		.call_elements = h->call_elements,
		.queued = aggregator->queued,
		.reduce =
			collective_computes(h->collective) ? reduce_function(h->op, h->type) : NULL,
		.data = aggregator->data,
	};

	*aggregator = fresh;
}

/* Element counts of a broadcast may differ: only the root's contribution has elements. */
static bool aggregator_agrees(const struct aggregator *aggregator, const struct inc_header *h)
{
	return aggregator->op == h->op && aggregator->type == h->type &&
	       aggregator->collective == h->collective && aggregator->root == h->root &&
	       aggregator->call_elements == h->call_elements &&
	       (aggregator->elements == h->elements || h->collective == INC_BROADCAST);
}

static void aggregator_fail(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
			    int status)
{
	if (aggregator->status)
		return;
	aggregator->status = (uint8_t)-status;
	if (status == DXP_EINVAL) {
		g->mismatches++;
		s->counters.mismatches++;
	}
}

static void fold_waiting(const struct sw_group *g, struct aggregator *aggregator)
{
	while (aggregator->folded < g->child_count &&
	       child_set_has(&aggregator->there, aggregator->folded)) {
		aggregator->reduce(aggregator->data,
				   aggregator->data +
					   (size_t)aggregator->folded * aggregator->stride,
				   aggregator->elements);
		aggregator->folded++;
	}
}

static void fold(const struct sw_group *g, struct aggregator *aggregator, unsigned child,
		 const struct inc_packet *p)
{
	if (aggregator->stride == 0) {
		aggregator->bytes = (uint16_t)p->payload_bytes;
		aggregator->stride = (uint16_t)((p->payload_bytes + 15) & ~15ull);
	}
	if (child != aggregator->folded) {
		memcpy(aggregator->data + (size_t)child * aggregator->stride, p->payload,
		       p->payload_bytes);
		return;
	}
	if (child == 0)
		memcpy(aggregator->data, p->payload, p->payload_bytes);
	else
		aggregator->reduce(aggregator->data, p->payload, aggregator->elements);
	aggregator->folded++;
	fold_waiting(g, aggregator);
}

/* Only the root or a child switch may send a broadcast's data, once; else false. */
static bool broadcast_store(const struct sw_group *g, struct aggregator *aggregator, unsigned child,
			    const struct inc_packet *p)
{
	const struct sw_child *from = &g->children[child];

	if (p->payload_bytes == 0)
		return true;
	if (aggregator->bytes > 0 || (!from->is_switch && from->first != p->header.root))
		return false;
	memcpy(aggregator->data, p->payload, p->payload_bytes);
	aggregator->bytes = (uint16_t)p->payload_bytes;
	aggregator->elements = p->header.elements;
	return true;
}

static void aggregator_accept(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
			      unsigned child, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;
	bool computes = collective_computes(h->collective);

	if (h->status)
		aggregator_fail(s, g, aggregator, -(int)h->status);
	else if (!aggregator_agrees(aggregator, h))
		aggregator_fail(s, g, aggregator, DXP_EINVAL);
	else if (h->collective == INC_BROADCAST && !broadcast_store(g, aggregator, child, p))
		aggregator_fail(s, g, aggregator, DXP_EINVAL);
	else if (computes && !aggregator->reduce)
		aggregator_fail(s, g, aggregator, DXP_EUNSUPPORTED);
	else if (computes && p->payload_bytes > 0 && !aggregator->status)
		fold(g, aggregator, child, p);
}

static void aggregator_complete(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
				uint64_t now_ns)
{
	if (g->parent_ip) {
		partial_due(s, g, aggregator, false, now_ns);
		return;
	}
	if (aggregator->collective == INC_BROADCAST && aggregator->bytes == 0)
		/* the root's data never came */
		aggregator_fail(s, g, aggregator, DXP_EINVAL);
	result_due_all(s, g, aggregator);
}

static void duplicate(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
		      unsigned child, uint64_t now_ns)
{
	s->counters.duplicates++;
	if (aggregator->state == AGGREGATOR_DONE) {
		result_due_again(s, g, aggregator, child);
	} else if (aggregator->state == AGGREGATOR_WAITING &&
		   now_ns - aggregator->up_ns >= SWITCH_AGAIN_NS) {
		g->repeats++;
		s->counters.repeats++;
		partial_due(s, g, aggregator, true, now_ns);
	}
}

/* The segment's aggregator, after a reset if it held an older segment; NULL: it holds a newer
 * one. */
static struct aggregator *aggregator_for(struct sw_group *g, const struct inc_header *h,
					 uint64_t now_ns)
{
	struct aggregator *aggregator = &g->aggregators[h->req_id & g->aggregator_mask];

	if (aggregator->state != AGGREGATOR_EMPTY && aggregator->seq == h->req_id)
		return aggregator;
	/* The planes share the sequence numbers, so an aggregator here may stay unused while the
	 * XDP plane uses many. After SWITCH_STALE_NS it accepts any number. */
	if (aggregator->state != AGGREGATOR_EMPTY && seq_before(h->req_id, aggregator->seq) &&
	    now_ns - aggregator->touched_ns < SWITCH_STALE_NS)
		return NULL;
	aggregator_open(aggregator, h);
	return aggregator;
}

static void contribution_receive(struct sw *s, struct sw_group *g, unsigned child,
				 const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct aggregator *aggregator = aggregator_for(g, &p->header, a->now_ns);

	g->used_ns = a->now_ns;
	if (!aggregator) {
		s->counters.stale++;
		return;
	}
	if (child_set_has(&aggregator->there, child)) {
		duplicate(s, g, aggregator, child, a->now_ns);
		return;
	}
	child_set_add(&aggregator->there, child);
	aggregator->arrived++;
	aggregator->touched_ns = a->now_ns;
	g->contributions++;
	s->counters.contributions++;
	aggregator_accept(s, g, aggregator, child, p);
	if (aggregator->arrived == g->child_count)
		aggregator_complete(s, g, aggregator, a->now_ns);
}

/* ---- results from the parent ---- */

static bool result_fits(const struct aggregator *aggregator, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;

	if (h->status)
		return true;
	if (aggregator->status || !aggregator_agrees(aggregator, h))
		return false;
	return h->collective != INC_BROADCAST || aggregator->bytes == 0 ||
	       aggregator->bytes == p->payload_bytes;
}

static void result_receive(struct sw *s, struct sw_group *g, const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct aggregator *aggregator = &g->aggregators[p->header.req_id & g->aggregator_mask];

	g->used_ns = a->now_ns;
	if (aggregator->state == AGGREGATOR_DONE && aggregator->seq == p->header.req_id) {
		s->counters.duplicates++;
	} else if (aggregator->state != AGGREGATOR_WAITING || aggregator->seq != p->header.req_id) {
		s->counters.stale++;
	} else if (!result_fits(aggregator, p)) {
		s->counters.malformed++;
	} else {
		aggregator->status = p->header.status;
		if (!aggregator->status) {
			memcpy(aggregator->data, p->payload, p->payload_bytes);
			aggregator->bytes = (uint16_t)p->payload_bytes;
			aggregator->elements = p->header.elements;
		}
		result_due_all(s, g, aggregator);
	}
}

/* ---- access checks ---- */

static bool key_right(const struct sw_group *g, const struct inc_packet *p)
{
	/* connection.c has checked RC data */
	return p->roce.opcode == ROCE_RC_SEND_ONLY || p->roce.qkey == g->qkey;
}

/* -1: no child sent the packet, or the header does not match. */
static int contributor(const struct sw_group *g, const struct arrival *a)
{
	const struct inc_header *h = &a->packet->header;
	int child = group_child(g, a->path->from_ip, a->path->from_port);
	bool is_switch = h->flags & INC_FLAG_SWITCH;

	if (child < 0 || g->children[child].is_switch != is_switch ||
	    (!is_switch && h->src_rank != g->children[child].first))
		return -1;
	return child;
}

/* The data fits an aggregator, and a member or switch may send it. */
static bool data_sound(const struct sw_group *g, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;

	if (p->payload_bytes > g->segment_bytes ||
	    (h->collective == INC_BARRIER && p->payload_bytes > 0))
		return false;
	return h->status == 0 || h->flags & (INC_FLAG_SWITCH | INC_FLAG_RESULT);
}

static void group_data_receive(struct sw *s, struct sw_group *g, const struct arrival *a)
{
	const struct inc_header *h = &a->packet->header;
	int child;

	if (!key_right(g, a->packet)) {
		/* no answer: the source may be forged */
		reject_data(s, a, DXP_EACCESS, false);
	} else if (h->epoch != g->epoch) {
		reject_data(s, a, DXP_ENOENT, true);
	} else if (!data_sound(g, a->packet)) {
		s->counters.malformed++;
	} else if (h->flags & INC_FLAG_RESULT) {
		if (g->parent_ip == 0 || a->path->from_ip != g->parent_ip)
			reject_data(s, a, DXP_EACCESS, false);
		else
			result_receive(s, g, a);
	} else if ((child = contributor(g, a)) < 0) {
		reject_data(s, a, DXP_EACCESS, true);
	} else if (!group_ready(g)) {
		/* retransmitted until all children are known */
		reject_data(s, a, DXP_EAGAIN, false);
	} else {
		contribution_receive(s, g, (unsigned)child, a);
	}
}

/* The format lacks fields: the sender shows the direction; the group has the epoch and req_id's
 * high bits. */
static void compat_complete(struct sw_group *g, const struct arrival *a, struct inc_header *h)
{
	int child = group_child(g, a->path->from_ip, a->path->from_port);

	h->epoch = g->epoch;
	h->req_id = inc_compat_req_id(g->near_id, h->req_id);
	if (child < 0 && g->parent_ip != 0 && a->path->from_ip == g->parent_ip)
		h->flags |= INC_FLAG_RESULT;
	else if (child >= 0 && g->children[child].is_switch)
		h->flags |= INC_FLAG_SWITCH;
	if (child >= 0 && g->children[child].first == h->src_rank)
		g->near_id = h->req_id;
}

void aggregator_data_receive(struct sw *s, const struct arrival *a)
{
	struct sw_group *g = group_find(s, a->packet->header.comm_id);
	bool compat = a->packet->header.flags & INC_FLAG_COMPAT;

	if (!g || g->compat != compat) {
		reject_data(s, a, DXP_ENOENT, true);
	} else if (!compat || !key_right(g, a->packet)) {
		group_data_receive(s, g, a);
	} else {
		struct inc_packet p = *a->packet;

		compat_complete(g, a, &p.header);
		group_data_receive(s, g, &(struct arrival){&p, a->path, a->now_ns});
	}
}
