/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a node of this program and joins it, within a time limit. */
#ifndef HOST_JOIN_H
#define HOST_JOIN_H

#include "host/config.h"
#include "node/node.h"

/* Opens a node with node_open(); sets the error text if that fails. */
int join_open(const struct node_options *options, struct node **out);

/* Waits for the lease. Statuses of node_join(), with the error text set. `manager`: its address,
 * for the text. */
int join_wait(struct node *n, const char *manager, uint64_t timeout_ns);

/* Returns whether the node table is complete. */
bool join_complete(const struct node *n);

/* Sets the error text for a lease without a complete node table; returns DXP_ETIMEDOUT. */
int join_incomplete(const char *manager);

#endif
