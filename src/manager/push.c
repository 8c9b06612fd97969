/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the node table to nodes. A change waits briefly, so that several changes share a datagram.
 * A node receives the changes since its sequence number or, if that is too old, all rows in pages.
 * Up to FABRIC_WINDOW datagrams are in flight to a node; its TABLE_ACK or RENEW confirms them. A
 * node that confirms nothing receives only one datagram at a time until its lease expires.
 *
 * A full table is no snapshot: each page shows its rows as they are when it is sent. The table
 * counts as the table at the sequence of its first page; later changes follow. So constant changes
 * cannot prevent a complete table. */
#include "manager/internal.h"

#define NEWS_NS   (2 * MS_NS)
#define REPEAT_NS (100 * MS_NS)

static void schedule(struct list *list, struct roster_node *n, uint64_t due_ns)
{
	struct list *before;

	n->push_ns = due_ns;
	list_remove(&n->by_push);
	for (before = list->previous;
	     before != list && ROSTER_NODE(before, by_push)->push_ns > due_ns;)
		before = before->previous;
	list_insert(before, &n->by_push);
}

static bool progress_equal(const struct manage_progress *a, const struct manage_progress *b)
{
	return a->epoch == b->epoch && a->sequence == b->sequence && a->cursor == b->cursor;
}

static bool complete(const struct registry *r, const struct manage_progress *p)
{
	return p->epoch == r->epoch && p->cursor == 0 && p->sequence == r->roster.sequence;
}

void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns)
{
	if (viewer->state != NODE_ALIVE || viewer->nonce == 0)
		return;
	/* If the viewer has not confirmed all datagrams yet, the next datagrams after a
	 * confirmation carry the change. */
	if (list_empty(&viewer->by_push))
		schedule(&r->pushes, viewer, now_ns + NEWS_NS);
}

void push_news(struct registry *r, const struct roster_node *subject, uint64_t now_ns)
{
	struct list *at;

	for (at = r->roster.leases.next; at != &r->roster.leases; at = at->next) {
		struct roster_node *viewer = ROSTER_NODE(at, by_time);
		if (view_concerns(r, viewer, subject))
			push_node(r, viewer, now_ns);
	}
}

void push_progress(struct registry *r, struct roster_node *viewer,
		   const struct manage_progress *progress, uint64_t now_ns)
{
	bool moved = !progress_equal(&viewer->acked, progress);

	viewer->acked = *progress;
	if (moved) {
		viewer->repeats = 0;
		viewer->rewound = false;
	}
	if (progress_equal(&viewer->sent, progress)) {
		viewer->in_flight = 0;
		list_remove(&viewer->by_push);
		if (!complete(r, progress))
			schedule(&r->pushes, viewer, now_ns);
	} else if (viewer->in_flight == 0 || (!moved && !viewer->rewound)) {
		/* The node reported the same progress twice, so a datagram was lost. Sends again
		 * from this progress, but only once until it advances. */
		viewer->rewound = true;
		viewer->sent = *progress;
		viewer->in_flight = 0;
		if (!complete(r, progress))
			schedule(&r->pushes, viewer, now_ns);
		else
			list_remove(&viewer->by_push);
	}
}

/* Starts a full table, because the registry no longer knows all changes since `sent`. */
static void full_begin(const struct registry *r, struct roster_node *n)
{
	n->sent = (struct manage_progress){r->epoch, r->roster.sequence, WIRE_NODE_FIRST};
}

static bool too_old(const struct registry *r, const struct manage_progress *p)
{
	return p->epoch != r->epoch || p->sequence < r->roster.floor ||
	       p->sequence > r->roster.sequence;
}

/* Writes a page of rows from id sent.cursor on, and advances `sent`. */
static size_t page_write(struct registry *r, struct roster_node *viewer, uint8_t *out)
{
	struct manage_rows rows = {.nonce = viewer->nonce,
				   .epoch = r->epoch,
				   .from = viewer->sent.sequence,
				   .to = viewer->sent.sequence,
				   .first = viewer->sent.cursor};
	const struct roster_node *subject = roster_next(&r->roster, rows.first);
	struct manage_writer w;
	struct node_entry entry;

	manage_rows_begin(&w, out, FABRIC_DATAGRAM_BYTES);
	for (; subject; subject = roster_next(&r->roster, subject->entry.id + 1u)) {
		if (!view_visible(r, viewer, subject))
			continue;
		view_entry(subject, &entry);
		if (!manage_rows_add(&w, &entry)) {
			rows.next = subject->entry.id;
			break;
		}
	}
	viewer->sent.cursor = rows.next;
	r->counters.pages++;
	return manage_rows_finish(&w, WIRE_NODE_TABLE, viewer->entry.id, &rows,
				  registry_node_mac(r, viewer));
}

/* Writes a row, or the removal of a row. Returns false if it does not fit. Returns true also if the
 * viewer need not know this row. */
static bool change_write(const struct registry *r, const struct roster_node *viewer,
			 const struct roster_node *subject, struct manage_writer *w)
{
	struct node_entry entry;

	if (!view_concerns(r, viewer, subject))
		return true;
	if (!view_visible(r, viewer, subject))
		return manage_rows_remove(w, subject->entry.id,
					  subject->state == NODE_GONE ? MANAGE_GONE
								      : MANAGE_REVOKED);
	view_entry(subject, &entry);
	return manage_rows_add(w, &entry);
}

/* Writes as many changes after sent.sequence as fit, and advances `sent`. */
static size_t delta_write(struct registry *r, struct roster_node *viewer, uint8_t *out)
{
	struct manage_rows rows = {.nonce = viewer->nonce,
				   .epoch = r->epoch,
				   .from = viewer->sent.sequence,
				   .to = r->roster.sequence};
	struct list *at = roster_after(&r->roster, rows.from);
	struct manage_writer w;
	uint64_t written = rows.from;

	manage_rows_begin(&w, out, FABRIC_DATAGRAM_BYTES);
	for (; at != &r->roster.by_change; at = at->next) {
		struct roster_node *subject = ROSTER_NODE(at, by_change);
		if (!change_write(r, viewer, subject, &w)) {
			rows.to = written;
			break;
		}
		written = subject->changed;
	}
	viewer->sent.sequence = rows.to;
	r->counters.deltas++;
	return manage_rows_finish(&w, WIRE_NODE_DELTA, viewer->entry.id, &rows,
				  registry_node_mac(r, viewer));
}

static void datagram_write(struct registry *r, struct roster_node *n, struct outbox_entry *entry)
{
	size_t bytes;

	if (too_old(r, &n->sent))
		full_begin(r, n);
	bytes = n->sent.cursor ? page_write(r, n, entry->data) : delta_write(r, n, entry->data);
	n->in_flight++;
	registry_outbox_commit(r, entry, &n->from, bytes);
}

/* Sends updates that the node lacks, at most as many as its window permits. Returns false if the
 * outbox is full. */
static bool node_send(struct registry *r, struct roster_node *n, uint64_t now_ns)
{
	unsigned window = n->repeats > 1 ? 1 : FABRIC_WINDOW;

	while (n->in_flight < window && !complete(r, &n->sent)) {
		struct outbox_entry *entry = registry_outbox_reserve(r);
		if (!entry)
			return false;
		datagram_write(r, n, entry);
	}
	list_remove(&n->by_push);
	if (!progress_equal(&n->acked, &n->sent))
		schedule(&r->repeats, n, now_ns + REPEAT_NS);
	return true;
}

static struct roster_node *due(const struct list *list, uint64_t now_ns)
{
	struct roster_node *n = list_empty(list) ? NULL : ROSTER_NODE(list->next, by_push);

	return n && n->push_ns <= now_ns ? n : NULL;
}

void push_send(struct registry *r, uint64_t now_ns)
{
	struct roster_node *n;

	while ((n = due(&r->pushes, now_ns)) != NULL)
		if (!node_send(r, n, now_ns))
			return;
	while ((n = due(&r->repeats, now_ns)) != NULL) {
		/* The node has confirmed nothing for REPEAT_NS, so the datagrams in flight count as
		 * lost. */
		n->sent = n->acked;
		n->in_flight = 0;
		n->repeats++;
		schedule(&r->pushes, n, now_ns);
		if (!node_send(r, n, now_ns))
			return;
	}
}

static uint64_t list_deadline(const struct list *list)
{
	return list_empty(list) ? UINT64_MAX : ROSTER_NODE(list->next, by_push)->push_ns;
}

uint64_t push_deadline(const struct registry *r)
{
	return min_u64(list_deadline(&r->pushes), list_deadline(&r->repeats));
}
