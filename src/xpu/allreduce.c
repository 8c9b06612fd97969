/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLREDUCE and SETTLE, and the same started by a kernel: this xPU's part of an allreduce that
 * switches compute. The switch client reads contributions from device memory and writes results
 * there, piece by piece; memory that only DMA can access passes through a buffer.
 *
 * If the switches are lost or cannot compute it, a kernel's allreduce fails. An ALLREDUCE reports
 * how many bytes are complete and waits: the host completes the rest by other commands, then sends
 * SETTLE. An ALLREDUCE that fails or is cancelled makes all members lose the group, because they
 * would wait for this member. */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/pieces.h"
#include "xpu/slot_internal.h"

struct reduction {
	struct reduction *next; /* in the tenant's list of lost ones */
	struct tenant *tenant;
	struct allreduce_command command;
	struct work *work;
	struct kernel_reduce *kernel;
	kernel_reduce_ended ended;    /* completes `kernel` */
	struct switch_member *member; /* NULL: does not use the switches any more */
	bool held_from, held_to;
	struct pieces pieces;
	int status; /* of the piece, at the switches */
	/* BRIDGED memory: buffer of the piece, and its DMA */
	uint8_t *buffer;
	struct pump_transfer pump;
};

static void ranges_drop(struct reduction *r)
{
	struct arena *arena = r->tenant->slot->arena;

	if (r->held_from)
		arena_drop(arena, r->command.from);
	if (r->held_to)
		arena_drop(arena, r->command.to);
	r->held_from = r->held_to = false;
	free(r->buffer);
	r->buffer = NULL;
}

/* The group of switches may then run the next reduction. */
static void member_detach(struct reduction *r)
{
	if (r->member && r->member->reduction == r)
		r->member->reduction = NULL;
	r->member = NULL;
}

static void reduction_end(struct reduction *r, int status)
{
	if (status != DXP_OK && r->member)
		switch_group_give_up(r->member->group);
	member_detach(r);
	ranges_drop(r);
	r->tenant->busy--;
	if (r->work) {
		r->work->ended_ns = clock_now_ns();
		work_done(r->work, status);
	} else {
		r->ended(r->kernel, status);
	}
	free(r);
}

/* The host has left, or has left the group. */
static bool left(const struct reduction *r)
{
	return r->tenant->leaving || !r->member || r->member->leaving;
}

/* Reports to the host, and keeps the command. A kernel gets an error. */
static void reduction_lost(struct reduction *r, int status)
{
	struct tenant *t = r->tenant;

	if (left(r) || !r->work) {
		reduction_end(r, left(r) ? DXP_ECANCELED : status);
		return;
	}
	if (status == DXP_EPEERLOST)
		status = switch_group_lost_status(r->member->group);
	/* The other members may wait for this one. */
	switch_group_give_up(r->member->group);
	const struct command_lost lost = {.event = r->work->graph.event,
					  .done_bytes = r->pieces.done_bytes,
					  .status = status};
	member_detach(r);
	ranges_drop(r);
	r->next = t->lost;
	t->lost = r;
	reply_lost_send(t, &lost);
}

static const char *failure_text(int status)
{
	switch (status) {
	case DXP_ENOENT: return "this xPU is not in the group of switches";
	case DXP_EINVAL:
		return "the members disagree about the operation; run one release of dxpd on all "
		       "machines";
	default: return dxp_status_text(status);
	}
}

/* Ends a sum that failed for another reason than lost switches, and sends the host the reason. */
static void reduction_fail(struct reduction *r, int status)
{
	char text[COMMAND_FAILURE_BYTES];

	snprintf(text, sizeof(text), "sum by switches: %s", failure_text(status));
	tenant_complain(r->tenant, "%s", text);
	if (r->work)
		reply_failed_send(r->tenant, r->work->graph.event, text);
	reduction_end(r, status);
}

/* ---- pieces ---- */

static void piece_reduce(struct reduction *r, const uint8_t *send, uint8_t *receive)
{
	const struct allreduce_command *c = &r->command;
	const struct switch_reduce reduce = {
		.send = send,
		.receive = receive,
		.elements = r->pieces.piece_bytes / dxp_inc_type_bytes((enum dxp_inc_type)c->type),
		.type = (enum dxp_inc_type)c->type,
		.op = (enum dxp_inc_op)c->reduction,
	};

	int status = switch_group_reduce(r->member->group, &reduce);
	if (pieces_continue(status))
		reduction_lost(r, status);
	else if (status != DXP_OK)
		reduction_fail(r, status);
}

static void dma_complain(const struct reduction *r, const struct bridge_end *end)
{
	tenant_complain(
		r->tenant, "ALLREDUCE: %s failed at byte %llu: %s", bridged_step_name(end->step),
		(unsigned long long)(r->pieces.done_bytes + end->at), bridged_end_text(end));
}

static void piece_begin(struct reduction *r);

/* `bytes` of the piece are complete. */
static void piece_end(struct reduction *r, uint64_t bytes)
{
	switch (pieces_ended(&r->pieces, r->status, bytes, left(r))) {
	case PIECES_NEXT: piece_begin(r); break;
	case PIECES_COMPLETE: reduction_end(r, DXP_OK); break;
	case PIECES_LOST: reduction_lost(r, r->status); break;
	case PIECES_FAILED: reduction_fail(r, r->status); break;
	case PIECES_CANCELLED: reduction_end(r, DXP_ECANCELED); break;
	}
}

static void piece_written(struct pump_transfer *p, const struct bridge_end *end)
{
	struct reduction *r = CONTAINER_OF(p, struct reduction, pump);
	int status = bridged_end_status(end);

	if (status != DXP_OK) {
		dma_complain(r, end);
		reduction_end(r, status);
		return;
	}
	piece_end(r, end->bytes);
}

static void piece_read(struct pump_transfer *p, const struct bridge_end *end)
{
	struct reduction *r = CONTAINER_OF(p, struct reduction, pump);
	int status = bridged_end_status(end);

	if (status == DXP_OK && left(r))
		status = DXP_ECANCELED;
	if (status == DXP_OK) {
		piece_reduce(r, r->buffer, r->buffer);
		return;
	}
	if (status != DXP_ECANCELED)
		dma_complain(r, end);
	reduction_end(r, status);
}

/* Moves `bytes` of the piece between device memory and the buffer. */
static void piece_move(struct reduction *r, bool in, uint64_t bytes)
{
	const struct allreduce_command *c = &r->command;
	const struct bridge_order order = {.path = BRIDGE_DIRECT, .bytes = bytes};

	r->pump = (struct pump_transfer){.ended = in ? piece_written : piece_read};
	if (in) {
		r->pump.source = r->buffer;
		r->pump.device_to = c->to + r->pieces.done_bytes;
	} else {
		r->pump.device_from = c->from + r->pieces.done_bytes;
		r->pump.sink = r->buffer;
	}
	int status = pump_begin(bridged_pump(r->tenant->slot->bridged), &r->pump, &order,
				clock_now_ns());
	if (status != DXP_OK)
		reduction_end(r, status);
}

/* All members have the same pieces, whatever their memory is. */
static void piece_begin(struct reduction *r)
{
	const struct allreduce_command *c = &r->command;
	uint8_t *base = r->tenant->memory->base;
	const uint64_t done = r->pieces.done_bytes;

	pieces_next(&r->pieces);
	if (r->buffer)
		piece_move(r, false, r->pieces.piece_bytes);
	else
		piece_reduce(r, base + c->from + done, base + c->to + done);
}

void allreduce_reduced(struct switch_member *m, int status, size_t elements)
{
	struct reduction *r = m->reduction;
	const struct allreduce_command *c = &r->command;
	const uint64_t bytes = elements * dxp_inc_type_bytes((enum dxp_inc_type)c->type);

	r->status = status;
	if (r->buffer && bytes > 0 && (status == DXP_OK || pieces_continue(status)))
		piece_move(r, true, bytes);
	else
		piece_end(r, bytes);
}

/* ---- start ---- */

static int reduction_prepare(struct reduction *r)
{
	struct tenant *t = r->tenant;
	struct slot *s = t->slot;
	const struct allreduce_command *c = &r->command;

	r->member = tenant_switches_find(t, c->group);
	if (!r->member || !r->member->created)
		return DXP_ENOENT;
	if (r->member->reduction)
		return DXP_EAGAIN; /* a host orders the operations of a group */
	r->member->reduction = r;
	int status = arena_hold(s->arena, t->owner, c->from, c->bytes, NULL);
	r->held_from = status == DXP_OK;
	if (status == DXP_OK)
		status = arena_hold(s->arena, t->owner, c->to, c->bytes, NULL);
	r->held_to = r->held_from && status == DXP_OK;
	if (status != DXP_OK || !s->bridged)
		return status;
	r->buffer = malloc(min_u64(c->bytes, COMMAND_ALLREDUCE_PIECE));
	return r->buffer ? DXP_OK : DXP_ENOMEM;
}

static void reduction_start(const struct reduction *with)
{
	struct reduction *r = calloc(1, sizeof(*r));

	if (!r) {
		allreduce_abandon(with->tenant, with->command.group);
		if (with->work)
			work_done(with->work, DXP_ENOMEM);
		else
			with->ended(with->kernel, DXP_ENOMEM);
		return;
	}
	*r = *with;
	r->pieces =
		(struct pieces){.bytes = r->command.bytes, .piece_max = COMMAND_ALLREDUCE_PIECE};
	r->tenant->busy++;
	int status = reduction_prepare(r);
	if (status == DXP_OK)
		piece_begin(r);
	else if (status == DXP_ERANGE)
		reduction_end(r, status);
	else
		reduction_fail(r, status);
}

void allreduce_start(struct work *w)
{
	w->started_ns = clock_now_ns();
	reduction_start(
		&(struct reduction){.tenant = w->tenant, .command = *work_allreduce(w), .work = w});
}

void allreduce_kernel_start(struct tenant *t, const struct allreduce_command *c,
			    struct kernel_reduce *k, kernel_reduce_ended ended)
{
	reduction_start(
		&(struct reduction){.tenant = t, .command = *c, .kernel = k, .ended = ended});
}

void allreduce_detach(struct switch_member *m)
{
	if (m->reduction)
		member_detach(m->reduction);
}

void allreduce_abandon(const struct tenant *t, uint32_t group)
{
	struct switch_member *m = tenant_switches_find(t, group);

	if (m)
		switch_group_give_up(m->group);
}

/* ---- lost reductions ---- */

static void lost_end(struct tenant *t, uint64_t event, int status)
{
	struct reduction **at = &t->lost;

	while (*at && (*at)->work->graph.event != event)
		at = &(*at)->next;
	struct reduction *r = *at;
	if (!r)
		return;
	*at = r->next;
	reduction_end(r, status);
}

void allreduce_settle(struct work *w)
{
	const struct settle_command *c = work_settle(w);

	lost_end(w->tenant, c->event, c->status);
	work_done(w, DXP_OK);
}

void allreduce_settle_cancelled(struct work *w)
{
	const struct settle_command *c = work_settle(w);

	lost_end(w->tenant, c->event, DXP_ECANCELED);
}

/* Finds a lost reduction of this group; of any group if `group` is NULL. */
static const struct reduction *lost_find(const struct tenant *t, const uint32_t *group)
{
	const struct reduction *r = t->lost;

	while (r && group && r->command.group != *group)
		r = r->next;
	return r;
}

void allreduces_cancel(struct tenant *t, const uint32_t *group, int status)
{
	const struct reduction *r;

	while ((r = lost_find(t, group)))
		lost_end(t, r->work->graph.event, status);
}
