/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of this program in a fabric: opened, and joined with a bound. */
#ifndef HOST_JOIN_H
#define HOST_JOIN_H

#include "host/config.h"
#include "node/node.h"

/* As node_open, with the sentence set. */
int join_open(const struct node_options *options, struct node **out);

/* Waits for the lease. Statuses as node_join, with the sentence set; `manager` is its address. */
int join_wait(struct node *n, const char *manager, uint64_t timeout_ns);

/* All rows of the node table are there. */
bool join_complete(const struct node *n);

/* The lease came, but the table did not: DXP_ETIMEDOUT and its sentence. */
int join_incomplete(const char *manager);

#endif
