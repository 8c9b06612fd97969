/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks and answers that all requests of nodes have in common (requests.c), and JOIN (join.c). */
#ifndef MANAGER_REQUESTS_H
#define MANAGER_REQUESTS_H

#include "manager/internal.h"

/* Rejects a request; `text` has the reason and the next step. DXP_OK: only answers. */
void requests_reject(struct registry *r, const struct udp_address *from, uint64_t request,
		     uint64_t nonce, int status, const char *text);

/* Requests that the node repeats its request and states `run` in it. */
void requests_repeat(struct registry *r, const struct udp_address *from, uint16_t node,
		     uint64_t request, uint64_t nonce, uint64_t run);

/* Returns true if the request states the epoch of this run of the manager. Otherwise answers with
 * this epoch, and the node sends the request again. A recorded request cannot state an epoch that
 * did not exist when it was recorded. */
bool requests_run_admit(struct registry *r, const struct udp_address *from, uint16_t node,
			uint64_t request, uint64_t nonce, uint64_t run);

/* Returns true if the key of this request, or the fabric key, may make this request at all.
 * Otherwise rejects the request. */
bool requests_key_admit(struct registry *r, const struct udp_address *from, uint64_t request,
			uint64_t nonce);

/* Returns true if the node joined with the sender's key. If the sender uses the fabric key, returns
 * true if the node joined without a key of its own. */
bool requests_key_same(const struct registry *r, const struct roster_node *n);

/* Answers the request with a LEASE. */
void requests_lease(struct registry *r, struct roster_node *n, uint64_t request);

static inline bool requests_advertises(const struct node_entry *entry)
{
	return entry->capabilities & MANAGE_CAPABILITY_ADVERTISED;
}

void requests_join(struct registry *r, const struct udp_address *from, struct manage_body body,
		   uint64_t now_ns);

#endif
