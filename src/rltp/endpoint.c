/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sessions. Passes each received datagram to its session. */
#include "rltp/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "wire/ids.h"

static int deadlines_reserve(struct rltp_shared *shared, uint32_t active)
{
	struct rltp_endpoint *e = CONTAINER_OF(shared, struct rltp_endpoint, shared);

	/* The heap may still contain closed sessions. */
	return schedule_reserve(&e->schedule, active + e->schedule.count);
}

int rltp_endpoint_create(const struct rltp_endpoint_options *options, struct rltp_endpoint **out)
{
	struct rltp_endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return DXP_ENOMEM;
	e->options = *options;
	e->shared = (struct rltp_shared){
		.node = options->node,
		.machine = options->machine,
		.path = options->path,
		.path_context = options->path_context,
		.tuning = options->tuning,
		.window_packets =
			options->window_packets ? options->window_packets : RLTP_WINDOW_DEFAULT,
		.reserve = deadlines_reserve,
		.seal = options->seal,
		.ops = options->ops,
		.user = options->user,
	};
	e->due_ns = UINT64_MAX;
	arbiter_init(&e->shared.arbiter);
	e->shared.rwnd = (uint16_t)e->shared.window_packets;
	e->shared.receive_packets = options->receive_packets;
	if (options->receive_packets)
		e->shared.rwnd = (uint16_t)clamp_u64(options->receive_packets * 4ull / 5,
						     RLTP_RWND_MIN, WIRE_WINDOW_MAX);
	*out = e;
	return DXP_OK;
}

void rltp_endpoint_destroy(struct rltp_endpoint *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->peer_count; i++)
		rltp_session_destroy(e->peers[i]);
	schedule_free(&e->schedule);
	free(e->peers);
	free(e);
}

void rltp_endpoint_node(struct rltp_endpoint *e, uint16_t node)
{
	e->options.node = node;
	e->shared.node = node;
}

void rltp_endpoint_moved(struct rltp_endpoint *e, uint64_t now_ns)
{
	for (uint32_t i = 0; i < e->peer_count; i++) {
		struct rltp_session *s = e->peers[i];
		session_path_look(s);
		rltp_session_path(s, s->payload_bytes, false, now_ns);
		if (s->io)
			schedule_ready(&e->schedule, s);
	}
}

/* Returns the index of `node`, or where to insert it. */
static uint32_t peer_position(const struct rltp_endpoint *e, uint16_t node)
{
	uint32_t low = 0, high = e->peer_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (e->peers[middle]->node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct rltp_session *rltp_endpoint_session(struct rltp_endpoint *e, uint16_t node)
{
	uint32_t i = peer_position(e, node);

	return i < e->peer_count && e->peers[i]->node == node ? e->peers[i] : NULL;
}

struct rltp_session *rltp_endpoint_outside(struct rltp_endpoint *e, const struct udp_address *at)
{
	for (uint32_t i = peer_position(e, WIRE_NODE_OUTSIDE); i < e->peer_count; i++)
		if (e->peers[i]->outside && address_equal(&e->peers[i]->address, at))
			return e->peers[i];
	return NULL;
}

struct rltp_session *endpoint_peer_at(struct rltp_endpoint *e, uint16_t node,
				      const struct udp_address *from)
{
	struct rltp_session *s = rltp_endpoint_session(e, node);

	if (s && !s->outside && address_equal(&s->address, from))
		return s;
	return rltp_endpoint_outside(e, from);
}

static int peers_grow(struct rltp_endpoint *e)
{
	if (e->peer_count < e->peer_space)
		return DXP_OK;
	uint32_t space = e->peer_space ? 2 * e->peer_space : 8;
	struct rltp_session **peers = realloc(e->peers, space * sizeof(*peers));
	if (!peers)
		return DXP_ENOMEM;
	e->peers = peers;
	e->peer_space = space;
	return DXP_OK;
}

static int peer_add(struct rltp_endpoint *e, const struct rltp_peer_info *peer)
{
	struct rltp_session *s;
	int status = peers_grow(e);

	if (status == DXP_OK)
		status = rltp_session_create(&e->shared, peer->node, &s);
	if (status != DXP_OK)
		return status;
	s->address = peer->address;
	s->payload_bytes = peer->payload_bytes;
	s->peer_incarnation = peer->incarnation;
	s->patience_ns = peer->patience_ns;
	s->outside = peer->outside;
	if (s->outside)
		s->peer_node = WIRE_NODE_NONE;
	uint32_t i = peer_position(e, peer->node);
	memmove(&e->peers[i + 1], &e->peers[i], (e->peer_count - i) * sizeof(*e->peers));
	e->peers[i] = s;
	e->peer_count++;
	return DXP_OK;
}

/* Another IP address may mean another network; another port is the same path. */
static void peer_move(struct rltp_endpoint *e, struct rltp_session *s,
		      const struct rltp_peer_info *peer, uint64_t now_ns)
{
	bool another = memcmp(s->address.ip, peer->address.ip, sizeof(s->address.ip)) != 0;

	s->address = peer->address;
	if (another)
		session_path_look(s);
	rltp_session_path(s, peer->payload_bytes, another, now_ns);
	if (another && s->state == RLTP_OPEN) {
		s->path_ns = 0;
		s->min_rtt_ns = s->srtt_ns;
	}
	if (another && s->state == RLTP_OPEN && s->io)
		cc_init(&s->io->cc, e->shared.tuning.cc, e->shared.window_packets, now_ns);
	if (s->io)
		schedule_ready(&e->schedule, s);
}

int rltp_endpoint_peer(struct rltp_endpoint *e, const struct rltp_peer_info *peer, uint64_t now_ns)
{
	struct rltp_session *s = rltp_endpoint_session(e, peer->node);

	if (peer->node == e->options.node)
		return DXP_EINVAL;
	if (!s)
		return peer_add(e, peer);
	if (peer->incarnation > s->peer_incarnation) {
		/* If a HELLO is outstanding, no message was sent, and the new process can answer
		 * it. */
		if (s->state == RLTP_OPEN && s->peer_incarnation != 0)
			rltp_session_fail(s, DXP_EPEERRESET);
		s->peer_incarnation = peer->incarnation;
		s->peer_epoch = 0;
	}
	s->patience_ns = peer->patience_ns;
	peer_move(e, s, peer, now_ns);
	return DXP_OK;
}

void rltp_endpoint_fail(struct rltp_endpoint *e, uint16_t node, int status)
{
	struct rltp_session *s = rltp_endpoint_session(e, node);

	if (s)
		rltp_session_fail(s, status);
}

bool rltp_endpoint_mismatch(struct rltp_endpoint *e, struct rltp_mismatch *out)
{
	if (!e->mismatched)
		return false;
	e->mismatched = false;
	*out = e->mismatch;
	return true;
}

bool rltp_endpoint_ended(struct rltp_endpoint *e, uint16_t *node, int *status)
{
	for (uint32_t i = 0; e->shared.ends > 0 && i < e->peer_count; i++) {
		struct rltp_session *s = e->peers[i];
		if (s->end == DXP_OK)
			continue;
		*node = s->node;
		*status = s->end;
		s->end = DXP_OK;
		e->shared.ends--;
		return true;
	}
	return false;
}

void rltp_endpoint_peer_lost(struct rltp_endpoint *e, uint16_t node, int status)
{
	uint32_t i = peer_position(e, node);
	struct rltp_session *s = rltp_endpoint_session(e, node);

	if (!s)
		return;
	rltp_session_fail(s, status);
	schedule_forget(&e->schedule, s);
	memmove(&e->peers[i], &e->peers[i + 1], (e->peer_count - i - 1) * sizeof(*e->peers));
	e->peer_count--;
	rltp_session_destroy(s);
}

int rltp_endpoint_post(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
		       uint64_t now_ns)
{
	int status = rltp_session_post(s, m, now_ns);

	if (status != DXP_OK)
		return status;
	if (s->state == RLTP_IDLE)
		handshake_begin(e, s, now_ns);
	schedule_ready(&e->schedule, s);
	return DXP_OK;
}

void rltp_endpoint_cancel(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
			  int status)
{
	rltp_session_cancel(s, m, status);
	schedule_ready(&e->schedule, s);
}

void rltp_endpoint_accept(struct rltp_endpoint *e, struct rltp_session *s, uint32_t psn,
			  uint32_t payload_bytes, uint64_t now_ns)
{
	rltp_session_accept(s, psn, payload_bytes, now_ns);
	schedule_ready(&e->schedule, s);
}

void rltp_endpoint_refuse(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_nack_body *nack)
{
	rltp_session_reject(s, nack);
	schedule_ready(&e->schedule, s);
}

void rltp_endpoint_call(struct rltp_endpoint *e, struct rltp_session *s,
			const struct wire_nack_body *nack)
{
	rltp_session_call(s, nack);
	schedule_ready(&e->schedule, s);
}

void rltp_endpoint_grant(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	rltp_session_grant(s, now_ns);
	schedule_ready(&e->schedule, s);
}

void rltp_endpoint_want(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	rltp_session_want(s, now_ns);
	schedule_ready(&e->schedule, s);
}

bool rltp_endpoint_watch(struct rltp_endpoint *e, struct rltp_session *s, bool on,
			 uint64_t since_ns, uint64_t now_ns)
{
	bool watched = rltp_session_watch(s, on, since_ns, now_ns);

	if (s->io)
		schedule_ready(&e->schedule, s);
	return watched;
}

/* The low 16 bits of a session id, which this side assigns, are the peer's node id; the others are
 * a random generation. */
static struct rltp_session *session_by_id(struct rltp_endpoint *e, uint32_t id)
{
	struct rltp_session *s = rltp_endpoint_session(e, (uint16_t)id);

	return s && s->local_id == id ? s : NULL;
}

/* An address changed and now requires more protection. No packet is sent or accepted until it
 * changes back or the session times out. */
static bool exposed(const struct rltp_endpoint *e, const struct rltp_session *s)
{
	return s->state == RLTP_OPEN && s->protect < handshake_protection(e, s);
}

static void session_frame(struct rltp_endpoint *e, struct wire_header *h,
			  const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = session_by_id(e, h->dst_session);
	const bool sealed = wire_is_sealed(a->data, a->bytes);
	struct datagram_arrival opened;

	if (!s || h->src_node != s->peer_node || s->state == RLTP_IDLE) {
		e->counters.unknown_session++;
		if (sealed)
			reject_frame(e, h, a, now_ns);
		else
			reset_queue(e, h, &a->from, now_ns);
		return;
	}
	if (!address_equal(&s->address, &a->from)) {
		e->counters.wrong_address++;
		return;
	}
	if (sealed != (s->seal != NULL) || exposed(e, s)) {
		e->counters.unsealed++;
		return;
	}
	if (sealed) {
		if (!protect_open(e, s, h, a, &opened))
			return;
		a = &opened;
	}
	if (h->type == WIRE_BYE)
		reset_bye_receive(e, s, h, a->data + h->header_bytes);
	else
		rltp_session_receive(s, h, a, now_ns);
	schedule_ready(&e->schedule, s);
}

/* A HELLO without destination id is for the node at this IP address. */
static bool frame_for_us(const struct rltp_endpoint *e, const struct wire_header *h)
{
	if (h->type == WIRE_HELLO && h->dst_node == WIRE_NODE_NONE)
		return true;
	return h->dst_node == e->options.node;
}

int rltp_endpoint_receive(struct rltp_endpoint *e, const struct datagram_arrival *a,
			  uint64_t now_ns)
{
	struct wire_header h;
	int status = wire_is_sealed(a->data, a->bytes) ? wire_sealed_decode(a->data, a->bytes, &h)
						       : wire_header_decode(a->data, a->bytes, &h);

	if (status != DXP_OK) {
		*(status == DXP_EIO ? &e->counters.corrupt : &e->counters.malformed) += 1;
		return status;
	}
	if (wire_type_management(h.type))
		return DXP_EUNSUPPORTED;
	if (!frame_for_us(e, &h)) {
		e->counters.not_for_us++;
		return DXP_OK;
	}
	switch (h.type) {
	case WIRE_HELLO:
	case WIRE_HELLO_ACK: handshake_receive(e, &h, a, now_ns); break;
	case WIRE_RESET: reset_receive(e, &h, a); break;
	case WIRE_REJECT: reject_receive(e, &h, a); break;
	case WIRE_COOKIE: cookie_receive(e, &h, a, now_ns); break;
	default: session_frame(e, &h, a, now_ns);
	}
	return DXP_OK;
}

static size_t session_send(struct rltp_endpoint *e, struct rltp_session *s, uint32_t mask,
			   struct datagram *out, size_t count, uint64_t now_ns)
{
	if (now_ns > rltp_session_dead_ns(s))
		rltp_session_fail(s, DXP_ETIMEDOUT);
	size_t n = reset_bye_send(e, s, out, count, now_ns);
	n += handshake_send(e, s, out + n, count - n, now_ns);
	size_t more = rltp_session_send(s, mask, out + n, count - n, now_ns);
	if (exposed(e, s))
		return n; /* not sent, so the session handles them as lost */
	return n + (s->seal ? protect_seal(s, out + n, more) : more);
}

static uint64_t session_deadline(const struct rltp_session *s)
{
	uint64_t dead_ns = rltp_session_dead_ns(s);
	uint64_t deadline = min_u64(handshake_deadline(s), rltp_session_deadline(s));

	return min_u64(deadline, dead_ns == UINT64_MAX ? dead_ns : dead_ns + 1);
}

/* Selects the next session, and in *mask the channels of its new packets. The ready queue comes
 * first; while channels compete, its sessions send new packets only from the control flow. Then
 * come the run queues. */
static struct rltp_session *session_next(struct rltp_endpoint *e, uint64_t now_ns, uint32_t *mask)
{
	struct rltp_session *s = schedule_dequeue(&e->schedule);
	uint32_t channel;

	if (s) {
		*mask = e->shared.arbiter.contended ? 0 : UINT32_MAX;
		return s;
	}
	s = arbiter_next(&e->shared.arbiter, now_ns, &channel);
	if (s)
		*mask = 1u << channel;
	return s;
}

/* Returns how many datagrams the session may send in one poll; from a run queue, about
 * RLTP_QUANTUM_BYTES. */
static uint32_t session_share(const struct rltp_session *s, uint32_t mask)
{
	if (mask == 0 || mask == UINT32_MAX)
		return RLTP_SHARE;
	uint16_t unit = s->unit < s->whole ? s->unit : s->whole;

	return (uint32_t)clamp_u64(RLTP_QUANTUM_BYTES / (unit + WIRE_DATA_BYTES), 1, RLTP_SHARE);
}

/* Excuses silence of the peers while this process did not run. */
static void absence_note(struct rltp_endpoint *e, uint64_t now_ns)
{
	if (now_ns <= e->due_ns || now_ns - e->due_ns < RLTP_AWAY_NS)
		return;
	for (uint32_t i = 0; i < e->peer_count; i++) {
		struct rltp_session *s = e->peers[i];
		if (!s->io)
			continue;
		rltp_session_away(s, now_ns - e->due_ns, now_ns);
		schedule_ready(&e->schedule, s);
	}
}

/* A session that used up its share goes to the back of the queue, so that acknowledgements of
 * others are not late. */
size_t rltp_endpoint_send(struct rltp_endpoint *e, struct datagram *out, size_t count,
			  uint64_t now_ns)
{
	struct arbiter *a = &e->shared.arbiter;
	if (e->options.seal) {
		e->options.seal->batch(e->options.seal_context);
		count = min_u64(count, DATAGRAM_BATCH);
	}
	size_t n = resets_send(e, out, count, now_ns);
	n += cookies_send(e, out + n, count - n, now_ns);
	struct rltp_session *s;
	uint32_t mask;

	absence_note(e, now_ns);
	schedule_due(&e->schedule, now_ns);
	while (n < count && (s = session_next(e, now_ns, &mask)) != NULL) {
		size_t share = min_u64(count - n, session_share(s, mask));
		size_t sent = session_send(e, s, mask, out + n, share, now_ns);
		n += sent;
		if (a->contended)
			arbiter_join(a, s, rltp_session_sendable(s, now_ns));
		if (sent == share && (mask == 0 || !a->contended))
			schedule_ready(&e->schedule, s);
		else
			schedule_at(&e->schedule, s, session_deadline(s));
	}
	e->due_ns = max_u64(rltp_endpoint_deadline(e), now_ns);
	return n;
}

uint64_t rltp_endpoint_deadline(const struct rltp_endpoint *e)
{
	if (e->reset_count > 0 || e->cookies.count > 0)
		return 0;
	uint64_t deadline = schedule_deadline(&e->schedule);
	if (e->shared.arbiter.lined == 0)
		return deadline;
	return min_u64(deadline, arbiter_deadline(&e->shared.arbiter));
}

void rltp_endpoint_close(struct rltp_endpoint *e)
{
	for (uint32_t i = 0; i < e->peer_count; i++) {
		struct rltp_session *s = e->peers[i];
		bool open = s->state == RLTP_OPEN;
		uint32_t peer_id = s->peer_id;
		if (s->state == RLTP_IDLE)
			continue;
		s->bye_due = open;
		rltp_session_fail(s, DXP_ECLOSED);
		s->bye_id = peer_id;
		schedule_ready(&e->schedule, s);
	}
}

void rltp_endpoint_level(struct rltp_endpoint *e, uint8_t level)
{
	e->shared.rx_level = level < WIRE_RX_LEVEL_MAX ? level : WIRE_RX_LEVEL_MAX;
}

const struct rltp_endpoint_counters *rltp_endpoint_counters(const struct rltp_endpoint *e)
{
	return &e->counters;
}

void rltp_endpoint_weight(struct rltp_endpoint *e, uint32_t channel, uint32_t weight)
{
	arbiter_weight(&e->shared.arbiter, channel, weight);
}

void rltp_endpoint_priority(struct rltp_endpoint *e, uint32_t channel, bool high)
{
	arbiter_priority(&e->shared.arbiter, channel, high);
}

void rltp_endpoint_limit(struct rltp_endpoint *e, uint32_t channel, struct bucket *limit)
{
	arbiter_limit(&e->shared.arbiter, channel, limit);
}

void rltp_endpoint_sessions(struct rltp_endpoint *e,
			    void (*visit)(void *context, struct rltp_session *s), void *context)
{
	for (uint32_t i = 0; i < e->peer_count; i++)
		visit(context, e->peers[i]);
}
