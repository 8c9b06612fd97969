/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifetime of a session: create, activate, open, make idle, close, destroy. */
#include "rltp/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rltp/internal.h"

int rltp_session_create(struct rltp_shared *shared, uint16_t node, struct rltp_session **out)
{
	assert(shared->window_packets >= 1 && shared->window_packets <= WIRE_WINDOW_MAX);
	struct rltp_session *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->shared = shared;
	s->node = s->peer_node = node;
	*out = s;
	return DXP_OK;
}

/* Active sessions share four fifths of the link's buffer; the rest is for acknowledgements and
 * bursts. */
static void active_count(struct rltp_shared *shared, int change)
{
	shared->active += (uint32_t)change;
	if (shared->receive_packets == 0)
		return;
	uint64_t share = shared->receive_packets * 4ull / 5 / max_u64(shared->active, 1);
	shared->rwnd = (uint16_t)clamp_u64(share, RLTP_RWND_MIN, WIRE_WINDOW_MAX);
}

static void io_free(struct rltp_session *s)
{
	if (!s->io)
		return;
	flows_free(s);
	free(s->io->handshake);
	free(s->io->tx);
	free(s->io);
	s->io = NULL;
	active_count(s->shared, -1);
}

void session_path_look(struct rltp_session *s)
{
	const struct rltp_shared *shared = s->shared;

	if (s->state != RLTP_OPEN)
		return;
	s->path = s->protect == WIRE_PROTECT_NONE && shared->path
			  ? shared->path(shared->path_context, &s->address, s->same_machine)
			  : 0;
	if (!(s->peer_features & WIRE_FEATURE_LONG))
		s->path &= (uint8_t)~RLTP_PATH_LONG;
}

void session_keys_drop(struct rltp_session *s)
{
	if (s->io) {
		free(s->io->handshake);
		s->io->handshake = NULL;
	}
	if (s->seal)
		s->shared->seal->free(s->seal);
	s->seal = NULL;
}

void rltp_session_destroy(struct rltp_session *s)
{
	if (!s)
		return;
	s->shared->ends -= s->end != DXP_OK;
	session_keys_drop(s);
	io_free(s);
	free(s);
}

int rltp_session_wake(struct rltp_session *s, uint64_t now_ns)
{
	if (s->io) {
		s->io->active_ns = now_ns;
		return DXP_OK;
	}
	struct rltp_io *io = calloc(1, sizeof(*io));
	if (!io || tx_ring_create(io) != DXP_OK)
		goto free_io;
	if (s->shared->reserve && s->shared->reserve(s->shared, s->shared->active + 1) != DXP_OK)
		goto free_slots;
	cc_init(&io->cc, s->shared->tuning.cc, s->shared->window_packets, now_ns);
	/* An idle session keeps only the path delay of congestion control. */
	if (s->path_ns)
		cc_handshake_done(&io->cc, s->path_ns);
	pace_init(&io->pace);
	io->tx_una = s->tx_next;
	rx_map_init(&io->rx, s->rx_cum);
	io->ack_deadline_ns = io->reorder_deadline_ns = UINT64_MAX;
	io->wait_deadline_ns = io->credit_request_ns = UINT64_MAX;
	io->active_ns = now_ns;
	s->io = io;
	active_count(s->shared, 1);
	return DXP_OK;

free_slots:
	free(io->tx);
free_io:
	free(io);
	return DXP_ENOMEM;
}

bool session_resting(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;

	return s->state != RLTP_HANDSHAKE && !s->hello_ack_due && !rltp_session_busy(s) &&
	       !io->handshake && s->partial == 0 && !rx_map_has_holes(&io->rx) &&
	       io->nack_count == 0 && !io->ack_now && !io->grants_due &&
	       io->ack_deadline_ns == UINT64_MAX && io->credit_request_ns == UINT64_MAX &&
	       !io->keepalive.answer_due && pmtu_resting(s);
}

bool rltp_session_rest(struct rltp_session *s, uint64_t now_ns)
{
	if (!s->io)
		return true;
	if (now_ns < s->io->active_ns + RLTP_REST_NS)
		return false;
	if (!session_resting(s)) {
		s->io->active_ns = now_ns; /* work remains; checks again after RLTP_REST_NS */
		return false;
	}
	s->rx_cum = s->io->rx.cum;
	s->path_ns = s->io->cc.min_delay_ns;
	if (s->seal)
		s->shared->seal->rest(s->seal);
	io_free(s);
	s->shared->ops->rest(s->shared->user, s);
	return true;
}

bool rltp_session_busy(const struct rltp_session *s)
{
	return s->awaited > 0 || s->watched || (s->io && s->io->flows_active > 0);
}

uint64_t rltp_session_dead_ns(const struct rltp_session *s)
{
	if (rltp_session_busy(s))
		return s->received_ns + max_u64(s->patience_ns, RLTP_DEAD_NS);
	/* The peer of an incomplete message gets more time to send or cancel it. */
	return s->partial > 0 ? s->received_ns + max_u64(s->patience_ns, 2 * RLTP_DEAD_NS)
			      : UINT64_MAX;
}

bool rltp_session_watch(struct rltp_session *s, bool on, uint64_t since_ns, uint64_t now_ns)
{
	if (s->watched == on)
		return on;
	if (on && (s->state != RLTP_OPEN || rltp_session_wake(s, now_ns) != DXP_OK))
		return false;
	if (on && !rltp_session_busy(s))
		s->received_ns = max_u64(s->received_ns, since_ns);
	s->watched = on;
	return on;
}

void rltp_session_away(struct rltp_session *s, uint64_t away_ns, uint64_t now_ns)
{
	uint64_t least_ns = now_ns - min_u64(now_ns, RLTP_DEAD_NS - RLTP_ACTIVE_NS);

	if (!s->io || (!rltp_session_busy(s) && s->partial == 0) || s->away == RLTP_AWAY_MAX)
		return;
	s->away++;
	s->received_ns = max_u64(s->received_ns,
				 min_u64(max_u64(s->received_ns + away_ns, least_ns), now_ns));
	/* so that the next retransmission does not wait long */
	s->io->probes = s->io->backoff = 0;
}

int rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns)
{
	assert(m->flow < RLTP_FLOWS && wire_type_data(m->type));
	if (rltp_session_wake(s, now_ns) != DXP_OK)
		return DXP_ENOMEM;
	if (!rltp_session_busy(s))
		/* the peer's silence counts from now */
		s->received_ns = now_ns;
	m->packet_count = 0;
	m->next_sub = 0;
	m->unacked = 0;
	m->weight = 1;
	m->granted = UINT32_MAX;
	m->waits = false;
	m->status = DXP_OK;
	flow_append(s, m);
	return DXP_OK;
}

/* Returns the round trip of a HELLO that was sent once; 0: none. */
static uint64_t handshake_rtt(const struct rltp_session *s, const struct wire_hello *peer,
			      uint64_t now_ns)
{
	uint64_t sent_ns = s->io->hello_deadline_ns - RLTP_HELLO_FIRST_NS;

	if (s->state != RLTP_HANDSHAKE || peer->echo_session == 0 ||
	    s->io->hello_interval_ns != 2 * RLTP_HELLO_FIRST_NS || now_ns <= sent_ns)
		return 0;
	return now_ns - sent_ns;
}

void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	uint64_t rtt_ns = handshake_rtt(s, peer, now_ns);

	s->state = RLTP_OPEN;
	s->peer_id = peer->session;
	s->peer_incarnation = peer->incarnation;
	s->peer_epoch = peer->epoch;
	s->peer_token = peer->token;
	s->peer_window = peer->rwnd;
	s->peer_recovery = peer->recovery;
	s->peer_credit = peer->nap_credit;
	s->peer_features = peer->features;
	s->protect = peer->protect;
	s->same_machine = peer->machine != 0 && peer->machine == s->shared->machine;
	session_path_look(s);
	s->whole = peer->payload_bytes < s->payload_bytes ? peer->payload_bytes : s->payload_bytes;
	s->agreed = s->path & RLTP_PATH_LONG ? WIRE_LONG_PAYLOAD_MAX : s->whole;
	pmtu_open(s, now_ns);
	s->tx_next = io->tx_una = s->initial_psn;
	tx_ring_reset(io);
	cc_init(&s->io->cc, s->shared->tuning.cc, s->shared->window_packets, now_ns);
	if (rtt_ns != 0)
		cc_handshake_done(&s->io->cc, rtt_ns);
	pace_init(&io->pace);
	s->srtt_ns = s->rttvar_ns = s->min_rtt_ns = s->path_ns = 0;
	io->rack_ns = io->rack_rtt_ns = 0;
	io->reorder_steps = io->clean_repeats = io->repeats_sent = io->held_repeats = 0;
	io->reorder_deadline_ns = io->wait_deadline_ns = io->credit_request_ns = UINT64_MAX;
	io->probes = io->backoff = 0;
	io->probe_due = io->limited = io->ring_short = false;
	rx_map_init(&io->rx, peer->psn);
	s->rx_count = s->dup_count = s->peer_dup_count = s->ce_count = s->peer_ce_count = 0;
	io->unacked_arrivals = io->nack_count = 0;
	io->ack_now = io->gap_new = io->gap_reported = io->echo_valid = io->grants_due = false;
	io->ack_deadline_ns = UINT64_MAX;
	io->keepalive = (struct keepalive){0};
	io->active_ns = s->received_ns = now_ns;
}

static struct rltp_message *message_remove(struct rltp_session *s)
{
	struct rltp_io *io = s->io;

	while (io->tx_una != s->tx_next) {
		struct tx_entry *entry = tx_entry_at(io, io->tx_una++);
		struct rltp_message *m = entry->message;
		if (entry->state == TX_ACKED)
			continue;
		tx_entry_leave(io, entry);
		entry->state = TX_FREE;
		flow_settled(io, entry);
		if (--m->unacked == 0 && m->next_sub == m->packet_count)
			return m;
	}
	return flow_dequeue(s);
}

void rltp_session_fail(struct rltp_session *s, int status)
{
	struct rltp_message *m;

	if (s->state == RLTP_OPEN && s->end == DXP_OK) {
		s->end = status;
		s->shared->ends++;
	}
	s->state = RLTP_IDLE;
	if (s->io)
		s->counters.abandoned_packets +=
			s->io->sent.count + s->io->lost.count + s->io->waiting.count;
	while (s->io && (m = message_remove(s)) != NULL)
		s->shared->ops->done(s->shared->user, s, m, status);
	s->peer_id = 0;
	s->hello_ack_due = s->watched = false;
	if (!s->bye_due) /* the BYE must be sealed with the keys */
		session_keys_drop(s);
	io_free(s);
	s->shared->ops->reset(s->shared->user, s, status);
}

void rltp_session_grant(struct rltp_session *s, uint64_t now_ns)
{
	if (s->state == RLTP_OPEN && rltp_session_wake(s, now_ns) == DXP_OK)
		s->io->grants_due = true;
}

void rltp_session_want(struct rltp_session *s, uint64_t now_ns)
{
	if (rltp_session_wake(s, now_ns) != DXP_OK || s->io->credit_request_ns != UINT64_MAX)
		return;
	s->io->credit_interval_ns = RLTP_CREDIT_REQUEST_NS;
	s->io->credit_request_ns = now_ns;
}
