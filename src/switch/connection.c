/* SPDX-License-Identifier: BSD-3-Clause */
/* Reliable connections (RC) of groups: children connect to this switch, and it to the parent. Data
 * belong to the connection's group and child. */
#include "switch/core.h"

#include <stdlib.h>

#include <dxp/status.h>

#define PARENT (-1)

struct sw_connection {
	struct rc_connection *rc;
	struct sw_group *group;
	int child; /* PARENT: the peer is the parent */
	uint32_t number;
	bool due; /* in the list from sw.due_first */
	struct sw_connection *due_next;
};

static struct sw_connection **place_of(struct sw_group *g, int child)
{
	return child == PARENT ? &g->parent_connection : &g->connections[child];
}

static void due_add(struct sw *s, struct sw_connection *n)
{
	if (n->due)
		return;
	n->due = true;
	n->due_next = NULL;
	*(s->due_last ? &s->due_last->due_next : &s->due_first) = n;
	s->due_last = n;
}

static void due_remove(struct sw *s, struct sw_connection *n)
{
	struct sw_connection *before = NULL;

	if (!n->due)
		return;
	for (struct sw_connection *i = s->due_first; i != n; i = i->due_next)
		before = i;
	*(before ? &before->due_next : &s->due_first) = n->due_next;
	if (s->due_last == n)
		s->due_last = before;
	n->due = false;
}

/* ---- opening and closing ---- */

static uint16_t ring_of(const struct sw_group *g)
{
	return g->window < SWITCH_RING_MIN / 2 ? SWITCH_RING_MIN : (uint16_t)(2 * g->window);
}

static uint64_t ring_bytes(const struct sw_group *g)
{
	return (uint64_t)ring_of(g) * (g->segment_bytes + INC_HEADER_BYTES);
}

/* Makes a connection without `rc`; the caller adds private data to `o`. NULL: no memory. */
static struct sw_connection *connection_new(struct sw *s, struct sw_group *g, int child,
					    struct rc_options *o)
{
	const struct sw_child *peer = child == PARENT ? NULL : &g->children[child];
	uint16_t from_port = peer ? peer->port : ROCE_SOURCE_PORT;
	struct sw_connection *n = NULL;

	if (ring_bytes(g) <= s->options.memory_max - s->memory_bytes)
		n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->group = g;
	n->child = child;
	n->number = rc_table_add(&s->numbers, n);
	if (n->number == 0) {
		free(n);
		return NULL;
	}
	*o = (struct rc_options){
		.ends = {address_v4(s->options.ip, from_port),
			 address_v4(peer ? peer->ip : g->parent_ip, ROCE_PORT)},
		.id = n->number,
		.number = n->number,
		.first_psn = (uint32_t)rng_next(&s->rng) & ROCE_PSN_MASK,
		.window = ring_of(g),
		.message_bytes = (uint16_t)(g->segment_bytes + INC_HEADER_BYTES),
	};
	return n;
}

static void connection_free(struct sw *s, struct sw_connection *n)
{
	due_remove(s, n);
	rc_table_remove(&s->numbers, n->number);
	if (s->numbers.used == 0)
		s->timer_ns = UINT64_MAX;
	rc_close(n->rc);
	free(n);
}

/* Enters the connection if `status` is DXP_OK, else frees it. Returns `status`. */
static int connection_enter(struct sw *s, struct sw_connection *n, int status)
{
	struct sw_group *g = n->group;

	if (status != DXP_OK) {
		connection_free(s, n);
		return status;
	}
	*place_of(g, n->child) = n;
	g->memory_bytes += ring_bytes(g);
	s->memory_bytes += ring_bytes(g);
	due_add(s, n);
	return DXP_OK;
}

static void connection_end(struct sw *s, struct sw_group *g, int child)
{
	struct sw_connection **n = place_of(g, child);

	if (!*n)
		return;
	connection_free(s, *n);
	*n = NULL;
	g->memory_bytes -= ring_bytes(g);
	s->memory_bytes -= ring_bytes(g);
}

void connections_end(struct sw *s, struct sw_group *g)
{
	for (int child = PARENT; child < g->child_count; child++)
		connection_end(s, g, child);
}

static int parent_connect(struct sw *s, struct sw_group *g, uint64_t now_ns)
{
	const struct inc_connect hello = {g->id, g->qkey, g->epoch};
	struct rc_options o;
	struct sw_connection *n = connection_new(s, g, PARENT, &o);

	if (!n)
		return DXP_ENOMEM;
	inc_connect_encode(&hello, o.private_data);
	return connection_enter(s, n, rc_connect(&o, now_ns, &n->rc));
}

/* ---- requests ---- */

static void request_reject(struct sw *s, const struct rc_cm_message *req,
			   const struct roce_path *path, uint16_t reason, uint64_t now_ns)
{
	const struct rc_cm_message rej = {.kind = RC_CM_REJ,
					  .transaction = req->transaction,
					  .remote_id = req->local_id,
					  .reason = reason};
	struct message *m = NULL;
	uint8_t *mad;

	if (reject_answer_allowed(s, path->from_ip, now_ns))
		m = message_answer_new(s, &mad);
	if (!m)
		return;
	rc_cm_encode(&rej, mad);
	m->path = (struct roce_path){s->options.ip, path->from_ip, path->from_port, ROCE_PORT};
	m->mad = true;
}

static void request_accept(struct sw *s, struct sw_group *g, int child,
			   const struct rc_cm_message *req, const struct roce_path *path,
			   uint64_t now_ns)
{
	struct sw_connection *n = g->connections[child];
	struct rc_options o;
	int status = DXP_ENOMEM;

	if (n && rc_request_again(n->rc, req)) {
		due_add(s, n);
		return;
	}
	connection_end(s, g, child); /* the child has restarted */
	n = connection_new(s, g, child, &o);
	if (n)
		status = connection_enter(s, n, rc_accept(&o, req, &n->rc));
	if (status == DXP_OK)
		g->rc = true;
	else
		request_reject(s, req, path, RC_CM_REJ_CONSUMER, now_ns);
}

static void request_receive(struct sw *s, const struct rc_cm_message *req,
			    const struct roce_path *path, uint64_t now_ns)
{
	struct inc_connect hello;
	struct sw_group *g;
	int child;

	if (req->service != RC_CM_SERVICE ||
	    inc_connect_decode(req->private_data, &hello) != DXP_OK) {
		request_reject(s, req, path, RC_CM_REJ_SERVICE, now_ns);
		return;
	}
	g = group_find(s, hello.comm_id);
	if (!g || g->epoch != hello.epoch || g->compat) {
		s->counters.refused++;
		request_reject(s, req, path, RC_CM_REJ_CONSUMER, now_ns);
		return;
	}
	child = group_child(g, path->from_ip, path->from_port);
	if (g->qkey != hello.qkey || child < 0)
		s->counters.refused++; /* no answer: the source may be forged */
	else
		request_accept(s, g, child, req, path, now_ns);
}

/* ---- input ---- */

static uint32_t number_of(const uint8_t *data, size_t bytes, const struct rc_cm_message *m)
{
	struct roce_header h;
	size_t payload_bytes;

	if (m)
		return m->remote_id;
	return roce_header_decode(data, bytes, &h, &payload_bytes) == DXP_OK ? h.dest_qp : 0;
}

static bool peer_is(const struct sw_connection *n, const struct roce_path *path)
{
	const struct sw_group *g = n->group;

	if (n->child == PARENT)
		return path->from_ip == g->parent_ip;
	return path->from_ip == g->children[n->child].ip &&
	       path->from_port == g->children[n->child].port;
}

static void message_receive(struct sw *s, const struct sw_connection *n, const uint8_t *message,
			    size_t bytes, const struct roce_path *path, uint64_t now_ns)
{
	struct inc_packet p = {.roce = {.opcode = ROCE_RC_SEND_ONLY}};

	if (inc_message_decode(message, bytes, &p) != DXP_OK || p.header.kind != INC_DATA ||
	    p.header.comm_id != n->group->id)
		s->counters.malformed++;
	else
		aggregator_data_receive(s, &(struct arrival){&p, path, now_ns});
}

void connection_receive(struct sw *s, const uint8_t *data, size_t bytes,
			const struct roce_path *path, uint64_t now_ns)
{
	struct rc_cm_message m;
	int status = rc_cm_packet_decode(data, bytes, &m);
	struct sw_connection *n;
	const uint8_t *message;
	size_t message_bytes;

	if (status != DXP_OK && status != DXP_ENOENT) {
		s->counters.malformed++;
		return;
	}
	if (status == DXP_OK && m.kind == RC_CM_REQ) {
		request_receive(s, &m, path, now_ns);
		return;
	}
	n = rc_table_find(&s->numbers, number_of(data, bytes, status == DXP_OK ? &m : NULL));
	if (!n || !peer_is(n, path)) {
		s->counters.refused++; /* no answer, as for unknown queue pairs */
		return;
	}
	message = rc_receive(n->rc, data, bytes, n->child == PARENT || group_ready(n->group),
			     now_ns, &message_bytes);
	due_add(s, n);
	if (message)
		message_receive(s, n, message, message_bytes, path, now_ns);
}

/* ---- output ---- */

static bool segment_post(struct sw *s, struct sw_connection *n, const struct inc_header *h,
			 const struct aggregator *aggregator)
{
	uint8_t front[INC_HEADER_BYTES];

	inc_message_encode(h, front);
	if (rc_post(n->rc, front, sizeof(front), aggregator->data,
		    aggregator->status ? 0 : aggregator->bytes) != DXP_OK)
		s->counters.limited++; /* hosts send again */
	due_add(s, n);
	return true;
}

bool connection_result_post(struct sw *s, struct sw_group *g, unsigned child,
			    const struct inc_header *h, const struct aggregator *aggregator)
{
	struct sw_connection *n = g->connections[child];

	return n && segment_post(s, n, h, aggregator);
}

bool connection_partial_post(struct sw *s, struct sw_group *g, const struct inc_header *h,
			     const struct aggregator *aggregator, uint64_t now_ns)
{
	if (!g->rc || (!g->parent_connection && parent_connect(s, g, now_ns) != DXP_OK))
		return false;
	return segment_post(s, g->parent_connection, h, aggregator);
}

/* Connections with expired timers become due; finds the next timer. */
static void timers_check(struct sw *s, uint64_t now_ns)
{
	if (now_ns < s->timer_ns)
		return;
	s->timer_ns = UINT64_MAX;
	for (uint32_t i = 0; i < s->numbers.space; i++) {
		struct sw_connection *n = s->numbers.entries[i];
		uint64_t at_ns = n ? rc_deadline(n->rc) : UINT64_MAX;

		if (at_ns <= now_ns)
			due_add(s, n);
		else
			s->timer_ns = min_u64(s->timer_ns, at_ns);
	}
}

void connections_give(struct sw *s, struct inc_batch *out, uint64_t now_ns)
{
	timers_check(s, now_ns);
	while (s->due_first && out->count < out->space) {
		struct sw_connection *n = s->due_first;

		if (rc_send(n->rc, out, now_ns))
			continue; /* full batch: it stays in the list */
		due_remove(s, n);
		s->timer_ns = min_u64(s->timer_ns, rc_deadline(n->rc));
	}
}

uint64_t connections_deadline(const struct sw *s)
{
	return s->due_first ? 0 : s->timer_ns;
}
