/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, stops and closes users.
 *
 * A stop or close ends all operations at once, so the user's memory waits for no peer. Incomplete
 * messages of its streams, in both directions, count as given up, so ids stay valid. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"

void nic_function_init(struct nic *n, uint32_t function)
{
	struct nic_function *f = &n->functions[function];

	f->nic = n;
	f->index = function;
	f->weight = 1;
	for (uint8_t q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		struct nic_user *u = &n->users[NIC_USER(function, q)];
		u->nic = n;
		u->function = f;
		u->index = NIC_USER(function, q);
		u->first_qp = q;
		f->user_of[q] = u;
		f->order.at[q] = q;
	}
}

bool function_serves(const struct nic_function *f)
{
	for (uint32_t open = f->open; open; open &= open - 1)
		if (user_serves(f->user_of[__builtin_ctz(open)]))
			return true;
	return false;
}

static uint32_t user_streams(const struct nic_user *u)
{
	return ((1u << u->qp_count) - 1)
	       << nic_stream_index((uint8_t)u->function->index, u->first_qp);
}

static void magics_forget(struct nic_user *u)
{
	struct nic *n = u->nic;

	for (struct nic_peer *p = n->peers; p; p = p->next)
		guess_magics_forget(&p->guesses, user_streams(u));
	for (uint32_t i = 0; i < NIC_USERS; i++)
		guess_magics_forget(&n->users[i].guesses, user_streams(u));
}

static void magics_make(struct nic_user *u)
{
	uint32_t *magics = &u->function->qp_magic[u->first_qp];
	struct nic *n = u->nic;

	n->options.entropy(n->options.entropy_context, magics, u->qp_count * sizeof(*magics));
	for (uint8_t q = 0; q < u->qp_count; q++) {
		if (magics[q] == 0)
			magics[q] = 1; /* 0 is reserved for answers */
		u->window->qp_magic[q] = magics[q];
	}
}

static void window_begin(const struct nic_user *u)
{
	struct dxp_window *w = u->window;

	w->magic = DXP_WINDOW_MAGIC;
	w->version = DXP_WINDOW_VERSION;
	w->bytes = sizeof(*w);
	w->function = u->function->index;
	w->first_qp = u->first_qp;
	w->qp_count = u->qp_count;
	dxp_store_release(&w->node, u->nic->options.node);
	dxp_store_release(&w->state, DXP_FUNCTION_OPEN);
}

/* DXP_EEXIST: a queue pair is open. DXP_EBUSY: operations still use regions of the last user. */
static int user_available(const struct nic *n, uint32_t user, uint32_t qps)
{
	int status = DXP_OK;

	for (uint32_t q = 0; q < qps; q++) {
		const struct nic_function *f = &n->functions[user % NIC_FUNCTIONS];
		uint32_t qp = user / NIC_FUNCTIONS + q;
		if (f->user_of[qp]->window)
			return DXP_EEXIST;
		if (!nic_user_idle(n, NIC_USER(f->index, qp)))
			status = DXP_EBUSY;
	}
	return status;
}

int nic_user_open(struct nic *n, uint32_t user, uint32_t qps, struct dxp_window *w)
{
	if (user >= NIC_USERS || qps == 0 || qps > NIC_QPS_PER_FUNCTION - user / NIC_FUNCTIONS)
		return DXP_EINVAL;
	int status = user_available(n, user, qps);
	if (status != DXP_OK)
		return status;
	struct nic_user *u = &n->users[user];
	struct nic_function *f = u->function;
	u->window = w;
	u->qp_count = (uint8_t)qps;
	for (uint32_t q = 0; q < qps; q++)
		f->user_of[u->first_qp + q] = u;
	f->open |= (uint8_t)(1u << u->first_qp);
	n->open |= 1u << user;
	u->guesses.node = 0;
	guess_forget(&u->guesses);
	magics_forget(u);
	magics_make(u);
	share_weights_sum(n);
	buffers_open(u);
	window_begin(u);
	limit_apply(f);
	return DXP_OK;
}

int nic_function_open(struct nic *n, uint32_t function, struct dxp_window *w)
{
	return function < NIC_FUNCTIONS ? nic_user_open(n, function, NIC_QPS_PER_FUNCTION, w)
					: DXP_EINVAL;
}

/* A user that reads the new state also reads the reason. */
static void window_end(struct dxp_window *w, int status, enum dxp_function_state state)
{
	dxp_store_release(&w->error, (uint32_t)-status);
	dxp_store_release(&w->state, state);
}

static void message_visit(void *context, struct rltp_message *rltp)
{
	struct nic_message *m = CONTAINER_OF(rltp, struct nic_message, rltp);
	const struct nic_user *u = context;

	if ((m->request && m->request->user == u) || (m->region && m->region->user == u->index) ||
	    staged_answers(m, u))
		send_message_withdraw(m, DXP_ECLOSED);
}

/* Gives up incomplete messages to a queue pair, and rejects requests for data. */
static void rx_stream_end(struct rx_stream *s)
{
	for (uint32_t k = 0; k < NIC_STREAM_WINDOW && s->held > 0; k++) {
		struct rx_record *r = &s->records[k];
		if (r->state == RECORD_EMPTY || r->state == RECORD_ABORTED)
			continue;
		if (r->answer)
			read_answer_refuse(s->peer, r, DXP_ECLOSED);
		stream_record_clear(s, r, false);
		stream_record_enter(s, r, RECORD_ABORTED);
	}
	credit_forget(s);
	stream_rx_run(s);
}

static void tx_stream_forget(struct tx_stream *t, const struct nic_user *u)
{
	for (uint32_t k = 0; k < NIC_STREAM_WINDOW; k++)
		if (t->arrived[k] && t->arrived[k]->user == u)
			t->arrived[k] = NULL;
}

static void peer_forget(struct nic_peer *p, struct nic_user *u)
{
	struct nic_work *w = p->work;

	if (!w)
		return;
	rltp_session_messages(p->session, message_visit, u);
	reads_forget(p, u);
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		if (w->tx[i])
			tx_stream_forget(w->tx[i], u);
		if (w->rx[i] && nic_stream_user(u->nic, i) == u)
			rx_stream_end(w->rx[i]);
	}
}

static void user_end(struct nic_user *u)
{
	struct nic *n = u->nic;

	for (struct nic_peer *p = n->peers; p; p = p->next)
		peer_forget(p, u);
	staged_reads_end(n, u);
	staged_local_end(n, u);
	local_forget(n, u);
	requests_drop(u);
	n->stops &= ~(1u << u->index);
	n->space = true; /* others may wait for what the user held */
}

void user_stop(struct nic_user *u, int status)
{
	if (u->stopped)
		return;
	u->stopped = true;
	limit_apply(u->function);
	u->nic->stops |= 1u << u->index;
	u->nic->events_new |= 1u << u->index;
	window_end(u->window, status, DXP_FUNCTION_STOPPED);
}

void users_settle(struct nic *n)
{
	for (uint32_t stops = n->stops; stops; stops &= stops - 1)
		user_end(&n->users[__builtin_ctz(stops)]);
}

struct reclaimed {
	const uint8_t *base;
	uint64_t bytes;
};

static void reclaim_visit(void *context, struct rltp_message *rltp)
{
	struct nic_message *m = CONTAINER_OF(rltp, struct nic_message, rltp);
	const struct reclaimed *r = context;

	if (m->region && m->region->guarded && m->data < r->base + r->bytes &&
	    r->base < m->data + m->rltp.bytes)
		send_message_withdraw(m, DXP_EACCESS);
}

void nic_memory_reclaim(struct nic *n, const uint8_t *base, uint64_t bytes, uint64_t now_ns)
{
	struct reclaimed reclaimed = {base, bytes};

	n->now_ns = now_ns;
	for (struct nic_peer *p = n->peers; p; p = p->next)
		if (p->work && p->work->answers > 0)
			rltp_session_messages(p->session, reclaim_visit, &reclaimed);
}

static void user_clear(struct nic_user *u)
{
	struct nic_function *f = u->function;
	struct nic *n = u->nic;

	for (uint32_t q = u->first_qp; q < (uint32_t)u->first_qp + u->qp_count; q++) {
		f->user_of[q] = &n->users[NIC_USER(f->index, q)];
		f->counters[q] = (struct nic_qp_counters){0};
		f->qp_magic[q] = 0;
	}
	f->open &= (uint8_t) ~(1u << u->first_qp);
	n->open &= ~(1u << u->index);
	free(u->registers);
	*u = (struct nic_user){.nic = n, .function = f, .index = u->index, .first_qp = u->first_qp};
}

int nic_user_close(struct nic *n, uint32_t user, int status, uint64_t now_ns)
{
	struct nic_user *u = user < NIC_USERS ? &n->users[user] : NULL;

	if (!u || !u->window)
		return DXP_ENOENT;
	n->now_ns = now_ns;
	struct dxp_window *w = u->window;
	user_end(u);
	regions_revoke(n, user);
	user_clear(u);
	/* The node sets weight and limit of a function; both stay. */
	if (!u->function->open) {
		u->function->limit.waits = 0;
		u->function->gathers = false;
	}
	share_weights_sum(n);
	limit_apply(u->function);
	window_end(w, status == DXP_OK ? DXP_ECLOSED : status, DXP_FUNCTION_CLOSED);
	return DXP_OK;
}

bool nic_user_idle(const struct nic *n, uint32_t user)
{
	return user < NIC_USERS && !n->users[user].window && !regions_busy(n, user);
}

enum dxp_function_state nic_user_state(const struct nic *n, uint32_t user)
{
	const struct nic_user *u = &n->users[user];

	if (u->window)
		return u->stopped ? DXP_FUNCTION_STOPPED : DXP_FUNCTION_OPEN;
	return nic_user_idle(n, user) ? 0 : DXP_FUNCTION_CLOSED;
}

const struct dxp_window *nic_user_window(const struct nic *n, uint32_t user)
{
	return n->users[user].window;
}

uint32_t nic_user_qps(const struct nic *n, uint32_t user)
{
	return n->users[user].qp_count;
}

uint32_t nic_qp_magic(const struct nic *n, uint32_t function, uint32_t qp)
{
	const struct nic_function *f = &n->functions[function];

	return f->user_of[qp]->window ? f->qp_magic[qp] : 0;
}

uint32_t nic_user_labelled(const struct nic *n, const char *label)
{
	uint32_t i = 0;

	while (i < NIC_USERS && strcmp(n->users[i].label, label) != 0)
		i++;
	return *label ? i : NIC_USERS;
}

int nic_user_label(struct nic *n, uint32_t user, const char label[FABRIC_NAME_BYTES])
{
	uint32_t other = nic_user_labelled(n, label);

	if (other < NIC_USERS && other != user)
		return DXP_EEXIST;
	strncpy(n->users[user].label, label, FABRIC_NAME_BYTES - 1);
	return DXP_OK;
}

const char *nic_user_label_of(const struct nic *n, uint32_t user)
{
	return n->users[user].label;
}
