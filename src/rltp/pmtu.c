/* SPDX-License-Identifier: BSD-3-Clause */
/* Path MTU discovery (RFC 8899). A session starts with a size of every common path, and probes the
 * size that both sides accept; if this is lost, it searches in between.
 *
 * If long packets are lost and none arrives, it probes the floor and the current size. If only the
 * floor is answered, this is a black hole, and the session falls back to the floor.
 *
 * On a path with RLTP_PATH_LONG, the first probe is a long frame. After a loss of long frames, the
 * session uses none until the address changes, and verifies the size of datagrams.
 *
 * A lost probe does not indicate congestion, and each size is probed several times.
 * docs/design/rltp.md "Path MTU". */
#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

/* recent probes whose answers are accepted */
#define IDS_REMEMBERED 16

static const uint8_t
	padding[WIRE_DATA_BYTES + WIRE_LONG_PAYLOAD_MAX]; /* payload of the largest probe */

static uint16_t unit_floor(const struct rltp_session *s)
{
	return s->whole < RLTP_PMTU_FLOOR ? s->whole : RLTP_PMTU_FLOOR;
}

static uint16_t unit_base(const struct rltp_session *s)
{
	return s->whole < RLTP_PMTU_BASE ? s->whole : RLTP_PMTU_BASE;
}

static void rest(struct rltp_session *s, uint64_t now_ns)
{
	s->io->pmtu.state = PMTU_REST;
	s->pmtu_again_s =
		s->unit < s->agreed ? (uint32_t)((now_ns + RLTP_PMTU_AGAIN_NS) / S_NS) : UINT32_MAX;
}

static bool again(const struct rltp_session *s, uint64_t now_ns)
{
	return s->pmtu_again_s != UINT32_MAX && now_ns / S_NS >= s->pmtu_again_s;
}

static void search(struct rltp_session *s, uint16_t size, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;

	p->state = PMTU_SEARCH;
	p->size = size;
	p->tries = 0;
	p->id++;
	p->deadline_ns = now_ns;
}

/* Starts with the largest size: most paths carry an MTU of 1500 or 9000 bytes. */
static void search_all(struct rltp_session *s, uint64_t now_ns)
{
	s->io->pmtu.high = (uint16_t)(s->agreed + 64);
	search(s, s->agreed, now_ns);
}

static void search_next(struct rltp_session *s, uint64_t now_ns)
{
	uint32_t unit = s->unit, size = (unit + s->io->pmtu.high) / 2 / 64 * 64;

	if (size < unit + RLTP_PMTU_STEP || unit >= s->agreed)
		rest(s, now_ns);
	else
		search(s, (uint16_t)size, now_ns);
}

void pmtu_open(struct rltp_session *s, uint64_t now_ns)
{
	s->io->pmtu = (struct pmtu){.id = s->initial_psn};
	s->unit = unit_base(s);
	s->pmtu_again_s = UINT32_MAX;
	if (s->unit < s->agreed)
		search_all(s, now_ns);
}

/* Probes the floor and `size` alternately. */
static void verify(struct rltp_session *s, uint16_t size, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;

	p->state = PMTU_VERIFY;
	p->size = size;
	p->tries = 0;
	p->floor_due = false;
	p->floor_answers = 0;
	p->id++;
	p->deadline_ns = now_ns;
}

static uint16_t datagram_unit(const struct rltp_session *s)
{
	return s->unit < s->whole ? s->unit : s->whole;
}

static uint32_t entry_bytes(const struct tx_entry *entry)
{
	const struct rltp_message *m = entry->message;
	uint64_t offset = (uint64_t)entry->sub * m->unit;
	uint64_t left = offset < m->bytes ? m->bytes - offset : 0;

	return (uint32_t)min_u64(left, m->unit);
}

static bool cut_too_long(const struct rltp_message *m, uint16_t unit)
{
	return m->status == DXP_OK && m->packet_count > 0 && m->unit > unit && m->bytes > unit;
}

/* Fails messages split into packets longer than `unit`, because number and offset of a packet never
 * change. Packets in flight become RESYNC. A partly sent message gets one more packet, which
 * notifies the receiver. */
static void cut_messages_end(struct rltp_session *s, uint16_t unit)
{
	struct rltp_io *io = s->io;

	for (uint32_t i = 0; i < RLTP_FLOWS; i++) {
		struct rltp_message *m = io->flows[i].head;
		if (m && cut_too_long(m, unit)) {
			m->status = DXP_EPATH;
			m->packet_count = m->next_sub + 1;
		}
	}
	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++) {
		struct tx_entry *entry = tx_entry_at(io, psn);
		if (entry->state == TX_ACKED)
			continue;
		/* A message with only a short last packet left can still complete. */
		if (cut_too_long(entry->message, unit) && entry_bytes(entry) > unit)
			entry->message->status = DXP_EPATH;
		if (entry->message->status == DXP_EPATH && entry->state != TX_LOST)
			recovery_entry_lost(s, entry);
	}
	/* The remaining packets are short enough. */
	io->probes = io->backoff = 0;
}

static void long_refuse(struct rltp_session *s)
{
	s->agreed = s->whole;
	s->unit = datagram_unit(s);
	s->io->pmtu.lost_longer = 0;
	cut_messages_end(s, s->whole);
}

/* The path carries the floor, but not the size under test. */
static void black_hole(struct rltp_session *s, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;

	s->counters.black_holes++;
	if (p->size > s->whole) {
		long_refuse(s);
		verify(s, s->unit, now_ns); /* it may carry less than a datagram, too */
		return;
	}
	p->lost_large = p->lost_longer = 0;
	p->high = p->size;
	if (p->size <= s->unit)
		s->unit = unit_floor(s);
	cut_messages_end(s, s->unit);
	search_next(s, now_ns);
}

void rltp_session_path(struct rltp_session *s, uint16_t payload_bytes, bool another,
		       uint64_t now_ns)
{
	const uint16_t agreed = s->agreed;

	s->payload_bytes = payload_bytes;
	if (s->state != RLTP_OPEN)
		return;
	if (s->whole > payload_bytes)
		s->whole = payload_bytes;
	if (!(s->path & RLTP_PATH_LONG) || s->agreed <= WIRE_PAYLOAD_MAX)
		s->agreed = s->whole;
	if (s->unit > s->agreed) {
		s->unit = s->agreed;
		if (s->io)
			s->io->pmtu.state = PMTU_REST;
	}
	if (s->io && s->agreed < agreed)
		cut_messages_end(s, s->agreed);
	if (!another)
		return;
	if (s->unit > unit_base(s))
		s->unit = unit_base(s);
	s->pmtu_again_s = s->unit < s->agreed ? (uint32_t)(now_ns / S_NS) : UINT32_MAX;
	if (s->io)
		s->io->pmtu.state = PMTU_REST;
}

void pmtu_lost(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;
	const struct rltp_message *m = entry->message;
	uint32_t bytes = entry_bytes(entry);

	if (m->status != DXP_OK || bytes <= unit_floor(s))
		return;
	uint16_t size = datagram_unit(s);
	uint32_t *lost = &p->lost_large;
	if (bytes > size) {
		uint32_t unit = (m->unit + session_overhead(s) + 63u) / 64 * 64;
		size = (uint16_t)min_u64(unit, s->agreed);
		lost = &p->lost_longer;
	}
	if (++*lost >= RLTP_PMTU_SUSPECT && p->state == PMTU_REST && size > unit_floor(s))
		verify(s, size, now_ns);
}

void pmtu_acked(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;
	uint32_t bytes = entry_bytes(entry), unit = datagram_unit(s);

	if (bytes <= unit_floor(s))
		return;
	p->lost_large = 0;
	if (bytes > unit)
		p->lost_longer = 0;
	if (p->state == PMTU_VERIFY && (p->size <= unit || bytes > unit))
		rest(s, now_ns);
}

static void advance(struct rltp_session *s, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;

	if (p->state == PMTU_REST && again(s, now_ns) && rltp_session_busy(s))
		search_all(s, now_ns);
	if (p->state == PMTU_REST || now_ns < p->deadline_ns)
		return;
	if (p->state == PMTU_SEARCH && p->tries == RLTP_PMTU_TRIES && p->size > s->whole) {
		long_refuse(s);
		if (s->unit < s->agreed)
			search_all(s, now_ns);
		else
			rest(s, now_ns);
	} else if (p->state == PMTU_SEARCH && p->tries == RLTP_PMTU_TRIES) {
		p->high = p->size;
		search_next(s, now_ns);
	} else if (p->state == PMTU_VERIFY && p->tries == RLTP_PMTU_VERIFY_TRIES) {
		/* Almost nothing arrives; the session will time out. */
		rest(s, now_ns);
		p->lost_large = p->lost_longer = 0;
	}
}

static uint16_t probe_size(struct pmtu *p, const struct rltp_session *s)
{
	if (p->state == PMTU_SEARCH)
		return p->size;
	return p->floor_due ? unit_floor(s) : p->size;
}

static void probe_schedule(struct rltp_session *s, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;
	uint64_t srtt_ns = s->srtt_ns ? s->srtt_ns : RLTP_RTT_INITIAL_NS;
	uint64_t wait_ns = max_u64(srtt_ns, RLTP_PMTU_WAIT_NS);

	if (p->state == PMTU_SEARCH) {
		p->deadline_ns = now_ns + (max_u64(3 * srtt_ns, wait_ns) << p->tries++);
		return;
	}
	p->floor_due = !p->floor_due;
	if (!p->floor_due) {
		p->tries++;
		p->deadline_ns = now_ns + wait_ns;
	}
}

static void probe_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	const size_t front = WIRE_COMMON_BYTES + WIRE_PMTU_BYTES;
	struct pmtu *p = &s->io->pmtu;
	struct wire_pmtu body = {
		p->id, (uint16_t)(probe_size(p, s) + WIRE_DATA_BYTES - session_overhead(s))};
	struct wire_header h;

	transmit_header_begin(s, WIRE_PMTU_PROBE, now_ns, &h);
	wire_pmtu_encode(&body, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_PMTU_BYTES, out);
	out->slice_count = 1;
	out->slices[0] = (struct datagram_slice){padding, body.bytes - front};
	out->segment_bytes = session_segment(s, body.bytes);
	wire_control_seal_tail(out->header, front, padding, body.bytes - front);
	s->counters.probes_sent++;
}

static void answer_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out)
{
	struct wire_header h;

	transmit_header_begin(s, WIRE_PMTU_ACK, now_ns, &h);
	wire_pmtu_encode(&s->io->pmtu.answer, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_PMTU_BYTES, out);
	s->io->pmtu.answer_due = false;
}

size_t pmtu_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;
	size_t n = 0;

	if (n < count && p->answer_due)
		answer_build(s, now_ns, &out[n++]);
	advance(s, now_ns);
	while (n < count && p->state != PMTU_REST && now_ns >= p->deadline_ns) {
		probe_build(s, now_ns, &out[n++]);
		probe_schedule(s, now_ns);
	}
	return n;
}

uint64_t pmtu_deadline(const struct rltp_session *s)
{
	const struct pmtu *p = &s->io->pmtu;

	if (p->answer_due)
		return 0;
	if (p->state != PMTU_REST)
		return p->deadline_ns;
	if (s->pmtu_again_s == UINT32_MAX || !rltp_session_busy(s))
		return UINT64_MAX;
	return s->pmtu_again_s * S_NS;
}

bool pmtu_resting(const struct rltp_session *s)
{
	return s->io->pmtu.state == PMTU_REST && !s->io->pmtu.answer_due;
}

static void probe_carried(struct rltp_session *s, uint16_t size, uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;

	if (p->state == PMTU_VERIFY) {
		if (size >= p->size) {
			p->lost_large = p->lost_longer = 0;
			rest(s, now_ns);
		} else if (size == unit_floor(s) && ++p->floor_answers == RLTP_PMTU_VERIFY_GOOD) {
			black_hole(s, now_ns);
		}
	} else if (size > s->unit) {
		s->unit = size;
		/* The answer came late, so larger sizes may pass too. */
		if (p->high <= size)
			p->high = (uint16_t)(s->agreed + 64);
		search_next(s, now_ns);
	}
}

/* Of two probes with one id, the answer to the larger one covers both. */
static void answer_note(struct pmtu *p, const struct wire_pmtu *probe)
{
	if (p->answer_due && p->answer.id == probe->id && p->answer.bytes > probe->bytes)
		return;
	p->answer = *probe;
	p->answer_due = true;
}

void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns)
{
	struct pmtu *p = &s->io->pmtu;
	struct wire_pmtu reported;

	if (h->type == WIRE_PMTU_PROBE) {
		if (wire_pmtu_probe_decode(body, h->payload_bytes, &reported) == DXP_OK)
			answer_note(p, &reported);
		else
			s->counters.acks_bad++;
		return;
	}
	if (wire_pmtu_ack_decode(body, h->payload_bytes, &reported) != DXP_OK ||
	    reported.bytes < WIRE_DATA_BYTES) {
		s->counters.acks_bad++;
		return;
	}
	uint32_t size = reported.bytes - WIRE_DATA_BYTES + session_overhead(s);
	if (p->id - reported.id >= (p->state == PMTU_VERIFY ? 1 : IDS_REMEMBERED) ||
	    size > s->agreed || size % 64 != 0)
		return; /* the answer belongs to no current probe */
	probe_carried(s, (uint16_t)size, now_ns);
}
