/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLREDUCE and SETTLE of a simulated xPU, with the rules of src/xpu/allreduce.c. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/support/group_node.h"
#include "wire/reduction.h"

#define PIECE_BYTES 4096 /* of COMMAND_ALLREDUCE_PIECE, for operations of GSIM_BYTES */

static void give_up(struct gsim_node *x)
{
	if (!x->seat || !x->seat->group)
		return;
	inc_group_give_up(x->seat->group, DXP_ECANCELED, inc_sim_now(x->sim->inc));
	inc_net_touch(inc_sim_net(x->sim->inc), x->member);
}

static void reduction_end(struct gsim_node *x, struct gsim_reduction *r, int status)
{
	if (x->reduction == r) {
		if (status != DXP_OK)
			give_up(x);
		x->reduction = NULL;
	}
	gsim_work_done(r->work, status);
	free(r);
}

static void reduction_lost(struct gsim_node *x, struct gsim_reduction *r, int status)
{
	const struct command_lost lost = {.event = r->work->graph.event,
					  .done_bytes = r->pieces.done_bytes,
					  .status = status};

	give_up(x);
	x->reduction = NULL;
	r->next = x->lost;
	x->lost = r;
	gsim_lost_report(x, &lost);
}

static void piece_end(struct gsim_node *x, int status, uint64_t bytes);

static void piece_begin(struct gsim_node *x)
{
	struct gsim_reduction *r = x->reduction;
	struct inc_sim *inc = x->sim->inc;

	pieces_next(&r->pieces);
	r->piece = (struct inc_operation){.collective = INC_ALLREDUCE,
					  .op = r->op,
					  .type = r->type,
					  .send = x->memory + r->from + r->pieces.done_bytes,
					  .receive = x->memory + r->to + r->pieces.done_bytes,
					  .elements = r->pieces.piece_bytes /
						      dxp_inc_type_bytes(r->type)};
	const int status = inc_group_start(x->seat->group, &r->piece, inc_sim_now(inc));
	if (status != DXP_OK)
		piece_end(x, status, 0);
	else
		inc_net_touch(inc_sim_net(inc), x->member);
}

static void piece_end(struct gsim_node *x, int status, uint64_t bytes)
{
	struct gsim_reduction *r = x->reduction;

	switch (pieces_ended(&r->pieces, status, bytes, false)) {
	case PIECES_NEXT: piece_begin(x); break;
	case PIECES_COMPLETE: reduction_end(x, r, DXP_OK); break;
	case PIECES_LOST: reduction_lost(x, r, status); break;
	default: reduction_end(x, r, status);
	}
}

void gsim_node_reduced(struct gsim_node *x)
{
	const struct gsim_reduction *r = x->reduction;

	if (x->dead || !r || !r->piece.done)
		return;
	piece_end(x, r->piece.status, r->piece.done_elements * dxp_inc_type_bytes(r->type));
	net_touch(sim_net(x->sim->sim), x->member);
}

void gsim_reduction_start(struct gsim_work *w)
{
	struct gsim_node *x = w->node;
	static struct command c;
	struct gsim_reduction *r = calloc(1, sizeof(*r));

	if (!r || command_decode(w->message, w->message_bytes, &c) != DXP_OK || x->reduction ||
	    !x->seat || !x->seat->group) {
		gsim_wrong(x->sim, "member %u cannot start an allreduce by switches", x->member);
		free(r);
		gsim_work_done(w, DXP_EAGAIN);
		return;
	}
	*r = (struct gsim_reduction){.work = w,
				     .pieces = {.bytes = c.bytes, .piece_max = PIECE_BYTES},
				     .from = c.address,
				     .to = c.to_address,
				     .type = (enum dxp_inc_type)c.type,
				     .op = (enum dxp_inc_op)c.reduction};
	x->reduction = r;
	piece_begin(x);
}

void gsim_reduction_abandon(struct gsim_node *x)
{
	if (x->sim->options.defect != GSIM_GIVE_UP_FORGOTTEN)
		give_up(x);
}

static void lost_end(struct gsim_node *x, uint64_t event, int status)
{
	struct gsim_reduction **at = &x->lost, *r;

	while ((r = *at) && r->work->graph.event != event)
		at = &r->next;
	if (!r)
		return;
	*at = r->next;
	reduction_end(x, r, status);
}

void gsim_reduction_settle(struct gsim_work *w)
{
	static struct command c;

	if (command_decode(w->message, w->message_bytes, &c) == DXP_OK &&
	    w->node->sim->options.defect != GSIM_SETTLE_FORGOTTEN)
		lost_end(w->node, c.settles, c.status);
	gsim_work_done(w, DXP_OK);
}

void gsim_reduction_settle_cancelled(struct gsim_work *w)
{
	static struct command c;

	if (command_decode(w->message, w->message_bytes, &c) == DXP_OK)
		lost_end(w->node, c.settles, DXP_ECANCELED);
}

static void reduction_close(struct gsim_node *x, struct gsim_reduction *r)
{
	graph_done(x->graph, &r->work->graph, DXP_ECLOSED);
	free(r->work);
	free(r);
}

void gsim_reductions_close(struct gsim_node *x)
{
	while (x->lost) {
		struct gsim_reduction *r = x->lost;
		x->lost = r->next;
		reduction_close(x, r);
	}
	if (x->reduction)
		reduction_close(x, x->reduction);
	x->reduction = NULL;
}
