/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's parts, shared by the files of this folder that make up struct node. */
#ifndef NODE_INTERNAL_H
#define NODE_INTERNAL_H

#include <stdatomic.h>

#include "base/mac.h"
#include "link/udp.h"
#include "node/member.h"
#include "node/observe.h"
#include "node/offer_server.h"
#include "node/node.h"

/* A peer that the manager has not heard for a lease. */
struct silent_peer {
	uint16_t node;
	uint64_t since_ns; /* when that was noticed here */
};

struct node {
	struct node_options options;
	struct link *link;
	struct nic *nic;
	struct dxp_window *window;
	struct member *member; /* NULL with a static id */
	struct mac *mac;       /* keyed with the fabric key: makes the tokens of RESET frames */
	uint8_t uuid[WIRE_UUID_BYTES];
	uint16_t id;
	uint64_t incarnation;
	uint64_t news_ns; /* when the link is asked again for what it knows */
	uint64_t look_ns; /* when the own address is looked at again */
	struct silent_peer *silent;
	uint32_t silent_count, silent_room;
	uint64_t silent_ns;  /* when the first of them may be given up; UINT64_MAX: none */
	_Atomic bool asleep; /* or about to be: see nic/wake.c; function 0 may be closed, so not its
				word */
	uint64_t arrived_ns, received_ns; /* last arrival, last look for one */
	char name[FABRIC_NAME_BYTES];
	struct observe observe;
	struct offers *offers;       /* NULL: no functions are offered */
	uint64_t offers_ns;          /* when they are looked at though nothing has woken us */
	_Atomic int armed;           /* node_arm */
	int user_fds[NIC_FUNCTIONS]; /* node_user_fd; -1: none */
	struct link_datagram batch[LINK_BATCH];
	struct link_arrival arrivals[LINK_BATCH];
};

/* news.c: what the link knows and RLTP cannot see: how full its buffer is, which paths have become
 * narrower, whether this machine has another address. A few system calls. */
void link_news(struct node *n, uint64_t now_ns);

/* peers.c: tells the NIC, then the owner, what the table says now. Returns how many changes there
 * were. */
uint32_t peers_update(struct node *n, uint64_t now_ns);
/* Reports sessions that ended to their users; returns how many. */
uint32_t peers_ended(struct node *n);

/* peers.c: the path to whoever is at this address has become narrower. */
void peers_narrow(struct node *n, const struct wire_address *at);

#endif
