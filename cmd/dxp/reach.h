/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which part of the connection to an xPU fails: the manager, its node table, or the data
 * port of the node. A node whose data port is blocked keeps its lease; the lease of a dead node
 * expires. */
#ifndef CMD_DXP_REACH_H
#define CMD_DXP_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/dxp/session.h"
#include "node/query.h"

#define REACH_RULE_BYTES 256

/* Returns whether a failed operation on an xPU got no answer from it. */
bool reach_silent(int status);

/* Waits, for the length of a lease at most, until a node that died before `since_ns` is no longer
 * listed as alive. Then queries the node table. On DXP_OK the caller destroys *out with
 * query_destroy. */
int reach_table_settled(const struct dxp_fabric_options *fabric, uint64_t since_ns,
			struct query **out);

/* Finds a row by name or decimal id; NULL: none. */
const struct node_entry *reach_row(const struct query *table, const char *name);

/* Writes an instruction: on which machine to run which nftables rule, so that this port is open.
 * Returns `out`. */
const char *reach_rule(const struct udp_address *port, char out[REACH_RULE_BYTES]);

/* Writes the instruction for the data port of a node. If the node advertises another address, the
 * instruction also names what NAT must forward. */
const char *reach_node_rule(const struct node_entry *row, char out[REACH_RULE_BYTES]);

struct reach_failure {
	const struct session_options *options;
	const char *xpu;
	bool joined;       /* the manager has admitted this host */
	int status;        /* status of the failed operation; dxp_fabric_error() has its text */
	uint64_t since_ns; /* time when the operation began */
};

/* Prints which part failed, and the next step. Returns EXIT_FAILED. */
int reach_report(const struct reach_failure *failure);

#endif
