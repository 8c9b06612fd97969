/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/move.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

static void list_append(struct move_list *l, struct move *m)
{
	m->next = NULL;
	m->link = l->end;
	*l->end = m;
	l->end = &m->next;
}

static void list_remove(struct move_list *l, struct move *m)
{
	*m->link = m->next;
	if (m->next)
		m->next->link = m->link;
	else
		l->end = m->link;
}

static struct move_list *list_of(struct dxp_fabric *f, const struct move *m)
{
	switch (m->state) {
	case MOVE_WAITING: return &f->later;
	case MOVE_READY: return &f->ready;
	case MOVE_RUNNING: return &f->running;
	case MOVE_PULLED: return &f->pulled;
	default: return &f->draining;
	}
}

static void become(struct dxp_fabric *f, struct move *m, enum move_state state)
{
	list_remove(list_of(f, m), m);
	m->state = state;
	list_append(list_of(f, m), m);
}

struct move *move_new(struct dxp_fabric *f)
{
	struct move *m = f->spare_moves;

	if (m)
		f->spare_moves = m->next;
	else
		m = aligned_alloc(alignof(struct move), sizeof(*m));
	if (m)
		*m = (struct move){.waits = m->inline_waits};
	return m;
}

void move_wait_for(struct move *m, dxp_event event, struct host_event *entry)
{
	struct move_wait *w = &m->waits[m->wait_count++];

	*w = (struct move_wait){.next = entry->moves, .move = m, .event = event};
	if (w->next)
		w->next->previous = w;
	entry->moves = w;
	m->waits_left++;
}

/* Returns the pending event that `w` waits for. */
static struct host_event *awaited(struct dxp_fabric *f, const struct move_wait *w)
{
	struct host_event *entry = NULL;
	struct dxp_xpu *x;

	events_of(f, w->event, &x, &entry);
	return entry;
}

static void wait_unlink(struct dxp_fabric *f, struct move_wait *w)
{
	struct host_event *entry = w->previous ? NULL : awaited(f, w);

	if (w->next)
		w->next->previous = w->previous;
	if (w->previous)
		w->previous->next = w->next;
	else if (entry)
		entry->moves = w->next;
	w->move = NULL;
}

void move_free(struct dxp_fabric *f, struct move *m)
{
	for (uint32_t i = 0; m->waits_left && i < m->wait_count; i++)
		if (m->waits[i].move)
			wait_unlink(f, &m->waits[i]);
	if (m->waits != m->inline_waits)
		free(m->waits);
	m->next = f->spare_moves;
	f->spare_moves = m;
}

void moves_destroy(struct dxp_fabric *f)
{
	for (struct move *m; (m = f->spare_moves);) {
		f->spare_moves = m->next;
		free(m);
	}
}

void move_enter(struct dxp_fabric *f, struct move *m, enum move_state state)
{
	m->state = (uint8_t)state;
	list_append(list_of(f, m), m);
}

bool moves_busy(const struct dxp_fabric *f)
{
	return f->running.first || f->draining.first || f->notices.first;
}

static struct events *events_of_move(struct dxp_fabric *f, const struct move *m, bool pulled)
{
	return pulled ? &m->xpu->events : &f->own;
}

/* Completes a transfer. Nothing may access its memory any more. */
static void move_end(struct dxp_fabric *f, struct move *m)
{
	struct events *events = events_of_move(f, m, m->revoked);
	struct host_event *entry = events_find(events, m->count);

	list_remove(list_of(f, m), m);
	if (entry)
		entry->move = NULL;
	/* Counts only transfers that this host performed. Transfers by an xPU are counted as
	 * commands. */
	if (!m->revoked)
		use_moved(m->xpu, m->direction == MEMORY_WRITE, m->bytes, m->times.started_ns,
			  m->times.ended_ns, m->status);
	events_finish(events, m->count, m->status, &m->times);
	f->ended++;
	move_free(f, m);
}

/* ---- transfers by this host ---- */

static int piece_post(struct move *m)
{
	struct dxp_xpu *x = m->xpu;
	struct dxp_window *w = x->fabric->window;
	uint32_t bytes = (uint32_t)min_u64(m->bytes - m->posted, HOST_MOVE_BYTES);
	const struct dxp_entry local = {.offset = m->posted, .bytes = bytes, .key = m->key};
	const struct dxp_entry remote = {
		.offset = m->address + m->posted, .bytes = bytes, .key = x->memory_key};
	const struct nic_lists lists = {
		.local = &local, .remote = &remote, .local_count = 1, .remote_count = 1};
	int status = m->direction == MEMORY_WRITE
			     ? nic_user_put(w, m->qp, &x->data[m->qp], &lists, (uintptr_t)&m->op)
			     : nic_user_get(w, m->qp, &x->data[m->qp], &lists, (uintptr_t)&m->op);

	if (status == DXP_OK) {
		m->op.pending++;
		m->posted += bytes;
	}
	return status;
}

static int memory_offer(struct move *m)
{
	struct nic *nic = node_nic(m->xpu->fabric->node);
	int status = nic_region_register(nic, 0, m->local, m->bytes, NIC_LOCAL, &m->key);

	m->registered = status == DXP_OK;
	return status == DXP_EBUSY ? DXP_EAGAIN : status;
}

/* Posts pieces of `m` while the window has space; returns how many. */
static uint32_t pieces_post(struct move *m)
{
	uint32_t posted = 0;

	while (m->status == DXP_OK && m->op.status == DXP_OK && m->posted < m->bytes &&
	       m->op.pending < HOST_MOVE_PIECES) {
		int status = m->xpu->status;
		if (status == DXP_OK && !m->registered)
			status = memory_offer(m);
		if (status == DXP_OK)
			status = piece_post(m);
		if (status == DXP_EAGAIN)
			break;
		m->op.status = status;
		posted++;
	}
	return posted;
}

/* Returns true if all bytes of `m` are posted on queue pair `qp`. The same must hold for each
 * transfer that `m` waits for. */
static bool in_order(struct dxp_fabric *f, struct move *m, uint8_t qp)
{
	if (m->state != MOVE_RUNNING || m->posted < m->bytes || m->op.status != DXP_OK ||
	    m->qp != qp || m->direction != MEMORY_WRITE)
		return false;
	for (uint32_t i = 0; i < m->wait_count; i++) {
		if (!m->waits[i].move)
			continue;
		const struct host_event *entry = awaited(f, &m->waits[i]);
		if (!entry || !entry->move || !in_order(f, entry->move, qp))
			return false;
	}
	return true;
}

static void notified_early(struct dxp_fabric *f, struct move *m)
{
	m->notified_early = true;
	for (uint32_t i = 0; i < m->wait_count; i++)
		if (m->waits[i].move)
			notified_early(f, awaited(f, &m->waits[i])->move);
}

/* Notifies nodes of success before `m` completes. This is possible because messages on one queue
 * pair arrive in order, so the message arrives after the data. It is not done for memory that only
 * DMA reaches, because the DMA may fail later. */
void move_wanted(struct move *m)
{
	struct dxp_fabric *f = m->xpu->fabric;
	struct host_event *entry = m->state == MOVE_RUNNING ? events_find(&f->own, m->count) : NULL;

	if (!entry || !entry->notices || m->xpu->caps.memory_kind != DXP_MEMORY_DIRECT ||
	    !in_order(f, m, m->qp))
		return;
	if (executor_notify_early(f, entry, m->xpu, m->qp))
		notified_early(f, m);
}

/* Restarts a transfer after the path MTU became smaller. If a node was notified early, it may have
 * continued without the data; then its xPU counts as restarted. Returns false if `m` cannot
 * restart. */
static bool narrowed(struct move *m)
{
	if (m->op.status != DXP_EPATH || m->again++ >= HOST_NARROWINGS_MAX)
		return false;
	if (m->notified_early) {
		xpu_end(m->xpu, DXP_EPEERRESET);
		m->op.status = DXP_EPEERRESET;
		return false;
	}
	m->op.status = DXP_OK;
	m->posted = 0;
	return true;
}

static uint32_t run(struct dxp_fabric *f, struct move *m)
{
	uint32_t done = pieces_post(m);

	if (done)
		move_wanted(m);
	bool going_on = m->status == DXP_OK && m->op.status == DXP_OK;
	if (m->op.pending || (m->posted < m->bytes && going_on))
		return done;
	if (narrowed(m))
		return done + 1;
	if (m->op.status != DXP_OK && m->status == DXP_OK)
		m->status = xpu_judge(m->xpu, m->op.status);
	/* The transfer was allowed to run before the events that it waits for. It must not complete
	 * before them. */
	if (m->waits_left && m->status == DXP_OK)
		return done;
	if (m->registered)
		nic_region_deregister(node_nic(f->node), m->key);
	m->times.ended_ns = clock_now_ns();
	move_end(f, m);
	return done + 1;
}

/* ---- transfers by the xPU ---- */

void move_notified(struct move *m, int status, const struct dxp_event_times *times)
{
	struct dxp_fabric *f = m->xpu->fabric;

	if (m->state != MOVE_PULLED)
		return;
	m->status = status;
	if (times)
		m->times = *times;
	m->revoked = true;
	m->revoked_ns = clock_now_ns() - f->away_ns;
	f->pulls--;
	nic_region_revoke(node_nic(f->node), m->key);
	become(f, m, MOVE_DRAINING);
}

/* Completes `m` if the NIC no longer uses its memory. Returns true if it did. */
static bool drained(struct dxp_fabric *f, struct move *m)
{
	struct nic *nic = node_nic(f->node);

	if (!nic_region_busy(nic, m->key)) {
		move_end(f, m);
		return true;
	}
	/* After this time, only requests of an unreachable peer can still use the memory, so they
	 * are aborted. */
	if (f->polled_ns - f->away_ns > m->revoked_ns + 2 * RLTP_DEAD_NS)
		nic_peer_reset(nic, m->xpu->node, DXP_ETIMEDOUT);
	return false;
}

void moves_lost(struct dxp_xpu *x, int status)
{
	for (struct move *m = x->fabric->pulled.first, *next; m; m = next) {
		next = m->next;
		if (m->xpu == x)
			move_notified(m, status, NULL);
	}
}

/* ---- all transfers ---- */

static void start(struct dxp_fabric *f, struct move *m)
{
	m->times.started_ns = clock_now_ns();
	become(f, m, MOVE_RUNNING);
}

/* Checks WAITING transfers. If their xPU is lost or closed, makes them READY, because READY
 * transfers of such an xPU fail. */
static void waiting_look(struct dxp_fabric *f)
{
	f->waits_changed = false;
	for (struct move *m = f->later.first, *next; m; m = next) {
		next = m->next;
		if (m->status == DXP_OK)
			m->status = m->xpu->status;
		if (m->status != DXP_OK)
			become(f, m, MOVE_READY);
	}
}

/* Starts READY transfers. Completes those that have already failed. */
static uint32_t ready_poll(struct dxp_fabric *f)
{
	uint32_t done = 0;

	for (struct move *m; (m = f->ready.first); done++) {
		if (m->status == DXP_OK)
			m->status = m->xpu->status;
		if (m->status == DXP_OK) {
			start(f, m);
		} else {
			m->times.started_ns = m->times.ended_ns = clock_now_ns();
			move_end(f, m);
		}
	}
	return done;
}

uint32_t moves_poll(struct dxp_fabric *f)
{
	uint32_t looked = 0;

	if (f->waits_changed)
		waiting_look(f);
	uint32_t done = ready_poll(f);
	for (struct move *m = f->running.first, *next; m && looked < HOST_MOVES;
	     m = next, looked++) {
		next = m->next;
		done += run(f, m);
	}
	for (struct move *m = f->draining.first, *next; m; m = next) {
		next = m->next;
		done += drained(f, m);
	}
	return done;
}

static void wait_ended(struct dxp_fabric *f, struct move_wait *w, int status)
{
	struct move *m = w->move;

	w->move = NULL;
	m->waits_left--;
	if (status != DXP_OK && m->status == DXP_OK)
		m->status = DXP_ECANCELED;
	if (m->state == MOVE_WAITING && (m->waits_left == 0 || m->status != DXP_OK))
		become(f, m, MOVE_READY);
}

/* Continues the transfers that wait for this event, in the order in which they began to wait. The
 * newest is first in the list, so this starts at the end. */
void moves_ended(struct dxp_fabric *f, struct host_event *entry, int status)
{
	struct move_wait *w = entry->moves;

	entry->moves = NULL;
	while (w && w->next)
		w = w->next;
	for (struct move_wait *previous; w; w = previous) {
		previous = w->previous;
		wait_ended(f, w, status);
	}
}

static struct move *move_of(struct move_list *l, const struct dxp_xpu *x)
{
	struct move *m = l->first;

	while (m && m->xpu != x)
		m = m->next;
	return m;
}

static bool none_left(void *context)
{
	struct dxp_xpu *x = context;
	struct dxp_fabric *f = x->fabric;

	return !move_of(&f->later, x) && !move_of(&f->ready, x) && !move_of(&f->running, x) &&
	       !move_of(&f->draining, x);
}

static void cancel(struct move *m, const struct dxp_xpu *x)
{
	if (m->xpu == x && m->status == DXP_OK)
		m->status = m->op.status = DXP_ECLOSED;
}

void moves_close(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;

	moves_lost(x, DXP_ECLOSED);
	for (struct move *m = f->later.first; m; m = m->next)
		cancel(m, x);
	for (struct move *m = f->ready.first; m; m = m->next)
		cancel(m, x);
	for (struct move *m = f->running.first; m; m = m->next)
		cancel(m, x);
	f->waits_changed = true;
	if (host_fabric_wait(f, none_left, x, clock_now_ns() + 2 * RLTP_DEAD_NS) == DXP_OK)
		return;
	nic_peer_reset(node_nic(f->node), x->node, DXP_ETIMEDOUT);
	host_fabric_wait(f, none_left, x, UINT64_MAX);
}
