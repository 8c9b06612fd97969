/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_DXP_TOKEN_H
#define CMD_DXP_TOKEN_H

#include "cmd/dxp/control.h"

/* Makes a token at the manager; q has the manager and an operator's key. On failure q->text has the
 * reason. */
int token_create(struct control *q, const char *role, uint32_t uses, uint64_t seconds,
		 char out[TOKEN_TEXT_BYTES]);

/* Parses a time such as "30m", "1h" or "7d" to seconds, 1 to 366 days; for option rows. */
const char *token_expires_parse(const char *text, void *to);

#endif
