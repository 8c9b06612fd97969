/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of what is offered, shared by offer.c and offer_manage.c. */
#ifndef NODE_OFFER_INTERNAL_H
#define NODE_OFFER_INTERNAL_H

#include <fcntl.h>

#include "base/util.h"
#include "link/local.h"
#include "node/offer.h"

struct offer_region {
	struct local_memory memory;
	uint32_t key;
	bool revoked; /* unmapped as soon as nothing points there */
};

enum offer_state {
	OFFER_FREE,    /* or somebody else's: the NIC knows */
	OFFER_OPEN,    /* a client has it */
	OFFER_CLOSING, /* the NIC may still point into its memory */
};

struct offer_function {
	enum offer_state state;
	struct offer_client *client; /* OPEN */
	uint32_t pid;
	struct local_memory window;
	int engine_fd;   /* an eventfd: the user kicks, nobody reads */
	int user_fds[2]; /* sockets of datagrams, the user's [0] and ours: see attach.h */
	bool armed;
	struct offer_region *regions;
	uint32_t region_count, region_room;
	uint64_t mapped_bytes; /* of the regions */
	/* Of whoever has the function: these stay when its user goes. */
	uint32_t weight;
	uint64_t limit_bytes_per_s;
};

struct offer {
	struct offer_options options;
	char name[FABRIC_NAME_BYTES];
	struct offer_function functions[NIC_FUNCTIONS]; /* [0]: only what is managed */
	bool reclaim;                                   /* something waits to be freed */
};

/* offer_manage.c: for who manages the NIC. */
int offer_manage(struct offer *o, const struct offer_client *client, const struct attach_request *r,
		 uint64_t now_ns, struct attach_answer *answer);

/* offer.c: closes a function under its user. DXP_ENOENT: nobody has it; DXP_EUNSUPPORTED: it is the
 * NIC's own program's. */
int offer_function_reset(struct offer *o, uint32_t function, uint64_t now_ns);

#endif
