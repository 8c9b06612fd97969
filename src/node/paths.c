/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects a node to its measurement of paths (probe.h). Selects the peers and limits the length of
 * datagrams. */
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "node/internal.h"

/* Returns the next peer that a grant connects with this node and that answers PROBE. */
static const struct node_entry *peer_next(void *context, uint16_t after)
{
	const struct node *n = context;
	const struct node_table *t = member_table(n->member);

	for (size_t i = 0; i < node_table_count(t); i++) {
		const struct node_entry *e = node_table_at(t, i);
		if (e->id > after && e->id != n->id && e->alive && e->granted &&
		    e->capabilities & MANAGE_CAPABILITY_PROBED)
			return e;
	}
	return NULL;
}

static uint16_t longest(void *context, const struct udp_address *to)
{
	return (uint16_t)min_u64(WIRE_DATA_BYTES + peers_payload(context, to), PROBE_BYTES_MAX);
}

static struct probe_view view_of(struct node *n, struct mac *mac)
{
	return (struct probe_view){
		.next = peer_next, .limit = longest, .context = n, .mac = mac, .node = n->id};
}

void paths_start(struct node *n)
{
	uint64_t number;

	rng_entropy_kernel(NULL, &number, sizeof(number));
	probe_init(&n->probe, number, clock_now_ns());
}

static void changes_report(struct node *n, uint64_t now_ns)
{
	struct path_change change;

	while (path_changes_next(&n->probe, &change)) {
		log_info("event=%s subject=%s: path to %s", event_kind_name(change.kind), n->name,
			 change.peer);
		member_report(n->member, &change);
	}
}

void paths_send(struct node *n, uint64_t now_ns)
{
	const struct probe_view view = view_of(n, fabric_keys_mac(&n->keys, RLTP_KEY_SEND));
	struct datagram out;

	/* If the kernel has no space, the probe counts as lost. */
	if (probe_send(&n->probe, &view, &out, now_ns))
		link_send(n->link, &out, 1);
	changes_report(n, now_ns);
}

void paths_receive(struct node *n, const struct datagram_arrival *a, uint64_t now_ns)
{
	const struct probe_view view = view_of(n, fabric_keys_match(&n->keys, a));
	struct datagram out;

	if (n->member && probe_receive(&n->probe, &view, a, &out, now_ns))
		link_send(n->link, &out, 1);
}
