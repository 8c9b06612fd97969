/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one node to one queue pair are executed in the order of their ids. Data of a PUT is
 * placed at once; only events and answers wait. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/internal.h"

struct nic_work *stream_work_get(struct nic_peer *p)
{
	if (!p->work)
		p->work = calloc(1, sizeof(*p->work));
	return p->work;
}

static struct stream_mark *mark_find(const struct nic_peer *p, uint32_t index, bool receives)
{
	for (uint32_t i = 0; i < p->mark_count; i++)
		if (p->marks[i].index == index && p->marks[i].receives == receives)
			return &p->marks[i];
	return NULL;
}

bool stream_known(const struct nic_peer *p, uint32_t index, bool receives)
{
	return mark_find(p, index, receives) != NULL;
}

/* Allocated before the stream, so that becoming idle needs no memory. */
static struct stream_mark *mark_get(struct nic_peer *p, uint32_t index, bool receives)
{
	struct stream_mark *mark = mark_find(p, index, receives);

	if (mark)
		return mark;
	struct stream_mark *marks = realloc(p->marks, (p->mark_count + 1) * sizeof(*marks));
	if (!marks)
		return NULL;
	p->marks = marks;
	mark = &marks[p->mark_count++];
	*mark = (struct stream_mark){.index = (uint8_t)index, .receives = receives};
	if (receives)
		mark->unspent = peer_nic(p)->options.nap_credit;
	return mark;
}

static struct rx_stream *rx_stream_create(struct nic_peer *p, uint32_t index)
{
	const struct stream_mark *mark = stream_work_get(p) ? mark_get(p, index, true) : NULL;
	struct rx_stream *s = mark ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->peer = p;
	s->index = (uint8_t)index;
	s->next = mark->next;
	s->accepted = mark->counted;
	s->limit = mark->counted + mark->unspent;
	s->first_left = mark->unspent;
	s->low = mark->unspent / 2;
	p->work->rx[index] = s;
	return s;
}

struct rx_stream *stream_rx_get(struct nic_peer *p, uint32_t index)
{
	struct rx_stream *s = p->work ? p->work->rx[index] : NULL;

	return s ? s : rx_stream_create(p, index);
}

static struct tx_stream *tx_stream_create(struct nic_peer *p, uint32_t index)
{
	const struct stream_mark *mark = stream_work_get(p) ? mark_get(p, index, false) : NULL;
	struct tx_stream *t = mark ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->next = t->una = mark->next;
	t->naps = mark->counted;
	t->limit = mark->counted + mark->unspent;
	t->credited = mark->credited;
	p->work->tx[index] = t;
	return t;
}

struct tx_stream *stream_tx_get(struct nic_peer *p, uint32_t index)
{
	struct tx_stream *t = p->work ? p->work->tx[index] : NULL;

	return t ? t : tx_stream_create(p, index);
}

void stream_tx_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived)
{
	uint32_t index = id % NIC_STREAM_WINDOW;

	t->arrived[index] = arrived;
	t->done[index / 64] |= 1ull << (index % 64);
	while (t->una != t->next) {
		uint32_t first = t->una % NIC_STREAM_WINDOW;
		uint64_t bit = 1ull << (first % 64);
		if (!(t->done[first / 64] & bit))
			break;
		t->done[first / 64] &= ~bit;
		t->una++;
		if (t->arrived[first])
			request_finished(t->arrived[first], DXP_OK);
		t->arrived[first] = NULL;
	}
}

static void record_execute(struct nic_peer *p, uint32_t index, struct rx_record *r)
{
	struct nic_user *u = nic_stream_user(peer_nic(p), index);
	struct dxp_nic_event event = {
		.context = r->trailer,
		.imm = r->imm,
		.bytes = r->bytes,
		.qp = user_qp(u, index % NIC_QPS_PER_FUNCTION),
		.node = p->node,
		.peer_qp = (uint16_t)r->src_qp,
		.type = r->type == WIRE_NAP ? DXP_EVENT_NAP : DXP_EVENT_PUT,
	};

	if (r->reserved) {
		event_received_unreserve(u);
		event_received_write(u, &event, r->held);
	} else if (r->type == WIRE_GET_REQ) {
		read_get_execute(p, index, r);
	} else if (r->type == WIRE_ATOMIC) {
		atomic_answer(p, index, r);
	} else if (r->type == WIRE_CFG_RD || r->type == WIRE_CFG_WR) {
		read_cfg_execute(p, index, r);
	}
}

void stream_record_enter(struct rx_stream *stream, struct rx_record *r, enum record_state state)
{
	if (r->state == RECORD_EMPTY) {
		stream->held++;
		rltp_session_held(stream->peer->session);
	}
	r->state = (uint8_t)state;
}

void stream_record_clear(struct rx_stream *stream, struct rx_record *r, bool executed)
{
	struct nic_peer *p = stream->peer;

	if (r->reserved && !executed)
		event_received_unreserve(nic_stream_user(peer_nic(p), stream->index));
	staged_record_clear(peer_nic(p), r);
	if (r->region)
		r->region->uses--;
	if (r->answer) {
		p->work->answers--;
		pool_message_put(peer_nic(p), r->answer);
	}
	pool_buffer_put(peer_nic(p), r->held);
	if (r->state != RECORD_EMPTY) {
		stream->held--;
		rltp_session_released(p->session);
	}
	*r = (struct rx_record){0};
}

void stream_rx_run(struct rx_stream *stream)
{
	while (stream->held > 0) {
		struct rx_record *r = &stream->records[stream->next % NIC_STREAM_WINDOW];
		if (r->state != RECORD_WHOLE && r->state != RECORD_ABORTED)
			return;
		bool execute = r->state == RECORD_WHOLE;
		if (execute)
			record_execute(stream->peer, stream->index, r);
		stream_record_clear(stream, r, execute);
		stream->next++;
	}
}

static void rx_stream_fail(struct rx_stream *s)
{
	for (uint32_t k = 0; k < NIC_STREAM_WINDOW && s->held > 0; k++)
		stream_record_clear(s, &s->records[k], false);
	credit_forget(s);
	free(s);
}

static void tx_stream_fail(struct tx_stream *t, int status)
{
	for (uint32_t k = 0; k < NIC_STREAM_WINDOW; k++)
		if (t->arrived[k])
			request_finished(t->arrived[k], status);
	free(t);
}

static void work_free(struct nic_peer *p)
{
	free(p->work->reads);
	free(p->work);
	p->work = NULL;
}

void stream_peer_fail(struct nic_peer *p, int status)
{
	struct nic_work *w = p->work;

	for (uint32_t i = 0; w && i < NIC_STREAMS; i++) {
		if (w->rx[i])
			rx_stream_fail(w->rx[i]);
		if (w->tx[i])
			tx_stream_fail(w->tx[i], status);
		w->rx[i] = NULL;
		w->tx[i] = NULL;
	}
	/* Unsent requests that wait for credit were posted for this session, so they fail too. */
	requests_fail(peer_nic(p), p->node, status);
	if (w)
		work_free(p);
	free(p->marks);
	p->marks = NULL;
	p->mark_count = 0;
}

static void mark_set(struct stream_mark *mark, uint32_t next, uint32_t counted, uint32_t limit)
{
	uint32_t unspent = limit - counted;

	mark->next = next;
	mark->counted = counted;
	mark->unspent = (uint16_t)(unspent < UINT16_MAX ? unspent : UINT16_MAX);
}

void stream_peer_rest(struct nic_peer *p)
{
	struct nic_work *w = p->work;

	if (!w)
		return;
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		struct rx_stream *r = w->rx[i];
		struct tx_stream *t = w->tx[i];
		if (r) {
			mark_set(mark_find(p, i, true), r->next, r->accepted, r->limit);
			credit_forget(r);
			free(r);
		}
		if (t) {
			struct stream_mark *mark = mark_find(p, i, false);
			mark_set(mark, t->next, t->naps, t->limit);
			mark->credited = t->credited;
			free(t);
		}
	}
	work_free(p);
}

void stream_record_abort(struct rx_stream *stream, struct rx_record *r, bool counted)
{
	if (counted)
		credit_use(stream);
	stream_record_clear(stream, r, false);
	stream_record_enter(stream, r, RECORD_ABORTED);
	stream_rx_run(stream);
}

bool stream_packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h)
{
	struct nic_peer *p = nic_peer_of(s);
	uint32_t index = nic_stream_index(h->dst_function, h->dst_qp);

	if (!p || index == NIC_STREAMS)
		return true;
	/* the RESYNC of an answer */
	if (h->qp_magic == 0) {
		read_cancel(p, h->msg_id, send_answer_status(h->key));
		return true;
	}
	struct rx_stream *stream = stream_rx_get(p, index);
	if (!stream)
		return false; /* not handled: later messages would wait forever */
	if (h->msg_id - stream->next >= NIC_STREAM_WINDOW)
		return true;
	struct rx_record *r = &stream->records[h->msg_id % NIC_STREAM_WINDOW];
	/* The sender counts the message as sent, even if none of its packets was accepted. */
	stream_record_abort(stream, r, r->state == RECORD_EMPTY && h->flags & WIRE_FLAG_SOL);
	return true;
}
