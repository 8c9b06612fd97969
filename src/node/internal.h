/* SPDX-License-Identifier: BSD-3-Clause */
/* Struct node, private to this folder. */
#ifndef NODE_INTERNAL_H
#define NODE_INTERNAL_H

#include <stdatomic.h>

#include "base/mac.h"
#include "link/udp.h"
#include "nic/limits.h"
#include "seal/seal.h"
#include "node/fabric_keys.h"
#include "node/member.h"
#include "node/observe.h"
#include "node/offer_server.h"
#include "node/probe.h"
#include "node/rotation.h"
#include "node/node.h"

/* Which packets without a tag have a checksum over their payload. */
enum node_payload_crc { PAYLOAD_CRC_AUTO, PAYLOAD_CRC_ALWAYS, PAYLOAD_CRC_NEVER };

/* Whether sessions with protection need the key pair of the peer. */
enum peer_keys {
	PEER_KEYS_AUTO, /* if this node has one, and the peer is in the node table */
	PEER_KEYS_REQUIRE,
	PEER_KEYS_ALLOW,
};

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
	struct member *member; /* NULL if the node has a static id */
	/* Computes the tokens of RESET and BYE frames with the fabric key at the start. Peers keep
	 * such tokens, so they stay the same when the key is rotated. */
	struct mac *mac;
	struct fabric_keys keys;
	struct seal *seal; /* keys that protect the packets of sessions */
	/* enum wire_protect of all sessions, valid if `protect_fixed` */
	uint8_t protect;
	/* true: DXP_PROTECT or the options set one protection for all peers */
	bool protect_fixed;
	uint8_t peer_keys; /* enum peer_keys */
	bool keyed;        /* this node has a key pair */
	/* time in ns from which a peer's different protection is logged again */
	uint64_t protect_report_ns;
	uint8_t payload_crc; /* enum node_payload_crc */
	uint8_t uuid[WIRE_UUID_BYTES];
	uint16_t id;
	uint64_t incarnation;
	uint64_t news_ns; /* time in ns of the next call of news_link */
	uint64_t look_ns; /* time in ns of the next check of this machine's address */
	struct silent_peer *silent;
	uint32_t silent_count, silent_space;
	/* time in ns at which the first silent peer counts as lost; UINT64_MAX: there is none */
	uint64_t silent_ns;
	/* True: the loop sleeps or is about to sleep (nic/wake.c). The flag is not in the window of
	 * function 0, because that may be closed. */
	_Atomic bool sleeping;
	/* time in ns of the last arrival; of the last call of link_receive */
	uint64_t arrived_ns, received_ns;
	char name[FABRIC_NAME_BYTES];
	struct observe observe;
	struct probe probe;
	struct rotation rotation;
	struct offers *offers; /* NULL: the node offers no functions */
	/* time in ns of the next offers_poll if nothing wakes the node before */
	uint64_t offers_ns;
	/* number of devices that post to windows but cannot wake the node */
	_Atomic int armed;
	int user_fds[NIC_USERS]; /* descriptors that wake the users, see node_user_fd; -1: none */
	struct datagram batch[DATAGRAM_BATCH];
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
};

/* news.c: reads from the link what RLTP cannot observe: the level of the receive buffer, smaller
 * MTUs, a new address of this machine. Makes several system calls. */
void news_link(struct node *n, uint64_t now_ns);

/* peers.c: applies changes of the node table to the NIC, then reports them to the node's owner.
 * Returns the number of changes. */
uint32_t peers_update(struct node *n, uint64_t now_ns);
/* peers.c: reports closed sessions to the node's owner. Returns their number. */
uint32_t peers_ended(struct node *n);

/* machine.c: returns true if packets to this peer do not leave the machine: both addresses are of
 * the loopback network, or equal. Both ends compute the same result. */
bool machine_at(const struct node *n, const struct udp_address *peer);
/* machine.c: returns a number of this boot of this machine's kernel; 0: unknown. */
uint64_t machine_number(void);
/* machine.c: reads the option `payload_crc`, or without it DXP_PAYLOAD_CRC. DXP_EINVAL, logged: it
 * does not parse. */
int machine_crc_start(struct node *n);
/* machine.c: see `path` of struct rltp_endpoint_options; `context` is the node. */
uint8_t machine_path(void *context, const struct udp_address *peer, bool same_machine);

/* protect.c: creates the keys that protect packets. DXP_EINVAL, logged: an option `protect` or
 * `peer_keys`, or without it DXP_PROTECT or DXP_PEER_KEYS, does not parse, or this node lacks the
 * key pair that it requires of others; DXP_ENOMEM, DXP_EIO. */
int protect_start(struct node *n, const uint8_t *fabric_key, const struct identity *identity);
/* protect.c: returns the public key of a peer that makes handshakes with its key pair; NULL: it has
 * none, or is of an earlier release. */
const uint8_t *protect_peer_key(void *node, uint16_t id);
/* protect.c: returns true if a session with this peer needs the peer's key pair. */
bool protect_needs_key(void *node, uint16_t id);
/* protect.c: returns the protection (enum wire_protect) of sessions with a peer at this address. */
uint8_t protect_mode(void *node, const struct udp_address *peer);
/* protect.c: logs a handshake that failed because the peer requires another protection, or one side
 * has no key pair. */
void protect_report(struct node *n, uint64_t now_ns);

/* paths.c: measures the paths to the node's peers. */
void paths_start(struct node *n);
void paths_send(struct node *n, uint64_t now_ns);
void paths_receive(struct node *n, const struct datagram_arrival *a, uint64_t now_ns);

/* outside.c: gives the NIC the policy for peers outside of the node table, as the options state
 * it. */
void outside_start(struct node *n);

/* peers.c: returns the largest data payload on the path to this address, a multiple of 64. */
uint16_t peers_payload(const struct node *n, const struct udp_address *to);

/* peers.c: lowers the payload of sessions with this address to what the path's MTU permits. */
void peers_narrow(struct node *n, const struct udp_address *at);

#endif
