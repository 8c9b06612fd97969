/* SPDX-License-Identifier: BSD-3-Clause */
/* One array of ports: hosts' own, towards hosts, leaf to spine, spine to leaf. In picoseconds, as a
 * byte at 100 Gb/s needs 80. */
#include "sim/path.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"

#define PS_PER_S 1000000000000ull

static uint32_t port_total(const struct net_paths *p)
{
	switch (p->topology) {
	case NET_WIRE: return p->hosts;
	case NET_STAR: return 2 * p->hosts;
	default: return 2 * p->hosts + 2 * p->leaves * p->spines;
	}
}

int net_paths_create(struct net_paths *p, const struct net_path_options *o)
{
	if (o->topology == NET_LEAF_SPINE && (o->leaf_hosts == 0 || o->spines == 0))
		return DXP_EINVAL;
	*p = (struct net_paths){.topology = o->topology,
				.hosts = o->hosts,
				.leaf_hosts = o->leaf_hosts,
				.spines = o->spines,
				.seed = o->seed};
	if (o->topology == NET_LEAF_SPINE)
		p->leaves = (o->hosts + o->leaf_hosts - 1) / o->leaf_hosts;
	p->port_count = port_total(p);
	p->ports = calloc(p->port_count, sizeof(*p->ports));
	if (!p->ports)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < p->port_count; i++) {
		bool own = i < p->hosts, spine = i >= 2 * p->hosts;
		struct net_port *port = &p->ports[i];
		port->rate_bps = own && o->host_rate_bps      ? o->host_rate_bps
				 : spine && o->spine_rate_bps ? o->spine_rate_bps
							      : o->rate_bps;
		if (own && o->topology != NET_WIRE)
			/* No limit, because the host waits while its port is full. */
			continue;
		port->queue_bytes = o->queue_bytes;
		port->mark_bytes = o->mark_bytes;
	}
	return DXP_OK;
}

void net_paths_free(struct net_paths *p)
{
	free(p->ports);
	p->ports = NULL;
}

static uint64_t hash(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

uint32_t net_path_next(const struct net_paths *p, uint32_t from, uint32_t to, uint32_t port)
{
	if (port == NET_NO_PORT)
		return from;
	if (p->topology == NET_WIRE || (port >= p->hosts && port < 2 * p->hosts))
		return NET_NO_PORT;
	if (p->topology == NET_STAR)
		return p->hosts + to;
	uint32_t leaf = from / p->leaf_hosts, leaf_to = to / p->leaf_hosts;
	uint32_t up = 2 * p->hosts, down = up + p->leaves * p->spines;
	if (port >= down || leaf == leaf_to)
		return p->hosts + to;
	if (port >= up)
		return down + (port - up) % p->spines * p->leaves + leaf_to;
	return up + leaf * p->spines +
	       (uint32_t)(hash(p->seed ^ ((uint64_t)from << 32 | to)) % p->spines);
}

uint64_t net_port_backlog(const struct net_port *port, uint64_t now_ns)
{
	uint64_t now_ps = now_ns * 1000;

	if (port->rate_bps == 0 || port->free_ps <= now_ps)
		return 0;
	return (port->free_ps - now_ps) * (port->rate_bps / 8000000) / 1000000;
}

uint64_t net_port_below(const struct net_port *port, uint64_t bytes)
{
	uint64_t span_ps = bytes * (8 * PS_PER_S / port->rate_bps);

	return port->free_ps > span_ps ? (port->free_ps - span_ps) / 1000 + 1 : 0;
}

uint64_t net_port_pass(struct net_port *port, uint64_t now_ns, uint32_t bytes, bool *mark)
{
	uint64_t waiting = net_port_backlog(port, now_ns);

	port->queue_sum += waiting;
	port->queue_max = max_u64(port->queue_max, waiting);
	port->packets++;
	if (port->queue_bytes > 0 && waiting + bytes > port->queue_bytes) {
		port->dropped++;
		return UINT64_MAX;
	}
	port->bytes += bytes;
	if (port->mark_bytes > 0 && waiting >= port->mark_bytes) {
		port->marked++;
		*mark = true;
	}
	if (port->rate_bps == 0)
		return now_ns;
	port->free_ps =
		max_u64(port->free_ps, now_ns * 1000) + bytes * (8 * PS_PER_S / port->rate_bps);
	return (port->free_ps + 999) / 1000;
}
