/* SPDX-License-Identifier: BSD-3-Clause */
/* Source and destination function have the same number, so each packet shows its sender. */
#include "sim/fair.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"

#define HOSTS_MAX 64

struct fair_sender {
	uint32_t key; /* of its own region */
	uint32_t posted[NIC_QPS_PER_FUNCTION], ended[NIC_QPS_PER_FUNCTION];
	uint64_t bytes, failed;
};

struct fair {
	struct fair_options options;
	struct sim *sim;
	struct rng rng;
	uint8_t *memory;
	uint32_t memory_bytes;
	/* of functions from 1 on */
	struct dxp_window *windows[HOSTS_MAX][NIC_FUNCTIONS];
	uint32_t keys[HOSTS_MAX][NIC_FUNCTIONS];
	struct fair_sender senders[NIC_FUNCTIONS];
	bool stopped;
	uint64_t start_ns;
	/* sent by all functions; at which the run stops */
	uint64_t bytes, until;
};

/* ---- senders ---- */

static struct dxp_window *window_of(struct fair *f, uint32_t host, uint32_t function)
{
	return function == 0 ? sim_window(f->sim, host) : f->windows[host][function];
}

static bool message_post(struct fair *f, uint32_t function, uint32_t qp)
{
	const struct fair_function *o = &f->options.functions[function];
	struct fair_sender *s = &f->senders[function];
	uint32_t host = o->peers[qp];
	const struct dxp_target to = {(uint16_t)(host + 1), (uint8_t)function, (uint8_t)qp,
				      window_of(f, host, function)->qp_magic[qp]};
	uint32_t bytes = 1 + (uint32_t)rng_below(&f->rng, o->bytes_max);
	const struct dxp_entry from = {0, bytes, s->key};
	const struct dxp_entry remote = {0, bytes, f->keys[host][function]};

	if (dxp_post_put(window_of(f, 0, function), (uint8_t)qp, &to, &from, &remote, 0, 0, 0) !=
	    DXP_OK)
		return false;
	s->posted[qp]++;
	return true;
}

static void sender_step(struct fair *f, uint32_t function)
{
	const struct fair_function *o = &f->options.functions[function];
	struct fair_sender *s = &f->senders[function];
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(window_of(f, 0, function), &event)) {
		s->ended[event.qp]++;
		s->failed += event.status != DXP_OK;
	}
	for (uint32_t qp = 0; qp < o->peer_count && !f->stopped; qp++)
		while (s->posted[qp] - s->ended[qp] < o->outstanding)
			if (!message_post(f, function, qp))
				return;
}

static bool step(void *context)
{
	struct fair *f = context;

	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		if (f->options.functions[i].peer_count > 0)
			sender_step(f, i);
	return f->bytes >= f->until || (f->stopped && fair_ended(f));
}

/* ---- sent packets ---- */

static void packet_sent(void *context, const struct sim_packet *packet, uint64_t now_ns)
{
	struct fair *f = context;
	struct wire_header h;

	if (packet->from != 0 || packet->data[WIRE_OFF_TYPE] != WIRE_PUT ||
	    wire_header_decode(packet->data, packet->bytes, &h) != DXP_OK)
		return;
	f->senders[h.dst_function % NIC_FUNCTIONS].bytes += packet->bytes;
	f->bytes += packet->bytes;
}

/* ---- set-up ---- */

static bool options_good(const struct fair_options *o)
{
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		const struct fair_function *f = &o->functions[i];
		if (f->peer_count > NIC_QPS_PER_FUNCTION)
			return false;
		if (f->peer_count > 0 && (f->bytes_max == 0 || f->outstanding == 0 ||
					  f->outstanding > NIC_OUTSTANDING_MAX))
			return false;
		for (uint32_t p = 0; p < f->peer_count; p++)
			if (f->peers[p] == 0 || f->peers[p] >= o->sim.hosts)
				return false;
	}
	return true;
}

/* Registers memory; function 0 is open already. */
static int function_create(struct fair *f, uint32_t host, uint32_t function)
{
	struct nic *n = sim_nic(f->sim, host);
	int status = DXP_OK;

	if (function > 0) {
		f->windows[host][function] = calloc(1, sizeof(struct dxp_window));
		if (!f->windows[host][function])
			return DXP_ENOMEM;
		status = nic_function_open(n, function, f->windows[host][function]);
	}
	if (status != DXP_OK)
		return status;
	if (host == 0)
		return nic_region_register(n, function, f->memory, f->memory_bytes, NIC_LOCAL,
					   &f->senders[function].key);
	return nic_region_register(n, function, f->memory, f->memory_bytes, NIC_REMOTE_WRITE,
				   &f->keys[host][function]);
}

static int sender_create(struct fair *f, uint32_t function)
{
	const struct fair_function *o = &f->options.functions[function];
	int status = o->peer_count ? function_create(f, 0, function) : DXP_OK;

	for (uint32_t p = 0; p < o->peer_count && status == DXP_OK; p++)
		if (f->keys[o->peers[p]][function] == 0)
			status = function_create(f, o->peers[p], function);
	if (status == DXP_OK && o->weight)
		status = nic_function_weight(sim_nic(f->sim, 0), function, o->weight);
	if (status == DXP_OK)
		status = nic_function_limit(sim_nic(f->sim, 0), function, o->limit);
	return status;
}

static int fair_create(struct fair *f)
{
	const struct net_tap tap = {.sent = packet_sent, .context = f};
	int status = sim_create(&f->options.sim, &f->sim);

	if (status != DXP_OK)
		return status;
	f->start_ns = sim_now(f->sim);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		f->memory_bytes =
			(uint32_t)max_u64(f->memory_bytes, f->options.functions[i].bytes_max);
	f->memory = calloc(1, max_u64(f->memory_bytes, 1));
	if (!f->memory)
		return DXP_ENOMEM;
	net_tap_set(sim_net(f->sim), &tap);
	for (uint32_t i = 0; i < NIC_FUNCTIONS && status == DXP_OK; i++)
		status = sender_create(f, i);
	return status;
}

int fair_open(const struct fair_options *options, struct fair **out)
{
	if (!options_good(options))
		return DXP_EINVAL;
	struct fair *f = calloc(1, sizeof(*f));
	if (!f)
		return DXP_ENOMEM;
	f->options = *options;
	f->rng.state = ~options->sim.seed * 3;
	int status = fair_create(f);
	if (status != DXP_OK) {
		fair_close(f);
		return status;
	}
	*out = f;
	return DXP_OK;
}

void fair_close(struct fair *f)
{
	if (!f)
		return;
	sim_destroy(f->sim);
	for (uint32_t host = 0; host < HOSTS_MAX; host++)
		for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
			free(f->windows[host][i]);
	free(f->memory);
	free(f);
}

/* ---- results ---- */

void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns)
{
	f->until = bytes < UINT64_MAX - f->bytes ? f->bytes + bytes : UINT64_MAX;
	sim_run(f->sim, limit_ns, step, f);
}

void fair_stop(struct fair *f)
{
	f->stopped = true;
}

bool fair_ended(const struct fair *f)
{
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		for (uint32_t qp = 0; qp < NIC_QPS_PER_FUNCTION; qp++)
			if (f->senders[i].posted[qp] != f->senders[i].ended[qp])
				return false;
	return true;
}

uint64_t fair_failed(const struct fair *f, uint32_t function)
{
	return f->senders[function].failed;
}

static double jain(const struct fair *f)
{
	double sum = 0, squares = 0, count = 0;

	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		const struct fair_function *o = &f->options.functions[i];
		double share = (double)f->senders[i].bytes / (o->weight ? o->weight : 1);
		if (o->peer_count == 0)
			continue;
		sum += share;
		squares += share * share;
		count++;
	}
	return squares > 0 ? sum * sum / (squares * count) : 1;
}

void fair_sample(const struct fair *f, struct fair_sample *out)
{
	*out = (struct fair_sample){.time_ns = sim_now(f->sim) - f->start_ns, .jain = jain(f)};
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		out->bytes[i] = f->senders[i].bytes;
}

struct sim *fair_sim(struct fair *f)
{
	return f->sim;
}
