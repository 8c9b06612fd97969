/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/top.h"
#include "nic/limits.h"
#include "wire/ids.h"

static json_t *integer(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *session_json(const struct stats_session *s)
{
	json_t *out = json_pack("{s:s, s:i, s:b}", "peer", s->peer, "node", s->node, "awake",
				s->active != 0);

	for (unsigned i = 0; out && i < STATS_SESSION_FIELDS; i++)
		json_object_set_new(out, stats_session_name(i), integer(s->values[i]));
	return out;
}

static json_t *totals_json(const struct stats_node *n)
{
	json_t *out = json_object();

	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++) {
		if (stats_session_counts(i) || i == STATS_SESSION_inflight ||
		    i == STATS_SESSION_lost || i == STATS_SESSION_waiting)
			json_object_set_new(out, stats_session_name(i), integer(n->totals[i]));
	}
	return out;
}

static json_t *counters_json(const struct stats_node *n)
{
	json_t *out = json_object();

	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++)
		json_object_set_new(out, stats_node_name(i), integer(n->values[i]));
	return out;
}

static bool qp_used(const struct stats_qp *q)
{
	return q->sent_messages || q->failed || q->received_messages || q->refused ||
	       q->waits_for_credit;
}

static json_t *qps_json(const struct stats_node *n)
{
	json_t *out = json_array();

	for (unsigned i = 0; i < STATS_QPS; i++) {
		const struct stats_qp *q = &n->qps[i];
		if (!qp_used(q))
			continue;
		json_array_append_new(
			out, json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "function",
				       (int)(i / NIC_QPS_PER_FUNCTION), "qp",
				       (int)(i % NIC_QPS_PER_FUNCTION), "sent_messages",
				       (json_int_t)q->sent_messages, "sent_bytes",
				       (json_int_t)q->sent_bytes, "failed", (json_int_t)q->failed,
				       "received_messages", (json_int_t)q->received_messages,
				       "received_bytes", (json_int_t)q->received_bytes, "refused",
				       (json_int_t)q->refused, "waits_for_credit",
				       (json_int_t)q->waits_for_credit));
	}
	return out;
}

static json_t *node_json_of(const struct stats_view *v)
{
	const struct stats_node *n = &v->node;
	json_t *sessions = json_array();

	for (uint32_t i = 0; i < n->session_rows; i++)
		json_array_append_new(sessions, session_json(&v->sessions[i]));
	return json_pack(
		"{s:s, s:o, s:s, s:s, s:i, s:s, s:I, s:I, s:i, s:o, s:o, s:o, s:o}", "name",
		n->name, "id", n->id == WIRE_NODE_NONE ? json_null() : json_integer(n->id), "kind",
		n->xpu ? "xpu" : "host", "program", n->program, "pid", (int)v->pid, "address",
		n->address, "up_ns", (json_int_t)(n->published_ns - n->started_ns), "age_ns",
		(json_int_t)v->age_ns, "session_count", (int)n->session_count, "counters",
		counters_json(n), "totals", totals_json(n), "sessions", sessions, "queue_pairs",
		qps_json(n));
}

static json_t *missing_json(const struct stats_view *v)
{
	return json_pack("{s:s, s:i, s:s, s:s, s:s}", "name", v->node.name, "id", v->node.id,
			 "kind", v->node.xpu ? "xpu" : "host", "address", v->node.address,
			 "missing", v->missing);
}

json_t *top_node_json(const struct stats_view *v)
{
	return v->missing ? missing_json(v) : node_json_of(v);
}
