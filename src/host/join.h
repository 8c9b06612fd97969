/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a node of this program and joins the fabric, within a time limit. */
#ifndef HOST_JOIN_H
#define HOST_JOIN_H

#include "host/config.h"
#include "node/node.h"

/* Calls node_open(). If it fails, sets the error text. */
int join_open(const struct node_options *options, struct node **out);

/* Waits until the manager grants the lease. Returns the status of node_join(), with the error text
 * set. `manager` is the manager's address, for the error text. */
int join_wait(struct node *n, const char *manager, uint64_t timeout_ns);

/* Returns true if the node has the complete node table. */
bool join_complete(const struct node *n);

/* Sets the error text for a node that has a lease but no complete node table; returns
 * DXP_ETIMEDOUT. */
int join_incomplete(const char *manager);

#endif
