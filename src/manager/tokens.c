/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/tokens.h"

#include <string.h>

#include <dxp/status.h>

struct token_row *tokens_find(struct tokens *t, const uint8_t id[TOKEN_ID_BYTES])
{
	for (size_t i = 0; i < FABRIC_TOKENS_MAX; i++)
		if (t->rows[i].present && memcmp(t->rows[i].id, id, TOKEN_ID_BYTES) == 0)
			return &t->rows[i];
	return NULL;
}

enum channel_token_state token_state(const struct token_row *row, uint64_t now_s)
{
	if (row->revoked)
		return TOKEN_REVOKED;
	if (row->uses == 0)
		return TOKEN_USED;
	return now_s < row->expires_s ? TOKEN_VALID : TOKEN_EXPIRED;
}

/* Returns a free row, or else the row of a token that admits no more keys; of several, the one with
 * the earliest expiry. NULL: all tokens are valid. */
static struct token_row *place_find(struct tokens *t, uint64_t now_s)
{
	struct token_row *found = NULL;

	for (size_t i = 0; i < FABRIC_TOKENS_MAX; i++) {
		struct token_row *row = &t->rows[i];
		if (!row->present)
			return row;
		if (token_state(row, now_s) != TOKEN_VALID &&
		    (!found || row->expires_s < found->expires_s))
			found = row;
	}
	return found;
}

static bool row_valid(const struct token_row *row)
{
	return row->role >= ROLE_HOST && row->role <= ROLE_OPERATOR;
}

int tokens_add(struct tokens *t, const struct token_row *row, uint64_t now_s)
{
	if (!row_valid(row) || row->uses == 0 || row->expires_s <= now_s)
		return DXP_EINVAL;
	if (tokens_find(t, row->id))
		return DXP_EEXIST;
	struct token_row *place = place_find(t, now_s);
	if (!place)
		return DXP_ENOMEM;
	t->dirty -= place->dirty;
	*place = *row;
	place->present = true;
	place->dirty = false;
	tokens_change(t, place);
	return DXP_OK;
}

int tokens_load(struct tokens *t, size_t index, const struct token_row *row)
{
	if (index >= FABRIC_TOKENS_MAX || !row_valid(row) || tokens_find(t, row->id))
		return DXP_EINVAL;
	t->rows[index] = *row;
	t->rows[index].present = true;
	t->rows[index].dirty = false;
	return DXP_OK;
}

void tokens_change(struct tokens *t, struct token_row *row)
{
	t->dirty += !row->dirty;
	row->dirty = true;
}

bool tokens_next_dirty(struct tokens *t, size_t *index, struct token_row *out)
{
	for (size_t i = 0; t->dirty > 0 && i < FABRIC_TOKENS_MAX; i++) {
		if (!t->rows[i].dirty)
			continue;
		t->rows[i].dirty = false;
		t->dirty--;
		*index = i;
		*out = t->rows[i];
		return true;
	}
	return false;
}

void tokens_dirty_all(struct tokens *t)
{
	for (size_t i = 0; i < FABRIC_TOKENS_MAX; i++)
		if (t->rows[i].present)
			tokens_change(t, &t->rows[i]);
}
