/* SPDX-License-Identifier: BSD-3-Clause */
/* Recounts each account of a NIC from the state that it summarizes, and compares both. */
#include "test/support/invariants.h"

#include <stdatomic.h>
#include <string.h>

#include "nic/internal.h"
#include "nic/staged.h"
#include "rltp/endpoint_internal.h"
#include "rltp/internal.h"

#define HELD_MAX 8192

/* Message that RLTP holds, and its number of transmit entries. */
struct held {
	const struct nic_message *message;
	uint32_t entries;
};

struct tally {
	struct nic *nic;
	uint32_t held_count;
	/* per user: reserved receive buffers, promised NAPs, waiting streams in its list */
	uint32_t reserved[NIC_USERS], promised[NIC_USERS], listed[NIC_USERS];
	uint32_t waiters[NIC_USERS]; /* per user: streams that wait for a receive buffer */
	/* bit i: user i writes nonsense to its window, which is not checked */
	uint32_t hostile;
	const char *broken;
	/* each check clears the members above; the large arrays below only as far as they were
	 * used */
	uint32_t region_uses[NIC_REGIONS_MAX];
	struct held held[HELD_MAX];
};

static void must(struct tally *t, bool good, const char *text)
{
	if (!good && !t->broken)
		t->broken = text;
}

static void held_add(struct tally *t, const struct rltp_message *m, uint32_t entries)
{
	const struct nic_message *message = CONTAINER_OF(m, const struct nic_message, rltp);

	/* newest first: successive packets often belong to one message */
	for (uint32_t i = t->held_count; i-- > 0;) {
		if (t->held[i].message != message)
			continue;
		t->held[i].entries += entries;
		return;
	}
	must(t, t->held_count < HELD_MAX, "more messages than a NIC may hold");
	if (t->held_count < HELD_MAX)
		t->held[t->held_count++] = (struct held){message, entries};
}

static void list_check(struct tally *t, struct rltp_io *io, const struct tx_list *list,
		       enum tx_state state, uint32_t expected)
{
	uint32_t count = 0;
	uint64_t before_ns = 0;

	for (struct tx_entry *entry = tx_entry_first(io, list); entry && count <= io->tx_size;
	     entry = tx_entry_next(io, entry)) {
		must(t, entry->state == state, "a slot in the list of another state");
		must(t, state != TX_SENT || entry->sent_ns > before_ns,
		     "packets sent, not in order of transmission");
		before_ns = entry->sent_ns;
		count++;
	}
	must(t, count == expected && count == list->count, "a list and its slots differ");
}

static void entries_check(struct tally *t, struct rltp_session *s)
{
	uint32_t count[TX_ACKED + 1] = {0}, unacked[RLTP_FLOWS] = {0}, inflight = 0;
	struct rltp_io *io = s->io;

	for (uint32_t psn = io->tx_una; psn != s->tx_next; psn++) {
		const struct tx_entry *entry = tx_entry_at(io, psn);
		count[entry->state]++;
		must(t, entry->psn == psn, "a slot with another packet's number");
		if (entry->state == TX_ACKED)
			continue;
		held_add(t, entry->message, 1);
		unacked[entry->message->flow] += entry->message->weight;
		inflight += entry->state == TX_SENT ? entry->message->weight : 0;
	}
	must(t, count[TX_FREE] == 0, "a free slot in flight");
	list_check(t, io, &io->sent, TX_SENT, count[TX_SENT]);
	list_check(t, io, &io->lost, TX_LOST, count[TX_LOST]);
	list_check(t, io, &io->waiting, TX_WAIT, count[TX_WAIT]);
	for (int i = 0; i < RLTP_FLOWS; i++)
		must(t, io->flows[i].unacked == unacked[i], "packets in flight of a flow");
	must(t, io->inflight == inflight, "weight in flight");
	must(t, s->tx_next - io->tx_una <= io->tx_size, "more in flight than slots");
	/* the last packet, and a probe, may exceed the window, perhaps by a long frame */
	uint32_t beyond = 1 + (s->agreed > s->whole ? 2 * (s->agreed / s->whole + 1) : 0);
	must(t, io->inflight <= s->shared->window_packets + beyond,
	     "more in flight than the window and a probe");
	must(t, io->tx_una == s->tx_next || tx_entry_at(io, io->tx_una)->state != TX_ACKED,
	     "the oldest packet in flight has arrived");
	must(t, io->rack_ns <= max_u64(io->last_sent_ns, t->nic->now_ns),
	     "something arrived that was not sent yet");
}

static void flows_check(struct tally *t, const struct rltp_io *io)
{
	uint32_t active = 0;

	for (int i = 0; i < RLTP_FLOWS; i++) {
		const struct rltp_flow *f = &io->flows[i];
		active += f->head || f->unacked > 0;
		for (const struct rltp_message *m = f->head; m; m = m->next)
			held_add(t, m, 0);
		if (i == RLTP_FLOW_CONTROL)
			continue;
		uint32_t c = (uint32_t)(i - 1) / RLTP_CHANNEL_QUEUES;
		uint32_t q = (uint32_t)(i - 1) % RLTP_CHANNEL_QUEUES;
		must(t, (io->channels[c].ready >> q & 1) == (f->head != NULL), "flows ready");
	}
	must(t, io->flows_active == active, "flows active");
}

static void session_check(struct tally *t, struct rltp_session *s)
{
	if (!s->io) {
		must(t, !rltp_session_busy(s) && s->state != RLTP_HANDSHAKE,
		     "a session at rest with work");
		return;
	}
	const struct rx_map *rx = &s->io->rx;

	entries_check(t, s);
	flows_check(t, s->io);
	must(t, rx->end - rx->cum <= WIRE_WINDOW_MAX, "the receiver's map is too wide");
	must(t, !(rx->words[rx->cum % WIRE_WINDOW_MAX / 64] >> (rx->cum % 64) & 1),
	     "the next packet expected has arrived");
	bool watched = s->ready || s->heap_index != 0;
	must(t, watched || !rltp_session_busy(s), "a session with work that is never polled");
	must(t, watched || rltp_session_deadline(s) == UINT64_MAX,
	     "a session with a deadline that is never polled");
	must(t, s->state != RLTP_IDLE || !rltp_session_busy(s), "an idle session with work");
}

static void record_check(struct tally *t, const struct rx_record *r, uint32_t user,
			 uint32_t *answers)
{
	t->reserved[user] += r->reserved;
	*answers += r->answer != NULL;
	if (r->region)
		t->region_uses[r->region - t->nic->regions]++;
	must(t,
	     (r->state != RECORD_EMPTY && r->state != RECORD_ABORTED) ||
		     (!r->held && !r->region && !r->answer && !r->reserved && !r->put),
	     "an empty record holds something");
}

/* Returns the number of the stream's records in use. */
static uint32_t rx_stream_check(struct tally *t, const struct rx_stream *s, uint32_t *answers)
{
	uint32_t user = nic_stream_user(t->nic, s->index)->index, held = 0;
	uint32_t unspent = s->limit - s->accepted;

	for (uint32_t k = 0; k < NIC_STREAM_WINDOW; k++) {
		record_check(t, &s->records[k], user, answers);
		held += s->records[k].state != RECORD_EMPTY;
	}
	must(t, s->held == held, "records in use");
	must(t, unspent <= NIC_CREDIT_AHEAD_MAX && s->first_left <= unspent, "credit of a stream");
	must(t, !s->waits || unspent == 0, "a stream with credit waits for some");
	t->promised[user] += s->listed ? unspent - s->first_left : 0;
	t->listed[user] += s->listed;
	return held;
}

static void peer_check(struct tally *t, const struct nic_peer *p)
{
	uint32_t reads = 0, answers = 0, held = 0;
	const struct nic_work *w = p->work;

	if (!w) {
		must(t, p->session->awaited == 0 && p->session->partial == 0,
		     "a peer at rest that waits");
		return;
	}
	for (uint32_t i = 0; w->reads && i < NIC_READS_MAX; i++)
		reads += w->reads[i].request != NULL;
	must(t, w->read_count == reads, "read_count");
	must(t, p->session->awaited == reads + (w->blocked != 0), "awaited");
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		if (w->rx[i])
			held += rx_stream_check(t, w->rx[i], &answers);
		must(t, !w->tx[i] || w->tx[i]->next - w->tx[i]->una <= NIC_STREAM_WINDOW,
		     "more messages than a stream takes");
		must(t, (w->blocked >> i & 1) == (w->waiters[i] > 0), "who waits for credit");
	}
	for (const struct nic_staged_read *r = t->nic->staged_reads; r; r = r->next) {
		held += r->peer == p;
		answers += r->peer == p;
	}
	must(t, p->session->partial == held, "messages held in part");
	for (uint32_t i = 0; i < t->held_count; i++) {
		const struct nic_message *m = t->held[i].message;
		answers += m->peer == p && !m->stream && !m->read;
	}
	must(t, w->answers == answers, "answers");
}

static void request_check(struct tally *t, const struct nic_request *r)
{
	uint32_t pending = 0;

	for (uint16_t i = 0; i < r->local_count; i++)
		t->region_uses[r->local[i].region - t->nic->regions]++;
	for (uint16_t i = 0; r->admitted && i < r->remote_count; i++)
		if (r->remote[i].region)
			t->region_uses[r->remote[i].region - t->nic->regions]++;
	if (r->space_of)
		t->waiters[r->space_of->index] |=
			1u << (r->function->index * NIC_QPS_PER_FUNCTION + r->head.qp);
	for (uint32_t i = 0; i < t->held_count; i++)
		pending += t->held[i].message->request == r;
	for (const struct nic_peer *p = t->nic->peers; p; p = p->next) {
		const struct nic_work *w = p->work;
		for (uint32_t i = 0; w && w->reads && i < NIC_READS_MAX; i++)
			pending += w->reads[i].request == r;
		for (uint32_t i = 0; w && i < NIC_STREAMS; i++)
			for (uint32_t k = 0; w->tx[i] && k < NIC_STREAM_WINDOW; k++)
				pending += w->tx[i]->arrived[k] == r;
	}
	for (const struct staged_put *put = t->nic->puts; put; put = put->next)
		pending += put->request == r;
	for (const struct nic_staged_read *read = t->nic->staged_reads; read; read = read->next)
		pending += read->request == r;
	must(t, r->pending == pending, "pending of a request");
}

/* Each write and read of staged memory must have an owner and hold its region. */
static void staged_check(struct tally *t)
{
	uint32_t puts = 0;

	for (const struct staged_put *put = t->nic->puts; put; put = put->next, puts++) {
		t->region_uses[put->region - t->nic->regions]++;
		must(t, put->request || put->record->put == put, "a write without an owner");
		must(t, !put->held || put->record->state == RECORD_HELD,
		     "a packet is held, and its message is not");
	}
	must(t, t->nic->put_count == puts, "writes of staged memory");
	for (const struct nic_staged_read *r = t->nic->staged_reads; r; r = r->next) {
		uint32_t out = 0;
		for (uint32_t i = 0; i < t->held_count; i++)
			out += t->held[i].message->read == r;
		for (const struct nic_message *m = r->answered; m; m = m->next_free)
			out++;
		must(t, r->out == out, "outstanding pieces of a read");
		must(t, r->state != READ_OVER || out > 0, "a read that is over is still there");
		t->region_uses[r->region - t->nic->regions]++;
	}
}

static void user_check(struct tally *t, const struct nic_user *u)
{
	uint32_t unread = u->received_index - dxp_load_acquire(&u->window->received_consumer);
	uint32_t total = 0;

	must(t, u->received_reserved == t->reserved[u->index], "received_reserved");
	must(t,
	     t->hostile >> u->index & 1 ||
		     unread + u->received_reserved <= u->nic->options.receive_entries,
	     "more receive slots used than there are");
	must(t, u->promised == t->promised[u->index] && u->active_count == t->listed[u->index],
	     "the account of promised receive slots");
	must(t, u->promised <= u->nic->options.receive_entries,
	     "more receive slots promised than there are");
	for (uint32_t q = 0; q < u->qp_count; q++) {
		must(t, u->function->user_of[u->first_qp + q] == u, "the user of a queue pair");
		total += u->function->queues[u->first_qp + q].outstanding;
	}
	must(t, u->outstanding == total, "outstanding of a user");
}

static void function_check(struct tally *t, const struct nic_function *f)
{
	uint32_t total = 0;

	for (int q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		uint32_t outstanding = 0;
		for (const struct nic_request *r = f->queues[q].head; r;
		     r = r->next, outstanding++) {
			must(t, r->user == f->user_of[q] && r->user->window, "a request's user");
			request_check(t, r);
		}
		must(t,
		     f->queues[q].outstanding == outstanding && outstanding <= NIC_OUTSTANDING_MAX,
		     "outstanding");
		must(t, f->queues[q].head || !(f->busy >> q & 1), "an empty queue pair is busy");
		total += outstanding;
	}
	must(t, f->outstanding == total, "outstanding of a function");
}

const char *invariants_broken(struct nic *n)
{
	return invariants_broken_but(n, 0);
}

const char *invariants_broken_but(struct nic *n, uint32_t hostile)
{
	static struct tally t;

	memset(&t, 0, offsetof(struct tally, region_uses));
	memset(t.region_uses, 0, n->region_hint * sizeof(t.region_uses[0]));
	t.nic = n;
	t.hostile = hostile;
	for (uint32_t i = 0; i < n->endpoint->peer_count; i++)
		session_check(&t, n->endpoint->peers[i]);
	for (uint32_t i = 0; i < t.held_count; i++) {
		const struct nic_message *m = t.held[i].message;
		must(&t, m->rltp.unacked == t.held[i].entries, "unacked of a message");
		if (m->region)
			t.region_uses[m->region - n->regions]++;
	}
	for (const struct nic_peer *p = n->peers; p; p = p->next)
		peer_check(&t, p);
	for (int i = 0; i < NIC_FUNCTIONS; i++)
		function_check(&t, &n->functions[i]);
	staged_check(&t);
	for (int i = 0; i < NIC_USERS; i++) {
		must(&t, (n->users[i].window != NULL) == (n->open >> i & 1), "who is open");
		if (n->users[i].window)
			user_check(&t, &n->users[i]);
		must(&t, n->users[i].waiters == t.waiters[i], "who waits for a receive slot");
	}
	/* tests register few regions, so all of them are below region_hint */
	for (uint32_t i = 0; i < n->region_hint; i++)
		must(&t, n->regions[i].uses == t.region_uses[i], "uses of a region");
	return t.broken;
}
