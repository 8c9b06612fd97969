/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregators: collect contributions in any order, fold them in the order of children, and schedule
 * partial results for the parent and results for the children. docs/reference/inc.md "Segments and
 * aggregators". */
#include "switch/core.h"

#include <string.h>

#include <dxp/status.h>

/* ---- due packets ---- */

static void slot_queue(struct sw *s, struct sw_group *g, struct slot *slot)
{
	if (!slot->queued) {
		slot->queued = true;
		g->queue[g->queue_count++] = (uint16_t)(slot - g->slots);
	}
	group_turn(s, g);
}

static void result_due_all(struct sw *s, struct sw_group *g, struct slot *slot)
{
	slot->state = SLOT_DONE;
	slot->due = slot->there;
	slot->due_count = g->child_count;
	slot->up_due = false;
	g->results++;
	s->counters.results++;
	slot_queue(s, g, slot);
}

static void result_due_again(struct sw *s, struct sw_group *g, struct slot *slot, unsigned child)
{
	if (child_set_has(&slot->due, child))
		return;
	child_set_add(&slot->due, child);
	slot->due_count++;
	g->repeats++;
	s->counters.repeats++;
	slot_queue(s, g, slot);
}

static void partial_due(struct sw *s, struct sw_group *g, struct slot *slot, bool again,
			uint64_t now_ns)
{
	slot->state = SLOT_WAITING;
	slot->up_due = true;
	slot->up_again = again;
	slot->up_ns = now_ns;
	slot_queue(s, g, slot);
}

/* ---- contributions ---- */

static bool collective_computes(uint8_t collective)
{
	return collective == INC_ALLREDUCE || collective == INC_REDUCE;
}

static void slot_open(struct slot *slot, const struct inc_header *h)
{
	struct slot fresh = {
		.seq = h->req_id,
		.state = SLOT_COLLECTING,
		.op = h->op,
		.type = h->type,
		.collective = h->collective,
		.flags = h->flags & (INC_FLAG_SHORT | INC_FLAG_LAST),
		.root = h->root,
		.elements = h->collective == INC_BROADCAST ? 0 : h->elements,
		.call_elements = h->call_elements,
		.queued = slot->queued,
		.reduce =
			collective_computes(h->collective) ? reduce_function(h->op, h->type) : NULL,
		.data = slot->data,
	};

	*slot = fresh;
}

/* Elements are not compared for a broadcast: all contributions but the root's are empty. */
static bool slot_agrees(const struct slot *slot, const struct inc_header *h)
{
	return slot->op == h->op && slot->type == h->type && slot->collective == h->collective &&
	       slot->root == h->root && slot->call_elements == h->call_elements &&
	       (slot->elements == h->elements || h->collective == INC_BROADCAST);
}

static void slot_fail(struct sw *s, struct sw_group *g, struct slot *slot, int status)
{
	if (slot->status)
		return;
	slot->status = (uint8_t)-status;
	if (status == DXP_EINVAL) {
		g->mismatches++;
		s->counters.mismatches++;
	}
}

static void fold_waiting(const struct sw_group *g, struct slot *slot)
{
	while (slot->folded < g->child_count && child_set_has(&slot->there, slot->folded)) {
		slot->reduce(slot->data, slot->data + (size_t)slot->folded * slot->stride,
			     slot->elements);
		slot->folded++;
	}
}

static void fold(const struct sw_group *g, struct slot *slot, unsigned child,
		 const struct inc_packet *p)
{
	if (slot->stride == 0) {
		slot->bytes = (uint16_t)p->payload_bytes;
		slot->stride = (uint16_t)((p->payload_bytes + 15) & ~15ull);
	}
	if (child != slot->folded) {
		memcpy(slot->data + (size_t)child * slot->stride, p->payload, p->payload_bytes);
		return;
	}
	if (child == 0)
		memcpy(slot->data, p->payload, p->payload_bytes);
	else
		slot->reduce(slot->data, p->payload, slot->elements);
	slot->folded++;
	fold_waiting(g, slot);
}

/* Stores a broadcast's data. Returns false for a second copy, or data from a member that is not the
 * root. A child switch may send it for the root below it. */
static bool broadcast_take(const struct sw_group *g, struct slot *slot, unsigned child,
			   const struct inc_packet *p)
{
	const struct sw_child *from = &g->children[child];

	if (p->payload_bytes == 0)
		return true;
	if (slot->bytes > 0 || (!from->is_switch && from->first != p->header.root))
		return false;
	memcpy(slot->data, p->payload, p->payload_bytes);
	slot->bytes = (uint16_t)p->payload_bytes;
	slot->elements = p->header.elements;
	return true;
}

static void slot_take(struct sw *s, struct sw_group *g, struct slot *slot, unsigned child,
		      const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;
	bool computes = collective_computes(h->collective);

	if (h->status)
		slot_fail(s, g, slot, -(int)h->status);
	else if (!slot_agrees(slot, h))
		slot_fail(s, g, slot, DXP_EINVAL);
	else if (h->collective == INC_BROADCAST && !broadcast_take(g, slot, child, p))
		slot_fail(s, g, slot, DXP_EINVAL);
	else if (computes && !slot->reduce)
		slot_fail(s, g, slot, DXP_EUNSUPPORTED);
	else if (computes && p->payload_bytes > 0 && !slot->status)
		fold(g, slot, child, p);
}

static void slot_complete(struct sw *s, struct sw_group *g, struct slot *slot, uint64_t now_ns)
{
	if (g->parent_ip) {
		partial_due(s, g, slot, false, now_ns);
		return;
	}
	if (slot->collective == INC_BROADCAST && slot->bytes == 0)
		slot_fail(s, g, slot, DXP_EINVAL); /* the root sent no data */
	result_due_all(s, g, slot);
}

static void duplicate(struct sw *s, struct sw_group *g, struct slot *slot, unsigned child,
		      uint64_t now_ns)
{
	s->counters.duplicates++;
	if (slot->state == SLOT_DONE) {
		result_due_again(s, g, slot, child);
	} else if (slot->state == SLOT_WAITING && now_ns - slot->up_ns >= SWITCH_AGAIN_NS) {
		g->repeats++;
		s->counters.repeats++;
		partial_due(s, g, slot, true, now_ns);
	}
}

/* Returns the aggregator of a segment, reset if it held an older one; NULL: the segment is
 * stale. */
static struct slot *slot_for(struct sw_group *g, const struct inc_header *h, uint64_t now_ns)
{
	struct slot *slot = &g->slots[h->req_id & g->slot_mask];

	if (slot->state != SLOT_EMPTY && slot->seq == h->req_id)
		return slot;
	/* Both planes share the numbers: an aggregator may be idle while half of them pass. */
	if (slot->state != SLOT_EMPTY && seq_before(h->req_id, slot->seq) &&
	    now_ns - slot->touched_ns < SWITCH_STALE_NS)
		return NULL;
	slot_open(slot, h);
	return slot;
}

static void contribution_receive(struct sw *s, struct sw_group *g, unsigned child,
				 const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct slot *slot = slot_for(g, &p->header, a->now_ns);

	g->used_ns = a->now_ns;
	if (!slot) {
		s->counters.stale++;
		return;
	}
	if (child_set_has(&slot->there, child)) {
		duplicate(s, g, slot, child, a->now_ns);
		return;
	}
	child_set_add(&slot->there, child);
	slot->arrived++;
	slot->touched_ns = a->now_ns;
	g->contributions++;
	s->counters.contributions++;
	slot_take(s, g, slot, child, p);
	if (slot->arrived == g->child_count)
		slot_complete(s, g, slot, a->now_ns);
}

/* ---- results from the parent ---- */

static bool result_fits(const struct slot *slot, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;

	if (h->status)
		return true;
	if (slot->status || !slot_agrees(slot, h))
		return false;
	return h->collective != INC_BROADCAST || slot->bytes == 0 ||
	       slot->bytes == p->payload_bytes;
}

static void result_receive(struct sw *s, struct sw_group *g, const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct slot *slot = &g->slots[p->header.req_id & g->slot_mask];

	g->used_ns = a->now_ns;
	if (slot->state == SLOT_DONE && slot->seq == p->header.req_id) {
		s->counters.duplicates++;
	} else if (slot->state != SLOT_WAITING || slot->seq != p->header.req_id) {
		s->counters.stale++;
	} else if (!result_fits(slot, p)) {
		s->counters.malformed++;
	} else {
		slot->status = p->header.status;
		if (!slot->status) {
			memcpy(slot->data, p->payload, p->payload_bytes);
			slot->bytes = (uint16_t)p->payload_bytes;
			slot->elements = p->header.elements;
		}
		result_due_all(s, g, slot);
	}
}

/* ---- access checks ---- */

static bool key_right(const struct sw_group *g, const struct inc_packet *p)
{
	return p->roce.opcode == ROCE_RC_SEND_ONLY ? g->rc : p->roce.qkey == g->qkey;
}

/* Returns the index of the child that sent it, or -1 if the header does not match that child. */
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

/* Returns false for data that does not fit an aggregator or that no member may send. */
static bool data_sound(const struct sw_group *g, const struct inc_packet *p)
{
	const struct inc_header *h = &p->header;

	if (p->payload_bytes > g->segment_bytes ||
	    (h->collective == INC_BARRIER && p->payload_bytes > 0))
		return false;
	return h->status == 0 || h->flags & (INC_FLAG_SWITCH | INC_FLAG_RESULT);
}

void data_receive(struct sw *s, const struct arrival *a)
{
	const struct inc_header *h = &a->packet->header;
	struct sw_group *g = group_find(s, h->comm_id);
	int child;

	if (!g) {
		data_refuse(s, a, DXP_ENOENT, true);
	} else if (!key_right(g, a->packet)) {
		data_refuse(s, a, DXP_EACCESS, false); /* the sender may be forged: no answer */
	} else if (h->epoch != g->epoch) {
		data_refuse(s, a, DXP_ENOENT, true);
	} else if (!data_sound(g, a->packet)) {
		s->counters.malformed++;
	} else if (h->flags & INC_FLAG_RESULT) {
		if (g->parent_ip == 0 || a->path->from_ip != g->parent_ip)
			data_refuse(s, a, DXP_EACCESS, false);
		else
			result_receive(s, g, a);
	} else if ((child = contributor(g, a)) < 0) {
		data_refuse(s, a, DXP_EACCESS, true);
	} else if (!group_ready(g)) {
		data_refuse(s, a, DXP_EAGAIN, false); /* its sender retransmits */
	} else {
		contribution_receive(s, g, (unsigned)child, a);
	}
}
