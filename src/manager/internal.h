/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the registry, for its parts only: requests (of nodes), view (what each may see)
 * and push (updates to nodes). */
#ifndef MANAGER_INTERNAL_H
#define MANAGER_INTERNAL_H

#include "manager/limits.h"
#include "manager/registry.h"

/* datagrams waiting: more than one batch of requests can cause; a power of two */
#define OUTBOX_SIZE 256

struct outbox_entry {
	struct udp_address to;
	uint16_t bytes;
	uint8_t data[FABRIC_DATAGRAM_BYTES];
};

/* Outgoing datagrams. Invariant: head - tail is their number; a dequeued entry stays valid until
 * the next receive or send, as half of the ring is kept free. */
struct outbox {
	struct outbox_entry *entries;
	uint32_t head, tail;
};

struct registry {
	struct registry_options options;
	struct mac *mac;
	struct roster roster;
	struct grants grants;
	struct outbox outbox;
	struct registry_counters counters;
	struct list pushes;  /* nodes with changes to send, after a short delay */
	struct list repeats; /* nodes with unconfirmed datagrams, also by push_ns */
	uint64_t epoch;
	uint64_t lease_ns;
	uint64_t refusals_ns; /* last update of `refusals` */
	uint64_t refusals;    /* remaining unauthenticated rejections, in billionths */
	unsigned used;        /* outbox entries handed out by the last registry_send */
};

/* Returns the outbox entry to fill, or NULL if full; registry_outbox_commit queues it with its
 * length. */
struct outbox_entry *registry_outbox_reserve(struct registry *r);
void registry_outbox_commit(struct registry *r, struct outbox_entry *entry,
			    const struct udp_address *to, size_t bytes);

/* Handles all frames that nodes send (requests.c, operate.c). `header` and `body` are authentic. */
void requests_receive(struct registry *r, const struct udp_address *from,
		      const struct wire_header *header, struct manage_body body, uint64_t now_ns);
void manager_requests_assign(struct registry *r, const struct udp_address *from,
			     struct manage_body body, uint64_t now_ns);
void manager_requests_status(struct registry *r, const struct udp_address *from,
			     struct manage_body body);
void requests_answer(struct registry *r, const struct udp_address *to, uint16_t node,
		     const struct manage_answer *answer);

/* Returns whether a change of `subject` matters to `viewer`; whether it is visible; the entry
 * shown (view.c). */
bool view_concerns(const struct registry *r, const struct roster_node *viewer,
		   const struct roster_node *subject);
bool view_visible(const struct registry *r, const struct roster_node *viewer,
		  const struct roster_node *subject);
void view_entry(const struct registry *r, const struct roster_node *viewer,
		const struct roster_node *subject, struct node_entry *out);

/* Schedules a change of `subject` for the viewers concerned, or for one; handles a viewer's
 * progress; sends what is due (push.c). */
void push_news(struct registry *r, const struct roster_node *subject, uint64_t now_ns);
void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns);
void push_progress(struct registry *r, struct roster_node *viewer,
		   const struct manage_progress *progress, uint64_t now_ns);
void push_send(struct registry *r, uint64_t now_ns);
uint64_t push_deadline(const struct registry *r);

#endif
