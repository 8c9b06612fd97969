/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of the core: messages, then results and partial results by group, ordered by child, then
 * segment, so that a child's packets form GSO batches. */
#include "switch/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* Drops sent messages, then doubles the array up to SWITCH_MESSAGES_MAX; false: no space. */
static bool message_space(struct sw *s)
{
	uint32_t waiting = s->message_end - s->message_first, space = 2 * s->message_space;
	struct message *messages;

	if (s->message_first > 0) {
		memmove(s->messages, s->messages + s->message_first,
			waiting * sizeof(*s->messages));
		s->message_first = 0;
		s->message_end = waiting;
		if (waiting == 0)
			s->answer_count = 0;
	}
	if (waiting < s->message_space)
		return true;
	if (space > SWITCH_MESSAGES_MAX)
		return false;
	messages = realloc(s->messages, space * sizeof(*messages));
	if (!messages)
		return false;
	s->messages = messages;
	s->message_space = space;
	return true;
}

struct message *message_new(struct sw *s)
{
	bool all_sent = s->message_first == s->message_end && s->message_first > 0;

	if ((all_sent || s->message_end == s->message_space) && !message_space(s)) {
		s->counters.limited++;
		return NULL;
	}

	struct message *m = &s->messages[s->message_end++];

	m->answer = 0;
	m->mad = false;
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

static void packet_give(struct inc_batch *out, const struct inc_header *h, uint32_t qkey,
			const struct roce_path *path, const void *payload, size_t bytes)
{
	size_t i = out->count++;

	out->from_ports[i] = path->from_port;
	inc_packet_encode(h, ROCE_UD_SEND_ONLY, qkey, INC_QP, INC_QP, path, payload, bytes,
			  &out->datagrams[i], out->trailers[i]);
}

static void mad_give(struct inc_batch *out, const struct roce_path *path, const uint8_t *mad)
{
	const struct roce_ends ends = {address_v4(path->from_ip, path->from_port),
				       address_v4(path->to_ip, path->to_port)};

	rc_mad_add(out, &ends, mad);
}

static void messages_give(struct sw *s, struct inc_batch *out, size_t space)
{
	while (s->message_first != s->message_end && out->count < space) {
		const struct message *m = &s->messages[s->message_first++];
		const uint8_t *payload = m->answer ? s->answers[m->answer - 1] : m->payload;

		if (m->mad)
			mad_give(out, &m->path, payload);
		else
			packet_give(out, &m->header, m->qkey, &m->path, payload, m->bytes);
	}
}

/* ---- segments ---- */

static struct inc_header segment_header(const struct sw_group *g,
					const struct aggregator *aggregator)
{
	return (struct inc_header){
		.comm_id = g->id,
		.epoch = g->epoch,
		.op = aggregator->op,
		.type = aggregator->type,
		.req_id = aggregator->seq,
		.call_elements = aggregator->call_elements,
		.elements = aggregator->status ? 0 : aggregator->elements,
		.root = aggregator->root,
		.kind = INC_DATA,
		.flags = aggregator->flags | (g->compat ? INC_FLAG_COMPAT : 0) |
			 (aggregator->flags & INC_FLAG_SHORT ? 0 : INC_FLAG_TRAIN),
		.status = aggregator->status,
		.collective = aggregator->collective,
	};
}

/* A result goes to many children, so a full segment's CRC is computed once. */
static void segment_give(const struct sw *s, const struct sw_group *g,
			 struct aggregator *aggregator, const struct inc_header *h,
			 const struct roce_path *path, struct inc_batch *out)
{
	struct inc_sum sum = {&s->shift, 0};
	size_t bytes = aggregator->status ? 0 : aggregator->bytes, i = out->count;

	if (g->compat || bytes != s->shift.bytes || aggregator->state != AGGREGATOR_DONE) {
		packet_give(out, h, g->qkey, path, aggregator->data, bytes);
		return;
	}
	if (!aggregator->summed) {
		aggregator->sum = crc32_ieee(0, aggregator->data, bytes);
		aggregator->summed = true;
	}
	sum.crc = aggregator->sum;
	out->count++;
	out->from_ports[i] = path->from_port;
	inc_packet_encode_summed(h, ROCE_UD_SEND_ONLY, g->qkey, INC_QP, INC_QP, path,
				 aggregator->data, &sum, &out->datagrams[i], out->trailers[i]);
}

static void partial_give(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
			 struct inc_batch *out, uint64_t now_ns)
{
	struct roce_path path = {s->options.ip, g->parent_ip, ROCE_SOURCE_PORT, ROCE_PORT};
	struct inc_header h = segment_header(g, aggregator);

	h.src_rank = g->first;
	h.flags |= INC_FLAG_SWITCH | (aggregator->up_again ? INC_FLAG_REPEAT : 0);
	if (!connection_partial_post(s, g, &h, aggregator, now_ns))
		segment_give(s, g, aggregator, &h, &path, out);
	aggregator->up_due = false;
}

static void result_give(struct sw *s, struct sw_group *g, struct aggregator *aggregator,
			unsigned child, struct inc_batch *out)
{
	const struct sw_child *to = &g->children[child];
	struct roce_path path = {s->options.ip, to->ip, to->port, ROCE_PORT};
	struct inc_header h = segment_header(g, aggregator);

	/* src_rank stays 0: the lowest member below the root. */
	h.flags |= INC_FLAG_RESULT | (aggregator->sent_once ? INC_FLAG_REPEAT : 0);
	if (!connection_result_post(s, g, child, &h, aggregator))
		segment_give(s, g, aggregator, &h, &path, out);
	child_set_drop(&aggregator->due, child);
	aggregator->due_count--;
}

/* All that is due to g->cursor. False: the batch is full. */
static bool group_output_give(struct sw *s, struct sw_group *g, struct inc_batch *out, size_t space,
			      uint64_t now_ns)
{
	for (uint32_t i = 0; i < g->queue_count; i++) {
		struct aggregator *aggregator = &g->aggregators[g->queue[i]];

		if (g->cursor == 0 ? !aggregator->up_due
				   : !child_set_has(&aggregator->due, g->cursor - 1))
			continue;
		if (out->count == space)
			return false;
		if (g->cursor == 0)
			partial_give(s, g, aggregator, out, now_ns);
		else
			result_give(s, g, aggregator, g->cursor - 1, out);
	}
	return true;
}

static void queue_clean(struct sw_group *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->queue_count; i++) {
		struct aggregator *aggregator = &g->aggregators[g->queue[i]];

		aggregator->sent_once |=
			aggregator->state == AGGREGATOR_DONE && aggregator->due_count == 0;
		aggregator->queued = aggregator->due_count > 0 || aggregator->up_due;
		if (aggregator->queued)
			g->queue[kept++] = g->queue[i];
	}
	g->queue_count = kept;
}

/* Appends up to a quantum. Returns true if there are more packets. */
static bool group_give(struct sw *s, struct sw_group *g, struct inc_batch *out, uint64_t now_ns)
{
	size_t space = min_u64(out->space, out->count + SWITCH_QUANTUM);

	for (uint32_t rounds = 0; rounds <= g->child_count; rounds++) {
		if (!group_output_give(s, g, out, space, now_ns))
			break;
		g->cursor = g->cursor == g->child_count ? 0 : g->cursor + 1;
	}
	queue_clean(g);
	return g->queue_count > 0;
}

size_t switch_send(struct sw *s, struct inc_batch *out, uint64_t now_ns)
{
	size_t before = out->count, space = out->space;

	assert(out->count <= out->space);
	/* While results wait, messages get half of the batch. */
	messages_give(s, out, s->output_first ? before + (space - before + 1) / 2 : space);
	while (s->output_first && out->count < space) {
		struct sw_group *g = s->output_first;

		s->output_first = g->output_next;
		if (!s->output_first)
			s->output_last = NULL;
		g->output_queued = false;
		if (group_give(s, g, out, now_ns))
			group_output_enqueue(s, g);
	}
	connections_give(s, out, now_ns);
	messages_give(s, out, space);
	s->counters.sent += out->count - before;
	return out->count - before;
}
