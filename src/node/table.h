/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's copy of the node table, filtered by the manager's grants. Rows are ordered by id.
 * A full table arrives in pages and replaces the old one with the last page. Each row records its
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

/* Change of one peer. Several bits may be set together, except with JOINED and LOST. */
enum table_what {
	/* Usable from now on: new, or alive again (compare the incarnation). */
	TABLE_JOINED = 1 << 0,
	/* Dead, left, or no longer visible; `entry` is the last known one. */
	TABLE_LOST = 1 << 1,
	/* New incarnation of the same node: requests under way are lost. */
	TABLE_RESTARTED = 1 << 2,
	TABLE_MOVED = 1 << 3, /* new address */
	TABLE_GRANT = 1 << 4, /* `granted` or `magic` changed */
	/* Only after node_table_keep: */
	/* Its lease expired, or a new manager does not know it. Shown as alive until
	 * node_table_lose. */
	TABLE_SILENT = 1 << 5,
	TABLE_BACK = 1 << 6, /* its lease was renewed after TABLE_SILENT */
};

struct table_change {
	uint32_t what; /* enum table_what */
	struct node_entry entry;
};

/* Creates an empty table; the caller destroys it. DXP_ENOMEM. */
int node_table_create(struct node_table **out);
void node_table_destroy(struct node_table *t);

/* Sets the id of this node: its row is shown but is no peer. If it was one until now (a restarted
 * manager assigned the ids again), its loss is reported. */
void node_table_own(struct node_table *t, uint16_t id);

/* Sets the manager's epoch, from a lease. Rows of other epochs are rejected; present rows stay
 * until the new table is complete. */
void node_table_epoch(struct node_table *t, uint64_t epoch);

/* Returns how far this copy is, for the manager. */
struct manage_progress node_table_progress(const struct node_table *t);

/* Applies a decoded NODE_TABLE or NODE_DELTA. DXP_OK: applied, the progress advanced. DXP_EAGAIN:
 * not the next in order (old, or an earlier one was lost); nothing changed. DXP_ENOMEM: nothing
 * changed, or a full table starts again. */
int node_table_apply(struct node_table *t, uint8_t type, const struct manage_rows *rows,
		     struct manage_reader reader);

/* Rows in order of id; pointers are valid until the next node_table_apply. */
size_t node_table_count(const struct node_table *t);
const struct node_entry *node_table_at(const struct node_table *t, size_t index);
/* Finds a row; NULL: none. Of several with one name, prefers an alive one. */
const struct node_entry *node_table_find(const struct node_table *t, uint16_t id);
const struct node_entry *node_table_find_name(const struct node_table *t, const char *name);

/* From now on shows a silent node as alive until node_table_lose. Nodes that leave or restart are
 * still reported at once. */
void node_table_keep(struct node_table *t);
bool node_table_silent(const struct node_table *t, uint16_t id); /* kept only by node_table_keep */
void node_table_lose(struct node_table *t, uint16_t id);         /* TABLE_LOST follows */

/* Dequeues the next change; false: none. Several changes of one row are merged. */
bool node_table_next_change(struct node_table *t, struct table_change *out);

#endif
