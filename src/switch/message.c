/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of the core: messages first, then results and partial results group by group. Within a
 * group packets leave by child, then by segment, so that runs to one child form GSO batches. */
#include "switch/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* Makes space for one message: drops sent ones, then doubles the array up to SWITCH_MESSAGES_MAX.
 * Returns false at the bound or without memory. */
static bool message_room(struct sw *s)
{
	uint32_t waiting = s->message_end - s->message_first, room = 2 * s->message_room;
	struct message *messages;

	if (s->message_first > 0) {
		memmove(s->messages, s->messages + s->message_first,
			waiting * sizeof(*s->messages));
		s->message_first = 0;
		s->message_end = waiting;
		if (waiting == 0)
			s->answer_count = 0;
	}
	if (waiting < s->message_room)
		return true;
	if (room > SWITCH_MESSAGES_MAX)
		return false;
	messages = realloc(s->messages, room * sizeof(*messages));
	if (!messages)
		return false;
	s->messages = messages;
	s->message_room = room;
	return true;
}

struct message *message_new(struct sw *s)
{
	bool all_sent = s->message_first == s->message_end && s->message_first > 0;

	if ((all_sent || s->message_end == s->message_room) && !message_room(s)) {
		s->counters.limited++;
		return NULL;
	}

	struct message *m = &s->messages[s->message_end++];

	m->answer = 0;
	return m;
}

struct message *message_answer_new(struct sw *s, uint8_t **rows)
{
	if (!s->answers)
		s->answers = malloc(SWITCH_ANSWERS * sizeof(*s->answers));

	struct message *m = s->answers ? message_new(s) : NULL;

	if (!m)
		return NULL;
	if (s->answer_count == SWITCH_ANSWERS) {
		s->message_end--;
		s->counters.limited++;
		return NULL;
	}
	*rows = s->answers[s->answer_count++];
	m->answer = (uint8_t)s->answer_count;
	return m;
}

void acknowledge(struct sw *s, const struct arrival *a)
{
	struct message *m = message_new(s);

	if (!m)
		return;
	m->header = (struct inc_header){.req_id = a->packet->roce.psn};
	m->path =
		(struct roce_path){s->options.ip, a->path->from_ip, a->path->from_port, ROCE_PORT};
	m->qkey = 0;
	m->opcode = ROCE_RC_ACK;
	m->bytes = 0;
}

static void packet_give(struct inc_batch *out, const struct inc_header *h, uint8_t opcode,
			uint32_t qkey, const struct roce_path *path, const void *payload,
			size_t bytes)
{
	size_t i = out->count++;

	out->from_ports[i] = path->from_port;
	inc_packet_encode(h, opcode, opcode == ROCE_UD_SEND_ONLY ? qkey : 0, INC_QP, INC_QP, path,
			  payload, bytes, &out->datagrams[i], out->trailers[i]);
}

static void messages_give(struct sw *s, struct inc_batch *out, size_t room)
{
	while (s->message_first != s->message_end && out->count < room) {
		const struct message *m = &s->messages[s->message_first++];
		const uint8_t *payload = m->answer ? s->answers[m->answer - 1] : m->payload;

		packet_give(out, &m->header, m->opcode, m->qkey, &m->path, payload, m->bytes);
	}
}

/* ---- segments ---- */

static struct inc_header segment_header(const struct sw_group *g, const struct slot *slot)
{
	return (struct inc_header){
		.comm_id = g->id,
		.epoch = g->epoch,
		.op = slot->op,
		.type = slot->type,
		.req_id = slot->seq,
		.call_elements = slot->call_elements,
		.elements = slot->status ? 0 : slot->elements,
		.root = slot->root,
		.kind = INC_DATA,
		.flags = slot->flags | (slot->flags & INC_FLAG_SHORT ? 0 : INC_FLAG_TRAIN),
		.status = slot->status,
		.collective = slot->collective,
	};
}

/* Appends one packet. A full segment's result goes to many children with the same payload, so its
 * CRC is computed once. */
static void segment_give(const struct sw *s, const struct sw_group *g, struct slot *slot,
			 const struct inc_header *h, const struct roce_path *path,
			 struct inc_batch *out)
{
	uint8_t opcode = g->rc ? ROCE_RC_SEND_ONLY : ROCE_UD_SEND_ONLY;
	struct inc_sum sum = {&s->shift, 0};
	size_t bytes = slot->status ? 0 : slot->bytes, i = out->count;

	if (bytes != s->shift.bytes || slot->state != SLOT_DONE) {
		packet_give(out, h, opcode, g->qkey, path, slot->data, bytes);
		return;
	}
	if (!slot->summed) {
		slot->sum = crc32_ieee(0, slot->data, bytes);
		slot->summed = true;
	}
	sum.crc = slot->sum;
	out->count++;
	out->from_ports[i] = path->from_port;
	inc_packet_encode_summed(h, opcode, g->rc ? 0 : g->qkey, INC_QP, INC_QP, path, slot->data,
				 &sum, &out->datagrams[i], out->trailers[i]);
}

static void partial_give(const struct sw *s, const struct sw_group *g, struct slot *slot,
			 struct inc_batch *out)
{
	struct roce_path path = {s->options.ip, g->parent_ip, ROCE_SOURCE_PORT, ROCE_PORT};
	struct inc_header h = segment_header(g, slot);

	h.src_rank = g->first;
	h.flags |= INC_FLAG_SWITCH | (slot->up_again ? INC_FLAG_REPEAT : 0);
	segment_give(s, g, slot, &h, &path, out);
	slot->up_due = false;
}

static void result_give(const struct sw *s, const struct sw_group *g, struct slot *slot,
			unsigned child, struct inc_batch *out)
{
	const struct sw_child *to = &g->children[child];
	struct roce_path path = {s->options.ip, to->ip, to->port, ROCE_PORT};
	struct inc_header h = segment_header(g, slot);

	/* src_rank stays 0: the lowest member below the tree's root is member 0. */
	h.flags |= INC_FLAG_RESULT | (slot->told ? INC_FLAG_REPEAT : 0);
	segment_give(s, g, slot, &h, &path, out);
	child_set_drop(&slot->due, child);
	slot->due_count--;
}

/* Appends all packets due to the destination at g->cursor. Returns false if space runs out. */
static bool turn_give(const struct sw *s, struct sw_group *g, struct inc_batch *out, size_t room)
{
	for (uint32_t i = 0; i < g->queue_count; i++) {
		struct slot *slot = &g->slots[g->queue[i]];

		if (g->cursor == 0 ? !slot->up_due : !child_set_has(&slot->due, g->cursor - 1))
			continue;
		if (out->count == room)
			return false;
		if (g->cursor == 0)
			partial_give(s, g, slot, out);
		else
			result_give(s, g, slot, g->cursor - 1, out);
	}
	return true;
}

/* Removes aggregators without due packets from the queue. */
static void queue_clean(struct sw_group *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->queue_count; i++) {
		struct slot *slot = &g->slots[g->queue[i]];

		slot->told |= slot->state == SLOT_DONE && slot->due_count == 0;
		slot->queued = slot->due_count > 0 || slot->up_due;
		if (slot->queued)
			g->queue[kept++] = g->queue[i];
	}
	g->queue_count = kept;
}

/* Sends one quantum of the group. Returns true if it has more. */
static bool group_give(const struct sw *s, struct sw_group *g, struct inc_batch *out)
{
	size_t room = min_u64(out->room, out->count + SWITCH_TURN);

	for (uint32_t turns = 0; turns <= g->child_count; turns++) {
		if (!turn_give(s, g, out, room))
			break;
		g->cursor = g->cursor == g->child_count ? 0 : g->cursor + 1;
	}
	queue_clean(g);
	return g->queue_count > 0;
}

size_t sw_send(struct sw *s, struct inc_batch *out, uint64_t now_ns)
{
	size_t before = out->count, room = out->room;

	(void)now_ns;
	assert(out->count <= out->room);
	/* While results wait, messages get half of the space, so that they cannot block results. */
	messages_give(s, out, s->turn_first ? before + (room - before + 1) / 2 : room);
	while (s->turn_first && out->count < room) {
		struct sw_group *g = s->turn_first;

		s->turn_first = g->turn_next;
		if (!s->turn_first)
			s->turn_last = NULL;
		g->turning = false;
		if (group_give(s, g, out))
			group_turn(s, g);
	}
	messages_give(s, out, room);
	s->counters.sent += out->count - before;
	return out->count - before;
}
