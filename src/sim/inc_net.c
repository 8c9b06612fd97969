/* SPDX-License-Identifier: BSD-3-Clause */
/* Events are packets in a queue, by time and next node. Behind a packet's bytes is space for a
 * fault to extend it, then its sender and addresses. */
#include "sim/inc_net.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "sim/alarm.h"

#define EXTENSION_MAX 64
#define BATCH         64
#define SPINS_MAX     64
#define START_NS      S_NS
#define HASH_PRIME    0x100000001b3ull
/* Flag in `port` of a packet. If it is set, the packet leaves the node with that number; otherwise
 * the packet arrives at that node. */
#define LEAVES 0x80000000u

struct node {
	const struct inc_node_ops *ops;
	void *context;
	struct sim_packet *head, *tail;
	uint64_t socket_bytes, busy_ns;
	uint32_t spins;
};

struct inc_net {
	struct inc_net_options options;
	/* of all wires but the first; a datagram is extended only once */
	struct sim_faults further;
	struct inc_tree tree;
	struct net_port *ports;
	bool *cut; /* by port: the wire is cut */
	struct node *nodes;
	struct sim_alarms alarms;
	struct sim_queue queue;
	struct sim_pool pool;
	struct sim_fault_state fault_state;
	struct inc_tap tap;
	struct inc_net_counters counters;
	uint64_t now_ns, hash;
	bool faulty;
	struct datagram datagrams[BATCH];
	uint8_t trailers[BATCH][INC_TRAILER_BYTES];
	uint16_t from_ports[BATCH];
};

static bool network_make(struct inc_net *n)
{
	uint32_t nodes = n->tree.node_count;

	n->ports = calloc(n->tree.port_count, sizeof(*n->ports));
	n->cut = calloc(n->tree.port_count, sizeof(*n->cut));
	n->nodes = calloc(nodes, sizeof(*n->nodes));
	n->fault_state.bursting = calloc(nodes, sizeof(bool));
	if (!n->ports || !n->cut || !n->nodes || !n->fault_state.bursting ||
	    sim_alarms_create(&n->alarms, nodes) != DXP_OK)
		return false;
	for (uint32_t i = 0; i < n->tree.port_count; i++) {
		n->ports[i].rate_bps = n->options.rate_bps;
		n->ports[i].queue_bytes = n->options.queue_bytes;
	}
	return true;
}

int inc_net_create(const struct inc_net_options *options, struct inc_net **out)
{
	struct inc_net *n = calloc(1, sizeof(*n));

	if (!n)
		return DXP_ENOMEM;
	n->options = *options;
	if (n->options.delay_ns == 0)
		n->options.delay_ns = US_NS;
	n->options.tree.seed = options->seed;
	int status = inc_tree_create(&n->tree, &n->options.tree);
	if (status == DXP_OK && !network_make(n))
		status = DXP_ENOMEM;
	if (status != DXP_OK) {
		inc_net_destroy(n);
		return status;
	}
	n->fault_state.rng.state = options->seed;
	n->now_ns = START_NS;
	inc_net_faults(n, &options->faults);
	*out = n;
	return DXP_OK;
}

void inc_net_destroy(struct inc_net *n)
{
	sim_queue_free(&n->queue);
	sim_pool_free(&n->pool);
	sim_alarms_free(&n->alarms);
	free(n->fault_state.bursting);
	free(n->nodes);
	free(n->cut);
	free(n->ports);
	inc_tree_free(&n->tree);
	free(n);
}

void inc_net_faults(struct inc_net *n, const struct sim_faults *faults)
{
	static const struct sim_faults none;

	n->options.faults = *faults;
	if (n->options.faults.reorder_ns == 0)
		n->options.faults.reorder_ns = 10 * n->options.delay_ns;
	n->further = n->options.faults;
	n->further.extend_ppm = 0;
	n->faulty = memcmp(faults, &none, sizeof(none)) != 0;
}

void inc_net_tap(struct inc_net *n, const struct inc_tap *tap)
{
	n->tap = *tap;
}

void inc_net_wake(struct inc_net *n, uint32_t node, uint64_t at_ns)
{
	if (at_ns < n->alarms.time_ns[node])
		sim_alarm_set(&n->alarms, node, at_ns);
}

void inc_net_touch(struct inc_net *n, uint32_t node)
{
	inc_net_wake(n, node, n->now_ns);
}

void inc_net_set(struct inc_net *n, uint32_t node, const struct inc_node_ops *ops, void *context)
{
	struct node *h = &n->nodes[node];

	while (h->head) {
		struct sim_packet *p = h->head;
		h->head = p->next;
		sim_packet_put(&n->pool, p);
	}
	*h = (struct node){.ops = ops, .context = context};
	sim_alarm_set(&n->alarms, node, UINT64_MAX);
	if (ops)
		inc_net_touch(n, node);
}

void inc_net_power(struct inc_net *n, uint32_t node, bool on)
{
	n->tree.nodes[node].dead = !on;
}

int inc_net_cut(struct inc_net *n, uint32_t node, uint32_t next, bool cut)
{
	uint32_t port = 0;

	if (inc_tree_next(&n->tree, node, next, 0, &port) != next)
		return DXP_EINVAL;
	n->cut[port] = cut;
	return DXP_OK;
}

/* ---- wires ---- */

static uint8_t *path_address(struct sim_packet *p)
{
	return p->data + p->held - sizeof(struct roce_path);
}

static struct roce_path packet_path(struct sim_packet *p)
{
	struct roce_path path;

	memcpy(&path, path_address(p), sizeof(path));
	return path;
}

static struct sim_packet *packet_make(struct inc_net *n, uint32_t bytes)
{
	uint32_t held = (bytes + EXTENSION_MAX + (uint32_t)sizeof(struct roce_path) + 7) & ~7u;
	struct sim_packet *p = sim_packet_get(&n->pool, held);

	if (p)
		p->bytes = bytes;
	return p;
}

/* Queues a packet; if memory is short, it is lost. */
static void packet_push(struct inc_net *n, struct sim_packet *p, uint64_t time_ns)
{
	p->time_ns = time_ns;
	if (sim_queue_push(&n->queue, p) != DXP_OK)
		sim_packet_put(&n->pool, p);
}

static void packet_repeat(struct inc_net *n, struct sim_packet *p, uint64_t time_ns)
{
	struct sim_packet *copy = sim_packet_get(&n->pool, p->held);

	if (!copy)
		return;
	copy->from = p->from;
	copy->to = p->to;
	copy->bytes = p->bytes;
	copy->port = p->port;
	memcpy(copy->data, p->data, p->held);
	packet_push(n, copy, time_ns);
}

static void packet_cross(struct inc_net *n, struct sim_packet *p, uint32_t node)
{
	const struct roce_path path = packet_path(p);
	uint64_t flow = (uint64_t)path.from_ip << 32 | path.to_ip;
	uint32_t port = 0, next = inc_tree_next(&n->tree, node, p->to, flow, &port);
	bool first = p->from == node, mark, lost;

	if (next == INC_TREE_NONE) {
		n->counters.packets.unknown++;
		sim_packet_put(&n->pool, p);
		return;
	}
	n->counters.crossings++;
	uint64_t at_ns = net_port_pass(&n->ports[port], n->now_ns, p->bytes + WIRE_OVERHEAD, &mark);
	lost = n->cut[port] || n->tree.nodes[node].dead ||
	       (n->tap.loses && n->tap.loses(n->tap.context, node, next, &path, p->data, p->bytes));
	n->counters.packets.dropped += at_ns == UINT64_MAX;
	n->counters.packets.lost += lost;
	if (lost || at_ns == UINT64_MAX) {
		sim_packet_put(&n->pool, p);
		return;
	}
	at_ns += n->options.delay_ns + (next == p->to ? 0 : n->options.forward_ns);
	p->port = next;
	if (!n->faulty) {
		packet_push(n, p, at_ns);
		return;
	}
	/* of this node's bursts */
	p->from = node;
	struct sim_fate fate = sim_fault_decide(first ? &n->options.faults : &n->further,
						&n->fault_state, p, &n->counters.packets);
	for (uint32_t i = 0; i < fate.again_count; i++)
		packet_repeat(n, p, at_ns + fate.again_ns[i]);
	if (fate.lost)
		sim_packet_put(&n->pool, p);
	else
		packet_push(n, p, at_ns + fate.delay_ns);
}

static void packet_arrive(struct inc_net *n, struct sim_packet *p)
{
	struct node *h = &n->nodes[p->to];

	if (!h->ops || n->tree.nodes[p->to].dead) {
		n->counters.packets.unknown++;
		sim_packet_put(&n->pool, p);
		return;
	}
	if (n->options.socket_bytes > 0 && h->socket_bytes + p->bytes > n->options.socket_bytes) {
		n->counters.packets.overflowed++;
		sim_packet_put(&n->pool, p);
		return;
	}
	const struct inc_cost *cost =
		p->to < n->options.tree.hosts ? &n->options.host : &n->options.hop;
	p->stamp_ns = n->now_ns + cost->latency_ns;
	p->next = NULL;
	if (h->head)
		h->tail->next = p;
	else
		h->head = p;
	h->tail = p;
	h->socket_bytes += p->bytes;
	inc_net_wake(n, p->to, p->stamp_ns);
}

/* ---- polls ---- */

static uint32_t address_ip(const struct udp_address *a)
{
	return get_be32(a->ip + 12);
}

/* Copies a datagram, which leaves at `at_ns`. */
static void datagram_leave(struct inc_net *n, uint32_t node, const struct datagram *d,
			   uint16_t from_port, uint64_t at_ns)
{
	const struct roce_path path = {.from_ip = inc_tree_ip(&n->tree, node),
				       .to_ip = address_ip(&d->to),
				       .from_port = from_port,
				       .to_port = d->to.port};
	uint32_t bytes = d->header_bytes, to = inc_tree_node(&n->tree, path.to_ip);

	for (uint8_t i = 0; i < d->slice_count; i++)
		bytes += (uint32_t)d->slices[i].bytes;
	struct sim_packet *p = packet_make(n, bytes);
	if (!p)
		return;
	uint8_t *at = p->data;
	memcpy(at, d->header, d->header_bytes);
	at += d->header_bytes;
	for (uint8_t i = 0; i < d->slice_count; at += d->slices[i++].bytes)
		memcpy(at, d->slices[i].base, d->slices[i].bytes);
	p->from = node;
	p->to = to;
	p->port = node | LEAVES;
	memcpy(path_address(p), &path, sizeof(path));
	n->counters.packets.sent++;
	n->counters.host_sent += node < n->options.tree.hosts;
	if (n->tap.changes && !n->tap.changes(n->tap.context, node, &path, p->data, p->bytes)) {
		sim_packet_put(&n->pool, p);
		return;
	}
	if (n->tap.sent)
		n->tap.sent(n->tap.context, node, &path, p->data, p->bytes, at_ns);
	if (to == INC_TREE_NONE) {
		n->counters.packets.unknown++;
		sim_packet_put(&n->pool, p);
	} else if (to == node) {
		/* to the sender itself: no wire */
		p->port = node;
		packet_push(n, p, at_ns);
	} else if (at_ns > n->now_ns) {
		packet_push(n, p, at_ns);
	} else {
		packet_cross(n, p, node);
	}
}

static bool node_send(struct inc_net *n, uint32_t node, uint64_t send_ns, uint64_t *at_ns)
{
	struct node *h = &n->nodes[node];
	bool any = false;
	struct inc_batch batch;

	do {
		batch = (struct inc_batch){.datagrams = n->datagrams,
					   .trailers = n->trailers,
					   .from_ports = n->from_ports,
					   .space = BATCH};
		h->ops->send(h->context, &batch, n->now_ns);
		for (size_t i = 0; i < batch.count; i++) {
			*at_ns += send_ns;
			datagram_leave(n, node, &n->datagrams[i], n->from_ports[i], *at_ns);
		}
		any |= batch.count > 0;
	} while (batch.count > 0);
	return any;
}

static void packet_dequeue(struct inc_net *n, uint32_t node)
{
	struct node *h = &n->nodes[node];
	struct sim_packet *p = h->head;
	const struct roce_path path = packet_path(p);

	h->head = p->next;
	h->socket_bytes -= p->bytes;
	sim_packet_trim(p);
	n->counters.packets.delivered++;
	n->counters.host_received += node < n->options.tree.hosts;
	n->hash = (n->hash ^ n->now_ns ^ (uint64_t)node << 40 ^ p->bytes) * HASH_PRIME;
	if (n->tap.delivered)
		n->tap.delivered(n->tap.context, node, &path, p->data, p->bytes, n->now_ns);
	h->ops->receive(h->context, p->data, p->bytes, &path, n->now_ns);
	sim_packet_put(&n->pool, p);
}

static void node_poll(struct inc_net *n, uint32_t node)
{
	struct node *h = &n->nodes[node];
	bool host = node < n->options.tree.hosts, busy = false;
	const struct inc_cost *cost = host ? &n->options.host : &n->options.hop;
	uint64_t end_ns = n->now_ns;

	if (h->head && h->head->stamp_ns <= n->now_ns) {
		packet_dequeue(n, node);
		end_ns += cost->receive_ns;
		busy = true;
	}
	busy |= node_send(n, node, cost->send_ns, &end_ns);
	*(host ? &n->counters.host_busy_ns : &n->counters.hop_busy_ns) += end_ns - n->now_ns;
	h->busy_ns = end_ns;
	if (n->tap.polled)
		n->tap.polled(n->tap.context, node, n->now_ns);
	if (!h->ops)
		return; /* removed during its poll */
	uint64_t deadline_ns = max_u64(h->ops->deadline(h->context), n->now_ns);
	h->spins = busy || deadline_ns > n->now_ns ? 0 : h->spins + 1;
	if (h->spins > SPINS_MAX) {
		n->counters.packets.spins++;
		deadline_ns = n->now_ns + US_NS;
	}
	if (h->head)
		deadline_ns = min_u64(deadline_ns, h->head->stamp_ns);
	sim_alarm_set(&n->alarms, node, max_u64(deadline_ns, end_ns));
}

static void polls_run(struct inc_net *n)
{
	while (sim_alarm_next(&n->alarms) <= n->now_ns) {
		uint32_t node = sim_alarm_first(&n->alarms);
		struct node *h = &n->nodes[node];
		if (!h->ops)
			sim_alarm_set(&n->alarms, node, UINT64_MAX);
		else if (h->busy_ns > n->now_ns)
			sim_alarm_set(&n->alarms, node, h->busy_ns);
		else
			node_poll(n, node);
	}
}

/* ---- clock ---- */

static void instant_run(struct inc_net *n)
{
	while (sim_queue_next(&n->queue) <= n->now_ns) {
		struct sim_packet *p = sim_queue_pop(&n->queue);
		if (p->port & LEAVES)
			packet_cross(n, p, p->port & ~LEAVES);
		else if (p->port != p->to)
			packet_cross(n, p, p->port);
		else
			packet_arrive(n, p);
	}
	polls_run(n);
}

bool inc_net_run(struct inc_net *n, uint64_t limit_ns, bool (*done)(void *context), void *context)
{
	uint64_t end_ns = n->now_ns + limit_ns;

	for (;;) {
		bool finished = done && done(context);
		polls_run(n); /* for requests that `done` has started */
		if (finished)
			return true;
		uint64_t next = min_u64(sim_queue_next(&n->queue), sim_alarm_next(&n->alarms));
		if (next > end_ns) {
			n->now_ns = end_ns;
			return done && done(context);
		}
		n->now_ns = max_u64(n->now_ns, next);
		instant_run(n);
	}
}

uint64_t inc_net_now(const struct inc_net *n)
{
	return n->now_ns;
}

const struct inc_tree *inc_net_tree(const struct inc_net *n)
{
	return &n->tree;
}

const struct inc_net_counters *inc_net_counters(const struct inc_net *n)
{
	return &n->counters;
}

uint64_t inc_net_pool_bytes(const struct inc_net *n)
{
	return n->pool.bytes;
}

uint64_t inc_net_trace_hash(const struct inc_net *n)
{
	return n->hash;
}
