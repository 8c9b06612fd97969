/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers outside of the node table (P-03): nodes with the fabric key that register mode names by IP
 * address and port. The owner's policy admits them; they may only send to receive registers.
 *
 * Each has a number from WIRE_NODE_OUTSIDE on, valid in this NIC only, until another peer needs
 * it. */
#include "nic/internal.h"
#include "wire/ids.h"

void nic_outside_set(struct nic *n, const struct nic_outside *policy)
{
	n->outside = *policy;
}

/* A free number, or that of an idle peer, which is removed. WIRE_NODE_NONE: all are active. */
static uint16_t number_get(struct nic *n)
{
	uint16_t idle = WIRE_NODE_NONE;

	for (uint32_t i = 0; i < RLTP_OUTSIDE_MAX; i++) {
		const uint16_t number = (uint16_t)(WIRE_NODE_OUTSIDE + i);
		const struct rltp_session *s = rltp_endpoint_session(n->endpoint, number);
		if (!s)
			return number;
		if (rltp_session_is_outside(s) && !rltp_session_is_active(s))
			idle = number;
	}
	if (idle != WIRE_NODE_NONE)
		nic_peer_lost(n, idle, DXP_EPEERLOST);
	return idle;
}

static struct rltp_session *add(struct nic *n, const struct udp_address *at)
{
	struct rltp_peer_info peer = {.address = *at, .outside = true};

	peer.payload_bytes = n->outside.payload_bytes(n->outside.context, at);
	if (peer.payload_bytes < WIRE_PAYLOAD_MIN)
		return NULL;
	peer.node = number_get(n);
	if (peer.node == WIRE_NODE_NONE || nic_peer_set(n, &peer, n->now_ns) != DXP_OK)
		return NULL;
	if (n->outside.added)
		n->outside.added(n->outside.context, at);
	return rltp_endpoint_session(n->endpoint, peer.node);
}

bool outside_admits(void *nic, const struct udp_address *from)
{
	const struct nic *n = nic;

	return n->outside.admits && n->outside.admits(n->outside.context, from);
}

struct rltp_session *outside_add(void *nic, const struct udp_address *from)
{
	return add(nic, from);
}

uint16_t outside_node(struct nic *n, const struct udp_address *at)
{
	const struct rltp_session *s = rltp_endpoint_outside(n->endpoint, at);

	if (!s && n->options.node != WIRE_NODE_NONE && outside_admits(n, at))
		s = add(n, at);
	return s ? rltp_session_peer(s).node : WIRE_NODE_NONE;
}

bool outside_permits(const struct nic_peer *p, const struct wire_header *h)
{
	if (p->node < WIRE_NODE_OUTSIDE || !rltp_session_is_outside(p->session))
		return true;
	return h->type == WIRE_PUT && h->key == WIRE_KEY_REGISTERS &&
	       (h->flags & WIRE_FLAG_SOL) == 0;
}
