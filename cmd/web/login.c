/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/login.h"

#include <string.h>

#include "base/util.h"

/* Records the token's random number as used. Returns false if it was used before, or if the list is
 * full. */
static bool nonce_use(struct web_login *l, const struct web_token *t, uint64_t now_s)
{
	struct web_used *space = NULL;

	for (unsigned i = 0; i < WEB_TOKENS; i++) {
		struct web_used *u = &l->used[i];
		if (u->until_s >= now_s && memcmp(u->nonce, t->nonce, sizeof(u->nonce)) == 0)
			return false;
		if (u->until_s < now_s)
			space = u;
	}
	if (!space)
		return false;
	memcpy(space->nonce, t->nonce, sizeof(space->nonce));
	space->until_s = t->time_s + WEB_TOKEN_S;
	return true;
}

/* Returns a free or expired session. If there is none, returns the session that expires first. */
static struct web_session *session_space(struct web_login *l)
{
	struct web_session *first = &l->sessions[0];

	for (unsigned i = 1; i < WEB_SESSIONS; i++)
		if (l->sessions[i].until_s < first->until_s)
			first = &l->sessions[i];
	return first;
}

const char *web_login_begin(struct web_login *l, const char *token, uint64_t now_s,
			    char session[WEB_SESSION_TEXT])
{
	struct web_token t;

	if (!web_token_open(l->key, token, &t))
		return "this is no login link of this fabric; make one with `dxp web open`";
	if (t.time_s > now_s + WEB_SKEW_S)
		return "this link comes from a machine whose clock is ahead; correct the clocks";
	if (t.time_s < l->started_s || t.time_s + WEB_TOKEN_S < now_s)
		return "this link is too old; make a new one with `dxp web open`";
	if (!nonce_use(l, &t, now_s))
		return "this link was used before; make a new one with `dxp web open`";
	struct web_session *s = session_space(l);
	l->entropy(l->entropy_context, s->id, sizeof(s->id));
	s->until_s = now_s + WEB_SESSION_S;
	web_token_hex(s->id, sizeof(s->id), session);
	return NULL;
}

/* Compares all bytes even after a difference, so that the time does not reveal its position. */
static bool equal(const char *a, const char *b, size_t bytes)
{
	uint8_t difference = 0;

	for (size_t i = 0; i < bytes; i++)
		difference |= (uint8_t)(a[i] ^ b[i]);
	return difference == 0;
}

bool web_login_valid(const struct web_login *l, const char *session, uint64_t now_s)
{
	char text[WEB_SESSION_TEXT];
	bool valid = false;

	if (!session || strnlen(session, WEB_SESSION_TEXT) != WEB_SESSION_TEXT - 1)
		return false;
	for (unsigned i = 0; i < WEB_SESSIONS; i++) {
		const struct web_session *s = &l->sessions[i];
		if (s->until_s < now_s)
			continue;
		web_token_hex(s->id, sizeof(s->id), text);
		valid |= equal(text, session, WEB_SESSION_TEXT - 1);
	}
	return valid;
}
