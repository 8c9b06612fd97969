/* SPDX-License-Identifier: BSD-3-Clause */
/* The node table becomes the NIC's list of peers: those that live and that we may talk to. */
#include <dxp/status.h>

#include "base/util.h"
#include "node/internal.h"

/* Largest payload of a data packet on this path: what the path carries less our header, in whole
 * cache lines. */
static uint16_t payload_on_path(const struct node *n, const struct wire_address *to)
{
	size_t path = link_path_payload(n->link, to);
	uint64_t payload = path > WIRE_DATA_BYTES ? path - WIRE_DATA_BYTES : 0;

	return (uint16_t)(min_u64(payload, WIRE_PAYLOAD_MAX) / 64 * 64);
}

int node_peer(struct node *n, uint16_t id, const struct wire_address *address, uint64_t incarnation)
{
	struct rltp_peer_info peer = {
		.node = id,
		.address = *address,
		.incarnation = incarnation,
		.payload_bytes = payload_on_path(n, address),
	};

	if (peer.payload_bytes < WIRE_PAYLOAD_MIN) {
		char text[WIRE_ADDRESS_TEXT_BYTES];
		log_error("packets to %s carry %u bytes of payload, at least %u are needed; raise "
			  "the MTU",
			  wire_address_format(address, text), peer.payload_bytes, WIRE_PAYLOAD_MIN);
		return DXP_EUNSUPPORTED;
	}
	return nic_peer_set(n->nic, &peer, link_now_ns());
}

struct narrow {
	struct node *node;
	const struct wire_address *at;
};

static void narrow_one(void *context, struct rltp_session *s)
{
	const struct narrow *w = context;

	if (!wire_address_equal(&s->address, w->at))
		return;
	uint16_t payload = payload_on_path(w->node, w->at);
	/* what the interface still takes may be lost further on: RLTP's own probes find that */
	if (payload >= WIRE_PAYLOAD_MIN && payload < s->payload_bytes)
		node_peer(w->node, s->node, w->at, s->peer_incarnation);
}

void peers_narrow(struct node *n, const struct wire_address *at)
{
	struct narrow w = {n, at};

	rltp_endpoint_sessions(nic_endpoint(n->nic), narrow_one, &w);
}

static void peer_apply(struct node *n, const struct node_entry *e)
{
	int status = node_peer(n, e->id, &e->address, e->incarnation);

	if (status != DXP_OK)
		log_error("cannot take %s as a peer: %s", e->name, dxp_status_text(status));
}

uint32_t peers_update(struct node *n)
{
	struct table_change change;
	uint32_t count = 0;

	while (node_table_next_change(member_table(n->member), &change)) {
		const struct node_entry *e = &change.entry;
		if (change.what & TABLE_LOST || !e->alive || !e->granted) {
			observe_peer_lost(n, e->id);
			nic_peer_lost(n->nic, e->id, DXP_EPEERLOST);
		} else {
			peer_apply(n, e);
		}
		if (n->options.changed)
			n->options.changed(n->options.changed_context, &change);
		count++;
	}
	return count;
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

	*sent_bytes = s ? s->counters.sent_bytes : 0;
	*received_bytes = s ? s->counters.received_bytes : 0;
}
