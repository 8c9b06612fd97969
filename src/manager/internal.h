/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry from the inside, shared by its parts: requests (what nodes ask), view (what each may
 * see) and push (how they learn it). Nobody else includes this. */
#ifndef MANAGER_INTERNAL_H
#define MANAGER_INTERNAL_H

#include "manager/registry.h"

#define OUTBOX_SIZE \
	256 /* datagrams waiting; more than one batch of requests can cause. A power of two */

struct outbox_entry {
	struct wire_address to;
	uint16_t bytes;
	uint8_t data[FABRIC_DATAGRAM_BYTES];
};

/* Datagrams on their way out. Invariant: head - tail counts them; an entry taken stays as it is
 * until the next receive or send, because half of the ring is kept free for new ones. */
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
	struct list pushes;  /* nodes with news, due a moment after the news */
	struct list repeats; /* nodes that have not confirmed, ordered by push_ns as well */
	uint64_t epoch;
	uint64_t lease_ns;
	uint64_t refusals_ns; /* when the allowance for unauthenticated refusals was last counted */
	uint64_t refusals;    /* of it what is left, in billionths of one */
	unsigned used;        /* outbox entries handed out by the last registry_send */
};

/* outbox: the entry to fill, or NULL when there is no room; then its length. */
struct outbox_entry *outbox_reserve(struct registry *r);
void outbox_commit(struct registry *r, struct outbox_entry *entry, const struct wire_address *to,
		   size_t bytes);

/* requests: all frames that nodes send; `header` and `body` are authentic. */
void requests_receive(struct registry *r, const struct wire_address *from,
		      const struct wire_header *header, struct manage_body body, uint64_t now_ns);
void requests_assign(struct registry *r, const struct wire_address *from, struct manage_body body,
		     uint64_t now_ns);
void requests_status(struct registry *r, const struct wire_address *from, struct manage_body body);
void requests_answer(struct registry *r, const struct wire_address *to, uint16_t node,
		     const struct manage_answer *answer);

/* view: does a change of `subject` matter to `viewer` at all; may it see it; and how. */
bool view_concerns(const struct registry *r, const struct roster_node *viewer,
		   const struct roster_node *subject);
bool view_visible(const struct registry *r, const struct roster_node *viewer,
		  const struct roster_node *subject);
void view_entry(const struct registry *r, const struct roster_node *viewer,
		const struct roster_node *subject, struct node_entry *out);

/* push: news about `subject` for everybody concerned; for one viewer; what a viewer says it has;
 * and the sending. */
void push_news(struct registry *r, const struct roster_node *subject, uint64_t now_ns);
void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns);
void push_progress(struct registry *r, struct roster_node *viewer,
		   const struct manage_progress *progress, uint64_t now_ns);
void push_send(struct registry *r, uint64_t now_ns);
uint64_t push_deadline(const struct registry *r);

#endif
