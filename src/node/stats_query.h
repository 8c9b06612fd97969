/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of many nodes over the network with STATS requests: at most STATS_QUERY_SLOTS
 * nodes at a time, one outstanding request per node. A node without an answer for STATS_QUERY_NS is
 * silent; a node that answers gets at most STATS_QUERY_WHOLE_NS. The sender needs the fabric key,
 * but need not be a node. Pure, like member.h. */
#ifndef NODE_STATS_QUERY_H
#define NODE_STATS_QUERY_H

#include "base/rng.h"
#include "link/udp.h"
#include "node/stats_read.h"
#include "wire/stats.h"

struct stats_query_options {
	uint8_t key[FABRIC_KEY_BYTES];
	/* Rows of the node table, which must stay valid. Only nodes that are alive get requests. */
	const struct node_entry *nodes;
	size_t count;
	bool details; /* also read queue pairs and sessions */
	bool paths;   /* read only paths; a node of an earlier version gives no answer */
	entropy_fn entropy;
	void *entropy_context;
};

struct stats_query;

/* Creates a query; destroy it with stats_query_destroy. DXP_ENOMEM; DXP_EIO. */
int stats_query_create(const struct stats_query_options *options, uint64_t now_ns,
		       struct stats_query **out);
void stats_query_destroy(struct stats_query *q);

void stats_query_receive(struct stats_query *q, const uint8_t *data, size_t bytes, uint64_t now_ns);
/* Advances the state by time. Fills up to `count` datagrams that are due, valid until the next call
 * of a function of this query; returns their number. */
size_t stats_query_send(struct stats_query *q, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t stats_query_deadline(const struct stats_query *q); /* UINT64_MAX when done */
bool stats_query_done(const struct stats_query *q);

/* After stats_query_done: moves the results to the caller, one view for each node, in order.
 * `missing` of a view is set if its node gave no counters. Free it with stats_list_free. */
void stats_query_finish(struct stats_query *q, struct stats_list *out);

#endif
