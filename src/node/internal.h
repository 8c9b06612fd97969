/* SPDX-License-Identifier: BSD-3-Clause */
/* Definition of struct node, for the files of this folder only. */
#ifndef NODE_INTERNAL_H
#define NODE_INTERNAL_H

#include <stdatomic.h>

#include "base/mac.h"
#include "link/udp.h"
#include "node/member.h"
#include "node/observe.h"
#include "node/offer_server.h"
#include "node/node.h"

/* A peer without a sign of life at the manager for one lease. */
struct silent_peer {
	uint16_t node;
	uint64_t since_ns; /* when this node received that report */
};

struct node {
	struct node_options options;
	struct link *link;
	struct nic *nic;
	struct dxp_window *window;
	struct member *member; /* NULL with a static id */
	struct mac *mac;       /* computes the tokens of RESET frames; keyed with the fabric key */
	uint8_t uuid[WIRE_UUID_BYTES];
	uint16_t id;
	uint64_t incarnation;
	uint64_t news_ns; /* next call of link_news */
	uint64_t look_ns; /* next check of this machine's address */
	struct silent_peer *silent;
	uint32_t silent_count, silent_room;
	uint64_t silent_ns; /* earliest time to declare one of them lost; UINT64_MAX: none */
	/* Sleeping or about to sleep (nic/wake.c). Not in the window of function 0, because that
	 * function may be closed. */
	_Atomic bool asleep;
	uint64_t arrived_ns, received_ns; /* last arrival, last receive call */
	char name[FABRIC_NAME_BYTES];
	struct observe observe;
	struct offers *offers;       /* NULL: no functions are offered */
	uint64_t offers_ns;          /* next check without a wakeup */
	_Atomic int armed;           /* devices that cannot wake the node; see node_arm */
	int user_fds[NIC_FUNCTIONS]; /* see node_user_fd; -1: none */
	struct link_datagram batch[LINK_BATCH];
	struct link_arrival arrivals[LINK_BATCH];
};

/* news.c: polls the link for facts that RLTP cannot see: level of the receive buffer, paths with a
 * smaller MTU, a new address of this machine. Costs a few system calls. */
void link_news(struct node *n, uint64_t now_ns);

/* peers.c: applies the node table to the NIC, then notifies the owner. Returns the number of
 * changes. */
uint32_t peers_update(struct node *n, uint64_t now_ns);
/* Reports closed sessions to the owner; returns how many. 0 without a manager. */
uint32_t peers_ended(struct node *n);

/* peers.c: lowers the payload of the sessions to this address to what the path still carries. */
void peers_narrow(struct node *n, const struct wire_address *at);

#endif
