/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a simulated xPU, shared by group_node.c, group_transfer.c and group_reduction.c. */
#ifndef TEST_SUPPORT_GROUP_NODE_H
#define TEST_SUPPORT_GROUP_NODE_H

#include "test/support/group_sim.h"

/* Complete a command that graph_next() has returned; report one that has left the graph. */
void gsim_work_done(struct gsim_work *w, int status);
void gsim_work_report(struct gsim_work *w, int status);
void gsim_lost_report(struct gsim_node *x, const struct command_lost *lost);

/* group_transfer.c: SEND and SIGNAL. */
void gsim_transfer_start(struct gsim_work *w);

/* group_reduction.c: ALLREDUCE and SETTLE. */
void gsim_reduction_start(struct gsim_work *w);
void gsim_reduction_settle(struct gsim_work *w);
void gsim_reduction_settle_cancelled(struct gsim_work *w);
void gsim_reduction_abandon(struct gsim_node *x);
void gsim_reductions_close(struct gsim_node *x);

#endif
