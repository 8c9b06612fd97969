/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/observe.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"
#include "node/tap.h"

static _Atomic uint32_t nodes_opened;
static _Atomic uint32_t never_wanted; /* `tap_wanted` of nodes that publish no file */

_Static_assert(sizeof(struct stats_qp) == sizeof(struct nic_qp_counters), "the same counters");

static void session_values(const struct rltp_view *v, uint64_t out[STATS_SESSION_FIELDS])
{
#define COUNTER(name) out[STATS_SESSION_##name] = v->counters.name;
#define LEVEL(name)   out[STATS_SESSION_##name] = v->name;
	COUNTER(sent_packets)
	COUNTER(sent_bytes)
	COUNTER(received_packets)
	COUNTER(received_bytes)
	COUNTER(acked_packets)
	COUNTER(abandoned_packets)
	COUNTER(retransmitted_gap)
	COUNTER(retransmitted_probe)
	COUNTER(retransmitted_timeout)
	COUNTER(retransmitted_busy)
	COUNTER(spurious)
	COUNTER(timeouts)
	COUNTER(duplicates)
	COUNTER(beyond_window)
	COUNTER(out_of_order)
	COUNTER(refused)
	COUNTER(no_memory)
	COUNTER(marked)
	COUNTER(acks_sent)
	COUNTER(acks_received)
	COUNTER(acks_bad)
	COUNTER(nacks_sent)
	COUNTER(nacks_received)
	COUNTER(credits_sent)
	COUNTER(credits_received)
	COUNTER(credits_asked)
	LEVEL(protect)
	LEVEL(window)
	LEVEL(peer_window)
	LEVEL(inflight)
	LEVEL(lost)
	LEVEL(waiting)
	LEVEL(srtt_ns)
	LEVEL(min_rtt_ns)
	LEVEL(delay_ns)
	LEVEL(min_delay_ns)
	LEVEL(reorder_window_ns)
#undef COUNTER
#undef LEVEL
	out[STATS_SESSION_open] = v->state == RLTP_OPEN;
	out[STATS_SESSION_payload_bytes] = v->unit;
	out[STATS_SESSION_pace_bytes_per_s] = v->pace_bps == UINT64_MAX ? 0 : v->pace_bps;
}

static bool summable(enum stats_session_field f)
{
	return stats_session_counts(f) || f == STATS_SESSION_open || f == STATS_SESSION_inflight ||
	       f == STATS_SESSION_lost || f == STATS_SESSION_waiting;
}

struct publication {
	struct node *node;
	struct stats_node *out;
	/* true: this pass writes active sessions; false: idle ones, in the second pass */
	bool active;
};

static void name_of(const struct node *n, uint16_t id, char out[FABRIC_NAME_BYTES])
{
	const struct node_table *table = node_table(n);
	const struct node_entry *e = table ? node_table_find(table, id) : NULL;

	snprintf(out, FABRIC_NAME_BYTES, "%s", e ? e->name : "");
}

static bool never_used(const struct rltp_view *v)
{
	return v->state == RLTP_IDLE && v->counters.sent_packets == 0 &&
	       v->counters.received_packets == 0;
}

static void session_publish(void *context, struct rltp_session *s)
{
	struct publication *p = context;
	uint64_t values[STATS_SESSION_FIELDS];
	struct rltp_view view;

	if (rltp_session_is_active(s) != p->active)
		return;
	rltp_session_view(s, &view);
	if (never_used(&view))
		return;
	session_values(&view, values);
	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++)
		p->out->totals[i] += summable(i) ? values[i] : 0;
	p->out->session_count++;
	struct stats_session *row = stats_row(p->node->observe.stats);
	if (!row)
		return;
	name_of(p->node, view.node, row->peer);
	row->node = view.node;
	row->active = p->active;
	memcpy(row->values, values, sizeof(values));
}

static void node_values(struct node *n, struct stats_node *out)
{
	const struct rltp_endpoint_counters *endpoint =
		rltp_endpoint_counters(nic_endpoint(n->nic));
	const struct nic_counters *nic = nic_counters(n->nic);
	struct link_counters link;

	link_counters(n->link, &link);
#define SERVE(name)    out->values[STATS_SERVE_##name] = n->observe.serve.counters.name;
#define LINK(name)     out->values[STATS_LINK_##name] = link.name;
#define ENDPOINT(name) out->values[STATS_LINK_##name] = endpoint->name;
#define NIC(name)      out->values[STATS_NIC_##name] = nic->name;
	STATS_LINK_LIST(LINK)
	STATS_ENDPOINT_LIST(ENDPOINT)
	STATS_NIC_LIST(NIC)
	STATS_SERVE_LIST(SERVE)
#undef SERVE
#undef LINK
#undef ENDPOINT
#undef NIC
}

static void qps_publish(struct node *n, struct stats_node *out)
{
	struct nic_qp_counters c;

	for (unsigned i = 0; i < STATS_QPS; i++) {
		nic_qp_counters(n->nic, i / NIC_QPS_PER_FUNCTION, i % NIC_QPS_PER_FUNCTION, &c);
		out->qps[i] = (struct stats_qp){c.sent_messages,     c.sent_bytes,     c.failed,
						c.received_messages, c.received_bytes, c.refused,
						c.waits_for_credit};
	}
}

void observe_publish(struct node *n, uint64_t now_ns)
{
	struct observe *o = &n->observe;
	struct udp_address address;
	struct publication p = {.node = n, .active = true};

	p.out = stats_begin(o->stats);
	p.out->id = n->id;
	p.out->published_ns = now_ns;
	node_address(n, &address);
	address_format(&address, p.out->address);
	tap_moved(o->tap, &address);
	node_values(n, p.out);
	qps_publish(n, p.out);
	p.out->session_count = 0;
	memcpy(p.out->totals, o->gone, sizeof(o->gone));
	rltp_endpoint_sessions(nic_endpoint(n->nic), session_publish, &p);
	p.active = false;
	rltp_endpoint_sessions(nic_endpoint(n->nic), session_publish, &p);
	stats_commit(o->stats);
	/* A publication that takes longer (thousands of sessions) is made less often, so that its
	 * share of time stays constant. */
	uint64_t end_ns = clock_now_ns();
	o->interval_ns = max_u64(STATS_INTERVAL_NS, STATS_COST * (end_ns - now_ns));
	o->due_ns = UINT64_MAX;
	tap_flush(o->tap);
	if (end_ns >= tap_deadline(o->tap))
		observe_tap(n);
}

void observe_peer_lost(struct node *n, uint16_t peer)
{
	struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n->nic), peer);
	uint64_t values[STATS_SESSION_FIELDS];
	struct rltp_view v;

	if (!s)
		return;
	rltp_session_view(s, &v);
	v.counters.abandoned_packets += v.inflight + v.lost + v.waiting;
	session_values(&v, values);
	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++)
		n->observe.gone[i] += stats_session_counts(i) ? values[i] : 0;
}

void observe_tap(struct node *n)
{
	struct observe *o = &n->observe;

	o->tap_seen = atomic_load_explicit(o->tap_wanted, memory_order_acquire);
	if (!o->stats)
		return;
	tap_look(o->tap, stats_folder(o->stats), stats_tap_name(o->stats));
	link_tap_set(n->link, tap_link(o->tap));
	/* Release: pairs with the tracer's acquire, so that a tracer that sees this value also sees
	 * `busy` of the ring. */
	atomic_store_explicit(&stats_map(o->stats)->tap_seen, o->tap_seen, memory_order_release);
}

void observe_serve(struct node *n, const struct datagram_arrival *a, uint64_t now_ns)
{
	struct observe *o = &n->observe;
	const struct stats_served served = {.file = o->stats ? stats_map(o->stats) : NULL,
					    .probe = n->member ? &n->probe : NULL,
					    .mac = fabric_keys_match(&n->keys, a),
					    .node = n->id};
	struct datagram out;

	/* If the kernel has no space for the answer, the reader sends its request again. */
	if (stats_serve_receive(&o->serve, &served, a, &out, now_ns))
		link_send(n->link, &out, 1);
}

int observe_open(struct node *n)
{
	const struct stats_options options = {.name = n->name, .xpu = n->options.xpu};
	struct observe *o = &n->observe;
	struct tap_options tap = {
		.name = n->name,
		.number = atomic_fetch_add_explicit(&nodes_opened, 1, memory_order_relaxed) + 1,
	};

	o->due_ns = o->interval_ns = UINT64_MAX;
	o->tap_wanted = &never_wanted;
	node_address(n, &tap.own);
	int status = tap_open(&tap, &o->tap);
	if (status != DXP_OK)
		return status;
	link_tap_set(n->link, tap_link(o->tap));
	if (stats_open(&options, &o->stats) == DXP_OK) {
		stats_map(o->stats)->node.started_ns = clock_now_ns();
		o->tap_wanted = &stats_map(o->stats)->tap_wanted;
		o->interval_ns = STATS_INTERVAL_NS;
		observe_publish(n, clock_now_ns());
	}
	return DXP_OK;
}

void observe_close(struct node *n)
{
	if (n->link)
		link_tap_set(n->link, NULL);
	stats_close(n->observe.stats);
	tap_close(n->observe.tap);
}
