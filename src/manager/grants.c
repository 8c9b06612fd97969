/* SPDX-License-Identifier: BSD-3-Clause */
/* The grants table. It has few rows, so searches are linear. */
#include "manager/grants.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/limits.h"

void grants_init(struct grants *g, enum grants_policy policy)
{
	*g = (struct grants){.policy = policy};
}

void grants_free(struct grants *g)
{
	free(g->rows);
	g->rows = NULL;
}

bool grants_match(const char *pattern, const char *name)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

bool grants_allow(const struct grants *g, const char *host, const char *xpu)
{
	if (g->policy == GRANTS_ANY)
		return true;
	for (size_t i = 0; i < g->count; i++) {
		const struct grant *row = &g->rows[i];
		if (row->present && grants_match(row->host, host) && grants_match(row->xpu, xpu))
			return true;
	}
	return false;
}

static struct grant *row_find(const struct grants *g, const char *host, const char *xpu)
{
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->rows[i].host, host) == 0 && strcmp(g->rows[i].xpu, xpu) == 0)
			return &g->rows[i];
	return NULL;
}

/* Returns a row to fill: a revoked row that is already deleted from the store, or a new row. */
static struct grant *row_allocate(struct grants *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (!g->rows[i].present && !g->rows[i].dirty)
			return &g->rows[i];
	if (g->count == FABRIC_GRANTS_MAX)
		return NULL;
	if (g->count == g->space) {
		size_t space = g->space ? 2 * g->space : 16;
		struct grant *rows = realloc(g->rows, space * sizeof(*rows));
		if (!rows)
			return NULL;
		g->rows = rows;
		g->space = space;
	}
	return &g->rows[g->count++];
}

int grants_set(struct grants *g, const char *host, const char *xpu, bool present)
{
	struct grant *row = row_find(g, host, xpu);

	if (row ? row->present == present : !present)
		return DXP_OK;
	if (!row) {
		row = row_allocate(g);
		if (!row)
			return DXP_ENOMEM;
		*row = (struct grant){0};
		memcpy(row->host, host, strnlen(host, FABRIC_NAME_BYTES - 1));
		memcpy(row->xpu, xpu, strnlen(xpu, FABRIC_NAME_BYTES - 1));
	}
	row->present = present;
	g->dirty += !row->dirty;
	row->dirty = true;
	g->version++;
	return DXP_OK;
}

bool grants_next_dirty(struct grants *g, struct grant *out)
{
	for (size_t i = 0; g->dirty > 0 && i < g->count; i++) {
		if (!g->rows[i].dirty)
			continue;
		g->rows[i].dirty = false;
		g->dirty--;
		*out = g->rows[i];
		return true;
	}
	return false;
}

void grants_dirty_all(struct grants *g)
{
	for (size_t i = 0; i < g->count; i++)
		g->rows[i].dirty = true;
	g->dirty = g->count;
}
