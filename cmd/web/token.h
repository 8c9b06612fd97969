/* SPDX-License-Identifier: BSD-3-Clause */
/* The token of a login link: the time and a random number, sealed with the fabric key. So `dxp web
 * open` can make links without a connection to dxp-web, on any machine that has the key. */
#ifndef CMD_WEB_TOKEN_H
#define CMD_WEB_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/rng.h"

#define WEB_NONCE_BYTES 16
#define WEB_TOKEN_BYTES (8 + WEB_NONCE_BYTES + 16) /* time in seconds, number, seal */
#define WEB_TOKEN_TEXT  (2 * WEB_TOKEN_BYTES + 1)  /* hexadecimal digits and a zero byte */

struct web_token {
	uint64_t time_s; /* since 1970 */
	uint8_t nonce[WEB_NONCE_BYTES];
};

/* Makes a token. Returns false if out of memory. */
bool web_token_make(const uint8_t key[FABRIC_KEY_BYTES], uint64_t now_s, entropy_fn entropy,
		    void *entropy_context, char out[WEB_TOKEN_TEXT]);

/* Parses a token and checks its seal. Returns false if the text is malformed or was sealed with
 * another key. */
bool web_token_open(const uint8_t key[FABRIC_KEY_BYTES], const char *text, struct web_token *out);

/* Writes bytes as hexadecimal digits, and a zero byte at the end. */
void web_token_hex(const uint8_t *bytes, unsigned count, char *out);

#endif
