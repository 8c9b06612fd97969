/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's copy of the node table, filtered by the manager's grants. Rows are sorted by id.
 * A full table arrives in pages and replaces the old one after the last page. Each row keeps its
 * change until the owner fetches it, so a slow owner costs no memory and gets the latest state.
 *
 * No system call, no clock. Not thread-safe. */
#ifndef NODE_TABLE_H
#define NODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/manage.h"

struct node_table;

/* Change of a peer. Bits can be combined, except JOINED with LOST. LOST | GRANT: this node may not
 * use the peer any more. */
enum table_what {
	/* The peer became usable. It is new, or alive again: compare the incarnation. */
	TABLE_JOINED = 1 << 0,
	/* The peer died, left, or is not visible any more; `entry` is its last known row. */
	TABLE_LOST = 1 << 1,
	/* The peer has a new incarnation, so outstanding requests are lost. */
	TABLE_RESTARTED = 1 << 2,
	TABLE_MOVED = 1 << 3, /* the peer has a new address */
	TABLE_GRANT = 1 << 4, /* `granted` or `magic` of the peer changed */
	/* The next two are used only after node_table_keep. */
	/* The peer's lease expired, or a restarted manager does not have the peer. The peer is
	 * shown as alive until node_table_lose. */
	TABLE_SILENT = 1 << 5,
	TABLE_BACK = 1 << 6, /* the peer's lease was renewed after TABLE_SILENT */
};

struct table_change {
	uint32_t what; /* bits of enum table_what */
	struct node_entry entry;
};

/* Creates an empty table; destroy it with node_table_destroy. DXP_ENOMEM. */
int node_table_create(struct node_table **out);
void node_table_destroy(struct node_table *t);

/* Sets the id of this node. Its own row is shown but is not a peer. A restarted manager may have
 * assigned ids again; if a peer had this id before, the loss of that peer is reported. */
void node_table_own(struct node_table *t, uint16_t id);

/* Sets the manager's epoch, which a lease contains. Rows of other epochs are rejected. Present rows
 * stay until the new table is complete. */
void node_table_epoch(struct node_table *t, uint64_t epoch);

/* Returns which part of the manager's table this copy has; RENEW reports it to the manager. */
struct manage_progress node_table_progress(const struct node_table *t);

/* Applies a decoded NODE_TABLE or NODE_DELTA. DXP_EAGAIN: the message is not the next one in order;
 * nothing changed. DXP_ENOMEM: nothing changed, or the manager must send the arriving full table
 * again. */
int node_table_apply(struct node_table *t, uint8_t type, const struct manage_rows *rows,
		     struct manage_reader reader);

/* Read rows, sorted by id; pointers are valid until the next node_table_apply. */
size_t node_table_count(const struct node_table *t);
const struct node_entry *node_table_at(const struct node_table *t, size_t index);
/* Find a row, or return NULL. If several rows have the name, prefers one that is alive. */
const struct node_entry *node_table_find(const struct node_table *t, uint16_t id);
const struct node_entry *node_table_find_name(const struct node_table *t, const char *name);

/* From now on, shows a silent node as alive until node_table_lose. A node that leaves or restarts
 * is still reported at once. */
void node_table_keep(struct node_table *t);
/* Returns true if the node is shown as alive only because of node_table_keep. */
bool node_table_silent(const struct node_table *t, uint16_t id);
/* Gives up a silent node; TABLE_LOST becomes its next change. */
void node_table_lose(struct node_table *t, uint16_t id);

/* Dequeues the next change; returns false if there is none. Changes of one row are merged. */
bool node_table_next_change(struct node_table *t, struct table_change *out);

#endif
