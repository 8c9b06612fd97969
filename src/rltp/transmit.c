/* SPDX-License-Identifier: BSD-3-Clause */
/* The sending half: which packet goes next, and how it becomes a datagram. Order: refusals and
 * acknowledgements, repeats (oldest first), new packets while the window has room. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/crc32c.h"
#include "base/util.h"
#include "rltp/internal.h"

void header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
		  struct wire_header *h)
{
	*h = (struct wire_header){
		.type = type,
		.header_bytes = wire_type_data(type) ? WIRE_DATA_BYTES : WIRE_COMMON_BYTES,
		.flags = WIRE_FLAG_ACKV,
		.dst_session = s->peer_id,
		.src_node = s->options.local_node,
		.dst_node = s->options.peer_node,
		.tx_ts = timestamp_of(now_ns),
		.cum_ack = s->rx.cum,
	};
}

/* Packets of a message. Immediate data needs 8 bytes in the last packet; where the tail leaves no
 * room for them an empty packet is added. */
static uint32_t packet_count(const struct rltp_message *m, uint32_t unit)
{
	uint32_t count = m->bytes == 0 ? 1 : (m->bytes - 1) / unit + 1;
	uint32_t tail = m->bytes - (count - 1) * unit;

	return m->flags & WIRE_FLAG_IMM && tail > unit - WIRE_IMM_BYTES ? count + 1 : count;
}

static uint16_t position_flags(const struct rltp_message *m, uint32_t sub)
{
	bool last = sub + 1 == m->packet_count;
	uint16_t flags = (uint16_t)(m->flags & ~WIRE_FLAG_IMM);

	if (sub == 0)
		flags |= WIRE_FLAG_FIRST;
	if (last)
		flags |= WIRE_FLAG_LAST;
	if (last && m->flags & WIRE_FLAG_IMM)
		flags |= WIRE_FLAG_IMM;
	return flags;
}

static void datagram_finish(struct rltp_session *s, struct rltp_packet *p,
			    struct link_datagram *out)
{
	bool cover = s->options.payload_crc && p->header.payload_bytes > 0;

	if (cover)
		p->header.flags |= WIRE_FLAG_CRCP;
	if (p->header.flags & WIRE_FLAG_IMM)
		p->header.header_bytes = WIRE_HEADER_BYTES_MAX;
	wire_header_encode(&p->header, out->header);
	uint32_t crc = wire_crc_begin(out->header, p->header.header_bytes);
	for (int i = 0; cover && i < p->slice_count; i++)
		crc = crc32c(crc, p->slices[i].base, p->slices[i].bytes);
	wire_crc_set(out->header, crc);
	out->to = s->address;
	out->ecn = 0;
	out->header_bytes = p->header.header_bytes;
	out->slice_count = p->slice_count;
	memcpy(out->slices, p->slices, p->slice_count * sizeof(p->slices[0]));
}

uint32_t packet_build(struct rltp_session *s, uint32_t psn, uint16_t extra_flags, uint64_t now_ns,
		      struct link_datagram *out)
{
	const struct tx_slot *slot = tx_slot_at(s, psn);
	struct rltp_message *m = slot->message;
	bool resync = m->status != DXP_OK;
	uint32_t offset = slot->sub * m->unit < m->bytes ? slot->sub * m->unit : m->bytes;
	uint32_t bytes = m->bytes - offset < m->unit ? m->bytes - offset : m->unit;
	struct rltp_packet p = {0};

	header_begin(s, resync ? WIRE_RESYNC : m->type, now_ns, &p.header);
	s->options.ops->fill(s->options.user, m, offset, bytes, &p);
	p.header.psn = psn;
	p.header.sub = slot->sub;
	p.header.msg_bytes = m->bytes;
	p.header.flags |= extra_flags | (resync ? 0 : position_flags(m, slot->sub));
	if (resync)
		p.slice_count = 0;
	else
		p.header.payload_bytes = (uint16_t)bytes;
	datagram_finish(s, &p, out);
	/* Without holes, cum_ack says all that a delayed acknowledgement would. */
	if (!rx_map_has_holes(&s->rx)) {
		s->ack_deadline_ns = UINT64_MAX;
		s->unacked_arrivals = 0;
	}
	return p.header.payload_bytes;
}

/* Marks the packet as sent now. Two packets never share a send time, so that "sent before" is
 * total. */
static void slot_sent(struct rltp_session *s, struct tx_slot *slot, uint64_t now_ns)
{
	s->last_sent_ns = max_u64(now_ns, s->last_sent_ns + 1);
	slot->sent_ns = s->last_sent_ns;
	slot->state = TX_SENT;
	if (slot->tries < UINT8_MAX)
		slot->tries++;
	if (slot->tries == 2)
		s->repeats++;
	s->inflight++;
}

static bool repeat_next(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out)
{
	if (s->lost == 0 || s->inflight >= s->window)
		return false;
	if (seq_before(s->lost_hint, s->tx_una))
		s->lost_hint = s->tx_una;
	while (tx_slot_at(s, s->lost_hint)->state != TX_LOST)
		s->lost_hint++;
	assert(seq_before(s->lost_hint, s->tx_next));
	struct tx_slot *slot = tx_slot_at(s, s->lost_hint);
	s->lost--;
	slot_sent(s, slot, now_ns);
	packet_build(s, s->lost_hint, WIRE_FLAG_RTX | (s->probes > 0 ? WIRE_FLAG_PROBE : 0), now_ns,
		     out);
	return true;
}

/* The flow whose turn it is; NULL when all are empty. Flow 0 goes first; the others take turns of
 * RLTP_FLOW_QUANTUM packets. */
static struct rltp_flow *flow_next(struct rltp_session *s)
{
	if (s->flows[0].head)
		return &s->flows[0];
	for (int i = 0; i < RLTP_FLOWS_MAX; i++) {
		struct rltp_flow *flow = &s->flows[s->flow_turn];
		if (flow->head && s->flow_left > 0) {
			s->flow_left--;
			return flow;
		}
		s->flow_turn = (s->flow_turn + 1) % RLTP_FLOWS_MAX;
		s->flow_left = RLTP_FLOW_QUANTUM;
	}
	struct rltp_flow *flow = &s->flows[s->flow_turn];
	return flow->head ? flow : NULL;
}

static bool new_next(struct rltp_session *s, uint64_t now_ns, struct link_datagram *out)
{
	uint32_t span = s->tx_next - s->tx_una;

	if (s->inflight >= s->window || span >= s->tx_size || span >= s->peer_window)
		return false;
	struct rltp_flow *flow = flow_next(s);
	if (!flow)
		return false;
	struct rltp_message *m = flow->head;
	if (m->packet_count == 0) {
		m->unit = s->unit;
		m->packet_count = packet_count(m, m->unit);
	}
	struct tx_slot *slot = tx_slot_at(s, s->tx_next);
	*slot = (struct tx_slot){.message = m, .sub = m->next_sub++};
	m->unacked++;
	if (m->next_sub == m->packet_count) {
		flow->head = m->next;
		if (!flow->head)
			flow->tail = NULL;
	}
	slot_sent(s, slot, now_ns);
	uint32_t psn = s->tx_next++;
	s->counters.sent_bytes += packet_build(s, psn, 0, now_ns, out);
	s->counters.sent_packets++;
	return true;
}

size_t rltp_session_send(struct rltp_session *s, struct link_datagram *out, size_t count,
			 uint64_t now_ns)
{
	size_t n = 0;

	if (s->state != RLTP_OPEN)
		return 0;
	recovery_timers(s, now_ns);
	while (n < count && s->nack_count > 0)
		nack_build(s, now_ns, &out[n++]);
	if (n < count && ack_due(s, now_ns))
		ack_build(s, now_ns, &out[n++]);
	while (n < count && repeat_next(s, now_ns, &out[n]))
		n++;
	while (n < count && new_next(s, now_ns, &out[n]))
		n++;
	return n;
}

/* Could rltp_session_send produce a packet at once? */
static bool packet_ready(const struct rltp_session *s)
{
	uint32_t span = s->tx_next - s->tx_una;

	if (s->inflight >= s->window)
		return false;
	if (s->lost > 0)
		return true;
	if (span >= s->tx_size || span >= s->peer_window)
		return false;
	for (int i = 0; i < RLTP_FLOWS_MAX; i++)
		if (s->flows[i].head)
			return true;
	return false;
}

uint64_t rltp_session_deadline(const struct rltp_session *s)
{
	if (s->state != RLTP_OPEN)
		return UINT64_MAX;
	if (s->nack_count > 0 || s->ack_now || packet_ready(s))
		return 0;
	return min_u64(s->ack_deadline_ns, recovery_deadline(s));
}
