/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a function on a window, stops it when its user breaks the rules, closes it when its user is
 * gone.
 *
 * Operations end at once and locally, so that no memory waits for a peer: requests are dropped,
 * messages are withdrawn from RLTP, reads are forgotten. Peers stay in step, because each begun
 * message, in either direction, ends as a given-up one. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "nic/internal.h"

/* Forgets the old magics of a function, for all requesters. */
static void magics_forget(struct nic *n, uint32_t function)
{
	uint32_t streams = ((1u << NIC_QPS_PER_FUNCTION) - 1) << function * NIC_QPS_PER_FUNCTION;

	for (struct nic_peer *p = n->peers; p; p = p->next)
		guess_magics_forget(&p->guesses, streams);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		guess_magics_forget(&n->functions[i].guesses, streams);
}

int nic_function_open(struct nic *n, uint32_t function, struct dxp_window *w)
{
	if (function >= NIC_FUNCTIONS)
		return DXP_EINVAL;
	struct nic_function *f = &n->functions[function];
	if (f->window)
		return DXP_EEXIST;
	if (!nic_function_idle(n, function))
		return DXP_EBUSY;
	f->window = w;
	guess_forget(&f->guesses);
	magics_forget(n, function);
	f->unordered = false;
	f->cfg_node = 0;
	share_weights_sum(n);
	n->options.entropy(n->options.entropy_context, f->qp_magic, sizeof(f->qp_magic));
	for (int q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		if (f->qp_magic[q] == 0)
			f->qp_magic[q] = 1; /* 0 marks answers */
	for (uint8_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		f->order.at[q] = q;
	buffers_open(f);
	w->magic = DXP_WINDOW_MAGIC;
	w->version = DXP_WINDOW_VERSION;
	w->bytes = sizeof(*w);
	w->function = function;
	memcpy(w->qp_magic, f->qp_magic, sizeof(w->qp_magic));
	dxp_store_release(&w->node, n->options.node);
	dxp_store_release(&w->state, DXP_FUNCTION_OPEN);
	limit_apply(f);
	return DXP_OK;
}

/* Stores the reason first: a user that sees the state finds it. */
static void window_end(struct dxp_window *w, int status, enum dxp_function_state state)
{
	dxp_store_release(&w->error, (uint32_t)-status);
	dxp_store_release(&w->state, state);
}

/* Withdraws a message in RLTP if it belongs to a request of this function or answers out of its
 * memory. */
static void message_visit(void *context, struct rltp_message *rltp)
{
	struct nic_message *m = CONTAINER_OF(rltp, struct nic_message, rltp);
	const struct nic_function *f = context;

	if ((m->request && m->request->function == f) ||
	    (m->region && m->region->function == f->index) || staged_answers(m, f))
		send_message_withdraw(m, DXP_ECLOSED);
}

/* Ends messages to the function: drops arrived parts and rejects requests for data. Their ids count
 * as given up. */
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

static void tx_stream_forget(struct tx_stream *t, const struct nic_function *f)
{
	for (uint32_t k = 0; k < NIC_STREAM_WINDOW; k++)
		if (t->arrived[k] && t->arrived[k]->function == f)
			t->arrived[k] = NULL;
}

static void peer_forget(struct nic_peer *p, struct nic_function *f)
{
	struct nic_work *w = p->work;

	if (!w)
		return;
	rltp_session_messages(p->session, message_visit, f);
	reads_forget(p, f);
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		if (w->tx[i])
			tx_stream_forget(w->tx[i], f);
		if (w->rx[i] && i / NIC_QPS_PER_FUNCTION == f->index)
			rx_stream_end(w->rx[i]);
	}
}

/* Ends all operations of the function in both directions. */
static void function_end(struct nic_function *f)
{
	struct nic *n = f->nic;

	for (struct nic_peer *p = n->peers; p; p = p->next)
		peer_forget(p, f);
	staged_reads_end(n, f);
	staged_local_end(n, f);
	local_forget(n, f);
	requests_drop(f);
	n->stops &= (uint8_t) ~(1u << f->index);
	n->space = true; /* others may have waited for what it held */
}

void function_stop(struct nic_function *f, int status)
{
	if (f->stopped)
		return;
	f->stopped = true;
	limit_apply(f);
	f->nic->stops |= (uint8_t)(1u << f->index);
	f->nic->events_new |= 1u << f->index;
	window_end(f->window, status, DXP_FUNCTION_STOPPED);
}

void functions_settle(struct nic *n)
{
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		if (n->stops >> i & 1)
			function_end(&n->functions[i]);
}

struct reclaimed {
	const uint8_t *base;
	uint64_t bytes;
};

/* Withdraws an answer out of the reclaimed memory. */
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

int nic_function_close(struct nic *n, uint32_t function, int status, uint64_t now_ns)
{
	struct nic_function *f = function < NIC_FUNCTIONS ? &n->functions[function] : NULL;

	if (!f || !f->window)
		return DXP_ENOENT;
	n->now_ns = now_ns;
	struct dxp_window *w = f->window;
	function_end(f);
	regions_revoke(n, function);
	free(f->registers);
	/* Weight and limit are not set by the user, and stay. */
	f->limit.waits = 0;
	*f = (struct nic_function){
		.nic = n, .index = function, .weight = f->weight, .limit = f->limit};
	share_weights_sum(n);
	limit_apply(f);
	window_end(w, status == DXP_OK ? DXP_ECLOSED : status, DXP_FUNCTION_CLOSED);
	return DXP_OK;
}

bool nic_function_idle(const struct nic *n, uint32_t function)
{
	return function < NIC_FUNCTIONS && !n->functions[function].window &&
	       !regions_busy(n, function);
}

enum dxp_function_state nic_function_state(const struct nic *n, uint32_t function)
{
	const struct nic_function *f = &n->functions[function];

	if (f->window)
		return f->stopped ? DXP_FUNCTION_STOPPED : DXP_FUNCTION_OPEN;
	return nic_function_idle(n, function) ? 0 : DXP_FUNCTION_CLOSED;
}

const struct dxp_window *nic_function_window(const struct nic *n, uint32_t function)
{
	return n->functions[function].window;
}

uint32_t nic_qp_magic(const struct nic *n, uint32_t function, uint32_t qp)
{
	return n->functions[function].window ? n->functions[function].qp_magic[qp] : 0;
}

uint32_t nic_function_labelled(const struct nic *n, const char *label)
{
	uint32_t i = 0;

	while (i < NIC_FUNCTIONS && strcmp(n->functions[i].label, label) != 0)
		i++;
	return *label ? i : NIC_FUNCTIONS;
}

int nic_function_label(struct nic *n, uint32_t function, const char label[FABRIC_NAME_BYTES])
{
	uint32_t other = nic_function_labelled(n, label);

	if (other < NIC_FUNCTIONS && other != function)
		return DXP_EEXIST;
	strncpy(n->functions[function].label, label, FABRIC_NAME_BYTES - 1);
	return DXP_OK;
}

const char *nic_function_label_of(const struct nic *n, uint32_t function)
{
	return n->functions[function].label;
}
