/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the next datagram, in this order: NACKs, ACKs, credits, keepalive, path MTU probes,
 * retransmissions, new packets. Only the last two obey window and pace; tail probes ignore both. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/crc32c.h"
#include "base/util.h"
#include "rltp/internal.h"

#define ECN_CAPABLE 2 /* ECN bits ECT(0) (RFC 3168) */

void transmit_header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
			   struct wire_header *h)
{
	*h = (struct wire_header){
		.type = type,
		.header_bytes = wire_type_data(type) ? WIRE_DATA_BYTES : WIRE_COMMON_BYTES,
		.flags = WIRE_FLAG_ACKV,
		.dst_session = s->peer_id,
		.src_node = s->shared->node,
		.dst_node = s->peer_node,
		.tx_ts = timestamp_of(now_ns),
		.cum_ack = s->io->rx.cum,
		.ce_count = s->ce_count,
	};
}

/* bytes */
#define UNIT_STEP 64
/* only in the last packet */
#define RIDERS (WIRE_FLAG_IMM | WIRE_FLAG_TRAILER)

static uint8_t riders_bytes(uint16_t flags)
{
	return (uint8_t)((flags & WIRE_FLAG_IMM ? WIRE_IMM_BYTES : 0) +
			 (flags & WIRE_FLAG_TRAILER ? WIRE_TRAILER_BYTES : 0));
}

/* Immediate data and trailer take 8 bytes each in the last packet, or in an added empty one. */
static uint32_t packet_count(const struct rltp_message *m, uint32_t unit)
{
	uint32_t count = m->bytes == 0 ? 1 : (m->bytes - 1) / unit + 1;
	uint32_t tail = m->bytes - (count - 1) * unit;

	return m->flags & RIDERS && tail > unit - riders_bytes(m->flags) ? count + 1 : count;
}

/* All packets but the last have this size, so that the receiver can compute offsets. If immediate
 * data and trailer need their own packet, the one before must be full. */
static uint16_t unit_choose(const struct rltp_message *m, uint16_t unit)
{
	for (uint16_t u = unit; m->flags & RIDERS && u > UNIT_STEP && m->bytes > u;
	     u = (uint16_t)(u - UNIT_STEP)) {
		uint32_t tail = (m->bytes - 1) % u + 1;
		if (tail == u || tail <= (uint32_t)(u - riders_bytes(m->flags)))
			return u;
	}
	return unit;
}

/* Returns the payload of the fewest long frames, of about equal length, so that one is placed while
 * the next is sent. A frame is not longer than the window, so slow paths get no larger bursts than
 * with datagrams. */
static uint16_t unit_long(const struct rltp_session *s, const struct rltp_message *m)
{
	uint32_t most = (uint32_t)min_u64((uint64_t)session_window(s) * s->whole, s->unit);
	uint32_t bytes = m->bytes + riders_bytes(m->flags);
	uint32_t count = (bytes - 1) / most + 1;
	uint32_t unit = ((bytes - 1) / count / UNIT_STEP + 1) * UNIT_STEP;

	return (uint16_t)min_u64(unit, most);
}

static void unit_set(const struct rltp_session *s, struct rltp_message *m)
{
	uint32_t plain = (s->unit < s->whole ? s->unit : s->whole) - session_overhead(s);

	if (s->unit <= s->whole || m->bytes <= s->whole) {
		m->unit = unit_choose(m, (uint16_t)plain);
		return;
	}
	m->unit = unit_choose(m, unit_long(s, m));
	m->weight = (uint16_t)((m->unit - 1) / s->whole + 1);
}

/* A message that the peer's version does not support becomes a RESYNC, which keeps its position in
 * the stream. */
static void message_cut(const struct rltp_session *s, struct rltp_message *m)
{
	uint32_t needs = (m->type == WIRE_ATOMIC ? WIRE_FEATURE_ATOMIC : 0u) |
			 (m->flags & WIRE_FLAG_TRAILER ? WIRE_FEATURE_TRAILER : 0u);

	unit_set(s, m);
	m->packet_count = packet_count(m, m->unit);
	m->granted = rejection_granted(&s->io->flows[m->flow], m);
	if ((s->peer_features & needs) == needs)
		return;
	m->status = DXP_EUNSUPPORTED;
	m->packet_count = 1;
}

static uint16_t position_flags(const struct rltp_message *m, uint32_t sub)
{
	bool last = sub + 1 == m->packet_count;
	uint16_t flags = (uint16_t)(m->flags & ~RIDERS);

	if (sub == 0)
		flags |= WIRE_FLAG_FIRST;
	if (last)
		flags |= WIRE_FLAG_LAST | (m->flags & RIDERS);
	return flags;
}

static void checksum_set(const struct rltp_packet *p, bool cover, uint8_t *header)
{
	uint32_t crc = wire_crc_begin(header, p->header.header_bytes);

	for (int i = 0; cover && i < p->slice_count; i++)
		crc = crc32c(crc, p->slices[i].base, p->slices[i].bytes);
	wire_crc_set(header, crc);
}

static void datagram_finish(struct rltp_session *s, struct rltp_packet *p, struct datagram *out)
{
	bool cover = !(s->path & RLTP_PATH_INTACT) && p->header.payload_bytes > 0 && !s->seal;

	if (cover)
		p->header.flags |= WIRE_FLAG_CRCP;
	if (p->header.flags & RIDERS)
		p->header.header_bytes = (uint8_t)(WIRE_DATA_BYTES + riders_bytes(p->header.flags));
	wire_header_encode(&p->header, out->header);
	if (!s->seal)
		checksum_set(p, cover, out->header);
	out->to = s->address;
	out->ecn = cc_wants_ecn((enum cc_kind)s->io->cc.kind) ? ECN_CAPABLE : 0;
	out->header_bytes = p->header.header_bytes;
	out->segment_bytes = session_segment(s, p->header.header_bytes + p->header.payload_bytes);
	out->slice_count = p->slice_count;
	/* A memcpy of variable length would use a slow string instruction. */
	if (p->slice_count == 1)
		out->slices[0] = p->slices[0];
	else
		memcpy(out->slices, p->slices, p->slice_count * sizeof(p->slices[0]));
}

static uint32_t packet_build(struct rltp_session *s, const struct tx_entry *entry,
			     uint16_t extra_flags, uint64_t now_ns, struct datagram *out)
{
	struct rltp_message *m = entry->message;
	bool resync = m->status != DXP_OK;
	uint32_t offset = entry->sub * m->unit < m->bytes ? entry->sub * m->unit : m->bytes;
	uint32_t bytes = m->bytes - offset < m->unit ? m->bytes - offset : m->unit;
	struct rltp_packet p;

	if (resync)
		/* cancelled or rejected: its memory may be invalid */
		bytes = 0;

	transmit_header_begin(s, resync ? WIRE_RESYNC : m->type, now_ns, &p.header);
	p.slice_count = 0;
	s->shared->ops->fill(s->shared->user, m, offset, bytes, &p);
	m->index = wire_nack_position(p.header.dst_function, p.header.dst_qp);
	m->msg_id = p.header.msg_id;
	p.header.psn = entry->psn;
	p.header.sub = entry->sub;
	p.header.msg_bytes = m->bytes;
	p.header.flags |=
		extra_flags | (resync ? m->flags & WIRE_FLAG_SOL : position_flags(m, entry->sub));
	p.header.payload_bytes = (uint16_t)bytes;
	datagram_finish(s, &p, out);
	s->io->answer_prompt = p.header.flags & (WIRE_FLAG_AR | WIRE_FLAG_RTX) ||
			       (m->type == WIRE_PUT && p.header.flags & WIRE_FLAG_LAST);
	/* Without holes, cum_ack of this packet replaces a delayed ACK. */
	if (!rx_map_has_holes(&s->io->rx)) {
		s->io->ack_deadline_ns = UINT64_MAX;
		s->io->unacked_arrivals = 0;
	}
	pace_spend(&s->io->pace, p.header.header_bytes + bytes, now_ns);
	flow_spend(s, m->flow, p.header.header_bytes + p.header.payload_bytes, now_ns);
	return p.header.payload_bytes;
}

/* Unique send times order all transmissions. */
static void entry_sent(struct rltp_io *io, struct tx_entry *entry, uint64_t now_ns)
{
	if (io->sent.count == 0)
		io->peer_idle = now_ns - io->arrived_ns > WAIT_SPIN_NS;
	io->last_sent_ns = max_u64(now_ns, io->last_sent_ns + 1);
	entry->sent_ns = io->last_sent_ns;
	if (entry->tries < UINT8_MAX)
		entry->tries++;
	tx_entry_enter(io, entry, TX_SENT);
}

/* The window or the pace blocks the next packet. */
static bool held_back(struct rltp_session *s, uint64_t now_ns)
{
	struct rltp_io *io = s->io;

	if (io->inflight < session_window(s) && pace_ready(&io->pace, now_ns))
		return false;
	io->limited = true;
	return true;
}

/* A go-back-N receiver accepts only the next number, but held or rejected packets disturb the order
 * of `lost`. So after two timeouts the oldest lost packet goes first. */
static struct tx_entry *repeat_first(struct rltp_session *s)
{
	struct rltp_io *io = s->io;
	struct tx_entry *entry = tx_entry_first(io, &io->lost);

	if (!entry || s->shared->tuning.recovery < RLTP_GBN_NAK || io->backoff < 2)
		return entry;
	uint32_t psn = io->tx_una;
	while (tx_entry_at(io, psn)->state != TX_LOST)
		psn++;
	return tx_entry_at(io, psn);
}

static bool repeat_next(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	struct rltp_io *io = s->io;
	struct tx_entry *entry = repeat_first(s);
	uint16_t flags = WIRE_FLAG_RTX;

	if (!entry)
		return false;
	if (io->probe_due)
		flags |= WIRE_FLAG_PROBE;
	else if (held_back(s, now_ns))
		return false;
	if (!io->probe_due && io->repeats_sent < WIRE_WINDOW_MAX)
		io->repeats_sent++;
	io->probe_due = false;
	tx_entry_leave(io, entry);
	entry_sent(io, entry, now_ns);
	packet_build(s, entry, flags, now_ns, out);
	out->cause = entry->cause;
	return true;
}

/* Retransmits, after its pause, a packet rejected for lack of space or held without an answer. */
static bool rejected_next(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	struct rltp_io *io = s->io;
	struct tx_entry *entry = rejection_due(io, now_ns);

	if (!entry || held_back(s, now_ns))
		return false;
	tx_entry_leave(io, entry);
	s->counters.retransmitted_busy += entry->rejections > 0;
	entry_sent(io, entry, now_ns);
	packet_build(s, entry, WIRE_FLAG_RTX, now_ns, out);
	io->held_repeats += entry->rejections == 0 && io->held_repeats < WIRE_WINDOW_MAX;
	out->cause = entry->rejections == 0 ? DATAGRAM_CAUSE_HELD : DATAGRAM_CAUSE_BUSY;
	io->rejected_next = false;
	return true;
}

static bool new_ready(const struct rltp_session *s)
{
	return !s->io->ring_short && s->tx_next - s->io->tx_una < WIRE_WINDOW_MAX && flow_ready(s);
}

static bool new_next(struct rltp_session *s, uint32_t mask, uint64_t now_ns, struct datagram *out)
{
	struct rltp_io *io = s->io;
	uint8_t index;

	if (io->flows_active == 0)
		return false;
	if (io->sent.count == 0)
		cc_resume(&s->io->cc, now_ns);
	struct rltp_flow *flow = flow_next(s, mask, &index);
	if (!flow || held_back(s, now_ns) || !tx_ring_has_space(s))
		return false;
	uint32_t window = session_window(s);
	struct rltp_message *m = flow->head;
	if (m->packet_count == 0)
		message_cut(s, m);
	struct tx_entry *entry = tx_entry_at(io, s->tx_next);
	*entry = (struct tx_entry){.message = m, .psn = s->tx_next++, .sub = m->next_sub++};
	m->unacked++;
	flow_cut(io, m);
	if (m->next_sub == m->packet_count)
		flow_remove_head(s, index);
	entry_sent(io, entry, now_ns);
	/* A packet that fills the window or ends a grant requests an ACK at once, because the
	 * sender waits for it. */
	bool probes = entry->sub + 1 == m->granted;
	uint16_t flags =
		probes || (io->inflight >= window && window <= RLTP_ACK_EVERY) ? WIRE_FLAG_AR : 0;
	uint32_t bytes = packet_build(s, entry, flags, now_ns, out);
	flow_charge(s, index, bytes);
	io->rejected_next = true;
	s->counters.sent_bytes += bytes;
	s->counters.sent_packets++;
	return true;
}

static bool new_first(const struct rltp_session *s, uint32_t mask, uint64_t now_ns)
{
	return mask == 0 && (flow_channels(s) & ~arbiter_blocked(&s->shared->arbiter, now_ns)) != 0;
}

/* Alternates even after failed attempts; with a window of one packet, one kind could otherwise
 * block the other forever. */
static bool send_next(struct rltp_session *s, uint32_t mask, uint64_t now_ns, struct datagram *out)
{
	if (s->io->rejected_next)
		return rejected_next(s, now_ns, out) || new_next(s, mask, now_ns, out);
	if (new_next(s, mask, now_ns, out))
		return true;
	return !new_first(s, mask, now_ns) && rejected_next(s, now_ns, out);
}

size_t rltp_session_send(struct rltp_session *s, uint32_t mask, struct datagram *out, size_t count,
			 uint64_t now_ns)
{
	const struct arbiter *a = &s->shared->arbiter;
	size_t n = 0;

	if (s->state == RLTP_HANDSHAKE || rltp_session_rest(s, now_ns))
		return 0;
	if (s->state != RLTP_OPEN || session_unconfirmed(s))
		return 0;
	recovery_timers(s, now_ns);
	while (n < count && s->io->nack_count > 0)
		rltp_nack_build(s, now_ns, &out[n++]);
	if (n < count && rltp_ack_due(s, now_ns))
		rltp_ack_build(s, now_ns, &out[n++]);
	n += credits_send(s, out + n, count - n, now_ns);
	n += keepalive_send(s, out + n, count - n, now_ns);
	n += pmtu_send(s, out + n, count - n, now_ns);
	uint32_t most = s->io->inflight + (uint32_t)max_u64(count, RLTP_POLL_WEIGHT);
	while (n < count && s->io->inflight < most && repeat_next(s, now_ns, &out[n]))
		n++;
	while (n < count && s->io->inflight < most &&
	       send_next(s, mask & ~arbiter_blocked(a, now_ns), now_ns, &out[n]))
		n++;
	if (n > 0)
		s->io->active_ns = now_ns;
	return n;
}

uint32_t rltp_session_sendable(struct rltp_session *s, uint64_t now_ns)
{
	const struct rltp_io *io = s->io;

	if (s->state != RLTP_OPEN || !io || io->handshake || io->channels_ready == 0 ||
	    io->ring_short || s->tx_next - io->tx_una >= WIRE_WINDOW_MAX)
		return 0;
	uint32_t mask = flow_channels(s);
	return mask == 0 || held_back(s, now_ns) ? 0 : mask;
}

/* 0: now; UINT64_MAX: another event must come first. */
static uint64_t packet_deadline(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;

	if (io->probe_due && io->lost.count > 0)
		return 0;
	if (io->inflight >= session_window(s))
		return UINT64_MAX; /* an acknowledgement must arrive first */
	if (io->lost.count > 0 || new_ready(s))
		return pace_deadline(&io->pace);
	return max_u64(io->wait_deadline_ns, pace_deadline(&io->pace));
}

uint64_t rltp_session_deadline(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;

	if (!io || s->state == RLTP_HANDSHAKE)
		return UINT64_MAX;
	uint64_t rest_ns = session_resting(s) ? io->active_ns + RLTP_REST_NS : UINT64_MAX;
	if (s->state != RLTP_OPEN)
		return rest_ns;
	if (io->handshake)
		return io->handshake->until_ns;
	if (io->nack_count > 0 || io->ack_now || io->grants_due)
		return 0;
	uint64_t deadline = min_u64(packet_deadline(s), recovery_deadline(s));
	deadline = min_u64(deadline, min_u64(io->ack_deadline_ns, io->credit_request_ns));
	deadline = min_u64(deadline, min_u64(keepalive_deadline(s), pmtu_deadline(s)));
	return min_u64(deadline, rest_ns);
}
