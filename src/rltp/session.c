/* SPDX-License-Identifier: BSD-3-Clause */
/* A session's life: created, opened by a greeting, failed or destroyed; and its queues of messages.
 * Sending is in transmit.c, receiving in receive.c and acknowledge.c, loss detection in recovery.c.
 */
#include "rltp/session.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

static uint32_t power_of_two_from(uint32_t n)
{
	uint32_t size = 16;

	while (size < n)
		size *= 2;
	return size;
}

int rltp_session_create(const struct rltp_session_options *options, struct rltp_session **out)
{
	assert(options->window_packets >= 1 && options->window_packets <= RLTP_WINDOW_MAX);
	struct rltp_session *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->tx_size = power_of_two_from(options->window_packets);
	s->tx = calloc(s->tx_size, sizeof(*s->tx));
	if (!s->tx) {
		free(s);
		return DXP_ENOMEM;
	}
	s->options = *options;
	*out = s;
	return DXP_OK;
}

void rltp_session_destroy(struct rltp_session *s)
{
	if (!s)
		return;
	free(s->tx);
	free(s);
}

bool rltp_session_busy(const struct rltp_session *s)
{
	if (s->tx_una != s->tx_next || s->awaited > 0)
		return true;
	for (int i = 0; i < RLTP_FLOWS_MAX; i++)
		if (s->flows[i].head)
			return true;
	return false;
}

void rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns)
{
	struct rltp_flow *flow = &s->flows[m->flow];

	assert(m->flow < RLTP_FLOWS_MAX && wire_type_data(m->type));
	if (!rltp_session_busy(s))
		s->heard_ns = now_ns; /* silence counts from when an answer is owed */
	m->next = NULL;
	m->packet_count = 0;
	m->next_sub = 0;
	m->unacked = 0;
	m->status = DXP_OK;
	if (flow->tail)
		flow->tail->next = m;
	else
		flow->head = m;
	flow->tail = m;
}

void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns)
{
	s->state = RLTP_OPEN;
	s->peer_id = peer->session;
	s->peer_incarnation = peer->incarnation;
	s->peer_epoch = peer->epoch;
	s->peer_token = peer->token;
	s->peer_window = peer->rwnd;
	s->unit = peer->payload_bytes < s->options.payload_bytes ? peer->payload_bytes
								 : s->options.payload_bytes;
	s->tx_una = s->tx_next = s->lost_hint = s->initial_psn;
	s->inflight = s->lost = s->waiting = s->repeats = 0;
	s->window = s->options.window_packets;
	s->srtt_ns = s->rttvar_ns = s->min_rtt_ns = s->rack_ns = s->rack_rtt_ns = 0;
	s->reorder_steps = s->peer_dup_count = 0;
	s->reorder_deadline_ns = s->wait_deadline_ns = UINT64_MAX;
	s->probes = s->backoff = 0;
	rx_map_init(&s->rx, peer->psn);
	s->unacked_arrivals = s->rx_count = s->nack_count = s->dup_count = 0;
	s->ack_now = s->gap_new = s->echo_valid = false;
	s->ack_deadline_ns = UINT64_MAX;
	s->heard_ns = now_ns;
}

bool rltp_session_dead(const struct rltp_session *s, uint64_t now_ns)
{
	return rltp_session_busy(s) && now_ns > s->heard_ns + RLTP_DEAD_NS;
}

/* The next message that must be reported done, wherever it stands; NULL when none is left. */
static struct rltp_message *message_take(struct rltp_session *s)
{
	while (s->tx_una != s->tx_next) {
		struct tx_slot *slot = tx_slot_at(s, s->tx_una++);
		struct rltp_message *m = slot->message;
		bool acked = slot->state == TX_ACKED;
		*slot = (struct tx_slot){0};
		/* A message still in its flow, or with packets further on, is reported when the
		 * last of it is met. */
		if (!acked && --m->unacked == 0 && m->next_sub == m->packet_count)
			return m;
	}
	for (int i = 0; i < RLTP_FLOWS_MAX; i++) {
		struct rltp_message *m = s->flows[i].head;
		if (!m)
			continue;
		s->flows[i].head = m->next;
		if (!m->next)
			s->flows[i].tail = NULL;
		return m;
	}
	return NULL;
}

void rltp_session_fail(struct rltp_session *s, int status)
{
	struct rltp_message *m;

	s->state = RLTP_IDLE;
	while ((m = message_take(s)) != NULL)
		s->options.ops->done(s->options.user, s, m, status);
	s->inflight = s->lost = s->waiting = s->repeats = 0;
	s->peer_id = 0;
	s->hello_ack_due = false;
	s->ack_now = false;
	s->ack_deadline_ns = s->reorder_deadline_ns = s->wait_deadline_ns = UINT64_MAX;
	s->nack_count = 0;
	s->options.ops->reset(s->options.user, s, status);
}
