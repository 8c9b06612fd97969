/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows are separate allocations in an array sorted by id. The row of a node that left stays in the
 * array, with `present` false, until its loss is reported. Invariants: the ids in the array
 * strictly grow; changes_waiting is the number of rows with `changed`. */
#include "node/table.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "node/limits.h"

/* rows that are present, plus rows whose loss is not reported yet */
#define ROWS_MAX (2 * FABRIC_NODES_MAX)

/* Values of a row when it was last reported to the table's owner. */
struct reported {
	bool alive, granted, silent;
	uint8_t uuid[WIRE_UUID_BYTES];
	uint32_t magic;
	uint64_t incarnation;
	struct udp_address address;
};

struct table_row {
	struct node_entry entry;
	struct reported reported;
	bool present;
	bool silent; /* the node is shown as alive although its lease expired */
	bool orphan; /* silent, and missing in the manager's table */
	/* the row is not present because this node may not use the row's node any more */
	bool revoked;
	bool changed; /* `entry` differs from `reported`, so the change must be reported */
};

/* A full table that is arriving in pages. */
struct assembly {
	struct node_entry *entries; /* sorted by id */
	size_t count, space;
	uint64_t sequence;
	uint16_t cursor; /* first id of the next page; 0: no table is arriving */
};

struct node_table {
	struct table_row **rows;
	size_t count, space;
	size_t present;
	size_t changes_waiting;
	size_t scan;         /* index in `rows` at which the search for changes continues */
	uint64_t epoch;      /* epoch of the current manager */
	uint64_t rows_epoch; /* epoch of `rows`; 0 before the first table */
	uint64_t sequence;   /* sequence number of `rows` */
	uint16_t own;
	bool keep; /* true: silent nodes are kept, because node_table_keep was called */
	struct assembly assembly;
};

int node_table_create(struct node_table **out)
{
	struct node_table *t = calloc(1, sizeof(*t));

	if (!t)
		return DXP_ENOMEM;
	*out = t;
	return DXP_OK;
}

void node_table_destroy(struct node_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->rows[i]);
	free(t->rows);
	free(t->assembly.entries);
	free(t);
}

static void assembly_drop(struct node_table *t)
{
	free(t->assembly.entries);
	t->assembly = (struct assembly){0};
}

void node_table_epoch(struct node_table *t, uint64_t epoch)
{
	if (t->epoch == epoch)
		return;
	t->epoch = epoch;
	assembly_drop(t);
}

struct manage_progress node_table_progress(const struct node_table *t)
{
	if (t->assembly.cursor)
		return (struct manage_progress){t->epoch, t->assembly.sequence, t->assembly.cursor};
	if (t->rows_epoch && t->rows_epoch == t->epoch)
		return (struct manage_progress){t->epoch, t->sequence, 0};
	return (struct manage_progress){0};
}

/* Returns the index of the first row whose id is not below `id`. */
static size_t row_position(const struct node_table *t, uint16_t id)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (t->rows[middle]->entry.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct table_row *row_find(const struct node_table *t, uint16_t id)
{
	size_t at = row_position(t, id);

	return at < t->count && t->rows[at]->entry.id == id ? t->rows[at] : NULL;
}

static bool rows_reserve(struct node_table *t)
{
	size_t space = t->space ? 2 * t->space : 16;

	if (t->count < t->space)
		return true;
	if (t->count >= ROWS_MAX)
		return false;
	struct table_row **rows = realloc(t->rows, space * sizeof(*rows));
	if (!rows)
		return false;
	t->rows = rows;
	t->space = space;
	return true;
}

static struct table_row *row_create(uint16_t id)
{
	struct table_row *row = calloc(1, sizeof(*row));

	if (row)
		row->entry.id = id;
	return row;
}

/* Returns the row with this id; adds a row if there is none. A new row has `present` false. NULL:
 * no memory, or too many rows. */
static struct table_row *row_ensure(struct node_table *t, uint16_t id)
{
	size_t at = row_position(t, id);

	if (at < t->count && t->rows[at]->entry.id == id)
		return t->rows[at];
	struct table_row *row = rows_reserve(t) ? row_create(id) : NULL;
	if (!row)
		return NULL;
	memmove(t->rows + at + 1, t->rows + at, (t->count - at) * sizeof(*t->rows));
	t->rows[at] = row;
	t->count++;
	return row;
}

/* Returns the changes of a row that are not reported yet, as bits of enum table_what. The row of
 * this node itself counts as dead, because the node is not its own peer. */
static uint32_t row_news(const struct node_table *t, const struct table_row *row)
{
	const struct node_entry *entry = &row->entry;
	const struct reported *reported = &row->reported;
	bool alive = row->present && entry->alive && entry->id != t->own;
	uint32_t what = 0;

	if (alive != reported->alive)
		return alive ? TABLE_JOINED : TABLE_LOST | (row->revoked ? TABLE_GRANT : 0);
	if (!alive)
		return 0;
	/* Another node has got this id, so reports the loss first, then the join. */
	if (memcmp(entry->uuid, reported->uuid, sizeof(reported->uuid)) != 0)
		return TABLE_LOST;
	if (entry->incarnation != reported->incarnation)
		what |= TABLE_RESTARTED;
	if (!address_equal(&entry->address, &reported->address))
		what |= TABLE_MOVED;
	if (entry->granted != reported->granted || entry->magic != reported->magic)
		what |= TABLE_GRANT;
	if (row->silent != reported->silent)
		what |= row->silent ? TABLE_SILENT : TABLE_BACK;
	return what;
}

static void row_mark(struct node_table *t, struct table_row *row)
{
	bool changed = row_news(t, row) != 0;

	if (changed && !row->changed)
		t->changes_waiting++;
	if (!changed && row->changed)
		t->changes_waiting--;
	row->changed = changed;
}

void node_table_own(struct node_table *t, uint16_t id)
{
	if (t->own == id)
		return;
	t->own = id;
	for (size_t i = 0; i < t->count; i++)
		row_mark(t, t->rows[i]);
}

/* Returns true if a silent node of this row must be kept: the row was last reported as alive, in
 * the same incarnation. */
static bool row_kept(const struct node_table *t, const struct table_row *row,
		     const struct node_entry *entry)
{
	return t->keep && row->reported.alive && entry->id != t->own &&
	       entry->incarnation == row->reported.incarnation &&
	       memcmp(entry->uuid, row->reported.uuid, WIRE_UUID_BYTES) == 0;
}

static void row_set(struct node_table *t, struct table_row *row, const struct node_entry *entry)
{
	t->present += !row->present;
	row->entry = *entry;
	row->present = true;
	row->orphan = row->revoked = false;
	row->silent = !entry->alive && row_kept(t, row, entry);
	row->entry.alive |= row->silent;
	row_mark(t, row);
}

static void row_leave(struct node_table *t, struct table_row *row)
{
	t->present -= row->present;
	row->present = row->silent = row->orphan = false;
	row_mark(t, row);
}

static void row_remove(struct node_table *t, struct table_row *row, bool revoked)
{
	row->revoked = revoked;
	if (revoked) {
		row->entry.granted = false;
		row->entry.magic = 0;
	}
	row_leave(t, row);
}

/* Handles a row that a restarted manager does not have. The node of this row may not have renewed
 * its lease yet, so the row is kept as silent if possible. */
static void row_orphan(struct node_table *t, struct table_row *row)
{
	if (!row->present || !row_kept(t, row, &row->entry)) {
		row_leave(t, row);
		return;
	}
	row->silent = row->orphan = true;
	row_mark(t, row);
}

void node_table_keep(struct node_table *t)
{
	t->keep = true;
}

bool node_table_silent(const struct node_table *t, uint16_t id)
{
	const struct table_row *row = row_find(t, id);

	return row && row->silent;
}

void node_table_lose(struct node_table *t, uint16_t id)
{
	struct table_row *row = row_find(t, id);

	if (!row || !row->silent)
		return;
	if (row->orphan) {
		row_leave(t, row);
		return;
	}
	row->silent = row->entry.alive = false;
	row_mark(t, row);
}

/* Frees rows that are not present and whose loss is reported. */
static void rows_sweep(struct node_table *t)
{
	size_t kept = 0;

	if (t->present == t->count)
		return;
	for (size_t i = 0; i < t->count; i++) {
		struct table_row *row = t->rows[i];
		if (row->present || row->changed)
			t->rows[kept++] = row;
		else
			free(row);
	}
	t->count = kept;
}

/* Applies a delta completely or not at all. So it first creates all rows, the only step that can
 * fail. */
static int delta_apply(struct node_table *t, const struct manage_rows *rows,
		       struct manage_reader reader)
{
	struct manage_reader again = reader;
	struct node_entry entry;
	bool removed;

	if (t->assembly.cursor || rows->epoch != t->rows_epoch || rows->from != t->sequence)
		return DXP_EAGAIN;
	while (manage_rows_next(&reader, &entry, &removed))
		if (!removed && !row_ensure(t, entry.id)) {
			rows_sweep(t);
			return DXP_ENOMEM;
		}
	while (manage_rows_next(&again, &entry, &removed)) {
		struct table_row *row = row_find(t, entry.id);
		if (!removed)
			row_set(t, row, &entry);
		else if (row)
			row_remove(t, row, entry.kind == MANAGE_REVOKED);
	}
	rows_sweep(t);
	t->sequence = rows->to;
	return DXP_OK;
}

/* Returns true if this page starts a table that is newer than the current table and the arriving
 * one. */
static bool page_begins(const struct node_table *t, const struct manage_rows *rows)
{
	if (rows->first != WIRE_NODE_FIRST)
		return false;
	if (t->assembly.cursor)
		return rows->from > t->assembly.sequence;
	return t->rows_epoch != t->epoch || rows->from > t->sequence;
}

static bool assembly_add(struct assembly *a, const struct node_entry *entry)
{
	if (a->count == FABRIC_NODES_MAX)
		return false;
	if (a->count == a->space) {
		size_t space = a->space ? 2 * a->space : 16;
		struct node_entry *entries = realloc(a->entries, space * sizeof(*entries));
		if (!entries)
			return false;
		a->entries = entries;
		a->space = space;
	}
	a->entries[a->count++] = *entry;
	return true;
}

/* Replaces the current table by the one that arrived. First creates missing rows, the only step
 * that can fail. */
static int assembly_commit(struct node_table *t)
{
	struct assembly *a = &t->assembly;
	bool anew = t->rows_epoch != 0 && t->rows_epoch != t->epoch;
	size_t next = 0;

	for (size_t i = 0; i < a->count; i++)
		if (!row_ensure(t, a->entries[i].id)) {
			rows_sweep(t);
			return DXP_ENOMEM;
		}
	for (size_t i = 0; i < t->count; i++) {
		struct table_row *row = t->rows[i];
		if (next < a->count && a->entries[next].id == row->entry.id)
			row_set(t, row, &a->entries[next++]);
		else if (anew || row->orphan)
			row_orphan(t, row);
		else
			row_leave(t, row);
	}
	rows_sweep(t);
	t->rows_epoch = t->epoch;
	t->sequence = a->sequence;
	return DXP_OK;
}

static int page_apply(struct node_table *t, const struct manage_rows *rows,
		      struct manage_reader reader)
{
	struct assembly *a = &t->assembly;
	struct node_entry entry;
	bool removed;

	if (page_begins(t, rows)) {
		assembly_drop(t);
		a->sequence = rows->from;
		a->cursor = WIRE_NODE_FIRST;
	}
	if (!a->cursor || rows->from != a->sequence || rows->first != a->cursor)
		return DXP_EAGAIN;
	while (manage_rows_next(&reader, &entry, &removed))
		if (!assembly_add(a, &entry)) {
			assembly_drop(t);
			return DXP_ENOMEM;
		}
	a->cursor = rows->next;
	if (a->cursor)
		return DXP_OK;
	int status = assembly_commit(t);
	assembly_drop(t);
	return status;
}

int node_table_apply(struct node_table *t, uint8_t type, const struct manage_rows *rows,
		     struct manage_reader reader)
{
	if (rows->epoch != t->epoch)
		return DXP_EAGAIN;
	return type == WIRE_NODE_TABLE ? page_apply(t, rows, reader) : delta_apply(t, rows, reader);
}

size_t node_table_count(const struct node_table *t)
{
	return t->present;
}

const struct node_entry *node_table_at(const struct node_table *t, size_t index)
{
	if (t->present == t->count)
		return index < t->count ? &t->rows[index]->entry : NULL;
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i]->present && index-- == 0)
			return &t->rows[i]->entry;
	return NULL;
}

const struct node_entry *node_table_find(const struct node_table *t, uint16_t id)
{
	const struct table_row *row = row_find(t, id);

	return row && row->present ? &row->entry : NULL;
}

const struct node_entry *node_table_find_name(const struct node_table *t, const char *name)
{
	const struct node_entry *found = NULL;

	for (size_t i = 0; i < t->count; i++) {
		const struct table_row *row = t->rows[i];
		if (row->present && strcmp(row->entry.name, name) == 0 &&
		    (!found || row->entry.alive))
			found = &row->entry;
	}
	return found;
}

/* Copies the row's change to *out. Frees the row if it stayed only for this report. */
static void change_report(struct node_table *t, size_t index, struct table_change *out)
{
	struct table_row *row = t->rows[index];
	const struct node_entry *entry = &row->entry;

	out->what = row_news(t, row);
	out->entry = *entry;
	out->entry.alive = !(out->what & TABLE_LOST);
	row->reported = (struct reported){.alive = out->entry.alive,
					  .granted = entry->granted,
					  .silent = row->silent && out->entry.alive,
					  .magic = entry->magic,
					  .incarnation = entry->incarnation,
					  .address = entry->address};
	memcpy(row->reported.uuid, entry->uuid, sizeof(row->reported.uuid));
	row_mark(t, row);
	if (row->present)
		return;
	t->count--;
	memmove(t->rows + index, t->rows + index + 1, (t->count - index) * sizeof(*t->rows));
	free(row);
}

bool node_table_next_change(struct node_table *t, struct table_change *out)
{
	if (t->changes_waiting == 0)
		return false;
	if (t->scan >= t->count)
		t->scan = 0;
	while (!t->rows[t->scan]->changed)
		t->scan = t->scan + 1 < t->count ? t->scan + 1 : 0;
	change_report(t, t->scan, out);
	return true;
}
