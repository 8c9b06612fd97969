/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's copy of the node table: who is in the fabric, as the manager lets this node see
 * it. Rows are ordered by id. A full table comes in pages and is put together beside the old one:
 * readers see the old one until the last page, then the new one, never half of it. What changed is
 * remembered per row until the owner has asked for it, so a slow owner costs no memory and never
 * misses the last state.
 *
 * No system call, no clock. Not thread-safe. */
#ifndef NODE_TABLE_H
#define NODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/manage.h"

struct node_table;

/* What the owner must do about a peer. Several bits may come together, except with JOINED and LOST.
 */
enum table_what {
	TABLE_JOINED = 1 << 0, /* usable from now on: new, or back after death (compare the
				  incarnation yourself) */
	TABLE_LOST =
		1 << 1, /* dead, gone, or no more to be seen by us; entry is the last known one */
	TABLE_RESTARTED = 1 << 2, /* same node, new incarnation: what was under way is lost */
	TABLE_MOVED = 1 << 3,     /* new address */
	TABLE_GRANT = 1 << 4,     /* `granted` or `magic` changed */
	/* Only after node_table_keep: */
	TABLE_SILENT = 1 << 5, /* the manager has not heard it for a lease, or is a new one that
				  does not know it; shown as alive until node_table_lose */
	TABLE_BACK = 1 << 6,   /* it was silent, and the manager has heard it again */
};

struct table_change {
	uint32_t what; /* enum table_what */
	struct node_entry entry;
};

/* On success *out must be destroyed. DXP_ENOMEM. */
int node_table_create(struct node_table **out);
void node_table_destroy(struct node_table *t);

/* Whose copy this is: the row with this id is shown but is no peer. If it was one until now (a
 * manager that lost its memory gave out the ids anew), its loss is told. */
void node_table_own(struct node_table *t, uint16_t id);

/* The manager's epoch, from a lease. Rows of another epoch are refused; rows shown stay until the
 * new table is complete. */
void node_table_epoch(struct node_table *t, uint64_t epoch);

/* What to tell the manager: how far this copy is. */
struct manage_progress node_table_progress(const struct node_table *t);

/* Takes a decoded NODE_TABLE or NODE_DELTA. DXP_OK: taken, the progress moved. DXP_EAGAIN: not the
 * next in order (an old one, or one before it was lost), nothing changed. DXP_ENOMEM: nothing
 * changed, or a full table begins again. */
int node_table_take(struct node_table *t, uint8_t type, const struct manage_rows *rows,
		    struct manage_reader reader);

/* Rows in order of id; pointers are valid until the next node_table_take. */
size_t node_table_count(const struct node_table *t);
const struct node_entry *node_table_at(const struct node_table *t, size_t index);
/* NULL: not there. By name an alive row wins. */
const struct node_entry *node_table_find(const struct node_table *t, uint16_t id);
const struct node_entry *node_table_find_name(const struct node_table *t, const char *name);

/* From now on a live node that falls silent stays, shown as alive, until node_table_lose. One that
 * leaves, or starts anew, is told of at once, as before. */
void node_table_keep(struct node_table *t);
bool node_table_silent(const struct node_table *t, uint16_t id); /* it stays for that reason */
void node_table_lose(struct node_table *t, uint16_t id); /* long enough; TABLE_LOST comes next */

/* The next change since the last one told; false when there is none. Changes of one row that
 * happened in between are told as one. */
bool node_table_next_change(struct node_table *t, struct table_change *out);

#endif
