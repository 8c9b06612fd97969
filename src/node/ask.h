/* SPDX-License-Identifier: BSD-3-Clause */
/* One request to a manager: `dxp grant`, `dxp revoke`, or `dxp nodes --all`, which reads the table
 * without regard to grants. Needs the fabric key only; the sender need not be a node. Pure, like
 * member.h. */
#ifndef NODE_ASK_H
#define NODE_ASK_H

#include "base/rng.h"
#include "link/udp.h"
#include "wire/manage.h"

enum ask_kind { ASK_GRANT, ASK_REVOKE, ASK_NODES };

struct ask_options {
	struct udp_address manager;
	uint8_t key[FABRIC_KEY_BYTES];
	enum ask_kind kind;
	const char *host, *xpu; /* GRANT and REVOKE: a node's name or "*"; copied */
	uint64_t timeout_ns;    /* 0: FABRIC_JOIN_NS */
	entropy_fn entropy;
	void *entropy_context;
};

struct ask;

/* Creates *out; the caller destroys it. DXP_EINVAL: invalid name; DXP_ENOMEM; DXP_EIO. */
int ask_create(const struct ask_options *options, uint64_t now_ns, struct ask **out);
void ask_destroy(struct ask *a);

void ask_receive(struct ask *a, const struct udp_address *from, const uint8_t *data, size_t bytes,
		 uint64_t now_ns);
/* Returns 1 and sets *out when a datagram is due, else 0; its memory is valid until the next call.
 * Also advances the state by time. */
size_t ask_send(struct ask *a, struct datagram *out, uint64_t now_ns);
uint64_t ask_deadline(const struct ask *a); /* UINT64_MAX when done */

bool ask_done(const struct ask *a);
/* When done: DXP_OK, DXP_EAUTH, DXP_ETIMEDOUT, DXP_EINVAL, DXP_ENOMEM ... ask_text returns a
 * sentence for the user, also after success; never NULL. */
int ask_status(const struct ask *a);
const char *ask_text(const struct ask *a);

/* NODES: all rows by id, magic hidden; valid until ask_destroy. */
size_t ask_nodes(const struct ask *a, const struct node_entry **rows);

#endif
