/* SPDX-License-Identifier: BSD-3-Clause */
/* Join tokens. The manager keeps a key derived from a token's secret, not the secret itself. A
 * token that admits no more keys stays until its row is needed, so that a rejection can state the
 * reason. */
#ifndef MANAGER_TOKENS_H
#define MANAGER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "keys/token.h"
#include "manager/limits.h"
#include "wire/channel.h"

struct token_row {
	uint8_t id[TOKEN_ID_BYTES];
	uint8_t psk[KEYS_BYTES];
	uint8_t role;       /* enum manage_role of the keys that the token admits */
	uint32_t uses;      /* number of keys that the token may still admit */
	uint64_t expires_s; /* seconds since 1970, by the manager's clock */
	bool revoked;
	char used_by[FABRIC_NAME_BYTES]; /* name of the key that was admitted last; "": none */
	bool present, dirty;
};

struct tokens {
	struct token_row rows[FABRIC_TOKENS_MAX];
	size_t dirty;
};

struct token_row *tokens_find(struct tokens *t, const uint8_t id[TOKEN_ID_BYTES]);
enum channel_token_state token_state(const struct token_row *row, uint64_t now_s);

/* Adds a token. DXP_EEXIST: a token with this id exists; DXP_ENOMEM: FABRIC_TOKENS_MAX tokens are
 * valid; DXP_EINVAL. */
int tokens_add(struct tokens *t, const struct token_row *row, uint64_t now_s);
int tokens_load(struct tokens *t, size_t index, const struct token_row *row);

/* Marks the token as changed, so that it is stored. */
void tokens_change(struct tokens *t, struct token_row *row);
bool tokens_next_dirty(struct tokens *t, size_t *index, struct token_row *out);
void tokens_dirty_all(struct tokens *t);

#endif
