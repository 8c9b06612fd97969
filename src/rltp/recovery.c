/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes acknowledgements and detects losses (RFC 8985 adapted; docs/design/rltp.md "Loss
 * recovery"):
 * - By send time: a packet is lost if a later transmission has arrived and the reorder window has
 *   passed. Echoed send times make this exact for retransmissions too.
 * - At the tail: after silence, the newest packet is retransmitted as a probe, a few times.
 * - By timeout, as the last means: all packets in flight are lost. */
#include <assert.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "rltp/internal.h"

#define REPEATS_REMEMBERED 64

uint32_t session_window(const struct rltp_session *s)
{
	uint32_t window = cc_window(&s->io->cc);

	return window < s->peer_window ? window : s->peer_window;
}

void recovery_entry_lost(struct rltp_session *s, struct tx_entry *entry)
{
	tx_entry_leave(s->io, entry);
	tx_entry_enter(s->io, entry, TX_LOST);
}

static void entry_acked(struct rltp_session *s, struct tx_entry *entry, uint64_t now_ns)
{
	struct rltp_message *m = entry->message;
	struct rltp_io *io = s->io;

	if (io->pmtu.lost_large + io->pmtu.lost_longer > 0)
		pmtu_acked(s, entry, now_ns);
	tx_entry_leave(io, entry);
	/* Sent once and not declared lost, so this transmission arrived. In TX_WAIT, sent_ns is in
	 * the future. */
	if (entry->state == TX_SENT && entry->tries == 1)
		io->rack_ns = max_u64(io->rack_ns, entry->sent_ns);
	flow_settled(io, entry);
	rejection_settled(s, entry);
	entry->state = TX_ACKED;
	s->counters.acked_packets++;
	entry->message = NULL;
	if (--m->unacked == 0 && m->next_sub == m->packet_count)
		s->shared->ops->done(s->shared->user, s, m, m->status);
}

static void rtt_sample(struct rltp_session *s, uint64_t sample_ns)
{
	uint32_t rtt = (uint32_t)min_u64(max_u64(sample_ns, 1), UINT32_MAX);

	if (s->srtt_ns == 0) {
		s->srtt_ns = rtt;
		s->rttvar_ns = rtt / 2;
		s->min_rtt_ns = rtt;
	}
	uint32_t error = rtt > s->srtt_ns ? rtt - s->srtt_ns : s->srtt_ns - rtt;
	s->rttvar_ns = (uint32_t)((3ull * s->rttvar_ns + error) / 4); /* 1/4 as in RFC 6298 */
	s->srtt_ns = (uint32_t)((7ull * s->srtt_ns + rtt) / 8);
	s->min_rtt_ns = (uint32_t)min_u64(s->min_rtt_ns, rtt);
	s->io->rack_rtt_ns = rtt;
}

/* Applies the echoed send time; exact for a packet's last transmission. Returns the round trip
 * without the peer's hold time; 0: invalid. */
static uint32_t echo_apply(struct rltp_session *s, const struct wire_ack *ack, uint64_t arrived_ns)
{
	uint64_t age_ns = (uint64_t)(timestamp_of(arrived_ns) - ack->echo_ts) * WIRE_TS_NS;
	uint64_t hold_ns = (uint64_t)ack->hold * WIRE_TS_NS;
	struct rltp_io *io = s->io;

	if (ack->hold == WIRE_HOLD_NONE || seq_before(s->tx_next, ack->echo_psn + 1))
		return 0;
	/* No open session has such a long round trip. */
	if (hold_ns > age_ns || age_ns - hold_ns > RLTP_DEAD_NS || age_ns > arrived_ns)
		return 0;
	uint64_t sent_ns = arrived_ns - age_ns;
	const struct tx_entry *entry = tx_entry_at(io, ack->echo_psn);
	if (!seq_before(ack->echo_psn, io->tx_una) && timestamp_of(entry->sent_ns) == ack->echo_ts)
		sent_ns = entry->sent_ns;
	io->rack_ns = max_u64(io->rack_ns, sent_ns);
	rtt_sample(s, age_ns - hold_ns);
	return (uint32_t)max_u64(age_ns - hold_ns, 1);
}

/* Without an echo, samples packet cum - 1 if it was sent once. Includes the receiver's delay. */
static void rtt_from_entry(struct rltp_session *s, uint32_t cum, uint64_t arrived_ns)
{
	const struct tx_entry *entry = tx_entry_at(s->io, cum - 1);

	if (entry->state == TX_SENT && entry->tries == 1 && arrived_ns > entry->sent_ns)
		rtt_sample(s, arrived_ns - entry->sent_ns);
}

static uint32_t cumulative_apply(struct rltp_session *s, uint32_t cum, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	uint32_t fresh = 0;

	for (; seq_before(io->tx_una, cum); io->tx_una++) {
		struct tx_entry *entry = tx_entry_at(io, io->tx_una);
		if (entry->state != TX_ACKED) {
			fresh += entry->message->weight;
			entry_acked(s, entry, now_ns);
		}
	}
	return fresh;
}

static uint32_t bitmap_apply(struct rltp_session *s, uint32_t cum, const struct wire_ack *ack,
			     uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	uint32_t fresh = 0;

	for (uint32_t w = 0; w < ack->sack_words; w++) {
		uint64_t word = get_be64(ack->bitmap + 8 * w);
		uint32_t base = cum + ack->sack_off + 64 * w;
		for (; word != 0; word &= word - 1) {
			uint32_t psn = base + (uint32_t)__builtin_ctzll(word);
			if (seq_before(psn, io->tx_una) || !seq_before(psn, s->tx_next))
				/* acknowledged before, or never sent */
				continue;
			struct tx_entry *entry = tx_entry_at(io, psn);
			if (entry->state != TX_ACKED) {
				fresh += entry->message->weight;
				entry_acked(s, entry, now_ns);
			}
		}
	}
	return fresh;
}

/* Skips acknowledged packets, because a peer that never raises `cum` would keep the window full. */
static void settled_skip(struct rltp_session *s)
{
	struct rltp_io *io = s->io;

	while (io->tx_una != s->tx_next && tx_entry_at(io, io->tx_una)->state == TX_ACKED)
		io->tx_una++;
}

uint64_t recovery_reorder_window(const struct rltp_session *s)
{
	uint64_t step = s->min_rtt_ns / 4;

	return max_u64(min_u64(step * (1 + s->io->reorder_steps), s->srtt_ns), RLTP_REORDER_MIN_NS);
}

/* Declares packets lost that were sent before the newest arrived transmission, after the reorder
 * window; returns their number. The list is in send order: the first packet that is not late sets
 * the timer. */
static uint32_t rack_losses(struct rltp_session *s, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	uint64_t window = recovery_reorder_window(s);
	struct tx_entry *entry;
	uint32_t found = 0;

	io->reorder_deadline_ns = UINT64_MAX;
	while ((entry = tx_entry_first(io, &io->sent)) != NULL && entry->sent_ns <= io->rack_ns) {
		uint64_t due = entry->sent_ns + io->rack_rtt_ns + window;
		if (io->rack_ns - entry->sent_ns <= window && now_ns < due) {
			io->reorder_deadline_ns = due;
			break;
		}
		pmtu_lost(s, entry, now_ns);
		recovery_entry_lost(s, entry);
		entry->cause = DATAGRAM_CAUSE_GAP;
		s->counters.retransmitted_gap++;
		found++;
	}
	return found;
}

/* Duplicates show spurious retransmissions, which make the reorder window longer; clean_note makes
 * it shorter. */
static void spurious_note(struct rltp_session *s, uint16_t dup_count)
{
	uint16_t fresh = (uint16_t)(dup_count - s->peer_dup_count);
	struct rltp_io *io = s->io;

	if (fresh == 0 || fresh >= 0x8000)
		return; /* no new duplicate, or an old acknowledgement */
	s->peer_dup_count = dup_count;
	/* A retransmitted held packet may cross its acknowledgement. */
	uint32_t excused = (uint32_t)min_u64(fresh, io->held_repeats);
	io->held_repeats -= excused;
	fresh = (uint16_t)(fresh - excused);
	uint32_t blamed = (uint32_t)min_u64(fresh, min_u64(io->repeats_sent, REPEATS_REMEMBERED));
	if (blamed == 0)
		/* the network duplicated the packet */
		return;
	io->repeats_sent -= blamed;
	io->clean_repeats = 0;
	s->counters.spurious += blamed;
	if (io->reorder_steps < RLTP_REORDER_STEPS_MAX)
		io->reorder_steps++;
}

static void clean_note(struct rltp_io *io, uint32_t repeats)
{
	io->clean_repeats += repeats;
	if (io->clean_repeats < RLTP_CLEAN_REPEATS)
		return;
	io->clean_repeats = 0;
	io->reorder_steps /= 2;
}

/* Returns the number after the highest packet in the bitmap, or `cum`. */
static uint32_t bitmap_end(uint32_t cum, const struct wire_ack *ack)
{
	if (!ack || ack->sack_words == 0)
		return cum;
	uint64_t last = get_be64(ack->bitmap + 8 * (ack->sack_words - 1));
	uint32_t base = cum + ack->sack_off + 64 * (ack->sack_words - 1u);
	return last ? base + 64 - (uint32_t)__builtin_clzll(last) : base;
}

/* `inflight` is the weight of packets in flight before the loss. */
static void losses_note(struct rltp_session *s, uint32_t found, uint32_t inflight, uint64_t now_ns)
{
	if (found == 0)
		return;
	clean_note(s->io, found);
	cc_lost(&s->io->cc, inflight - s->io->inflight, inflight, now_ns);
}

static void losses_find(struct rltp_session *s, const struct wire_header *h,
			const struct wire_ack *ack, uint64_t now_ns)
{
	uint32_t inflight = s->io->inflight, before = s->io->lost.count;

	switch (s->shared->tuning.recovery) {
	case RLTP_RACK: rack_losses(s, now_ns); break;
	case RLTP_IRN: comparator_irn_losses(s, bitmap_end(h->cum_ack, ack)); break;
	case RLTP_GBN_NAK:
		if (ack && h->flags & WIRE_FLAG_NACK)
			comparator_gbn_rewind(s);
		break;
	default: break;
	}
	losses_note(s, s->io->lost.count - before, inflight, now_ns);
}

static void congestion_note(struct rltp_session *s, const struct wire_header *h,
			    struct cc_ack *note)
{
	uint16_t marked = (uint16_t)(h->ce_count - s->peer_ce_count);

	if (marked < 0x8000) {
		note->marked = marked;
		s->peer_ce_count = h->ce_count;
	}
	cc_acked(&s->io->cc, note);
	if (!s->shared->tuning.no_pacing)
		pace_set(&s->io->pace, cc_window_fine(&s->io->cc),
			 s->unit < s->whole ? s->unit : s->whole, s->srtt_ns);
}

/* Adds the peer's hold time and this side's processing delay. */
static uint32_t with_hosts(uint32_t delay_ns, const struct wire_ack *ack, uint64_t arrived_ns,
			   uint64_t now_ns)
{
	uint64_t late_ns = now_ns > arrived_ns ? now_ns - arrived_ns : 0;

	return (uint32_t)min_u64(delay_ns + (uint64_t)ack->hold * WIRE_TS_NS + late_ns,
				 RLTP_DEAD_NS);
}

void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	struct cc_ack note = {.now_ns = now_ns, .inflight = io->inflight};

	if (seq_before(s->tx_next, h->cum_ack)) {
		s->counters.acks_bad++; /* never sent */
		return;
	}
	note.limited = io->limited;
	if (ack) {
		note.delay_ns = echo_apply(s, ack, arrived_ns);
		if (note.delay_ns != 0)
			note.rtt_ns = with_hosts(note.delay_ns, ack, arrived_ns, now_ns);
		note.rx_level = ack->rx_level;
		s->peer_window = (uint16_t)max_u64(ack->rwnd, 1);
	} else if (seq_before(io->tx_una, h->cum_ack)) {
		rtt_from_entry(s, h->cum_ack, arrived_ns);
	}
	note.acked = cumulative_apply(s, h->cum_ack, now_ns);
	if (ack) {
		note.acked += bitmap_apply(s, h->cum_ack, ack, now_ns);
		spurious_note(s, ack->dup_count);
	}
	settled_skip(s);
	if (note.acked > 0) {
		io->probes = 0;
		io->backoff = 0;
		io->ring_short = false;
	}
	if (ack || note.acked > 0) {
		congestion_note(s, h, &note);
		io->limited = false;
	}
	if (io->sent.count > 0)
		losses_find(s, h, ack, now_ns);
	else
		io->reorder_deadline_ns = UINT64_MAX;
}

/* RFC 8985 waits two round trips. If the peer answers at once, 1.5 are enough; otherwise its delay
 * of acknowledgements is added. */
static uint64_t probe_interval(const struct rltp_session *s)
{
	uint64_t srtt = s->srtt_ns ? s->srtt_ns : RLTP_RTT_INITIAL_NS;
	uint64_t interval = srtt + max_u64(srtt / 2, 4ull * s->rttvar_ns);

	if (!s->io->answer_prompt)
		interval += RLTP_ACK_DELAY_NS;
	if (s->io->peer_idle)
		interval += RLTP_WAKING_NS;
	return max_u64(interval, RLTP_PTO_MIN_NS) << s->io->probes;
}

/* IRN's lower value applies to at most 3 packets in flight. */
static uint64_t timeout_floor(const struct rltp_session *s)
{
	if (s->shared->tuning.rto_min_ns)
		return s->shared->tuning.rto_min_ns;
	if (s->shared->tuning.recovery == RLTP_IRN)
		return s->io->sent.count <= 3 ? RLTP_IRN_RTO_NS / 3 : RLTP_IRN_RTO_NS;
	return RLTP_RTO_MIN_NS;
}

static uint64_t timeout_interval(const struct rltp_session *s)
{
	uint64_t srtt = s->srtt_ns ? s->srtt_ns : RLTP_RTT_INITIAL_NS;
	uint64_t interval = max_u64(srtt + 4ull * s->rttvar_ns, timeout_floor(s));
	bool silent = s->io->last_sent_ns > s->received_ns + RLTP_DEAD_NS;
	uint64_t most = silent ? RLTP_RTO_SLOW_NS : RLTP_RTO_MAX_NS;

	/* Never shorter than one interval, even above the bound. */
	return min_u64(interval << min_u64(s->io->backoff, 16), max_u64(interval, most));
}

static bool probes_left(const struct rltp_session *s)
{
	return s->shared->tuning.recovery == RLTP_RACK && s->io->probes < RLTP_PROBES_MAX;
}

/* Returns when silence causes a probe or a timeout. UINT64_MAX while a probe is due and not sent.
 */
static uint64_t silence_deadline(const struct rltp_session *s)
{
	if (s->io->sent.count == 0 || (s->io->probe_due && s->io->lost.count > 0))
		return UINT64_MAX;
	return s->io->last_sent_ns + (probes_left(s) ? probe_interval(s) : timeout_interval(s));
}

/* The newest packet's acknowledgement shows which older ones are lost. */
static void probe_mark(struct rltp_session *s)
{
	struct rltp_io *io = s->io;
	struct tx_entry *newest = &io->tx[io->sent.last];

	tx_entry_leave(io, newest);
	tx_entry_enter(io, newest, TX_LOST);
	newest->cause = DATAGRAM_CAUSE_PROBE;
	io->probes++;
	/* The probe goes to the front of `lost`, because it ignores the window. */
	while (tx_entry_first(io, &io->lost) != newest) {
		struct tx_entry *other = tx_entry_first(io, &io->lost);
		tx_entry_leave(io, other);
		tx_entry_enter(io, other, TX_LOST);
	}
	io->probe_due = true;
	s->counters.retransmitted_probe++;
}

static void timeout_mark(struct rltp_session *s, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	struct tx_entry *entry;

	while ((entry = tx_entry_first(io, &io->sent)) != NULL) {
		pmtu_lost(s, entry, now_ns);
		recovery_entry_lost(s, entry);
		entry->cause = DATAGRAM_CAUSE_TIMEOUT;
		s->counters.retransmitted_timeout++;
	}
	s->counters.timeouts++;
	if (io->backoff < 16)
		io->backoff++;
	cc_timeout(&s->io->cc, now_ns);
}

void recovery_timers(struct rltp_session *s, uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	if (now_ns >= io->reorder_deadline_ns) {
		uint32_t inflight = io->inflight;
		losses_note(s, rack_losses(s, now_ns), inflight, now_ns);
	}
	if (now_ns < silence_deadline(s))
		return;
	if (probes_left(s))
		probe_mark(s);
	else
		timeout_mark(s, now_ns);
}

uint64_t recovery_deadline(const struct rltp_session *s)
{
	return min_u64(s->io->reorder_deadline_ns, silence_deadline(s));
}
