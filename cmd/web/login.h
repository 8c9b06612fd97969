/* SPDX-License-Identifier: BSD-3-Clause */
/* Logins. A login link is valid once, and for WEB_TOKEN_S seconds. After the login the browser has
 * a session in a cookie. Time and random numbers are arguments. Not thread-safe. */
#ifndef CMD_WEB_LOGIN_H
#define CMD_WEB_LOGIN_H

#include "cmd/web/limits.h"
#include "cmd/web/token.h"

#define WEB_SESSION_BYTES 32
#define WEB_SESSION_TEXT  (2 * WEB_SESSION_BYTES + 1)

struct web_session {
	uint8_t id[WEB_SESSION_BYTES];
	uint64_t until_s; /* 0: this entry is free */
};

struct web_used {
	uint8_t nonce[WEB_NONCE_BYTES];
	uint64_t until_s; /* 0: this entry is free */
};

struct web_login {
	uint8_t key[FABRIC_KEY_BYTES];
	/* start of dxp-web; rejects older links, because an earlier run may have accepted them */
	uint64_t started_s;
	entropy_fn entropy;
	void *entropy_context;
	struct web_session sessions[WEB_SESSIONS];
	struct web_used used[WEB_TOKENS];
};

/* Marks a token as used and writes the text of a new session. Returns NULL, or the reason of a
 * rejection with the next step. */
const char *web_login_begin(struct web_login *l, const char *token, uint64_t now_s,
			    char session[WEB_SESSION_TEXT]);

/* Returns whether the text belongs to a valid session. Compares in constant time. */
bool web_login_valid(const struct web_login *l, const char *session, uint64_t now_s);

#endif
