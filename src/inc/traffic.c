/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes packets between sockets and state machines. */
#include <dxp/status.h>

#include "inc/endpoint.h"
#include "inc/limits.h"
#include "rc/connection.h"

static uint32_t ip_of(const struct udp_address *a)
{
	return (uint32_t)a->ip[12] << 24 | (uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 |
	       a->ip[15];
}

static struct dxp_inc_group *endpoint_group_find(struct dxp_inc *inc, uint32_t id)
{
	for (struct dxp_inc_group *g = inc->groups; g; g = g->next)
		if (g->id == id)
			return g;
	return NULL;
}

static void control_receive(struct dxp_inc *inc, const struct inc_packet *p,
			    const struct roce_path *path, uint64_t now_ns)
{
	struct inc_control c;
	struct dxp_inc_group *g = NULL;

	if (inc_packet_control_decode(p, &c) == DXP_OK)
		g = endpoint_group_find(inc, c.true_comm_id);
	if (!g || !g->create) {
		inc->counters.unknown++;
		return;
	}
	inc_create_receive(g->create, p, path, now_ns);
	g->dirty = true;
}

static void connection_receive(struct dxp_inc *inc, const struct datagram_arrival *a,
			       const struct roce_path *path, uint64_t now_ns)
{
	if (!inc->o.no_icrc_check && !roce_icrc_right(path, a->data, a->bytes)) {
		inc->counters.icrc_wrong++;
		return;
	}
	if (path->from_ip == inc->switch_ip)
		inc->received_ns = now_ns + inc->stalled_ns;
	for (struct dxp_inc_group *g = inc->groups; g; g = g->next)
		if (g->group && inc_group_connection_owns(g->group, a->data, a->bytes, path)) {
			inc_group_connection_receive(g->group, a->data, a->bytes, path, now_ns);
			g->dirty = true;
			return;
		}
	inc->counters.unknown++;
}

static void arrival_process(struct dxp_inc *inc, const struct port *to,
			    const struct datagram_arrival *a, uint64_t now_ns)
{
	struct roce_path path = {ip_of(&a->from), to->ip, a->from.port, to->number};
	struct inc_packet p;

	if (to == &inc->in && rc_packet(a->data, a->bytes)) {
		connection_receive(inc, a, &path, now_ns);
		return;
	}
	int status = inc_packet_decode(a->data, a->bytes, &p);

	if (status != DXP_OK) {
		if (status == DXP_ENOENT)
			inc->counters.foreign++;
		else
			inc->counters.malformed++;
		return;
	}
	if (!inc->o.no_icrc_check && !roce_icrc_right(&path, a->data, a->bytes)) {
		inc->counters.icrc_wrong++;
		return;
	}
	if (path.from_ip == inc->switch_ip)
		inc->received_ns = now_ns + inc->stalled_ns;
	if (p.header.comm_id == INC_COMM_CONTROL) {
		control_receive(inc, &p, &path, now_ns);
		return;
	}
	struct dxp_inc_group *g = endpoint_group_find(inc, p.header.comm_id);
	if (!g || !g->group) {
		inc->counters.unknown++;
		return;
	}
	g->received |= to == &g->multicast;
	inc_group_receive(g->group, &p, &path, now_ns);
	g->dirty = true;
}

/* Handles received packets. Sends only after the whole batch, because what to send may depend on
 * the answers of several members. */
static void arrivals_process(struct dxp_inc *inc, const struct port *to, size_t count,
			     uint64_t now_ns)
{
	for (size_t i = 0; i < count; i++)
		arrival_process(inc, to, &inc->arrivals[i], now_ns);
	for (struct dxp_inc_group *g = inc->groups; g; g = g->next) {
		if (!g->dirty)
			continue;
		g->dirty = false;
		endpoint_flush_due(g, now_ns);
	}
}

size_t traffic_port_receive(struct dxp_inc *inc, struct port *p, uint64_t now_ns)
{
	size_t total = 0, count = DATAGRAM_BATCH;

	/* After a full batch, the rest of a GSO batch may follow. */
	while (p->link && !p->reading && count == DATAGRAM_BATCH && total < INC_RECEIVE_BATCH) {
		count = link_receive(p->link, inc->arrivals, DATAGRAM_BATCH);
		arrivals_process(inc, p, count, now_ns);
		total += count;
	}
	return total;
}

size_t traffic_port_wait(struct dxp_inc *inc, struct port *p)
{
	struct datagram_arrival arrivals[INC_WAIT_BATCH];

	p->reading = true;
	pthread_mutex_unlock(&inc->lock);
	size_t count = link_receive_wait(p->link, arrivals, INC_WAIT_BATCH);
	pthread_mutex_lock(&inc->lock);
	p->reading = false;
	for (size_t i = 0; i < count; i++)
		inc->arrivals[i] = arrivals[i];
	if (count > 0)
		arrivals_process(inc, p, count, endpoint_now(inc));
	if (inc->waiting > 1)
		pthread_cond_broadcast(&inc->read);
	return count;
}

struct inc_batch traffic_batch_begin(struct dxp_inc *inc)
{
	return (struct inc_batch){inc->datagrams, inc->trailers, inc->from_ports, 0,
				  ENDPOINT_BATCH};
}

/* Sends a batch. Packets that the kernel drops will be retransmitted. */
void traffic_batch_send(struct dxp_inc *inc, const struct inc_batch *b)
{
	if (b->count > 0)
		link_send(inc->out.link, b->datagrams, b->count);
}

void endpoint_flush(struct dxp_inc_group *g, uint64_t now_ns)
{
	struct dxp_inc *inc = g->inc;
	struct inc_batch b;

	do {
		b = traffic_batch_begin(inc);
		if (g->create)
			inc_create_send(g->create, &b, now_ns);
		if (g->group)
			inc_group_send(g->group, &b, now_ns);
		traffic_batch_send(inc, &b);
	} while (b.count == b.space);
}

uint64_t endpoint_deadline(const struct dxp_inc_group *g)
{
	uint64_t at_ns = g->create ? inc_create_deadline(g->create) : UINT64_MAX;

	return g->group ? min_u64(at_ns, inc_group_deadline(g->group)) : at_ns;
}

void endpoint_flush_due(struct dxp_inc_group *g, uint64_t now_ns)
{
	if (endpoint_deadline(g) <= now_ns || (g->group && inc_group_ready(g->group)))
		endpoint_flush(g, now_ns);
}
