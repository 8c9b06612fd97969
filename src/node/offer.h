/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual functions, and single queue pairs of them, that a NIC offers to other processes: their
 * clients, labels and memory, and the answer to each request (wire/attach.h). A client is a
 * connection of offer_server.c with at most one user of the NIC (nic.h). After a RESET, its
 * requests are answered with DXP_ECLOSED.
 *
 * When a client disconnects, its user is closed. Its memory is unmapped when the NIC has no pointer
 * into it. Clients are untrusted: descriptors are checked (link/local.h), keys must be the client's
 * own, numbers of regions and bytes are bounded. */
#ifndef NODE_OFFER_H
#define NODE_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "wire/attach.h"

struct offer; /* offers of one NIC */

/* Access of the state machine to its node. */
struct offer_ops {
	/* Finds a queue pair of the node with this name. Statuses of node_target. */
	int (*find)(void *context, const char *name, struct dxp_target *out);
	/* See node_arm. */
	void (*arm)(void *context, int delta);
	/* Sets the descriptors of a user: engine_fd wakes the node, user_fd the user; -1, -1: it is
	 * closed. DXP_EIO: engine_fd cannot be watched. */
	int (*users)(void *context, uint32_t user, int engine_fd, int user_fd);
	void *context;
};

struct offer_options {
	struct nic *nic;
	const char *name; /* name of the node and label of function 0; copied */
	/* Offers 1 .. functions, 7 at most, and queue pairs of function 0 that the NIC's program
	 * has not opened. */
	uint32_t functions;
	struct offer_ops ops;
	/* Counts requests that could not be decoded; may be NULL. */
	const uint64_t *malformed;
};

int offer_create(const struct offer_options *options, struct offer **out);

/* Closes all offered functions and frees their memory. The NIC must not run any more. */
void offer_destroy(struct offer *o, uint64_t now_ns);

/* Functions and queue pairs that the clients of a socket may open. */
struct offer_scope {
	bool only; /* only what follows; false: any function */
	uint8_t function;
	uint8_t qp; /* see struct attach_request */
};

struct offer_client {
	struct offer_scope scope;
	bool manages;  /* may manage the NIC: same user or root */
	uint32_t pid;  /* process id, for display */
	uint32_t user; /* the client's user of the NIC, written by offer.c; 0: none */
	bool closed;   /* it had a user; written by offer.c */
};

/* Descriptors to send with an answer. The offer owns them until the user is closed. */
struct offer_fds {
	int fds[ATTACH_FDS_MAX];
	unsigned count;
};

/* Answers one request. `fd` is the descriptor of the request or -1; the caller still owns it. */
void offer_request(struct offer *o, struct offer_client *client, const struct attach_request *r,
		   int fd, uint64_t now_ns, struct attach_answer *answer, struct offer_fds *beside);

/* Closes descriptors that only the user needs, after they are sent. */
void offer_handed_over(struct offer *o, const struct offer_client *client);

/* Closes the user of a disconnected client. */
void offer_client_gone(struct offer *o, struct offer_client *client, uint64_t now_ns);

/* Frees memory that the NIC does not use any more. Returns true if some memory is still in use;
 * call again soon. */
bool offer_reclaim(struct offer *o);

/* Windows and regions of users that are mapped in this process. */
struct offer_mapped {
	uint32_t count;
	uint64_t bytes;
};
void offer_mapped(const struct offer *o, struct offer_mapped *out);

#endif
