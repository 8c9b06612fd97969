/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank with a single operation runs ahead of the clock: nothing else uses its processor, and
 * messages name their sender, so the order has no influence. NIC servers, and ranks with several
 * operations, need events by time. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/ranks_state.h"

#define TIME_MAX 1000000000000000000ll /* 11 days */

enum event_kind {
	EVENT_SENT,     /* reaches the transmit server */
	EVENT_ARRIVED,  /* reaches the receive server */
	EVENT_RECEIVED, /* can complete */
	EVENT_READY     /* can start */
};

struct rank {
	int64_t cpu_ps;  /* when the processor is free */
	uint32_t active; /* operations ready or in progress */
	uint32_t left;
};

struct server {
	/* [0] transmit, [1] receive server: when it is free; how long it was busy */
	int64_t free_ps[2], busy_ps[2];
};

struct ready {
	int64_t at_ps;
	uint32_t rank, op;
};

struct run {
	const struct model_schedule *schedule;
	const struct model_network *network;
	struct model_ranks_result result;
	struct match match;
	struct model_queue queue;
	struct rank *ranks;
	struct server *servers;
	/* of a schedule from text, by operation: incomplete requirements */
	uint32_t *unmet;
	struct ready *stack;
	uint32_t depth, space;
	int64_t now_ps;
	int status; /* of the first failed allocation */
};

static void post_event(struct run *r, int64_t at_ps, enum event_kind kind, uint32_t index)
{
	if (model_queue_add(&r->queue, (uint64_t)at_ps, (uint32_t)kind, index) == 0)
		r->status = DXP_ENOMEM;
}

static uint32_t entry_new(struct run *r, const struct entry *e)
{
	uint32_t index = model_match_new(&r->match, e);

	if (index == NO_ENTRY)
		r->status = DXP_ENOMEM;
	return index;
}

static void stack_push(struct run *r, uint32_t rank, uint32_t op, int64_t at_ps)
{
	if (r->depth == r->space) {
		uint32_t space = r->space ? r->space * 2 : 1024;
		void *stack = realloc(r->stack, space * sizeof(*r->stack));
		if (!stack) {
			r->status = DXP_ENOMEM;
			return;
		}
		r->stack = stack;
		r->space = space;
	}
	r->stack[r->depth++] = (struct ready){at_ps, rank, op};
}

/* Starts operations whose last requirement is complete. */
static void successors_start(struct run *r, uint32_t rank, uint32_t op, int64_t at_ps)
{
	const struct model_requirements *q = r->schedule->requirements;
	uint32_t first = q->first[rank], all = first + op, only = 0, started = 0;

	for (uint32_t i = q->next[all]; i < q->next[all + 1]; i++)
		if (--r->unmet[q->after[i]] == 0) {
			only = q->after[i] - first;
			started++;
		}
	r->ranks[rank].active += started;
	if (started == 1 && r->ranks[rank].active == 1) {
		stack_push(r, rank, only, at_ps);
		return;
	}
	for (uint32_t i = q->next[all]; started > 0 && i < q->next[all + 1]; i++) {
		uint32_t next = q->after[i];
		struct entry e = {.to = rank, .receive_op = next - first};
		if (r->unmet[next] != 0)
			continue;
		r->unmet[next] = UINT32_MAX; /* marks it as started */
		uint32_t index = entry_new(r, &e);
		if (index != NO_ENTRY)
			post_event(r, at_ps, EVENT_READY, index);
	}
}

static void op_complete(struct run *r, uint32_t rank, uint32_t op, int64_t at_ps)
{
	struct rank *k = &r->ranks[rank];

	k->left--;
	k->active--;
	if (r->schedule->requirements) {
		successors_start(r, rank, op, at_ps);
	} else if (k->left > 0) {
		k->active++;
		stack_push(r, rank, op + 1, at_ps);
	}
}

/* Rejects longer times, which could overflow. */
static int64_t time_check(struct run *r, int64_t at_ps)
{
	if (at_ps > TIME_MAX && r->status == DXP_OK)
		r->status =
			error_set(DXP_EINVAL, "the schedule lasts longer than 11 days; shorten it");
	return at_ps;
}

/* Occupies the processor from `at_ps` on; returns when it is free again. */
static int64_t cpu_use(struct run *r, uint32_t rank, int64_t at_ps, int64_t for_ps)
{
	struct rank *k = &r->ranks[rank];

	k->cpu_ps = (k->cpu_ps > at_ps ? k->cpu_ps : at_ps) + for_ps;
	return time_check(r, k->cpu_ps);
}

static int64_t server_use(struct run *r, uint32_t server, int receive, int64_t for_ps)
{
	struct server *s = &r->servers[server];
	int64_t begin = s->free_ps[receive] > r->now_ps ? s->free_ps[receive] : r->now_ps;

	s->busy_ps[receive] += for_ps;
	s->free_ps[receive] = begin + for_ps;
	if (s->busy_ps[receive] > r->result.busy_ps)
		r->result.busy_ps = s->busy_ps[receive];
	return time_check(r, s->free_ps[receive]);
}

static struct model_path path_of(const struct run *r, const struct entry *e)
{
	struct model_path path;

	r->network->path(r->network, e->from, e->to, e->bytes, &path);
	return path;
}

/* Completes a receive with a receive_op, and frees the entry. If the message is later and the rank
 * has other operations, posts an event instead. */
static void receive_complete(struct run *r, uint32_t index)
{
	struct entry e = r->match.entries[index];
	struct model_path path = path_of(r, &e);

	if (r->ranks[e.to].active > 1 && e.at_ps > r->now_ps) {
		post_event(r, e.at_ps, EVENT_RECEIVED, index);
		return;
	}
	model_match_free(&r->match, index);
	op_complete(r, e.to, e.receive_op, cpu_use(r, e.to, e.at_ps, path.receive_ps));
}

/* Permits the message; the permission needs the network's latency. */
static void grant(struct run *r, uint32_t index)
{
	struct entry *e = &r->match.entries[index];

	e->request = 0;
	e->granted = 1;
	post_event(r, e->at_ps + path_of(r, e).latency_ps, EVENT_SENT, index);
}

/* Handles a message or its announcement, at e->at_ps. */
static void deliver(struct run *r, uint32_t index)
{
	struct entry *e = &r->match.entries[index];

	if (!e->granted) {
		uint32_t receive = model_match_find(&r->match, e->from, e->to, e->tag, true);
		if (receive == NO_ENTRY) {
			model_match_store(&r->match, index);
			return;
		}
		const struct entry *posted = &r->match.entries[receive];
		e->receive_op = posted->receive_op;
		e->at_ps = posted->at_ps > e->at_ps ? posted->at_ps : e->at_ps;
		model_match_free(&r->match, receive);
	}
	if (e->request)
		grant(r, index);
	else
		receive_complete(r, index);
}

static void send_start(struct run *r, uint32_t rank, uint32_t op, const struct model_task *o,
		       int64_t at_ps)
{
	struct entry e = {
		.from = rank, .to = o->peer, .tag = o->tag, .bytes = o->bytes, .send_op = op};
	struct model_path path = path_of(r, &e);
	int64_t sent_ps = cpu_use(r, rank, at_ps, path.send_ps);
	uint64_t limit = r->network->rendezvous_bytes;
	bool remote = path.transmit != MODEL_NO_SERVER || path.receive != MODEL_NO_SERVER;

	e.request = limit != 0 && o->bytes > limit;
	e.at_ps = sent_ps + path.latency_ps;
	r->result.messages++;
	r->result.remote += remote;
	uint32_t index = entry_new(r, &e);
	if (index == NO_ENTRY)
		return;
	if (remote && !e.request)
		post_event(r, sent_ps, EVENT_SENT, index);
	if (!e.request)
		op_complete(r, rank, op, sent_ps);
	if (!remote || e.request)
		deliver(r, index);
}

static void receive_start(struct run *r, uint32_t rank, uint32_t op, const struct model_task *o,
			  int64_t at_ps)
{
	uint32_t index = model_match_find(&r->match, o->peer, rank, o->tag, false);
	struct entry e = {.from = o->peer,
			  .to = rank,
			  .tag = o->tag,
			  .at_ps = at_ps,
			  .receive_op = op,
			  .receive = 1};

	if (index == NO_ENTRY) {
		index = entry_new(r, &e);
		if (index != NO_ENTRY)
			model_match_store(&r->match, index);
		return;
	}
	struct entry *m = &r->match.entries[index];
	m->receive_op = op;
	m->at_ps = m->at_ps > at_ps ? m->at_ps : at_ps;
	if (m->request)
		grant(r, index);
	else
		receive_complete(r, index);
}

static void op_start(struct run *r, const struct ready *ready)
{
	struct model_task o;

	r->schedule->op(r->schedule, ready->rank, ready->op, &o);
	if (o.kind == MODEL_SEND)
		send_start(r, ready->rank, ready->op, &o, ready->at_ps);
	else if (o.kind == MODEL_RECEIVE)
		receive_start(r, ready->rank, ready->op, &o, ready->at_ps);
	else
		op_complete(r, ready->rank, ready->op,
			    cpu_use(r, ready->rank, ready->at_ps, (int64_t)o.bytes));
}

static void stack_drain(struct run *r)
{
	while (r->depth > 0 && r->status == DXP_OK) {
		struct ready ready = r->stack[--r->depth];
		op_start(r, &ready);
	}
}

/* Handles a message that leaves the transmit server, or needs none. */
static void event_sent(struct run *r, uint32_t index)
{
	struct entry e = r->match.entries[index];
	struct model_path path = path_of(r, &e);
	int64_t left_ps = r->now_ps;

	if (path.transmit != MODEL_NO_SERVER)
		left_ps = server_use(r, path.transmit, 0, path.service_ps);
	post_event(r, left_ps + path.latency_ps, EVENT_ARRIVED, index);
	if (e.granted)
		op_complete(r, e.from, e.send_op, left_ps);
}

static void event_arrived(struct run *r, uint32_t index)
{
	struct entry *e = &r->match.entries[index];
	struct model_path path = path_of(r, e);

	e->at_ps = r->now_ps;
	if (path.receive != MODEL_NO_SERVER)
		e->at_ps = server_use(r, path.receive, 1, path.service_ps);
	deliver(r, index);
}

static void event_handle(struct run *r, uint32_t kind, uint32_t index)
{
	struct entry e = r->match.entries[index];

	r->result.events++;
	switch ((enum event_kind)kind) {
	case EVENT_SENT: event_sent(r, index); break;
	case EVENT_ARRIVED: event_arrived(r, index); break;
	case EVENT_RECEIVED: receive_complete(r, index); break;
	case EVENT_READY:
		model_match_free(&r->match, index);
		stack_push(r, e.to, e.receive_op, r->now_ps);
		break;
	}
}

static void rank_begin(struct run *r, uint32_t rank)
{
	const struct model_requirements *q = r->schedule->requirements;
	struct rank *k = &r->ranks[rank];

	k->left = r->schedule->count(r->schedule, rank);
	if (k->left == 0)
		return;
	if (!q) {
		k->active = 1;
		stack_push(r, rank, 0, 0);
		return;
	}
	for (uint32_t i = 0; i < k->left; i++)
		k->active += q->unmet[q->first[rank] + i] == 0;
	for (uint32_t i = k->left; i-- > 0;)
		if (q->unmet[q->first[rank] + i] == 0)
			stack_push(r, rank, i, 0);
}

/* Reports the first operation that never completes. */
static int stuck(const struct run *r)
{
	const struct entry *e = model_match_any(&r->match, true);

	if (e)
		return error_set(
			DXP_EINVAL,
			"rank %u waits for a message of rank %u with tag %u, which is never "
			"sent",
			e->to, e->from, e->tag);
	e = model_match_any(&r->match, false);
	if (e)
		return error_set(DXP_EINVAL,
				 "rank %u never receives the message of rank %u with tag %u", e->to,
				 e->from, e->tag);
	for (uint32_t i = 0; i < r->schedule->ranks; i++)
		if (r->ranks[i].left > 0)
			return error_set(DXP_EINVAL,
					 "operations of rank %u require each other in a circle", i);
	return DXP_OK;
}

static int run_open(struct run *r)
{
	const struct model_schedule *s = r->schedule;
	int status = model_match_open(&r->match, s->ranks);

	r->ranks = calloc(s->ranks, sizeof(*r->ranks));
	r->servers = calloc(max_u32(r->network->servers, 1), sizeof(*r->servers));
	if (status != DXP_OK || !r->ranks || !r->servers)
		return DXP_ENOMEM;
	if (s->requirements) {
		uint32_t ops = s->requirements->first[s->ranks];
		r->unmet = malloc(max_u32(ops, 1) * sizeof(*r->unmet));
		if (!r->unmet)
			return DXP_ENOMEM;
		memcpy(r->unmet, s->requirements->unmet, ops * sizeof(*r->unmet));
	}
	return model_queue_create(&r->queue, s->ranks);
}

static void run_close(struct run *r)
{
	model_match_close(&r->match);
	free(r->ranks);
	free(r->servers);
	free(r->unmet);
	free(r->stack);
	model_queue_destroy(&r->queue);
}

static void run_all(struct run *r)
{
	struct model_event event;

	for (uint32_t i = 0; i < r->schedule->ranks && r->status == DXP_OK; i++) {
		rank_begin(r, i);
		stack_drain(r);
	}
	while (r->status == DXP_OK && model_queue_next(&r->queue, &event)) {
		r->now_ps = (int64_t)event.at_ps;
		event_handle(r, event.kind, event.subject);
		stack_drain(r);
	}
}

static void result_fill(struct run *r, uint32_t counted, int64_t *done_ps)
{
	double sum = 0;

	r->result.first_ps = INT64_MAX;
	for (uint32_t i = 0; i < r->schedule->ranks; i++) {
		int64_t at = r->ranks[i].cpu_ps;
		if (done_ps)
			done_ps[i] = at;
		if (i >= counted)
			continue;
		sum += (double)at;
		r->result.first_ps = at < r->result.first_ps ? at : r->result.first_ps;
		r->result.last_ps = at > r->result.last_ps ? at : r->result.last_ps;
	}
	r->result.mean_ps = sum / counted;
}

int model_ranks_run(const struct model_schedule *schedule, const struct model_network *network,
		    uint32_t counted, int64_t *done_ps, struct model_ranks_result *out)
{
	struct run r = {.schedule = schedule, .network = network};
	int status = run_open(&r);

	if (status == DXP_OK) {
		run_all(&r);
		status = r.status == DXP_OK ? stuck(&r) : r.status;
	}
	if (status == DXP_OK) {
		result_fill(&r, counted ? counted : schedule->ranks, done_ps);
		*out = r.result;
	}
	run_close(&r);
	return status;
}

static void flat_path(const struct model_network *network, uint32_t from, uint32_t to,
		      uint64_t bytes, struct model_path *out)
{
	const struct model_flat_network *n =
		CONTAINER_OF(network, const struct model_flat_network, network);
	int64_t overhead_ps = n->overhead_ps * (int64_t)bytes;

	*out = (struct model_path){
		.send_ps = n->send_ps + overhead_ps,
		.receive_ps = n->receive_ps + overhead_ps,
		.latency_ps = n->latency_ps,
		/* LogGP: the last of M bytes follows the first by (M - 1) G. */
		.service_ps = n->gap_ps + n->byte_ps * (int64_t)(bytes ? bytes - 1 : 0),
		.transmit = from,
		.receive = MODEL_NO_SERVER,
	};
}

void model_flat_network(struct model_flat_network *n, uint32_t ranks)
{
	n->network.servers = ranks;
	n->network.path = flat_path;
}
