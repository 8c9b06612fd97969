/* SPDX-License-Identifier: BSD-3-Clause */
/* The grants table. */
#include "manager/grants.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/limits.h"

_Static_assert(FABRIC_GRANTS_MAX <= HASH_INDEX_ROWS, "the hash table has buckets for all rows");

int grants_create(struct grants *g, enum grants_policy policy, const uint64_t secret[2],
		  uint64_t *examined)
{
	*g = (struct grants){.policy = policy};
	list_init(&g->free);
	return hash_index_create(&g->by_names, secret, examined);
}

void grants_free(struct grants *g)
{
	hash_index_destroy(&g->by_names);
	free(g->rows);
	g->rows = NULL;
}

bool grants_match(const char *pattern, const char *name)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static uint64_t names_hash(const struct grants *g, const char *host, const char *xpu)
{
	char names[2][FABRIC_NAME_BYTES] = {0};

	memcpy(names[0], host, strnlen(host, FABRIC_NAME_BYTES));
	memcpy(names[1], xpu, strnlen(xpu, FABRIC_NAME_BYTES));
	return hash_index_hash(&g->by_names, names, sizeof(names));
}

static struct grant *row_find(const struct grants *g, const char *host, const char *xpu)
{
	struct hash_link *l = hash_index_first(&g->by_names, names_hash(g, host, xpu));

	for (; l; l = hash_index_next(&g->by_names, l)) {
		struct grant *row = CONTAINER_OF(l, struct grant, by_names);
		if (strcmp(row->host, host) == 0 && strcmp(row->xpu, xpu) == 0)
			return row;
	}
	return NULL;
}

static bool row_present(const struct grants *g, const char *host, const char *xpu)
{
	const struct grant *row = row_find(g, host, xpu);

	return row && row->present;
}

bool grants_allow(const struct grants *g, const char *host, const char *xpu)
{
	if (g->policy == GRANTS_ANY || row_present(g, host, xpu))
		return true;
	return g->wildcards > 0 &&
	       (row_present(g, host, "*") || row_present(g, "*", xpu) || row_present(g, "*", "*"));
}

static bool wildcard(const struct grant *row)
{
	return strcmp(row->host, "*") == 0 || strcmp(row->xpu, "*") == 0;
}

/* Returns a row to fill: a revoked row that is already deleted from the store, or a new row. */
static struct grant *row_allocate(struct grants *g)
{
	if (!list_empty(&g->free)) {
		struct grant *row = CONTAINER_OF(g->free.next, struct grant, by_free);
		g->wildcards -= wildcard(row);
		hash_index_remove(&row->by_names);
		return row;
	}
	if (!g->rows)
		g->rows = calloc(FABRIC_GRANTS_MAX, sizeof(*g->rows));
	if (!g->rows || g->count == FABRIC_GRANTS_MAX)
		return NULL;
	list_init(&g->rows[g->count].by_free);
	return &g->rows[g->count++];
}

static struct grant *row_add(struct grants *g, const char *host, const char *xpu)
{
	struct grant *row = row_allocate(g);

	if (!row)
		return NULL;
	list_remove(&row->by_free);
	*row = (struct grant){0};
	list_init(&row->by_free);
	memcpy(row->host, host, strnlen(host, FABRIC_NAME_BYTES - 1));
	memcpy(row->xpu, xpu, strnlen(xpu, FABRIC_NAME_BYTES - 1));
	hash_index_add(&g->by_names, &row->by_names, names_hash(g, row->host, row->xpu));
	g->wildcards += wildcard(row);
	return row;
}

static void dirty_set(struct grants *g, struct grant *row)
{
	g->dirty += !row->dirty;
	row->dirty = true;
	list_remove(&row->by_free);
	g->dirty_first = min_u64(g->dirty_first, (uint64_t)(row - g->rows));
}

int grants_set(struct grants *g, const char *host, const char *xpu, bool present)
{
	struct grant *row = row_find(g, host, xpu);

	if (row ? row->present == present : !present)
		return DXP_OK;
	if (!row)
		row = row_add(g, host, xpu);
	if (!row)
		return DXP_ENOMEM;
	g->present = g->present + present - row->present;
	row->present = present;
	dirty_set(g, row);
	g->version++;
	return DXP_OK;
}

bool grants_next_dirty(struct grants *g, struct grant *out)
{
	for (size_t i = g->dirty_first; g->dirty > 0 && i < g->count; i++) {
		struct grant *row = &g->rows[i];
		g->dirty_first = i + 1;
		if (!row->dirty)
			continue;
		row->dirty = false;
		g->dirty--;
		if (!row->present)
			list_append(&g->free, &row->by_free);
		*out = *row;
		return true;
	}
	return false;
}

void grants_dirty_all(struct grants *g)
{
	for (size_t i = 0; i < g->count; i++)
		dirty_set(g, &g->rows[i]);
}
