/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the receiver rejects. Without space, or held without an answer, a packet waits and
 * is retransmitted. A message rejected for good, or cancelled, is abandoned, and RESYNC packets
 * fill its packet numbers. */
#include <assert.h>

#include <dxp/status.h>

#include "rltp/internal.h"

#define BACKOFF_MAX 6 /* doublings of the requested pause */
/* us until a granted packet that was rejected late is retransmitted */
#define GRANTED_US 1000

int rltp_status_of_nack(uint32_t code)
{
	switch (code) {
	case WIRE_NACK_KEY:
	case WIRE_NACK_MAGIC:
	case WIRE_NACK_RIGHTS: return DXP_EACCESS;
	case WIRE_NACK_BOUNDS: return DXP_ERANGE;
	case WIRE_NACK_RESOURCE: return DXP_EBUSY;
	case WIRE_NACK_CLOSING: return DXP_ECLOSED;
	case WIRE_NACK_DEVICE: return DXP_EDEVICE;
	default: return DXP_EUNSUPPORTED;
	}
}

static void message_rejected(struct rltp_session *s, struct rltp_message *m, int status)
{
	struct rltp_io *io = s->io;

	m->status = status;
	/* Only the head of a flow can be partly built. */
	if (m->next_sub != m->packet_count) {
		assert(io->flows[m->flow].head == m);
		m->packet_count = m->next_sub;
		flow_remove_head(s, m->flow);
	}
	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++) {
		struct tx_entry *entry = tx_entry_at(io, psn);
		if (entry->message == m && (entry->state == TX_SENT || entry->state == TX_WAIT)) {
			recovery_entry_lost(s, entry); /* retransmitted as RESYNC */
			entry->cause = DATAGRAM_CAUSE_NONE;
		}
	}
}

/* Packets in flight may still arrive. The receiver counts messages, so a partly sent one gets one
 * more packet, a RESYNC. */
void rltp_session_cancel(struct rltp_session *s, struct rltp_message *m, int status)
{
	struct rltp_io *io = s->io;

	assert(status != DXP_OK);
	if (m->status != DXP_OK)
		return;
	m->status = status;
	if (m->packet_count == 0)
		m->unit = s->unit;
	if (m->packet_count == 0 || m->next_sub != m->packet_count)
		m->packet_count = m->next_sub + 1;
	m->granted = UINT32_MAX;
	for (struct tx_entry *entry = tx_entry_first(io, &io->waiting), *next; entry;
	     entry = next) {
		next = tx_entry_next(io, entry);
		if (entry->message != m)
			continue;
		recovery_entry_lost(s, entry);
		entry->cause = DATAGRAM_CAUSE_NONE;
	}
}

void rltp_session_messages(struct rltp_session *s,
			   void (*visit)(void *context, struct rltp_message *m), void *context)
{
	struct rltp_io *io = s->io;

	if (!io)
		return;
	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++)
		if (tx_entry_at(io, psn)->state != TX_ACKED)
			visit(context, tx_entry_at(io, psn)->message);
	for (uint32_t i = 0; i < RLTP_FLOWS; i++)
		for (struct rltp_message *m = io->flows[i].head; m; m = m->next)
			visit(context, m);
}

/* A rejection detects losses like an acknowledgement; otherwise a receiver that waits for a lost
 * packet and rejects all others would hide the loss. An answer within the shortest round trip after
 * a retransmission is ignored (RFC 8985, 6.2). */
static void arrival_note(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	if (s->shared->tuning.recovery != RLTP_RACK ||
	    (entry->tries > 1 && now_ns - entry->sent_ns < s->min_rtt_ns))
		return;
	io->rack_ns = max_u64(io->rack_ns, entry->sent_ns);
	io->reorder_deadline_ns = min_u64(io->reorder_deadline_ns, now_ns);
}

static void entry_wait(struct rltp_io *io, struct tx_entry *entry, uint64_t wait_ns,
		       uint64_t now_ns)
{
	tx_entry_leave(io, entry);
	tx_entry_enter(io, entry, TX_WAIT);
	entry->sent_ns = now_ns + min_u64(wait_ns, RLTP_RTO_MAX_NS);
	io->wait_deadline_ns = min_u64(io->wait_deadline_ns, entry->sent_ns);
}

static void entry_rejected(struct rltp_session *s, struct tx_entry *entry, uint64_t wait_ns,
			   uint64_t now_ns)
{
	s->io->flows[entry->message->flow].refused += entry->rejections == 0;
	if (entry->rejections < UINT8_MAX)
		entry->rejections++;
	entry_wait(s->io, entry, wait_ns, now_ns);
}

static void entry_busy(struct rltp_session *s, struct tx_entry *entry, uint32_t retry_us,
		       uint64_t now_ns)
{
	uint32_t doublings = entry->rejections < BACKOFF_MAX ? entry->rejections : BACKOFF_MAX;

	entry_rejected(s, entry, (uint64_t)retry_us * US_NS << doublings, now_ns);
}

/* The packet has arrived: its flow continues, and a missing answer is no loss. */
static void entry_held(struct rltp_session *s, struct tx_entry *entry, uint32_t retry_us,
		       uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	io->flows[entry->message->flow].refused -= entry->rejections > 0;
	entry->rejections = 0;
	if (entry->cause == DATAGRAM_CAUSE_HELD && entry->state == TX_SENT && io->held_repeats > 0)
		/* the receiver will not report a duplicate */
		io->held_repeats--;
	entry->cause = DATAGRAM_CAUSE_HELD;
	entry_wait(io, entry, (uint64_t)retry_us * US_NS, now_ns);
	s->counters.held++;
}

/* One NACK covers all sent packets beyond the grant. */
static void message_waits(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	for (struct tx_entry *entry = tx_entry_first(io, &io->sent), *next; entry; entry = next) {
		next = tx_entry_next(io, entry);
		if (entry->message == m && entry->sub >= m->granted)
			entry_rejected(s, entry, RLTP_RTO_MAX_NS, now_ns);
	}
}

static void message_granted(struct rltp_io *io, const struct rltp_message *m, uint32_t granted,
			    uint64_t now_ns)
{
	for (struct tx_entry *entry = tx_entry_first(io, &io->waiting); entry;
	     entry = tx_entry_next(io, entry)) {
		if (entry->message != m || entry->sub >= granted || entry->rejections == 0)
			continue;
		entry->sent_ns = min_u64(entry->sent_ns, now_ns);
		io->wait_deadline_ns = min_u64(io->wait_deadline_ns, now_ns);
	}
}

static bool is_named(const struct rltp_message *m, const struct wire_nack_body *nack)
{
	return m->waits && m->msg_id == nack->msg_id && m->index == nack->qp;
}

/* NULL: complete, or never waited. */
static struct rltp_message *message_named(struct rltp_io *io, const struct wire_nack_body *nack)
{
	for (uint32_t i = 1; i < RLTP_FLOWS; i++)
		if (io->flows[i].head && is_named(io->flows[i].head, nack))
			return io->flows[i].head;
	for (struct tx_entry *entry = tx_entry_first(io, &io->waiting); entry;
	     entry = tx_entry_next(io, entry))
		if (is_named(entry->message, nack))
			return entry->message;
	return NULL;
}

/* Grants may arrive in any order, so limits are only raised. */
static void grant_apply(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns)
{
	struct rltp_message *m = message_named(s->io, nack);

	if (!m)
		return;
	m->granted = max_u32(m->granted, nack->granted);
	message_granted(s->io, m, nack->granted, now_ns);
}

static void entry_waits(struct rltp_session *s, struct tx_entry *entry, uint32_t granted,
			uint64_t now_ns)
{
	struct rltp_message *m = entry->message;

	m->granted = m->waits ? max_u32(m->granted, granted) : granted;
	m->waits = true;
	message_granted(s->io, m, granted, now_ns);
	s->io->flows[m->flow].waited = true;
	if (entry->sub < m->granted)
		entry_busy(s, entry, GRANTED_US, now_ns);
	else
		entry_rejected(s, entry, RLTP_RTO_MAX_NS, now_ns);
	message_waits(s, m, now_ns);
}

void rejection_settled(struct rltp_session *s, const struct tx_entry *entry)
{
	struct rltp_message *m = entry->message;
	struct rltp_flow *f = &s->io->flows[m->flow];

	if (m->waits || m->granted == UINT32_MAX)
		return;
	/* the first packet was accepted */
	m->granted = UINT32_MAX;
	f->waited = false;
}

uint32_t rejection_granted(const struct rltp_flow *f, const struct rltp_message *m)
{
	return f->waited && m->type == WIRE_PUT ? 1 : UINT32_MAX;
}

void rejection_receive(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns)
{
	bool held = nack->code == WIRE_NACK_HELD, waits = nack->code == WIRE_NACK_WAIT;
	bool lasting = !held && !waits && nack->code != WIRE_NACK_RNR;
	struct rltp_io *io = s->io;

	if (waits)
		grant_apply(s, nack, now_ns);

	if (seq_before(nack->psn, io->tx_una) || !seq_before(nack->psn, s->tx_next))
		return;
	struct tx_entry *entry = tx_entry_at(io, nack->psn);
	if (entry->state == TX_ACKED || entry->message->status != DXP_OK)
		return;
	if (waits && entry->sub < nack->granted)
		return; /* a grant, not a rejection */
	/* Lost packets are retransmitted anyway, unless HELD shows that they arrived. Waiting ones
	 * can still be rejected for good. */
	if (entry->state != TX_SENT && !lasting && !(held && entry->state == TX_LOST))
		return;
	io->probes = 0;
	io->backoff = 0;
	if (entry->state == TX_SENT)
		arrival_note(s, entry, now_ns);
	if (io->pmtu.lost_large + io->pmtu.lost_longer > 0)
		pmtu_acked(s, entry, now_ns);
	if (lasting)
		message_rejected(s, entry->message, rltp_status_of_nack(nack->code));
	else if (held)
		entry_held(s, entry, nack->retry_us, now_ns);
	else if (waits)
		entry_waits(s, entry, nack->granted, now_ns);
	else
		entry_busy(s, entry, nack->retry_us, now_ns);
}

/* Walks the whole list, so it runs once per deadline. */
static void wait_deadline_find(struct rltp_io *io)
{
	io->wait_deadline_ns = UINT64_MAX;
	for (struct tx_entry *entry = tx_entry_first(io, &io->waiting); entry;
	     entry = tx_entry_next(io, entry))
		io->wait_deadline_ns = min_u64(io->wait_deadline_ns, entry->sent_ns);
}

struct tx_entry *rejection_due(struct rltp_io *io, uint64_t now_ns)
{
	if (now_ns < io->wait_deadline_ns)
		return NULL;
	for (struct tx_entry *entry = tx_entry_first(io, &io->waiting); entry;
	     entry = tx_entry_next(io, entry))
		if (entry->sent_ns <= now_ns)
			return entry;
	wait_deadline_find(io);
	return NULL;
}
