/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows each session in each direction by its reliable packets (struct stream). The receiver
 * assigns the session id in a handshake, so a new id means a new session. */
#include "test/support/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "nic/limits.h"
#include "wire/frame.h"

#define STREAMS  (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)
#define SEEN_MAX 8192 /* packets: 2 * WIRE_WINDOW_MAX, a power of two */

enum seen_flag { SEEN_ARRIVED = 1, SEEN_KNOWN = 2, SEEN_RESYNC = 4 };

struct seen {
	uint32_t session, psn;
	uint64_t identity; /* hash of the packet's content */
	/* enum seen_flag; SEEN_KNOWN: the sender received the acknowledgement */
	uint8_t flags;
};

/* NAPs sent to one queue pair, and the limit that the receiver granted. */
struct credit {
	uint32_t sent, limit;
};

struct stream {
	bool open;
	bool credits;
	uint32_t session;
	/* oldest packet whose cumulative acknowledgement has not reached the sender; next new
	 * packet */
	uint32_t una, next;
	uint32_t cum_sent; /* cumulative acknowledgement last sent by the receiver */
	struct credit naps[STREAMS];
	struct seen *seen;
};

/* Frames with protection, of one session in one direction. Two with one nonce break AES-GCM, so
 * their counters must differ. */
struct sealed_lane {
	uint32_t session, next;
};

struct witness {
	/* indices: sending host, receiving host */
	struct stream streams[WITNESS_HOSTS][WITNESS_HOSTS];
	/* indices: host that assigned the id, host that uses it */
	uint32_t handed[WITNESS_HOSTS][WITNESS_HOSTS];
	/* granted by the handshake; indices as in `handed` */
	uint16_t credit[WITNESS_HOSTS][WITNESS_HOSTS];
	/* indices: sending host, receiving host */
	struct sealed_lane sealed[WITNESS_HOSTS][WITNESS_HOSTS];
	struct witness_counts counts;
	bool trace;
	char wrong[160];
};

static void trace(const struct witness *w, const char *what, const struct sim_packet *p,
		  const struct wire_header *h, uint64_t now_ns)
{
	if (w->trace)
		printf("%llu %s %u>%u %s flags %03x session %08x psn %u cum %u message %u.%u\n",
		       (unsigned long long)now_ns, what, p->from, p->to, wire_type_name(h->type),
		       h->flags, h->dst_session, h->psn, h->cum_ack, h->msg_id, h->sub);
}

static void wrong(struct witness *w, const struct sim_packet *p, uint32_t psn, const char *what)
{
	if (!w->wrong[0])
		snprintf(w->wrong, sizeof(w->wrong), "wire, host %u to host %u, packet %u: %s",
			 p->from, p->to, psn, what);
}

static struct seen *seen_at(struct stream *l, uint32_t psn)
{
	return &l->seen[psn % SEEN_MAX];
}

static bool seen_is(const struct stream *l, const struct seen *s, uint32_t psn)
{
	return s->session == l->session && s->psn == psn && s->identity != 0;
}

static uint64_t identity_of(const struct wire_header *h)
{
	uint64_t x = (uint64_t)h->msg_id << 32 | h->sub;

	x ^= ((uint64_t)h->dst_qp << 8 | h->dst_function) * 0x9e3779b97f4a7c15ull;
	return (x ^ x >> 31) * 0xff51afd7ed558ccdull | 1;
}

static void stream_open(struct stream *l, const struct wire_header *h, uint16_t credit)
{
	l->open = true;
	l->session = h->dst_session;
	l->una = l->next = l->cum_sent = h->psn;
	l->credits = credit > 0;
	for (int i = 0; i < STREAMS; i++)
		l->naps[i] = (struct credit){0, credit};
}

static void nap_count(struct witness *w, struct stream *l, const struct sim_packet *p,
		      const struct wire_header *h)
{
	uint32_t stream = h->dst_function * NIC_QPS_PER_FUNCTION + h->dst_qp;

	if (h->type != WIRE_NAP || !(h->flags & WIRE_FLAG_FIRST) || stream >= STREAMS)
		return;
	if (l->credits && !seq_before(l->naps[stream].sent, l->naps[stream].limit))
		wrong(w, p, h->psn, "a NAP beyond the credit of its queue pair");
	l->naps[stream].sent++;
}

static void limit_read(struct stream *l, uint16_t qp, uint32_t limit)
{
	uint32_t stream = (uint32_t)(qp >> 8) * NIC_QPS_PER_FUNCTION + (qp & 0xff);

	if (stream < STREAMS && seq_before(l->naps[stream].limit, limit))
		l->naps[stream].limit = limit;
}

/* Grants in an ACK or CREDIT apply to the sender that receives it. */
static void grants_read(struct stream *l, const struct sim_packet *p, const struct wire_header *h)
{
	const uint8_t *body = p->data + h->header_bytes;
	struct wire_credit credit;
	struct wire_ack ack;

	if (h->type == WIRE_ACK &&
	    wire_ack_decode(body, h->payload_bytes, h->flags, &ack) == DXP_OK && ack.credit)
		limit_read(l, ack.credit_qp, ack.credit_limit);
	if (h->type != WIRE_CREDIT || h->flags & WIRE_FLAG_AR ||
	    wire_credit_decode(body, h->payload_bytes, &credit) != DXP_OK)
		return;
	for (uint32_t i = 0; i < credit.count; i++)
		limit_read(l, credit.entries[i].qp, credit.entries[i].limit);
}

static void packet_sent(struct witness *w, const struct sim_packet *p, const struct wire_header *h)
{
	struct stream *l = &w->streams[p->from][p->to];

	if (!l->open || l->session != h->dst_session)
		stream_open(l, h, w->credit[p->to][p->from]);
	struct seen *s = seen_at(l, h->psn);
	if (!seq_before(h->psn, l->next)) {
		if (h->psn != l->next)
			wrong(w, p, h->psn, "numbers before it were left out");
		l->next = h->psn + 1;
		*s = (struct seen){l->session, h->psn, identity_of(h), 0};
		nap_count(w, l, p, h);
		w->counts.packets++;
		w->counts.packet_bytes += p->bytes + WIRE_OVERHEAD;
	} else {
		w->counts.repeats++;
		w->counts.repeat_bytes += p->bytes + WIRE_OVERHEAD;
		if (seq_before(h->psn, l->una) || (seen_is(l, s, h->psn) && s->flags & SEEN_KNOWN))
			wrong(w, p, h->psn, "sent again although known to have arrived");
		else if (!seen_is(l, s, h->psn) || s->identity != identity_of(h))
			wrong(w, p, h->psn, "one number for two packets");
		else if (s->flags & SEEN_RESYNC && h->type != WIRE_RESYNC)
			wrong(w, p, h->psn, "given up, then sent");
	}
	if (h->type == WIRE_RESYNC)
		s->flags |= SEEN_RESYNC;
	if (l->next - l->una > WIRE_WINDOW_MAX)
		wrong(w, p, h->psn, "more in flight than any window allows");
}

/* Calls `each` for every packet from number `first` on that the frame acknowledges. */
static void acknowledged(const struct sim_packet *p, const struct wire_header *h, uint32_t first,
			 void (*each)(struct witness *w, struct stream *l,
				      const struct sim_packet *p, uint32_t psn),
			 struct witness *w, struct stream *l)
{
	struct wire_ack ack;

	for (uint32_t psn = first; seq_before(psn, h->cum_ack); psn++)
		each(w, l, p, psn);
	if (h->type != WIRE_ACK ||
	    wire_ack_decode(p->data + h->header_bytes, h->payload_bytes, h->flags, &ack) != DXP_OK)
		return;
	for (uint32_t i = 0; i < ack.sack_words; i++) {
		uint64_t word = get_be64(ack.bitmap + 8 * i);
		for (; word != 0; word &= word - 1)
			each(w, l, p,
			     h->cum_ack + ack.sack_off + 64 * i + (uint32_t)__builtin_ctzll(word));
	}
}

static void arrived_check(struct witness *w, struct stream *l, const struct sim_packet *p,
			  uint32_t psn)
{
	const struct seen *s = seen_at(l, psn);

	if (!seen_is(l, s, psn) || !(s->flags & SEEN_ARRIVED))
		wrong(w, p, psn, "acknowledged, but never arrived");
}

/* Records what host `p->from` acknowledges of the packets from `p->to`. */
static void acknowledgement_sent(struct witness *w, const struct sim_packet *p,
				 const struct wire_header *h)
{
	struct stream *l = &w->streams[p->to][p->from];

	/* An acknowledgement for an earlier session has no effect: a host has restarted or begun a
	 * new handshake since. */
	if (!l->open || l->session != w->handed[p->from][p->to] ||
	    h->dst_session != w->handed[p->to][p->from])
		return;
	if (seq_before(h->cum_ack, l->cum_sent))
		wrong(w, p, h->cum_ack, "an acknowledgement taken back");
	else if (seq_before(l->next, h->cum_ack))
		wrong(w, p, h->cum_ack, "acknowledged, but never sent");
	else
		acknowledged(p, h, l->cum_sent, arrived_check, w, l);
	l->cum_sent = h->cum_ack;
}

static void known_note(struct witness *w, struct stream *l, const struct sim_packet *p,
		       uint32_t psn)
{
	struct seen *s = seen_at(l, psn);

	if (seen_is(l, s, psn))
		s->flags |= SEEN_KNOWN;
}

static void acknowledgement_delivered(struct witness *w, const struct sim_packet *p,
				      const struct wire_header *h)
{
	struct stream *l = &w->streams[p->to][p->from];

	if (!l->open || h->dst_session != w->handed[p->to][p->from] ||
	    seq_before(l->next, h->cum_ack))
		return;
	grants_read(l, p, h);
	acknowledged(p, h, l->una, known_note, w, l);
	if (seq_before(l->una, h->cum_ack))
		l->una = h->cum_ack;
}

static void hello_sent(struct witness *w, const struct sim_packet *p, const struct wire_header *h)
{
	uint32_t id = get_be32(p->data + WIRE_OFF_HELLO_SESSION);

	/* drawn together, so a new id also starts a new stream in the other direction */
	if (id != w->handed[p->from][p->to])
		w->streams[p->from][p->to].open = false;
	w->handed[p->from][p->to] = id;
	w->credit[p->from][p->to] = get_be16(p->data + WIRE_OFF_HELLO_NAP_CREDIT);
}

static void sealed_sent(struct witness *w, const struct sim_packet *p)
{
	struct sealed_lane *l = &w->sealed[p->from][p->to];
	uint32_t counter = get_be32(p->data + WIRE_OFF_CRC);
	struct wire_header h;

	if (wire_sealed_decode(p->data, p->bytes, &h) != DXP_OK) {
		wrong(w, p, 0, "a sealed frame that its own sender would refuse");
		return;
	}
	if (h.dst_session != l->session)
		*l = (struct sealed_lane){h.dst_session, 0};
	if (counter != l->next++)
		wrong(w, p, counter, "a counter of sealed frames that repeats or skips");
}

static void sent(void *context, const struct sim_packet *p, uint64_t now_ns)
{
	struct witness *w = context;
	struct wire_header h;

	if (wire_is_sealed(p->data, p->bytes)) {
		sealed_sent(w, p);
		return;
	}
	if (wire_header_decode(p->data, p->bytes, &h) != DXP_OK) {
		wrong(w, p, 0, "a frame that its own sender would refuse");
		return;
	}
	trace(w, "sent", p, &h, now_ns);
	if (h.type == WIRE_HELLO || h.type == WIRE_HELLO_ACK)
		hello_sent(w, p, &h);
	if (h.flags & WIRE_FLAG_ACKV)
		acknowledgement_sent(w, p, &h);
	if (wire_type_data(h.type))
		packet_sent(w, p, &h);
}

static void delivered(void *context, const struct sim_packet *p, uint64_t now_ns)
{
	struct witness *w = context;
	struct stream *l = &w->streams[p->from][p->to];
	struct wire_header h;

	if (wire_is_sealed(p->data, p->bytes) ||
	    wire_header_decode(p->data, p->bytes, &h) != DXP_OK)
		return;
	trace(w, "came", p, &h, now_ns);
	/* RLTP does not use the acknowledgement number of a NACK */
	if (h.flags & WIRE_FLAG_ACKV && h.type != WIRE_NACK)
		acknowledgement_delivered(w, p, &h);
	if (!wire_type_data(h.type) || !l->open || h.dst_session != l->session)
		return;
	struct seen *s = seen_at(l, h.psn);
	if (seen_is(l, s, h.psn))
		s->flags |= SEEN_ARRIVED;
}

struct witness *witness_create(struct net *n)
{
	struct witness *w = calloc(1, sizeof(*w));
	const struct net_tap tap = {sent, delivered, w};

	if (!w)
		return NULL;
	w->trace = getenv("DXP_TRACE");
	uint32_t hosts = net_paths(n)->hosts;
	for (uint32_t i = 0; i < hosts * hosts; i++) {
		struct stream *l = &w->streams[i / hosts][i % hosts];
		l->seen = i / hosts != i % hosts ? calloc(SEEN_MAX, sizeof(*l->seen)) : NULL;
		if (i / hosts != i % hosts && !l->seen) {
			witness_destroy(w);
			return NULL;
		}
	}
	net_tap_set(n, &tap);
	return w;
}

void witness_destroy(struct witness *w)
{
	for (uint32_t i = 0; w && i < WITNESS_HOSTS; i++)
		for (uint32_t k = 0; k < WITNESS_HOSTS; k++)
			free(w->streams[i][k].seen);
	free(w);
}

void witness_forget(struct witness *w, uint32_t host)
{
	for (uint32_t i = 0; i < WITNESS_HOSTS; i++) {
		w->streams[host][i].open = false;
		w->handed[host][i] = 0;
	}
}

const char *witness_verdict(const struct witness *w)
{
	return w->wrong[0] ? w->wrong : NULL;
}

const struct witness_counts *witness_counts(const struct witness *w)
{
	return &w->counts;
}
