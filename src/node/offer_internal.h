/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the offered functions, shared by offer.c, offer_choice.c and offer_manage.c. */
#ifndef NODE_OFFER_INTERNAL_H
#define NODE_OFFER_INTERNAL_H

#include <fcntl.h>

#include "base/util.h"
#include "link/local.h"
#include "nic/limits.h"
#include "node/offer.h"

struct offer_region {
	struct local_memory memory;
	uint32_t key;
	bool revoked; /* key revoked; the memory is unmapped when the NIC has no pointer into it */
};

enum offer_state {
	OFFER_FREE,    /* free, or used by the NIC's own program */
	OFFER_OPEN,    /* a client uses it */
	OFFER_CLOSING, /* closed, but the NIC may still use its memory */
};

struct offer_user {
	enum offer_state state;
	struct offer_client *client; /* valid in state OFFER_OPEN */
	uint32_t pid;
	struct local_memory window;
	/* eventfd that the user writes to wake the node; the node does not read it */
	int engine_fd;
	/* pair of datagram sockets: [0] the user's, [1] the node's; see attach.h */
	int user_fds[2];
	bool armed;
	struct offer_region *regions;
	uint32_t region_count, region_space;
	uint64_t mapped_bytes; /* total size of the regions */
};

/* Settings of a function, which outlive its users. */
struct offer_function {
	uint32_t weight, priority; /* `priority` is an enum nic_priority */
	uint64_t limit_bytes_per_s;
};

struct offer {
	struct offer_options options;
	char name[FABRIC_NAME_BYTES];
	struct offer_function functions[NIC_FUNCTIONS];
	/* one for each number of a user of the NIC; entry 0 is never used */
	struct offer_user users[NIC_USERS];
	bool reclaim; /* true: some memory waits to be freed */
};

/* offer_choice.c: chooses which queue pairs to open. *user is the user's number, which names the
 * first queue pair. *qps is the number of queue pairs. DXP_ENOENT: no such function; DXP_EACCESS:
 * outside the scope of the client's socket; DXP_EBUSY: in use. */
int offer_choose(const struct offer *o, const struct offer_client *client,
		 const struct attach_request *r, uint32_t *user, uint32_t *qps);

/* offer_manage.c: answers a management request. */
int offer_manage(struct offer *o, const struct offer_client *client, const struct attach_request *r,
		 uint64_t now_ns, struct attach_answer *answer);

/* offer.c: closes all users of a function that belong to clients. DXP_ENOENT: the function is not
 * open; DXP_EUNSUPPORTED: only the NIC's own program uses it. */
int offer_function_reset(struct offer *o, uint32_t function, uint64_t now_ns);

#endif
