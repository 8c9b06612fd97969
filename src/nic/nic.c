/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, peers, and the calls between windows, engines and RLTP. */
#include "nic/nic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/ids.h"

/* function 0's users; those of function i are i bits higher */
#define USERS_OF_0 \
	(1u << NIC_USER(0, 0) | 1u << NIC_USER(0, 1) | 1u << NIC_USER(0, 2) | 1u << NIC_USER(0, 3))

static void session_reset(void *user, struct rltp_session *s, int status)
{
	struct nic_peer *p = nic_peer_of(s);

	if (!p)
		return;
	reads_fail(p, status);
	staged_reads_fail(p);
	stream_peer_fail(p, status);
}

static void session_rest(void *user, struct rltp_session *s)
{
	struct nic_peer *p = nic_peer_of(s);

	if (p)
		stream_peer_rest(p);
}

static const struct rltp_user_ops engine_ops = {
	.fill = send_message_fill,
	.done = send_message_done,
	.deliver = receive_packet_deliver,
	.aborted = stream_packet_aborted,
	.reset = session_reset,
	.rest = session_rest,
	.grants = credit_grants,
	.granted = credit_granted,
	.wants = credit_wants,
	.requested = credit_requested,
};

static int endpoint_create(struct nic *n)
{
	const struct nic_options *o = &n->options;
	struct rltp_endpoint_options options = {
		.node = o->node,
		.incarnation = o->incarnation,
		.window_packets = o->window_packets,
		.receive_packets = o->receive_packets,
		.authenticate = o->authenticate,
		.authenticate_context = o->authenticate_context,
		.protect = o->protect,
		.protect_context = o->protect_context,
		.seal = o->seal,
		.seal_context = o->seal_context,
		.machine = o->machine,
		.path = o->path,
		.path_context = o->path_context,
		.long_frames = o->long_frames,
		.tuning = o->tuning,
		.nap_credit = o->nap_credit,
		.ops = &engine_ops,
		.user = n,
		.entropy = o->entropy,
		.entropy_context = o->entropy_context,
		.token = o->token,
		.token_context = o->token_context,
		.outside_admits = outside_admits,
		.outside_add = outside_add,
	};

	memcpy(options.uuid, o->uuid, sizeof(options.uuid));
	return rltp_endpoint_create(&options, &n->endpoint);
}

int nic_create(const struct nic_options *options, struct nic **out)
{
	if (options->receive_entries > NIC_EVENTS || options->reads_max > NIC_READS_MAX)
		return DXP_EINVAL;
	struct nic *n = aligned_alloc(_Alignof(struct nic), sizeof(*n));
	if (!n)
		return DXP_ENOMEM;
	memset(n, 0, sizeof(*n));
	n->options = *options;
	if (n->options.nap_credit == 0)
		n->options.nap_credit = NIC_NAP_CREDIT;
	if (n->options.receive_entries == 0)
		n->options.receive_entries = NIC_EVENTS;
	if (n->options.reads_max == 0)
		n->options.reads_max = NIC_READS_MAX;
	n->retry_ns = n->look_ns = n->registers_ns = UINT64_MAX;
	n->poll = 1; /* so that no function was active in the poll before the first */
	n->options.entropy(n->options.entropy_context, n->key_seed, sizeof(n->key_seed));
	n->options.entropy(n->options.entropy_context, &n->mark_seed, sizeof(n->mark_seed));
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		nic_function_init(n, i);
		n->order.at[i] = (uint8_t)i;
	}
	n->regions = calloc(NIC_REGIONS_MAX, sizeof(*n->regions));
	if (!n->regions || endpoint_create(n) != DXP_OK) {
		free(n->regions);
		free(n);
		return DXP_ENOMEM;
	}
	*out = n;
	return DXP_OK;
}

static void requests_free(struct nic_function *f)
{
	for (int q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		for (struct nic_request *r = f->queues[q].head, *next; r; r = next) {
			next = r->next;
			bounce_close(r);
			chain_free(r);
			free(r);
		}
	}
}

/* RLTP returns the messages by send_message_done(). */
static void peers_free(struct nic *n)
{
	while (n->peers)
		nic_peer_lost(n, n->peers->node, DXP_ECLOSED);
}

void nic_destroy(struct nic *n)
{
	if (!n)
		return;
	peers_free(n);
	for (int i = 0; i < NIC_USERS; i++) {
		staged_local_end(n, &n->users[i]);
		free(n->users[i].registers);
	}
	for (int i = 0; i < NIC_FUNCTIONS; i++)
		requests_free(&n->functions[i]);
	pools_free(n);
	rltp_endpoint_destroy(n->endpoint);
	free(n->regions);
	free(n);
}

void nic_node_set(struct nic *n, uint16_t node)
{
	n->options.node = node;
	rltp_endpoint_node(n->endpoint, node);
	for (uint32_t open = n->open; open; open &= open - 1)
		dxp_store_release(&n->users[__builtin_ctz(open)].window->node, node);
}

void nic_user_unordered(struct nic *n, uint32_t user)
{
	assert(user < NIC_USERS && n->users[user].window);
	n->users[user].unordered = true;
}

void nic_user_cfg_node(struct nic *n, uint32_t user, uint16_t node)
{
	assert(user < NIC_USERS && n->users[user].window);
	n->users[user].cfg_node = n->users[user].guesses.node = node;
}

int nic_function_weight(struct nic *n, uint32_t function, uint32_t weight)
{
	if (function >= NIC_FUNCTIONS || weight == 0 || weight > RLTP_WEIGHT_MAX)
		return DXP_EINVAL;
	n->functions[function].weight = weight;
	share_weights_sum(n);
	rltp_endpoint_weight(n->endpoint, function, weight);
	return DXP_OK;
}

int nic_function_priority(struct nic *n, uint32_t function, uint32_t priority)
{
	if (function >= NIC_FUNCTIONS || priority > NIC_PRIORITY_HIGH)
		return DXP_EINVAL;
	n->high = (uint8_t)((n->high & ~(1u << function)) | priority << function);
	share_weights_sum(n);
	rltp_endpoint_priority(n->endpoint, function, priority == NIC_PRIORITY_HIGH);
	return DXP_OK;
}

struct nic_peer *nic_peer_of(struct rltp_session *s)
{
	return rltp_session_owner(s);
}

struct nic_peer *nic_peer_find(struct nic *n, uint16_t node)
{
	if (n->recent && n->recent->node == node)
		return n->recent;
	struct rltp_session *s = rltp_endpoint_session(n->endpoint, node);
	struct nic_peer *p = s ? nic_peer_of(s) : NULL;
	if (p)
		n->recent = p;
	return p;
}

int nic_peer_set(struct nic *n, const struct rltp_peer_info *peer, uint64_t now_ns)
{
	n->now_ns = now_ns;
	const struct nic_peer *known = nic_peer_find(n, peer->node);
	/* A peer outside of the table has used this number. */
	if (known && !peer->outside && rltp_session_is_outside(known->session))
		nic_peer_lost(n, peer->node, DXP_EPEERLOST);
	int status = rltp_endpoint_peer(n->endpoint, peer, now_ns);
	if (status != DXP_OK)
		return status;
	struct rltp_session *s = rltp_endpoint_session(n->endpoint, peer->node);
	if (rltp_session_owner(s))
		return DXP_OK;
	struct nic_peer *p = calloc(1, sizeof(*p));
	if (!p) {
		rltp_endpoint_peer_lost(n->endpoint, peer->node, DXP_ENOMEM);
		return DXP_ENOMEM;
	}
	p->nic = n;
	p->session = s;
	p->node = p->guesses.node = peer->node;
	p->next = n->peers;
	n->peers = p;
	rltp_session_owner_set(s, p);
	return DXP_OK;
}

void nic_peer_lost(struct nic *n, uint16_t node, int status)
{
	struct nic_peer *p = nic_peer_find(n, node);
	struct nic_peer **link = &n->peers;

	if (!p)
		return;
	/* The reset of the session frees its streams. */
	rltp_endpoint_peer_lost(n->endpoint, node, status);
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	n->recent = NULL;
	free(p);
}

void nic_peer_reset(struct nic *n, uint16_t node, int status)
{
	rltp_endpoint_fail(n->endpoint, node, status);
}

int nic_receive(struct nic *n, const struct datagram_arrival *arrival, uint64_t now_ns)
{
	n->now_ns = now_ns;
	int status = rltp_endpoint_receive(n->endpoint, arrival, now_ns);
	if (n->stops)
		users_settle(n);
	return status;
}

static uint32_t user_poll(struct nic_user *u)
{
	if (u->stopped)
		return 0;
	if (u->waiting)
		credits_poll(u);
	if (u->registers)
		registers_poll(u);
	return doorbells_accept(u);
}

/* Returns the number of descriptors read; reads nothing of a function with idle users. Requests of
 * the last users may find the share used up, so share_function_copy() serves queue pairs round
 * robin. */
static uint32_t function_poll(struct nic *n, uint32_t function)
{
	uint32_t accepted = 0, outstanding = 0;

	for (uint32_t open = n->open >> function & USERS_OF_0; open; open &= open - 1) {
		struct nic_user *u = &n->users[function + (uint32_t)__builtin_ctz(open)];
		accepted += user_poll(u);
		outstanding += u->outstanding;
	}
	if (outstanding == 0)
		return accepted;
	struct nic_function *f = &n->functions[function];
	request_queues_advance(f);
	share_function_copy(f);
	if (n->staged_reads)
		staged_local_poll(f);
	return accepted;
}

/* Polls the open functions of `mask` in their order of service. */
static uint32_t functions_poll(struct nic *n, uint32_t mask)
{
	uint32_t accepted = 0, open = 0;

	for (uint32_t users = n->open; users; users >>= NIC_FUNCTIONS)
		open |= users;
	mask &= open;
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		if (mask >> n->order.at[i] & 1)
			accepted += function_poll(n, n->order.at[i]);
	return accepted;
}

uint32_t nic_doorbells(struct nic *n, uint64_t now_ns)
{
	uint32_t accepted = 0;

	n->now_ns = now_ns;
	n->space = false;
	n->retry_ns = n->look_ns = n->registers_ns = UINT64_MAX;
	share_poll_begin(n);
	if (n->poll % NIC_CLAIMS_POLLS == 0)
		doorbells_overrun(n);
	if (n->staged_reads)
		staged_poll(n);
	if (n->high)
		accepted += functions_poll(n, n->high);
	accepted += functions_poll(n, ~(uint32_t)n->high);
	share_order_next(&n->order, NIC_FUNCTIONS);
	if (n->stops)
		users_settle(n);
	for (uint32_t open = n->open; open; open &= open - 1) {
		struct nic_user *u = &n->users[__builtin_ctz(open)];
		if (u->counted)
			nic_counters_publish(u);
	}
	return accepted;
}

size_t nic_send(struct nic *n, struct datagram *out, size_t count, uint64_t now_ns)
{
	n->now_ns = now_ns;
	return rltp_endpoint_send(n->endpoint, out, count, now_ns);
}

uint64_t nic_deadline(const struct nic *n)
{
	/* nic_send may have closed a session; requests that waited for its requests are not in RLTP
	 * yet. */
	if (n->space)
		return 0;
	uint64_t own_ns = min_u64(min_u64(n->retry_ns, n->look_ns), n->registers_ns);
	return own_ns == 0 ? 0 : min_u64(own_ns, rltp_endpoint_deadline(n->endpoint));
}

const struct nic_counters *nic_counters(const struct nic *n)
{
	return &n->counters;
}

void nic_qp_counters(const struct nic *n, uint32_t function, uint32_t qp,
		     struct nic_qp_counters *out)
{
	assert(function < NIC_FUNCTIONS && qp < NIC_QPS_PER_FUNCTION);
	*out = n->functions[function].counters[qp];
}

struct rltp_endpoint *nic_endpoint(struct nic *n)
{
	return n->endpoint;
}

uint32_t nic_stream_index(uint8_t function, uint16_t qp)
{
	if (function >= NIC_FUNCTIONS || qp >= NIC_QPS_PER_FUNCTION)
		return NIC_STREAMS;
	return function * NIC_QPS_PER_FUNCTION + qp;
}

struct nic_function *nic_stream_function(struct nic *n, uint32_t index)
{
	return &n->functions[index / NIC_QPS_PER_FUNCTION];
}

void nic_memory_short(struct nic *n)
{
	n->retry_ns = min_u64(n->retry_ns, n->now_ns + NIC_MEMORY_RETRY_NS);
}
