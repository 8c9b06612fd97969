/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding what was lost (RFC 8985 adapted; docs/design.md "Loss recovery"):
 * - by time order: a packet sent before one that has arrived, and not itself arrived within the
 * reorder window, is lost; exact also for repeats, because the receiver echoes the send time of
 * what it got;
 * - at the tail: when nothing is heard, the newest packet is repeated as a probe, twice;
 * - by timeout, last: everything unacknowledged is lost and the window starts small again. */
#include <assert.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "rltp/internal.h"

#define WINDOW_AFTER_TIMEOUT 4

/* Takes the slot out of the account of its state. */
static void slot_leave(struct rltp_session *s, struct tx_slot *slot)
{
	switch (slot->state) {
	case TX_SENT:
		s->inflight--;
		if (slot->tries > 1)
			s->repeats--;
		break;
	case TX_LOST: s->lost--; break;
	case TX_WAIT: s->waiting--; break;
	default: assert(0);
	}
}

static void slot_lost(struct rltp_session *s, uint32_t psn)
{
	struct tx_slot *slot = tx_slot_at(s, psn);

	slot_leave(s, slot);
	if (slot->tries > 1)
		slot->tries = 1; /* counts as first of the next pair in `repeats` */
	slot->state = TX_LOST;
	s->lost++;
	if (s->lost == 1 || seq_before(psn, s->lost_hint))
		s->lost_hint = psn;
}

static void slot_acked(struct rltp_session *s, uint32_t psn)
{
	struct tx_slot *slot = tx_slot_at(s, psn);
	struct rltp_message *m = slot->message;

	slot_leave(s, slot);
	/* Sent once and not given up: it is this transmission that arrived. In TX_WAIT sent_ns lies
	 * in the future. */
	if (slot->state == TX_SENT && slot->tries == 1)
		s->rack_ns = max_u64(s->rack_ns, slot->sent_ns);
	slot->state = TX_ACKED;
	slot->message = NULL;
	if (--m->unacked == 0 && m->next_sub == m->packet_count)
		s->options.ops->done(s->options.user, s, m, m->status);
}

static void rtt_sample(struct rltp_session *s, uint64_t rtt_ns)
{
	if (s->srtt_ns == 0) {
		s->srtt_ns = rtt_ns;
		s->rttvar_ns = rtt_ns / 2;
		s->min_rtt_ns = rtt_ns;
	}
	uint64_t error = rtt_ns > s->srtt_ns ? rtt_ns - s->srtt_ns : s->srtt_ns - rtt_ns;
	s->rttvar_ns = (3 * s->rttvar_ns + error) / 4; /* RFC 6298 */
	s->srtt_ns = (7 * s->srtt_ns + rtt_ns) / 8;
	s->min_rtt_ns = min_u64(s->min_rtt_ns, rtt_ns);
	s->rack_rtt_ns = rtt_ns;
}

/* The transmission that the peer echoes: exact where it is still the slot's last one. */
static void echo_take(struct rltp_session *s, const struct wire_ack *ack, uint64_t arrived_ns)
{
	uint64_t age_ns = (uint64_t)(timestamp_of(arrived_ns) - ack->echo_ts) * WIRE_TS_NS;
	uint64_t hold_ns = (uint64_t)ack->hold * WIRE_TS_NS;

	if (ack->hold == WIRE_HOLD_NONE || seq_before(s->tx_next, ack->echo_psn + 1))
		return;
	/* A round trip longer than the session would live is a time stamp of the future, or none of
	 * ours. */
	if (hold_ns > age_ns || age_ns - hold_ns > RLTP_DEAD_NS || age_ns > arrived_ns)
		return;
	uint64_t sent_ns = arrived_ns - age_ns;
	const struct tx_slot *slot = tx_slot_at(s, ack->echo_psn);
	if (!seq_before(ack->echo_psn, s->tx_una) && timestamp_of(slot->sent_ns) == ack->echo_ts)
		sent_ns = slot->sent_ns;
	s->rack_ns = max_u64(s->rack_ns, sent_ns);
	rtt_sample(s, max_u64(age_ns - hold_ns, 1));
}

static uint32_t bitmap_take(struct rltp_session *s, uint32_t cum, const struct wire_ack *ack)
{
	uint32_t fresh = 0;

	for (uint32_t w = 0; w < ack->sack_words; w++) {
		uint64_t word = get_be64(ack->bitmap + 8 * w);
		uint32_t base = cum + ack->sack_off + 64 * w;
		for (; word != 0; word &= word - 1) {
			uint32_t psn = base + (uint32_t)__builtin_ctzll(word);
			if (seq_before(psn, s->tx_una) || !seq_before(psn, s->tx_next))
				continue; /* old news, or a bit for something never sent */
			if (tx_slot_at(s, psn)->state != TX_ACKED) {
				slot_acked(s, psn);
				fresh++;
			}
		}
	}
	return fresh;
}

/* A bitmap that starts with arrivals says as much as a higher cum: without this, a peer that never
 * raises cum would leave a window full of packets that nobody waits for. */
static void settled_skip(struct rltp_session *s)
{
	while (s->tx_una != s->tx_next && tx_slot_at(s, s->tx_una)->state == TX_ACKED)
		s->tx_una++;
}

static uint64_t reorder_window(const struct rltp_session *s)
{
	uint64_t step = s->min_rtt_ns / 4;

	return max_u64(min_u64(step * (1 + s->reorder_steps), s->srtt_ns), RLTP_REORDER_MIN_NS);
}

/* Declares lost what was sent before the newest arrival and is overdue; arms the timer for what is
 * not overdue yet. */
static void losses_find(struct rltp_session *s, uint64_t now_ns)
{
	uint64_t window = reorder_window(s);

	s->reorder_deadline_ns = UINT64_MAX;
	for (uint32_t psn = s->tx_una; psn != s->tx_next; psn++) {
		const struct tx_slot *slot = tx_slot_at(s, psn);
		if (slot->state != TX_SENT)
			continue;
		if (slot->sent_ns > s->rack_ns) {
			if (s->repeats == 0)
				break; /* without repeats, packet order is send order */
			continue;
		}
		uint64_t due = slot->sent_ns + s->rack_rtt_ns + window;
		if (s->rack_ns - slot->sent_ns > window || now_ns >= due) {
			slot_lost(s, psn);
			s->counters.retransmitted_gap++;
		} else {
			s->reorder_deadline_ns = min_u64(s->reorder_deadline_ns, due);
		}
	}
}

/* The receiver saw a packet twice after we repeated one: our window for reordering was too small.
 */
static void spurious_note(struct rltp_session *s, uint16_t dup_count)
{
	uint16_t fresh = (uint16_t)(dup_count - s->peer_dup_count);

	s->peer_dup_count = dup_count;
	if (fresh > 0 && fresh < 0x8000 && s->reorder_steps < 16)
		s->reorder_steps++;
}

/* Without an echo (an acknowledgement that rode on data), the newest packet that was sent once
 * gives the round trip: never too short, and too long by at most the receiver's delay. */
static void rtt_from_slot(struct rltp_session *s, uint32_t cum, uint64_t arrived_ns)
{
	const struct tx_slot *slot = tx_slot_at(s, cum - 1);

	if (slot->state == TX_SENT && slot->tries == 1 && arrived_ns > slot->sent_ns)
		rtt_sample(s, arrived_ns - slot->sent_ns);
}

static uint32_t cumulative_take(struct rltp_session *s, uint32_t cum)
{
	uint32_t fresh = 0;

	for (; s->tx_una != cum; s->tx_una++) {
		if (tx_slot_at(s, s->tx_una)->state != TX_ACKED) {
			slot_acked(s, s->tx_una);
			fresh++;
		}
	}
	return fresh;
}

void recovery_acknowledge(struct rltp_session *s, uint32_t cum, const struct wire_ack *ack,
			  uint64_t arrived_ns, uint64_t now_ns)
{
	if (seq_before(s->tx_next, cum)) {
		s->counters.acks_bad++; /* acknowledges what was never sent */
		return;
	}
	if (ack)
		echo_take(s, ack, arrived_ns);
	else if (seq_before(s->tx_una, cum))
		rtt_from_slot(s, cum, arrived_ns);
	uint32_t fresh = seq_before(s->tx_una, cum) ? cumulative_take(s, cum) : 0;
	if (ack) {
		fresh += bitmap_take(s, cum, ack);
		spurious_note(s, ack->dup_count);
	}
	settled_skip(s);
	if (fresh > 0) {
		s->probes = 0;
		s->backoff = 0;
		s->window = (uint32_t)min_u64(s->window + fresh, s->options.window_packets);
	}
	if (s->inflight > 0)
		losses_find(s, now_ns);
	else
		s->reorder_deadline_ns = UINT64_MAX;
}

static int status_of_nack(uint8_t code)
{
	switch (code) {
	case WIRE_NACK_KEY:
	case WIRE_NACK_MAGIC:
	case WIRE_NACK_RIGHTS: return DXP_EACCESS;
	case WIRE_NACK_BOUNDS: return DXP_ERANGE;
	case WIRE_NACK_RESOURCE: return DXP_EBUSY;
	case WIRE_NACK_CLOSING: return DXP_ECLOSED;
	default: return DXP_EUNSUPPORTED;
	}
}

/* Takes the uncut rest of a message out of its flow. */
static void message_stop(struct rltp_session *s, struct rltp_message *m)
{
	struct rltp_flow *flow = &s->flows[m->flow];

	/* Only the head of a flow is ever cut in part. */
	if (m->next_sub == m->packet_count)
		return;
	assert(flow->head == m);
	flow->head = m->next;
	if (!flow->head)
		flow->tail = NULL;
	m->packet_count = m->next_sub;
}

static void message_refused(struct rltp_session *s, struct rltp_message *m, int status)
{
	message_stop(s, m);
	m->status = status;
	for (uint32_t psn = s->tx_una; psn != s->tx_next; psn++) {
		struct tx_slot *slot = tx_slot_at(s, psn);
		if (slot->message != m || slot->state == TX_ACKED || slot->state == TX_LOST)
			continue;
		slot_lost(s, psn); /* goes out again, as RESYNC */
	}
}

void recovery_refused(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns)
{
	if (seq_before(nack->psn, s->tx_una) || !seq_before(nack->psn, s->tx_next))
		return; /* about a packet that is settled */
	struct tx_slot *slot = tx_slot_at(s, nack->psn);
	if (slot->state != TX_SENT || slot->message->status != DXP_OK)
		return;
	s->probes = 0;
	s->backoff = 0;
	if (nack->code != WIRE_NACK_RNR) {
		message_refused(s, slot->message, status_of_nack(nack->code));
		return;
	}
	slot_leave(s, slot);
	if (slot->tries > 1)
		slot->tries = 1;
	slot->state = TX_WAIT;
	slot->sent_ns = now_ns + nack->retry_us * US_NS;
	s->waiting++;
	s->wait_deadline_ns = min_u64(s->wait_deadline_ns, slot->sent_ns);
	s->counters.retransmitted_busy++;
}

static void waiting_release(struct rltp_session *s, uint64_t now_ns)
{
	s->wait_deadline_ns = UINT64_MAX;
	for (uint32_t psn = s->tx_una; psn != s->tx_next && s->waiting > 0; psn++) {
		const struct tx_slot *slot = tx_slot_at(s, psn);
		if (slot->state != TX_WAIT)
			continue;
		if (slot->sent_ns <= now_ns)
			slot_lost(s, psn);
		else
			s->wait_deadline_ns = min_u64(s->wait_deadline_ns, slot->sent_ns);
	}
}

static uint64_t probe_interval(const struct rltp_session *s)
{
	uint64_t srtt = s->srtt_ns ? s->srtt_ns : RLTP_RTT_INITIAL_NS;
	uint64_t interval = max_u64(2 * srtt, srtt + 4 * s->rttvar_ns) + RLTP_ACK_DELAY_NS;

	return max_u64(interval, RLTP_PTO_MIN_NS) << s->probes;
}

static uint64_t timeout_interval(const struct rltp_session *s)
{
	uint64_t srtt = s->srtt_ns ? s->srtt_ns : RLTP_RTT_INITIAL_NS;
	uint64_t interval = max_u64(srtt + 4 * s->rttvar_ns, RLTP_RTO_MIN_NS);

	return min_u64(interval << min_u64(s->backoff, 16), RLTP_RTO_MAX_NS);
}

/* When silence after the last transmission calls for a probe or, after the probes, for a timeout.
 */
static uint64_t silence_deadline(const struct rltp_session *s)
{
	if (s->inflight == 0)
		return UINT64_MAX;
	return s->last_sent_ns +
	       (s->probes < RLTP_PROBES_MAX ? probe_interval(s) : timeout_interval(s));
}

static void probe_mark(struct rltp_session *s)
{
	for (uint32_t psn = s->tx_next - 1; !seq_before(psn, s->tx_una); psn--) {
		if (tx_slot_at(s, psn)->state != TX_SENT)
			continue;
		slot_lost(s, psn);
		s->counters.retransmitted_probe++;
		return;
	}
}

static void timeout_mark(struct rltp_session *s)
{
	for (uint32_t psn = s->tx_una; psn != s->tx_next; psn++) {
		if (tx_slot_at(s, psn)->state == TX_SENT) {
			slot_lost(s, psn);
			s->counters.retransmitted_timeout++;
		}
	}
	s->counters.timeouts++;
	s->window = (uint32_t)min_u64(WINDOW_AFTER_TIMEOUT, s->options.window_packets);
	if (s->backoff < 16)
		s->backoff++;
}

void recovery_timers(struct rltp_session *s, uint64_t now_ns)
{
	if (now_ns >= s->wait_deadline_ns)
		waiting_release(s, now_ns);
	if (now_ns >= s->reorder_deadline_ns)
		losses_find(s, now_ns);
	if (now_ns < silence_deadline(s))
		return;
	if (s->probes < RLTP_PROBES_MAX) {
		s->probes++;
		probe_mark(s);
	} else {
		timeout_mark(s);
	}
}

uint64_t recovery_deadline(const struct rltp_session *s)
{
	uint64_t deadline = min_u64(s->reorder_deadline_ns, s->wait_deadline_ns);

	return min_u64(deadline, silence_deadline(s));
}
