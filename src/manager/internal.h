/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of the registry: requests (of nodes), view (what each node may see), push (updates
 * to nodes). */
#ifndef MANAGER_INTERNAL_H
#define MANAGER_INTERNAL_H

#include "manager/limits.h"
#include "manager/registry.h"
#include "wire/stats_service.h"

/* datagrams, a power of two: one batch of requests causes fewer */
#define OUTBOX_SIZE 256

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
	struct mac *mac;
	struct roster roster;
	struct grants grants;
	struct keyring keyring;
	struct tokens tokens;
	struct channels *channels;
	uint8_t public_key[KEYS_BYTES];
	/* Key of the request in process; NULL: sealed with the fabric key. */
	struct key_row *sender;
	struct outbox outbox;
	struct registry_counters counters;
	struct list pushes;  /* nodes with new changes, sent after a short delay */
	struct list repeats; /* nodes with unconfirmed datagrams, by push_ns */
	uint64_t epoch;
	uint64_t lease_ns;
	uint64_t started_ns;
	struct stats_service_limit stats_limit;
	uint64_t rejections_ns;
	/* allowance for rejections that are not authenticated, in 10^-9 rejections */
	uint64_t rejections;
	unsigned used; /* entries that the last registry_send returned */
};

/* Returns an entry to fill; NULL: full. registry_outbox_commit queues it. */
struct outbox_entry *registry_outbox_reserve(struct registry *r);
void registry_outbox_commit(struct registry *r, struct outbox_entry *entry,
			    const struct udp_address *to, size_t bytes);

#define MANAGER_REMOVED_TEXT                                                                  \
	"this key was removed from the fabric; to return, remove node.key here and run `dxp " \
	"join` with a new token"

/* Returns the mac of frames for this node, or for the sender of the request in process. */
struct mac *registry_node_mac(const struct registry *r, const struct roster_node *n);
struct mac *registry_sender_mac(const struct registry *r);
/* Computes row->mac if needed. Returns false if that fails. */
bool registry_key_mac(const struct registry *r, struct key_row *row);
uint64_t registry_wall_s(const struct registry *r);
/* Uses one unauthenticated answer of the allowance. */
bool registry_rejection_allowed(struct registry *r, uint64_t now_ns);

/* operate.c: changes a grant, for an operator. Returns a status and sets *text. */
int manager_grant_set(struct registry *r, const struct manage_assign *assign, const char **text,
		      uint64_t now_ns);
/* operate.c: returns whether the sender of the request in process may read the table and the
 * grants; answers otherwise. */
bool manager_read_admit(struct registry *r, const struct udp_address *from, uint64_t request,
			uint64_t nonce);
/* requests.c: ends all nodes of a removed key. */
void manager_key_end(struct registry *r, const struct key_row *row, uint64_t now_ns);

/* channel.c: the manager's side of channels. */
int channels_create(struct channels **out);
void channels_destroy(struct channels *c);
void channels_receive(struct registry *r, const struct udp_address *from, const uint8_t *data,
		      size_t bytes, uint64_t now_ns);

/* Handle requests (requests.c, operate.c, grants_list.c). The caller has authenticated `header` and
 * `body`. */
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

/* view.c: whether a change of `subject` concerns `viewer`; whether `viewer` sees it; and its
 * entry in the table of a node that sees it. */
bool view_concerns(const struct registry *r, const struct roster_node *viewer,
		   const struct roster_node *subject);
bool view_visible(const struct registry *r, const struct roster_node *viewer,
		  const struct roster_node *subject);
void view_entry(const struct roster_node *subject, struct node_entry *out);

/* push.c: schedules a change for the viewers concerned, or all changes for one viewer; handles a
 * viewer's confirmation; sends what is due. */
void push_news(struct registry *r, const struct roster_node *subject, uint64_t now_ns);
void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns);
void push_progress(struct registry *r, struct roster_node *viewer,
		   const struct manage_progress *progress, uint64_t now_ns);
void push_send(struct registry *r, uint64_t now_ns);
uint64_t push_deadline(const struct registry *r);

#endif
