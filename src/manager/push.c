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

/* Appends a node to a list. All nodes of a list wait for the same time, so it stays ordered. */
static void schedule(struct list *list, struct roster_node *n, uint64_t due_ns)
{
	n->push_ns = due_ns;
	list_append(list, &n->by_push);
}

static void rest(struct registry *r, struct roster_node *n)
{
	schedule(&r->idle[roster_kind_of(&n->entry)], n, UINT64_MAX);
}

static bool progress_equal(const struct manage_progress *a, const struct manage_progress *b)
{
	return a->epoch == b->epoch && a->sequence == b->sequence && a->cursor == b->cursor;
}

static bool too_old(const struct registry *r, const struct roster_node *viewer,
		    const struct manage_progress *p)
{
	uint64_t floor = r->roster.kinds[ROSTER_XPUS].floor;

	if (viewer->entry.kind == MANAGE_XPU)
		floor = max_u64(floor, r->roster.kinds[ROSTER_HOSTS].floor);
	return p->epoch != r->epoch || p->sequence < floor || p->sequence > r->roster.sequence;
}

/* Returns true if a node with this progress has all changes that concern it. */
static bool complete(const struct registry *r, const struct roster_node *viewer,
		     const struct manage_progress *p)
{
	return p->cursor == 0 && !too_old(r, viewer, p) && !view_news(r, viewer, p->sequence);
}

void push_node(struct registry *r, struct roster_node *viewer, uint64_t now_ns)
{
	if (viewer->state != NODE_ALIVE || viewer->nonce == 0)
		return;
	/* If the viewer has not confirmed all datagrams yet, the next datagrams after a
	 * confirmation carry the change. */
	if (list_empty(&viewer->by_push) || viewer->push_ns == UINT64_MAX)
		schedule(&r->pushes, viewer, now_ns + NEWS_NS);
}

static void idle_wake(struct registry *r, enum roster_kind kind, uint64_t now_ns)
{
	while (!list_empty(&r->idle[kind]))
		schedule(&r->pushes, ROSTER_NODE(r->idle[kind].next, by_push), now_ns + NEWS_NS);
}

void push_news(struct registry *r, struct roster_node *subject, uint64_t now_ns)
{
	idle_wake(r, ROSTER_XPUS, now_ns);
	if (subject->entry.kind == MANAGE_XPU)
		idle_wake(r, ROSTER_HOSTS, now_ns);
	else
		push_node(r, subject, now_ns); /* other hosts do not see it */
}

/* Schedules what a node lacks that has confirmed all that was sent. */
static void progress_follow(struct registry *r, struct roster_node *viewer, uint64_t now_ns)
{
	if (complete(r, viewer, &viewer->acked))
		rest(r, viewer);
	else
		schedule(&r->ready, viewer, now_ns);
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
		progress_follow(r, viewer, now_ns);
	} else if (viewer->in_flight == 0 || (!moved && !viewer->rewound)) {
		/* The node reported the same progress twice, so a datagram was lost. Sends again
		 * from this progress, but only once until it advances. */
		viewer->rewound = true;
		viewer->sent = *progress;
		viewer->in_flight = 0;
		progress_follow(r, viewer, now_ns);
	}
}

/* Starts a full table, because the registry no longer knows all changes since `sent`. */
static void full_begin(const struct registry *r, struct roster_node *n)
{
	n->sent = (struct manage_progress){r->epoch, r->roster.sequence, WIRE_NODE_FIRST};
}

/* Writes a page of rows from id sent.cursor on, and advances `sent`. */
static size_t page_write(struct registry *r, struct roster_node *viewer, uint8_t *out)
{
	struct manage_rows rows = {.nonce = viewer->nonce,
				   .epoch = r->epoch,
				   .from = viewer->sent.sequence,
				   .to = viewer->sent.sequence,
				   .first = viewer->sent.cursor};
	const struct roster_node *subject = view_next(r, viewer, rows.first);
	struct manage_writer w;
	struct node_entry entry;

	manage_rows_begin(&w, out, FABRIC_DATAGRAM_BYTES);
	for (; subject; subject = view_next(r, viewer, subject->entry.id + 1u)) {
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

/* Writes a row, or the removal of a row. Returns false if it does not fit. */
static bool change_write(const struct registry *r, const struct roster_node *viewer,
			 const struct roster_node *subject, struct manage_writer *w)
{
	struct node_entry entry;

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
	const struct roster_node *subject = view_news(r, viewer, rows.from);
	struct manage_writer w;
	uint64_t written = rows.from;

	manage_rows_begin(&w, out, FABRIC_DATAGRAM_BYTES);
	for (; subject; subject = view_news(r, viewer, written)) {
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

	if (too_old(r, n, &n->sent))
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

	while (n->in_flight < window && !complete(r, n, &n->sent)) {
		struct outbox_entry *entry = registry_outbox_reserve(r);
		if (!entry)
			return false;
		datagram_write(r, n, entry);
	}
	if (progress_equal(&n->acked, &n->sent))
		rest(r, n);
	else
		schedule(&r->repeats, n, now_ns + REPEAT_NS);
	return true;
}

static struct roster_node *due(const struct list *list, uint64_t now_ns)
{
	struct roster_node *n = list_empty(list) ? NULL : ROSTER_NODE(list->next, by_push);

	return n && n->push_ns <= now_ns ? n : NULL;
}

/* Returns the node with changes that has been due for longest; NULL: none is due. */
static struct roster_node *push_due(const struct registry *r, uint64_t now_ns)
{
	struct roster_node *now = due(&r->ready, now_ns), *later = due(&r->pushes, now_ns);

	return !now || (later && later->push_ns < now->push_ns) ? later : now;
}

void push_send(struct registry *r, uint64_t now_ns)
{
	struct roster_node *n;

	while ((n = push_due(r, now_ns)) != NULL)
		if (!node_send(r, n, now_ns))
			return;
	while ((n = due(&r->repeats, now_ns)) != NULL) {
		/* The node has confirmed nothing for REPEAT_NS, so the datagrams in flight count as
		 * lost. */
		n->sent = n->acked;
		n->in_flight = 0;
		n->repeats++;
		schedule(&r->ready, n, now_ns);
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
	const uint64_t news_ns = min_u64(list_deadline(&r->ready), list_deadline(&r->pushes));

	return min_u64(news_ns, list_deadline(&r->repeats));
}
