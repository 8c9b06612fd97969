/* SPDX-License-Identifier: BSD-3-Clause */
/* NAP credits. A credit permits one message that raises an event (NAP or PUT). They are counted per
 * sending node and target queue pair since the session opened. The receiver grants a total;
 * descriptors beyond it stay in the sender's queue pair.
 *
 * Invariant per receiving user: `promised` is the sum of limit - accepted - first_left over the
 * active streams; at each grant promised + used <= entries. First credits and credits unused for
 * long are excluded: their messages may find no entry, get RNR and are retransmitted.
 * docs/design/nic-local.md "Credits". */
#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"

#define SWEEP 8 /* streams checked for idleness per grant */

static struct nic_user *user_of(const struct rx_stream *s)
{
	return nic_stream_user(peer_nic(s->peer), s->index);
}

static uint32_t unspent(const struct rx_stream *s)
{
	return s->limit - s->accepted;
}

bool credit_left(const struct rx_stream *s)
{
	return s->limit != s->accepted;
}

/* ---- streams that share the receive entries ---- */

static void active_add(struct nic_user *u, struct rx_stream *s)
{
	s->previous_active = u->active_last;
	s->next_active = NULL;
	*(u->active_last ? &u->active_last->next_active : &u->active) = s;
	u->active_last = s;
	u->active_count++;
	u->promised += unspent(s) - s->first_left;
	s->listed = true;
	s->used_ns = peer_nic(s->peer)->now_ns;
}

static void active_remove(struct nic_user *u, struct rx_stream *s)
{
	*(s->previous_active ? &s->previous_active->next_active : &u->active) = s->next_active;
	*(s->next_active ? &s->next_active->previous_active : &u->active_last) = s->previous_active;
	u->active_count--;
	u->promised -= unspent(s) - s->first_left;
	s->listed = false;
}

/* The user may then grant the unused credit to others too. */
static void stream_retire(struct nic_user *u, struct rx_stream *s)
{
	active_remove(u, s);
	s->first_left = unspent(s);
}

static void idle_sweep(struct nic_user *u, uint64_t now_ns)
{
	for (uint32_t i = 0; i < SWEEP && u->active != u->active_last; i++) {
		struct rx_stream *s = u->active;
		if (now_ns - s->used_ns > NIC_CREDIT_IDLE_NS) {
			stream_retire(u, s);
			continue;
		}
		uint64_t used_ns = s->used_ns;
		active_remove(u, s);
		active_add(u, s);
		s->used_ns = used_ns;
	}
}

static void wait_add(struct nic_user *u, struct rx_stream *s)
{
	if (s->waits)
		return;
	s->waits = true;
	s->next_waiting = NULL;
	*(u->waiting_last ? &u->waiting_last->next_waiting : &u->waiting) = s;
	u->waiting_last = s;
}

static void wait_remove(struct nic_user *u, struct rx_stream *s)
{
	struct rx_stream *before = NULL, *at = u->waiting;

	if (!s->waits)
		return;
	for (; at != s; at = at->next_waiting)
		before = at;
	*(before ? &before->next_waiting : &u->waiting) = s->next_waiting;
	if (u->waiting_last == s)
		u->waiting_last = before;
	s->waits = false;
}

/* ---- grants ---- */

static void grant_send(struct rx_stream *s)
{
	struct nic_peer *p = s->peer;

	p->work->due |= 1u << s->index;
	rltp_endpoint_grant(peer_nic(p)->endpoint, p->session, peer_nic(p)->now_ns);
}

/* Returns the credit of each active stream: an equal share of 3/4 of the entries, at most 1/4. The
 * rest is for streams without credit. */
static uint32_t share(const struct nic_user *u)
{
	uint32_t entries = event_received_entries(u), quarter = entries / 4;
	uint32_t each = (entries - quarter) / (u->active_count ? u->active_count : 1);

	if (each > quarter)
		each = quarter;
	return each ? each : 1;
}

/* Raises the limit towards the share, unless by fewer than `least`. */
static bool offer(struct nic_user *u, struct rx_stream *s, uint32_t least)
{
	uint32_t has = unspent(s), target = share(u), entries = event_received_entries(u);
	uint32_t granted = event_received_used(u) + u->promised + (has > 0 ? entries / 4 : 0);

	if (has >= target || granted >= entries)
		return false;
	uint32_t give = target - has < entries - granted ? target - has : entries - granted;
	if (give < least)
		return false;
	s->limit += give;
	u->promised += give;
	/* above 0, so that a grant arrives before the credit is used up */
	s->low = unspent(s) - unspent(s) / 3;
	wait_remove(u, s);
	grant_send(s);
	return true;
}

/* Smallest useful grant: a quarter of what the stream lacks. */
static uint32_t worthwhile(const struct nic_user *u, const struct rx_stream *s)
{
	uint32_t target = share(u), has = unspent(s);

	return target > has + 4 ? (target - has) / 4 : 1;
}

static void grant_more(struct nic_user *u, struct rx_stream *s, bool requested)
{
	if (!s->listed)
		active_add(u, s);
	s->used_ns = peer_nic(s->peer)->now_ns;
	idle_sweep(u, peer_nic(s->peer)->now_ns);
	if (offer(u, s, requested ? 1 : worthwhile(u, s)))
		return;
	s->low = unspent(s) / 2;
	if (!credit_left(s))
		wait_add(u, s);
}

/* A stopped or closed user grants too, so that senders get a rejection and do not wait forever. If
 * it opens again, this is first credit. */
static void grant_nothing(struct rx_stream *s)
{
	uint16_t more = peer_nic(s->peer)->options.nap_credit;

	s->limit += more;
	s->first_left += more;
}

void credit_use(struct rx_stream *s)
{
	struct nic_user *u = user_of(s);

	if (!credit_left(s))
		/* the sender gave up a message without credit */
		return;
	s->accepted++;
	if (s->first_left > 0)
		s->first_left--;
	else if (s->listed)
		u->promised--;
	s->used_ns = peer_nic(s->peer)->now_ns;
	if (unspent(s) <= s->low && user_serves(u))
		grant_more(u, s, false);
}

void credit_forget(struct rx_stream *s)
{
	struct nic_user *u = user_of(s);

	if (s->listed)
		stream_retire(u, s);
	wait_remove(u, s);
	s->peer->work->due &= ~(1u << s->index);
}

void credits_poll(struct nic_user *u)
{
	struct rx_stream *next;

	/* After a few freed entries more follow, so small grants wait. A user without unread
	 * entries may wait for a blocked stream, so it grants at once. */
	bool all = event_received_unread(u) == 0;
	for (struct rx_stream *s = u->waiting; s; s = next) {
		next = s->next_waiting;
		if (!s->listed)
			active_add(u, s);
		if (!offer(u, s, all ? 1 : worthwhile(u, s)))
			return;
	}
}

uint32_t credit_grants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		       uint32_t count)
{
	struct nic_work *w = nic_peer_of(s)->work;
	uint32_t filled = 0;

	for (; w && w->due != 0 && filled < count; w->due &= w->due - 1) {
		const struct rx_stream *stream = w->rx[__builtin_ctz(w->due)];
		out[filled++] = (struct wire_credit_entry){
			.qp = (uint16_t)(stream->index / NIC_QPS_PER_FUNCTION << 8 |
					 stream->index % NIC_QPS_PER_FUNCTION),
			.limit = stream->limit,
		};
	}
	return filled;
}

static uint32_t entry_index(const struct wire_credit_entry *e)
{
	return nic_stream_index((uint8_t)(e->qp >> 8), e->qp & 0xff);
}

void credit_requested(void *user, struct rltp_session *session, const struct wire_credit_entry *e)
{
	struct nic_peer *p = nic_peer_of(session);
	struct nic *n = user;
	uint32_t index = entry_index(e);

	/* No message has arrived, so all credit is unused. */
	if (!stream_known(p, index, true))
		return;
	struct rx_stream *s = stream_rx_get(p, index);
	struct nic_user *u = nic_stream_user(n, index);
	if (!s)
		return; /* out of memory: the sender repeats its request */
	/* Grants more if both nodes agree on the limit and it is used up. Always answers, to show
	 * that this node is alive. */
	if (s->limit == e->limit && !credit_left(s)) {
		if (user_serves(u))
			grant_more(u, s, true);
		else
			grant_nothing(s);
	}
	grant_send(s);
}

/* ---- sender ---- */

/* Returns how many messages this node may have sent. Until the handshake reports the first credit
 * it is 1, which every receiver accepts. */
static uint32_t limit_known(struct nic_peer *p, struct tx_stream *t)
{
	uint32_t first = rltp_session_credit(p->session);

	if (!t->credited && rltp_session_is_open(p->session)) {
		t->credited = true;
		t->limit = first ? first : 1;
	}
	return t->credited ? t->limit : 1;
}

static void wait_begin(struct nic_request *r, struct nic_peer *p, uint32_t index)
{
	struct nic_work *w = p->work;

	if (r->waits)
		return;
	r->function->counters[r->head.qp].waits_for_credit++;
	r->waits = p;
	w->waiters[index]++;
	/* The peer must answer, so its dead-peer timer must run. */
	if (w->blocked == 0)
		rltp_session_await(p->session, peer_nic(p)->now_ns);
	w->blocked |= 1u << index;
}

void credit_unwait(struct nic_request *r)
{
	struct nic_peer *p = r->waits;
	uint32_t index = nic_stream_index(r->head.dst_function, r->head.dst_qp);

	if (!p)
		return;
	r->waits = NULL;
	if (--p->work->waiters[index] > 0)
		return;
	p->work->blocked &= ~(1u << index);
	if (p->work->blocked == 0)
		rltp_session_answered(p->session);
}

bool credit_consume(struct nic_request *r, struct nic_peer *p, struct tx_stream *t)
{
	struct nic *n = peer_nic(p);

	if (t->naps != limit_known(p, t)) {
		credit_unwait(r);
		t->naps++;
		return true;
	}
	if (!rltp_session_is_open(p->session))
		return false; /* the handshake, which has started, brings credit */
	wait_begin(r, p, nic_stream_index(r->head.dst_function, r->head.dst_qp));
	rltp_endpoint_want(n->endpoint, p->session, n->now_ns);
	return false;
}

void credit_granted(void *user, struct rltp_session *session, const struct wire_credit_entry *e)
{
	struct nic_peer *p = nic_peer_of(session);
	struct nic *n = user;
	uint32_t index = entry_index(e);

	if (!stream_known(p, index, false))
		return;
	struct tx_stream *t = stream_tx_get(p, index);
	if (!t)
		return; /* out of memory: requested again later */
	uint32_t limit = limit_known(p, t);
	if (!seq_before(limit, e->limit) || e->limit - t->naps > NIC_CREDIT_AHEAD_MAX)
		return;
	t->limit = e->limit;
	n->space = true;
}

uint32_t credit_wants(void *user, struct rltp_session *s, struct wire_credit_entry *out,
		      uint32_t count)
{
	struct nic_peer *p = nic_peer_of(s);
	uint32_t filled = 0;

	for (uint32_t mask = p->work ? p->work->blocked : 0; mask != 0 && filled < count;
	     mask &= mask - 1) {
		uint32_t index = (uint32_t)__builtin_ctz(mask);
		out[filled++] = (struct wire_credit_entry){
			.qp = (uint16_t)(index / NIC_QPS_PER_FUNCTION << 8 |
					 index % NIC_QPS_PER_FUNCTION),
			.limit = limit_known(p, p->work->tx[index]),
		};
	}
	return filled;
}
