/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of many nodes over the network with STATS requests. Requests are outstanding
 * to at most STATS_QUERY_READINGS nodes, one to each. A node that does not answer for
 * STATS_QUERY_NS counts as silent. A node that answers gets at most STATS_QUERY_WHOLE_NS in total.
 * The sender needs the fabric key, but need not be a node. Pure, like member.h. */
#ifndef NODE_STATS_QUERY_H
#define NODE_STATS_QUERY_H

#include "base/rng.h"
#include "link/udp.h"
#include "node/stats_read.h"
#include "wire/stats.h"

struct stats_query_options {
	uint8_t key[FABRIC_KEY_BYTES];
	/* Rows of the node table, which must stay valid until the query is done. Only nodes that
	 * are alive get requests. */
	const struct node_entry *nodes;
	size_t count;
	bool details; /* true: also read the counters of queue pairs and sessions */
	bool paths;   /* true: read only paths; a node of an earlier version gives no answer */
	entropy_fn entropy;
	void *entropy_context;
};

struct stats_query;

/* Creates a query; destroy it with stats_query_destroy. DXP_ENOMEM; DXP_EIO. */
int stats_query_create(const struct stats_query_options *options, uint64_t now_ns,
		       struct stats_query **out);
void stats_query_destroy(struct stats_query *q);

void stats_query_receive(struct stats_query *q, const uint8_t *data, size_t bytes, uint64_t now_ns);
/* Handles everything whose time has come. Fills up to `count` datagrams that are due; returns their
 * number. They are valid until the next call of a function of this query. */
size_t stats_query_send(struct stats_query *q, struct datagram *out, size_t count, uint64_t now_ns);
/* Returns the time in ns at which to call stats_query_send again; UINT64_MAX: done. */
uint64_t stats_query_deadline(const struct stats_query *q);
bool stats_query_done(const struct stats_query *q);

/* Moves the results to the caller, after stats_query_done: one view for each node, in the order of
 * `nodes`. `missing` of a view is set if its node gave no counters. Free the list with
 * stats_list_free. */
void stats_query_finish(struct stats_query *q, struct stats_list *out);

#endif
