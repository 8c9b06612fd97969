/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts, the network between them and the run loop. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/queue.h"

#define HOSTS_MAX     64
#define BATCH         64
#define WIRE_OVERHEAD 66   /* Ethernet with preamble and gap, IPv4, UDP */
#define FIRST_NS      S_NS /* the clock's start: 0 means "never" in places */

struct sim_host {
	struct nic *nic;
	struct nic_window *window;
	uint64_t incarnation;
	uint64_t port_free_ns; /* when its port has sent what it was given */
	uint64_t deadline_ns;
};

struct sim {
	struct sim_options options;
	struct rng rng;     /* of the network */
	struct rng secrets; /* of the NICs */
	struct sim_host hosts[HOSTS_MAX];
	bool blackhole[HOSTS_MAX][HOSTS_MAX];
	struct sim_queue queue;
	uint64_t now_ns, index, hash;
	struct sim_counters counters;
	struct link_datagram batch[BATCH];
};

static void address_of(uint32_t host, struct wire_address *a)
{
	*a = (struct wire_address){.port = (uint16_t)(1000 + host)};
	a->ip[10] = a->ip[11] = 0xff;
	a->ip[12] = 10;
	a->ip[15] = (uint8_t)(host + 1);
}

static uint64_t token_of(void *context, uint32_t id)
{
	return (uintptr_t)context * 0x9e3779b97f4a7c15ull ^ id * 0xff51afd7ed558ccdull;
}

int sim_introduce(struct sim *s, uint32_t to, uint32_t host)
{
	struct rltp_peer_info peer = {
		.node = (uint16_t)(host + 1),
		.incarnation = s->hosts[host].incarnation,
		.payload_bytes = SIM_PAYLOAD_BYTES,
	};

	address_of(host, &peer.address);
	return nic_peer_set(s->hosts[to].nic, &peer, s->now_ns);
}

static int host_start(struct sim *s, uint32_t i)
{
	struct sim_host *h = &s->hosts[i];
	struct nic_options options = {
		.node = (uint16_t)(i + 1),
		.incarnation = ++h->incarnation,
		.window_packets = s->options.window_packets,
		.payload_crc = true,
		.entropy = s->options.entropy,
		.entropy_context = s->options.entropy_context,
		.token = token_of,
		.token_context = (void *)(uintptr_t)(i + 1),
		.cfg = s->options.cfg,
		.cfg_context = (void *)(uintptr_t)(i + 1),
	};

	h->window = aligned_alloc(4096, sizeof(*h->window));
	if (!h->window)
		return DXP_ENOMEM;
	memset(h->window, 0, sizeof(*h->window));
	int status = nic_create(&options, &h->nic);
	if (status != DXP_OK)
		return status;
	h->deadline_ns = UINT64_MAX;
	return nic_function_open(h->nic, 0, h->window);
}

static void host_stop(struct sim_host *h)
{
	nic_destroy(h->nic);
	free(h->window);
	h->nic = NULL;
	h->window = NULL;
}

int sim_create(const struct sim_options *options, struct sim **out)
{
	if (options->hosts < 2 || options->hosts > HOSTS_MAX)
		return DXP_EINVAL;
	struct sim *s = calloc(1, sizeof(*s));
	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	if (s->options.delay_ns == 0)
		s->options.delay_ns = 10 * US_NS;
	if (s->options.reorder_ns == 0)
		s->options.reorder_ns = 10 * s->options.delay_ns;
	s->rng.state = options->seed;
	s->secrets.state = ~options->seed;
	if (!s->options.entropy) {
		s->options.entropy = entropy_rng;
		s->options.entropy_context = &s->secrets;
	}
	s->now_ns = options->start_ns ? options->start_ns : FIRST_NS;
	int status = DXP_OK;
	for (uint32_t i = 0; i < options->hosts && status == DXP_OK; i++)
		status = host_start(s, i);
	for (uint32_t i = 0; i < options->hosts; i++)
		for (uint32_t k = 0; k < options->hosts && status == DXP_OK; k++)
			status = i == k ? DXP_OK : sim_introduce(s, i, k);
	if (status != DXP_OK) {
		sim_destroy(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void sim_destroy(struct sim *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->options.hosts; i++)
		host_stop(&s->hosts[i]);
	sim_queue_free(&s->queue);
	free(s);
}

uint64_t sim_now(const struct sim *s)
{
	return s->now_ns;
}

struct nic *sim_nic(struct sim *s, uint32_t host)
{
	return s->hosts[host].nic;
}

struct nic_window *sim_window(struct sim *s, uint32_t host)
{
	return s->hosts[host].window;
}

struct nic_target sim_target(struct sim *s, uint32_t host, uint16_t qp)
{
	return (struct nic_target){(uint16_t)(host + 1), 0, qp,
				   s->hosts[host].window->qp_magic[qp]};
}

static uint32_t datagram_flatten(const struct link_datagram *d, uint8_t *out)
{
	uint32_t used = d->header_bytes;

	memcpy(out, d->header, d->header_bytes);
	for (int i = 0; i < d->slice_count; i++) {
		memcpy(out + used, d->slices[i].base, d->slices[i].bytes);
		used += (uint32_t)d->slices[i].bytes;
	}
	return used;
}

static uint64_t departure(struct sim *s, uint32_t from, uint32_t bytes)
{
	struct sim_host *h = &s->hosts[from];

	if (s->options.rate_bps == 0)
		return s->now_ns;
	h->port_free_ns = max_u64(h->port_free_ns, s->now_ns) +
			  (bytes + WIRE_OVERHEAD) * 8ull * S_NS / s->options.rate_bps;
	return h->port_free_ns;
}

static void enqueue(struct sim *s, uint32_t from, uint32_t to, const uint8_t *data, uint32_t bytes,
		    uint64_t time_ns)
{
	struct sim_delivery d = {
		.time_ns = time_ns, .from = from, .to = to, .bytes = bytes, .data = malloc(bytes)};

	if (!d.data || sim_queue_push(&s->queue, d) != DXP_OK) {
		free(d.data); /* a network may lose anything, for want of memory too */
		s->counters.lost++;
		return;
	}
	memcpy(d.data, data, bytes);
}

static void datagram_send(struct sim *s, uint32_t from, const struct link_datagram *d)
{
	const struct sim_options *o = &s->options;
	uint8_t data[LINK_HEADER_BYTES_MAX + WIRE_PAYLOAD_MAX];
	uint32_t bytes = datagram_flatten(d, data);
	uint32_t to = (uint32_t)d->to.ip[15] - 1;
	uint64_t time_ns =
		departure(s, from, bytes) + o->delay_ns + rng_below(&s->rng, o->jitter_ns);

	s->counters.sent++;
	s->counters.wire_bytes += bytes + WIRE_OVERHEAD;
	if (s->index++ == o->drop_index || rng_chance_ppm(&s->rng, o->loss_ppm) ||
	    s->blackhole[from][to]) {
		s->counters.lost++;
		return;
	}
	if (rng_chance_ppm(&s->rng, o->corrupt_ppm)) {
		data[rng_below(&s->rng, bytes)] ^= (uint8_t)(1u << rng_below(&s->rng, 8));
		s->counters.corrupted++;
	}
	if (rng_chance_ppm(&s->rng, o->truncate_ppm)) {
		bytes = (uint32_t)rng_below(&s->rng, bytes);
		s->counters.truncated++;
	}
	if (rng_chance_ppm(&s->rng, o->reorder_ppm)) {
		time_ns += rng_below(&s->rng, o->reorder_ns);
		s->counters.reordered++;
	}
	enqueue(s, from, to, data, bytes, time_ns);
	if (rng_chance_ppm(&s->rng, o->duplicate_ppm)) {
		enqueue(s, from, to, data, bytes, time_ns + rng_below(&s->rng, o->reorder_ns));
		s->counters.duplicated++;
	}
}

/* Lets a host do what is due at this instant. */
static void host_turn(struct sim *s, uint32_t i)
{
	struct sim_host *h = &s->hosts[i];
	size_t n;

	do {
		nic_doorbells(h->nic, s->now_ns);
		n = nic_send(h->nic, s->batch, BATCH, s->now_ns);
		for (size_t k = 0; k < n; k++)
			datagram_send(s, i, &s->batch[k]);
	} while (n > 0);
	h->deadline_ns = nic_deadline(h->nic);
}

static void hash_mix(struct sim *s, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		s->hash = (s->hash ^ p[i]) * 0x100000001b3ull;
}

static void deliver(struct sim *s, struct sim_delivery *d)
{
	struct link_arrival arrival = {.data = d->data, .bytes = d->bytes, .arrived_ns = s->now_ns};

	address_of(d->from, &arrival.from);
	hash_mix(s, &d->time_ns, sizeof(d->time_ns));
	hash_mix(s, d->data, d->bytes < 48 ? d->bytes : 48);
	s->counters.delivered++;
	nic_receive(s->hosts[d->to].nic, &arrival, s->now_ns);
	free(d->data);
}

static uint64_t next_instant(const struct sim *s)
{
	uint64_t next = sim_queue_next(&s->queue);

	for (uint32_t i = 0; i < s->options.hosts; i++)
		next = min_u64(next, s->hosts[i].deadline_ns);
	return next;
}

/* Everything that happens at one instant: all arrivals of a host before it answers, as a batch from
 * a socket. */
static void instant_run(struct sim *s)
{
	bool touched[HOSTS_MAX] = {false};

	while (sim_queue_next(&s->queue) <= s->now_ns) {
		struct sim_delivery d = sim_queue_pop(&s->queue);
		touched[d.to] = true;
		deliver(s, &d);
	}
	for (uint32_t i = 0; i < s->options.hosts; i++)
		if (touched[i] || s->hosts[i].deadline_ns <= s->now_ns)
			host_turn(s, i);
}

bool sim_run(struct sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context)
{
	uint64_t end_ns = s->now_ns + limit_ns;

	for (;;) {
		bool finished = done && done(context);
		for (uint32_t i = 0; i < s->options.hosts; i++)
			host_turn(s, i); /* what `done` posted */
		if (finished)
			return true;
		uint64_t next = next_instant(s);
		if (next == UINT64_MAX || next > end_ns) {
			s->now_ns = next == UINT64_MAX ? s->now_ns : end_ns;
			return done && done(context); /* a completion may need no event */
		}
		s->now_ns = max_u64(s->now_ns, next);
		instant_run(s);
	}
}

int sim_restart(struct sim *s, uint32_t host, bool announce)
{
	host_stop(&s->hosts[host]);
	int status = host_start(s, host);
	for (uint32_t i = 0; i < s->options.hosts && status == DXP_OK; i++) {
		if (i == host)
			continue;
		status = sim_introduce(s, host, i);
		if (status == DXP_OK && announce)
			status = sim_introduce(s, i, host);
	}
	return status;
}

void sim_blackhole(struct sim *s, uint32_t from, uint32_t to, bool on)
{
	s->blackhole[from][to] = on;
}

void sim_heal(struct sim *s)
{
	struct sim_options *o = &s->options;

	o->loss_ppm = o->duplicate_ppm = o->corrupt_ppm = o->truncate_ppm = o->reorder_ppm = 0;
	o->drop_index = SIM_DROP_NONE;
	memset(s->blackhole, 0, sizeof(s->blackhole));
}

const struct sim_counters *sim_counters(const struct sim *s)
{
	return &s->counters;
}

uint64_t sim_trace_hash(const struct sim *s)
{
	return s->hash;
}
