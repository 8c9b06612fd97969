/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program that runs a NIC grants to other processes: who has which virtual function, its
 * label, its memory, and what each request (wire/attach.h) is answered. Knows connections as
 * clients, not as sockets (those are offer_server.c's).
 *
 * Everything that a client has ends with it: its function is closed, and its memory is unmapped as
 * soon as nothing in the NIC points into it. What comes from a client is not believed: descriptors
 * are checked (link/local.h), keys must be his own, numbers are bounded.
 *
 * A client has at most one function, and a function that one was closed under him (by RESET) is
 * answered DXP_ECLOSED from then on. */
#ifndef NODE_OFFER_H
#define NODE_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "wire/attach.h"

struct offer; /* of one NIC */

/* How the state machine reaches its node. */
struct offer_ops {
	/* Queue pair of a node of the fabric that is called so. Statuses as node_target. */
	int (*find)(void *context, const char *name, struct dxp_target *out);
	/* As node_arm. */
	void (*arm)(void *context, int delta);
	/* A function has a user: kicks come by engine_fd, wakes go to user_fd. -1, -1: none any
	 * more. DXP_EIO: it cannot be watched. */
	int (*users)(void *context, uint32_t function, int engine_fd, int user_fd);
	void *context;
};

struct offer_options {
	struct nic *nic;
	const char *name;   /* of the node: the label of function 0; copied */
	uint32_t functions; /* 1 .. functions are offered, at most 7 */
	struct offer_ops ops;
	const uint64_t *malformed; /* requests that did not parse, counted by who decodes them;
				      NULL: nobody does */
};

/* DXP_ENOMEM; DXP_EINVAL. */
int offer_create(const struct offer_options *options, struct offer **out);

/* Closes all functions that it gave, and frees their memory whatever points there: the NIC is used
 * no more, or is about to be destroyed. */
void offer_destroy(struct offer *o, uint64_t now_ns);

struct offer_client {
	uint32_t only;     /* may open this function and nothing else; 0: any */
	bool manages;      /* may manage the NIC: same user, or root */
	uint32_t pid;      /* for people */
	uint32_t function; /* it has; 0: none. The state machine's, as what follows: 0 at first */
	bool closed;       /* it had one */
};

/* What goes beside an answer. The descriptors stay the offer's, until the function is closed. */
struct offer_fds {
	int fds[ATTACH_FDS_MAX];
	unsigned count;
};

/* Answers one request. `fd`: the descriptor that came with it, or -1; stays the caller's. */
void offer_request(struct offer *o, struct offer_client *client, const struct attach_request *r,
		   int fd, uint64_t now_ns, struct attach_answer *answer, struct offer_fds *beside);

/* What went beside the answer has been sent: what only the user needs is not kept here. */
void offer_handed_over(struct offer *o, const struct offer_client *client);

/* The client is gone. */
void offer_client_gone(struct offer *o, struct offer_client *client, uint64_t now_ns);

/* Frees memory that nothing points into any more. True while there is some that waits: then again,
 * before long. */
bool offer_reclaim(struct offer *o);

/* Memory of users that is mapped here: windows and regions. */
struct offer_mapped {
	uint32_t count;
	uint64_t bytes;
};
void offer_mapped(const struct offer *o, struct offer_mapped *out);

#endif
