/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies the node table to the NIC: peers are the nodes that are alive and that this node may use.
 * A silent peer keeps its session while packets arrive; if its session is idle, the node sends
 * probes. An xPU keeps the resources of a silent host for keep_hosts_ns. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "node/internal.h"
#include "node/limits.h"

/* The payload is the path's MTU without headers, rounded down to a multiple of 64. */
uint16_t peers_payload(const struct node *n, const struct udp_address *to)
{
	size_t path = link_path_payload(n->link, to);
	uint64_t payload = path > WIRE_DATA_BYTES ? path - WIRE_DATA_BYTES : 0;

	return (uint16_t)(min_u64(payload, WIRE_PAYLOAD_MAX) / 64 * 64);
}

static int peer_set(struct node *n, uint16_t id, const struct udp_address *address,
		    uint64_t incarnation, uint64_t patience_ns)
{
	struct rltp_peer_info peer = {
		.node = id,
		.address = *address,
		.incarnation = incarnation,
		.payload_bytes = peers_payload(n, address),
		.patience_ns = patience_ns,
	};

	if (peer.payload_bytes < WIRE_PAYLOAD_MIN) {
		char text[UDP_ADDRESS_TEXT_BYTES];
		log_error(
			"packets to %s carry %u bytes of payload, but %u are needed; raise the MTU",
			address_format(address, text), peer.payload_bytes, WIRE_PAYLOAD_MIN);
		return DXP_EUNSUPPORTED;
	}
	return nic_peer_set(n->nic, &peer, clock_now_ns());
}

int node_peer(struct node *n, uint16_t id, const struct udp_address *address, uint64_t incarnation)
{
	return peer_set(n, id, address, incarnation, 0);
}

struct narrow {
	struct node *node;
	const struct udp_address *at;
};

static void narrow_one(void *context, struct rltp_session *s)
{
	const struct narrow *w = context;

	if (!address_equal(rltp_session_address(s), w->at))
		return;
	uint16_t payload = peers_payload(w->node, w->at);
	/* Only lowers the payload. The MTU may be smaller beyond the local interface, where only
	 * RLTP's probes detect it. */
	struct rltp_peer_info p = rltp_session_peer(s);
	if (payload < WIRE_PAYLOAD_MIN || payload >= p.payload_bytes)
		return;
	p.payload_bytes = payload;
	nic_peer_set(w->node->nic, &p, clock_now_ns());
}

void peers_narrow(struct node *n, const struct udp_address *at)
{
	struct narrow w = {n, at};

	rltp_endpoint_sessions(nic_endpoint(n->nic), narrow_one, &w);
}

/* Returns the ns for which resources of this peer are kept after its silence began; 0: as long as
 * its session lives. */
static uint64_t keep_ns(const struct node *n, const struct node_entry *e)
{
	return n->options.xpu && e->kind == MANAGE_HOST ? n->options.keep_hosts_ns : 0;
}

static void peer_apply(struct node *n, const struct node_entry *e)
{
	int status = peer_set(n, e->id, &e->address, e->incarnation, keep_ns(n, e));

	if (status != DXP_OK)
		log_error("cannot add %s as a peer: %s", e->name, dxp_status_text(status));
}

/* ---- silence ---- */

static struct silent_peer *silent_find(const struct node *n, uint16_t id)
{
	for (uint32_t i = 0; i < n->silent_count; i++)
		if (n->silent[i].node == id)
			return &n->silent[i];
	return NULL;
}

static void silent_add(struct node *n, uint16_t id, uint64_t now_ns)
{
	struct silent_peer *known = silent_find(n, id);

	if (known) { /* the peer returned and became silent again */
		known->since_ns = now_ns;
		n->silent_ns = 0;
		return;
	}
	if (n->silent_count == n->silent_space) {
		uint32_t space = n->silent_space ? 2 * n->silent_space : 16;
		struct silent_peer *more = realloc(n->silent, space * sizeof(*more));
		if (!more) {
			node_table_lose(member_table(n->member), id);
			return;
		}
		n->silent = more;
		n->silent_space = space;
	}
	n->silent[n->silent_count++] = (struct silent_peer){id, now_ns};
	n->silent_ns = 0; /* check this peer in the next poll */
}

/* Returns the time in ns at which this peer counts as lost if nothing arrives before. */
static uint64_t silent_until(const struct node *n, const struct silent_peer *p)
{
	const struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n->nic), p->node);
	const struct node_entry *e = node_table_find(member_table(n->member), p->node);
	uint64_t received_ns = s && rltp_session_is_open(s) ? rltp_session_received_ns(s) : 0;
	uint64_t keep = e ? keep_ns(n, e) : 0;
	uint64_t until_ns = received_ns ? received_ns + RLTP_DEAD_NS : 0;

	if (keep == 0)
		return until_ns;
	/* the peer's last renewal was at least one lease before its lease expired */
	received_ns = max_u64(received_ns, p->since_ns - min_u64(p->since_ns, FABRIC_LEASE_NS));
	return max_u64(until_ns, received_ns + keep);
}

/* Turns probes of a silent peer on or off, even in an idle session. If the peer answers, it counts
 * as alive, whatever the table shows. */
static void silent_watch(struct node *n, uint16_t id, bool on, uint64_t now_ns)
{
	struct rltp_endpoint *endpoint = nic_endpoint(n->nic);
	struct rltp_session *s = rltp_endpoint_session(endpoint, id);
	const struct node_entry *e = node_table_find(member_table(n->member), id);
	/* keep_hosts_ns counts from the peer's last renewal, one lease before now */
	uint64_t ago_ns = e && keep_ns(n, e) ? min_u64(now_ns, FABRIC_LEASE_NS) : 0;

	if (s && rltp_session_is_watched(s) != on)
		rltp_endpoint_watch(endpoint, s, on, now_ns - ago_ns, now_ns);
}

/* Marks silent peers as lost when their time has passed. The table then returns the loss as its
 * next change. */
static void silent_look(struct node *n, uint64_t now_ns)
{
	struct node_table *t = member_table(n->member);
	uint32_t kept = 0;

	n->silent_ns = UINT64_MAX;
	for (uint32_t i = 0; i < n->silent_count; i++) {
		struct silent_peer p = n->silent[i];
		bool silent = node_table_silent(t, p.node);
		silent_watch(n, p.node, silent, now_ns);
		if (!silent)
			continue;
		uint64_t until_ns = silent_until(n, &p);
		if (now_ns >= until_ns) {
			node_table_lose(t, p.node);
			continue;
		}
		n->silent[kept++] = p;
		n->silent_ns = min_u64(n->silent_ns, until_ns);
	}
	n->silent_count = kept;
}

uint64_t node_silent_since(const struct node *n, uint16_t peer)
{
	const struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n->nic), peer);
	const struct silent_peer *p = silent_find(n, peer);
	uint64_t now_ns = clock_now_ns();

	bool received = s && rltp_session_is_open(s) &&
			now_ns <= rltp_session_received_ns(s) + RLTP_DEAD_NS;

	if (received)
		return 0;
	if (s && rltp_session_is_open(s) && rltp_session_busy(s))
		return rltp_session_received_ns(s);
	return p && node_table_silent(member_table(n->member), peer) ? p->since_ns : 0;
}

void node_peer_reset(struct node *n, uint16_t peer, int status)
{
	nic_peer_reset(n->nic, peer, status);
}

/* ---- changes of the table ---- */

static void change_apply(struct node *n, const struct table_change *change, uint64_t now_ns)
{
	const struct node_entry *e = &change->entry;

	if (change->what & TABLE_LOST || !e->alive || !e->granted) {
		observe_peer_lost(n, e->id);
		nic_peer_lost(n->nic, e->id, DXP_EPEERLOST);
		seal_peer_lost(n->seal, e->id);
	} else {
		peer_apply(n, e);
	}
	if (change->what & TABLE_SILENT)
		silent_add(n, e->id, now_ns);
	if (change->what & TABLE_BACK)
		silent_watch(n, e->id, false, now_ns);
	if (n->options.changed)
		n->options.changed(n->options.changed_context, change);
}

static uint32_t changes_apply(struct node *n, uint64_t now_ns)
{
	struct table_change change;
	uint32_t count = 0;

	while (node_table_next_change(member_table(n->member), &change)) {
		change_apply(n, &change, now_ns);
		count++;
	}
	return count;
}

static uint32_t ends_process(struct node *n)
{
	uint32_t count = 0;
	uint16_t peer;
	int status;

	while (rltp_endpoint_ended(nic_endpoint(n->nic), &peer, &status)) {
		if (n->options.session_ended)
			n->options.session_ended(n->options.changed_context, peer, status);
		count++;
	}
	return count;
}

uint32_t peers_ended(struct node *n)
{
	return n->member ? ends_process(n) : 0;
}

uint32_t peers_update(struct node *n, uint64_t now_ns)
{
	uint32_t count = ends_process(n) + changes_apply(n, now_ns);

	if (now_ns < n->silent_ns)
		return count;
	silent_look(n, now_ns);
	return count + changes_apply(n, now_ns);
}

int node_target(const struct node *n, uint16_t id, struct dxp_target *out)
{
	const struct node_entry *e = node_table_find(member_table(n->member), id);

	if (!e)
		return DXP_ENOENT;
	if (!e->granted)
		return DXP_EACCESS;
	if (!e->alive)
		return DXP_EPEERLOST;
	*out = (struct dxp_target){
		.node = id, .function = 0, .qp = NODE_SERVICE_QP, .magic = e->magic};
	return DXP_OK;
}

void node_traffic(struct node *n, uint16_t peer, uint64_t *sent_bytes, uint64_t *received_bytes)
{
	const struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n->nic), peer);

	*sent_bytes = s ? rltp_session_counters(s)->sent_bytes : 0;
	*received_bytes = s ? rltp_session_counters(s)->received_bytes : 0;
}
