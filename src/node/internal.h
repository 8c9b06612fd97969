/* SPDX-License-Identifier: BSD-3-Clause */
/* Struct node, private to this folder. */
#ifndef NODE_INTERNAL_H
#define NODE_INTERNAL_H

#include <stdatomic.h>

#include "base/mac.h"
#include "link/udp.h"
#include "nic/limits.h"
#include "seal/seal.h"
#include "node/member.h"
#include "node/observe.h"
#include "node/offer_server.h"
#include "node/probe.h"
#include "node/node.h"

/* A peer whose lease at the manager has expired. */
struct silent_peer {
	uint16_t node;
	uint64_t since_ns; /* time of the manager's report */
};

struct node {
	struct node_options options;
	struct link *link;
	struct nic *nic;
	struct dxp_window *window;
	struct member *member;      /* NULL with a static id */
	struct mac *mac;            /* uses the fabric key to compute tokens of RESET frames */
	struct seal *seal;          /* keys of sessions */
	uint8_t protect;            /* enum wire_protect, valid if `protect_fixed` */
	bool protect_fixed;         /* one protection for all peers, from DXP_PROTECT */
	uint64_t protect_report_ns; /* time of the next log entry about another protection */
	uint8_t uuid[WIRE_UUID_BYTES];
	uint16_t id;
	uint64_t incarnation;
	uint64_t news_ns; /* next call of news_link */
	uint64_t look_ns; /* next check of the own address */
	struct silent_peer *silent;
	uint32_t silent_count, silent_space;
	/* time at which the first silent peer counts as lost; UINT64_MAX: there is none */
	uint64_t silent_ns;
	/* True: the loop sleeps or is about to sleep (nic/wake.c). The flag is not in the window of
	 * function 0, because that may be closed. */
	_Atomic bool sleeping;
	uint64_t arrived_ns, received_ns; /* last arrival, last receive call */
	char name[FABRIC_NAME_BYTES];
	struct observe observe;
	struct probe probe;
	struct offers *offers;   /* NULL: the node offers no functions */
	uint64_t offers_ns;      /* next check without a wakeup */
	_Atomic int armed;       /* number of devices that cannot wake the node */
	int user_fds[NIC_USERS]; /* see node_user_fd; -1: none */
	struct datagram batch[DATAGRAM_BATCH];
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
};

/* news.c: reads from the link what RLTP cannot observe: receive buffer level, smaller MTUs, a new
 * address of this machine. Makes several system calls. */
void news_link(struct node *n, uint64_t now_ns);

/* peers.c: applies the node table to the NIC, then notifies the owner. Returns the number of
 * changes. */
uint32_t peers_update(struct node *n, uint64_t now_ns);
/* Reports closed sessions to the owner. Returns their number. */
uint32_t peers_ended(struct node *n);

/* protect.c: creates the keys. DXP_EINVAL, logged: DXP_PROTECT does not parse; DXP_ENOMEM,
 * DXP_EIO. */
int protect_start(struct node *n, const uint8_t *fabric_key);
/* protect.c: returns the protection (enum wire_protect) of sessions with a peer at this address. */
uint8_t protect_mode(void *node, const struct udp_address *peer);
/* protect.c: logs a handshake that failed because the peer requires another protection. */
void protect_report(struct node *n, uint64_t now_ns);

/* paths.c: measures the paths to the node's peers. */
void paths_start(struct node *n);
void paths_send(struct node *n, uint64_t now_ns);
void paths_receive(struct node *n, const struct datagram_arrival *a, uint64_t now_ns);

/* outside.c: gives the NIC the policy of the options. */
void outside_start(struct node *n);

/* peers.c: returns the largest data payload on the path to this address, a multiple of 64. */
uint16_t peers_payload(const struct node *n, const struct udp_address *to);

/* peers.c: lowers the payload of sessions to this address to the path's MTU. */
void peers_narrow(struct node *n, const struct udp_address *at);

#endif
