/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of managers and switches over the network with STATS requests
 * (wire/stats_service.h), all at the same time. A service that does not answer for STATS_QUERY_NS
 * counts as silent. A query takes at most STATS_QUERY_WHOLE_NS in total. The sender needs the
 * fabric key, but need not be a node. Pure, like member.h. */
#ifndef NODE_SERVICE_QUERY_H
#define NODE_SERVICE_QUERY_H

#include "base/rng.h"
#include "keys/identity.h"
#include "link/udp.h"
#include "wire/stats_service.h"

struct service_target {
	struct udp_address address;
	uint8_t role; /* enum stats_role */
};

struct service_view {
	struct service_target target;
	const char *missing; /* why the service gave no counters; NULL: it gave them */
	struct stats_service about;
	uint16_t count;
	struct stats_value values[STATS_SERVICE_VALUES_MAX];
	/* IPv4 addresses of the switches next to a switch; the first `above` are above it */
	uint8_t above, neighbour_count;
	uint32_t neighbours[STATS_SERVICE_NEIGHBOURS];
};

struct service_query_options {
	uint8_t key[FABRIC_KEY_BYTES];
	/* Key pair for requests to managers. NULL: these requests use `key` too. */
	const struct identity *identity;
	const struct service_target *targets; /* copied */
	size_t count;                         /* at most SERVICE_QUERY_MAX */
	/* also reads the switches next to each switch, at the same port, and so the whole tree, up
	 * to SERVICE_QUERY_MAX services; omits those that never answer */
	bool follow;
	entropy_fn entropy;
	void *entropy_context;
};

struct service_query;

/* Creates a query; destroy it with service_query_destroy. DXP_EINVAL: too many targets;
 * DXP_ENOMEM; DXP_EIO. */
int service_query_create(const struct service_query_options *options, uint64_t now_ns,
			 struct service_query **out);
void service_query_destroy(struct service_query *q);

void service_query_receive(struct service_query *q, const uint8_t *data, size_t bytes,
			   uint64_t now_ns);
/* Advances the state by time. Fills up to `count` datagrams that are due, valid until the next call
 * of a function of this query; returns their number. */
size_t service_query_send(struct service_query *q, struct datagram *out, size_t count,
			  uint64_t now_ns);
uint64_t service_query_deadline(const struct service_query *q); /* UINT64_MAX when done */
bool service_query_done(const struct service_query *q);

/* Returns one view for each target, in the order of the targets, then one for each further switch
 * that `follow` found. Call it after service_query_done. The views are valid until
 * service_query_destroy. */
const struct service_view *service_query_views(const struct service_query *q);
size_t service_query_count(const struct service_query *q);

#endif
