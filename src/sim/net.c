/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts and run loop; departure.c sends. */
#include "sim/net.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/net_internal.h"
#include "wire/frame.h"

#define FIRST_NS S_NS /* not 0, which some fields use for "never" */
/* polls at one instant without work, before an error */
#define SPINS_MAX  64
#define TRACE_HEAD 56 /* of each datagram, in the trace's hash */

int net_create(const struct net_options *options, struct net **out)
{
	const struct sim_faults *f = &options->faults;

	if (options->hosts == 0 || options->hosts > NET_HOSTS_MAX ||
	    (options->headers_only &&
	     (f->corrupt_ppm || f->payload_ppm || f->truncate_ppm || f->extend_ppm)))
		return DXP_EINVAL;
	struct net *n = calloc(1, sizeof(*n));
	if (!n)
		return DXP_ENOMEM;
	n->options = *options;
	if (n->options.delay_ns == 0)
		n->options.delay_ns = 10 * US_NS;
	n->fault_state.rng.state = options->seed;
	n->now_ns = n->start_ns = options->start_ns ? options->start_ns : FIRST_NS;
	const struct net_path_options paths = {options->topology,      options->hosts,
					       options->leaf_hosts,    options->spines,
					       options->seed,          options->rate_bps,
					       options->host_rate_bps, options->spine_rate_bps,
					       options->queue_bytes,   options->mark_bytes};
	int status = net_paths_create(&n->paths, &paths);
	if (status == DXP_OK)
		status = sim_alarms_create(&n->alarms, options->hosts);
	n->hosts = calloc(options->hosts, sizeof(*n->hosts));
	n->fault_state.bursting = calloc(options->hosts, sizeof(bool));
	if (status == DXP_OK && (!n->hosts || !n->fault_state.bursting))
		status = DXP_ENOMEM;
	if (status != DXP_OK) {
		net_destroy(n);
		return status;
	}
	net_faults_set(n, f);
	*out = n;
	return DXP_OK;
}

void net_destroy(struct net *n)
{
	if (!n)
		return;
	sim_queue_free(&n->queue);
	sim_pool_free(&n->pool);
	sim_alarms_free(&n->alarms);
	net_paths_free(&n->paths);
	free(n->fault_state.bursting);
	free(n->hosts);
	free(n);
}

void net_faults_set(struct net *n, const struct sim_faults *faults)
{
	static const struct sim_faults none;
	struct sim_faults f = *faults, look;

	if (f.reorder_ns == 0)
		f.reorder_ns = 10 * n->options.delay_ns;
	n->options.faults = f;
	look = f;
	look.reorder_ns = 0;
	n->faulty = memcmp(&look, &none, sizeof(look)) != 0;
}

const struct sim_faults *net_faults(const struct net *n)
{
	return &n->options.faults;
}

void net_address(uint32_t host, struct udp_address *a)
{
	*a = (struct udp_address){.port = (uint16_t)(1000 + host)};
	a->ip[10] = a->ip[11] = 0xff;
	a->ip[12] = 10;
	a->ip[13] = (uint8_t)((host + 1) >> 16);
	a->ip[14] = (uint8_t)((host + 1) >> 8);
	a->ip[15] = (uint8_t)(host + 1);
}

void net_host_set(struct net *n, uint32_t host, const struct net_host_ops *ops, void *context)
{
	n->hosts[host].ops = ops;
	n->hosts[host].context = context;
	net_touch(n, host);
}

void net_tap_set(struct net *n, const struct net_tap *tap)
{
	n->tap = *tap;
}

/* Polls at `time_ns`, or when the host is no longer busy. */
static void poll_at(struct net *n, uint32_t host, uint64_t time_ns)
{
	if (time_ns != UINT64_MAX)
		time_ns = max_u64(time_ns, max_u64(n->hosts[host].busy_ns, n->now_ns));
	sim_alarm_set(&n->alarms, host, time_ns);
}

static void poll_by(struct net *n, uint32_t host, uint64_t time_ns)
{
	if (n->hosts[host].ops && time_ns < n->alarms.time_ns[host])
		poll_at(n, host, time_ns);
}

void net_touch(struct net *n, uint32_t host)
{
	poll_by(n, host, n->now_ns);
}

static int64_t wall_offset(const struct net *n, const struct net_host *h)
{
	int64_t since = (int64_t)(n->now_ns - h->wall_since_ns);

	return h->wall_offset_ns + since / 1000000 * h->wall_drift_ppm;
}

void net_wall_clock(struct net *n, uint32_t host, int64_t step_ns, int32_t drift_ppm)
{
	struct net_host *h = &n->hosts[host];

	h->wall_offset_ns = wall_offset(n, h) + step_ns;
	h->wall_since_ns = n->now_ns;
	h->wall_drift_ppm = drift_ppm;
}

/* ---- poll of a host ---- */

static void hash_mix(struct net *n, const struct sim_packet *p)
{
	uint32_t words = (uint32_t)min_u64(p->bytes, min_u64(p->held, TRACE_HEAD)) / 8;
	uint64_t hash = (n->hash ^ n->now_ns) * 0x9e3779b97f4a7c15ull;

	for (uint32_t i = 0; i < words; i++) {
		uint64_t word;
		memcpy(&word, p->data + 8 * i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	n->hash = hash ^ p->bytes;
}

/* Returns, as link/clock.c does, now minus the bounded age of the packet's wall-clock stamp. */
static uint64_t arrived_ns(const struct net *n, const struct net_host *h,
			   const struct sim_packet *p)
{
	uint64_t wall_ns = n->now_ns + (uint64_t)wall_offset(n, h);
	uint64_t age_ns = (int64_t)(wall_ns - p->stamp_ns) > 0 ? wall_ns - p->stamp_ns : 0;

	age_ns = min_u64(age_ns, DATAGRAM_AGE_NS);
	return n->now_ns - min_u64(age_ns, n->now_ns);
}

static void socket_drain(struct net *n, struct net_host *h)
{
	struct sim_packet *p;

	while ((p = h->head) != NULL) {
		struct datagram_arrival arrival = {.data = p->data,
						   .bytes = p->bytes,
						   .arrived_ns = arrived_ns(n, h, p),
						   .ecn = p->ecn,
						   .stamped = true};
		h->head = p->next;
		h->socket_bytes -= p->bytes;
		net_address(p->from, &arrival.from);
		hash_mix(n, p);
		n->counters.delivered++;
		if (!n->options.headers_only)
			sim_packet_trim(p);
		if (n->tap.delivered)
			n->tap.delivered(n->tap.context, p, n->now_ns);
		h->ops->receive(h->context, &arrival, n->now_ns);
		sim_packet_put(&n->pool, p);
	}
}

/* Returns whether it sent anything. */
static bool host_send(struct net *n, uint32_t i, uint64_t *blocked_ns)
{
	struct net_host *h = &n->hosts[i];
	size_t count, space, total = 0;

	do {
		space = net_port_space(n, i, blocked_ns);
		count = space ? h->ops->send(h->context, n->batch, space, n->now_ns) : 0;
		sim_fault_batch(&n->fault_state);
		for (size_t k = 0; k < count; k++)
			net_datagram_send(n, i, &n->batch[k]);
		total += count;
	} while (count > 0 && count == space);
	return total > 0;
}

static void host_poll(struct net *n, uint32_t i)
{
	struct net_host *h = &n->hosts[i];
	bool busy = h->head != NULL;
	uint64_t blocked_ns;

	socket_drain(n, h);
	busy |= host_send(n, i, &blocked_ns);
	uint64_t deadline_ns = max_u64(h->ops->deadline(h->context), blocked_ns);
	h->busy_ns = busy ? n->now_ns + n->options.poll_ns : h->busy_ns;
	h->spins = busy || deadline_ns > n->now_ns ? 0 : h->spins + 1;
	if (h->spins > SPINS_MAX) {
		/* No progress at this instant, so its time advances. */
		n->counters.spins++;
		deadline_ns = n->now_ns + US_NS;
	}
	poll_at(n, i, deadline_ns);
}

static void polls_run(struct net *n)
{
	while (sim_alarm_next(&n->alarms) <= n->now_ns) {
		uint32_t i = sim_alarm_first(&n->alarms);
		if (n->hosts[i].busy_ns > n->now_ns)
			poll_at(n, i, n->hosts[i].busy_ns);
		else
			host_poll(n, i);
	}
}

/* ---- clock ---- */

static void packet_arrive(struct net *n, struct sim_packet *p)
{
	struct net_host *h = &n->hosts[p->to];

	if (!h->ops ||
	    (n->options.socket_bytes > 0 && h->socket_bytes + p->bytes > n->options.socket_bytes)) {
		n->counters.overflowed++;
		sim_packet_put(&n->pool, p);
		return;
	}
	p->stamp_ns = n->now_ns + (uint64_t)wall_offset(n, h);
	p->next = NULL;
	if (h->head)
		h->tail->next = p;
	else
		h->head = p;
	h->tail = p;
	h->socket_bytes += p->bytes;
	poll_by(n, p->to, n->now_ns);
}

static void instant_run(struct net *n)
{
	while (sim_queue_next(&n->queue) <= n->now_ns) {
		struct sim_packet *p = sim_queue_pop(&n->queue);
		if (p->port == NET_NO_PORT)
			packet_arrive(n, p);
		else
			net_packet_forward(n, p, n->now_ns, 0);
	}
	polls_run(n);
}

bool net_run(struct net *n, uint64_t limit_ns, bool (*done)(void *context), void *context)
{
	uint64_t end_ns = n->now_ns + limit_ns;

	for (;;) {
		bool finished = done && done(context);
		polls_run(n); /* for requests that `done` has posted */
		if (finished)
			return true;
		uint64_t next = min_u64(sim_queue_next(&n->queue), sim_alarm_next(&n->alarms));
		if (next > end_ns) {
			n->now_ns = next == UINT64_MAX ? n->now_ns : end_ns;
			/* time alone may satisfy `done` */
			return done && done(context);
		}
		n->now_ns = max_u64(n->now_ns, next);
		instant_run(n);
	}
}

uint64_t net_now(const struct net *n)
{
	return n->now_ns;
}

void net_blackhole(struct net *n, uint32_t from, uint32_t to, bool on)
{
	n->pairs[from][to].blackhole = on;
}

void net_mtu(struct net *n, uint32_t from, uint32_t to, uint32_t bytes)
{
	n->pairs[from][to].mtu = bytes;
}

void net_stall(struct net *n, uint32_t host, uint64_t duration_ns)
{
	struct net_host *h = &n->hosts[host];

	h->busy_ns = n->now_ns + duration_ns;
}

void net_discard(struct net *n, uint32_t host)
{
	struct net_host *h = &n->hosts[host];

	while (h->head) {
		struct sim_packet *p = h->head;
		h->head = p->next;
		sim_packet_put(&n->pool, p);
	}
	h->socket_bytes = 0;
}

const struct sim_counters *net_counters(const struct net *n)
{
	return &n->counters;
}

struct net_paths *net_paths(struct net *n)
{
	return &n->paths;
}

uint64_t net_pool_bytes(const struct net *n)
{
	return n->pool.bytes;
}

uint64_t net_trace_hash(const struct net *n)
{
	return n->hash;
}
