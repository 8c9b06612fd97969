/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow is one direction between two hosts, and keeps `outstanding` messages outstanding. Arrivals
 * are counted in the receiver's session. */
#include "sim/crowd.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/limits.h"
#include "rltp/endpoint.h"
#include "rltp/user.h"
#include "sim/histogram.h"

#define PAYLOAD_BYTES 1408
#define PACKET_BYTES  (PAYLOAD_BYTES + WIRE_DATA_BYTES + WIRE_OVERHEAD)

struct crowd;
struct crowd_flow;

struct crowd_message {
	struct rltp_message rltp;
	struct crowd_flow *flow;
	uint64_t posted_ns;
	uint32_t id;
};

struct crowd_flow {
	uint32_t from, to;
	struct rltp_session *session; /* with the receiver */
	uint32_t posted;
	struct crowd_message *messages; /* `outstanding` entries */
};

struct crowd_host {
	struct crowd *crowd;
	struct rltp_endpoint *endpoint;
};

struct crowd {
	struct crowd_options options;
	struct net *net;
	struct rng rng;
	struct crowd_host *hosts;
	struct crowd_flow *flows;
	struct crowd_message *messages;
	uint32_t host_count, flow_count;
	/* messages not complete yet, if options.messages is set */
	uint64_t left;
	struct histogram latency;
	struct crowd_result result;
};

static const char *const pattern_names[CROWD_PATTERNS] = {"pair", "incast", "permutation",
							  "all-to-all"};

bool crowd_pattern_parse(const char *text, enum crowd_pattern *out)
{
	for (int i = 0; i < CROWD_PATTERNS; i++) {
		if (strcmp(text, pattern_names[i]) == 0) {
			*out = (enum crowd_pattern)i;
			return true;
		}
	}
	return false;
}

const char *crowd_pattern_name(enum crowd_pattern pattern)
{
	return pattern_names[pattern];
}

/* ---- user of RLTP ---- */

static uint32_t size_draw(struct crowd *c)
{
	uint64_t bytes = c->options.message_bytes;
	uint64_t roll = c->options.mixed ? rng_below(&c->rng, 10) : 9;

	if (roll < 5)
		bytes = max_u64(bytes / 100, 1);
	else if (c->options.mixed && roll == 9)
		bytes *= 10;
	return (uint32_t)min_u64(bytes, NIC_MESSAGE_BYTES_MAX);
}

static void message_post(struct crowd *c, struct crowd_message *m)
{
	struct crowd_flow *f = m->flow;

	if (c->options.messages > 0 && f->posted == c->options.messages)
		return;
	m->rltp = (struct rltp_message){
		.type = WIRE_PUT, .flow = RLTP_FLOW(0, 0), .bytes = size_draw(c)};
	m->id = f->posted++;
	m->posted_ns = net_now(c->net);
	if (rltp_endpoint_post(c->hosts[f->from].endpoint, f->session, &m->rltp, m->posted_ns) !=
	    DXP_OK)
		c->result.failed++;
}

static void fill(void *user, struct rltp_message *message, uint32_t offset, uint32_t bytes,
		 struct rltp_packet *out)
{
	static const uint8_t nothing[WIRE_PAYLOAD_MAX];
	const struct crowd_message *m = CONTAINER_OF(message, const struct crowd_message, rltp);

	out->header.msg_id = m->id;
	out->header.addr = offset;
	out->slices[0] = (struct datagram_slice){nothing, bytes};
	out->slice_count = bytes > 0;
}

static void done(void *user, struct rltp_session *s, struct rltp_message *message, int status)
{
	struct crowd *c = ((struct crowd_host *)user)->crowd;
	struct crowd_message *m = CONTAINER_OF(message, struct crowd_message, rltp);

	if (status == DXP_OK) {
		histogram_add(&c->latency, net_now(c->net) - m->posted_ns);
		c->result.messages++;
		c->result.bytes += m->rltp.bytes;
	} else {
		c->result.failed++;
	}
	c->left -= c->left > 0;
	message_post(c, m);
}

static struct rltp_verdict deliver(void *user, struct rltp_session *s, const struct wire_header *h,
				   const uint8_t *payload)
{
	return (struct rltp_verdict){0};
}

static const struct rltp_user_ops user_ops = {
	.fill = fill,
	.done = done,
	.deliver = deliver,
	.aborted = rltp_user_aborted,
	.reset = rltp_user_reset,
	.rest = rltp_user_rest,
	.grants = rltp_user_no_credits,
	.granted = rltp_user_credit,
	.wants = rltp_user_no_credits,
	.requested = rltp_user_credit,
};

/* ---- hosts ---- */

static void host_receive(void *host, const struct datagram_arrival *arrival, uint64_t now_ns)
{
	rltp_endpoint_receive(((struct crowd_host *)host)->endpoint, arrival, now_ns);
}

static size_t host_send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	return rltp_endpoint_send(((struct crowd_host *)host)->endpoint, out, count, now_ns);
}

static uint64_t host_deadline(void *host)
{
	return rltp_endpoint_deadline(((struct crowd_host *)host)->endpoint);
}

static const struct net_host_ops host_ops = {host_receive, host_send, host_deadline};

static uint64_t token_of(void *context, uint32_t id)
{
	return id * 0x9e3779b97f4a7c15ull;
}

/* The network keeps only headers, so payloads have no checksum. */
static uint8_t path_of(void *context, const struct udp_address *peer, bool same_machine)
{
	return RLTP_PATH_INTACT;
}

static int host_create(struct crowd *c, uint32_t i)
{
	const struct crowd_options *o = &c->options;
	struct crowd_host *h = &c->hosts[i];
	const struct rltp_endpoint_options options = {
		.node = (uint16_t)(i + 1),
		.incarnation = 1,
		.window_packets = o->window_packets,
		.tuning = o->tuning,
		.path = path_of,
		.ops = &user_ops,
		.user = h,
		.entropy = rng_entropy_rng,
		.entropy_context = &c->rng,
		.token = token_of,
	};

	h->crowd = c;
	int status = rltp_endpoint_create(&options, &h->endpoint);
	if (status == DXP_OK)
		net_host_set(c->net, i, &host_ops, h);
	return status;
}

static int introduce(struct crowd *c, uint32_t to, uint32_t host)
{
	struct rltp_peer_info peer = {.node = (uint16_t)(host + 1), .payload_bytes = PAYLOAD_BYTES};

	net_address(host, &peer.address);
	return rltp_endpoint_peer(c->hosts[to].endpoint, &peer, net_now(c->net));
}

/* ---- flows ---- */

static uint32_t flow_total(const struct crowd_options *o)
{
	switch (o->pattern) {
	case CROWD_PAIR: return 1;
	case CROWD_INCAST: return o->net.hosts - 1;
	case CROWD_PERMUTATION: return o->net.hosts;
	default: return o->net.hosts * (o->net.hosts - 1);
	}
}

static void flow_ends(const struct crowd *c, const uint32_t *shuffled, uint32_t i,
		      struct crowd_flow *f)
{
	uint32_t hosts = c->host_count;

	switch (c->options.pattern) {
	case CROWD_PAIR: f->to = 1; break;
	case CROWD_INCAST: f->from = i + 1; break;
	case CROWD_PERMUTATION: /* all hosts in one random cycle */
		f->from = shuffled[i];
		f->to = shuffled[(i + 1) % hosts];
		break;
	default: f->from = i / (hosts - 1); f->to = (f->from + 1 + i % (hosts - 1)) % hosts;
	}
}

static int flow_create(struct crowd *c, const uint32_t *shuffled, uint32_t i)
{
	struct crowd_flow *f = &c->flows[i];

	flow_ends(c, shuffled, i, f);
	int status = introduce(c, f->from, f->to);
	if (status == DXP_OK)
		status = introduce(c, f->to, f->from);
	if (status != DXP_OK)
		return status;
	f->session = rltp_endpoint_session(c->hosts[f->from].endpoint, (uint16_t)(f->to + 1));
	f->messages = c->messages + (size_t)i * c->options.outstanding;
	for (uint32_t k = 0; k < c->options.outstanding; k++)
		f->messages[k].flow = f;
	return DXP_OK;
}

static int flows_create(struct crowd *c)
{
	uint32_t *shuffled = malloc(c->host_count * sizeof(*shuffled));
	int status = shuffled ? DXP_OK : DXP_ENOMEM;

	for (uint32_t i = 0; i < c->host_count && shuffled; i++) {
		uint32_t k = (uint32_t)rng_below(&c->rng, i + 1);
		shuffled[i] = shuffled[k];
		shuffled[k] = i;
	}
	for (uint32_t i = 0; i < c->flow_count && status == DXP_OK; i++)
		status = flow_create(c, shuffled, i);
	free(shuffled);
	return status;
}

static int crowd_create(struct crowd *c)
{
	const struct crowd_options *o = &c->options;

	c->rng.state = ~o->net.seed;
	c->host_count = o->net.hosts;
	c->flow_count = flow_total(o);
	c->left = (uint64_t)o->messages * c->flow_count;
	c->hosts = calloc(c->host_count, sizeof(*c->hosts));
	c->flows = calloc(c->flow_count, sizeof(*c->flows));
	c->messages = calloc((size_t)c->flow_count * o->outstanding, sizeof(*c->messages));
	if (!c->hosts || !c->flows || !c->messages)
		return DXP_ENOMEM;
	int status = net_create(&o->net, &c->net);
	for (uint32_t i = 0; i < c->host_count && status == DXP_OK; i++)
		status = host_create(c, i);
	return status == DXP_OK ? flows_create(c) : status;
}

static void crowd_destroy(struct crowd *c)
{
	for (uint32_t i = 0; c->hosts && i < c->host_count; i++)
		rltp_endpoint_destroy(c->hosts[i].endpoint);
	net_destroy(c->net);
	free(c->hosts);
	free(c->flows);
	free(c->messages);
}

/* ---- results ---- */

static void flow_account(struct crowd *c, const struct crowd_flow *f, double *sum, double *squares)
{
	const struct rltp_session *s =
		rltp_endpoint_session(c->hosts[f->to].endpoint, (uint16_t)(f->from + 1));
	const struct rltp_counters *sent = rltp_session_counters(f->session);
	uint64_t received_bytes = rltp_session_counters(s)->received_bytes;
	double bytes = (double)received_bytes;

	*sum += bytes;
	*squares += bytes * bytes;
	c->result.received_bytes += received_bytes;
	c->result.packets += sent->sent_packets;
	c->result.repeats += (uint64_t)sent->retransmitted_gap + sent->retransmitted_probe +
			     sent->retransmitted_timeout + sent->retransmitted_busy;
}

/* Sums the queues of the ports that flows share: with incast, of the port towards the receiver;
 * else, in a star, of all ports towards hosts, in a leaf-spine of the ports between leaves and
 * spines, on a wire of the sender's port. */
static void queues_account(struct crowd *c)
{
	const struct net_paths *paths = net_paths(c->net);
	struct crowd_result *r = &c->result;
	double sum = 0, packets = 0;
	bool incast = c->options.pattern == CROWD_INCAST;
	uint32_t first = paths->topology == NET_WIRE                    ? 0
			 : paths->topology == NET_LEAF_SPINE && !incast ? 2 * c->host_count
									: c->host_count;
	uint32_t last = incast || paths->topology == NET_WIRE ? first + 1 : paths->port_count;

	for (uint32_t i = first; i < last; i++) {
		sum += (double)paths->ports[i].queue_sum;
		packets += (double)paths->ports[i].packets;
		r->queue_max_bytes =
			(double)max_u64((uint64_t)r->queue_max_bytes, paths->ports[i].queue_max);
	}
	r->queue_mean_bytes = packets > 0 ? sum / packets : 0;
}

/* Computes the payload received as a share of what the wires to the receivers can carry. */
static void share_account(struct crowd *c)
{
	struct crowd_result *r = &c->result;
	double receivers = c->options.pattern <= CROWD_INCAST ? 1 : c->host_count;
	double carried = receivers * (double)c->options.net.rate_bps / 8 * (double)r->elapsed_ns /
			 1e9 * PAYLOAD_BYTES / PACKET_BYTES;

	r->share = carried > 0 ? (double)r->received_bytes / carried : 0;
}

static void account(struct crowd *c, uint64_t elapsed_ns)
{
	const struct sim_counters *n = net_counters(c->net);
	struct crowd_result *r = &c->result;
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < c->flow_count; i++)
		flow_account(c, &c->flows[i], &sum, &squares);
	r->jain = squares > 0 ? sum * sum / (squares * c->flow_count) : 0;
	r->elapsed_ns = elapsed_ns;
	r->datagrams = n->sent;
	r->wire_bytes = n->wire_bytes;
	r->dropped = n->dropped + n->overflowed;
	r->lost = n->lost;
	r->p50_us = (double)histogram_at(&c->latency, 500) / 1e3;
	r->p99_us = (double)histogram_at(&c->latency, 990) / 1e3;
	r->p999_us = (double)histogram_at(&c->latency, 999) / 1e3;
	queues_account(c);
	share_account(c);
}

static bool all_ended(void *context)
{
	const struct crowd *c = context;

	return c->options.messages > 0 && c->left == 0;
}

int crowd_run(const struct crowd_options *options, struct crowd_result *out)
{
	if (options->net.hosts < 2 || options->message_bytes == 0 || options->outstanding == 0 ||
	    options->outstanding > CROWD_OUTSTANDING_MAX)
		return DXP_EINVAL;
	struct crowd *c = calloc(1, sizeof(*c));
	if (!c)
		return DXP_ENOMEM;
	c->options = *options;
	c->options.net.headers_only = true;
	int status = crowd_create(c);
	if (status == DXP_OK) {
		uint64_t begin_ns = net_now(c->net);
		for (uint32_t i = 0; i < c->flow_count * options->outstanding; i++)
			message_post(c, &c->messages[i]);
		for (uint32_t i = 0; i < c->host_count; i++)
			net_touch(c->net, i);
		net_run(c->net, options->limit_ns, all_ended, c);
		account(c, net_now(c->net) - begin_ns);
		*out = c->result;
	}
	crowd_destroy(c);
	free(c);
	return status;
}
