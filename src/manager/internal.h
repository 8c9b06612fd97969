/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of the registry: requests of nodes, the view (which nodes a node may see), and push
 * (updates of the node table for nodes). */
#ifndef MANAGER_INTERNAL_H
#define MANAGER_INTERNAL_H

#include "manager/events.h"
#include "manager/fabric_rotation.h"
#include "manager/limits.h"
#include "manager/registry.h"
#include "wire/stats_service.h"

/* datagrams, a power of two: the answers to all requests that share one save of the store; a burst
 * of 4096 joins takes five saves */
#define OUTBOX_SIZE 1024

struct outbox_entry {
	struct udp_address to;
	uint16_t bytes;
	uint8_t data[FABRIC_DATAGRAM_BYTES];
};

/* Datagrams to send. Invariant: head - tail datagrams are queued. Half of the ring stays free, so a
 * dequeued entry is valid until the next receive or send. */
struct outbox {
	struct outbox_entry *entries;
	uint32_t head, tail;
};

struct registry {
	struct registry_options options;
	struct mac *mac; /* by registry_fabric_key */
	struct fabric_rotation fabric;
	struct roster roster;
	struct grants grants;
	struct keyring keyring;
	struct tokens tokens;
	struct channels *channels;
	uint8_t public_key[KEYS_BYTES];
	/* Key of the sender of the request that is being handled; NULL: the request is sealed with
	 * the fabric key. */
	struct key_row *sender;
	/* name that the present request claims; NULL: none */
	const char *claimed;
	struct outbox outbox;
	struct event_journal events;
	struct event_limits event_limits;
	uint64_t now_ns; /* of the last registry_receive or registry_send */
	struct registry_counters counters;
	/* Each alive node whose nonce is known is in one of these lists, by by_push. All but `idle`
	 * are ordered by push_ns. */
	struct list ready;              /* nodes with changes that are due */
	struct list pushes;             /* nodes with new changes, which are sent after a delay */
	struct list repeats;            /* nodes with unconfirmed datagrams */
	struct list idle[ROSTER_KINDS]; /* nodes that have all changes */
	uint64_t epoch;
	uint8_t proof_key[KEYS_BYTES]; /* for registry_proof */
	uint64_t lease_ns;
	uint64_t started_ns;
	struct stats_service_limit stats_limit;
	uint64_t rejections_ns;
	/* Allowance for rejections to senders that are not authenticated, in units of 10^-9
	 * rejections. */
	uint64_t rejections;
	unsigned used; /* number of entries that the last registry_send returned */
};

/* Returns an entry to fill; NULL: the outbox is full. registry_outbox_commit queues the entry. */
struct outbox_entry *registry_outbox_reserve(struct registry *r);
void registry_outbox_commit(struct registry *r, struct outbox_entry *entry,
			    const struct udp_address *to, size_t bytes);

#define MANAGER_REMOVED_TEXT                                                                  \
	"this key was removed from the fabric; to return, remove node.key here and run `dxp " \
	"join` with a new token"

#define MANAGER_REPLACED_TEXT                                                                    \
	"this key was replaced by `dxp keys rotate`; restart this program, or, if that command " \
	"was interrupted, run it again"

#define MANAGER_UNRECORDED_TEXT                                                                    \
	"done, but the manager cannot record it, so its restart would undo this; its log has the " \
	"reason; run this again after the repair"

/* Returns why a removed key is rejected. */
const char *manager_removed_text(const struct key_row *row);
/* Return what authenticates frames: frames for node `n`, and frames for the sender of the request
 * that is being handled. */
struct mac *registry_node_mac(const struct registry *r, const struct roster_node *n);
struct mac *registry_sender_mac(const struct registry *r);
/* Computes row->mac unless it is computed already. Returns false if that fails. */
bool registry_key_mac(const struct registry *r, struct key_row *row);
uint64_t registry_wall_ms(const struct registry *r);
uint64_t registry_wall_s(const struct registry *r);
/* Stores all changes now. Returns false if a restart of the manager would lose some. */
bool registry_saved(const struct registry *r);
/* Computes a number that a sender knows only if it receives datagrams at this address. The number
 * is valid for 1 to 2 minutes. 0: there is none, because memory is short. */
uint64_t registry_proof(const struct registry *r, const struct udp_address *at, uint64_t nonce,
			uint64_t now_ns);
bool registry_proved(const struct registry *r, const struct udp_address *at, uint64_t nonce,
		     uint64_t proof, uint64_t now_ns);
/* Uses one unauthenticated rejection of the allowance. Returns false if none is left. */
bool registry_rejection_allowed(struct registry *r, uint64_t now_ns);

/* fabric_rotation.c: returns the present fabric key; loads a rotated one (DXP_EINVAL, DXP_ENOMEM);
 * writes the part of a LEASE for this node. */
const uint8_t *registry_fabric_key(const struct registry *r);
int registry_fabric_load(struct registry *r, const struct fabric_row *row);
void registry_rekey_fill(const struct registry *r, const struct roster_node *n,
			 struct manage_rekey *out);

/* operate.c: changes a grant for an operator, and stores the change. Returns a status and sets
 * *text. DXP_EIO: the change holds, but a restart of the manager would lose it. */
int manager_grant_set(struct registry *r, const struct manage_assign *assign, const char **text,
		      uint64_t now_ns);
/* operate.c: returns an entry for the answer if the sender of the present request may read the
 * table, the grants and the counters. Otherwise returns NULL: it has answered with a rejection, or
 * has counted that there is no space. */
struct outbox_entry *manager_read_begin(struct registry *r, const struct udp_address *from,
					uint64_t request, uint64_t nonce);
/* requests.c: ends all nodes that joined with a removed key. */
void manager_key_end(struct registry *r, const struct key_row *row, uint64_t now_ns);

/* channel.c: the manager's side of the encrypted channels to nodes and operators
 * (wire/channel.h). */
int channels_create(struct channels **out);
void channels_destroy(struct channels *c);
void channels_receive(struct registry *r, const struct udp_address *from, const uint8_t *data,
		      size_t bytes, uint64_t now_ns);

/* Handle requests (requests.c, operate.c, grants_list.c). The caller has checked that `header` and
 * `body` are authentic. */
void requests_receive(struct registry *r, const struct udp_address *from,
		      const struct wire_header *header, struct manage_body body, uint64_t now_ns);
void manager_requests_assign(struct registry *r, const struct udp_address *from,
			     struct manage_body body, uint64_t now_ns);
void manager_requests_status(struct registry *r, const struct udp_address *from,
			     struct manage_body body);
void manager_requests_grants(struct registry *r, const struct udp_address *from,
			     struct manage_body body);
void requests_answer(struct registry *r, const struct udp_address *to, uint16_t node,
		     const struct manage_answer *answer);

/* report.c: answers STATS of a sender that may read the table. */
void manager_requests_stats(struct registry *r, const struct udp_address *from,
			    struct manage_body body, uint64_t now_ns);

/* view.c: view_next returns the node with the smallest id >= `id` that `viewer` may see by its
 * kind; NULL: there is none. view_news returns the node that changed first after `sequence`, of
 * those of which `viewer` must be informed; NULL: there is none. view_visible returns true if
 * `viewer` may see `subject`. view_entry writes the table entry of `subject` for a node that may
 * see it. */
const struct roster_node *view_next(const struct registry *r, const struct roster_node *viewer,
				    uint32_t id);
const struct roster_node *view_news(const struct registry *r, const struct roster_node *viewer,
				    uint64_t sequence);
bool view_visible(const struct registry *r, const struct roster_node *viewer,
		  const struct roster_node *subject);
void view_entry(const struct roster_node *subject, struct node_entry *out);

/* push.c: push_news schedules a change for all viewers that it concerns. push_node schedules all
 * changes for one viewer. push_progress handles a viewer's confirmation. push_send sends the
 * updates that are due. */
void push_news(struct registry *r, struct roster_node *subject, uint64_t now_ns);
void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns);
void push_progress(struct registry *r, struct roster_node *viewer,
		   const struct manage_progress *progress, uint64_t now_ns);
void push_send(struct registry *r, uint64_t now_ns);
uint64_t push_deadline(const struct registry *r);

#endif
