/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs RLTP endpoints and the layer above them in virtual time. */
#include "test/support/endpoints.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "crypto/crypto.h"
#include "rltp/internal.h"
#include "rltp/user.h"
#include "seal/seal.h"

#define HOSTS      8
#define CLOCK_HOST (HOSTS - 1)

static const uint8_t pattern[WIRE_LONG_PAYLOAD_MAX];

static void fill(void *user, struct rltp_message *message, uint32_t offset, uint32_t bytes,
		 struct rltp_packet *out)
{
	const struct rig_message *m = CONTAINER_OF(message, const struct rig_message, rltp);

	out->header.msg_id = m->id;
	out->header.addr = offset;
	out->slices[0] = (struct datagram_slice){pattern, bytes};
	out->slice_count = bytes > 0;
}

static void done(void *user, struct rltp_session *s, struct rltp_message *message, int status)
{
	struct rig_message *m = CONTAINER_OF(message, struct rig_message, rltp);
	struct rig_node *n = user;

	if (m->ended)
		abort(); /* each message completes only once */
	m->ended = true;
	m->status = status;
	n->ended++;
	switch (status) {
	case DXP_OK: n->ok++; break;
	case DXP_EPEERRESET: n->reset++; break;
	case DXP_ECLOSED: n->closed++; break;
	case DXP_ETIMEDOUT: n->timed_out++; break;
	case DXP_EPATH: n->path_less++; break;
	default: n->failed++;
	}
}

static struct rltp_verdict deliver(void *user, struct rltp_session *s, const struct wire_header *h,
				   const uint8_t *payload)
{
	struct rig_node *n = user;

	n->delivered_bytes += h->payload_bytes;
	n->last_delivery_ns = net_now(n->rig->net);
	if (h->flags & WIRE_FLAG_LAST && h->msg_id < RIG_MESSAGES)
		n->seen[(h->src_node - 1) * RIG_MESSAGES + h->msg_id]++;
	return (struct rltp_verdict){0};
}

static void reset(void *user, struct rltp_session *s, int status)
{
	s->awaited = 0;
}

static const struct rltp_user_ops user_ops = {
	.fill = fill,
	.done = done,
	.deliver = deliver,
	.aborted = rltp_user_aborted,
	.reset = reset,
	.rest = rltp_user_rest,
	.grants = rltp_user_no_credits,
	.granted = rltp_user_credit,
	.wants = rltp_user_no_credits,
	.requested = rltp_user_credit,
};

static void host_receive(void *host, const struct datagram_arrival *arrival, uint64_t now_ns)
{
	rltp_endpoint_receive(((struct rig_node *)host)->endpoint, arrival, now_ns);
}

static void sent_keep(struct rig *r, const struct rig_node *n, const struct datagram *d)
{
	uint32_t at = r->kept_count, bytes = d->header_bytes;

	if (!r->keep || at == RIG_KEPT)
		return;
	memcpy(r->kept[at], d->header, bytes);
	for (uint32_t i = 0; i < d->slice_count; i++) {
		if (bytes + d->slices[i].bytes > sizeof(r->kept[at]))
			return;
		memcpy(r->kept[at] + bytes, d->slices[i].base, d->slices[i].bytes);
		bytes += (uint32_t)d->slices[i].bytes;
	}
	r->kept_bytes[at] = bytes;
	r->kept_from[at] = (uint32_t)(n - r->nodes);
	r->kept_to[at] = get_be16(d->header + WIRE_OFF_DST_NODE) - 1u;
	r->kept_count++;
}

static size_t host_send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct rig_node *n = host;
	size_t sent = rltp_endpoint_send(n->endpoint, out, count, now_ns);

	for (size_t i = 0; i < sent; i++) {
		n->sent_type[out[i].header[WIRE_OFF_TYPE]]++;
		n->rig->sent++;
		n->rig->sent_bytes += out[i].header_bytes;
		sent_keep(n->rig, n, &out[i]);
	}
	return sent;
}

static uint64_t host_deadline(void *host)
{
	return rltp_endpoint_deadline(((struct rig_node *)host)->endpoint);
}

static const struct net_host_ops host_ops = {host_receive, host_send, host_deadline};

/* Drops all datagrams to a host that has no node. */
static void silent_receive(void *host, const struct datagram_arrival *arrival, uint64_t now_ns)
{
}

static size_t silent_send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	return 0;
}

static uint64_t silent_deadline(void *host)
{
	return UINT64_MAX;
}

static const struct net_host_ops silent_ops = {silent_receive, silent_send, silent_deadline};

/* So virtual time advances to the next alarm even without packets. */
static uint64_t clock_deadline(void *host)
{
	const struct rig *r = host;

	return net_now(r->net) < r->alarm_ns ? r->alarm_ns : UINT64_MAX;
}

static const struct net_host_ops clock_ops = {silent_receive, silent_send, clock_deadline};

static uint64_t token_of(void *context, uint32_t id)
{
	return (id + (uint64_t)(uintptr_t)context) * 0x9e3779b97f4a7c15ull;
}

/* Depends on the key and on every byte. It stands for an HMAC: no test guesses it without the
 * key. */
static bool tag_of(void *context, enum rltp_key key, const uint8_t *frame, size_t bytes,
		   uint8_t tag[WIRE_TAG_BYTES])
{
	struct rig_node *n = context;
	const bool former = key == RLTP_KEY_FORMER || (key == RLTP_KEY_SEND && n->send_former);
	struct rng r = {.state = former ? n->former_key : n->key};

	if (former && !n->former_key)
		return false;
	n->tags++;
	for (size_t i = 0; i < bytes; i++)
		r.state = rng_next(&r) ^ frame[i];
	put_be64(tag, rng_next(&r));
	put_be64(tag + 8, rng_next(&r));
	return true;
}

static uint8_t protection_of(void *context, const struct udp_address *peer)
{
	return ((const struct rig_node *)context)->protect;
}

uint8_t rig_protect;

static const uint8_t *peer_key(void *of, uint16_t node)
{
	const struct rig *r = ((const struct rig_node *)of)->rig;

	return node >= 1 && node <= r->count && r->nodes[node - 1].bound
		       ? r->nodes[node - 1].public_key
		       : NULL;
}

static bool needs_key(void *of, uint16_t node)
{
	return ((const struct rig_node *)of)->strict;
}

static int seal_start(struct rig *r, struct rig_node *n)
{
	const struct seal_options options = {.entropy = rng_entropy_rng,
					     .entropy_context = &r->rng,
					     .update_packets = RIG_UPDATE_PACKETS,
					     .peer_key = peer_key,
					     .needs_key = needs_key,
					     .peer_context = n};
	int status = seal_create(&options, &n->seal);

	return status == DXP_OK && n->keyed ? seal_identity(n->seal, n->private_key) : status;
}

int rig_identity(struct rig *r, uint32_t node, uint8_t number)
{
	struct rig_node *n = &r->nodes[node];

	n->keyed = n->bound = number != 0;
	memset(n->private_key, number, sizeof(n->private_key));
	if (!number)
		return DXP_OK;
	if (!crypto_x25519_public(n->private_key, n->public_key))
		return DXP_ENOMEM;
	return n->seal ? seal_identity(n->seal, n->private_key) : DXP_OK;
}

int rig_rekey(struct rig *r, uint32_t node, uint8_t present, uint8_t former, bool send_former)
{
	const uint8_t keys[2][FABRIC_KEY_BYTES] = {{present}, {former}};
	struct rig_node *n = &r->nodes[node];
	int status = DXP_OK;

	n->key = present;
	n->former_key = former;
	n->send_former = former && send_former;
	if (n->seal)
		status = seal_rekey(n->seal, keys[0], former ? keys[1] : NULL, send_former);
	net_touch(r->net, n->host_index);
	return status;
}

static void node_stop(struct rig_node *n)
{
	rltp_endpoint_destroy(n->endpoint);
	seal_destroy(n->seal);
	n->endpoint = NULL;
	n->seal = NULL;
}

static uint8_t path_of(void *context, const struct udp_address *peer, bool same_machine)
{
	const struct rig_node *n = context;

	return same_machine ? n->wireless : 0;
}

static int node_start(struct rig *r, uint32_t i)
{
	struct rig_node *n = &r->nodes[i];
	int status = n->protect ? seal_start(r, n) : DXP_OK;
	if (status != DXP_OK)
		return status;
	const struct rltp_endpoint_options options = {
		.node = (uint16_t)(i + 1),
		.incarnation = n->incarnation,
		.receive_packets = n->receive_packets,
		.machine = n->machine,
		.path = path_of,
		.path_context = n,
		.long_frames = n->long_frames,
		.ops = &user_ops,
		.user = n,
		.entropy = rng_entropy_rng,
		.entropy_context = &r->rng,
		.token = token_of,
		/* depends only on the node, so it is the same after a restart */
		.token_context = (void *)(uintptr_t)(i + 1),
		.authenticate = n->key ? tag_of : NULL,
		.authenticate_context = n,
		.protect = protection_of,
		.protect_context = n,
		.seal = n->protect ? &seal_ops : NULL,
		.seal_context = n->seal,
	};

	status = rltp_endpoint_create(&options, &n->endpoint);
	if (status == DXP_OK)
		net_host_set(r->net, n->host_index, &host_ops, n);
	return status;
}

static int introduce(struct rig *r, uint32_t to, uint32_t node)
{
	struct rltp_peer_info peer = {.node = (uint16_t)(node + 1),
				      .incarnation = r->nodes[node].incarnation,
				      .payload_bytes = r->nodes[to].path};

	net_address(r->nodes[node].host_index, &peer.address);
	return rltp_endpoint_peer(r->nodes[to].endpoint, &peer, net_now(r->net));
}

void rig_introduce(struct rig *r, uint32_t to, uint32_t node)
{
	introduce(r, to, node);
	net_touch(r->net, r->nodes[to].host_index);
}

static int introduce_all(struct rig *r, uint32_t to)
{
	int status = DXP_OK;

	for (uint32_t i = 0; i < r->count && status == DXP_OK; i++)
		if (i != to)
			status = introduce(r, to, i);
	return status;
}

struct rig *rig_create(uint32_t count, uint64_t seed, const struct sim_faults *faults,
		       uint16_t path)
{
	struct net_options options = {.seed = seed, .hosts = HOSTS, .delay_ns = 20 * US_NS};
	struct rig *r = calloc(1, sizeof(*r));
	int status = DXP_OK;

	if (!r)
		return NULL;
	if (faults)
		options.faults = *faults;
	r->rng.state = seed;
	r->count = count;
	if (net_create(&options, &r->net) != DXP_OK)
		goto fail;
	net_host_set(r->net, CLOCK_HOST, &clock_ops, r);
	r->kept = calloc(RIG_KEPT, sizeof(*r->kept));
	r->kept_bytes = calloc(3 * RIG_KEPT, sizeof(*r->kept_bytes));
	if (!r->kept || !r->kept_bytes)
		goto fail;
	r->kept_from = r->kept_bytes + RIG_KEPT;
	r->kept_to = r->kept_from + RIG_KEPT;
	for (uint32_t i = 0; i < count && status == DXP_OK; i++) {
		struct rig_node *n = &r->nodes[i];
		*n = (struct rig_node){.rig = r,
				       .host_index = i,
				       .incarnation = 1000 + i,
				       .key = 7,
				       .path = path,
				       .protect = rig_protect};
		status = rig_identity(r, i, (uint8_t)(i + 1));
		if (status != DXP_OK)
			break;
		n->messages = calloc(RIG_MESSAGES, sizeof(*n->messages));
		n->seen = calloc(RIG_NODES * RIG_MESSAGES, sizeof(*n->seen));
		status = n->messages && n->seen ? node_start(r, i) : DXP_ENOMEM;
	}
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		status = introduce_all(r, i);
	if (status == DXP_OK)
		return r;
fail:
	rig_destroy(r);
	return NULL;
}

void rig_destroy(struct rig *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->count; i++) {
		node_stop(&r->nodes[i]);
		free(r->nodes[i].messages);
		free(r->nodes[i].seen);
	}
	if (r->net)
		net_destroy(r->net);
	free(r->kept);
	free(r->kept_bytes);
	free(r);
}

struct rltp_session *rig_session(struct rig *r, uint32_t from, uint32_t to)
{
	return rltp_endpoint_session(r->nodes[from].endpoint, (uint16_t)(to + 1));
}

void rig_post(struct rig *r, uint32_t from, uint32_t to, uint32_t bytes)
{
	struct rig_node *n = &r->nodes[from];
	struct rig_message *m = &n->messages[n->posted];

	if (n->posted == RIG_MESSAGES)
		abort();
	*m = (struct rig_message){.id = n->posted++};
	m->rltp = (struct rltp_message){.type = WIRE_PUT, .flow = RLTP_FLOW(0, 0), .bytes = bytes};
	int status = rltp_endpoint_post(n->endpoint, rig_session(r, from, to), &m->rltp,
					net_now(r->net));
	if (status != DXP_OK)
		done(n, NULL, &m->rltp, status);
	net_touch(r->net, n->host_index);
}

int rig_restart(struct rig *r, uint32_t node, bool announce)
{
	struct rig_node *n = &r->nodes[node];

	/* outstanding operations vanish with the process, without a completion */
	for (uint32_t i = 0; i < n->posted; i++) {
		n->ended += !n->messages[i].ended;
		n->messages[i].ended = true;
	}
	node_stop(n);
	n->endpoint = NULL;
	net_discard(r->net, n->host_index);
	n->incarnation += 100;
	int status = node_start(r, node);
	if (status == DXP_OK)
		status = introduce_all(r, node);
	for (uint32_t i = 0; announce && i < r->count && status == DXP_OK; i++)
		if (i != node)
			rig_introduce(r, i, node);
	return status;
}

void rig_move(struct rig *r, uint32_t node, uint32_t host_index)
{
	net_host_set(r->net, r->nodes[node].host_index, &silent_ops, NULL);
	r->nodes[node].host_index = host_index;
	net_host_set(r->net, host_index, &host_ops, &r->nodes[node]);
	net_touch(r->net, host_index);
}

static bool never(void *context)
{
	return false;
}

void rig_run(struct rig *r, uint64_t duration_ns)
{
	r->alarm_ns = net_now(r->net) + duration_ns;
	net_touch(r->net, CLOCK_HOST);
	net_run(r->net, duration_ns, never, NULL);
}

static bool all_ended(void *context)
{
	const struct rig_node *n = context;

	return n->ended == n->posted;
}

bool rig_finish(struct rig *r, uint32_t node, uint64_t limit_ns)
{
	return net_run(r->net, limit_ns, all_ended, &r->nodes[node]);
}
