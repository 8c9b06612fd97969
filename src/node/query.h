/* SPDX-License-Identifier: BSD-3-Clause */
/* One request to a manager: `dxp grant`, `dxp revoke`, `dxp grants`, `dxp events`, or `dxp nodes`,
 * which reads the node table with all nodes, granted or not. The sender proves the fabric key, or a
 * key pair that the manager has admitted. It need not be a node. Pure, like member.h. */
#ifndef NODE_QUERY_H
#define NODE_QUERY_H

#include "base/rng.h"
#include "keys/identity.h"
#include "link/udp.h"
#include "node/managers.h"
#include "wire/events.h"
#include "wire/grants.h"

enum query_kind { QUERY_GRANT, QUERY_REVOKE, QUERY_NODES, QUERY_GRANTS, QUERY_EVENTS };

/* events that one query reads at most, about 1 MB; a further query reads the next ones */
#define QUERY_EVENTS_MAX 4096

struct query_options {
	struct udp_address manager;
	struct manager_backups others; /* tried in order if `manager` is silent or stands by */
	uint8_t key[FABRIC_KEY_BYTES];
	/* For NODES, GRANTS and EVENTS: the reader's key pair, used instead of `key`. NULL: the
	 * query uses `key`. */
	const struct identity *identity;
	enum query_kind kind;
	const char *host, *xpu;       /* for GRANT and REVOKE: a node's name or "*"; copied */
	struct events_request events; /* for EVENTS: from, since_ms and kind */
	uint64_t timeout_ns;          /* limit for the whole query; 0: FABRIC_JOIN_NS */
	entropy_fn entropy;
	void *entropy_context;
};

struct query;

/* Creates a query; destroy it with query_destroy. DXP_EINVAL: invalid name; DXP_ENOMEM; DXP_EIO. */
int query_create(const struct query_options *options, uint64_t now_ns, struct query **out);
void query_destroy(struct query *a);

void query_receive(struct query *a, const struct udp_address *from, const uint8_t *data,
		   size_t bytes, uint64_t now_ns);
/* Handles everything whose time has come. Returns 1 and sets *out if a datagram is due, otherwise
 * 0. *out is valid until the next call. */
size_t query_send(struct query *a, struct datagram *out, uint64_t now_ns);
/* Returns the time in ns at which to call query_send again; UINT64_MAX: done. */
uint64_t query_deadline(const struct query *a);

bool query_done(const struct query *a);
/* Return the result, after query_done. query_status: DXP_OK, DXP_EAUTH, DXP_ETIMEDOUT, DXP_EINVAL,
 * DXP_ENOMEM ... query_text: a sentence for the user, also after success; never NULL. */
int query_status(const struct query *a);
const char *query_text(const struct query *a);
/* Returns the address of the manager that gave the result: after DXP_OK, the active one. */
struct udp_address query_manager(const struct query *a);

/* For NODES: returns all rows, sorted by id, without magic. They are valid until query_destroy. */
size_t query_nodes(const struct query *a, const struct node_entry **rows);

/* For GRANTS: returns all rows of one version of the grants. They are valid until query_destroy. */
size_t query_grants(const struct query *a, const struct grants_row **rows);
/* For GRANTS: returns true if the rows decide who may use an xPU. False: any host may use any
 * xPU. */
bool query_explicit(const struct query *a);

/* For EVENTS: returns the rows, at most QUERY_EVENTS_MAX, of one run of the manager. They are valid
 * until query_destroy. *last
 * is the last page, whose `next` is the number with which the next query begins. */
size_t query_events(const struct query *a, const struct event_row **rows,
		    const struct events_page **last);

#endif
