/* SPDX-License-Identifier: BSD-3-Clause */
/* NICs as hosts of the network in net.h. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/mac.h"
#include "base/util.h"
#include "crypto/crypto.h"
#include "seal/seal.h"

#define HOSTS_MAX 65

struct sim_host {
	struct nic *nic;
	struct seal *seal; /* NULL: no protection */
	struct mac *mac;
	uint8_t public_key[CRYPTO_KEY_BYTES]; /* of its key pair, if `keyed` */
	bool keyed;
	uint8_t protect;
	struct dxp_window *window;
	uint64_t incarnation;
	const struct sim_beside *beside;
	void *beside_context;
};

struct sim {
	struct sim_options options;
	struct rng secrets; /* for NICs */
	struct sim_host hosts[HOSTS_MAX];
	struct net *net;
	bool (*done)(void *context);
	void *context;
};

static uint64_t token_of(void *context, uint32_t id)
{
	return (uintptr_t)context * 0x9e3779b97f4a7c15ull ^ id * 0xff51afd7ed558ccdull;
}

static void host_receive(void *host, const struct datagram_arrival *arrival, uint64_t now_ns)
{
	nic_receive(((struct sim_host *)host)->nic, arrival, now_ns);
}

static size_t host_send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct sim_host *h = host;
	struct nic *n = h->nic;
	size_t total = 0, more;

	if (h->beside)
		h->beside->poll(h->beside_context, now_ns);
	/* Repeats until nothing is due, as the loop of a node does. With sealed datagrams, runs
	 * only once, because they are valid only until the next nic_send. */
	do {
		nic_doorbells(n, now_ns);
		more = nic_send(n, out + total, count - total, now_ns);
		total += more;
	} while (more > 0 && total < count && !h->seal);
	return total;
}

static uint64_t host_deadline(void *host)
{
	struct sim_host *h = host;
	uint64_t beside_ns = h->beside ? h->beside->deadline(h->beside_context) : UINT64_MAX;

	return min_u64(nic_deadline(h->nic), beside_ns);
}

static const struct net_host_ops host_ops = {host_receive, host_send, host_deadline};

int sim_introduce(struct sim *s, uint32_t to, uint32_t host)
{
	struct rltp_peer_info peer = {
		.node = (uint16_t)(host + 1),
		.incarnation = s->hosts[host].incarnation,
		.payload_bytes = SIM_PAYLOAD_BYTES,
	};

	net_address(host, &peer.address);
	int status = nic_peer_set(s->hosts[to].nic, &peer, sim_now(s));
	net_touch(s->net, to);
	return status;
}

static uint8_t protection(void *host, const struct udp_address *peer)
{
	return ((const struct sim_host *)host)->protect;
}

static bool authenticate(void *host, enum rltp_key key, const uint8_t *frame, size_t bytes,
			 uint8_t tag[WIRE_TAG_BYTES])
{
	mac_compute(((const struct sim_host *)host)->mac, frame, bytes, NULL, 0, tag);
	return key != RLTP_KEY_FORMER;
}

#define HOSTS_PER_PLAIN 4 /* one of 4 hosts has no key pair, like hosts of an earlier release */

static void private_key_of(uint32_t i, uint8_t out[CRYPTO_KEY_BYTES])
{
	memset(out, 0, CRYPTO_KEY_BYTES);
	put_be32(out, i + 1);
}

static const uint8_t *peer_key(void *sim, uint16_t node)
{
	struct sim *s = sim;
	uint8_t private_key[CRYPTO_KEY_BYTES];

	if (node == 0 || node > s->options.hosts || node % HOSTS_PER_PLAIN == 0)
		return NULL;
	struct sim_host *h = &s->hosts[node - 1];
	private_key_of(node - 1u, private_key);
	if (!h->keyed)
		h->keyed = crypto_x25519_public(private_key, h->public_key);
	return h->keyed ? h->public_key : NULL;
}

/* Makes the keys; all hosts have the same fabric key. */
static int host_protect(struct sim *s, uint32_t i, struct nic_options *options)
{
	static const uint8_t key[FABRIC_KEY_BYTES] = {7, 1, 4};
	struct sim_host *h = &s->hosts[i];
	uint8_t private_key[CRYPTO_KEY_BYTES];
	const struct seal_options seal = {
		.fabric_key = key,
		.entropy = s->options.entropy,
		.entropy_context = s->options.entropy_context,
		.update_packets = s->options.update_packets,
		.peer_key = peer_key,
		.peer_context = s,
	};

	h->protect = s->options.protect;
	if (h->protect == WIRE_PROTECT_NONE)
		return DXP_OK;
	int status = mac_create(key, &h->mac);
	if (status == DXP_OK)
		status = seal_create(&seal, &h->seal);
	private_key_of(i, private_key);
	if (status == DXP_OK && (i + 1) % HOSTS_PER_PLAIN != 0)
		status = seal_identity(h->seal, private_key);
	options->authenticate = authenticate;
	options->protect = protection;
	options->authenticate_context = options->protect_context = h;
	options->seal = &seal_ops;
	options->seal_context = h->seal;
	return status;
}

static uint8_t path_of(void *context, const struct udp_address *peer, bool same_machine)
{
	const struct sim *s = context;

	return (uint8_t)((s->options.no_payload_crc ? RLTP_PATH_INTACT : 0) |
			 (s->options.long_frames ? RLTP_PATH_LONG : 0));
}

static int host_start(struct sim *s, uint32_t i)
{
	struct sim_host *h = &s->hosts[i];
	struct nic_options options = {
		.node = (uint16_t)(i + 1),
		.incarnation = ++h->incarnation,
		.uuid = {(uint8_t)(i + 1)},
		.window_packets = s->options.window_packets,
		.tuning = s->options.tuning,
		.path = path_of,
		.path_context = s,
		.long_frames = s->options.long_frames,
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
	int status = host_protect(s, i, &options);
	if (status == DXP_OK)
		status = nic_create(&options, &h->nic);
	if (status != DXP_OK)
		return status;
	net_host_set(s->net, i, &host_ops, h);
	return nic_function_open(h->nic, 0, h->window);
}

static void host_stop(struct sim_host *h)
{
	nic_destroy(h->nic);
	seal_destroy(h->seal);
	mac_destroy(h->mac);
	free(h->window);
	h->nic = NULL;
	h->seal = NULL;
	h->mac = NULL;
	h->window = NULL;
	h->beside = NULL;
}

static int network_create(struct sim *s)
{
	const struct sim_options *o = &s->options;
	const struct net_options options = {
		.seed = o->seed,
		.hosts = o->hosts,
		.delay_ns = o->delay_ns,
		.rate_bps = o->rate_bps,
		.queue_bytes = o->queue_bytes,
		.mark_bytes = o->mark_bytes,
		.backlog_bytes = o->backlog_bytes,
		.socket_bytes = o->socket_bytes,
		.poll_ns = o->poll_ns,
		.start_ns = o->start_ns,
		.faults = o->faults,
	};

	return net_create(&options, &s->net);
}

int sim_create(const struct sim_options *options, struct sim **out)
{
	if (options->hosts < 2 || options->hosts > HOSTS_MAX)
		return DXP_EINVAL;
	struct sim *s = calloc(1, sizeof(*s));
	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	s->secrets.state = ~options->seed;
	if (!s->options.entropy) {
		s->options.entropy = rng_entropy_rng;
		s->options.entropy_context = &s->secrets;
	}
	int status = network_create(s);
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
	net_destroy(s->net);
	free(s);
}

uint64_t sim_now(const struct sim *s)
{
	return net_now(s->net);
}

struct nic *sim_nic(struct sim *s, uint32_t host)
{
	return s->hosts[host].nic;
}

struct dxp_window *sim_window(struct sim *s, uint32_t host)
{
	return s->hosts[host].window;
}

struct net *sim_net(struct sim *s)
{
	return s->net;
}

struct dxp_target sim_target(struct sim *s, uint32_t host, uint16_t qp)
{
	return (struct dxp_target){(uint16_t)(host + 1), 0, qp,
				   s->hosts[host].window->qp_magic[qp]};
}

/* Polls all hosts, because a doorbell is a store, which causes no event. */
static bool step_done(void *context)
{
	struct sim *s = context;
	bool finished = s->done && s->done(s->context);

	for (uint32_t i = 0; i < s->options.hosts; i++)
		net_touch(s->net, i);
	return finished;
}

void sim_beside_set(struct sim *s, uint32_t host, const struct sim_beside *ops, void *context)
{
	s->hosts[host].beside = ops;
	s->hosts[host].beside_context = context;
	net_touch(s->net, host);
}

bool sim_run(struct sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context)
{
	s->done = done;
	s->context = context;
	return net_run(s->net, limit_ns, step_done, s);
}

int sim_restart(struct sim *s, uint32_t host, bool announce)
{
	host_stop(&s->hosts[host]);
	net_discard(s->net, host);
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
	net_blackhole(s->net, from, to, on);
}

void sim_heal(struct sim *s)
{
	const struct sim_faults none = {0};

	net_faults_set(s->net, &none);
	for (uint32_t i = 0; i < s->options.hosts; i++) {
		net_stall(s->net, i, 0);
		for (uint32_t k = 0; k < s->options.hosts; k++) {
			net_blackhole(s->net, i, k, false);
			net_mtu(s->net, i, k, 0);
		}
	}
}

const struct sim_counters *sim_counters(const struct sim *s)
{
	return net_counters(s->net);
}

uint64_t sim_trace_hash(const struct sim *s)
{
	return net_trace_hash(s->net);
}
