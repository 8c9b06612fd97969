/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a NIC, and single queue pairs of them, that the NIC offers to other processes. Holds
 * their clients, labels and memory, and answers each request (wire/attach.h). A client is a
 * connection of offer_server.c with at most one user of the NIC (nic.h). After a RESET of its user,
 * a client's requests are answered with DXP_ECLOSED.
 *
 * When a client disconnects, its user is closed. Its memory is unmapped when the NIC has no pointer
 * into that memory. Clients are untrusted: descriptors are checked (link/local.h), keys must be the
 * client's own, and the numbers of regions and bytes are bounded. */
#ifndef NODE_OFFER_H
#define NODE_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "wire/attach.h"

struct offer; /* the offers of one NIC */

/* Functions of the node that the offers call. */
struct offer_ops {
	/* Finds the service queue pair of the node with this name. Returns the statuses of
	 * node_target. */
	int (*find)(void *context, const char *name, struct dxp_target *out);
	/* See node_arm. */
	void (*arm)(void *context, int delta);
	/* Sets the descriptors of a user. `engine_fd` wakes the node, `user_fd` wakes the user; -1,
	 * -1: the user is closed. DXP_EIO: engine_fd cannot be watched. */
	int (*users)(void *context, uint32_t user, int engine_fd, int user_fd);
	void *context;
};

struct offer_options {
	struct nic *nic;
	const char *name; /* name of the node and label of function 0; copied */
	/* Offers functions 1 .. `functions`, at most 7, and queue pairs of function 0 that the
	 * NIC's own program has not opened. */
	uint32_t functions;
	struct offer_ops ops;
	/* The owner's counter of requests that could not be decoded; may be NULL. */
	const uint64_t *malformed;
};

int offer_create(const struct offer_options *options, struct offer **out);

/* Closes all offered functions and frees their memory. The NIC must not run any more. */
void offer_destroy(struct offer *o, uint64_t now_ns);

/* Functions and queue pairs that the clients of a socket may open. */
struct offer_scope {
	/* true: only the function and queue pair below; false: any function */
	bool only;
	uint8_t function;
	uint8_t qp; /* queue pair, or a value ATTACH_QP_..., see struct attach_request */
};

struct offer_client {
	struct offer_scope scope;
	/* the client may manage the NIC: it runs as the same system user, or as root */
	bool manages;
	uint32_t pid;  /* process id of the client, for display */
	uint32_t user; /* the client's user of the NIC, written by offer.c; 0: none */
	bool closed;   /* true: the client had a user that was closed; written by offer.c */
};

/* Descriptors to send with an answer. The struct offer owns them until the user is closed. */
struct offer_fds {
	int fds[ATTACH_FDS_MAX];
	unsigned count;
};

/* Answers one request. `fd` is the descriptor that came with the request, or -1; the caller still
 * owns it. *beside are the descriptors to send with the answer. */
void offer_request(struct offer *o, struct offer_client *client, const struct attach_request *r,
		   int fd, uint64_t now_ns, struct attach_answer *answer, struct offer_fds *beside);

/* Closes descriptors that only the user needs. Call it after they are sent. */
void offer_handed_over(struct offer *o, const struct offer_client *client);

/* Closes the user of a disconnected client. */
void offer_client_gone(struct offer *o, struct offer_client *client, uint64_t now_ns);

/* Frees memory that the NIC does not use any more. Returns true if some of the memory is still in
 * use; call it again soon. */
bool offer_reclaim(struct offer *o);

/* Windows and regions of users that are mapped in this process: their number and size. */
struct offer_mapped {
	uint32_t count;
	uint64_t bytes;
};
void offer_mapped(const struct offer *o, struct offer_mapped *out);

#endif
