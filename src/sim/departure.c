/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a datagram: copy, faults, first port of its path. */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/net_internal.h"
#include "wire/frame.h"

#define FULL_DATAGRAM 1538 /* full, with all headers, at MTU 1500 */
#define SPARE         64   /* by which a fault may extend a datagram */

static uint32_t host_of(const struct udp_address *a)
{
	return ((uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 | a->ip[15]) - 1;
}

static struct sim_packet *packet_make(struct net *n, uint32_t from, const struct datagram *d)
{
	uint32_t held = d->header_bytes, bytes = d->header_bytes;
	/* Stores only the headers of data packets. Other packets are stored whole, because a
	 * probe's checksum covers its padding. */
	bool whole = !n->options.headers_only || !wire_type_data(d->header[WIRE_OFF_TYPE]);

	for (int i = 0; i < d->slice_count; i++)
		bytes += (uint32_t)d->slices[i].bytes;
	if (whole)
		held = bytes;
	struct sim_packet *p = sim_packet_get(&n->pool, held + (n->faulty ? SPARE : 0));
	if (!p)
		return NULL;
	p->from = from;
	p->to = host_of(&d->to);
	p->bytes = bytes;
	p->held = held;
	p->ecn = d->ecn;
	p->port = NET_NO_PORT;
	memcpy(p->data, d->header, d->header_bytes);
	uint32_t used = d->header_bytes;
	for (int i = 0; i < d->slice_count && whole; i++) {
		memcpy(p->data + used, d->slices[i].base, d->slices[i].bytes);
		used += (uint32_t)d->slices[i].bytes;
	}
	return p;
}

/* Counts a packet lost by a fault, or because memory is short. */
static void packet_lose(struct net *n, struct sim_packet *p)
{
	n->counters.lost++;
	if (p)
		sim_packet_put(&n->pool, p);
}

/* Passes the packet on; the wire from a host to its own port has no delay. */
void net_packet_forward(struct net *n, struct sim_packet *p, uint64_t now_ns, uint64_t extra_ns)
{
	uint32_t port = p->port == NET_NO_PORT ? p->from : p->port;
	bool mark = false;
	uint64_t left_ns = net_port_pass(&n->paths.ports[port], now_ns - n->start_ns,
					 p->bytes + WIRE_OVERHEAD, &mark);

	if (left_ns == UINT64_MAX) {
		n->counters.dropped++;
		sim_packet_put(&n->pool, p);
		return;
	}
	if (mark && p->ecn != 0) {
		p->ecn = 3;
		n->counters.marked++;
	}
	p->time_ns = n->start_ns + left_ns + n->options.delay_ns + extra_ns;
	p->port = net_path_next(&n->paths, p->from, p->to, port);
	if (sim_queue_push(&n->queue, p) != DXP_OK)
		packet_lose(n, p);
}

static struct sim_packet *packet_copy(struct net *n, const struct sim_packet *p)
{
	struct sim_packet *copy = sim_packet_get(&n->pool, p->held + SPARE);

	if (!copy)
		return NULL;
	uint8_t class = copy->class;
	*copy = *p;
	copy->class = class;
	memcpy(copy->data, p->data, max_u64(p->held, n->options.headers_only ? 0 : p->bytes));
	return copy;
}

static bool pair_lost(const struct net *n, const struct sim_packet *p)
{
	if (p->from >= PAIRS || p->to >= PAIRS)
		return false;
	const struct net_pair *pair = &n->pairs[p->from][p->to];
	return pair->blackhole || (pair->mtu > 0 && p->bytes > pair->mtu);
}

static void packet_send(struct net *n, struct sim_packet *p)
{
	struct sim_fate fate = {0};

	if (n->tap.sent)
		n->tap.sent(n->tap.context, p, n->now_ns);
	if (n->faulty)
		fate = sim_fault_decide(&n->options.faults, &n->fault_state, p, &n->counters);
	if (!fate.lost && pair_lost(n, p)) {
		n->counters.lost++;
		fate.lost = true;
	}
	if (fate.lost) {
		/* A packet that will be lost still uses its host's port. */
		bool mark;
		net_port_pass(&n->paths.ports[p->from], n->now_ns - n->start_ns,
			      p->bytes + WIRE_OVERHEAD, &mark);
		sim_packet_put(&n->pool, p);
		return;
	}
	for (uint32_t i = 0; i < fate.again_count; i++) {
		struct sim_packet *copy = packet_copy(n, p);
		if (copy)
			net_packet_forward(n, copy, n->now_ns, fate.again_ns[i]);
	}
	net_packet_forward(n, p, n->now_ns, fate.delay_ns);
}

void net_datagram_send(struct net *n, uint32_t from, const struct datagram *d)
{
	struct sim_packet *p = packet_make(n, from, d);

	n->counters.sent++;
	if (!p || p->to >= n->options.hosts) {
		n->counters.unknown += p != NULL;
		packet_lose(n, p);
		return;
	}
	n->counters.wire_bytes += p->bytes + WIRE_OVERHEAD;
	packet_send(n, p);
}

/* Datagrams that the port accepts now; if 0, it accepts some from *at_ns on. */
size_t net_port_space(const struct net *n, uint32_t host, uint64_t *at_ns)
{
	const struct net_port *port = &n->paths.ports[host];
	uint64_t bound = n->options.backlog_bytes;

	*at_ns = 0;
	if (bound == 0 || port->rate_bps == 0)
		return BATCH;
	uint64_t backlog = net_port_backlog(port, n->now_ns - n->start_ns);
	if (backlog < bound)
		return min_u64((bound - backlog) / FULL_DATAGRAM + 1, BATCH);
	*at_ns = max_u64(n->start_ns + net_port_below(port, bound), n->now_ns + 1);
	return 0;
}
